//! What is there at all for a confined process? A root of its own, with only what its policy allows (R13).
//!
//! `init` makes it in its mount namespace, before the client starts:
//!
//! ```text
//! an empty file system becomes the root; the host's root is below /host
//!   /files/…   what the policy allows, bound from /host, each under the name it has outside
//!   /files/dev, /files/proc, /files/tmp   its own
//! /files becomes the root; /host is let go
//! ```

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{CStr, CString, OsString};
use std::fs;
use std::io;
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::{FileTypeExt as _, symlink};
use std::path::{Component, Path, PathBuf};

use rustix::mount::{
    MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind_recursive, mount_change, mount_remount, unmount,
};
use rustix::process::{chdir, getgid, getuid, pivot_root};
use rustix::thread::UnshareFlags;

use super::{Overlay, Policy};

/// Mounted on for a moment while the host's root is still the root; it is there on every system.
const STAGE: &str = "/tmp";
const HOST: &str = "/host";
const FILES: &str = "/files";

/// The devices that every program may expect.
const DEVICES: [&str; 6] = ["null", "zero", "full", "random", "urandom", "tty"];
const DEVICE_LINKS: [(&str, &str); 5] = [
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// The root has its own.
const OWN: [&str; 4] = ["/proc", "/dev", "/etc/passwd", "/etc/group"];

/// Of its own too, and it may write there; but files of the host may be shown below.
const SCRATCH: [&str; 2] = ["/tmp", "/dev/shm"];

/// Parts of `/proc` by which the system can be changed. User 0 may write to them without any capability.
const SYSTEM_CONTROLS: [&str; 6] = ["sys", "irq", "bus", "fs", "sysrq-trigger", "acpi"];

/// Memory is what these hold, so they are bounded. TMPDIR and HOME are on disk.
const TEMPORARY_OPTIONS: &CStr = c"mode=1777,size=1g,nr_inodes=200k";
const SHARED_MEMORY_OPTIONS: &CStr = c"mode=1777,size=1g,nr_inodes=100k";
const ROOT_OPTIONS: &CStr = c"mode=755,size=16m,nr_inodes=20k";
const TERMINAL_OPTIONS: &CStr = c"newinstance,ptmxmode=0666,mode=620";

/// Longer chains of symbolic links are a loop: the kernel's own limit.
const MOST_LINKS: usize = 40;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Access {
    ReadOnly,
    ReadWrite,
}

/// What of the host is in the root, and where.
#[derive(Debug, Default, PartialEq, Eq)]
struct RootPlan {
    /// Directories and files, by their real paths.
    binds: BTreeMap<PathBuf, Access>,
    /// Symbolic links on the way to them, with what they say.
    links: BTreeMap<PathBuf, PathBuf>,
}

impl RootPlan {
    fn of(policy: &Policy) -> Self {
        let mut plan = Self::default();
        for path in policy.execute.iter().chain(&policy.read) {
            plan.add(path, Access::ReadOnly);
        }
        for path in &policy.write {
            plan.add(path, Access::ReadWrite);
        }
        plan.without_doubles()
    }

    /// Adds a path with the links that lead to it. What does not exist is left out.
    fn add(&mut self, path: &Path, access: Access) {
        let Some((links, real)) = follow(path) else { return };
        let in_scratch = SCRATCH.iter().any(|scratch| real.starts_with(scratch) && real != Path::new(scratch));
        if !in_scratch && OWN.iter().any(|own| real.starts_with(own)) {
            return;
        }
        if real == Path::new("/") {
            let top = fs::read_dir(real).into_iter().flatten().flatten().map(|entry| entry.path());
            top.for_each(|path| self.add(&path, access));
            return;
        }
        self.links.extend(links);
        let known = self.binds.entry(real).or_insert(access);
        *known = access.max(*known);
    }

    /// Without what is there already as a part of something else.
    fn without_doubles(self) -> Self {
        let covered = |path: &Path, access: Access| {
            let above = path.ancestors().skip(1).find_map(|above| self.binds.get(above));
            above.is_some_and(|above| *above >= access)
        };
        let is_part = |path: &Path| path.ancestors().skip(1).any(|above| self.binds.contains_key(above));
        Self {
            binds: self.binds.iter().filter(|(path, access)| !covered(path, **access)).map(cloned).collect(),
            links: self.links.iter().filter(|(path, _)| !is_part(path)).map(cloned).collect(),
        }
    }

    /// What of `SCRATCH` is on the way to something that is bound. The way itself must not be written to.
    fn ways_through_scratch(&self) -> BTreeSet<PathBuf> {
        let mut ways = BTreeSet::new();
        // Where the host's own is shown, the way is the host's too.
        for scratch in SCRATCH.map(Path::new).iter().filter(|scratch| self.access(scratch).is_none()) {
            let shown = self.binds.keys().chain(self.links.keys());
            let below = shown.filter_map(|path| path.strip_prefix(scratch).ok());
            let deep = below.filter(|path| path.components().count() > 1);
            ways.extend(deep.filter_map(|path| path.iter().next()).map(|first| scratch.join(first)));
        }
        ways
    }

    /// May what is mounted here be written to?
    fn access(&self, path: &Path) -> Option<Access> {
        path.ancestors().find_map(|above| self.binds.get(above)).copied()
    }
}

fn cloned<K: Clone, V: Clone>((key, value): (&K, &V)) -> (K, V) {
    (key.clone(), value.clone())
}

/// The symbolic links on the way to a path, and where it really is; `None` if it is not there.
fn follow(path: &Path) -> Option<(BTreeMap<PathBuf, PathBuf>, PathBuf)> {
    let mut links = BTreeMap::new();
    let mut real = PathBuf::from("/");
    let mut rest = parts(path);
    let mut followed = 0;
    while let Some(part) = rest.pop() {
        if part == ".." {
            real.pop();
            continue;
        }
        let next = real.join(&part);
        if next.symlink_metadata().ok()?.is_symlink() {
            let target = fs::read_link(&next).ok()?;
            if target.is_absolute() {
                real = PathBuf::from("/");
            }
            rest.extend(parts(&target));
            links.insert(next, target);
            followed += 1;
            if followed > MOST_LINKS {
                return None;
            }
        } else {
            real = next;
        }
    }
    Some((links, real))
}

/// The names in a path, the last one first.
fn parts(path: &Path) -> Vec<OsString> {
    let name = |part: Component<'_>| match part {
        Component::Normal(name) => Some(name.to_owned()),
        Component::ParentDir => Some("..".into()),
        Component::Prefix(_) | Component::RootDir | Component::CurDir => None,
    };
    path.components().rev().filter_map(name).collect()
}

/// What could not be done, in words.
fn context<T, E: Into<io::Error>>(result: Result<T, E>, what: impl FnOnce() -> String) -> io::Result<T> {
    result.map_err(|error| {
        let error = error.into();
        io::Error::new(error.kind(), format!("{}: {error}", what()))
    })
}

/// Leaves the host's files behind. Needs the right to mount in the namespace of the user.
#[expect(deprecated, reason = "its successor is unsafe for the sake of a flag that is not used here")]
pub(super) fn enter(policy: &Policy, home: &Path) -> io::Result<()> {
    let plan = RootPlan::of(policy);
    let namespaces = UnshareFlags::NEWNS | UnshareFlags::NEWIPC;
    context(rustix::thread::unshare(namespaces), || "there are no namespaces for it".into())?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    context(mount_tmpfs(STAGE, ROOT_OPTIONS), || format!("cannot mount on {STAGE}"))?;
    fs::create_dir(format!("{STAGE}{HOST}"))?;
    context(pivot_root(STAGE, format!("{STAGE}{HOST}")), || "cannot leave the root".into())?;
    chdir("/")?;
    fs::create_dir(FILES)?;
    // A mount of its own, so that it can become the root.
    mount_tmpfs(FILES, ROOT_OPTIONS)?;
    let files = Path::new(FILES);
    // First what is made, then what is bound: nothing is ever made in a directory of the host.
    make_own_files(files, home)?;
    let ways = plan.ways_through_scratch();
    for path in &ways {
        let path = inside(files, path);
        fs::create_dir(&path)?;
        mount_tmpfs(&path, ROOT_OPTIONS)?;
    }
    for path in plan.binds.keys() {
        context(bind(files, path), || format!("cannot show {}", path.display()))?;
    }
    for overlay in &policy.overlays {
        show_through(files, overlay);
    }
    for (path, target) in &plan.links {
        let link = inside(files, path);
        if link.symlink_metadata().is_err() {
            make_parents(&link)?;
            symlink(target, &link)?;
        }
    }
    restrict_mounts(files, &plan)?;
    mount_proc(&files.join("proc"))?;
    let read_only = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    for path in &ways {
        mount_remount(inside(files, path), read_only, "")?;
    }
    mount_remount(files, read_only, "")?;
    chdir(files)?;
    // The root that was lies on top of the new one for a moment, and is let go.
    pivot_root(".", ".")?;
    unmount(".", UnmountFlags::DETACH)?;
    chdir("/")?;
    Ok(())
}

fn mount_tmpfs(at: impl rustix::path::Arg, options: &CStr) -> rustix::io::Result<()> {
    mount("tmpfs", at, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, options)
}

/// Where a path of the host is, below another root.
fn inside(root: &Path, path: &Path) -> PathBuf {
    root.join(path.strip_prefix("/").unwrap_or(path))
}

fn make_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// What is not the host's: `/tmp`, `/dev`, and the names of users.
fn make_own_files(files: &Path, home: &Path) -> io::Result<()> {
    for name in ["dev/pts", "dev/shm", "proc", "tmp", "etc", "var"] {
        fs::create_dir_all(files.join(name))?;
    }
    mount_tmpfs(files.join("tmp"), TEMPORARY_OPTIONS)?;
    symlink("../tmp", files.join("var/tmp"))?;
    let dev = files.join("dev");
    for name in DEVICES {
        let from = Path::new(HOST).join("dev").join(name);
        if from.metadata().is_ok_and(|found| found.file_type().is_char_device()) {
            let to = dev.join(name);
            fs::File::create(&to)?;
            context(mount_bind_recursive(&from, &to), || format!("cannot show /dev/{name}"))?;
        }
    }
    for (name, target) in DEVICE_LINKS {
        symlink(target, dev.join(name))?;
    }
    let terminals =
        mount("devpts", dev.join("pts"), "devpts", MountFlags::NOSUID | MountFlags::NOEXEC, TERMINAL_OPTIONS);
    context(terminals, || "cannot mount its terminals".into())?;
    mount_tmpfs(dev.join("shm"), SHARED_MEMORY_OPTIONS)?;
    write_users(&files.join("etc"), home)
}

/// One user and nobody, so that programs find a name and the right home. The host's users are not its business.
fn write_users(etc: &Path, home: &Path) -> io::Result<()> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    let name = if user == 0 { "root" } else { "agent" };
    let mut users = format!("{name}:x:{user}:{group}::").into_bytes();
    users.extend_from_slice(home.as_os_str().as_bytes());
    users.extend_from_slice(b":/bin/sh\nnobody:x:65534:65534::/:/usr/sbin/nologin\n");
    fs::write(etc.join("passwd"), users)?;
    fs::write(etc.join("group"), format!("{name}:x:{group}:\nnogroup:x:65534:\n"))
}

fn bind(files: &Path, path: &Path) -> io::Result<()> {
    let (from, to) = (inside(Path::new(HOST), path), inside(files, path));
    if to.symlink_metadata().is_err() {
        if from.is_dir() {
            fs::create_dir_all(&to)?;
        } else {
            make_parents(&to)?;
            fs::File::create(&to)?;
        }
    }
    // With what is mounted below it: a user may not uncover what such a mount hides.
    mount_bind_recursive(&from, &to)?;
    Ok(())
}

/// Mounts an overlay. Where that cannot be done, its place is an empty directory, and only time is lost.
fn show_through(files: &Path, overlay: &Overlay) {
    let host = |path: &Path| inside(Path::new(HOST), path);
    let (lower, upper, work) = (host(&overlay.lower), host(&overlay.upper), host(&overlay.work));
    // They would end the name of a directory there.
    let is_plain = |path: &Path| !path.as_os_str().as_bytes().iter().any(|byte| b",:\\\"".contains(byte));
    let at = inside(files, &overlay.at);
    if ![&lower, &upper, &work].into_iter().all(|path| is_plain(path)) || !at.is_dir() {
        return;
    }
    let directories = format!("lowerdir={},upperdir={},workdir={}", lower.display(), upper.display(), work.display());
    // An ordinary user's overlay keeps its notes where such a user may write them.
    let attempts = [format!("{directories},userxattr"), directories];
    let options = attempts.into_iter().filter_map(|options| CString::new(options).ok());
    let flags = MountFlags::NOSUID | MountFlags::NODEV;
    for options in options {
        if mount("overlay", &at, "overlay", flags, options.as_c_str()).is_ok() {
            return;
        }
    }
}

/// Makes everything of the host as strict as it has to be, with what is mounted below it.
fn restrict_mounts(files: &Path, plan: &RootPlan) -> io::Result<()> {
    let table = fs::read_to_string(format!("{HOST}/proc/self/mountinfo"))?;
    for (at, flags) in table.lines().filter_map(read_mount) {
        let Ok(path) = at.strip_prefix(files) else { continue };
        let path = Path::new("/").join(path);
        let is_device = path.parent() == Some(Path::new("/dev")) && DEVICES.iter().any(|name| path.ends_with(name));
        let strict = match plan.access(&path) {
            Some(Access::ReadOnly) => MountFlags::RDONLY | MountFlags::NODEV,
            Some(Access::ReadWrite) => MountFlags::NODEV,
            // Its mode and times are the host's. Writing to the device is no change of the file.
            None if is_device => MountFlags::RDONLY | MountFlags::NOEXEC,
            None => continue,
        };
        let flags = flags | strict | MountFlags::BIND | MountFlags::NOSUID;
        context(mount_remount(&at, flags, ""), || format!("cannot restrict {}", path.display()))?;
    }
    Ok(())
}

/// Where a line of `mountinfo` says that something is mounted, and how. A user may not take such a flag away.
fn read_mount(line: &str) -> Option<(PathBuf, MountFlags)> {
    let mut fields = line.split(' ').skip(4);
    let (at, options) = (unescaped(fields.next()?), fields.next()?);
    let flag = |option| match option {
        "ro" => MountFlags::RDONLY,
        "noexec" => MountFlags::NOEXEC,
        "noatime" => MountFlags::NOATIME,
        "nodiratime" => MountFlags::NODIRATIME,
        "relatime" => MountFlags::RELATIME,
        _ => MountFlags::empty(),
    };
    let flags: MountFlags = options.split(',').map(flag).collect();
    let says_when = flags.intersects(MountFlags::NOATIME | MountFlags::RELATIME);
    Some((at, if says_when { flags } else { flags | MountFlags::STRICTATIME }))
}

/// Spaces and the like are written as `\040` there.
fn unescaped(text: &str) -> PathBuf {
    let (bytes, mut path, mut next) = (text.as_bytes(), Vec::with_capacity(text.len()), 0);
    while let Some(byte) = bytes.get(next) {
        let octal = (*byte == b'\\').then(|| text.get(next + 1..next + 4)).flatten();
        let escaped = octal.and_then(|digits| u8::from_str_radix(digits, 8).ok());
        path.push(escaped.unwrap_or(*byte));
        next += if escaped.is_some() { 4 } else { 1 };
    }
    PathBuf::from(OsString::from_vec(path))
}

/// A `/proc` that shows this namespace alone, and cannot change the system.
fn mount_proc(proc: &Path) -> io::Result<()> {
    let flags = MountFlags::NOSUID | MountFlags::NOEXEC | MountFlags::NODEV;
    context(mount("proc", proc, "proc", flags, None), || "cannot mount its /proc".into())?;
    for path in SYSTEM_CONTROLS.map(|name| proc.join(name)) {
        if path.exists() {
            mount_bind_recursive(&path, &path)?;
            let read_only = flags | MountFlags::BIND | MountFlags::RDONLY;
            context(mount_remount(&path, read_only, ""), || format!("cannot restrict {}", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(root: &Path, names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(|name| root.join(name)).collect()
    }

    /// R13, R14: the way to a file is there as it is outside, link by link; what is missing, or leads in a circle, is
    /// left out.
    #[test]
    fn links_on_the_way_are_kept() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("versions/3/bin")).unwrap();
        fs::write(root.join("versions/3/bin/tool"), "").unwrap();
        symlink("versions/3", root.join("current")).unwrap();
        symlink(root.join("current/bin"), root.join("bin")).unwrap();
        symlink("circle", root.join("circle")).unwrap();

        let (links, real) = follow(&root.join("bin/../bin/./tool")).unwrap();
        assert_eq!(real, root.join("versions/3/bin/tool"));
        let expected = [(root.join("bin"), root.join("current/bin")), (root.join("current"), "versions/3".into())];
        assert_eq!(links, BTreeMap::from(expected));
        assert_eq!((follow(&root.join("circle")), follow(&root.join("nothing"))), (None, None));
    }

    /// R2, R13: what may be written to stays so below what may only be read, and nothing is bound twice.
    #[test]
    fn the_wider_right_counts() {
        let scratch = tempfile::tempdir().unwrap();
        let root = scratch.path().canonicalize().unwrap();
        fs::create_dir_all(root.join("tree/src/deep")).unwrap();
        fs::create_dir_all(root.join("tree/docs")).unwrap();
        fs::write(root.join("git"), "").unwrap();
        symlink("../git", root.join("tree/link")).unwrap();
        let policy = Policy {
            execute: paths(&root, &["tree", "tree/docs", "tree/src/deep"]),
            read: paths(&root, &["git", "missing", "tree/link"]),
            write: paths(&root, &["tree/src", "tree/src/deep", "git"]),
            ..Policy::default()
        };
        let plan = RootPlan::of(&policy);
        let (read_only, read_write) = (Access::ReadOnly, Access::ReadWrite);
        let binds =
            [(root.join("git"), read_write), (root.join("tree"), read_only), (root.join("tree/src"), read_write)];
        assert_eq!(plan, RootPlan { binds: BTreeMap::from(binds), links: BTreeMap::new() });
        assert_eq!(plan.access(&root.join("tree/src/deep/x")), Some(read_write));
        assert_eq!((plan.access(&root.join("tree/docs")), plan.access(&root)), (Some(read_only), None));
    }

    /// R13: what leads through `/tmp` to a workspace cannot be written to, unless the host's own `/tmp` is shown.
    #[test]
    fn the_way_through_tmp_is_known() {
        let bind = |path: &str| (PathBuf::from(path), Access::ReadOnly);
        let mut plan = RootPlan {
            binds: BTreeMap::from(["/tmp/a/b/c", "/tmp/a/d", "/tmp/whole", "/dev/shm/x/y", "/usr"].map(bind)),
            links: BTreeMap::new(),
        };
        assert_eq!(plan.ways_through_scratch(), ["/tmp/a", "/dev/shm/x"].map(PathBuf::from).into());
        plan.binds.extend([bind("/tmp")]);
        assert_eq!(plan.ways_through_scratch(), ["/dev/shm/x"].map(PathBuf::from).into());
    }

    /// R13: what is mounted says how, and a name with a space in it is read.
    #[test]
    fn the_table_of_mounts_is_read() {
        let line = r"36 35 98:0 /mnt1 /mnt\0402\134 ro,nosuid,noexec,noatime master:1 - ext3 /dev/root rw";
        let flags = MountFlags::RDONLY | MountFlags::NOEXEC | MountFlags::NOATIME;
        assert_eq!(read_mount(line), Some(("/mnt 2\\".into(), flags)));
        assert_eq!(read_mount("1 1 0:1 / / rw - a b rw").unwrap().1, MountFlags::STRICTATIME);
    }
}
