//! Is the order of crates and modules the one that docs/architecture.md declares?

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which crates of ours each crate may depend on. Only `control` knows the store, and `mcp`, `web` and `runner` do not
/// know each other. A runner knows what it is told and reports through `dispatch`, and neither control nor a server;
/// `remote` brings the two together over the network.
const CRATES: [(&str, &[&str]); 13] = [
    ("board", &[]),
    ("store", &[]),
    ("git", &[]),
    ("dispatch", &["board"]),
    ("control", &["board", "dispatch", "store"]),
    ("definitions", &["board"]),
    ("server", &["board", "control"]),
    ("mcp", &["board", "control", "server"]),
    ("web", &["board", "control", "definitions", "server"]),
    ("runner", &["board", "definitions", "dispatch", "git"]),
    ("remote", &["board", "control", "dispatch", "git", "runner", "server"]),
    ("saihai", &["board", "control", "definitions", "dispatch", "git", "mcp", "remote", "runner", "server", "web"]),
    ("testkit", &["board", "control", "dispatch", "mcp", "runner", "server", "store"]),
];

/// Crates whose modules import each other in one direction only.
const LAYERED: [&str; 11] =
    ["board", "store", "git", "dispatch", "control", "definitions", "server", "mcp", "web", "runner", "remote"];

/// What the modules of `board` are about: data, …
const NOUNS: [&str; 26] = [
    "action",
    "actor",
    "agent",
    "board",
    "command",
    "coordination",
    "event",
    "event_numbers",
    "evidence",
    "fact",
    "field",
    "id",
    "index",
    "lifecycle",
    "message",
    "obstacle",
    "refusal",
    "runner_view",
    "session",
    "settings",
    "spending",
    "task",
    "time",
    "tool",
    "transcript",
    "words",
];
/// … and what follows from it.
const DECISIONS: [&str; 24] = [
    "admit",
    "answer",
    "apply",
    "attach",
    "attention",
    "comments",
    "cycles",
    "examination",
    "fuel",
    "installation",
    "interrupt",
    "judged_by",
    "judging_files",
    "legal_moves",
    "next_action",
    "readiness",
    "right_of_way",
    "snapshot",
    "staffing",
    "text_limits",
    "undo",
    "verdict",
    "waiting",
    "why",
];

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_owned()
}

/// E1, E11: who may use whom is decided once, and a new dependency is a decision.
#[test]
fn crates_depend_on_each_other_as_declared() {
    let ours: BTreeSet<&str> = CRATES.iter().map(|(name, _)| *name).collect();
    for (name, allowed) in CRATES {
        let manifest = fs::read_to_string(crates().join(name).join("Cargo.toml")).unwrap();
        let from = manifest.split("[dependencies]").nth(1).unwrap();
        let section = from.split("\n[").next().unwrap();
        let found: BTreeSet<&str> = section
            .lines()
            .filter_map(|line| line.split(['.', ' ', '=']).next())
            .filter(|dependency| ours.contains(dependency))
            .collect();
        assert_eq!(
            found,
            allowed.iter().copied().collect(),
            "{name} depends on other crates of ours than is declared here"
        );
    }
}

/// E1: a noun does not import a decision, and nobody imports in a circle.
#[test]
fn modules_import_each_other_in_one_direction() {
    for name in LAYERED {
        let modules = imports(&crates().join(name).join("src"));
        assert!(modules.len() > 1, "{name} has no modules?");
        if let Some(circle) = circle(&modules) {
            panic!("modules of {name} import each other in a circle: {}", circle.join(" → "));
        }
    }
}

/// E1: inside the board nouns import no decisions, and neither imports wording.
#[test]
fn nouns_import_no_decisions_and_decisions_no_wording() {
    let modules = imports(&crates().join("board").join("src"));
    let check = |these: &[&str], allowed: &[&[&str]]| {
        for module in these {
            let imported = modules.get(*module).unwrap_or_else(|| panic!("board has no module `{module}`"));
            let wrong: Vec<_> = imported.iter().filter(|name| !allowed.concat().contains(&name.as_str())).collect();
            assert!(wrong.is_empty(), "board: `{module}` imports {wrong:?}");
        }
    };
    check(&NOUNS, &[&NOUNS]);
    check(&DECISIONS, &[&NOUNS, &DECISIONS, &["wire"]]);
    let known: BTreeSet<&str> = [&NOUNS[..], &DECISIONS, &["text", "wire"]].concat().into_iter().collect();
    let found: BTreeSet<&str> = modules.keys().map(String::as_str).collect();
    assert_eq!(known, found, "every module of board is a noun, a decision, wording or a JSON shape");
}

/// The modules at the top of a crate, and which of the others each imports.
fn imports(src: &Path) -> BTreeMap<String, BTreeSet<String>> {
    let root = code(&src.join("lib.rs"));
    let exported = exports(&root);
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for file in files(src) {
        let relative = file.strip_prefix(src).unwrap();
        let first = relative.components().next().unwrap().as_os_str().to_string_lossy().into_owned();
        let module = first.trim_end_matches(".rs").to_owned();
        if module == "lib" {
            continue;
        }
        let mut used = used_names(&code(&file), "crate::");
        // Above a module at the top is the crate.
        let depth = relative.components().count() - usize::from(relative.ends_with("mod.rs"));
        if depth == 1 {
            used.extend(used_names(&code(&file), "super::"));
        }
        let target = |name: &String| {
            let own = src.join(format!("{name}.rs")).exists() || src.join(name).is_dir();
            if own { Some(name.clone()) } else { exported.get(name).cloned() }
        };
        let targets: BTreeSet<String> = used.iter().filter_map(target).filter(|target| *target != module).collect();
        found.entry(module).or_default().extend(targets);
    }
    found
}

fn files(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
    found
}

/// A file without its comments and its tests.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).unwrap();
    let text = text.split("#[cfg(test)]").next().unwrap().to_owned();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// What `lib.rs` re-exports, by the module that it comes from.
fn exports(root: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for statement in root.split(';').filter_map(|statement| statement.split("pub use ").nth(1)) {
        let Some((module, names)) = statement.split_once("::") else { continue };
        for name in words(names) {
            found.insert(name, module.trim_start_matches("self::").to_owned());
        }
    }
    found
}

/// The names that follow `crate::` or `super::`, one by one or in braces.
fn used_names(code: &str, root: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for rest in code.split(root).skip(1) {
        match rest.strip_prefix('{') {
            Some(group) => found.extend(words(group.split('}').next().unwrap_or_default())),
            None => found.extend(words(rest.split(|c: char| !c.is_alphanumeric() && c != '_').next().unwrap_or(""))),
        }
    }
    found
}

fn words(text: &str) -> Vec<String> {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|word| !word.is_empty() && *word != "as").map(str::to_owned).collect()
}

/// A way from a module back to itself.
fn circle(modules: &BTreeMap<String, BTreeSet<String>>) -> Option<Vec<String>> {
    modules.keys().find_map(|start| {
        let mut path = vec![start.clone()];
        leads_back(modules, start, &mut path, &mut BTreeSet::new()).then_some(path)
    })
}

fn leads_back(
    modules: &BTreeMap<String, BTreeSet<String>>,
    start: &String,
    path: &mut Vec<String>,
    seen: &mut BTreeSet<String>,
) -> bool {
    let last = path.last().unwrap().clone();
    for next in modules.get(&last).into_iter().flatten() {
        path.push(next.clone());
        if next == start || (seen.insert(next.clone()) && leads_back(modules, start, path, seen)) {
            return true;
        }
        path.pop();
    }
    false
}

/// The test itself: a circle is found, and a line is none.
#[test]
fn circles_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (from, to) in edges {
            found.entry((*from).into()).or_default().insert((*to).into());
        }
        found
    };
    assert_eq!(circle(&graph(&[("a", "b"), ("b", "c"), ("a", "c")])), None);
    assert_eq!(circle(&graph(&[("a", "b"), ("b", "c"), ("c", "b")])).unwrap(), ["b", "c", "b"]);
}
