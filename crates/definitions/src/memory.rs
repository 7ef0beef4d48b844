//! What has the project decided that every agent should know (R7)?

mod add;
mod front_matter;
mod list;

use std::path::{Path, PathBuf};

use board::Language;

pub use add::{AddError, NewMemoryEntry, add};
pub use list::list;

use crate::Problem;

/// The directory of the memory bank inside `.saihai/`.
const DIR_NAME: &str = "memory";

/// A file of the memory bank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryEntry {
    /// Relative to the repository: `.saihai/memory/architecture/database.md`.
    pub path: PathBuf,
    /// From the front matter, else the first heading, else the name of the file. One line.
    pub title: String,
    /// From the front matter, else the directory it lies in.
    pub category: Option<String>,
    pub summary: Option<String>,
}

/// An entry with its whole text, without the front matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryWithText {
    pub entry: MemoryEntry,
    pub body: String,
}

#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShowError {
    #[error("the memory bank has no entry `{name}`")]
    NotFound { name: String },
    #[error("`{name}` could be {}", .paths.iter().map(|path| path.display().to_string()).collect::<Vec<_>>().join(" or "))]
    Ambiguous { name: String, paths: Vec<PathBuf> },
    #[error("{0}")]
    Unreadable(Problem),
}

/// Finds an entry by its path in the repository, its path in the memory bank or its file name, with
/// or without `.md`.
pub fn show(saihai_dir: &Path, name: &str) -> Result<EntryWithText, ShowError> {
    let (found, problems) = list::read_all(saihai_dir);
    let same_path = |path: &Path| names(path).contains(&name.to_owned());
    if let Some(shown) = found.iter().find(|shown| same_path(&shown.entry.path)) {
        return Ok(shown.clone());
    }
    if let Some(problem) = problems.into_iter().find(|problem| same_path(&problem.file)) {
        return Err(ShowError::Unreadable(problem));
    }
    let stem = Path::new(name.strip_suffix(".md").unwrap_or(name));
    let mut same_stem: Vec<EntryWithText> =
        found.into_iter().filter(|shown| shown.entry.path.file_stem() == Some(stem.as_os_str())).collect();
    match same_stem.len() {
        0 => Err(ShowError::NotFound { name: name.to_owned() }),
        1 => Ok(same_stem.remove(0)),
        _ => Err(ShowError::Ambiguous {
            name: name.to_owned(),
            paths: same_stem.into_iter().map(|shown| shown.entry.path).collect(),
        }),
    }
}

/// Every way to write the path of an entry.
fn names(path: &Path) -> Vec<String> {
    let inside = path.strip_prefix(crate::dir::in_repository(DIR_NAME)).unwrap_or(path);
    [path, inside]
        .iter()
        .flat_map(|path| [path.to_path_buf(), path.with_extension("")])
        .map(|path| path.display().to_string())
        .collect()
}

/// The section of a prompt that names the entries: paths and titles only, for the agent to read what
/// it needs. Empty if there are none.
pub fn preview(entries: &[MemoryEntry], language: Language) -> String {
    if entries.is_empty() {
        return String::new();
    }
    let (heading, before, after) = match language {
        Language::En => (
            "Project Context (Memory Bank)",
            "The following project decision files are available:",
            "Read these files in .saihai/memory/ for detailed project decisions.",
        ),
        Language::Ja => (
            "プロジェクトの文脈（メモリーバンク）",
            "次のプロジェクト決定事項のファイルがあります:",
            "詳細は .saihai/memory/ のこれらのファイルを読んでください。",
        ),
    };
    let lines: String = entries.iter().map(|entry| format!("- {} - {}\n", entry.path.display(), entry.title)).collect();
    format!("## {heading}\n\n{before}\n\n{lines}\n{after}\n")
}
