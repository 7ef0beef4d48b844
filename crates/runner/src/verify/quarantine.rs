//! Are an agent's commits whole, and of a bearable size, before they are anywhere else (V16, F107)?
//!
//! They come into an object directory of their own that borrows the repository's objects. Only when all is proved are the
//! files moved to the repository; whatever is refused is removed with the directory.

use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use board::SandboxLimits;
use git::{AsyncGit, Git, GitError};

const MIB: u64 = 1 << 20;

/// A bundle's header names a few commits; longer ones are not ours.
const LONGEST_HEADER: u64 = 64 * 1024;

/// What the list of one commit's files may take, and each of them in it.
const LONGEST_LISTING: usize = 256 << 20;
const LONGEST_ENTRY: usize = 256;

/// Longer names cannot be checked out.
const LONGEST_NAME: usize = 255;
const LONGEST_PATH: usize = 3_500;

/// Why commits are not taken in.
#[derive(Debug, thiserror::Error)]
pub(super) enum Refused {
    /// The agent's doing; another try would not change it.
    #[error("{0}")]
    Bad(String),
    /// Trouble of our own.
    #[error(transparent)]
    Trouble(#[from] GitError),
}

/// Commits that were taken in and are not trusted yet.
#[derive(Debug)]
pub(super) struct Quarantine {
    objects: PathBuf,
    /// Where they go if all is well.
    destination: PathBuf,
    /// Sees these commits beside all others.
    pub(super) git: AsyncGit,
    pub(super) head: String,
}

impl Quarantine {
    /// Takes in what is in a bundle: git checks each object, and that none is missing.
    pub(super) async fn take_in(repository: &Path, bundle: &Path, directory: &Path) -> Result<Self, Refused> {
        let head = bundle_head(bundle).map_err(Refused::Bad)?;
        let objects = directory.join("objects");
        fs::create_dir_all(objects.join("pack")).map_err(GitError::from)?;
        let destination = AsyncGit::in_repository(repository).layout().await?.objects;
        let git = Git::in_repository(repository).with_objects_in(&objects, &destination);
        let taken = Self { objects, destination, git: git.into(), head };
        let bundle = bundle.to_string_lossy();
        // To no ref: these would be in the repository, and the objects are not.
        let fetch = [
            "-c",
            "fetch.fsckObjects=true",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            "--refmap=",
            &bundle,
            "HEAD",
        ];
        taken.git.run(&fetch).await.map_err(|error| bad(error, "its commits are refused"))?;
        // Whole is what we take, by its id, and not what git took for it.
        let whole = ["rev-list", "--objects", "--quiet", &taken.head, "--not", "--all"];
        taken.git.run(&whole).await.map_err(|error| bad(error, "its commits are incomplete"))?;
        Ok(taken)
    }

    /// Would its files fit into a workspace?
    pub(super) async fn check_size(&self, limits: &SandboxLimits) -> Result<(), Refused> {
        let longest = (limits.files as usize).saturating_mul(LONGEST_ENTRY).min(LONGEST_LISTING);
        let git = self.git.sync().clone().with_output_limit(longest);
        let listing = ["ls-tree", "-r", "-l", "-z", "--full-tree", &self.head];
        let listing =
            AsyncGit::from(git).output(&listing).await.map_err(|error| bad(error, "its commit is too large"))?;
        if !listing.status.success() {
            let said = String::from_utf8_lossy(&listing.stderr).trim().to_owned();
            return Err(Refused::Bad(format!("its commit cannot be listed: {said}")));
        }
        measure(&listing.stdout, limits).map_err(Refused::Bad)
    }

    /// Does its history begin where that commit's does?
    pub(super) async fn has_history_of(&self, base: &str) -> Result<bool, Refused> {
        Ok(self.git.output(&["merge-base", base, &self.head]).await?.status.success())
    }

    /// Moves the objects to the repository.
    pub(super) fn release(self) -> io::Result<()> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.objects)?.flatten().filter(|entry| entry.path().is_dir()) {
            files.extend(fs::read_dir(entry.path())?.flatten().map(|entry| entry.path()));
        }
        // Git looks for an index first, so what it is for must be there by then.
        files.sort_by_key(|path| path.extension().is_some_and(|extension| extension == "idx"));
        for file in files {
            let to = self.destination.join(file.strip_prefix(&self.objects).unwrap_or(&file));
            if !to.exists() {
                move_file(&file, &to)?;
            }
        }
        Ok(())
    }
}

fn bad(error: GitError, what: &str) -> Refused {
    match error {
        GitError::Failed { message, .. } => Refused::Bad(format!("{what}: {message}")),
        GitError::TooMuchOutput { .. } => Refused::Bad(format!("{what}: {error}")),
        GitError::Run(_) | GitError::TimedOut { .. } | GitError::Cancelled { .. } => error.into(),
    }
}

/// Also to another file system; a file is there whole or not at all.
fn move_file(from: &Path, to: &Path) -> io::Result<()> {
    if let Some(directory) = to.parent() {
        fs::create_dir_all(directory)?;
    }
    if fs::rename(from, to).is_ok() {
        return Ok(());
    }
    let aside = to.with_file_name(format!("tmp_obj_{}", to.file_name().unwrap_or_default().to_string_lossy()));
    fs::copy(from, &aside)?;
    fs::File::open(&aside)?.sync_all()?;
    fs::rename(&aside, to)
}

/// The commit that a bundle calls HEAD. A bundle that leaves objects out by a filter is refused.
fn bundle_head(bundle: &Path) -> Result<String, String> {
    let not_handed_over = |_| "its commits were not handed over".to_owned();
    let is_file = fs::symlink_metadata(bundle).map_err(not_handed_over)?.is_file();
    if !is_file {
        return Err("its commits were not handed over as a file".into());
    }
    let mut header = Vec::new();
    let read = fs::File::open(bundle).and_then(|file| file.take(LONGEST_HEADER).read_to_end(&mut header));
    read.map_err(not_handed_over)?;
    let end = header.windows(2).position(|two| two == b"\n\n").ok_or("its commits are no bundle")?;
    let header = std::str::from_utf8(&header[..end]).map_err(|_| "its commits are no bundle")?;
    let mut lines = header.lines();
    if !matches!(lines.next(), Some("# v2 git bundle" | "# v3 git bundle")) {
        return Err("its commits are no bundle".into());
    }
    let mut named = Vec::new();
    for line in lines {
        match line.as_bytes().first() {
            Some(b'@') if line.starts_with("@filter") => {
                return Err("its commits are incomplete: a filter left objects out".into());
            }
            // A capability, or a commit that has to be there already.
            Some(b'@' | b'-') => {}
            Some(_) | None => named.push(line),
        }
    }
    // Of two that have one name git would check another than we take.
    let [head] = named[..] else { return Err("its bundle does not name one commit".into()) };
    let head = head.strip_suffix(" HEAD");
    let is_id = |head: &&str| head.len() >= 40 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
    head.filter(is_id).map(str::to_owned).ok_or_else(|| "its bundle has no HEAD".into())
}

/// Is what a commit would check out within the limits? The listing is `ls-tree -l -z`'s.
fn measure(listing: &[u8], limits: &SandboxLimits) -> Result<(), String> {
    let (mut files, mut bytes) = (0_u32, 0_u64);
    for entry in listing.split(|byte| *byte == 0).filter(|entry| !entry.is_empty()) {
        let tab = entry.iter().position(|byte| *byte == b'\t').unwrap_or(entry.len());
        let (about, path) = (&entry[..tab], entry.get(tab + 1..).unwrap_or_default());
        let size = about.rsplit(|byte| *byte == b' ').next().and_then(|size| std::str::from_utf8(size).ok());
        files = files.saturating_add(1);
        // A submodule has none.
        bytes = bytes.saturating_add(size.and_then(|size| size.parse().ok()).unwrap_or(0));
        if path.len() > LONGEST_PATH || path.split(|byte| *byte == b'/').any(|name| name.len() > LONGEST_NAME) {
            let begin: String = String::from_utf8_lossy(path).chars().take(60).collect();
            return Err(format!("it has a file whose name is too long: {begin}…"));
        }
    }
    if files > limits.files {
        return Err(format!("it has {files} files, of at most {} (sandbox.limits.files)", limits.files));
    }
    if bytes > u64::from(limits.disk_mib) * MIB {
        let most = limits.disk_mib;
        return Err(format!("its files take {} MiB, of at most {most} (sandbox.limits.disk_mib)", bytes / MIB));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// V16, F107: of two commits of one name git would check another than we take.
    #[test]
    fn a_bundle_names_one_commit() {
        let scratch = tempfile::tempdir().unwrap();
        let bundle = scratch.path().join("b");
        let (one, two) = ("1".repeat(40), "2".repeat(40));
        let header = |lines: &str| {
            fs::write(&bundle, format!("# v3 git bundle\n@object-format=sha1\n-{two} base\n{lines}\n\nPACK")).unwrap();
            bundle_head(&bundle)
        };
        assert_eq!(header(&format!("{one} HEAD")), Ok(one.clone()));
        for lines in
            [format!("{one} HEAD\n{two} HEAD"), format!("{one} HEAD\n{two} refs/heads/x"), format!("{one} refs/x")]
        {
            assert!(header(&lines).is_err(), "{lines}");
        }
    }

    fn limits() -> SandboxLimits {
        SandboxLimits { files: 1000, disk_mib: 10, ..SandboxLimits::default() }
    }

    /// A repository with one commit, and a copy in which an agent works.
    struct Repositories {
        scratch: tempfile::TempDir,
        agent: Git,
        base: String,
    }

    impl Repositories {
        fn new() -> Self {
            let scratch = tempfile::tempdir().unwrap();
            let path = |name: &str| scratch.path().join(name).display().to_string();
            let here = Git::in_repository(scratch.path());
            here.run(&["init", "--quiet", "--initial-branch=main", &path("main")]).unwrap();
            let main = Git::in_repository(path("main"));
            main.run(&["commit", "--quiet", "--allow-empty", "--message=begin"]).unwrap();
            here.run(&["clone", "--quiet", &path("main"), &path("agent")]).unwrap();
            let base = main.run(&["rev-parse", "HEAD"]).unwrap();
            let agent = Git::in_repository(path("agent"));
            Self { scratch, agent, base }
        }

        fn path(&self, name: &str) -> PathBuf {
            self.scratch.path().join(name)
        }

        /// A commit of the tree that `mktree` makes of this listing.
        fn commit(&self, listing: &str) {
            let tree = self.agent.run_with(&["mktree"], listing.as_bytes()).unwrap();
            let commit = self.agent.run(&["commit-tree", &tree, "-p", &self.base, "-m", "work"]).unwrap();
            self.agent.run(&["update-ref", "HEAD", &commit]).unwrap();
        }

        fn bundle(&self, filter: &[&str]) -> PathBuf {
            let bundle = self.path("commits.bundle");
            let file = bundle.display().to_string();
            let range = format!("^{}", self.base);
            self.agent
                .run(&[&["bundle", "create", "--quiet", "--version=3", &file], filter, &["HEAD", &range]].concat())
                .unwrap();
            bundle
        }

        async fn take_in(&self, bundle: &Path) -> Result<Quarantine, Refused> {
            Quarantine::take_in(&self.path("main"), bundle, &self.path("quarantine")).await
        }

        fn objects(&self) -> usize {
            let counted = Git::in_repository(self.path("main")).run(&["count-objects", "-v"]).unwrap();
            counted.lines().filter_map(|line| line.split_once(": ")).filter_map(|(_, n)| n.parse::<usize>().ok()).sum()
        }

        fn blob(&self, content: &[u8]) -> String {
            self.agent.run_with(&["hash-object", "-w", "--stdin"], content).unwrap()
        }
    }

    /// V16: what is whole and small is released, and only then in the repository.
    #[tokio::test]
    async fn good_work_is_released() {
        let repositories = Repositories::new();
        repositories.commit(&format!("100644 blob {}\tfile\n", repositories.blob(b"work\n")));
        let before = repositories.objects();
        let taken = repositories.take_in(&repositories.bundle(&[])).await.unwrap();
        taken.check_size(&limits()).await.unwrap();
        assert!(taken.has_history_of(&repositories.base).await.unwrap());
        assert_eq!(repositories.objects(), before);
        let head = taken.head.clone();
        taken.release().unwrap();
        let main = Git::in_repository(repositories.path("main"));
        assert_eq!(main.run(&["show", &format!("{head}:file")]).unwrap(), "work");
        main.run(&["fsck", "--strict", "--no-dangling"]).unwrap();
    }

    /// V16, F107: a bundle that leaves objects out, that is cut off, or that is none, is refused; nothing is left.
    #[tokio::test]
    async fn what_is_not_whole_is_refused() {
        let repositories = Repositories::new();
        repositories.commit(&format!("100644 blob {}\tfile\n", repositories.blob(&[b'x'; 10_000])));
        let before = repositories.objects();
        let whole = repositories.bundle(&[]);
        let bytes = fs::read(&whole).unwrap();
        let filtered = fs::read(repositories.bundle(&["--filter=blob:none"])).unwrap();
        let hidden = String::from_utf8_lossy(&filtered).find("@filter").map(|at| {
            let end = at + filtered[at..].iter().position(|byte| *byte == b'\n').unwrap() + 1;
            [&filtered[..at], &filtered[end..]].concat()
        });
        for bad in
            [filtered, hidden.unwrap(), bytes[..bytes.len() - 30].to_vec(), b"no bundle\n\n".to_vec(), Vec::new()]
        {
            fs::write(&whole, bad).unwrap();
            let refused = repositories.take_in(&whole).await.unwrap_err();
            assert!(matches!(refused, Refused::Bad(_)), "{refused}");
        }
        assert_eq!(repositories.objects(), before);
    }

    /// V16, F111: a few objects that stand for a million files, or for more bytes than a disk has, are refused, and so is a
    /// name that no file can have.
    #[tokio::test]
    async fn what_is_too_large_is_refused() {
        let repositories = Repositories::new();
        let blob = repositories.blob(&[b'x'; 20_000]);
        let ten = |entry: &str| (0..10).map(|n| format!("{entry}\t{n}\n")).collect::<String>();
        let mut tree =
            repositories.agent.run_with(&["mktree"], ten(&format!("100644 blob {blob}")).as_bytes()).unwrap();
        let bytes = format!("040000 tree {tree}");
        for _ in 0..8 {
            tree = repositories.agent.run_with(&["mktree"], ten(&format!("040000 tree {tree}")).as_bytes()).unwrap();
        }
        let long = format!("100644 blob {blob}\t{}\n", "n".repeat(300));
        let cases = [
            (ten(&format!("040000 tree {tree}")), "too large"),
            ((0..60).map(|n| format!("{bytes}\t{n}\n")).collect(), "MiB, of at most 10"),
            (long, "too long"),
        ];
        for (listing, words) in cases {
            repositories.commit(&listing);
            let taken = repositories.take_in(&repositories.bundle(&[])).await.unwrap();
            let refused = taken.check_size(&limits()).await.unwrap_err();
            assert!(refused.to_string().contains(words), "{refused}");
        }
    }
}
