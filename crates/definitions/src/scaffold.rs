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

/// Why the first definitions were not written. Nothing that was made for them is left.
#[derive(Debug, thiserror::Error)]
pub enum ScaffoldError {
    #[error("{} is a symbolic link, and what it leads to may belong to somebody else", .0.display())]
    Link(PathBuf),
    #[error("{} is not a directory", .0.display())]
    NotADirectory(PathBuf),
    #[error("cannot write {}: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl ScaffoldError {
    /// What to do about it.
    pub fn hint(&self) -> &'static str {
        match self {
            Self::Link(_) | Self::NotADirectory(_) => {
                "Put a directory in its place, and run the command again; nothing was changed."
            }
            Self::Io { .. } => {
                "Make sure that you can write to the directory, and run the command again; nothing was changed."
            }
        }
    }
}

/// The files and directories that [`scaffold`] has made. They are removed again when this is dropped before they are
/// kept, so that a command that fails later leaves none of them.
#[derive(Debug, Default)]
#[must_use = "what was written is removed again unless it is kept"]
pub struct Scaffold {
    /// Relative to the repository.
    written: Vec<PathBuf>,
    files: Vec<PathBuf>,
    /// Each after the one that it is in.
    directories: Vec<PathBuf>,
}

impl Scaffold {
    /// Leaves everything where it is. Returns the files, relative to the repository.
    pub fn keep(mut self) -> Vec<PathBuf> {
        self.files.clear();
        self.directories.clear();
        std::mem::take(&mut self.written)
    }

    /// Makes a directory if it is not there.
    fn make_directory(&mut self, path: &Path) -> Result<(), ScaffoldError> {
        match fs::symlink_metadata(path) {
            Ok(found) if found.is_symlink() => Err(ScaffoldError::Link(path.to_owned())),
            Ok(found) if !found.is_dir() => Err(ScaffoldError::NotADirectory(path.to_owned())),
            Ok(_) => Ok(()),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                fs::create_dir(path).map_err(cannot_write(path))?;
                self.directories.push(path.to_owned());
                Ok(())
            }
            Err(error) => Err(cannot_write(path)(error)),
        }
    }

    /// Writes a file if there is none of that name, not even a link that leads nowhere.
    fn write_new(&mut self, saihai_dir: &Path, relative: &str, text: &str) -> Result<(), ScaffoldError> {
        let path = saihai_dir.join(relative);
        if path.symlink_metadata().is_ok() {
            return Ok(());
        }
        let directory = path.parent().unwrap_or(saihai_dir);
        self.make_directory(directory)?;
        let mut temporary = dir::new_file(directory).map_err(cannot_write(&path))?;
        temporary.write_all(text.as_bytes()).map_err(cannot_write(&path))?;
        match temporary.persist_noclobber(&path) {
            Ok(_) => {
                self.written.push(dir::in_repository(relative));
                self.files.push(path);
                Ok(())
            }
            // Somebody else has just written it.
            Err(failure) if failure.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(failure) => Err(cannot_write(&path)(failure.error)),
        }
    }
}

impl Drop for Scaffold {
    fn drop(&mut self) {
        // What cannot be removed stays: the error that led here says more.
        for file in self.files.drain(..) {
            let _ = fs::remove_file(file);
        }
        // Only those are removed in which nobody else has put anything.
        for directory in self.directories.drain(..).rev() {
            let _ = fs::remove_dir(directory);
        }
    }
}

fn cannot_write(path: &Path) -> impl FnOnce(io::Error) -> ScaffoldError {
    let path = path.to_owned();
    |error| ScaffoldError::Io { path, error }
}

/// Writes the first definitions. A file that exists is kept as it is; a project that has any agent gets no other (F81).
/// Nothing is written through a symbolic link.
pub fn scaffold(saihai_dir: &Path, options: &ScaffoldOptions) -> Result<Scaffold, ScaffoldError> {
    let mut made = Scaffold::default();
    made.make_directory(saihai_dir)?;
    let found = dir::SaihaiDir::open(saihai_dir).and_then(|dir| dir.yaml_files("agents"));
    let has_agents = !found.map_err(cannot_write(&saihai_dir.join("agents")))?.is_empty();
    let has_memory = saihai_dir.join("memory").symlink_metadata().is_ok();
    for template in TEMPLATES {
        let wanted = match template.group {
            TemplateGroup::Config => true,
            TemplateGroup::Agents => !has_agents,
            TemplateGroup::Memory => !has_memory,
        };
        if wanted {
            made.write_new(saihai_dir, template.path, &fill_template(template, options))?;
        }
    }
    Ok(made)
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
