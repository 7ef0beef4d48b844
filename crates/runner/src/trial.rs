//! Do the project's programs work in the sandbox? For `saihai doctor` (R14).

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{AgentSpec, CheckOutcome, CheckRun, Isolation, ProjectId, Settings};
use git::{AsyncGit, branch_ref};
use tokio_util::sync::CancellationToken;

use crate::clients::User;
use crate::host::{RunnerHost, SandboxJob};
use crate::paths::RunnerPaths;
use crate::sandbox::Policy;
use crate::setup::{SetupError, SetupRun};
use crate::verify::{CheckRunner, Tested, VerifyError};
use crate::workspace::{Workspace, WorkspaceSpec};

/// A client says which version it is within this time.
const VERSION_TIME_LIMIT: Duration = Duration::from_secs(20);

/// How a program did in the sandbox.
#[derive(Clone, Debug)]
pub struct Trial {
    /// The name of a check, `setup`, or the program.
    pub name: String,
    pub outcome: CheckOutcome,
    /// The end of what it printed.
    pub output: String,
    /// Files that it names and that are there outside, but not for it.
    pub denied: Vec<PathBuf>,
}

/// A place apart from that of the runner, which may run meanwhile.
#[derive(Debug)]
pub struct TrialHost {
    host: RunnerHost,
    settings: Settings,
    scratch: tempfile::TempDir,
}

impl TrialHost {
    pub fn new(project: ProjectId, repository: PathBuf, user: User, settings: Settings) -> io::Result<Self> {
        let scratch = tempfile::Builder::new().prefix("saihai-doctor-").tempdir()?;
        let paths = RunnerPaths::new(scratch.path(), &project);
        Ok(Self {
            host: RunnerHost { project, began: board::Timestamp(0), repository, paths, user, upstream: None },
            settings,
            scratch,
        })
    }

    /// Asks a program for its version.
    pub async fn program(&self, program: &Path) -> io::Result<Trial> {
        let directory = self.scratch.path().join("program");
        let (home, temporary) = (self.scratch.path().join("home"), self.scratch.path().join("tmp"));
        std::fs::create_dir_all(&home)?;
        std::fs::create_dir_all(&temporary)?;
        let toolchains = self.host.toolchains(None, Some(program));
        let mut policy = Policy::system();
        self.host.grant_common_access(&mut policy, &self.settings, &toolchains, &[&home, &temporary]);
        let job = SandboxJob {
            spawn: &self.marker(),
            directory: &directory,
            program,
            arguments: vec!["--version".into()],
            env: self.host.environment(&home, &temporary, &toolchains),
            cwd: &home,
            stdin: None,
            policy: policy.clone(),
            wall: VERSION_TIME_LIMIT,
        };
        let (exit, log) = self.host.run(job, &self.settings, &CancellationToken::new()).await?;
        let mut output = String::from_utf8_lossy(&log.tail(2000).bytes).trim().to_owned();
        output.push_str(exit.end.error.as_deref().unwrap_or_default());
        let denied = denied(&output, &policy);
        let name = program.display().to_string();
        Ok(Trial { name, outcome: crate::verify::outcome(&exit.end), output, denied })
    }

    /// Runs `workspace.setup` in a workspace on the target, if there is one; `Err` says what went wrong.
    pub async fn workspace_setup(&self) -> Result<(), SetupError> {
        let target = branch_ref(&self.settings.target_branch);
        let base = AsyncGit::in_repository(&self.host.repository).commit(&target).await;
        let (Some(base), Some(_)) = (base, &self.settings.workspace_setup) else { return Ok(()) };
        let agent = AgentSpec::worker("doctor".parse().map_err(io::Error::other)?);
        let workspace_spec = WorkspaceSpec {
            repository: &self.host.repository,
            root: &self.scratch.path().join("workspace"),
            branch: None,
            base: &base,
            agent: &agent,
            isolation: Isolation::Clone,
        };
        let run = SetupRun {
            host: &self.host,
            settings: &self.settings,
            workspace: &Workspace::prepare(&workspace_spec).await?,
            directory: &self.scratch.path().join("setup"),
            spawn: &self.marker(),
            untouched: true,
            merged: Some(&base),
            cancellation: &CancellationToken::new(),
        };
        run.run().await
    }

    fn marker(&self) -> String {
        format!("doctor:{}", self.scratch.path().display())
    }

    /// Runs the setup and each check on the target, as they run on candidates.
    pub async fn checks(&self) -> Result<Vec<Trial>, VerifyError> {
        let dod = &self.settings.dod;
        let target = &self.settings.target_branch;
        let main = AsyncGit::in_repository(&self.host.repository);
        let commit = main.commit(&branch_ref(target)).await.ok_or_else(|| VerifyError::NoTarget(target.clone()))?;
        let checks = CheckRunner {
            host: &self.host,
            settings: &self.settings,
            directory: self.scratch.path().join("check"),
            marker: self.marker(),
            cancellation: &CancellationToken::new(),
        };
        let results = checks.run(Tested::target(&commit), &CheckRun::of(dod)).await?;
        let policy = checks.policy(&self.host.toolchains(None, None)).await?;
        let trial = |result: board::CheckResult| {
            let denied = denied(&result.output, &policy);
            Trial { name: result.name, outcome: result.outcome, output: result.output, denied }
        };
        Ok(results.into_iter().map(trial).collect())
    }
}

/// The files in a program's words that are there, but not for it.
fn denied(output: &str, policy: &Policy) -> Vec<PathBuf> {
    let is_end = |letter: char| letter.is_whitespace() || "\"'`‘’“”,;:()[]<>".contains(letter);
    let words = output.split(is_end).filter(|word| word.len() > 1 && word.starts_with('/')).map(PathBuf::from);
    let mut denied: Vec<_> = words.filter(|path| path.symlink_metadata().is_ok() && !policy.shows(path)).collect();
    denied.sort();
    denied.dedup();
    denied
}
