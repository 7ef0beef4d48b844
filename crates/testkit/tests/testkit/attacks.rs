//! Are the tests that docs/attacks.md names there?

use std::path::{Path, PathBuf};

fn rust_files(directory: &Path, found: &mut Vec<PathBuf>) {
    for path in std::fs::read_dir(directory).expect("it is there").map(|entry| entry.expect("it can be read").path()) {
        if path.is_dir() {
            rust_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// T6: every row of the page names tests, and each of them exists.
#[test]
fn every_attack_has_its_tests() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let mut files = Vec::new();
    rust_files(&crates, &mut files);
    let code: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let page = std::fs::read_to_string(crates.join("../docs/attacks.md")).unwrap();
    let rows: Vec<_> =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what is tried")).collect();
    assert!(rows.len() > 30, "{}", rows.len());
    for row in rows {
        let tests = row.trim_end_matches(" |").rsplit(" | ").next().unwrap();
        let named: Vec<_> = tests.split('`').skip(1).step_by(2).collect();
        assert!(!named.is_empty(), "no test in: {row}");
        for test in named {
            assert!(code.contains(&format!("fn {test}(")), "there is no test {test}");
        }
    }
}
