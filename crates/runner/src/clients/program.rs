//! Where is the client's program?

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use super::{Assignment, CannotLaunch, Launch};

/// A vendor's program.
#[derive(Clone, Copy, Debug)]
pub(super) struct VendorProgram {
    pub(super) name: &'static str,
    pub(super) program: &'static str,
    pub(super) package: &'static str,
}

impl VendorProgram {
    pub(super) fn find(&self, assignment: &Assignment<'_>) -> Result<PathBuf, CannotLaunch> {
        let Self { name, program, package } = self;
        on_path(assignment, program).ok_or_else(|| CannotLaunch {
            problem: format!("{name} is not installed: there is no `{program}` on the PATH"),
            hint: format!("Install it (npm install -g {package}), or set PATH to where it is"),
        })
    }
}

/// The program of that name: the agent's own PATH goes before the user's.
pub(super) fn on_path(assignment: &Assignment<'_>, name: &str) -> Option<PathBuf> {
    let own = assignment.env.get("PATH").map(|path| path.0.as_str());
    let users = assignment.user.env.get("PATH").map(String::as_str);
    on_paths(own.into_iter().chain(users), name)
}

/// The first program of that name on these paths.
pub(super) fn on_paths<'a>(paths: impl Iterator<Item = &'a str>, name: &str) -> Option<PathBuf> {
    paths
        .flat_map(std::env::split_paths)
        // Relative ones would mean another directory in each process.
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| is_executable(path))
}

pub(crate) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The path as it was found, because some programs ask by which name they were called.
pub(super) fn launch(program: PathBuf) -> Launch {
    Launch { program, ..Launch::default() }
}
