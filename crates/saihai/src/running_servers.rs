//! Which servers of this home are running? Each keeps a locked file while it runs.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

/// The file of a running server. Its lock ends with the process, however that ends.
#[derive(Debug)]
pub(crate) struct ServerRegistration {
    path: PathBuf,
    _locked: File,
}

impl ServerRegistration {
    /// Tells `saihai login` where browsers reach this server. If it fails, the server runs all the same.
    pub(crate) fn register(home: &Path, url: &str) -> Option<Self> {
        let path = servers_dir(home).join(format!("{}", std::process::id()));
        fs::create_dir_all(servers_dir(home)).ok()?;
        let mut file = File::options().create(true).truncate(true).write(true).open(&path).ok()?;
        flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        file.write_all(url.as_bytes()).ok()?;
        Some(Self { path, _locked: file })
    }
}

impl Drop for ServerRegistration {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
    }
}

/// The address of the running server that was started last.
pub(crate) fn newest_server(home: &Path) -> Option<String> {
    let mut files: Vec<_> = fs::read_dir(servers_dir(home)).ok()?.flatten().map(|entry| entry.path()).collect();
    files.sort_by_key(|path| std::cmp::Reverse(fs::metadata(path).and_then(|about| about.modified()).ok()));
    files.into_iter().find_map(|path| {
        let file = File::open(&path).ok()?;
        if flock(&file, FlockOperation::NonBlockingLockShared).is_ok() {
            // The lock is free: the server that wrote the file was killed.
            let _ = fs::remove_file(&path);
            return None;
        }
        fs::read_to_string(&path).ok().filter(|url| !url.is_empty())
    })
}

fn servers_dir(home: &Path) -> PathBuf {
    home.join("servers")
}
