//! `saihai session start`

use board::wire;
use board::{AgentId, Command, Driver, EventKind, Purpose, TaskId};
use clap::Args;
use git::Git;
use serde_json::json;

use crate::context::{Context, owner};
use crate::failure::Failure;

/// Claim a task for an agent that you run by hand; runners leave it alone
#[derive(Debug, Args)]
#[command(after_help = "\
Moves the task to in_progress and prints the session. Work on the branch that it names, then
record the result with `saihai session end`.

Example:
  SESSION=$(saihai session start 1 --agent coder --quiet)")]
pub(crate) struct Start {
    /// The task, such as tsk_12 or 12
    task: TaskId,
    /// Who does it
    #[arg(long)]
    agent: AgentId,
    /// Do it even if the task is another's to move; this is recorded
    #[arg(long)]
    force: bool,
}

impl Start {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let claim = Command::Claim {
            agent: self.agent,
            purpose: Purpose::Task(self.task),
            driver: Driver::Hand,
            credential: None,
            forced: self.force,
        };
        let board = opened.board();
        board::admit(&board, &owner(), &claim, opened.now()).map_err(|refusal| opened.refusal(refusal))?;
        let task = board.task(self.task).map_err(|refusal| opened.refusal(refusal))?;
        // The commit where the work begins: without it nobody could tell later whether there is any work.
        let branch = task.branch_name();
        let base = Git::for_command_line(&opened.path).branch_commit(&board.settings.target_branch);
        if let (None, Some(base)) = (&task.base_commit, base) {
            opened.submit(Command::RecordBranch { task: task.id, branch: branch.clone(), base }).await?;
        }
        let receipt = opened.submit(claim).await?;
        let id = receipt.events.iter().find_map(|event| match event.what {
            EventKind::SessionClaimed { session, .. } => Some(session),
            _ => None,
        });
        let id = id.expect("an accepted claim opens a session");
        let session = receipt.after.session(id).map_err(|refusal| opened.refusal(refusal))?;
        let mut view = serde_json::to_value(wire::Session::from(session)).unwrap_or_default();
        view["branch"] = json!(branch);
        context.format.print(&view, || vec![id.to_string()], || {
            let task = task.id;
            opened.say(
                format!("{id} has claimed {task}. Work on the branch {branch}.\nNext: saihai session end {id} --exit-code N"),
                format!("{id} が {task} を担当します。ブランチ {branch} で作業してください。\n次: saihai session end {id} --exit-code N"),
            )
        })
    }
}
