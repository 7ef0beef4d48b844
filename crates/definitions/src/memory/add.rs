//! How does a new entry get into the memory bank?

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::DIR_NAME;
use crate::dir::{self, FileError, SaihaiDir};

/// An entry to be written.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewMemoryEntry {
    pub title: String,
    pub category: Option<String>,
    pub summary: Option<String>,
    pub body: String,
}

impl NewMemoryEntry {
    /// What an agent proposed. Its first line is the title, unless another is given.
    pub fn proposed(text: &str, title: Option<String>, category: Option<String>) -> Self {
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let (title, body) = match title {
            Some(title) => (title, text),
            None => (first.trim().trim_start_matches('#').trim().to_owned(), rest),
        };
        let body = if body.trim().is_empty() { text } else { body };
        Self { title, category, summary: None, body: body.trim().to_owned() }
    }
}

#[derive(Debug, thiserror::Error)]
pub enum AddError {
    #[error("`{text}` has no letter or digit to make a file name of")]
    NoName { text: String },
    #[error("{} exists already", path.display())]
    Exists { path: PathBuf },
    #[error("{} leads out of `.saihai/`", path.display())]
    Outside { path: PathBuf },
    #[error("{} cannot be written: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

#[derive(Serialize)]
struct FrontMatter<'a> {
    title: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    category: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'a str>,
}

/// Writes `.saihai/memory/CATEGORY/TITLE.md`, whole or not at all, and returns its path relative to
/// the repository. An entry that exists is never replaced.
pub fn add(saihai_dir: &Path, new: &NewMemoryEntry) -> Result<PathBuf, AddError> {
    let mut directory = PathBuf::from(DIR_NAME);
    if let Some(category) = &new.category {
        directory.push(slug(category)?);
    }
    let file = directory.join(format!("{}.md", slug(&new.title)?));
    let path = dir::in_repository(&file);
    let failed = |error| AddError::Io { path: path.clone(), error };

    let dir = SaihaiDir::open(saihai_dir).map_err(failed)?;
    make(&dir, &directory)?;
    let mut temporary = dir::new_file(&dir.path(&directory)).map_err(failed)?;
    temporary.write_all(text(new).as_bytes()).map_err(failed)?;
    temporary.as_file().sync_all().map_err(failed)?;
    match temporary.persist_noclobber(dir.path(&file)) {
        Ok(_) => Ok(path),
        Err(failure) if failure.error.kind() == io::ErrorKind::AlreadyExists => Err(AddError::Exists { path }),
        Err(failure) => Err(failed(failure.error)),
    }
}

/// Makes the directories one by one and checks each, so that no link leads outside.
fn make(dir: &SaihaiDir, directory: &Path) -> Result<(), AddError> {
    let mut relative = PathBuf::new();
    for part in directory {
        relative.push(part);
        let path = dir::in_repository(&relative);
        match fs::create_dir(dir.path(&relative)) {
            Ok(()) => {}
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(AddError::Io { path, error }),
        }
        match dir.resolve(&relative) {
            Ok(_) => {}
            Err(FileError::Io(error)) => return Err(AddError::Io { path, error }),
            Err(
                FileError::Outside
                | FileError::Missing
                | FileError::NotAFile
                | FileError::TooLarge
                | FileError::NotUtf8 { .. },
            ) => return Err(AddError::Outside { path }),
        }
    }
    Ok(())
}

fn text(new: &NewMemoryEntry) -> String {
    let front = FrontMatter {
        title: &new.title,
        category: new.category.as_deref(),
        summary: new.summary.as_deref().filter(|summary| !summary.trim().is_empty()),
    };
    let front = serde_saphyr::to_string(&front).expect("texts have a YAML form");
    format!("---\n{front}---\n{}\n", new.body.trim_end())
}

/// Lower-case letters and digits of any script, in groups joined by `-`.
fn slug(text: &str) -> Result<String, AddError> {
    let mut slug = String::new();
    for c in text.to_lowercase().chars().take(60) {
        if c.is_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { Err(AddError::NoName { text: text.to_owned() }) } else { Ok(slug.to_owned()) }
}
