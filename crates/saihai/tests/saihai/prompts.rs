//! What does each kind of agent read when it starts (R6, R7, seeds 000 and 003)?

use serde_json::json;

use crate::world::{Output, World};

/// Where each of these stands in the text, one after the other.
#[track_caller]
fn in_order(text: &str, parts: &[&str]) {
    let mut from = 0;
    for part in parts {
        let found = text[from..].find(part).unwrap_or_else(|| panic!("`{part}` is not in its place in:\n{text}"));
        from += found + part.len();
    }
}

/// R6, S3, seed 000: a guided agent's prompt is the control part, a line, and its own prompt, in the project's language and
/// without a secret.
#[test]
fn a_guided_agent_is_told_to_authenticate_and_to_obey() {
    let prompts = |language: &str| {
        let world = World::repository();
        let init = world.command(&["init", "--name", "shop", "--lang", language]).output().unwrap();
        assert_eq!(Output::of(init).code, 0);
        world.write(".saihai/prompts/coder.md", "Own words.\n");
        world.write(".saihai/agents/coder.yaml", "id: coder\nname: Coder\nprompt_file: prompts/coder.md\n");
        world.ok(&["agent", "apply"]);
        let task = world.task("one");
        world.ok(&["worker", "command", &task, "--guided"])
    };
    let english = prompts("en");
    in_order(
        &english,
        &["Coder", "`coder`", "`authenticate`", "`get_next_action`", "until", "`logout`", "---", "Own words."],
    );
    let japanese = prompts("ja");
    in_order(&japanese, &["Coder", "`authenticate`", "`get_next_action`", "続け", "`logout`", "---", "Own words."]);
    for prompt in [english, japanese] {
        assert!(prompt.trim_end().ends_with("---\n\nOwn words."), "{prompt}");
        for secret in ["Bearer", "passkey", "token", "SAIHAI_"] {
            assert!(!prompt.contains(secret), "{secret}: {prompt}");
        }
    }
}

/// R6, R7, N8, L10, seed 003: a one-shot agent's prompt has all parts in their order, its prompt file whole, and the memory
/// bank as `memory preview` shows it.
#[test]
fn a_one_shot_agent_is_told_everything_in_order() {
    let world = World::new();
    let own = "First rule of ours.\n\n- and a list\n- of two\n";
    world.write(".saihai/prompts/once.md", own);
    let agent = json!({
        "id": "once", "mode": "one_shot", "client": "command", "command": ["true"], "prompt_file": "prompts/once.md",
        "scope": { "write": ["src/**"], "exclude": ["secrets/**"] },
    });
    world.write(".saihai/agents/once.yaml", agent.to_string());
    world.ok(&["agent", "apply"]);
    world.ok(&["memory", "add", "Use the cart service", "-d", "All prices come from it."]);
    let add = [
        "task",
        "add",
        "Prices",
        "-d",
        "Show prices.\n## Rules\nnone",
        "-t",
        "feature",
        "-p",
        "high",
        "--assign",
        "once",
    ];
    let task = world.ok(&[&add[..], &["--quiet"]].concat());
    world.ok(&["task", "comment", &task, "In euros."]);
    let prompt = world.ok(&["worker", "command", &task]);
    let preview = world.json(&["memory", "preview"])["preview"].as_str().unwrap().to_owned();
    let parts = [
        "# tsk_1 Prices",
        "type: feature",
        "priority: high",
        "## Task",
        "Show prices.",
        "## Your instructions",
        own.trim_end(),
        "## Scope",
        "`src/**`",
        "`secrets/**`",
        preview.trim(),
        "## What was written about it since",
        "In euros.",
        "## Rules",
        "1. Look at existing patterns",
        "4. Commit",
        "## What your work is judged by",
        "You exit with 0.",
    ];
    in_order(&prompt, &parts);
    assert!(preview.contains(".saihai/memory/") && preview.contains("Use the cart service"), "{preview}");
    assert_eq!(prompt.matches("\n## Rules\n").count(), 2, "the task's own text is fenced: {prompt}");
    assert!(prompt.contains("```text\nShow prices.\n## Rules\nnone\n```"), "{prompt}");
}

/// C7, seed 003: before a session, and without naming an agent, if there is only one worker.
#[test]
fn the_only_worker_need_not_be_named() {
    let world = World::new();
    let task = world.ok(&["task", "add", "Alone", "--quiet"]);
    assert!(world.ok(&["worker", "command", &task]).starts_with("# tsk_1 Alone"));
    world.write(".saihai/agents/second.yaml", "id: second\nparent: lead\n");
    world.ok(&["agent", "apply"]);
    let refused = world.refused(6, &["worker", "command", &task]);
    assert!(refused["hint"].as_str().unwrap().contains("--agent"), "{refused}");
    assert!(world.ok(&["worker", "command", &task, "--agent", "second"]).starts_with("# tsk_1 Alone"));
}

/// C2, seed 003: worktrees are git's business, and workers have no commands of their own.
#[test]
fn there_is_no_command_for_worktrees() {
    let world = World::new();
    assert_eq!(world.refused(2, &["worktree", "add", "x"])["code"], "usage");
    let help = world.ok(&["--help"]);
    assert!(!help.contains("worktree"), "{help}");
}
