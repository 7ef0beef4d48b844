//! Which files of package managers do agents and checks share? What the setup of workspaces has fetched (R15).
//!
//! The setup runs on code that is in the target, with a HOME of its own that is kept. Everybody else sees its caches
//! through an overlay: reading finds what is there, and what they write stays with them. So nothing that is not merged
//! changes what others install.

use std::io;
use std::path::{Path, PathBuf};

use crate::host::RunnerHost;
use crate::sandbox::Overlay;

/// Where package managers keep what they fetched, below HOME.
const CACHES: [&str; 9] = [
    ".cache",
    ".npm",
    ".cargo/registry",
    ".gradle/caches",
    ".local/share/pnpm",
    ".m2/repository",
    ".nuget/packages",
    ".yarn/berry/cache",
    "go/pkg/mod",
];

/// In the HOME of whoever sees the caches: what it has changed of them.
const CHANGES: &str = ".cache-changes";

/// The HOME of setups on merged code.
pub(crate) fn setup_home(host: &RunnerHost) -> PathBuf {
    host.paths.caches().join("home")
}

/// Shows the caches in another HOME.
pub(crate) fn overlays(host: &RunnerHost, home: &Path) -> io::Result<Vec<Overlay>> {
    let shared = setup_home(host);
    let mut found = Vec::new();
    for (number, name) in CACHES.iter().enumerate() {
        let lower = shared.join(name);
        // A link would lead out of the caches.
        if !lower.symlink_metadata().is_ok_and(|found| found.is_dir()) {
            continue;
        }
        let changes = home.join(CHANGES).join(number.to_string());
        let overlay = Overlay { lower, upper: changes.join("files"), work: changes.join("work"), at: home.join(name) };
        for directory in [&overlay.upper, &overlay.work, &overlay.at] {
            std::fs::create_dir_all(directory)?;
        }
        found.push(overlay);
    }
    Ok(found)
}
