//! `saihai session start`

use board::wire;
use board::{AgentId, Board, Command, Driver, EventKind, Purpose, Task, TaskId};
use clap::Args;
use git::Git;
use serde_json::json;

use crate::context::{Context, OpenProject, owner};
use crate::failure::{CliExit, Failure};
use crate::hand_worktree::HandWorktree;

/// Claim a task for an agent that you run by hand; runners leave it alone
#[derive(Debug, Args)]
#[command(after_help = "\
Moves the task to in_progress and prints the session. Work on the branch that it names, then
record the result with `saihai session end`. With --worktree the branch is checked out in
.worktrees/task-N, with the files that the agent's scope names; without it the commands for that
are printed.

Examples:
  SESSION=$(saihai session start 1 --agent coder --quiet)
  saihai session start 1 --agent coder --branch login --worktree")]
pub(crate) struct Start {
    /// The task, such as tsk_12 or 12
    task: TaskId,
    /// Who does it
    #[arg(long)]
    agent: AgentId,
    /// The branch of the work [default: task-N-TITLE]
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// Make a worktree for it in .worktrees/task-N
    #[arg(long)]
    worktree: bool,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Start {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let claim = Command::Claim {
            agent: self.agent.clone(),
            purpose: Purpose::Task(self.task),
            driver: Driver::Hand,
            credential: None,
            forced: self.force,
        };
        let board = opened.board();
        board::admit(&board, &owner(), &claim, opened.now()).map_err(|refusal| opened.refusal(refusal))?;
        let task = board.task(self.task).map_err(|refusal| opened.refusal(refusal))?;
        let branch = self.branch_of(&opened, &board, task)?;
        let agent = board.agent(&self.agent).map_err(|refusal| opened.refusal(refusal))?;
        let base = base_commit(&opened, &board, task, &branch);
        let worktree =
            base.as_ref().map(|base| HandWorktree::new(&opened.path, task.id, &branch, base, &agent.spec.scope));
        if self.worktree {
            make_worktree(&opened, worktree.as_ref())?;
        }
        // Where the work begins: without it nobody could tell later whether there is any work.
        if let Some(base) = base {
            opened.submit(Command::RecordBranch { task: task.id, branch: branch.clone(), base }).await?;
        }
        let receipt = opened.submit(claim).await?;
        let id = receipt.events.iter().find_map(|event| match event.what {
            EventKind::SessionClaimed { session, .. } => Some(session),
            _ => None,
        });
        let id = id.expect("an accepted claim opens a session");
        let session = receipt.after.session(id).map_err(|refusal| opened.refusal(refusal))?;
        let path = worktree.as_ref().filter(|_| self.worktree).map(|tree| tree.path().to_string_lossy().into_owned());
        let mut view = serde_json::to_value(wire::Session::from(session)).unwrap_or_default();
        view["branch"] = json!(branch);
        view["worktree"] = json!(path);
        context.format.print(
            &view,
            || vec![id.to_string()],
            || {
                let task = task.id;
                let mut lines = vec![opened.say(
                    format!("{id} has claimed {task}. Work on the branch {branch}."),
                    format!("{id} が {task} を担当します。ブランチ {branch} で作業してください。"),
                )];
                match (&path, &worktree) {
                    (Some(path), _) => {
                        lines.push(opened.say(format!("It is checked out in {path}"), format!("作業場所: {path}")))
                    }
                    (None, Some(worktree)) => {
                        lines.push(opened.say("A worktree for it is made with:", "ワークツリーを作るには:").to_owned());
                        lines.extend(worktree.commands().iter().map(|command| format!("  {command}")));
                    }
                    (None, None) => {}
                }
                lines.push(opened.say(
                    format!("Next: saihai worker command {task}, then saihai session end {id} --exit-code N"),
                    format!("次: saihai worker command {task}、終わったら saihai session end {id} --exit-code N"),
                ));
                lines.join("\n")
            },
        )
    }

    /// The branch that is asked for, or the one that the task has.
    fn branch_of(&self, opened: &OpenProject, board: &Board, task: &Task) -> Result<String, Failure> {
        let Some(branch) = &self.branch else { return Ok(task.branch_name()) };
        let git = Git::for_command_line(&opened.path);
        if git.run(&["check-ref-format", "--branch", branch]).is_err() {
            return Err(Failure::bad_argument(
                opened.say(
                    format!("`{branch}` is no name for a branch."),
                    format!("`{branch}` はブランチ名にできません。"),
                ),
                opened.say("See `git help check-ref-format`.", "`git help check-ref-format` を見てください。"),
            ));
        }
        if *branch == board.settings.target_branch {
            return Err(Failure::bad_argument(
                opened.say(
                    format!("{branch} is the branch that work is merged into."),
                    format!("{branch} はマージ先のブランチです。"),
                ),
                opened.say("Name another one with --branch.", "--branch で別の名前を指定してください。"),
            ));
        }
        Ok(branch.clone())
    }
}

/// Where the work on the branch begins, if there is a commit at all.
fn base_commit(opened: &OpenProject, board: &Board, task: &Task, branch: &str) -> Option<String> {
    if task.branch.as_deref() == Some(branch) && task.base_commit.is_some() {
        return task.base_commit.clone();
    }
    let git = Git::for_command_line(&opened.path);
    let target = git.branch_commit(&board.settings.target_branch)?;
    match git.branch_commit(branch) {
        Some(there) => git.fork(&target, &there).or(Some(target)),
        None => Some(target),
    }
}

fn make_worktree(opened: &OpenProject, worktree: Option<&HandWorktree>) -> Result<(), Failure> {
    let failed = |message: String| {
        let hint = opened.say(
            "Nothing was claimed. Remove what is in the way, or leave out --worktree and make one yourself.",
            "何も開始していません。邪魔なものを取り除くか、--worktree を付けずに自分で作成してください。",
        );
        Failure::new(CliExit::Conflict, "no_worktree", message, hint)
    };
    let Some(worktree) = worktree else {
        return Err(failed(
            opened.say("There is no commit to begin with.", "始点となるコミットがありません。").to_owned(),
        ));
    };
    worktree.make().map_err(|error| failed(error.to_string()))
}
