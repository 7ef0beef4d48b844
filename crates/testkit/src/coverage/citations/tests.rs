//! Does the scanner find every test, and nothing else?

use std::path::Path;

use super::{Citation, in_script, scan};
use crate::coverage::source_file::SourceFile;

/// `(test, text)` of all that the file cites.
fn citations(path: &str, source: &str) -> Vec<(String, String)> {
    let source_file = SourceFile::of(Path::new(path)).unwrap();
    scan(&source_file, source).into_citations().map(|citation| (citation.test, citation.text)).collect()
}

/// `(source, [(test, text)])`, in `crates/c/src/m.rs`.
type Case = (&'static str, &'static [(&'static str, &'static str)]);

const TESTS: &[Case] = &[
    ("/// E1\n#[test]\nfn x() {}", &[("c::m::x", "E1")]),
    ("/// E1: a\n/// and E2\n#[tokio::test]\nasync fn x() {}", &[("c::m::x", "E1: a\nand E2")]),
    ("#[tokio::test(flavor = \"multi_thread\")]\n/// E1\npub async fn x() {}", &[("c::m::x", "E1")]),
    ("/// E1\n#[test]\n#[should_panic(\n    expected = \"]\",\n)]\nfn x() {}", &[("c::m::x", "E1")]),
    ("/// E1\n#[test] fn x() {}", &[("c::m::x", "E1")]),
    ("/// E1\n\n#[test]\n// why\nfn x() {}", &[("c::m::x", "E1")]),
    ("#[test]\nfn x() {}", &[("c::m::x", "")]),
    ("/// E1\n#[test]\n#[ignore = \"slow\"]\nfn x() {}", &[("c::m::x (ignored by default)", "E1")]),
    ("proptest! {\n    /// E1\n    #[test]\n    fn x(a in 0..9) { y() }\n}", &[("c::m::x", "E1")]),
];

const NO_TESTS: &[Case] = &[
    ("/// E1\nfn helper() {}\n#[test]\nfn x() {}", &[("c::m::x", "")]),
    ("// E1\n#[test]\nfn x() {}", &[("c::m::x", "")]),
    ("/// E1\nfn x() {}", &[]),
    ("/// E1\n#[cfg(test)]\nfn x() {}", &[]),
    ("/// E1\nstruct X;\n#[test]\nfn x() {}", &[("c::m::x", "")]),
    ("const X: &str = r#\"\n/// E1\n#[test]\nfn y() {}\n\"#;", &[]),
    ("macro_rules! each { ($n:ident) => {\n/// E1\n#[test]\nfn $n() {}\n} }", &[]),
    ("//! E1\n#[test]\nfn x() {}", &[("c::m::x", "")]),
];

const MODULES: &[Case] = &[
    (
        "mod tests {\n/// E1\n#[test]\nfn x() {\n}\n}\n/// E2\n#[test]\nfn y() {}",
        &[("c::m::x", "E1"), ("c::m::y", "E2")],
    ),
    (
        "mod a {\nmod b {\n#[test]\nfn x() { if '{' == '}' {} }\n}\n#[test]\nfn y() {}\n}\n#[test]\nfn z() {}",
        &[("c::m::a::b::x", ""), ("c::m::a::y", ""), ("c::m::z", "")],
    ),
    ("mod other;\n#[test]\nfn x() {}", &[("c::m::x", "")]),
];

const CONTRACTS: &[Case] = &[
    (
        "macro_rules! contract_tests {\n($s:expr) => {\n$crate::contract_tests! { $s =>\nx,\ny,\n}\n};\n}\n\
         /// E1\npub async fn x(s: &S) {}\n/// E2\npub fn z() {}\n",
        &[("c::m::contract_tests!", ""), ("c::m::x", "E1")],
    ),
    ("macro_rules! other {\n() => {\nx,\n}\n}\n/// E1\nfn x() {}", &[]),
    ("macro_rules! contract {\n() => {}\n}\nconst ALL: &[F] = &[\nx,\n];\n/// E1\nfn x() {}", &[]),
    ("// E1\ncontract!(x, |s| s.y());", &[("c::m::x", "E1")]),
    ("/// E1\nclient::contract_test! { x\n}", &[("c::m::x", "E1")]),
    ("mod sqlite {\n// E1\nstore::contract_tests!(File::fresh());\n}", &[("c::m::sqlite::contract_tests!", "E1")]),
    ("// E1\n\ncontract!(x);", &[("c::m::x", "")]),
];

#[test]
fn tests_cite_in_their_doc_comments() {
    for (source, expected) in [TESTS, NO_TESTS, MODULES, CONTRACTS].concat() {
        let found = citations("crates/c/src/m.rs", source);
        let found: Vec<_> = found.iter().map(|(test, text)| (test.as_str(), text.as_str())).collect();
        assert_eq!(found, expected, "{source}");
    }
}

#[test]
fn a_file_of_tests_cites_for_all_of_them() {
    let source = "//! What? E1,\n//! E2\n\n/// E3\n#[test]\nfn x() {}";
    let pair = |test: &str, text: &str| (test.to_owned(), text.to_owned());
    assert_eq!(citations("crates/c/tests/t/m.rs", source), [pair("c::m", "What? E1,\nE2"), pair("c::m::x", "E3")]);
}

#[test]
fn scripts_cite_in_a_line_of_their_own() {
    let citation = |text: &str| Some(Citation { test: "scripts/x".into(), text: text.into() });
    for (text, expected) in [
        ("#!/bin/sh\n# Tests: E1, E2\ntrue\n", citation(" E1, E2")),
        ("  # Tests: E1\n# Tests: E2\n", citation(" E1\n E2")),
        ("# E1\necho '# Tests: E1'\n", None),
    ] {
        assert_eq!(in_script("scripts/x", text), expected, "{text}");
    }
}
