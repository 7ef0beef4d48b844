//! Which files of `.saihai/` may be read, and what is in them?

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::problem::{ProblemReport, SourceLocation};

/// Files larger than this are refused.
const MAX_BYTES: u64 = 1024 * 1024;

/// The name of the directory, as problems and prompts write it.
pub(crate) const DIR_NAME: &str = ".saihai";

/// A `.saihai/` directory. Whatever is read through it lies inside, links resolved.
#[derive(Debug)]
pub(crate) struct SaihaiDir {
    real: PathBuf,
}

/// Why a file cannot be used. Reads on after the file's name.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("not found")]
    Missing,
    #[error("is a link that leads out of `.saihai/`")]
    Outside,
    #[error("is not a regular file")]
    NotAFile,
    #[error("is larger than 1 MiB")]
    TooLarge,
    #[error("is not UTF-8 text")]
    NotUtf8 { line: usize },
    #[error("cannot be read: {0}")]
    Io(io::Error),
}

impl From<io::Error> for FileError {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::NotFound { Self::Missing } else { Self::Io(error) }
    }
}

impl FileError {
    /// Reports it as the problem of the file itself, at its line where there is one.
    pub(crate) fn report(&self, report: &mut ProblemReport, hint: Option<String>) {
        match self {
            Self::NotUtf8 { line } => report.at(SourceLocation { line: *line, column: 1 }, self.to_string()),
            Self::Missing | Self::Outside | Self::NotAFile | Self::TooLarge | Self::Io(_) => {
                report.whole_file(self.to_string(), hint);
            }
        }
    }
}

/// A hidden file in the directory, with the permissions of any other new file there. It is renamed when it
/// is complete, so that no reader sees half of it.
pub(crate) fn new_file(directory: &Path) -> io::Result<tempfile::NamedTempFile> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(directory)
}

impl SaihaiDir {
    pub(crate) fn open(path: &Path) -> io::Result<Self> {
        Ok(Self { real: path.canonicalize()? })
    }

    /// The absolute path of something inside.
    pub(crate) fn path(&self, relative: impl AsRef<Path>) -> PathBuf {
        self.real.join(relative)
    }

    /// Where something that exists really is, provided that it is inside.
    pub(crate) fn resolve(&self, relative: &Path) -> Result<PathBuf, FileError> {
        let real = self.real.join(relative).canonicalize()?;
        if real.starts_with(&self.real) { Ok(real) } else { Err(FileError::Outside) }
    }

    pub(crate) fn read(&self, relative: &Path) -> Result<String, FileError> {
        let path = self.resolve(relative)?;
        // Checked before opening: opening a pipe would wait for its writer.
        if !fs::metadata(&path)?.is_file() {
            return Err(FileError::NotAFile);
        }
        let mut bytes = Vec::new();
        File::open(&path)?.take(MAX_BYTES + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 > MAX_BYTES {
            return Err(FileError::TooLarge);
        }
        String::from_utf8(bytes).map_err(|error| {
            let valid = &error.as_bytes()[..error.utf8_error().valid_up_to()];
            FileError::NotUtf8 { line: 1 + valid.iter().filter(|byte| **byte == b'\n').count() }
        })
    }

    /// The visible `*.yaml` and `*.yml` of a directory, by name; none if there is no such directory.
    pub(crate) fn yaml_files(&self, relative: &str) -> io::Result<Vec<PathBuf>> {
        let entries = match fs::read_dir(self.path(relative)) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut files = Vec::new();
        for entry in entries {
            let name = PathBuf::from(entry?.file_name());
            let is_yaml = name.extension().is_some_and(|extension| extension == "yaml" || extension == "yml");
            if is_yaml && !is_hidden(&name) {
                files.push(Path::new(relative).join(name));
            }
        }
        files.sort();
        Ok(files)
    }
}

pub(crate) fn is_hidden(name: &Path) -> bool {
    name.as_os_str().as_encoded_bytes().starts_with(b".")
}

/// A file of the directory as the repository knows it: `.saihai/agents/coder.yaml`.
pub(crate) fn in_repository(relative: impl AsRef<Path>) -> PathBuf {
    Path::new(DIR_NAME).join(relative)
}
