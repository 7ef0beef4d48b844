//! What an agent does about itself: its next action, its task, its report.

use std::sync::Arc;
use std::time::Duration;

use board::wire::TaskSummary;
use board::{Answer, Command, JudgedBy, NextAction, Outcome, Tool, replies};
use control::ControlError;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::answers::{Done, RenderedNextAction, TaskInfo};
use crate::arguments::outcomes;
use crate::call::Call;
use crate::caller::CallingSession;
use crate::phrase::{Phrase, phrase};
use crate::tool::{AllowedCaller, Effect, ToolHandler};

/// Clients give up on a call after a minute (N2.5).
const LONGEST_WAIT: u64 = 45;

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetNextAction {
    /// how long to wait for a message, at most 45
    timeout_seconds: Option<u64>,
}

impl ToolHandler for GetNextAction {
    const TOOL: Tool = Tool::GetNextAction;
    const WHO: AllowedCaller = AllowedCaller::Session;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "What to do next. Do it, then call this again.",
        "次にすることを返します。それを実行してから、もう一度呼んでください。",
    );
    type Answer = RenderedNextAction;

    async fn run(self, call: Call) -> Result<RenderedNextAction, ControlError> {
        let session = call.session()?;
        session.mark_counted();
        let longest = Duration::from_secs(self.timeout_seconds.unwrap_or(LONGEST_WAIT).min(LONGEST_WAIT));
        let answer = next_or_wait(&call, session, longest).await?;
        Ok(call.state.next_actions.rendered(answer, session.board.settings.language))
    }
}

/// The next action; if that is to wait for a message, what there is when one arrives, at the end of
/// the wait, or when the server closes or the client has gone.
async fn next_or_wait(call: &Call, session: &CallingSession, longest: Duration) -> Result<Arc<Answer>, ControlError> {
    let answer = session.project.next_action_on(Arc::clone(&session.board), session.id).await?;
    if answer.action != NextAction::WaitForMessages {
        return Ok(answer);
    }
    let mut boards = session.project.writer().watch();
    let clock = session.project.clock();
    let moved = async {
        let elsewhere = |board: &Arc<board::Board>| {
            let next = board::next_action(board, session.id, clock.now());
            next.map_or(true, |(step, _)| step != NextAction::WaitForMessages)
        };
        // A writer that is gone has nothing more to tell: asking it says so.
        let _ = boards.wait_for(elsewhere).await;
    };
    tokio::select! {
        () = moved => session.project.next_action(session.id).await,
        () = tokio::time::sleep(longest) => session.project.next_action(session.id).await,
        () = call.server().shutdown().cancelled() => Ok(answer),
        () = call.gone.cancelled() => Ok(answer),
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportModel {
    provider: String,
    model_id: String,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ModelAnswer {
    success: bool,
    /// It is the one on the roster.
    verified: bool,
    message: String,
}

impl ToolHandler for ReportModel {
    const TOOL: Tool = Tool::ReportModel;
    const WHO: AllowedCaller = AllowedCaller::Session;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase("Say which model you are.", "自分がどのモデルかを申告します。");
    type Answer = ModelAnswer;

    async fn run(self, call: Call) -> Result<ModelAnswer, ControlError> {
        let session = call.session()?;
        let Self { provider, model_id } = self;
        let receipt = session.submit(Command::ReportModel { provider, model_id }).await?;
        let known = receipt.after.session(session.id)?;
        let verified = known.model.as_ref().is_some_and(|model| model.matches);
        let message = replies::model_reported(verified, receipt.after.settings.language);
        Ok(ModelAnswer { success: true, verified, message })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetMyProfile {}

/// A roster entry, as its agent sees it.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Profile {
    pub(crate) id: String,
    pub(crate) name: String,
    pub(crate) hierarchy_type: &'static str,
    pub(crate) role_type: String,
    pub(crate) skills: Vec<String>,
    pub(crate) parent: Option<String>,
    pub(crate) model: Option<String>,
    pub(crate) max_sessions: u32,
    pub(crate) scope: ScopeInfo,
}

/// Which files it sees and may change, as gitignore patterns.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct ScopeInfo {
    read: Vec<String>,
    write: Vec<String>,
    exclude: Vec<String>,
}

impl Profile {
    pub(crate) fn of(agent: &board::Agent) -> Self {
        let spec = &agent.spec;
        Self {
            id: spec.id.to_string(),
            name: spec.name.clone(),
            hierarchy_type: spec.hierarchy.as_str(),
            role_type: spec.role.clone(),
            skills: spec.skills.clone(),
            parent: spec.parent.as_ref().map(ToString::to_string),
            model: spec.model.clone(),
            max_sessions: spec.max_sessions,
            scope: ScopeInfo {
                read: spec.scope.read.clone(),
                write: spec.scope.write.clone(),
                exclude: spec.scope.exclude.clone(),
            },
        }
    }
}

impl ToolHandler for GetMyProfile {
    const TOOL: Tool = Tool::GetMyProfile;
    const WHO: AllowedCaller = AllowedCaller::Session;
    const EFFECT: Effect = Effect::Read;
    const ABOUT: Phrase =
        phrase("Your own roster entry: role, scope, manager.", "名簿にある自分の情報（役割、範囲、上司）を返します。");
    type Answer = Profile;

    async fn run(self, call: Call) -> Result<Profile, ControlError> {
        Ok(Profile::of(call.session()?.agent()?))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetMyTask {}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct MyTask {
    task: TaskInfo,
    /// What it is a part of.
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<TaskSummary>,
    /// What it builds on, with what was achieved there.
    dependencies: Vec<TaskSummary>,
    /// What your work will be judged by; a manager's is judged by its subtasks.
    #[serde(skip_serializing_if = "Option::is_none")]
    judged_by: Option<JudgedBy>,
    #[serde(skip_serializing_if = "Option::is_none")]
    working_directory: Option<String>,
}

impl ToolHandler for GetMyTask {
    const TOOL: Tool = Tool::GetMyTask;
    const WHO: AllowedCaller = AllowedCaller::TaskSession;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Your task in full: description, comments, feedback, notes, steps, and what it is judged by.",
        "自分のタスクのすべて（説明、コメント、指摘、記録、ステップ、判定の基準）を返します。",
    );
    type Answer = MyTask;

    async fn run(self, call: Call) -> Result<MyTask, ControlError> {
        let session = call.session()?;
        let receipt = session.submit(Command::FetchTask).await?;
        let board = receipt.after;
        let task = board.task(session.task()?.id)?;
        let parent = task.parent.and_then(|id| board.tasks.get(&id));
        let needed = task.dependencies.iter().filter_map(|id| board.tasks.get(id));
        let worker = board.agents.get(&board.session(session.id)?.agent).filter(|agent| !agent.is_manager());
        let judged_by = worker.map(|agent| JudgedBy::of(&board.settings, &agent.spec, task.task_type, task.completion));
        Ok(MyTask {
            task: TaskInfo::of(&board, task),
            parent: parent.map(|parent| TaskSummary::of(parent).with_description(parent)),
            dependencies: needed.map(|task| TaskSummary::of(task).with_summary(task)).collect(),
            judged_by,
            working_directory: call.state.working_directory(session),
        })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct ReportCompleted {
    #[schemars(schema_with = "outcomes")]
    result: Outcome,
    summary: String,
    next_steps: Option<String>,
}

#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Reported {
    success: bool,
    result: &'static str,
    /// What will be judged, and what to do now.
    message: String,
}

impl ToolHandler for ReportCompleted {
    const TOOL: Tool = Tool::ReportCompleted;
    const WHO: AllowedCaller = AllowedCaller::TaskSession;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Report that your task is finished, failed or blocked. Facts decide if it is done.",
        "自分のタスクの完了、失敗、ブロックを報告します。完了かどうかは事実で決まります。",
    );
    type Answer = Reported;

    async fn run(self, call: Call) -> Result<Reported, ControlError> {
        let session = call.session()?;
        let Self { result, summary, next_steps } = self;
        let receipt = session.submit(Command::ReportCompleted { result, summary, next_steps }).await?;
        let message = replies::reported(&receipt.after, receipt.after.session(session.id)?, result);
        Ok(Reported { success: true, result: result.as_str(), message })
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct SaveContext {
    progress: Option<String>,
    findings: Option<String>,
    blockers: Option<String>,
    next_steps: Option<String>,
    /// what the project should remember, for the owner to accept
    decision: Option<String>,
}

impl ToolHandler for SaveContext {
    const TOOL: Tool = Tool::SaveContext;
    const WHO: AllowedCaller = AllowedCaller::TaskSession;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "Leave notes for whoever works on your task next.",
        "次にこのタスクに取り組む人のために記録を残します。",
    );
    type Answer = Done;

    async fn run(self, call: Call) -> Result<Done, ControlError> {
        let session = call.session()?;
        let Self { progress, findings, blockers, next_steps, decision } = self;
        let context = board::Context { progress, findings, blockers, next_steps };
        let receipt = session.submit(Command::SaveContext { context, decision }).await?;
        Ok(Done::saying(replies::context_saved(receipt.after.settings.language)))
    }
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Logout {}

impl ToolHandler for Logout {
    const TOOL: Tool = Tool::Logout;
    const WHO: AllowedCaller = AllowedCaller::Session;
    const EFFECT: Effect = Effect::Idempotent;
    const ABOUT: Phrase = phrase(
        "End this session. Call it when told to, then stop.",
        "このセッションを終えます。指示されたら呼び、そこで作業をやめてください。",
    );
    type Answer = Done;

    async fn run(self, call: Call) -> Result<Done, ControlError> {
        let receipt = call.session()?.submit(Command::Logout).await?;
        Ok(Done::saying(replies::logged_out(receipt.after.settings.language)))
    }
}
