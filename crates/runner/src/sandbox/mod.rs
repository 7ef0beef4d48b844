//! What may a process touch? An allow-list, kept by three layers (R2, R13).
//!
//! 1. `root`: a root of its own, in which nothing else is there at all;
//! 2. `file_access`: Landlock inside it, which also keeps it from processes and sockets outside;
//! 3. `system_calls`: seccomp, for what is reached without files.

mod file_access;
mod root;
mod system_calls;

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use board::SandboxLimits;
use serde::{Deserialize, Serialize};

/// What a process may touch. Everything else is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Read and execute.
    pub execute: Vec<PathBuf>,
    pub read: Vec<PathBuf>,
    /// Read, execute and change.
    pub write: Vec<PathBuf>,
    /// Directories that are seen through others. Where the system has no overlays, they are not seen.
    #[serde(default)]
    pub overlays: Vec<Overlay>,
    /// The TCP ports that may be connected to; `None`: all.
    pub connect: Option<Vec<u16>>,
    /// What it may use of the machine.
    #[serde(default)]
    pub limits: SandboxLimits,
    /// The layers that this system cannot give are left out.
    #[serde(default)]
    pub without: Vec<Layer>,
}

/// A directory that is seen at another place, where it can be changed without being changed itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Overlay {
    /// What is seen.
    pub lower: PathBuf,
    /// Where changes go.
    pub upper: PathBuf,
    /// Scratch of the file system, beside `upper`.
    pub work: PathBuf,
    /// Where it is seen: in something that may be written to.
    pub at: PathBuf,
}

/// What keeps a process to its policy, each by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    Root,
    FileAccess,
    SystemCalls,
}

impl Layer {
    pub const ALL: [Self; 3] = [Self::Root, Self::FileAccess, Self::SystemCalls];
}

/// What every program needs: the system's own files, and nothing that anybody keeps.
pub(crate) const SYSTEM: [&str; 9] =
    ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store"];
const SYSTEM_READ: [&str; 5] = ["/proc", "/dev/urandom", "/dev/random", "/sys/devices/system/cpu", "/sys/fs/cgroup"];
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Files of `/etc` that programs read. Not there: passwords, keys, what services are told.
const SETTINGS: [&str; 43] = [
    "R",
    "alternatives",
    "bash.bashrc",
    "bash_completion",
    "ca-certificates",
    "ca-certificates.conf",
    "crypto-policies",
    "debian_version",
    "dotnet",
    "fonts",
    "gai.conf",
    "gitattributes",
    "gitconfig",
    "gradle",
    "group",
    "host.conf",
    "hosts",
    "inputrc",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "localtime",
    "locale.alias",
    "locale.conf",
    "magic",
    "mailcap",
    "maven",
    "mime.types",
    "networks",
    "nsswitch.conf",
    "os-release",
    "passwd",
    "php",
    "profile",
    "profile.d",
    "protocols",
    "resolv.conf",
    "services",
    "shells",
    "terminfo",
    "texmf",
    "timezone",
    "xdg",
];
/// The same, by how their names begin: `java-17-openjdk`, `python3.11`.
const SETTINGS_BY_PREFIX: [&str; 5] = ["java", "perl", "python", "ruby", "nodejs"];
/// Their directories hold private keys beside them.
const CERTIFICATES: [&str; 6] = [
    "/etc/ssl/certs",
    "/etc/ssl/openssl.cnf",
    "/etc/ssl/cert.pem",
    "/etc/pki/ca-trust/extracted",
    "/etc/pki/tls/certs",
    "/etc/pki/tls/openssl.cnf",
];

/// Why a process was not confined.
#[derive(Debug, thiserror::Error)]
pub enum CannotConfine {
    #[error("a process gets no root of its own ({0})")]
    Root(io::Error),
    #[error("the kernel confines no process to its files (Landlock: {0})")]
    FileAccess(#[from] landlock::RulesetError),
    #[error("the kernel confines a process only in part (Landlock is off or too old)")]
    InPart,
    #[error("the kernel keeps no system calls from a process (seccomp: {0})")]
    SystemCalls(#[from] seccompiler::Error),
}

impl Policy {
    /// The system's own files, for every program.
    pub fn system() -> Self {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
        let mut read = paths(&SYSTEM_READ);
        read.extend(paths(&CERTIFICATES));
        read.extend(settings());
        Self { execute: paths(&SYSTEM), read, write: paths(&DEVICES), ..Self::default() }
    }

    /// Is a file of this system there for whoever is confined?
    pub(crate) fn shows(&self, path: &Path) -> bool {
        let resolved = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let path = resolved(path);
        let own = ["/proc", "/dev"].iter().any(|own| path.starts_with(own));
        let allowed = self.execute.iter().chain(&self.read).chain(&self.write);
        own || allowed.into_iter().any(|allowed| path.starts_with(resolved(allowed)))
    }

    /// The first layer: leaves everything behind that is not allowed. For the first process of a namespace, before it
    /// gives up the right to mount.
    pub(crate) fn enter_root(&self, home: &Path) -> Result<(), CannotConfine> {
        if self.without.contains(&Layer::Root) {
            return Ok(());
        }
        root::enter(self, home).map_err(CannotConfine::Root)
    }

    /// The other layers: confines this process and all it will start, for good.
    pub(crate) fn confine_self(&self) -> Result<(), CannotConfine> {
        if !self.without.contains(&Layer::FileAccess) {
            file_access::restrict(self)?;
        }
        if !self.without.contains(&Layer::SystemCalls) {
            system_calls::deny()?;
        }
        Ok(())
    }
}

/// What there is of `SETTINGS`.
fn settings() -> impl Iterator<Item = PathBuf> {
    let wanted =
        |name: &str| SETTINGS.contains(&name) || SETTINGS_BY_PREFIX.iter().any(|prefix| name.starts_with(prefix));
    let entries = fs::read_dir("/etc").into_iter().flatten().flatten();
    entries.filter(move |entry| entry.file_name().to_str().is_some_and(wanted)).map(|entry| entry.path())
}
