//! Which servers of this home run? Each holds a file of its own for as long as it does.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The file of a server that runs. A lock tells that it does, whatever became of its process or its port.
#[derive(Debug)]
pub(crate) struct Presence {
    path: PathBuf,
    _held: File,
}

impl Presence {
    /// Tells `saihai login` where browsers reach this server. Without it the server runs all the same.
    pub(crate) fn declare(home: &Path, url: &str) -> Option<Self> {
        let path = servers(home).join(format!("{}", std::process::id()));
        fs::create_dir_all(servers(home)).ok()?;
        let mut file = File::options().create(true).truncate(true).write(true).open(&path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        file.write_all(url.as_bytes()).ok()?;
        Some(Self { path, _held: file })
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// Where the server is reached that was started last, of those that run.
pub(crate) fn newest_server(home: &Path) -> Option<String> {
    let mut files: Vec<_> = fs::read_dir(servers(home)).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).and_then(|about| about.modified()).ok()));
    files.into_iter().find_map(|path| {
        let file = File::open(&path).ok()?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            // Nobody holds it: what wrote it was killed.
            let _ = fs::remove_file(&path);
            return None;
        }
        fs::read_to_string(&path).ok().filter(|url| !url.is_empty())
    })
}

fn servers(home: &Path) -> PathBuf {
    home.join("servers")
}
