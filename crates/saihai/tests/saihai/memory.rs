//! R7: the memory bank is files in the repository.

use crate::world::{World, column, one_document};

/// R7
#[test]
fn an_entry_is_added_listed_shown_and_previewed() {
    let world = World::new();
    let added = world.json(&[
        "memory",
        "add",
        "Use PostgreSQL",
        "--category",
        "architecture",
        "--summary",
        "One cluster",
        "--body",
        "- All services share it.",
    ]);
    let path = ".saihai/memory/architecture/use-postgresql.md";
    assert_eq!(added["path"], path);
    assert!(world.read(path).contains("- All services share it."));
    let shown = world.json(&["memory", "show", "use-postgresql"]);
    assert_eq!([&shown["title"], &shown["category"]], ["Use PostgreSQL", "architecture"]);
    assert_eq!(shown["body"].as_str().unwrap().trim(), "- All services share it.");
    assert_eq!(shown, world.json(&["memory", "show", path]));
    assert!(column(&world.json(&["memory", "list"]), "path").contains(&path));
    assert!(world.json(&["memory", "preview"])["preview"].as_str().unwrap().contains(path));
    assert!(world.ok(&["memory", "list", "--quiet"]).lines().any(|line| line == path));
}

/// R7: nothing is overwritten, and no name leads out of the memory bank.
#[test]
fn names_stay_inside_and_nothing_is_overwritten() {
    let world = World::new();
    world.ok(&["memory", "add", "Rules", "--body", "first"]);
    world.refused(1, &["memory", "add", "Rules", "--body", "second"]);
    assert!(world.read(".saihai/memory/rules.md").contains("first"));
    let outside = world.run(&["memory", "add", "../../escape", "--category", "../../..", "--json"]);
    assert_ne!(outside.code, 0, "{outside:?}");
    world.ok(&["memory", "add", "../escape", "--category", "a/../../b"]);
    let files = world.ok(&["memory", "list", "--quiet"]);
    assert!(files.lines().all(|path| path.starts_with(".saihai/memory/") && !path.contains("..")), "{files}");
    for name in ["/etc/passwd", "../../.git/config", "../config"] {
        world.refused(5, &["memory", "show", name]);
    }
}

/// R7, C3: a broken file is told on stderr, in JSON mode as JSON, and does not hide the others.
#[test]
fn a_broken_file_does_not_hide_the_others() {
    let world = World::new();
    world.write(".saihai/memory/bad.md", b"---\ntitle: [\n---\nbody\n");
    let output = world.run(&["memory", "list", "--json"]);
    assert_eq!(output.code, 0, "{output:?}");
    assert!(column(&one_document(&output.stdout), "path").contains(&".saihai/memory/project.md"));
    let warning = one_document(&output.stderr);
    assert_eq!(warning["code"], "warning");
    assert!(warning["message"].as_str().unwrap().contains(".saihai/memory/bad.md:"), "{warning}");
}

/// C5: titles in Japanese keep their name.
#[test]
fn a_japanese_title_makes_a_file() {
    let world = World::new();
    let output = world.run_with(&["memory", "add", "設計方針", "--body", "-", "--json"], "本文\n".as_bytes());
    let path = output.json()["path"].as_str().unwrap().to_owned();
    assert!(world.read(&path).contains("本文"));
}
