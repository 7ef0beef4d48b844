//! How does the owner's orchestrator follow the work: differences, logs and changes (M6)?

use std::sync::Arc;
use std::time::Duration;

use board::wire::TaskItem;
use board::{Board, OutputName, Seq, SessionId, Task, Tool};
use control::ControlError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use server::{LocalFiles, LogFrom};

use super::directing::{bad, repository};
use super::tasks::shortened;
use crate::arguments::TaskRef;
use crate::call::Call;
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};

/// In bytes: a context has to hold it.
const LONGEST_DIFF: usize = 64 * 1024;
const LONGEST_LOG: usize = 64 * 1024;
const LOG: usize = 8 * 1024;

/// In seconds. Clients give up after a minute or so.
const WAIT: u64 = 25;
const LONGEST_WAIT: u64 = 50;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetDiff {
    task_id: TaskRef,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct TaskDiff {
    text: String,
    /// There is more.
    cut: bool,
}

impl ToolHandler for GetDiff {
    const TOOL: Tool = Tool::GetDiff;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase =
        phrase("What a task's work changes, as git shows it.", "タスクの作業による変更を、git の差分で返します。");
    type Answer = TaskDiff;

    async fn run(self, call: Call) -> Result<TaskDiff, ControlError> {
        let access = call.board_access().await?;
        let (repository, board) = (repository(&call, &access), Arc::clone(access.board()));
        let task = board.task(self.task_id.0)?.clone();
        let look = move |files: &dyn LocalFiles| files.diff(&repository, &board, &task, LONGEST_DIFF);
        let found = call.server().look(look).await.flatten();
        let found = found.ok_or_else(|| bad(format!("there is no work on {} on this machine yet", self.task_id.0)))?;
        Ok(TaskDiff { text: found.text, cut: found.cut })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetSessionLog {
    /// such as `ses_3`
    session_id: Option<String>,
    /// instead: the last session of this task
    task_id: Option<TaskRef>,
    /// the last bytes of it; default 8192, at most 65536
    limit: Option<usize>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct SessionLog {
    #[schemars(with = "String")]
    session_id: SessionId,
    /// The end of what it has printed.
    text: String,
    /// There is more before it.
    cut: bool,
}

impl ToolHandler for GetSessionLog {
    const TOOL: Tool = Tool::GetSessionLog;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase =
        phrase("The end of what a session's client has printed.", "セッションのクライアントの出力の末尾を返します。");
    type Answer = SessionLog;

    async fn run(self, call: Call) -> Result<SessionLog, ControlError> {
        let access = call.board_access().await?;
        let board = access.board();
        let session_id = match (&self.session_id, self.task_id) {
            (Some(name), None) => {
                name.trim().parse().map_err(|_| bad(format!("`{}` is no session", shortened(name))))?
            }
            (None, Some(TaskRef(task))) => {
                let last = board.sessions_of(board.task(task)?).map(|session| session.id).max();
                last.ok_or_else(|| bad(format!("{task} has had no session")))?
            }
            (None, None) | (Some(_), Some(_)) => return Err(bad("give `session_id` or `task_id`")),
        };
        board.session(session_id)?;
        let (project, limit) = (board.settings.id.clone(), self.limit.unwrap_or(LOG).clamp(1, LONGEST_LOG));
        let page = call.server().session_output(&project, OutputName::raw(session_id), LogFrom::Tail, limit).await?;
        let page = page.ok_or_else(|| bad(format!("there is no log of {session_id}")))?;
        let text = String::from_utf8_lossy(&page.bytes).into_owned();
        Ok(SessionLog { session_id, text, cut: page.start > page.oldest })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct WaitForChanges {
    /// `events` of the last answer; default: now
    after: Option<Seq>,
    /// at most 50; default 25
    timeout_seconds: Option<u64>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Changes {
    /// Pass it as `after` to miss nothing.
    events: Seq,
    /// The tasks that something has happened to.
    tasks: Vec<TaskItem>,
}

impl ToolHandler for WaitForChanges {
    const TOOL: Tool = Tool::WaitForChanges;
    const WHO: AllowedCaller = AllowedCaller::Orchestrator;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase = phrase(
        "Wait until something happens to a task, and say to which; empty if nothing did.",
        "タスクに何か起きるまで待ち、どのタスクかを返します。何もなければ空です。",
    );
    type Answer = Changes;

    async fn run(self, call: Call) -> Result<Changes, ControlError> {
        let access = call.board_access().await?;
        let after = self.after.unwrap_or(access.board().seq);
        let longest = Duration::from_secs(self.timeout_seconds.unwrap_or(WAIT).min(LONGEST_WAIT));
        let mut boards = access.project().writer().watch();
        let has_changed = |board: &Arc<Board>| changed_after(board, after).next().is_some();
        tokio::select! {
            _ = boards.wait_for(has_changed) => {}
            () = tokio::time::sleep(longest) => {}
            () = call.gone.cancelled() => {}
        }
        let board = access.project().board();
        let mut tasks: Vec<_> = changed_after(&board, after).map(TaskItem::from).collect();
        tasks.sort_by_key(|task| task.id);
        Ok(Changes { events: board.seq, tasks })
    }
}

fn changed_after(board: &Board, after: Seq) -> impl Iterator<Item = &Task> {
    let newest = move |task: &&Task| task.events.last().is_some_and(|last| last > after);
    board.tasks.values().map(Arc::as_ref).filter(newest)
}
