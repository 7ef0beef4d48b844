//! Which files, ports, processes and sockets may a process use? The second layer: Landlock (R2).

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, CompatLevel, Compatible as _, NetPort, Ruleset, RulesetAttr as _,
    RulesetCreatedAttr as _, RulesetStatus, Scope, path_beneath_rules,
};

use super::{CannotConfine, Layer, Policy};

/// Below this, renaming or truncating files cannot be controlled.
const OLDEST: ABI = ABI::V3;

/// What belongs to a root of its own.
const OWN: [&str; 4] = ["/tmp", "/dev/pts", "/dev/shm", "/dev/tty"];

/// Confines this process and all it will start. Paths that do not exist are left out.
pub(super) fn restrict(policy: &Policy) -> Result<(), CannotConfine> {
    let read = AccessFs::ReadFile | AccessFs::ReadDir;
    // What the oldest kernel that we accept can control is required. What newer ones can control as well
    // is added where it is there, so that a new kernel confines more and an old one still starts agents.
    let needed = Ruleset::default().set_compatibility(CompatLevel::HardRequirement);
    let mut ruleset = needed.handle_access(AccessFs::from_all(OLDEST))?;
    if policy.connect.is_some() {
        ruleset = ruleset.handle_access(AccessNet::ConnectTcp)?;
    }
    let own: &[&str] = if policy.without.contains(&Layer::Root) { &[] } else { &OWN };
    let mut ruleset = ruleset
        .set_compatibility(CompatLevel::BestEffort)
        .handle_access(AccessFs::from_all(ABI::V6))?
        .scope(Scope::from_all(ABI::V6))?
        .create()?
        .add_rules(path_beneath_rules(&policy.execute, read | AccessFs::Execute))?
        .add_rules(path_beneath_rules(&policy.read, read))?
        .add_rules(path_beneath_rules(&policy.write, AccessFs::from_all(ABI::V6)))?
        .add_rules(path_beneath_rules(own, AccessFs::from_all(ABI::V6)))?;
    for port in policy.connect.iter().flatten() {
        ruleset = ruleset.add_rule(NetPort::new(*port, AccessNet::ConnectTcp))?;
    }
    match ruleset.restrict_self()?.ruleset {
        RulesetStatus::NotEnforced => Err(CannotConfine::InPart),
        // In part: without the rights that are newer than the kernel. Those that are required have failed above.
        RulesetStatus::FullyEnforced | RulesetStatus::PartiallyEnforced => Ok(()),
    }
}
