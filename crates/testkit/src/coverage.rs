//! Which requirement is cited by which test, and which by none?
//!
//! The ids come from `docs/requirements.md`. A test cites an id in its doc comment; a file below
//! `crates/*/tests/` cites for all of its tests in its `//!`; a contract cites in the doc comment of
//! its function, provided that a macro with `contract` in its name lists it; a script cites in a
//! line `# Tests: E1, E2`. A range such as `F30–F32` stands for all ids between.

mod catalogue;
mod citations;
mod lines;
mod source_file;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

use catalogue::Catalogue;
use citations::{Citation, Scanned};
use source_file::SourceFile;

/// The command that writes the page.
pub const COMMAND: &str = "cargo run -p testkit --bin coverage";

/// How many tests are named for each id.
const MAX_NAMED_TESTS: usize = 3;

/// The path of the page in the repository.
pub const PAGE: &str = "docs/coverage.md";

const REQUIREMENTS: &str = "docs/requirements.md";

/// The page, from the repository at `root`.
pub fn page(root: &Path) -> io::Result<String> {
    let catalogue = Catalogue::read(&read(&root.join(REQUIREMENTS))?);
    let mut citations = rust_citations(root)?;
    citations.extend(script_citations(root)?);
    Ok(render(&catalogue, &citations))
}

/// All citations in the Rust files below `crates/`. Contracts are looked up within their crate.
fn rust_citations(root: &Path) -> io::Result<Vec<Citation>> {
    let mut crates: BTreeMap<String, Scanned> = BTreeMap::new();
    for file in files(root, "crates")?.iter().filter(|file| has_extension(file, "rs")) {
        if let Some(source_file) = SourceFile::of(file) {
            let scanned = citations::scan(&source_file, &read(&root.join(file))?);
            crates.entry(source_file.crate_name().to_owned()).or_default().add(scanned);
        }
    }
    Ok(crates.into_values().flat_map(Scanned::into_citations).collect())
}

fn script_citations(root: &Path) -> io::Result<Vec<Citation>> {
    let mut scripts = files(root, "scripts")?;
    scripts.extend(files(root, "tests")?.into_iter().filter(|file| has_extension(file, "sh")));
    let mut citations = Vec::new();
    for file in scripts {
        let text = read(&root.join(&file))?;
        citations.extend(citations::in_script(&file.display().to_string(), &text));
    }
    Ok(citations)
}

fn has_extension(file: &Path, extension: &str) -> bool {
    file.extension().is_some_and(|found| found == extension)
}

/// The visible files below a directory, relative to `root`, in order; none if there is no such.
fn files(root: &Path, directory: &str) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    let mut waiting = vec![PathBuf::from(directory)];
    while let Some(relative) = waiting.pop() {
        let entries = match fs::read_dir(root.join(&relative)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
            Err(error) => return Err(about(&relative, &error)),
        };
        for entry in entries {
            let entry = entry?;
            let name = entry.file_name();
            let path = relative.join(&name);
            let kind = entry.file_type()?;
            if name.as_encoded_bytes().starts_with(b".") || name == "target" {
                continue;
            } else if kind.is_dir() {
                waiting.push(path);
            } else if kind.is_file() {
                files.push(path);
            }
        }
    }
    files.sort();
    Ok(files)
}

/// The file's text. Bytes that are not UTF-8 are replaced: no citation contains them.
fn read(path: &Path) -> io::Result<String> {
    let bytes = fs::read(path).map_err(|error| about(path, &error))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn about(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

fn render(catalogue: &Catalogue, citations: &[Citation]) -> String {
    let mut tests: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut unknown: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for citation in citations {
        let found = catalogue.find(&citation.text);
        for id in found.known {
            tests.entry(id).or_default().insert(&citation.test);
        }
        for id in found.unknown {
            unknown.entry(id).or_default().insert(&citation.test);
        }
    }
    let mut page =
        format!("# Coverage\n\nPrinted by `{COMMAND}` from [requirements.md](requirements.md) and the tests.\n\n");
    page += &summary(catalogue, &tests);
    page += "\n## Cited by no test yet\n\n";
    page += &uncited(catalogue, &tests);
    if !unknown.is_empty() {
        page += "\n## Cited, but no such id\n\n| id | cited by |\n|---|---|\n";
        unknown.iter().for_each(|(id, tests)| row(&mut page, id, Some(tests)));
    }
    page += "\n## Cited by\n\n| id | cited by |\n|---|---|\n";
    catalogue.ids().for_each(|id| row(&mut page, id, tests.get(id)));
    page
}

fn summary(catalogue: &Catalogue, tests: &BTreeMap<&str, BTreeSet<&str>>) -> String {
    let (lessons, requirements): (Vec<_>, Vec<_>) = catalogue.ids().partition(|id| catalogue::is_lesson(id));
    let cited = |ids: &[&str]| ids.iter().filter(|id| tests.contains_key(*id)).count();
    format!(
        "{} of {} requirements and {} of {} lessons are cited by a test.\n",
        cited(&requirements),
        requirements.len(),
        cited(&lessons),
        lessons.len()
    )
}

/// One line for each family of ids.
fn uncited(catalogue: &Catalogue, tests: &BTreeMap<&str, BTreeSet<&str>>) -> String {
    let mut families: Vec<(char, Vec<&str>)> = Vec::new();
    for id in catalogue.ids().filter(|id| !tests.contains_key(id)) {
        let family = catalogue::family(id);
        match families.last_mut() {
            Some((last, ids)) if *last == family => ids.push(id),
            Some(_) | None => families.push((family, vec![id])),
        }
    }
    if families.is_empty() {
        return "None.\n".into();
    }
    families.iter().map(|(_, ids)| format!("- {}\n", ids.join(", "))).collect()
}

fn row(page: &mut String, id: &str, tests: Option<&BTreeSet<&str>>) {
    let tests: Vec<_> = tests.into_iter().flatten().collect();
    let mut named = tests.iter().take(MAX_NAMED_TESTS).map(|test| format!("`{test}`")).collect::<Vec<_>>().join(", ");
    if tests.len() > MAX_NAMED_TESTS {
        named += &format!(" +{}", tests.len() - MAX_NAMED_TESTS);
    }
    if named.is_empty() {
        named.push('-');
    }
    writeln!(page, "| {id} | {named} |").expect("writing to a string does not fail");
}

#[cfg(test)]
mod tests {
    use super::{Catalogue, Citation, render};

    fn citation(test: &str, text: &str) -> Citation {
        Citation { test: test.into(), text: text.into() }
    }

    #[test]
    fn the_page_counts_lists_and_names_three() {
        let catalogue = Catalogue::read("| id | what |\n|---|---|\n| E1 | a |\n| E2 | b |\n| L1 | c |\n| F1 | d |\n");
        let citations = [
            citation("a::d", "E2"),
            citation("a::c", "E2"),
            citation("a::b", "E2, F2"),
            citation("a::a", "E2"),
            citation("x", ""),
        ];
        let expected = "# Coverage\n\n\
            Printed by `cargo run -p testkit --bin coverage` from [requirements.md](requirements.md) and the tests.\n\n\
            1 of 3 requirements and 0 of 1 lessons are cited by a test.\n\n\
            ## Cited by no test yet\n\n- E1\n- L1\n- F1\n\n\
            ## Cited, but no such id\n\n| id | cited by |\n|---|---|\n| F2 | `a::b` |\n\n\
            ## Cited by\n\n| id | cited by |\n|---|---|\n\
            | E1 | - |\n| E2 | `a::a`, `a::b`, `a::c` +1 |\n| L1 | - |\n| F1 | - |\n";
        assert_eq!(render(&catalogue, &citations), expected);
    }

    #[test]
    fn a_page_without_gaps_says_so() {
        let catalogue = Catalogue::read("| E1 | a |\n");
        let page = render(&catalogue, &[citation("t", "E1")]);
        assert!(page.contains("1 of 1 requirements and 0 of 0 lessons"), "{page}");
        assert!(page.contains("## Cited by no test yet\n\nNone.\n\n## Cited by\n"), "{page}");
    }
}
