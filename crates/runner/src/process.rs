//! Which process is meant? A pid alone may belong to a stranger by now (F39).

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::os::fd::OwnedFd;

use rustix::process::{Pid, PidfdFlags, Signal, pidfd_open, pidfd_send_signal};
use serde::{Deserialize, Serialize};

/// The variable in the environment of everything that a spawn starts.
pub(crate) const MARKER: &str = "SAIHAI_SPAWN";

/// What no two processes share: the boot of the machine, the pid and the start time together (R4).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessIdentity {
    pub boot: String,
    pub pid: u32,
    /// In ticks since the boot.
    pub started: u64,
}

impl ProcessIdentity {
    pub fn of_self() -> io::Result<Self> {
        Self::of(std::process::id())
    }

    pub fn of(pid: u32) -> io::Result<Self> {
        let boot = fs::read_to_string("/proc/sys/kernel/random/boot_id")?.trim().to_owned();
        Ok(Self { boot, pid, started: Stat::read(pid)?.started })
    }

    /// A handle on the process, if it still is the one that is meant.
    pub fn open(&self) -> Option<OwnedFd> {
        let pid = Pid::from_raw(i32::try_from(self.pid).ok()?)?;
        // The handle first: it keeps meaning this process, so the check below cannot be outrun by another
        // process that gets the same pid.
        let handle = pidfd_open(pid, PidfdFlags::NONBLOCK).ok()?;
        let alive = Stat::read(self.pid).is_ok_and(|stat| !stat.is_zombie());
        (alive && Self::of(self.pid).is_ok_and(|now| now == *self)).then_some(handle)
    }

    pub fn is_alive(&self) -> bool {
        self.open().is_some()
    }

    /// Signals it, and nobody else.
    pub fn signal(&self, signal: Signal) {
        if let Some(handle) = self.open() {
            let _ = pidfd_send_signal(handle, signal);
        }
    }
}

/// What `/proc/PID/stat` tells that is needed here.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stat {
    state: u8,
    parent: u32,
    pub(crate) threads: u64,
    started: u64,
}

impl Stat {
    pub(crate) fn read(pid: u32) -> io::Result<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/stat"))?;
        Self::parse(&text).ok_or_else(|| io::Error::other(format!("/proc/{pid}/stat cannot be read")))
    }

    /// The program's name stands in parentheses and may contain any others.
    fn parse(text: &str) -> Option<Self> {
        let (_, rest) = text.rsplit_once(')')?;
        let fields: Vec<_> = rest.split_whitespace().collect();
        Some(Self {
            state: *fields.first()?.as_bytes().first()?,
            parent: fields.get(1)?.parse().ok()?,
            threads: fields.get(17)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
        })
    }

    fn is_zombie(self) -> bool {
        matches!(self.state, b'Z' | b'X')
    }
}

pub(crate) fn all_pids() -> impl Iterator<Item = u32> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

/// Every living descendant of a process.
pub(crate) fn descendants(of: u32) -> Vec<u32> {
    let mut children: HashMap<u32, Vec<u32>> = HashMap::new();
    let mut living = HashSet::new();
    for pid in all_pids() {
        let Ok(stat) = Stat::read(pid) else { continue };
        children.entry(stat.parent).or_default().push(pid);
        if !stat.is_zombie() {
            living.insert(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![of];
    while let Some(pid) = open.pop() {
        let below = children.remove(&pid).unwrap_or_default();
        found.extend(below.iter().copied().filter(|pid| living.contains(pid)));
        open.extend(below);
    }
    found
}

/// Every living process that carries a spawn's marker, wherever it went.
pub(crate) fn marked(spawn: &str) -> Vec<u32> {
    let marker = format!("{MARKER}={spawn}");
    let carries = |pid: &u32| {
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == marker.as_bytes())
    };
    all_pids().filter(carries).filter(|pid| Stat::read(*pid).is_ok_and(|stat| !stat.is_zombie())).collect()
}

/// Signals processes that were just seen.
pub(crate) fn signal_all(pids: &[u32], signal: Signal) {
    for pid in pids {
        if let Some(pid) = i32::try_from(*pid).ok().and_then(Pid::from_raw) {
            let _ = rustix::process::kill_process(pid, signal);
        }
    }
}
