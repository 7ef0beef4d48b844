//! How does a claimed session come to run?

use std::fs;
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use board::{
    Agent, AgentSpec, Board, Command, EndReason, Hierarchy, Isolation, Mode, Purpose, Rejection, Session, Task,
};
use git::{AsyncGit, TaskRefs, branch_ref};

use super::session::Claimed;
use super::{Inner, logins};
use crate::clients::{self, Assignment};
use crate::host::policy_in_mode;
use crate::prompt::{PromptInput, prompt};
use crate::sandbox::Policy;
use crate::shim::{ExitRecord, GRACE, ShimPlan};
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
    #[error("{0}")]
    Io(#[from] io::Error),
    #[error("{0}")]
    Refused(String),
}

/// The prompt of an agent for a task of a board.
#[must_use]
pub fn prompt_for(board: &Board, repository: &Path, spec: &AgentSpec, purpose: Purpose) -> String {
    let (entries, _) = definitions::memory::list(&repository.join(".saihai"));
    let memory: Vec<_> = entries.iter().map(|entry| (entry.path.display().to_string(), entry.title.clone())).collect();
    let task = purpose.task().and_then(|id| board.task(id).ok());
    let (project, language) = (board.settings.id.as_str(), board.settings.language);
    prompt(&PromptInput { spec, project, language, task, memory: &memory })
}

impl Inner {
    /// Makes the workspace, and says how the client is started in it.
    pub(super) async fn prepare(&self, session: &Session, claimed: &Claimed) -> Result<ShimPlan, ExitRecord> {
        let plan = self.try_prepare(session, claimed).await;
        plan.map_err(|error| ExitRecord::because(EndReason::LaunchFailed, error.to_string()))
    }

    async fn try_prepare(&self, session: &Session, claimed: &Claimed) -> Result<ShimPlan, LaunchError> {
        let board = self.project.board();
        let refused = |refusal: board::Refusal| LaunchError::Refused(refusal.to_string());
        let agent = board.agent(&session.agent).map_err(refused)?;
        let run = self.host.paths.session(session.id);
        make_private(&run)?;
        let (home, temporary) = (run.join("home"), run.join("tmp"));
        make_private(&home)?;
        make_private(&temporary)?;
        let task = session.task().map(|id| board.task(id)).transpose().map_err(refused)?;
        let (workspace, mut policy) = self.workspace(&board, agent, task, &run).await?;
        let spec = &agent.spec;
        let text = prompt_for(&board, &self.host.repository, spec, session.purpose);
        let mcp_url = (spec.mode == Mode::Guided).then_some(self.options.mcp_url.as_str());
        let assignment =
            Assignment { spec, prompt: &text, mcp_url, run: &run, workspace: &workspace, user: &self.host.user };
        let launch = clients::launch(&assignment)?;
        for (path, bytes) in &launch.files {
            write_private(path, bytes)?;
        }
        logins::remember(&run, &launch.logins)?;
        self.host.grant_common_access(&mut policy, &board.settings, &[&home, &temporary]);
        policy.execute.extend(launch.readable);
        // The agent's definition may add programs of its own by a PATH.
        let own_path = spec.env.get("PATH").map(|path| path.0.as_str()).unwrap_or_default();
        policy.execute.extend(std::env::split_paths(own_path).filter(|path| path.is_absolute()));
        policy.read.extend(launch.stdin.clone());
        policy.read.extend(launch.files.iter().map(|(path, _)| path.clone()));
        if let (Some(ports), Some(own)) = (&mut policy.connect, port_of(&self.options.mcp_url)) {
            ports.push(own);
        }
        let mut env = self.host.environment(&home, &temporary);
        if task.is_some() && board.settings.isolation == Isolation::Worktree {
            // A worktree has the repository's configuration, which need not name anybody, and the user's HOME,
            // which usually does, is out of reach.
            env.extend(Author::of(spec).identity());
        }
        env.extend(spec.env.iter().map(|(name, value)| (name.clone(), value.0.clone())));
        env.extend(launch.env);
        let mut secrets = launch.secrets;
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
            sandbox: policy_in_mode(policy, board.settings.sandbox),
            wall: Duration::from_secs(spec.timeout.into()),
            stall: Some(Duration::from_secs(spec.stall_timeout.into())),
            grace: GRACE,
            ends_on_sigint: launch.ends_on_sigint,
            secrets,
            client: Some(spec.client),
        })
    }

    /// Where the session works, and what it may touch there: a worker its task's own workspace,
    /// everybody else a copy to look at.
    async fn workspace(
        &self,
        board: &Arc<Board>,
        agent: &Agent,
        task: Option<&Task>,
        run: &Path,
    ) -> Result<(std::path::PathBuf, Policy), LaunchError> {
        match task.filter(|_| agent.spec.hierarchy == Hierarchy::Worker) {
            Some(task) => {
                let workspace = self.task_workspace(board, &agent.spec, task, run).await?;
                let policy = workspace.policy(&self.host.repository, &agent.spec).await?;
                Ok((workspace.tree, policy))
            }
            None => self.view(board, &agent.spec, &run.join("view")).await,
        }
    }

    async fn view(
        &self,
        board: &Board,
        spec: &AgentSpec,
        directory: &Path,
    ) -> Result<(std::path::PathBuf, Policy), LaunchError> {
        let target = branch_ref(&board.settings.target_branch);
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

    pub(super) async fn task_workspace(
        &self,
        board: &Board,
        spec: &AgentSpec,
        task: &Task,
        run: &Path,
    ) -> Result<Workspace, LaunchError> {
        let main = AsyncGit::in_repository(&self.host.repository);
        let (root, refs) = (self.host.paths.workspace(task.id), TaskRefs::of(task.id));
        let isolation = board.settings.isolation;
        let target_name = &board.settings.target_branch;
        let target = main.commit(&branch_ref(target_name)).await.ok_or_else(|| {
            LaunchError::Refused(format!("There is no branch {target_name}. Make a first commit on it."))
        })?;
        let branch = task.branch_name();
        let kept = Workspace::at(&root, &self.host.repository, isolation).exists();
        // If the workspace is gone, the work continues from the commits that were fetched.
        let work = main.commit(&refs.work()).await;
        let work = match work {
            Some(work) if !main.is_ancestor(&work, &target).await? => Some(work),
            Some(_) | None => None,
        };
        let (base, start) = match (task.base_commit.clone(), work) {
            (Some(base), _) if kept => (base.clone(), base),
            (Some(base), Some(work)) => (base, work),
            (Some(_) | None, _) => (target.clone(), target.clone()),
        };
        // The ref protects the commit from `git gc` in the user's repository (FACTS).
        main.run(&["update-ref", &refs.base(), &base]).await?;
        self.report(Command::RecordBranch { task: task.id, branch: branch.clone(), base: base.clone() }).await;
        let workspace_spec = WorkspaceSpec {
            repository: &self.host.repository,
            root: &root,
            branch: Some(&branch),
            base: &start,
            agent: spec,
            isolation,
        };
        let workspace = Workspace::prepare(&workspace_spec).await?;
        if let Some(Rejection::Conflict { .. }) = task.feedback {
            let sandbox =
                WorkspaceSandbox { host: &self.host, settings: &board.settings, task: task.id, workspace: &workspace };
            sandbox.merge_target(run, Author::of(spec), &target).await?;
        }
        Ok(workspace)
    }
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
