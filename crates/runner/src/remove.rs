//! How is a directory removed that an agent or a check has filled as it liked (V16, F111)?
//!
//! Without recursion, with two open descriptors, and without a path that grows: a directory that is not empty is moved up
//! into the top one first, so however deep the tree was, it becomes flat. Nothing is opened but directories, so no pipe
//! or device can block, and no link is followed.

use std::ffi::{CStr, CString, OsStr};
use std::fs;
use std::io;
use std::iter;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, chmodat, openat, renameat_with, unlinkat};
use rustix::io::Errno;

/// Directories nested deeper than this are no honest work.
const DEEPEST: usize = 256;

/// Removes a directory with all that is in it, also what was made unwritable. It need not be there.
pub(crate) fn remove_tree(path: &Path) -> io::Result<()> {
    let top = match open_directory(CWD, path) {
        Ok(top) => top,
        Err(Errno::NOENT) => return Ok(()),
        // A file or a link.
        Err(Errno::NOTDIR | Errno::LOOP) => return fs::remove_file(path),
        Err(error) => return Err(error.into()),
    };
    let mut moved = 0;
    let mut left = empty(&top, &top, &mut moved)?;
    while let Some(name) = left.pop() {
        let directory = open_directory(&top, name.as_c_str())?;
        left.extend(empty(&directory, &top, &mut moved)?);
        unlinkat(&top, name.as_c_str(), AtFlags::REMOVEDIR)?;
    }
    fs::remove_dir(path)
}

/// Moves a directory into `discarded`, from where it is removed in the background. What a crash has left there goes with the
/// next one.
pub(crate) fn discard(path: &Path, discarded: &Path) -> io::Result<()> {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    if fs::symlink_metadata(path).is_err() {
        return Ok(());
    }
    fs::create_dir_all(discarded)?;
    // An earlier process with this id may have left one with such a name.
    let name = || discarded.join(format!("{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed)));
    let free = iter::repeat_with(name).find(|name| fs::symlink_metadata(name).is_err());
    fs::rename(path, free.unwrap_or_else(name))?;
    let discarded = discarded.to_owned();
    std::thread::Builder::new().name("remove".into()).spawn(move || remove_all_in(&discarded))?;
    Ok(())
}

/// Removes what was discarded. Whoever finds it locked leaves it to the other, which looks again when it has let go: so
/// nothing that came meanwhile stays. What cannot be removed does not keep the rest.
fn remove_all_in(discarded: &Path) {
    let entries = || fs::read_dir(discarded).into_iter().flatten().flatten();
    while entries().next().is_some() {
        let Ok(lock) = fs::File::open(discarded) else { return };
        if rustix::fs::flock(&lock, rustix::fs::FlockOperation::NonBlockingLockExclusive).is_err() {
            return;
        }
        let mut any_failed = false;
        for entry in entries() {
            any_failed |= remove_tree(&entry.path()).is_err();
        }
        // A program that is being started has a copy of the descriptor for a moment, so closing it is not enough.
        let _ = rustix::fs::flock(&lock, rustix::fs::FlockOperation::Unlock);
        if any_failed {
            return;
        }
    }
}

/// Opens a directory, and makes it ours to change if it is not.
fn open_directory<P: rustix::path::Arg + Copy>(parent: impl AsFd, name: P) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    match openat(&parent, name, flags, Mode::empty()) {
        Err(Errno::ACCESS) => {
            chmodat(&parent, name, Mode::RWXU, AtFlags::empty())?;
            openat(&parent, name, flags, Mode::empty())
        }
        opened => opened,
    }
}

/// Removes what is in a directory. Directories that are not empty are moved into `top`, and their names there returned.
fn empty(directory: &OwnedFd, top: &OwnedFd, moved: &mut u64) -> io::Result<Vec<CString>> {
    // Ours to change, also if an agent has taken that away.
    let _ = rustix::fs::fchmod(directory, Mode::RWXU);
    // Listed before anything is moved: `top` would list what was moved into it.
    let names: Vec<CString> = Dir::read_from(directory)?
        .map(|entry| entry.map(|entry| entry.file_name().to_owned()))
        .collect::<Result<_, _>>()?;
    let mut left = Vec::new();
    for name in names.iter().map(CString::as_c_str).filter(|name| *name != c"." && *name != c"..") {
        match unlinkat(directory, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            // Which of the two it is for a directory depends on the file system.
            Err(Errno::ISDIR | Errno::PERM) => {
                if unlinkat(directory, name, AtFlags::REMOVEDIR).is_err() {
                    left.push(move_up(directory, name, top, moved)?);
                }
            }
            Err(error) => return Err(error.into()),
        }
    }
    Ok(left)
}

fn move_up(directory: &OwnedFd, name: &CStr, top: &OwnedFd, moved: &mut u64) -> io::Result<CString> {
    // To be moved, a directory must be writable itself: its `..` changes.
    let _ = chmodat(directory, name, Mode::RWXU, AtFlags::empty());
    loop {
        *moved += 1;
        let flat = CString::new(format!(".removing-{moved}"))?;
        match renameat_with(directory, name, top, flat.as_c_str(), RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(flat),
            Err(Errno::EXIST) => {}
            Err(error) => return Err(error.into()),
        }
    }
}

/// Removes pipes, sockets and devices below a directory: git would open some of them, and wait for ever. Fails for a tree
/// that is nested too deeply.
pub(crate) fn remove_special_files(top: &Path) -> io::Result<()> {
    let mut directories = vec![(top.to_owned(), 0)];
    while let Some((directory, depth)) = directories.pop() {
        if depth > DEEPEST {
            return Err(io::Error::other(format!("{} is nested too deeply", shorten(&directory))));
        }
        for entry in Dir::new(open_directory(CWD, &directory)?)? {
            let entry = entry?;
            if entry.file_name() == c"." || entry.file_name() == c".." {
                continue;
            }
            let path = directory.join(OsStr::from_bytes(entry.file_name().to_bytes()));
            let kind = match entry.file_type() {
                // Some file systems do not tell.
                FileType::Unknown => FileType::from_raw_mode(fs::symlink_metadata(&path)?.mode()),
                kind => kind,
            };
            match kind {
                FileType::Directory => directories.push((path, depth + 1)),
                FileType::RegularFile | FileType::Symlink => {}
                FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown => fs::remove_file(path)?,
            }
        }
    }
    Ok(())
}

fn shorten(path: &Path) -> String {
    path.components().take(20).collect::<PathBuf>().display().to_string()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt as _;

    use rustix::fs::{CWD, Mode, OFlags, mkdirat, mkfifoat, openat};

    use super::{discard, remove_special_files, remove_tree};

    /// V16, F111: 20,000 nested directories, pipes, links and directories without any rights.
    #[test]
    fn whatever_was_left_is_removed() {
        let scratch = tempfile::tempdir().unwrap();
        let (kept, top) = (scratch.path().join("kept"), scratch.path().join("top"));
        fs::write(&kept, "kept").unwrap();
        fs::create_dir_all(top.join("locked/inside")).unwrap();
        fs::create_dir_all(top.join(".removing-1/full")).unwrap();
        fs::write(top.join("locked/inside/file"), "x").unwrap();
        fs::set_permissions(top.join("locked/inside"), fs::Permissions::from_mode(0o000)).unwrap();
        fs::set_permissions(top.join("locked"), fs::Permissions::from_mode(0o000)).unwrap();
        std::os::unix::fs::symlink(&kept, top.join("link")).unwrap();
        std::os::unix::fs::symlink(scratch.path(), top.join("up")).unwrap();
        mkfifoat(CWD, top.join("pipe"), Mode::RWXU).unwrap();
        let mut directory = openat(CWD, &top, OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap();
        for _ in 0..20_000 {
            mkdirat(&directory, "d", Mode::RWXU).unwrap();
            directory = openat(&directory, "d", OFlags::DIRECTORY | OFlags::RDONLY, Mode::empty()).unwrap();
        }
        assert!(remove_special_files(&top).is_err(), "it is too deep");
        remove_tree(&top).unwrap();
        assert!(!top.exists());
        assert_eq!(fs::read_to_string(&kept).unwrap(), "kept");
        remove_tree(&top).unwrap();
        remove_tree(&kept).unwrap();
        assert!(!kept.exists());
    }

    /// P11: what is discarded is out of the way at once, and removed without anybody waiting.
    #[test]
    fn what_is_discarded_goes_in_the_background() {
        let scratch = tempfile::tempdir().unwrap();
        let (tree, discarded) = (scratch.path().join("tree"), scratch.path().join("discarded"));
        discard(&tree, &discarded).unwrap();
        for _ in 0..3 {
            fs::create_dir_all(tree.join("a/b")).unwrap();
            discard(&tree, &discarded).unwrap();
            assert!(!tree.exists());
        }
        while fs::read_dir(&discarded).unwrap().next().is_some() {
            std::thread::yield_now();
        }
    }

    /// P11: of those who discard at the same moment, the last one to look sees to what is left.
    #[test]
    fn many_who_discard_at_once_leave_nothing() {
        let scratch = tempfile::tempdir().unwrap();
        let discarded = scratch.path().join("discarded");
        std::thread::scope(|scope| {
            for number in 0..8 {
                let (tree, discarded) = (scratch.path().join(format!("tree-{number}")), &discarded);
                scope.spawn(move || {
                    for _ in 0..20 {
                        fs::create_dir_all(tree.join("a/b")).unwrap();
                        discard(&tree, discarded).unwrap();
                    }
                });
            }
        });
        while fs::read_dir(&discarded).unwrap().next().is_some() {
            std::thread::yield_now();
        }
    }

    /// V16, F111: what git would open and wait for is removed; files, links and directories stay.
    #[test]
    fn pipes_are_removed_and_files_stay() {
        let scratch = tempfile::tempdir().unwrap();
        let nested = scratch.path().join("a/b");
        fs::create_dir_all(&nested).unwrap();
        fs::write(nested.join("file"), "x").unwrap();
        std::os::unix::fs::symlink("/", nested.join("link")).unwrap();
        mkfifoat(CWD, nested.join(".gitignore"), Mode::RWXU).unwrap();
        remove_special_files(scratch.path()).unwrap();
        let mut left: Vec<_> = fs::read_dir(&nested).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["file", "link"]);
    }
}
