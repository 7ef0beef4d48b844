//! Does `saihai init` write what loads, and only what is not there?

use std::path::PathBuf;

use board::{Hierarchy, Language};
use definitions::{ScaffoldOptions, memory, scaffold};

use crate::DefinitionsDir;

fn options(name: &str, language: Language) -> ScaffoldOptions {
    ScaffoldOptions { name: name.into(), target_branch: "main".into(), language }
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
