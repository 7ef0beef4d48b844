//! Does `isolation: worktree` work where its user wants it, and say no less about scope?

use serde_json::json;

use super::{Team, wait_for};

/// R1, V8: the workspace is below `.worktrees`, is merged like any other, and is gone afterwards.
#[test]
fn work_in_a_worktree_is_merged() {
    let team = Team::configured(
        "barrier look; echo work > src/b.txt; git add src; git commit -qm work; echo left > src/c.txt",
        &json!({ "isolation": "worktree" }),
    );
    let task = team.start_task("Work there");
    let up = team.up();
    team.until_barrier(1, "look");
    let tree = team.world.repository.join(".worktrees/task-1");
    assert!(tree.join("src/a.txt").exists());
    assert_eq!(team.world.git(&["status", "--short"]), "", "it does not show");
    std::fs::write(tree.join("src/.barrier-look"), "").unwrap();
    team.until_task(&task, "done");
    assert_eq!(
        (team.merged("src/b.txt").as_deref(), team.merged("src/c.txt").as_deref()),
        (Some("work\n"), Some("left\n"))
    );
    wait_for("the worktree to go", || (!tree.exists()).then_some(()));
    assert_eq!(team.world.git(&["worktree", "list"]).lines().count(), 1);
    up.stop();
}

/// R2: what is excluded is not there, and what is outside of the scope cannot be written.
#[test]
fn scope_holds_in_a_worktree() {
    let team = Team::configured("true", &json!({ "isolation": "worktree" }));
    team.world.write(".env", "secret\n");
    team.redefine_solo("ls -A | sed 's/^/file /'; try outside sh -c 'echo x > outside.txt'; try main sh -c 'echo x > ../../src/a.txt'; echo work > src/b.txt", &json!({ "scope": { "read": ["**"], "write": ["src/**"], "exclude": [".env"] } }));
    let task = team.start_task("Look");
    let up = team.up();
    team.until_task(&task, "done");
    let log = team.log(1);
    assert!(!log.contains("file .env") && !log.contains("ESCAPED"), "{log}");
    assert_eq!(team.merged(".env").as_deref(), Some("secret\n"));
    assert_eq!(team.world.read(".env"), "secret\n");
    up.stop();
}

/// F68, R1: a worktree that has lost its link to git is not taken for the user's own around it.
#[test]
fn a_worktree_without_its_link_commits_nothing_of_the_users() {
    let team = Team::configured("true", &json!({ "isolation": "worktree", "limits": { "max_attempts": 1 } }));
    team.redefine_solo("rm -f .git; echo work > src/b.txt", &json!({ "scope": { "read": ["**"], "write": ["**"] } }));
    team.world.write("src/staged.txt", "staged\n");
    team.world.git(&["add", "src/staged.txt"]);
    let head = team.world.git(&["rev-parse", "main"]);
    let task = team.start_task("Lose the link");
    let up = team.up();
    team.until_task(&task, "failed");
    assert_eq!(team.world.git(&["rev-parse", "main"]), head);
    assert_eq!(team.world.git(&["diff", "--cached", "--name-only"]), "src/staged.txt");
    up.stop();
}
