//! Which entries does the memory bank have?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::{DIR_NAME, EntryWithText, MemoryEntry, front_matter};
use crate::Problem;
use crate::dir::{self, FileError, SaihaiDir};
use crate::problem::ProblemReport;

/// All entries by path, and what is wrong with those files that could not be read or whose front
/// matter could not. No memory bank is an empty one.
pub fn list(saihai_dir: &Path) -> (Vec<MemoryEntry>, Vec<Problem>) {
    let (shown, problems) = read_all(saihai_dir);
    (shown.into_iter().map(|shown| shown.entry).collect(), problems)
}

pub(super) fn read_all(saihai_dir: &Path) -> (Vec<EntryWithText>, Vec<Problem>) {
    let mut problems = Vec::new();
    let mut entries = Vec::new();
    if let Ok(dir) = SaihaiDir::open(saihai_dir) {
        for file in files(&dir, &mut problems) {
            let mut report = ProblemReport::new(dir::in_repository(&file));
            match dir.read(&file) {
                Ok(_) if !is_plain(&file) => report.whole_file("has a name that no prompt can hold", None),
                Ok(text) => entries.push(entry(&file, &text, &mut report)),
                Err(error) => error.report(&mut report, None),
            }
            problems.append(&mut report.problems);
        }
    }
    entries.sort_by(|a, b| a.entry.path.cmp(&b.entry.path));
    problems.sort();
    (entries, problems)
}

/// Every `*.md` below the directory, relative to `.saihai/`. Links to directories are not followed.
fn files(dir: &SaihaiDir, problems: &mut Vec<Problem>) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut waiting = vec![PathBuf::from(DIR_NAME)];
    while let Some(relative) = waiting.pop() {
        let listed = dir.resolve(&relative).and_then(|real| Ok(visible(&real)?));
        match listed {
            Ok((names, directories)) => {
                files.extend(names.into_iter().map(|name| relative.join(name)));
                waiting.extend(directories.into_iter().map(|name| relative.join(name)));
            }
            Err(FileError::Missing) => {}
            Err(error) => {
                let mut report = ProblemReport::new(dir::in_repository(&relative));
                report.whole_file(error.to_string(), None);
                problems.append(&mut report.problems);
            }
        }
    }
    files
}

/// The Markdown files and the directories in a directory, without those that are hidden.
fn visible(directory: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let (mut files, mut directories) = (Vec::new(), Vec::new());
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = PathBuf::from(entry.file_name());
        if dir::is_hidden(&name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            directories.push(name);
        } else if name.extension().is_some_and(|extension| extension == "md") {
            files.push(name);
        }
    }
    Ok((files, directories))
}

fn entry(file: &Path, text: &str, report: &mut ProblemReport) -> EntryWithText {
    let (front, body) = front_matter::split(text, report);
    let stem = || file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let title = front.title.or_else(|| heading(body)).unwrap_or_else(stem);
    let directory = file.parent().and_then(|parent| parent.strip_prefix(DIR_NAME).ok());
    let category = directory.map(|directory| directory.display().to_string()).filter(|name| !name.is_empty());
    EntryWithText {
        entry: MemoryEntry {
            path: dir::in_repository(file),
            title: one_line(&title),
            category: front.category.or(category),
            summary: front.summary,
        },
        body: body.to_owned(),
    }
}

fn heading(body: &str) -> Option<String> {
    let heading = |line: &str| line.strip_prefix('#')?.trim_start_matches('#').strip_prefix(' ').map(str::to_owned);
    body.lines().find_map(heading).filter(|heading| !heading.trim().is_empty())
}

/// Paths go into prompts, as titles do.
fn is_plain(path: &Path) -> bool {
    path.to_str().is_some_and(|path| !path.contains(char::is_control))
}

/// Titles go into prompts: none may begin a line of its own.
fn one_line(title: &str) -> String {
    title
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect::<Vec<_>>()
        .join(" ")
}
