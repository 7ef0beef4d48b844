//! What may a process touch? An allow-list, enforced by the kernel (R2).

use std::path::PathBuf;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, NetPort, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetError, RulesetStatus, Scope, path_beneath_rules,
};
use serde::{Deserialize, Serialize};

/// What a process may touch. Everything else is refused.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Policy {
    /// Read and execute.
    pub execute: Vec<PathBuf>,
    pub read: Vec<PathBuf>,
    /// Read, execute and change.
    pub write: Vec<PathBuf>,
    /// The TCP ports that may be connected to; `None`: all.
    pub connect: Option<Vec<u16>>,
    /// Go on where the kernel cannot enforce it.
    pub best_effort: bool,
}

/// What every program needs: the system's own files, and nothing that anybody keeps.
const SYSTEM: [&str; 9] = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/opt", "/nix/store", "/gnu/store"];
const SYSTEM_READ: [&str; 7] = [
    "/etc",
    "/proc",
    "/dev/urandom",
    "/dev/random",
    "/sys/devices/system/cpu",
    "/sys/fs/cgroup",
    "/run/systemd/resolve",
];
const DEVICES: [&str; 3] = ["/dev/null", "/dev/zero", "/dev/full"];

/// Below this, renaming or truncating files cannot be controlled.
const OLDEST: ABI = ABI::V3;

#[derive(Debug, thiserror::Error)]
pub enum CannotConfine {
    #[error("the kernel cannot confine the agent to its files (Landlock: {0})")]
    Landlock(#[from] RulesetError),
    #[error("the kernel confines the agent only in part (Landlock is off or too old)")]
    InPart,
}

impl Policy {
    /// The system's own files, for every program.
    pub fn system() -> Self {
        let paths = |names: &[&str]| names.iter().map(PathBuf::from).collect();
        Self { execute: paths(&SYSTEM), read: paths(&SYSTEM_READ), write: paths(&DEVICES), ..Self::default() }
    }

    /// Confines this process and all it will start, for good. Paths that do not exist are left out.
    pub(crate) fn enforce(&self) -> Result<(), CannotConfine> {
        match self.restrict() {
            Ok(()) => Ok(()),
            Err(_) if self.best_effort => Ok(()),
            Err(error) => Err(error),
        }
    }

    fn restrict(&self) -> Result<(), CannotConfine> {
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        // What the oldest kernel that we accept can control is required. What newer ones can control as well
        // is added where it is there, so that a new kernel confines more and an old one still starts agents.
        let needed = if self.best_effort { CompatLevel::BestEffort } else { CompatLevel::HardRequirement };
        let mut ruleset = Ruleset::default().set_compatibility(needed).handle_access(AccessFs::from_all(OLDEST))?;
        if self.connect.is_some() {
            ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
        }
        let mut ruleset = ruleset
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(ABI::V6))?
            .scope(Scope::from_all(ABI::V6))?
            .create()?
            .add_rules(path_beneath_rules(&self.execute, read | AccessFs::Execute))?
            .add_rules(path_beneath_rules(&self.read, read))?
            .add_rules(path_beneath_rules(&self.write, AccessFs::from_all(ABI::V6)))?;
        for port in self.connect.iter().flatten() {
            ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
        }
        match ruleset.restrict_self()?.ruleset {
            RulesetStatus::NotEnforced => Err(CannotConfine::InPart),
            // In part: without the rights that are newer than the kernel. Those that are required have failed above.
            RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
        }
    }
}
