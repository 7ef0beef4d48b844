//! Does docs/seeds.md have a row for every statement, with tests that are there?

use crate::named_tests::{cells, page, quoted, tests};

/// The documents, and how many statements each makes.
const DOCUMENTS: [(&str, usize); 5] = [("000", 26), ("001", 26), ("002", 16), ("003", 41), ("004", 26)];
const USE_CASES: usize = 20;

const STATEMENT_HEAD: [&str; 5] = ["id", "statement", "where", "tests", "where it differs, and why"];
const USE_CASE_HEAD: [&str; 5] = ["id", "use case", "state", "tests", "note"];

/// The rows of the page's tables, without their heads.
fn rows(page: &str) -> Vec<Vec<&str>> {
    let table = page.lines().filter(|line| line.starts_with('|')).map(cells);
    table.filter(|row| !row[0].starts_with("--") && row[..] != STATEMENT_HEAD && row[..] != USE_CASE_HEAD).collect()
}

/// Seeds 000 to 004: every statement of the five documents and every use case has its row, in order, and nothing else
/// has one.
#[test]
fn every_statement_has_a_row() {
    let page = page("seeds.md");
    let found: Vec<_> = rows(&page).into_iter().map(|row| row[0].to_owned()).collect();
    let statements = DOCUMENTS.iter().flat_map(|(name, count)| (1..=*count).map(move |n| format!("{name}.{n}")));
    let expected: Vec<_> = statements.chain((1..=USE_CASES).map(|n| format!("UC{n:03}"))).collect();
    assert_eq!(found, expected);
}

/// Seeds 000 to 004: every row names tests, or says that there is none or that it is not met. Tests that are named
/// exist.
#[test]
fn every_row_names_its_tests_or_says_why_not() {
    let (page, tests) = (page("seeds.md"), tests());
    for row in rows(&page) {
        let [id, statement, place, proof, difference] = row[..] else { panic!("a row has five cells: {row:?}") };
        assert!(!statement.is_empty() && !place.is_empty(), "{id} has an empty cell");
        let use_case = id.starts_with("UC");
        assert!(!use_case || ["met", "differs", "not"].contains(&place), "{id}: what is `{place}`?");
        let not_met = difference.contains("not yet: ") || (use_case && place == "not" && !difference.is_empty());
        // Words about what is missing may quote what is no test.
        let (named, missing) = proof.split_once("no test yet").map_or((proof, false), |(named, _)| (named, true));
        let named = quoted(named);
        assert!(!named.is_empty() || missing || not_met, "{id} names no test and does not say why");
        for name in named {
            assert!(tests.contains(name), "{id}: there is no test {name}");
        }
    }
}
