//! Which project is this repository, wherever it was moved to? A file beside its objects says so.
//!
//! Projects are found by their paths. The file is asked only where no project is registered, so a repository that was
//! moved is recognised, and a copy of one is not taken for it.

use std::path::{Path, PathBuf};

use board::{Installation, Project, ProjectId, Timestamp};
use git::Git;
use serde::{Deserialize, Serialize};

const FILE: &str = "saihai-project";

#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Marker {
    id: ProjectId,
    /// Two stores may have projects of one name.
    added_at: Timestamp,
}

fn file(directory: &Path) -> Option<PathBuf> {
    let layout = Git::for_command_line(directory).layout().ok()?;
    Some(layout.common_directory.join(FILE))
}

/// Marks the repository of a project. Without the mark it is only not recognised after a move.
pub(crate) fn write(project: &Project) {
    let marker = Marker { id: project.id.clone(), added_at: project.added_at };
    if let (Some(file), Ok(text)) = (file(Path::new(&project.path)), serde_json::to_string(&marker)) {
        let _ = std::fs::write(file, text);
    }
}

/// The project whose repository this is, if its own path has none any more.
pub(crate) fn moved_here<'a>(installation: &'a Installation, directory: &Path) -> Option<&'a Project> {
    let marker = std::fs::read(file(directory)?).ok()?;
    let marker: Marker = serde_json::from_slice(&marker).ok()?;
    let known = installation.project(&marker.id)?;
    let is_gone = installation.removed.contains_key(&known.id) || !Path::new(&known.path).join(".git").exists();
    (known.added_at == marker.added_at && is_gone).then_some(known)
}
