//! R8, F81, F82: the roster is what the files say, and a mistake in them is found by file and line.

use serde_json::json;

use crate::world::{World, column, keys};

/// R8, F81: applying twice changes nothing, also from another shell and on another branch.
#[test]
fn applying_twice_changes_nothing() {
    let world = World::new();
    let nothing = json!({"settings_changed": false, "joined": [], "changed": [], "left": [], "env_replaced": []});
    assert_eq!(world.json(&["agent", "apply"]), nothing);
    world.write(".saihai/config.yaml", "name: shop\n");
    world.git(&["checkout", "--quiet", "-b", "feature"]);
    let events = world.json(&["project", "show"])["events"].as_u64().unwrap();
    let mut japanese = world.command(&["agent", "apply", "--json"]);
    let output = crate::world::Output::of(japanese.env("LANG", "ja_JP.UTF-8").output().unwrap());
    assert_eq!(output.json(), nothing, "what the file leaves open was decided at first");
    let project = world.json(&["project", "show"]);
    assert_eq!([&project["target_branch"], &project["language"]], ["main", "en"]);
    assert_eq!(project["events"], events);
}

/// R8: the difference is shown before and when it is applied.
#[test]
fn the_difference_is_shown() {
    let world = World::new();
    world.write(".saihai/agents/tester.yaml", "id: tester\nhierarchy_type: worker\nparent: lead\nclient: codex\n");
    let lead = world.read(".saihai/agents/lead.yaml").replace("role_type: lead", "role_type: boss");
    world.write(".saihai/agents/lead.yaml", lead);
    std::fs::remove_file(world.repository.join(".saihai/agents/coder.yaml")).unwrap();
    let expected = json!({"settings_changed": false, "joined": ["tester"], "changed": ["lead"], "left": ["coder"], "env_replaced": []});
    assert_eq!(world.json(&["agent", "apply", "--dry-run"]), expected);
    assert_eq!(world.ok(&["agent", "list", "--quiet"]), "coder\nlead", "a dry run changes nothing");
    assert_eq!(world.json(&["agent", "apply"]), expected);
    assert_eq!(world.ok(&["agent", "list", "--quiet"]), "lead\ntester");
    assert_eq!(column(&world.json(&["agent", "list", "--all"]), "id"), ["coder", "lead", "tester"]);
    assert_eq!(world.ok(&["agent", "apply"]), "Nothing to change.");
}

/// R8: every mistake is named with file and line; nothing is changed.
#[test]
fn mistakes_name_file_and_line() {
    let coder = ".saihai/agents/coder.yaml";
    let config = ".saihai/config.yaml";
    for (file, content, place, said) in [
        (coder, "id: coder\nhierarchy_type: worker\nbogus: 1\n", ":3", "bogus"),
        (coder, "id: coder\nprompt_file: prompts/none.md\n", ":2", "prompts/none.md"),
        (coder, "id: coder\nclient: emacs\n", ":2", "emacs"),
        (coder, "id: coder\n  broken: [\n", ":2", "YAML"),
        (coder, "id: coder\nid: coder\n", ":2", "id"),
        (coder, "id: coder\nhierarchy_type: manager\ndecompose: never\n", ":3", "decompose"),
        (coder, "id: coder\nhierarchy_type: worker\nparent: ghost\n", ":3", "ghost"),
        (config, "name: shop\nlimts: {}\n", ":2", "limts"),
        (config, "name: shop\ndod:\n  checks:\n    - {type: tests_pass, command: \"\"}\n", ":4", "command"),
        (config, "name: shop\nlanguage: fr\n", ":2", "fr"),
    ] {
        let world = World::new();
        let events = world.json(&["project", "show"])["events"].clone();
        world.write(file, content);
        let error = world.refused(3, &["agent", "apply"]);
        assert_eq!(error["code"], "bad_configuration");
        let message = error["message"].as_str().unwrap();
        assert!(message.contains(&format!("{file}{place}")) && message.contains(said), "{content:?}: {message}");
        assert_eq!(world.json(&["project", "show"])["events"], events);
        let doctor = world.run(&["doctor", "--json"]);
        assert!(doctor.code == 1 && doctor.stdout.contains(said), "{doctor:?}");
    }
}

/// R8: files that are no text at all, empty or not there are named, too.
#[test]
fn files_that_cannot_be_read_are_named() {
    let world = World::new();
    for content in [&b""[..], b"id: \xff\n", b"\0\0\0"] {
        world.write(".saihai/agents/coder.yaml", content);
        let error = world.refused(3, &["agent", "apply"]);
        assert!(error["message"].as_str().unwrap().contains(".saihai/agents/coder.yaml"), "{error}");
    }
    std::fs::remove_dir_all(world.repository.join(".saihai")).unwrap();
    let error = world.refused(3, &["agent", "apply"]);
    assert!(error["message"].as_str().unwrap().contains("saihai init"), "{error}");
}

/// R8, F22: who has work in progress does not just vanish, and then nothing else is applied either.
#[test]
fn an_agent_with_work_stays() {
    let world = World::new();
    world.task("one");
    world.ok(&["session", "start", "1", "--agent", "coder"]);
    std::fs::remove_file(world.repository.join(".saihai/agents/coder.yaml")).unwrap();
    world.write(".saihai/config.yaml", "name: renamed\n");
    let error = world.refused(6, &["agent", "apply"]);
    assert!(error["message"].as_str().unwrap().contains("tsk_1"), "{error}");
    assert_eq!(world.json(&["project", "show"])["name"], "shop");
    assert_eq!(world.ok(&["agent", "list", "--quiet"]), "coder\nlead");
}

/// R8, F82: what is written back says the same.
#[test]
fn a_definition_is_written_back() {
    let world = World::new();
    let yaml = world.ok(&["agent", "show", "coder", "--format", "yaml"]);
    world.write(".saihai/agents/coder.yaml", format!("{yaml}\n"));
    assert_eq!(world.ok(&["agent", "apply"]), "Nothing to change.");
    let shown = world.json(&["agent", "show", "coder"]);
    assert_eq!(keys(&shown), ["agent", "definition", "staffing"]);
    assert_eq!(shown["staffing"]["action"], "hold");
}

/// C6, S3, S4: a passkey is shown once and is nowhere else, not even hashed.
#[test]
fn a_passkey_is_never_in_the_log() {
    let world = World::new();
    let shown = world.json(&["agent", "passkey", "coder"]);
    let passkey = shown["passkey"].as_str().unwrap();
    assert!(passkey.len() > 32, "{passkey}");
    let other = world.ok(&["agent", "passkey", "coder", "--quiet"]);
    assert_ne!(passkey, other);
    let log = world.ok(&["log", "tail", "--json"]);
    assert!(log.contains("passkey_set") && log.contains("coder"), "{log}");
    let store = std::fs::read(world.store()).unwrap();
    for secret in [passkey, &other, "argon2"] {
        assert!(!log.contains(secret), "{log}");
        assert!(!world.ok(&["log", "tail"]).contains(secret));
        assert!(!world.ok(&["agent", "show", "coder", "--json"]).contains(secret));
        assert!(!world.ok(&["log", "replay", "--json"]).contains(secret));
    }
    assert!(!store.windows(passkey.len()).any(|window| window == passkey.as_bytes()));
}

/// R8, R2: what cannot work is refused before anything changes, with the next step.
#[test]
fn what_cannot_work_is_refused_by_apply() {
    let world = World::new();
    let refused = |file: &str, text: &str, said: &str| {
        let before = world.read(file);
        world.write(file, text);
        let failure = world.refused(3, &["agent", "apply"]);
        assert!(failure["message"].as_str().unwrap().contains(said), "{failure}");
        world.write(file, before);
    };
    let config = ".saihai/config.yaml";
    refused(config, "target_branch: nowhere\n", "There is no branch nowhere to merge into.");
    refused(
        config,
        "sandbox: {mode: strict, read: [../tools]}\n",
        "`sandbox.read` names ../tools, which is not there.",
    );
    refused(config, "dod: {protect: ['{a']}\n", "has a pattern that means nothing, `{a`");
    let agent = |command: &str| format!("id: coder\nparent: lead\nclient: command\ncommand: {command}\n");
    let coder = ".saihai/agents/coder.yaml";
    refused(coder, &agent("[my-agent, '{promt_file}']"), "`command` has `{promt_file}`, which nothing is put in for");
    refused(coder, &agent("[my-agent, '--model={modell}']"), "`{modell}`");
    world.write(coder, agent("[sh, -c, 'awk ''{print}'' x; echo ${y} {a,b}', '--p={prompt_file}', '{}']"));
    assert_eq!(world.ok(&["agent", "apply"]), "~ coder");
}

/// A bare repository, and one without a commit, are told as what they are.
#[test]
fn repositories_that_agents_cannot_begin_in_are_named() {
    let world = World::bare();
    world.git(&["init", "--quiet", "--bare", "."]);
    let bare = world.refused(3, &["init"]);
    assert!(bare["message"].as_str().unwrap().contains("is a bare repository"), "{bare}");

    let world = World::bare();
    world.git(&["init", "--quiet", "--initial-branch", "main", "."]);
    world.ok(&["init"]);
    let empty = world.refused(3, &["up", "--listen", "127.0.0.1:0"]);
    assert!(empty["message"].as_str().unwrap().contains("has no commit yet"), "{empty}");
}
