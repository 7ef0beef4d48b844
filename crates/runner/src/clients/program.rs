//! Where is the client's program, and what must it be able to read?

use std::io::Read as _;
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
    let own = assignment.spec.env.get("PATH").map(|path| path.0.as_str());
    let users = assignment.user.env.get("PATH").map(String::as_str);
    own.into_iter()
        .chain(users)
        .flat_map(std::env::split_paths)
        // Relative ones would mean another directory in each process.
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|path| is_executable(path))
}

pub(super) fn is_executable(path: &Path) -> bool {
    path.metadata().is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// The path as it was found, because some programs ask by which name they were called.
pub(super) fn launch(assignment: &Assignment<'_>, program: PathBuf) -> Launch {
    let interpreter = interpreter(assignment, &program).map(|found| installation(&found, &assignment.user.home));
    let mut readable = vec![surroundings(&program, &assignment.user.home)];
    readable.extend(interpreter.filter(|found| !readable.contains(found)));
    Launch { program, readable, ..Launch::default() }
}

/// What belongs to a program: the `node_modules` it lies in, or its directory.
fn surroundings(program: &Path, home: &Path) -> PathBuf {
    let program = resolved(program);
    let modules = program.ancestors().filter(|above| above.file_name().is_some_and(|name| name == "node_modules"));
    // The outermost: packages have packages of their own.
    match modules.last() {
        Some(modules) => modules.to_owned(),
        None => narrow(&program, program.parent(), home),
    }
}

/// What belongs to an interpreter: the prefix that it was installed under, with its libraries.
fn installation(interpreter: &Path, home: &Path) -> PathBuf {
    let interpreter = resolved(interpreter);
    let directory = interpreter.parent().filter(|directory| directory.file_name().is_some_and(|name| name == "bin"));
    let prefix = directory.and_then(Path::parent).filter(|prefix| !holds_private_files(prefix, home));
    narrow(&interpreter, prefix.or(interpreter.parent()), home)
}

/// The directory, or the program alone where a directory would open the user's files to the agent.
fn narrow(program: &Path, directory: Option<&Path>, home: &Path) -> PathBuf {
    directory.filter(|directory| !holds_private_files(directory, home)).unwrap_or(program).to_owned()
}

fn holds_private_files(directory: &Path, home: &Path) -> bool {
    resolved(home).starts_with(directory) || resolved(&home.join(".local")) == directory
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// What the first line of a script names: `#!/usr/bin/env node`, `#!/opt/python/bin/python3`.
fn interpreter(assignment: &Assignment<'_>, script: &Path) -> Option<PathBuf> {
    let mut start = [0; 256];
    let length = std::fs::File::open(script).ok()?.read(&mut start).ok()?;
    let line = start[..length].strip_prefix(b"#!")?.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_whitespace();
    let interpreter = Path::new(words.next()?);
    if interpreter.file_name()? == "env" {
        on_path(assignment, words.find(|word| !word.starts_with('-') && !word.contains('='))?)
    } else {
        Some(interpreter.to_owned())
    }
}
