//! Does a client find its own files where it looks, and do they stay out of the work (R5)?

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::{Team, Up};

/// R5, seed 003: `.saihai/clients/CLIENT/` and the folders of the agent's skills are in the client's place while it runs, the
/// owner's prompt is part of the prompt, and none of that is part of the work.
#[test]
fn files_of_the_client_are_there_and_are_not_committed() {
    let team = Team::new("true");
    let bin = team.world.path().join("client-bin");
    fs::create_dir(&bin).unwrap();
    let stub = "#!/bin/sh\ncat > src/prompt.txt\n(cat .claude/settings.json .claude/skills/rust/SKILL.md; ls -A) > src/seen.txt\n";
    fs::write(bin.join("claude"), stub).unwrap();
    fs::set_permissions(bin.join("claude"), fs::Permissions::from_mode(0o755)).unwrap();
    team.world.write(".saihai/clients/claude-code/settings.json", "{\"ours\": 1}\n");
    team.world.write(".saihai/skills/rust/SKILL.md", "How we write Rust.\n");
    team.world.write(".saihai/prompts/solo.md", "Words of the owner.\n");
    let agent = json!({
        "id": "solo", "mode": "one_shot", "client": "claude-code", "prompt_file": "prompts/solo.md", "skills": ["rust"],
        "scope": { "write": ["**"] },
    });
    team.world.write(".saihai/agents/solo.yaml", agent.to_string());
    team.commit("a client of its own");
    team.world.ok(&["agent", "apply"]);
    let task = team.start_task("Look");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    let up = Up::start_with(&team, &[], &[("PATH", &path)]);
    team.until_task(&task, "done");
    up.stop();
    let seen = team.merged("src/seen.txt").unwrap();
    assert!(seen.starts_with("{\"ours\": 1}\nHow we write Rust.\n"), "{seen}");
    assert!(!seen.contains("CLAUDE.md"), "{seen}");
    assert!(team.merged("src/prompt.txt").unwrap().contains("Words of the owner."));
    let merged = team.world.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert!(!merged.lines().any(|file| file.starts_with(".claude")), "{merged}");
}
