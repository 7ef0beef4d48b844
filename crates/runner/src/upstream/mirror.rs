//! What does a runner on another host have of a repository? A copy of its own, which follows the target.

use std::path::{Path, PathBuf};

use git::{AsyncGit, Git, GitError, branch_ref};
use tokio::sync::Mutex;

/// Of the files only the definitions are checked out: what is laid into workspaces for clients comes from there.
const DEFINITIONS: &str = "/.saihai/\n";

/// A repository that follows another one.
#[derive(Debug)]
pub struct Mirror {
    directory: PathBuf,
    /// Git locks refs; whoever fetches at the same moment would fail.
    fetching: Mutex<()>,
}

impl Mirror {
    /// Opens the mirror in a directory, or begins one.
    pub async fn open(directory: &Path) -> Result<Self, GitError> {
        let mirror = Self { directory: directory.to_owned(), fetching: Mutex::default() };
        std::fs::create_dir_all(directory)?;
        if !directory.join(".git/info/sparse-checkout").exists() {
            mirror.begin("sha1").await?;
        }
        // A fetch that was killed leaves its lock; nobody else works here.
        for lock in ["shallow.lock", "packed-refs.lock", "index.lock", "HEAD.lock"] {
            let _ = std::fs::remove_file(directory.join(".git").join(lock));
        }
        Ok(mirror)
    }

    async fn begin(&self, object_format: &str) -> Result<(), GitError> {
        let (git, format) = (self.git(), format!("--object-format={object_format}"));
        git.run(&["init", "--quiet", "--initial-branch=saihai-mirror", &format]).await?;
        git.run(&["config", "core.sparseCheckout", "true"]).await?;
        git.run(&["config", "core.sparseCheckoutCone", "false"]).await?;
        std::fs::create_dir_all(self.directory.join(".git/info"))?;
        std::fs::write(self.directory.join(".git/info/sparse-checkout"), DEFINITIONS)?;
        Ok(())
    }

    /// Makes sure that it can hold a commit of the repository that it follows: git names objects by one hash or another.
    pub async fn expect(&self, commit: &str) -> Result<(), GitError> {
        let _turn = self.fetching.lock().await;
        let wanted = if commit.len() == 64 { "sha256" } else { "sha1" };
        let found = self.git().run(&["rev-parse", "--show-object-format"]).await?;
        if found == wanted || !self.git().run(&["for-each-ref", "--count=1"]).await?.is_empty() {
            return Ok(());
        }
        std::fs::remove_dir_all(self.directory.join(".git"))?;
        self.begin(wanted).await
    }

    pub fn directory(&self) -> &Path {
        &self.directory
    }

    pub(crate) fn git(&self) -> AsyncGit {
        AsyncGit::in_repository(&self.directory)
    }

    /// The commit of a ref, if it is here.
    pub async fn commit(&self, reference: &str) -> Option<String> {
        self.git().commit(reference).await
    }

    /// Fetches refs from elsewhere, each to the same name here. `git` works in the mirror, and may go out.
    pub async fn fetch(&self, git: Git, from: &str, references: &[&str]) -> Result<(), GitError> {
        let _turn = self.fetching.lock().await;
        let specs: Vec<String> = references.iter().map(|reference| format!("+{reference}:{reference}")).collect();
        let mut arguments = vec![
            "-c",
            "fetch.fsckObjects=true",
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-recurse-submodules",
            "--no-write-fetch-head",
            "--no-auto-maintenance",
            // What it follows may have no more than the newest commits itself.
            "--update-shallow",
            "--end-of-options",
            from,
        ];
        arguments.extend(specs.iter().map(String::as_str));
        AsyncGit::from(git).run(&arguments).await.map(drop)
    }

    /// Writes what is new in a commit into a file, for whoever has the `known` ones; `false` if nothing is.
    pub async fn bundle(&self, commit: &str, known: &[String], file: &Path) -> Result<bool, GitError> {
        let git = self.git();
        let mut count = vec!["rev-list", "--count", commit, "--not"];
        count.extend(known.iter().map(String::as_str));
        if git.run(&count).await? == "0" {
            return Ok(false);
        }
        // A bundle holds a ref, and whoever takes it in asks for HEAD. Nobody else uses it here.
        let _turn = self.fetching.lock().await;
        git.run(&["update-ref", "--no-deref", "HEAD", commit]).await?;
        let path = file.to_string_lossy();
        let mut create = vec!["bundle", "create", "--quiet", &path, "HEAD", "--not"];
        create.extend(known.iter().map(String::as_str));
        git.run(&create).await?;
        Ok(true)
    }

    /// Lays out the definitions as they are on a branch.
    pub async fn check_out_definitions(&self, branch: &str) -> Result<(), GitError> {
        let _turn = self.fetching.lock().await;
        let commit = branch_ref(branch);
        self.git().run(&["checkout", "--quiet", "--force", "--detach", &commit]).await.map(drop)
    }
}
