//! What does `saihai init` write into a repository that has no definitions yet?

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use board::Language;

use crate::dir;

/// What the templates are filled with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaffoldOptions {
    pub name: String,
    pub target_branch: String,
    pub language: Language,
}

struct Template {
    path: &'static str,
    group: TemplateGroup,
    en: &'static str,
    ja: &'static str,
}

/// What a template belongs to: a part that a project has already is left alone.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TemplateGroup {
    Config,
    Agents,
    Memory,
}

macro_rules! template {
    ($group:ident, $path:literal) => {
        Template {
            path: $path,
            group: TemplateGroup::$group,
            en: include_str!(concat!("templates/en/", $path)),
            ja: include_str!(concat!("templates/ja/", $path)),
        }
    };
}

const TEMPLATES: &[Template] = &[
    template!(Config, "config.yaml"),
    // A prompt comes before the agent that names it, so that a reader in between finds it.
    template!(Agents, "prompts/lead.md"),
    template!(Agents, "prompts/coder.md"),
    template!(Agents, "agents/lead.yaml"),
    template!(Agents, "agents/coder.yaml"),
    template!(Memory, "memory/project.md"),
];

/// Writes the first definitions and returns the files it wrote, relative to the repository. A file
/// that exists is kept as it is; a project that has any agent gets no other (F81).
pub fn scaffold(saihai_dir: &Path, options: &ScaffoldOptions) -> io::Result<Vec<PathBuf>> {
    fs::create_dir_all(saihai_dir)?;
    let has_agents = !dir::SaihaiDir::open(saihai_dir)?.yaml_files("agents")?.is_empty();
    let has_memory = saihai_dir.join("memory").try_exists()?;
    let mut written = Vec::new();
    for template in TEMPLATES {
        let wanted = match template.group {
            TemplateGroup::Config => true,
            TemplateGroup::Agents => !has_agents,
            TemplateGroup::Memory => !has_memory,
        };
        if wanted
            && write_new(&saihai_dir.join(template.path), &fill_template(template, options))? == WriteOutcome::Created
        {
            written.push(dir::in_repository(template.path));
        }
    }
    Ok(written)
}

fn fill_template(template: &Template, options: &ScaffoldOptions) -> String {
    let text = match options.language {
        Language::En => template.en,
        Language::Ja => template.ja,
    };
    // The name last: it may hold anything, also `{{language}}`.
    text.replace("{{language}}", options.language.as_str())
        .replace("{{target_branch}}", &yaml_scalar(&options.target_branch))
        .replace("{{name}}", &yaml_scalar(&options.name))
}

/// A text as a YAML scalar on one line.
fn yaml_scalar(text: &str) -> String {
    let one_line: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let options = serde_saphyr::ser_options! { prefer_block_scalars: false };
    let yaml = serde_saphyr::to_string_with_options(&one_line.trim(), options);
    yaml.expect("a text has a YAML form").trim_end().to_owned()
}

#[derive(PartialEq, Eq)]
enum WriteOutcome {
    Created,
    AlreadyThere,
}

fn write_new(path: &Path, text: &str) -> io::Result<WriteOutcome> {
    let directory = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(directory)?;
    let mut temporary = dir::new_file(directory)?;
    temporary.write_all(text.as_bytes())?;
    match temporary.persist_noclobber(path) {
        Ok(_) => Ok(WriteOutcome::Created),
        Err(failure) if failure.error.kind() == io::ErrorKind::AlreadyExists => Ok(WriteOutcome::AlreadyThere),
        Err(failure) => Err(failure.error),
    }
}
