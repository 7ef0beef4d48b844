//! Which system calls does a confined process have no use for? The third layer (R13).
//!
//! A short deny list: what reaches around files and namespaces (keyrings, mounts, other namespaces), and large parts of
//! the kernel that no build or test needs. Everything else is allowed, so that toolchains work.

use std::collections::BTreeMap;

use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch,
};

/// Not permitted.
const DENIED: [i64; 24] = [
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_fanotify_init,
    libc::SYS_open_by_handle_at,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    OPEN_TREE_ATTR,
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_quotactl,
    libc::SYS_swapon,
];

/// What changes limits and turns of another process of the same user, and which of its arguments is that process.
const OF_A_PROCESS: [(i64, u8); 7] = [
    (libc::SYS_prlimit64, 0),
    (libc::SYS_sched_setaffinity, 0),
    (libc::SYS_sched_setscheduler, 0),
    (libc::SYS_sched_setparam, 0),
    (libc::SYS_sched_setattr, 0),
    (libc::SYS_setpriority, 1),
    (libc::SYS_ioprio_set, 1),
];

/// As if the kernel did not have them; whoever tries them has another way. `clone3` hides its flags from a filter.
const ABSENT: [i64; 4] =
    [libc::SYS_clone3, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register];

/// Newer than the table of numbers that we use; the same on every architecture.
const OPEN_TREE_ATTR: i64 = 467;

/// The kinds of namespaces that `clone` could make.
const NAMESPACES: [i32; 7] = [
    libc::CLONE_NEWNS,
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWUTS,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWNET,
];

/// The kinds of sockets that there are for a confined process.
const SOCKETS: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

/// On x86-64 every call has a second number, of an ABI that hardly anybody uses.
#[cfg(target_arch = "x86_64")]
const SECOND_NUMBER: Option<i64> = Some(0x4000_0000);
#[cfg(not(target_arch = "x86_64"))]
const SECOND_NUMBER: Option<i64> = None;

/// Denies them to this process and all it will start, for good.
pub(super) fn deny() -> Result<(), seccompiler::Error> {
    for program in programs()? {
        seccompiler::apply_filter(&program)?;
    }
    Ok(())
}

type Rules = BTreeMap<i64, Vec<SeccompRule>>;

/// One filter for each answer, because a filter has only one.
fn programs() -> Result<Vec<BpfProgram>, BackendError> {
    let always = |calls: &[i64]| -> Rules { calls.iter().map(|call| (*call, Vec::new())).collect() };
    let mut denied = always(&DENIED);
    denied.insert(libc::SYS_clone, namespaces()?);
    for (call, argument) in OF_A_PROCESS {
        denied.insert(call, vec![of_init(argument)?]);
    }
    let other_sockets = Rules::from([(libc::SYS_socket, vec![other_sockets()?])]);
    let answers = [(denied, libc::EPERM), (always(&ABSENT), libc::ENOSYS), (other_sockets, libc::EAFNOSUPPORT)];
    answers.into_iter().map(|(rules, error)| program(rules, error.unsigned_abs())).collect()
}

fn program(mut rules: Rules, error: u32) -> Result<BpfProgram, BackendError> {
    if let Some(second) = SECOND_NUMBER {
        let doubles: Vec<_> = rules.iter().map(|(call, rules)| (call | second, rules.clone())).collect();
        rules.extend(doubles);
    }
    let architecture = TargetArch::try_from(std::env::consts::ARCH)?;
    SeccompFilter::new(rules, SeccompAction::Allow, SeccompAction::Errno(error), architecture)?.try_into()
}

/// A call about the first process of the namespace, which watches all others.
fn of_init(argument: u8) -> Result<SeccompRule, BackendError> {
    SeccompRule::new(vec![SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, 1)?])
}

/// `clone` with any of the flags.
fn namespaces() -> Result<Vec<SeccompRule>, BackendError> {
    let has = |flag: &i32| {
        let flag = u64::from(flag.unsigned_abs());
        SeccompRule::new(vec![SeccompCondition::new(0, SeccompCmpArgLen::Qword, SeccompCmpOp::MaskedEq(flag), flag)?])
    };
    NAMESPACES.iter().map(has).collect()
}

/// `socket` of none of the kinds.
fn other_sockets() -> Result<SeccompRule, BackendError> {
    let is_not = |kind: &i32| {
        let kind = u64::from(kind.unsigned_abs());
        SeccompCondition::new(0, SeccompCmpArgLen::Dword, SeccompCmpOp::Ne, kind)
    };
    SeccompRule::new(SOCKETS.iter().map(is_not).collect::<Result<_, _>>()?)
}
