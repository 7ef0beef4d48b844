//! `saihai worker run`

use std::time::Duration;

use board::wire;
use board::{AgentId, Board, Destination, OutputKind, SessionId, Status, TaskId};
use clap::Args;
use control::{ProcessLifetime, Project};
use runner::RunnerPaths;
use runner::shim::SessionLog;

use super::worker;
use crate::commands::serve::shutdown_signal;
use crate::commands::session::print_output;
use crate::context::{Context, OpenProject, say_in};
use crate::event_printer::print_events;
use crate::failure::{CliExit, Failure};
use crate::show::Format;
use crate::up_process::{UpOptions, UpProcess};

/// Run one worker on one task in the foreground, to its verdict
#[derive(Debug, Args)]
#[command(after_help = "\
Starts the task if it is not in progress, runs one session of its agent, shows its output, and ends
with the verdict: exit code 0 if the task is done, 1 if not. If `saihai up` is running, it starts
the agent and this command only watches. Ctrl-C stops the agent.")]
pub(crate) struct Run {
    /// The task, such as tsk_12 or 12
    task: TaskId,
    /// Give the task to this agent first
    #[arg(long)]
    agent: Option<AgentId>,
}

impl Run {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open_for(ProcessLifetime::LongLived).await?;
        let context = &context.speaking(opened.language);
        self.prepare(&opened).await?;
        let (language, text) = (opened.language, context.format == Format::Text);
        let (project, paths) = (opened.project.clone(), RunnerPaths::new(&context.home, &opened.id));
        let previous_session = opened.board().task(self.task).ok().and_then(|task| task.last_session);
        let watcher = SessionWatcher { project: project.clone(), paths, task: self.task, previous_session, text };
        let progress = if text { Format::Text } else { Format::Quiet };
        let options = UpOptions {
            listen: "127.0.0.1:0".parse().ok(),
            max_parallel: Some(1),
            only: Some(self.task),
            most_sessions: Some(1),
            stop_agents: true,
            ..UpOptions::default()
        };
        match UpProcess::open(context, opened, options).await {
            Ok(process) => {
                let print_until_verdict = async |events, notices| {
                    tokio::select! {
                        () = print_events(events, notices, language, progress, |_| true) => {}
                        () = watcher.until_verdict() => {}
                    }
                };
                process.run(shutdown_signal(), print_until_verdict).await?;
            }
            // `saihai up` is running, and starts the session.
            Err(failure) if failure.code == "already_running" => tokio::select! {
                () = watcher.until_verdict() => {}
                () = shutdown_signal() => {}
            },
            Err(failure) => return Err(failure),
        }
        self.conclude(context, &project.board(), previous_session)
    }

    /// Assigns and starts the task if it is not assigned and started yet.
    async fn prepare(&self, opened: &OpenProject) -> Result<(), Failure> {
        let (task, agent) = worker(opened, self.task, self.agent.as_ref())?;
        if task.assignee.as_ref() != Some(agent.id()) {
            let assignee = Some(agent.id().clone());
            opened.submit(board::Command::AssignTask { task: task.id, assignee, forced: false }).await?;
        }
        if task.status != Status::InProgress {
            let to = Destination::Status(Status::InProgress);
            opened
                .submit(board::Command::MoveTask { task: task.id, to, reason: None, forced: false, merged: false })
                .await?;
        }
        Ok(())
    }

    fn conclude(&self, context: &Context, board: &Board, previous_session: Option<SessionId>) -> Result<(), Failure> {
        let language = context.language_of(board);
        let say = |en: String, ja: String| say_in(language, en, ja);
        let task = board.task(self.task).map_err(|refusal| Failure::refused(&refusal, language))?;
        let id = task.id;
        let session =
            task.last_session.filter(|last| Some(*last) != previous_session).and_then(|id| board.session(id).ok());
        let Some(session) = session else {
            return Err(Failure::new(
                CliExit::Refused,
                "not_judged",
                say(format!("{id} was not judged."), format!("{id} は判定されませんでした。")),
                say(
                    format!("`saihai task why {id}` says why."),
                    format!("理由は `saihai task why {id}` で分かります。"),
                ),
            ));
        };
        let view = wire::Session::from(session);
        let done = task.status == Status::Done;
        let (session_id, verdict, status) = (session.id, view.verdict.unwrap_or("none"), task.status);
        context.format.print(
            &view,
            || vec![session.id.to_string()],
            || {
                say(
                    format!("{session_id}: verdict {verdict}; {id} is {status}."),
                    format!("{session_id}: 判定 {verdict}。{id} は {status} です。"),
                )
            },
        )?;
        if done {
            return Ok(());
        }
        Err(Failure::new(
            CliExit::Refused,
            "not_done",
            say(format!("{id} is {status}, not done."), format!("{id} は {status} で、完了していません。")),
            say(
                format!("`saihai task why {id}` says what must happen."),
                format!("必要なことは `saihai task why {id}` で分かります。"),
            ),
        ))
    }
}

/// Waits for the verdict on the next session of a task, and shows its log meanwhile.
struct SessionWatcher {
    project: Project,
    paths: RunnerPaths,
    task: TaskId,
    previous_session: Option<SessionId>,
    text: bool,
}

impl SessionWatcher {
    async fn until_verdict(&self) {
        let mut position = 0;
        loop {
            let board = self.project.board();
            let Ok(task) = board.task(self.task) else { return };
            let session = task.live.or(task.last_session).filter(|id| Some(*id) != self.previous_session);
            if let Some(id) = session.filter(|_| self.text) {
                while let Ok(page) = SessionLog::of(&self.paths.session(id), OutputKind::Raw).read(position, 64 * 1024)
                    && !page.bytes.is_empty()
                {
                    position = page.end();
                    print_output(&page.bytes);
                }
            }
            let judged =
                task.last_session.is_some_and(|last| Some(last) != self.previous_session) && task.live.is_none();
            // Moved back, blocked or cancelled before a session began.
            let off = task.live.is_none() && task.status != Status::InProgress;
            if judged || off {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
    }
}
