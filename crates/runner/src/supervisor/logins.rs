//! What becomes of a vendor's login that was renewed during a session?
//!
//! Vendors accept a refresh token once: if the client renewed its copy, the user's own is stale.

use std::fs;
use std::io;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use serde_json::Value;

/// Larger files are no logins.
const LARGEST: u64 = 64 * 1024;

fn list(run: &Path) -> PathBuf {
    run.join("logins.json")
}

/// Records which copy belongs to which file, and that file's digest. On disk, because another runner may
/// see the session's end.
pub(super) fn remember(run: &Path, logins: &[(PathBuf, PathBuf)]) -> io::Result<()> {
    if logins.is_empty() {
        return Ok(());
    }
    let known: Vec<_> = logins.iter().map(|(copy, original)| (copy, original, digest(original))).collect();
    fs::write(list(run), serde_json::to_vec(&known)?)
}

/// Copies a renewed login back, unless the user's own has changed meanwhile. The agent could write
/// anything there, so the new one must at least have the same fields.
pub(super) fn return_renewed(run: &Path) {
    let known = fs::read(list(run)).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let known: Vec<(PathBuf, PathBuf, Option<u64>)> = known.unwrap_or_default();
    for (copy, original, before) in known {
        if digest(&original) != before || digest(&copy) == before {
            continue;
        }
        if let (Some(new), Some(old)) = (read(&copy), read(&original))
            && same_shape(&new, &old)
            && let Err(error) = replace(&original, &new)
        {
            tracing::warn!(%error, path = %original.display(), "a renewed login cannot be given back");
        }
    }
    let _ = fs::remove_file(list(run));
}

fn read(path: &Path) -> Option<Vec<u8>> {
    let found = fs::symlink_metadata(path).ok()?;
    if found.is_file() && found.len() <= LARGEST { fs::read(path).ok() } else { None }
}

fn digest(path: &Path) -> Option<u64> {
    use std::hash::{Hash as _, Hasher as _};
    let mut hasher = std::hash::DefaultHasher::new();
    read(path)?.hash(&mut hasher);
    Some(hasher.finish())
}

fn same_shape(new: &[u8], old: &[u8]) -> bool {
    let keys = |bytes: &[u8]| match serde_json::from_slice(bytes) {
        Ok(Value::Object(map)) => {
            let mut keys: Vec<_> = map.into_iter().map(|(key, _)| key).collect();
            keys.sort();
            Some(keys)
        }
        Ok(_) | Err(_) => None,
    };
    keys(new).is_some_and(|new| Some(new) == keys(old))
}

fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use io::Write as _;
    let aside = path.with_extension("saihai");
    let mut file = fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&aside)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    fs::rename(aside, path)
}
