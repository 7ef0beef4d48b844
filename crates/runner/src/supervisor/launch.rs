//! How does a claimed session come to run?

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use board::{AgentSpec, EndReason, Fact, Isolation, Mode, Rejection, Settings, SpawnId, TaskId};
use dispatch::{NewSecret, TaskBrief, WorkOrder, WorkspaceOrder};
use git::{AsyncGit, branch_ref};
use tokio_util::sync::CancellationToken;

use super::reporter::FactNumbers;
use super::{Inner, logins};
use crate::caches;
use crate::clients::{self, Assignment};
use crate::host::{RunnerHost, policy_in_mode};
use crate::prompt::{PromptInput, prompt};
use crate::sandbox::Policy;
use crate::setup::{SetupError, SetupRun};
use crate::shim::{Durability, ExitRecord, GRACE, ShimPlan};
use crate::verify::{VerifyError, WorkspaceSandbox};
use crate::workspace::{Workspace, WorkspaceError, WorkspaceSpec};
use crate::workspace_git::Author;

/// Why a session does not come to run.
#[derive(Debug, thiserror::Error)]
pub(super) enum LaunchError {
    #[error(transparent)]
    Workspace(#[from] WorkspaceError),
    #[error(transparent)]
    Git(#[from] git::GitError),
    #[error(transparent)]
    Merge(#[from] VerifyError),
    #[error(transparent)]
    Client(#[from] clients::CannotLaunch),
    #[error(transparent)]
    Setup(#[from] SetupError),
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Refused(String),
}

/// The prompt of an agent for its work. It names the entries of the memory bank that are in `tree`, where it works (R16).
#[must_use]
pub fn prompt_for(settings: &Settings, tree: &Path, spec: &AgentSpec, task: Option<&TaskBrief>) -> String {
    let (memory, _) = definitions::memory::list(&tree.join(".saihai"));
    prompt(&PromptInput { spec, settings, task, memory: &memory })
}

/// What only the runner knows that has claimed the session.
#[derive(Debug)]
pub(super) struct Claimed {
    pub(super) spawn: SpawnId,
    pub(super) credential: NewSecret,
}

/// The workspace of a task, and where its work begins.
#[derive(Debug)]
pub(super) struct TaskWorkspace {
    pub(super) workspace: Workspace,
    pub(super) branch: String,
    pub(super) base: String,
    /// The work is done: the task undoes commits, and git could do that alone.
    pub(super) undone: bool,
}

/// The launch that a workspace is made for.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launching<'a> {
    /// Where its files are.
    pub(super) run: &'a Path,
    /// The marker of its processes.
    pub(super) spawn: &'a str,
    pub(super) cancellation: &'a CancellationToken,
}

impl Inner {
    /// Makes the workspace, and says how the client is started in it.
    pub(super) async fn prepare(
        &self,
        order: &WorkOrder,
        claimed: &Claimed,
        numbers: &mut FactNumbers,
        cancellation: &CancellationToken,
    ) -> Result<ShimPlan, ExitRecord> {
        let plan = self.try_prepare(order, claimed, numbers, cancellation).await;
        plan.map_err(|error| ExitRecord::because(EndReason::LaunchFailed, error.to_string()))
    }

    async fn try_prepare(
        &self,
        order: &WorkOrder,
        claimed: &Claimed,
        numbers: &mut FactNumbers,
        cancellation: &CancellationToken,
    ) -> Result<ShimPlan, LaunchError> {
        let run = self.host.paths.session(order.session);
        make_private(&run)?;
        let (home, temporary) = (run.join("home"), run.join("tmp"));
        make_private(&home)?;
        make_private(&temporary)?;
        let (spec, settings) = (&order.agent, &order.settings);
        let mut undone = false;
        let (workspace, mut policy) = match order.workspace() {
            Some(needed) => {
                let launching = Launching { run: &run, spawn: claimed.spawn.as_str(), cancellation };
                let made = self.task_workspace(&needed, &launching).await?;
                let TaskWorkspace { workspace, branch, base, .. } = made;
                undone = made.undone;
                self.reporter.report(numbers, Fact::Branch { branch, base }).await;
                let policy = workspace.policy(&self.host.repository, spec).await?;
                (workspace.tree, policy)
            }
            // Whoever does no work itself gets a copy to look at.
            None => self.view(settings, spec, &run.join("view")).await?,
        };
        let text = prompt_for(settings, &workspace, spec, order.task.as_ref());
        let mcp_url = (spec.mode == Mode::Guided).then_some(self.options.mcp_url.as_str());
        let assignment = Assignment {
            spec,
            env: &order.env,
            prompt: &text,
            mcp_url,
            run: &run,
            workspace: &workspace,
            user: &self.host.user,
        };
        let launch = if undone {
            fs::write(self.host.paths.undone_by_git(order.session), "")?;
            say_undone()
        } else {
            assignment.check_env()?;
            clients::launch(&assignment)?
        };
        for (path, bytes) in &launch.files {
            write_private(path, bytes)?;
        }
        logins::remember(&run, &launch.logins)?;
        // The agent's definition may add programs of its own by a PATH.
        let own_path = order.env.get("PATH").map(|path| path.0.as_str());
        let toolchains = self.host.toolchains(own_path, Some(&launch.program));
        for file in &toolchains.home_files {
            let _ = fs::copy(file, home.join(file.file_name().unwrap_or_default()));
        }
        self.host.grant_common_access(&mut policy, settings, &toolchains, &[&home, &temporary]);
        policy.overlays = caches::overlays(&self.host, &home)?;
        policy.execute.extend(launch.readable);
        policy.read.extend(launch.stdin.clone());
        policy.read.extend(launch.files.iter().map(|(path, _)| path.clone()));
        if let (Some(ports), Some(own)) = (&mut policy.connect, port_of(&self.options.mcp_url)) {
            ports.push(own);
        }
        let mut env = self.host.environment(&home, &temporary, &toolchains);
        if order.task.is_some() && settings.isolation == Isolation::Worktree {
            // A worktree has the repository's configuration, which need not name anybody, and the user's HOME,
            // which usually does, is out of reach.
            env.extend(Author::of(spec).identity());
        }
        env.extend(order.env.iter().map(|(name, value)| (name.clone(), value.0.clone())));
        env.extend(launch.env);
        let mut secrets = launch.secrets;
        secrets.extend(board::secret_values(&order.env).map(str::to_owned));
        if let Some(url) = mcp_url {
            env.insert("SAIHAI_TOKEN".into(), claimed.credential.reveal().to_owned());
            env.insert("SAIHAI_MCP_URL".into(), url.to_owned());
            secrets.push(claimed.credential.reveal().to_owned());
        }
        Ok(ShimPlan {
            spawn: claimed.spawn.to_string(),
            directory: run.clone(),
            program: launch.program,
            arguments: launch.arguments,
            env,
            cwd: workspace,
            stdin: launch.stdin,
            sandbox: policy_in_mode(policy, settings.sandbox).await,
            wall: Duration::from_secs(spec.timeout.into()),
            stall: Some(Duration::from_secs(spec.stall_timeout.into())),
            grace: GRACE,
            ends_on_sigint: launch.ends_on_sigint,
            secrets,
            client: (!undone).then_some(spec.client),
            record: Durability::Durable,
        })
    }

    async fn view(
        &self,
        settings: &Settings,
        spec: &AgentSpec,
        directory: &Path,
    ) -> Result<(std::path::PathBuf, Policy), LaunchError> {
        let target = branch_ref(&settings.target_branch);
        self.host.follow(&settings.target_branch).await?;
        let mut looking = spec.clone();
        looking.scope.write.clear();
        looking.scope.scratch.clear();
        let Some(base) = AsyncGit::in_repository(&self.host.repository).commit(&target).await else {
            make_private(directory)?;
            let mut policy = Policy::system();
            policy.execute.push(directory.to_owned());
            return Ok((directory.to_owned(), policy));
        };
        let workspace_spec = WorkspaceSpec {
            repository: &self.host.repository,
            root: directory,
            branch: None,
            base: &base,
            agent: &looking,
            isolation: Isolation::Clone,
        };
        let workspace = Workspace::prepare(&workspace_spec).await?;
        let policy = workspace.policy(&self.host.repository, &looking).await?;
        Ok((workspace.tree, policy))
    }

    /// Makes the workspace of a task, or goes on with the one that is there.
    pub(super) async fn task_workspace(
        &self,
        order: &WorkspaceOrder,
        launching: &Launching<'_>,
    ) -> Result<TaskWorkspace, LaunchError> {
        let WorkspaceOrder { agent: spec, task, settings } = order;
        let main = AsyncGit::in_repository(&self.host.repository);
        let (root, refs) = (self.host.paths.workspace(task.id), self.host.refs(task.id));
        let isolation = settings.isolation;
        let target_name = &settings.target_branch;
        self.host.follow(target_name).await?;
        let mut kept = Workspace::at(&root, &self.host.repository, isolation).exists();
        if self.host.upstream.is_some() {
            let known = main.commit(&refs.work()).await;
            self.host.fetch_work(task.id).await?;
            if kept && known != main.commit(&refs.work()).await {
                // Another host's runner has worked on it since, and what is here would undo that.
                set_aside(&self.host, task.id, isolation, "outdated")?;
                kept = false;
            }
        }
        let mut known = main.refs(&[&branch_ref(target_name), &refs.work()]).await?;
        let target = known.remove(&branch_ref(target_name)).ok_or_else(|| {
            LaunchError::Refused(format!("There is no branch {target_name}. Make a first commit on it."))
        })?;
        let branch = task.branch.clone();
        // If the workspace is gone, the work continues from the commits that were fetched.
        let work = match known.remove(&refs.work()) {
            Some(work) if !main.is_ancestor(&work, &target).await? => Some(work),
            Some(_) | None => None,
        };
        let (base, start) = match (task.base.clone(), work) {
            (Some(base), _) if kept => (base.clone(), base),
            (Some(base), Some(work)) => (base, work),
            (Some(_) | None, _) => (target.clone(), target.clone()),
        };
        // The ref protects the commit from `git gc` in the user's repository (FACTS).
        main.run(&["update-ref", &refs.base(), &base]).await?;
        let workspace_spec = WorkspaceSpec {
            repository: &self.host.repository,
            root: &root,
            branch: Some(&branch),
            base: &start,
            agent: spec,
            isolation,
        };
        let workspace = Workspace::prepare(&workspace_spec).await?;
        let setup = SetupRun {
            host: &self.host,
            settings,
            workspace: &workspace,
            directory: launching.run,
            spawn: launching.spawn,
            untouched: !kept,
            merged: (!kept && start == target).then_some(target.as_str()),
            cancellation: launching.cancellation,
        };
        if let Err(error) = setup.run().await {
            // What a failed setup has left in a new workspace would pass for the agent's work later.
            if !kept {
                crate::gc::remove_workspace(&self.host, &root, isolation).await?;
            }
            return Err(error.into());
        }
        let sandbox = WorkspaceSandbox { host: &self.host, settings, task: task.id, workspace: &workspace };
        if let Some(Rejection::Conflict { .. }) = task.feedback {
            sandbox.merge_target(launching.run, Author::of(spec), &target).await?;
        }
        let mut undone = false;
        if !task.reverts.is_empty() && !kept && start == target {
            match sandbox.revert(launching.run, Author::of(spec), task.reverts.clone()).await {
                Ok(in_conflict) => undone = in_conflict.is_empty(),
                Err(error) => {
                    // So that the next try begins with it again.
                    crate::gc::remove_workspace(&self.host, &root, isolation).await?;
                    return Err(error.into());
                }
            }
        }
        Ok(TaskWorkspace { workspace, branch, base, undone })
    }
}

/// Nothing is thrown away: a workspace that cannot be used is kept under another name.
pub(super) fn set_aside(host: &RunnerHost, task: TaskId, isolation: Isolation, why: &str) -> io::Result<()> {
    let root = host.paths.workspace(task);
    let free = |aside: &PathBuf| !aside.exists();
    let aside =
        (1..).map(|number| root.with_extension(format!("{why}-{number}"))).find(free).unwrap_or_else(|| root.clone());
    let tree = Workspace::at(&root, &host.repository, isolation).tree;
    // In worktree mode the files lie in the repository.
    if !tree.starts_with(&root) {
        fs::rename(&tree, tree.with_extension(aside.extension().unwrap_or_default()))?;
    }
    fs::rename(&root, aside)
}

/// What runs in the place of an agent that is not needed.
fn say_undone() -> clients::Launch {
    let say = "echo 'git has undone these commits alone; no agent was started.'; git log --format='%h %s' -1";
    clients::Launch { program: "/bin/sh".into(), arguments: vec!["-c".into(), say.into()], ..Default::default() }
}

fn port_of(url: &str) -> Option<u16> {
    let host = url.strip_prefix("http://")?.split('/').next()?;
    host.rsplit_once(':')?.1.parse().ok()
}

fn make_private(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(path)
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    use std::os::unix::fs::OpenOptionsExt as _;
    if let Some(above) = path.parent() {
        make_private(above)?;
    }
    fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(path)?.write_all(bytes)
}
