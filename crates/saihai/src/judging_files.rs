//! Which files judge work, may be changed by agents, and are not protected (V16)?

use board::{CheckRun, Settings, judging_files};
use git::{Git, branch_ref};
use runner::scope::Patterns;

use crate::context::OpenProject;

/// The files of the target that the checks name or read and that `dod.protect` does not. A few of them, for people.
pub(crate) fn unprotected(opened: &OpenProject, settings: &Settings) -> Vec<String> {
    let named = judging_files(CheckRun::of(&settings.dod).commands());
    if named.is_empty() {
        return Vec::new();
    }
    let target = branch_ref(&settings.target_branch);
    let git = Git::for_command_line(&opened.path);
    let files = git.paths(&["ls-tree", "-r", "-z", "--name-only", "--full-tree", &target]).unwrap_or_default();
    let (named, protect) = (Patterns::new(&named), Patterns::new(&settings.dod.protect));
    files.into_iter().filter(|file| named.matches(file) && !protect.matches(file)).take(20).collect()
}

/// The line for `config.yaml` that would protect these.
pub(crate) fn proposal(files: &[String]) -> String {
    let patterns: Vec<_> = files.iter().map(|file| serde_json::json!(format!("/{file}")).to_string()).collect();
    format!("protect: [{}]", patterns.join(", "))
}
