//! Does work land in whatever repository there is, and does nothing of the user's configuration run or get in the way (V6)?

use std::path::Path;
use std::process::Command;

use serde_json::json;

use super::Team;
use crate::world::World;

/// An agent changes one file and adds another whose name is hard to read; a check reads both.
const SCRIPT: &str = r#"echo more >> src/a.txt; printf 'x\n' > "src/tab	quote\"'é
line.txt""#;

/// The work lands, and the user's working tree has it where it had the target checked out.
#[track_caller]
fn lands(team: &Team, kind: &str) {
    let task = team.start_task("Land");
    let up = team.up();
    team.until_task(&task, "done");
    up.stop();
    let merged = team.merged("src/a.txt").unwrap();
    assert!(merged.ends_with("more\n"), "{kind}: {merged}");
    let names = team.git_quietly(&["ls-tree", "-r", "-z", "--name-only", "main", "src/"]).stdout;
    assert!(String::from_utf8_lossy(&names).contains("src/tab\tquote\"'é\nline.txt"), "{kind}");
    let health = team.git_quietly(&["fsck", "--no-dangling"]);
    assert!(health.status.success(), "{kind}: {health:?}");
}

fn team(world: World) -> Team {
    let check = json!([{ "type": "t", "command": "grep -q more src/a.txt && ls src/tab*" }]);
    Team::in_repository(world, SCRIPT, &json!({ "dod": { "checks": check } }))
}

/// Objects may have longer names.
#[test]
fn repository_with_sha256_objects() {
    let world = World::bare();
    world.git(&["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
    world.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
    lands(&team(world), "sha256");
}

/// A clone without its history, one whose refs are packed, and one that has parts of its tree only.
#[test]
fn shallow_packed_and_sparse_repositories() {
    let origin = World::repository();
    for number in 0..3 {
        origin.write(&format!("docs/{number}.txt"), "x\n");
        origin.git(&["add", "."]);
        origin.git(&["commit", "--quiet", "--message", &number.to_string()]);
    }
    let clone = |options: &[&str]| {
        let world = World::bare();
        let url = format!("file://{}", origin.repository.display());
        world.git(&[&["clone", "--quiet"], options, &[&url, "."]].concat());
        world
    };
    lands(&team(clone(&["--depth=1"])), "shallow");
    let packed = clone(&[]);
    packed.git(&["pack-refs", "--all"]);
    packed.git(&["gc", "--quiet"]);
    lands(&team(packed), "packed");
    let sparse = clone(&[]);
    sparse.git(&["sparse-checkout", "set", "--no-cone", "/src/", "/.saihai/"]);
    let team = team(sparse);
    lands(&team, "sparse");
    assert!(!team.world.repository.join("docs").exists(), "the user's checkout stays as it was chosen");
}

/// A working tree beside the main one, and a HEAD that is on no branch: the target moves all the same.
#[test]
fn linked_working_trees_and_detached_heads() {
    let main = World::repository();
    main.git(&["branch", "other"]);
    let linked = World::bare();
    std::fs::remove_dir(&linked.repository).unwrap();
    main.git(&["worktree", "add", "--quiet", linked.repository.to_str().unwrap(), "other"]);
    main.git(&["checkout", "--quiet", "--detach"]);
    linked.git(&["checkout", "--quiet", "main"]);
    lands(&team(linked), "linked");

    let team = team(World::repository());
    team.world.git(&["checkout", "--quiet", "--detach"]);
    lands(&team, "detached");
    assert!(!team.world.read("src/a.txt").contains("more"), "what the user looks at is not moved");
}

/// Settings of the user's that would sign, convert, watch, run or refuse.
#[test]
fn settings_of_the_user_do_not_get_in_the_way() {
    let world = World::repository();
    let trap = world.path().join("trap");
    let ran = world.path().join("ran");
    std::fs::write(&trap, format!("#!/bin/sh\necho \"$0 $*\" >> {}\nexit 1\n", ran.display())).unwrap();
    Command::new("chmod").arg("755").arg(&trap).status().unwrap();
    let hooks = world.path().join("hooks");
    std::fs::create_dir(&hooks).unwrap();
    for hook in
        ["pre-commit", "post-merge", "pre-merge-commit", "post-checkout", "reference-transaction", "post-rewrite"]
    {
        std::fs::copy(&trap, hooks.join(hook)).unwrap();
    }
    let team = team(world);
    let trap = trap.to_str().unwrap();
    for (name, value) in [
        ("commit.gpgsign", "true"),
        ("gpg.program", trap),
        ("core.autocrlf", "input"),
        ("core.hooksPath", hooks.to_str().unwrap()),
        ("diff.external", trap),
        ("merge.ff", "false"),
        ("branch.main.mergeOptions", "--no-ff --squash"),
        ("core.pager", trap),
        ("core.editor", trap),
        ("credential.helper", trap),
        ("fetch.fsckObjects", "true"),
        ("transfer.hideRefs", "refs/saihai"),
        ("uploadpack.hideRefs", "refs"),
        ("core.quotePath", "false"),
        ("status.showUntrackedFiles", "no"),
        ("diff.renames", "copies"),
        ("merge.renames", "false"),
    ] {
        team.world.git(&["config", name, value]);
    }
    lands(&team, "settings");
    let ran = std::fs::read_to_string(&ran).unwrap_or_default();
    assert_eq!(ran, "", "nothing of the user's was run");
}

/// A submodule stays what it is: a commit, and nothing is fetched for it.
#[test]
fn repository_with_a_submodule() {
    let inner = World::repository();
    let world = World::repository();
    let url = inner.repository.to_str().unwrap().to_owned();
    world.git(&["-c", "protocol.file.allow=always", "submodule", "--quiet", "add", &url, "vendor"]);
    world.git(&["commit", "--quiet", "--message=submodule"]);
    let team = team(world);
    lands(&team, "submodule");
    let entry = team.world.git(&["ls-tree", "main", "vendor"]);
    assert!(entry.starts_with("160000 commit"), "{entry}");
    assert!(Path::new(&team.world.repository.join("vendor/.git")).exists());
}
