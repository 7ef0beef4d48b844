//! C6, F81: how a repository becomes a project, and what happens the second time.

use serde_json::json;

use crate::world::{World, column, keys, texts};

/// C6
#[test]
fn a_repository_becomes_a_project() {
    let world = World::repository();
    let project = world.json(&["init"]);
    assert_eq!(keys(&project), ["id", "name", "path", "target_branch", "agents", "written"]);
    assert_eq!(project["id"], "shop");
    assert_eq!(project["name"], "shop");
    assert_eq!(project["path"], world.repository.to_str().unwrap());
    assert_eq!(project["target_branch"], "main");
    assert_eq!(texts(&project["agents"]), ["coder", "lead"]);
    assert!(texts(&project["written"]).contains(&".saihai/config.yaml"));
    assert!(world.read(".saihai/config.yaml").starts_with("name: shop\n"));
    assert_eq!(world.ok(&["project", "list", "--quiet"]), "shop");
}

/// C6, F81: the second time nothing is written, and no event is added.
#[test]
fn twice_is_like_once() {
    let world = World::new();
    let events = world.json(&["project", "show"])["events"].clone();
    world.write(".saihai/memory/project.md", "mine\n");
    let again = world.json(&["init"]);
    assert_eq!(again["written"], json!([]));
    assert_eq!(world.read(".saihai/memory/project.md"), "mine\n");
    assert_eq!(world.json(&["project", "show"])["events"], events);
    assert_eq!(world.ok(&["project", "list", "--quiet"]), "shop");
}

/// C6: a directory deep in the repository is as good as its root.
#[test]
fn a_subdirectory_belongs_to_its_repository() {
    let world = World::repository();
    let deep = world.repository.join("src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    let output = world.command(&["init", "--quiet"]).current_dir(&deep).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "shop\n");
    assert!(world.repository.join(".saihai/config.yaml").exists() && !deep.join(".saihai").exists());
    let output = world.command(&["task", "add", "from below", "--quiet"]).current_dir(&deep).output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "tsk_1\n");
}

/// C6: git's own variables, as in a hook, do not lead elsewhere.
#[test]
fn the_environment_of_a_git_hook_is_ignored() {
    let (world, other) = (World::repository(), World::repository());
    let mut command = world.command(&["init", "--json"]);
    command.env("GIT_DIR", other.repository.join(".git")).env("GIT_WORK_TREE", &other.repository);
    let output = crate::world::Output::of(command.output().unwrap());
    assert_eq!(output.json()["path"], world.repository.to_str().unwrap());
}

#[test]
fn a_repository_without_commits_is_accepted() {
    let world = World::bare();
    world.git(&["init", "--quiet", "--initial-branch=trunk"]);
    assert_eq!(world.json(&["init"])["target_branch"], "trunk");
    let findings = world.run(&["doctor", "--json"]);
    assert_eq!(findings.code, 1, "nothing can be merged yet: {findings:?}");
}

/// C6
#[test]
fn name_and_branch_can_be_chosen() {
    let world = World::repository();
    world.git(&["branch", "develop"]);
    let project = world.json(&["init", "--name", "Web Shop", "--base-branch", "develop"]);
    assert_eq!([&project["id"], &project["name"], &project["target_branch"]], ["web-shop", "Web Shop", "develop"]);
}

/// C6: a name that is taken gets a number; the same path is the same project.
#[test]
fn a_taken_name_gets_a_number() {
    let world = World::new();
    let other = world.path().join("elsewhere/shop");
    std::fs::create_dir_all(&other).unwrap();
    world.git(&["init", "--quiet", other.to_str().unwrap()]);
    let add = ["project", "add", other.to_str().unwrap(), "--quiet"];
    assert_eq!(world.ok(&add), "shop-2");
    assert_eq!(world.ok(&add), "shop-2");
    assert_eq!(column(&world.json(&["project", "list"]), "id"), ["shop", "shop-2"]);
}

/// What was asked for and is not done is said.
#[test]
fn a_name_that_a_file_says_otherwise_is_told() {
    let world = World::new();
    let said = world.ok(&["init", "--name", "other"]);
    assert!(said.contains("`name` stays `shop`"), "{said}");
    assert!(!world.ok(&["init", "--name", "shop"]).contains("stays"));
}

/// C3: a bad name is refused before a file is written.
#[test]
fn an_empty_name_writes_nothing() {
    let world = World::repository();
    for name in ["", "  ", "two\nlines"] {
        world.refused(2, &["init", "--name", name]);
    }
    assert!(!world.repository.join(".saihai").exists());
}

/// A name without a letter for an id still makes a project.
#[test]
fn a_japanese_name_is_kept() {
    let world = World::repository();
    let project = world.json(&["init", "--name", "店舗"]);
    assert_eq!(project["name"], "店舗");
    let id = project["id"].as_str().unwrap();
    assert_eq!(world.ok(&["project", "show", "--project", id, "--quiet"]), id);
}

/// R8: broken files that were there already are told, kept, and register nothing.
#[test]
fn broken_definitions_leave_no_half_made_project() {
    let world = World::repository();
    world.write(".saihai/config.yaml", "name: shop\nlanguage: fr\n");
    let error = world.refused(3, &["init"]);
    assert!(error["message"].as_str().unwrap().contains(".saihai/config.yaml:2"), "{error}");
    assert_eq!(world.json(&["project", "list"]), json!([]));
    assert_eq!(world.read(".saihai/config.yaml"), "name: shop\nlanguage: fr\n");
    world.write(".saihai/config.yaml", "name: shop\n");
    assert_eq!(world.json(&["init"])["id"], "shop");
}

/// What is below `.saihai`, by name.
fn definitions(world: &World) -> Vec<String> {
    let mut open = vec![world.repository.join(".saihai")];
    let mut found = Vec::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().map(Result::unwrap) {
            let path = entry.path();
            found.push(path.strip_prefix(&world.repository).unwrap().to_str().unwrap().to_owned());
            if entry.file_type().unwrap().is_dir() {
                open.push(path);
            }
        }
    }
    found.sort();
    found
}

/// C3, C6: whatever fails, and however late, nothing that was written is left, and nothing is registered.
#[test]
fn a_failure_half_way_leaves_neither_files_nor_a_project() {
    // A file in the place of a directory; a branch, a path and a language that there are not.
    let cases = [
        (".saihai/prompts", "a file", 1),
        (".saihai/config.yaml", "name: shop\ntarget_branch: missing\n", 3),
        (".saihai/config.yaml", "name: shop\nsandbox:\n  read: [missing]\n", 3),
        (".saihai/config.yaml", "name: shop\nlanguage: fr\n", 3),
    ];
    for (path, text, code) in cases {
        let world = World::repository();
        world.write(path, text);
        let error = world.refused(code, &["init"]);
        assert!(error["hint"].as_str().unwrap().to_lowercase().contains("nothing was"), "{error}");
        assert_eq!(definitions(&world), [path], "{error}");
        assert_eq!(world.json(&["project", "list"]), json!([]), "{error}");
        assert!(world.git(&["status", "--porcelain", "--untracked-files=all"]).ends_with(path), "{error}");
        std::fs::remove_file(world.repository.join(path)).unwrap();
        assert_eq!(world.json(&["init"])["id"], "shop");
    }
}

/// C3, C6, E3: a store that cannot be opened leaves no definitions.
#[test]
fn a_store_that_cannot_be_opened_leaves_no_definitions() {
    let world = World::repository();
    std::fs::write(world.home(), "not a directory").unwrap();
    world.refused(4, &["init"]);
    assert!(!world.repository.join(".saihai").exists());
}

/// C3, C6: nothing is written through a link, wherever it leads.
#[test]
fn nothing_is_written_through_a_linked_directory() {
    for linked in [".saihai", ".saihai/agents"] {
        let world = World::repository();
        let elsewhere = world.path().join("elsewhere");
        std::fs::create_dir_all(&elsewhere).unwrap();
        let link = world.repository.join(linked);
        std::fs::create_dir_all(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(&elsewhere, &link).unwrap();
        let error = world.refused(1, &["init"]);
        assert!(error["message"].as_str().unwrap().contains("is a symbolic link"), "{error}");
        assert!(error["hint"].as_str().unwrap().contains("Put a directory in its place"), "{error}");
        assert_eq!(std::fs::read_dir(&elsewhere).unwrap().count(), 0);
        assert!(link.is_symlink() && !world.repository.join(".saihai/config.yaml").exists());
        assert_eq!(world.json(&["project", "list"]), json!([]));
    }
}

#[test]
fn a_file_in_the_place_of_the_directory_is_told() {
    let world = World::repository();
    world.write(".saihai", "not a directory");
    let error = world.refused(1, &["init"]);
    assert!(error["hint"].as_str().unwrap().contains("directory"), "{error}");
}
