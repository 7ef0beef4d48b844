//! Does the memory bank keep, list and show what was decided?

use std::os::unix::fs::symlink;
use std::path::PathBuf;

use board::Language;
use definitions::memory::{self, MemoryEntry, NewMemoryEntry, ShowError};

use crate::DefinitionsDir;

fn entry(path: &str, title: &str, category: Option<&str>, summary: Option<&str>) -> MemoryEntry {
    MemoryEntry {
        path: path.into(),
        title: title.into(),
        category: category.map(Into::into),
        summary: summary.map(Into::into),
    }
}

fn new(title: &str, category: Option<&str>) -> NewMemoryEntry {
    NewMemoryEntry { title: title.into(), category: category.map(Into::into), summary: None, body: "Because.".into() }
}

/// R7: titles come from the front matter, the first heading or the file name; all of it is optional.
#[test]
fn entries_are_listed_by_path() {
    let saihai = DefinitionsDir::new(&[
        ("memory/z.md", "no heading at all\n"),
        ("memory/b/heading.md", "intro\n\n## The *second* title \n# later\n"),
        ("memory/a/full.md", "---\ntitle: \"A\\n## B\"\ncategory: data\nsummary: why\ntags: [x]\n---\n# Not this\n"),
        ("memory/a/windows.md", "---\r\ntitle: W\r\n---\r\nbody\r\n"),
        ("memory/a/rule.md", "text\n---\n# R\n"),
        ("memory/.hidden.md", "# no\n"),
        ("memory/image.png", "no"),
    ]);
    let expected = vec![
        entry(".saihai/memory/a/full.md", "A ## B", Some("data"), Some("why")),
        entry(".saihai/memory/a/rule.md", "R", Some("a"), None),
        entry(".saihai/memory/a/windows.md", "W", Some("a"), None),
        entry(".saihai/memory/b/heading.md", "The *second* title", Some("b"), None),
        entry(".saihai/memory/z.md", "z", None, None),
    ];
    assert_eq!(memory::list(&saihai.path()), (expected, Vec::new()));
}

/// R7: no memory bank is an empty one.
#[test]
fn a_project_without_memory_has_no_entries() {
    let saihai = DefinitionsDir::empty();
    assert_eq!(memory::list(&saihai.path()), (Vec::new(), Vec::new()));
    assert_eq!(memory::preview(&[], Language::En), "");
}

/// R7: what cannot be read is a problem; what only has bad front matter is listed all the same.
#[test]
fn files_that_cannot_be_read_are_problems() {
    let saihai = DefinitionsDir::new(&[
        ("memory/a.md", "---\ntitle: A\nsummary: [b]\n---\n"),
        ("memory/b.md", "---\ntitle: 'B\n---\n# Heading\n"),
        ("memory/c.md", "---\ntitle: C\n"),
        ("memory/sub/x.md", "# X\n"),
    ]);
    saihai.write("memory/d.md", b"# \xff\n");
    saihai.write("memory/e.md", vec![b'a'; 1024 * 1024 + 1]);
    symlink("/etc/passwd", saihai.path().join("memory/f.md")).unwrap();
    symlink("sub/x.md", saihai.path().join("memory/g.md")).unwrap();
    symlink("/etc", saihai.path().join("memory/h")).unwrap();
    symlink("..", saihai.path().join("memory/sub/loop")).unwrap();
    saihai.write("memory/new\nline.md", "# N\n");
    let (entries, problems) = memory::list(&saihai.path());
    let titles: Vec<_> = entries.iter().map(|entry| entry.title.as_str()).collect();
    assert_eq!(titles, ["A", "Heading", "c", "X", "X"]);
    let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
    assert_eq!(
        problems,
        [
            ".saihai/memory/a.md:3:10: `summary` must be text, not a list",
            ".saihai/memory/b.md:3:1: invalid YAML: invalid indentation in multiline quoted scalar",
            ".saihai/memory/c.md:1:1: the front matter has no closing `---`",
            ".saihai/memory/d.md:1:1: is not UTF-8 text",
            ".saihai/memory/e.md: is larger than 1 MiB",
            ".saihai/memory/f.md: is a link that leads out of `.saihai/`",
            ".saihai/memory/new\nline.md: has a name that no prompt can hold",
        ]
    );
}

/// R7: a memory bank that is itself a link to somewhere else is neither read nor written.
#[test]
fn a_memory_bank_elsewhere_is_not_followed() {
    let saihai = DefinitionsDir::new(&[]);
    let elsewhere = tempfile::tempdir().unwrap();
    std::fs::write(elsewhere.path().join("secret.md"), "# secret\n").unwrap();
    symlink(elsewhere.path(), saihai.path().join("memory")).unwrap();
    let (entries, problems) = memory::list(&saihai.path());
    assert_eq!(entries, []);
    assert_eq!(problems[0].to_string(), ".saihai/memory: is a link that leads out of `.saihai/`");
    let error = memory::add(&saihai.path(), &new("x", Some("y"))).unwrap_err();
    assert_eq!(error.to_string(), ".saihai/memory leads out of `.saihai/`");
    assert_eq!(std::fs::read_dir(elsewhere.path()).unwrap().count(), 1);
}

/// R7: what was added is listed and shown, and never replaced.
#[test]
fn an_added_entry_is_listed_and_shown() {
    let saihai = DefinitionsDir::new(&[]);
    let new = NewMemoryEntry {
        title: "Why: \"SQLite\" & WAL?".into(),
        category: Some("Data Store".into()),
        summary: Some("One line.\n---\nAnother.".into()),
        body: "# Decision\n\nBecause.\n\n\n".into(),
    };
    let path = memory::add(&saihai.path(), &new).unwrap();
    assert_eq!(path, PathBuf::from(".saihai/memory/data-store/why-sqlite-wal.md"));
    let (entries, problems) = memory::list(&saihai.path());
    let expected = MemoryEntry {
        path: path.clone(),
        title: new.title.clone(),
        category: new.category.clone(),
        summary: new.summary.clone(),
    };
    assert_eq!((entries, problems), (vec![expected.clone()], Vec::new()));
    for name in [".saihai/memory/data-store/why-sqlite-wal.md", "data-store/why-sqlite-wal", "why-sqlite-wal"] {
        let shown = memory::show(&saihai.path(), name).unwrap();
        assert_eq!((shown.entry, shown.body.as_str()), (expected.clone(), "# Decision\n\nBecause.\n"));
    }

    let before = saihai.read(&path);
    let error = memory::add(&saihai.path(), &new).unwrap_err();
    assert_eq!(error.to_string(), ".saihai/memory/data-store/why-sqlite-wal.md exists already");
    assert_eq!(saihai.read(&path), before);
    assert_eq!(std::fs::read_dir(saihai.path().join("memory/data-store")).unwrap().count(), 1);
}

/// R7, C5: titles of any script name a file; titles that could be paths do not lead anywhere.
#[test]
fn titles_become_file_names() {
    let saihai = DefinitionsDir::new(&[]);
    for (title, category, expected) in [
        ("データベースの選択", None, ".saihai/memory/データベースの選択.md"),
        ("../../etc/passwd", Some("../.."), ""),
        ("../../etc/passwd", Some("/x"), ".saihai/memory/x/etc-passwd.md"),
        ("?!", None, ""),
    ] {
        let path = memory::add(&saihai.path(), &new(title, category)).unwrap_or_default();
        assert_eq!(path, PathBuf::from(expected), "{title}");
    }
    let long = memory::add(&saihai.path(), &new(&"長".repeat(500), None)).unwrap();
    assert!(long.file_name().unwrap().len() < 255);
}

/// R7, F83: not found is an error, and a name that fits two entries names both.
#[test]
fn a_name_that_fits_no_entry_or_two_is_refused() {
    let saihai = DefinitionsDir::new(&[("memory/a/x.md", "# 1\n"), ("memory/b/x.md", "# 2\n")]);
    saihai.write("memory/bad.md", b"\xff");
    let show = |name: &str| memory::show(&saihai.path(), name).map(|shown| shown.entry.title);
    assert_eq!(show("b/x"), Ok("2".into()));
    assert_eq!(show("../config.yaml"), Err(ShowError::NotFound { name: "../config.yaml".into() }));
    let error = show("x").unwrap_err().to_string();
    assert_eq!(error, "`x` could be .saihai/memory/a/x.md or .saihai/memory/b/x.md");
    let error = show("bad").unwrap_err().to_string();
    assert_eq!(error, ".saihai/memory/bad.md:1:1: is not UTF-8 text");
}

/// R6, R7, C5: a prompt names paths and titles, not texts.
#[test]
fn the_preview_names_paths_and_titles() {
    let entries = [
        entry(".saihai/memory/a.md", "Alpha", None, Some("not shown")),
        entry(".saihai/memory/b.md", "ベータ", None, None),
    ];
    assert_eq!(
        memory::preview(&entries, Language::En),
        "## Project Context (Memory Bank)\n\nThe following project decision files are available:\n\n- \
         .saihai/memory/a.md - Alpha\n- .saihai/memory/b.md - ベータ\n\nRead these files in .saihai/memory/ for \
         detailed project decisions.\n"
    );
    assert!(memory::preview(&entries, Language::Ja).contains("- .saihai/memory/b.md - ベータ\n"));
}
