//! Which tests are there, and which does a table of a page name?

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// A page below `docs/`.
pub(crate) fn page(name: &str) -> String {
    let path = crates().join("../docs").join(name);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// The cells of a row of a table, with those that are empty.
pub(crate) fn cells(row: &str) -> Vec<&str> {
    let inner = row.trim().strip_prefix('|').and_then(|row| row.strip_suffix('|'));
    inner.into_iter().flat_map(|inner| inner.split('|')).map(str::trim).collect()
}

/// What stands in backticks.
pub(crate) fn quoted(cell: &str) -> Vec<&str> {
    cell.split('`').skip(1).step_by(2).collect()
}

/// All tests of the workspace by crate, modules and name: `board::lifecycle::lifecycle_page_is_the_table`. A module
/// `tests`, and the test binary of a crate, which has the crate's name again, are left out.
pub(crate) fn tests() -> BTreeSet<String> {
    let crates = crates();
    let mut files = Vec::new();
    rust_files(&crates, &mut files);
    let mut tests = BTreeSet::new();
    for file in files {
        let Some(module) = file.strip_prefix(&crates).ok().and_then(module) else { continue };
        let text = fs::read_to_string(&file).expect("sources are text");
        tests.extend(test_functions(&text).into_iter().map(|name| format!("{module}::{name}")));
    }
    tests
}

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for path in fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("it can be read").path()) {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The module of a file such as `board/src/admit/tasks.rs` or `saihai/tests/saihai/mcp/mod.rs`.
fn module(file: &Path) -> Option<String> {
    let stems = file.with_extension("");
    let parts: Vec<_> = stems.iter().filter_map(|part| part.to_str()).collect();
    let (name, modules) = match &parts[..] {
        [name, "src", modules @ ..] | [name, "tests", _, modules @ ..] => (name, modules),
        _ => return None,
    };
    let modules = match modules {
        [modules @ .., "lib" | "main" | "mod" | "tests"] => modules,
        modules => modules,
    };
    let path: Vec<_> = std::iter::once(name).chain(modules).copied().collect();
    Some(path.join("::"))
}

/// The names of the functions that an attribute makes a test.
fn test_functions(text: &str) -> Vec<&str> {
    let mut names = Vec::new();
    let mut is_test = false;
    for line in text.lines().map(str::trim).filter(|line| !line.starts_with("//")) {
        if let Some(attribute) = line.strip_prefix("#[") {
            let path = attribute.split(['(', ']', ' ']).next().unwrap_or_default();
            is_test |= path.rsplit("::").next() == Some("test");
            continue;
        }
        let function = line.strip_prefix("async ").unwrap_or(line).strip_prefix("fn ").filter(|_| is_test);
        names.extend(function.and_then(|function| function.split('(').next()));
        is_test = false;
    }
    names
}
