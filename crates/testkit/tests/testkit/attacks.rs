//! Are the tests that docs/attacks.md names there?

use crate::named_tests::{cells, page, quoted, tests};

/// T6: every row of the page names tests, and each of them exists.
#[test]
fn every_attack_has_its_tests() {
    let (page, tests) = (page("attacks.md"), tests());
    let rows: Vec<_> =
        page.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| what is tried")).collect();
    assert!(rows.len() > 30, "{}", rows.len());
    for row in rows {
        let named = quoted(cells(row).last().unwrap());
        assert!(!named.is_empty(), "no test in: {row}");
        for name in named {
            assert!(tests.iter().any(|test| test.rsplit("::").next() == Some(name)), "there is no test {name}");
        }
    }
}
