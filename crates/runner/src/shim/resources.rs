//! Does a client use more of the machine than it may (R13)?
//!
//! Two ways, because neither is enough: limits of the kernel for each process, and a look at all of them together. `init`
//! looks, since it sees the processes of its own namespace and no others.

use std::fs;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use board::SandboxLimits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use rustix::system::sysinfo;

use crate::process::{Stat, all_pids};

const MIB: u64 = 1 << 20;

/// How often the machine is looked at, which costs next to nothing. The client is looked at only if the machine's numbers
/// have moved: a thousand idle clients cost nothing.
const LOOK_EVERY: Duration = Duration::from_secs(2);
/// While much is used.
const LOOK_SOON: Duration = Duration::from_millis(100);
const LOOK_AT_DISK_EVERY: Duration = Duration::from_secs(10);

/// A walk through the client's files rests this many times as long as it took.
const REST: u32 = 50;

/// Sets what the kernel enforces for each process that this one becomes and starts.
pub(super) fn set_process_limits(limits: &SandboxLimits) {
    let set = |resource, most: u64| {
        let now = getrlimit(resource);
        // Never more than the user has.
        let most = now.maximum.map_or(most, |maximum| maximum.min(most));
        let current = now.current.map_or(most, |current| current.min(most));
        let _ = setrlimit(resource, Rlimit { current: Some(current), maximum: Some(most) });
    };
    // Counted for each user namespace, so for each client; not at all for root, who is only looked at. Twice as many, so that
    // whoever reaches the limit is seen and told, instead of failing in a way of its own.
    set(Resource::Nproc, u64::from(limits.processes) * 2);
    set(Resource::Nofile, limits.open_files.into());
    set(Resource::Fsize, u64::from(limits.file_size_mib) * MIB);
    set(Resource::Data, memory_limit(limits));
    set(Resource::Core, 0);
}

/// In bytes.
fn memory_limit(limits: &SandboxLimits) -> u64 {
    limits.memory_mib.map_or_else(|| total_memory() / 4 * 3, |memory| u64::from(memory) * MIB)
}

fn total_memory() -> u64 {
    let machine = sysinfo();
    machine.totalram as u64 * u64::from(machine.mem_unit.max(1))
}

/// What a client uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Used {
    processes: u64,
    memory: u64,
    disk: u64,
    files: u64,
}

/// Which limit is reached, in words for the owner.
fn reached(used: Used, limits: &SandboxLimits) -> Option<String> {
    let memory = memory_limit(limits);
    if used.processes >= limits.processes.into() {
        return Some(format!("it ran {} processes and threads at once (sandbox.limits.processes)", used.processes));
    }
    if used.memory >= memory {
        let (used, most) = (used.memory / MIB, memory / MIB);
        return Some(format!("it used {used} of at most {most} MiB of memory (sandbox.limits.memory_mib)"));
    }
    if used.disk >= u64::from(limits.disk_mib) * MIB {
        let (used, most) = (used.disk / MIB, limits.disk_mib);
        return Some(format!("it filled {used} of at most {most} MiB of disk (sandbox.limits.disk_mib)"));
    }
    if used.files >= limits.files.into() {
        return Some(format!("it made {} files and directories (sandbox.limits.files)", used.files));
    }
    None
}

/// Looks at the machine, and at the client when that has moved.
#[derive(Debug)]
pub(super) struct ResourceWatch {
    limits: SandboxLimits,
    /// What the client may write to.
    writable: Vec<PathBuf>,
    /// The machine's processes and free memory when the client was last looked at.
    seen: Option<(u64, u64)>,
    /// The disk's free space and files when the client's were last counted.
    seen_disk: Option<(u64, u64)>,
    look_at_disk: Instant,
    used: Used,
}

impl ResourceWatch {
    pub(super) fn new(limits: SandboxLimits, writable: Vec<PathBuf>) -> Self {
        let look_at_disk = Instant::now() + LOOK_EVERY;
        Self { limits, writable, seen: None, seen_disk: None, look_at_disk, used: Used::default() }
    }

    /// The limit that is reached, if one is; else after how long to look again.
    pub(super) fn look(&mut self) -> Result<Duration, String> {
        let machine = sysinfo();
        let now = (u64::from(machine.procs), machine.freeram as u64 * u64::from(machine.mem_unit.max(1)));
        if self.has_moved(now) {
            (self.used.processes, self.used.memory) = processes();
            self.seen = Some(now);
        }
        if Instant::now() >= self.look_at_disk {
            self.look_at_disk();
        }
        match reached(self.used, &self.limits) {
            Some(limit) => Err(limit),
            None => Ok(if self.uses_much() { LOOK_SOON } else { LOOK_EVERY }),
        }
    }

    /// Could the client have come near a limit since it was looked at?
    fn has_moved(&self, (processes, free): (u64, u64)) -> bool {
        let Some((seen_processes, seen_free)) = self.seen else { return true };
        let more_processes = processes.abs_diff(seen_processes) >= u64::from(self.limits.processes) / 8;
        let less_memory = seen_free.saturating_sub(free) >= memory_limit(&self.limits) / 16;
        more_processes || less_memory || self.uses_much()
    }

    fn uses_much(&self) -> bool {
        self.used.processes >= u64::from(self.limits.processes) / 4
            || self.used.memory >= memory_limit(&self.limits) / 2
    }

    /// Counts the client's files if the disk has lost enough for it to matter.
    fn look_at_disk(&mut self) {
        let began = Instant::now();
        let free = self.writable.iter().find_map(|path| rustix::fs::statvfs(path).ok());
        let free = free.map(|disk| (disk.f_bavail * disk.f_frsize, disk.f_ffree));
        let moved = match (free, self.seen_disk) {
            (Some((space, files)), Some((seen_space, seen_files))) => {
                seen_space.saturating_sub(space) >= u64::from(self.limits.disk_mib) * MIB / 8
                    || seen_files.saturating_sub(files) >= u64::from(self.limits.files) / 8
            }
            (None, _) | (_, None) => true,
        };
        if moved {
            (self.used.disk, self.used.files) = files(&self.writable, self.limits.files.into());
            self.seen_disk = free;
        }
        self.look_at_disk = Instant::now() + (began.elapsed() * REST).max(LOOK_AT_DISK_EVERY);
    }
}

/// How many processes and threads there are in this namespace, and how much memory they have to themselves.
fn processes() -> (u64, u64) {
    let (mut threads, mut memory) = (0, 0);
    for pid in all_pids() {
        threads += Stat::read(pid).map_or(1, |stat| stat.threads);
        let pages = fs::read_to_string(format!("/proc/{pid}/statm")).unwrap_or_default();
        let pages: Vec<u64> = pages.split(' ').filter_map(|pages| pages.parse().ok()).collect();
        if let [_, resident, shared, ..] = pages[..] {
            memory += resident.saturating_sub(shared) * rustix::param::page_size() as u64;
        }
    }
    (threads, memory)
}

/// The space and number of files below these directories, without following links, up to a number of files. What is only
/// shown there, such as shared caches, is on another file system and nobody's own.
fn files(directories: &[PathBuf], most: u64) -> (u64, u64) {
    let (mut space, mut count) = (0, 0);
    let mut open: Vec<PathBuf> = directories.iter().filter(|path| path.is_dir()).cloned().collect();
    open.retain(|path| !directories.iter().any(|other| other != path && path.starts_with(other)));
    let mut open: Vec<_> =
        open.into_iter().filter_map(|path| path.metadata().ok().map(|found| (path, found.dev()))).collect();
    while let Some((directory, device)) = open.pop() {
        for entry in fs::read_dir(&directory).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else { continue };
            space += found.blocks() * 512;
            count += 1;
            if found.is_dir() && found.dev() == device && !is_too_long(&entry.path()) {
                open.push((entry.path(), device));
            }
        }
        if count >= most {
            break;
        }
    }
    (space, count)
}

/// Deeper down names are longer than the kernel takes at once.
fn is_too_long(path: &Path) -> bool {
    path.as_os_str().len() > 3_500
}

#[cfg(test)]
mod tests {
    use super::*;

    /// R13: each limit is named with what it is called in the settings, and below it nothing happens.
    #[test]
    fn the_limit_that_is_reached_is_named() {
        let limits =
            SandboxLimits { processes: 100, memory_mib: Some(10), disk_mib: 20, files: 1000, ..Default::default() };
        let below = Used { processes: 99, memory: 10 * MIB - 1, disk: 20 * MIB - 1, files: 999 };
        assert_eq!(reached(below, &limits), None);
        let cases = [
            (Used { processes: 100, ..below }, "100 processes and threads at once (sandbox.limits.processes)"),
            (Used { memory: 10 * MIB, ..below }, "10 of at most 10 MiB of memory (sandbox.limits.memory_mib)"),
            (Used { disk: 21 * MIB, ..below }, "21 of at most 20 MiB of disk (sandbox.limits.disk_mib)"),
            (Used { files: 1000, ..below }, "1000 files and directories (sandbox.limits.files)"),
        ];
        for (used, words) in cases {
            assert!(reached(used, &limits).is_some_and(|said| said.contains(words)), "{used:?}");
        }
    }

    /// R13: files are counted once, links are not followed, and a directory inside another is not counted twice.
    #[test]
    fn files_are_counted_without_following_links() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path();
        fs::create_dir_all(root.join("a/b")).unwrap();
        fs::write(root.join("a/b/file"), vec![1; 10_000]).unwrap();
        std::os::unix::fs::symlink("/usr", root.join("a/usr")).unwrap();
        let (space, count) = files(&[root.join("a"), root.join("a/b"), root.join("missing")], 1000);
        assert_eq!(count, 3);
        assert!((10_000..100_000).contains(&space), "{space}");
    }
}
