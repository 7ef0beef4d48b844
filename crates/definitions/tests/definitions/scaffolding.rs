//! Does `saihai init` write what loads, and only what is not there?

use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use board::{Hierarchy, Language};
use definitions::{ScaffoldError, ScaffoldOptions, memory};

use crate::DefinitionsDir;

fn options(name: &str, language: Language) -> ScaffoldOptions {
    ScaffoldOptions { name: name.into(), target_branch: "main".into(), language }
}

fn scaffold(saihai_dir: &Path, options: &ScaffoldOptions) -> Result<Vec<PathBuf>, ScaffoldError> {
    definitions::scaffold(saihai_dir, options).map(definitions::Scaffold::keep)
}

fn paths(paths: &[&str]) -> Vec<PathBuf> {
    paths.iter().map(PathBuf::from).collect()
}

/// R8, C5: what is written loads without a problem, whatever the project is called.
#[test]
fn what_is_written_loads() {
    let long = "long ".repeat(40) + "name";
    let names = ["web", "it's \"quoted\"", "a: b # c", "日本語の名前", "{{language}}", "- x", "true", "12", "*", &long];
    for language in Language::ALL {
        for name in names {
            let saihai = DefinitionsDir::empty();
            scaffold(&saihai.path(), &options(name, *language)).unwrap();
            let definitions = saihai.load();
            let settings = definitions.settings.clone().into_settings("p".parse().unwrap(), Language::En, "other");
            assert_eq!((settings.name.as_str(), settings.language), (name, *language));
            assert_eq!(settings.target_branch, "main");
            let [coder, lead] = &definitions.agents[..] else { panic!("{:?}", definitions.agents) };
            assert_eq!((coder.hierarchy, lead.hierarchy), (Hierarchy::Worker, Hierarchy::Manager));
            assert_eq!(coder.parent.as_ref(), Some(&lead.id));
            assert!(!coder.system_prompt.is_empty() && !lead.system_prompt.is_empty());
            let (entries, problems) = memory::list(&saihai.path());
            assert_eq!((entries.len(), problems), (1, Vec::new()));
        }
    }
}

/// R8: the written settings are the defaults of the board, so that the comments tell the truth.
#[test]
fn the_written_settings_are_the_defaults() {
    let saihai = DefinitionsDir::empty();
    scaffold(&saihai.path(), &options("p", Language::En)).unwrap();
    let settings = saihai.load().settings.into_settings("p".parse().unwrap(), Language::En, "main");
    assert_eq!(settings, board::Settings::new("p".parse().unwrap()));
}

/// F81: a second run writes nothing.
#[test]
fn a_second_run_writes_nothing() {
    let saihai = DefinitionsDir::empty();
    let all = [
        ".saihai/config.yaml",
        ".saihai/prompts/lead.md",
        ".saihai/prompts/coder.md",
        ".saihai/agents/lead.yaml",
        ".saihai/agents/coder.yaml",
        ".saihai/memory/project.md",
    ];
    assert_eq!(scaffold(&saihai.path(), &options("web", Language::En)).unwrap(), paths(&all));
    assert_eq!(scaffold(&saihai.path(), &options("other", Language::Ja)).unwrap(), paths(&[]));
    assert!(saihai.read(".saihai/config.yaml").starts_with("name: web\n"));
}

/// F81: agents that the owner has chosen get no company, and files that exist stay as they are.
#[test]
fn what_exists_is_left_alone() {
    let saihai = DefinitionsDir::empty();
    saihai.write("agents/mine.yml", "id: mine\n");
    saihai.write("memory/notes.txt", "mine");
    let written = scaffold(&saihai.path(), &options("web", Language::En)).unwrap();
    assert_eq!(written, paths(&[".saihai/config.yaml"]));

    let saihai = DefinitionsDir::new(&[("prompts/lead.md", "mine")]);
    let written = scaffold(&saihai.path(), &options("other", Language::En)).unwrap();
    assert_eq!(written.len(), 4, "{written:?}");
    assert_eq!(saihai.read(".saihai/prompts/lead.md"), "mine");
    assert_eq!(saihai.read(".saihai/config.yaml"), "name: web\n");
}

/// Everything below a directory, without following links.
fn tree(directory: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(directory).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            found.extend(tree(&entry.path()));
        }
        found.push(entry.path());
    }
    found.sort();
    found
}

/// C3, F81: whatever is in the way, the error names it, and nothing that was made before is left.
#[test]
fn a_failure_half_way_leaves_nothing() {
    for (in_the_way, is_first) in [("agents", true), ("prompts", false)] {
        let saihai = DefinitionsDir::empty();
        saihai.write(in_the_way, "a file");
        let before = tree(&saihai.path());
        let error = scaffold(&saihai.path(), &options("web", Language::En)).unwrap_err();
        assert!(error.to_string().contains(&format!(".saihai/{in_the_way}")), "{error}");
        assert!(error.hint().contains("directory"), "{error}");
        assert_eq!(matches!(error, ScaffoldError::Io { .. }), is_first, "{error}");
        assert_eq!(tree(&saihai.path()), before, "{in_the_way}");
    }
}

/// C3: neither `.saihai` nor a directory in it is written through if it is a link, whether it leads somewhere or not.
#[test]
fn nothing_is_written_through_a_link() {
    for linked in ["", "agents", "prompts", "memory"] {
        for target in ["elsewhere", "missing"] {
            let scratch = tempfile::tempdir().unwrap();
            let (root, saihai) = (scratch.path(), scratch.path().join("repository/.saihai"));
            fs::create_dir_all(root.join("elsewhere")).unwrap();
            fs::create_dir_all(if linked.is_empty() { saihai.parent().unwrap() } else { &saihai }).unwrap();
            symlink(root.join(target), saihai.join(linked).components().collect::<PathBuf>()).unwrap();
            let before = tree(root);
            match scaffold(&saihai, &options("web", Language::En)) {
                Err(ScaffoldError::Link(path)) => {
                    assert_eq!(path, saihai.join(linked).components().collect::<PathBuf>())
                }
                // A memory bank that is there already is left alone, link or not.
                Ok(written) if linked == "memory" => assert_eq!(written.len(), 5, "{written:?}"),
                other => panic!("{linked} -> {target}: {other:?}"),
            }
            assert_eq!(fs::read_dir(root.join("elsewhere")).unwrap().count(), 0, "{linked} -> {target}");
            assert!(!root.join("missing").exists(), "{linked} -> {target}");
            if linked != "memory" {
                assert_eq!(tree(root), before, "{linked} -> {target}");
            }
        }
    }
}

/// C3, F81: what was written is taken back unless it is kept; what others have put there stays.
#[test]
fn what_is_not_kept_is_removed() {
    let saihai = DefinitionsDir::new(&[]);
    let before = tree(&saihai.path());
    let written = definitions::scaffold(&saihai.path(), &options("web", Language::En)).unwrap();
    assert!(saihai.path().join("agents/lead.yaml").exists());
    drop(written);
    assert_eq!(tree(&saihai.path()), before);
    let written = definitions::scaffold(&saihai.path(), &options("web", Language::En)).unwrap();
    saihai.write("agents/mine.yaml", "id: mine\n");
    drop(written);
    assert_eq!(saihai.read(".saihai/agents/mine.yaml"), "id: mine\n");
    assert!(!saihai.path().join("agents/lead.yaml").exists() && !saihai.path().join("memory").exists());
}
