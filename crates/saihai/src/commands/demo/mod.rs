//! `saihai demo`: what is Saihai, in a minute?

mod agent;
mod mcp;
mod scenario;

use std::io::{IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use board::{AgentId, Board, Client, Command, Destination, EventKind, NewTask, Status, TaskId, TaskType, Verdict};
use clap::Args;
use control::ProcessLifetime;
use serde_json::json;

pub(crate) use self::agent::run_scripted_agent;

use super::serve::{login_url, shutdown_signal};
use crate::context::Context;
use crate::event_printer::print_events;
use crate::failure::Failure;
use crate::show::Format;
use crate::up_process::{UpOptions, UpProcess};

/// Watch a team at work in a scratch repository
#[derive(Debug, Args)]
#[command(after_help = "\
A manager splits a small feature among three workers. They are real processes that speak real MCP
and make real commits: one reports success without having done anything, one fails its check and
repairs its work, one runs into a conflict and resolves it. Nothing outside of a temporary directory
is touched.

It serves the board until Ctrl-C and then removes everything. With --exit it ends when all work is
merged.")]
pub(crate) struct Demo {
    /// End when the work is merged
    #[arg(long)]
    exit: bool,
    /// Use a real client instead of scripted agents
    #[arg(long, value_name = "CLIENT", default_value = "command")]
    client: Client,
    /// Keep the scratch directory
    #[arg(long)]
    keep: bool,
    /// Milliseconds that agents pause before each action [default: 300 in a terminal, else 0]
    #[arg(long, value_name = "MS")]
    pace: Option<u32>,
    /// Where to listen [default: any free port on this machine]
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:0")]
    listen: server::Listen,
}

const INTRODUCTION: &str = "\
Saihai runs a team of AI coding agents on a git repository, and trusts only facts.
Here a manager (lead) and three workers (aiko, bernd, chloe) teach a small program three languages.
Watch: aiko reports success without any work, bernd's work fails its check, chloe's has a conflict.
";

const INTRODUCTION_JA: &str = "\
Saihai は git リポジトリで AI コーディングエージェントのチームを動かし、事実だけを信じます。
ここではマネージャー（lead）と 3 人のワーカー（aiko、bernd、chloe）が、小さなプログラムに 3 つの言語を教えます。
見どころ: aiko は何もせずに成功と報告し、bernd の作業はチェックに落ち、chloe の作業は競合します。
";

impl Demo {
    pub(crate) async fn run(self, context: &Context) -> Result<(), Failure> {
        let scratch = tempfile::Builder::new().prefix("saihai-demo-").tempdir();
        let scratch = scratch
            .map_err(|error| failed(context, "no scratch directory", "一時ディレクトリを作成できません", error))?;
        let root = scratch.path().canonicalize().unwrap_or_else(|_| scratch.path().to_owned());
        let outcome = self.run_in(context, &root).await;
        if self.keep || outcome.is_err() {
            let kept = scratch.keep();
            let kept = kept.display();
            crate::failure::write_stderr(
                &context.say(format!("Everything is kept in {kept}"), format!("{kept} にすべて残しました")),
            );
        }
        outcome
    }

    async fn run_in(&self, context: &Context, root: &Path) -> Result<(), Failure> {
        let repository = root.join("greet");
        let program = std::env::current_exe()
            .map_err(|error| failed(context, "cannot tell the program", "プログラムの場所が分かりません", error))?;
        std::fs::create_dir_all(&repository)
            .map_err(|error| failed(context, "no repository", "リポジトリを作成できません", error))?;
        // On a terminal it is slow enough to follow.
        let watched = context.format == Format::Text && std::io::stdout().is_terminal();
        let pace = self.pace.unwrap_or(if watched { 300 } else { 0 });
        scenario::write_repository(context, &repository, self.client, &program, pace).await?;
        let context = context.speaking(context.language()).at_home(root.join("home"), &repository);
        let opened = super::init::register(&context, &repository, "greet").await?;
        super::apply_definitions::apply(&opened).await?;
        drop(opened);
        let opened = context.open_for(ProcessLifetime::LongLived).await?;
        let task = start_feature(&opened).await?;
        let options = UpOptions {
            listen: Some(self.listen.clone()),
            max_parallel: Some(4),
            stop_agents: true,
            ..UpOptions::default()
        };
        let process = UpProcess::open(&context, opened, options).await?;
        let url = login_url(&context, process.http_server(), &process.web).await?.unwrap_or_default();
        let (text, project) = (context.format == Format::Text, process.project.clone());
        let shutdown = shutdown_signal();
        if text {
            let _ = writeln!(std::io::stdout(), "{}\n", introduction(&context, &url));
        }
        let (keep_serving, language) = (!self.exit, context.language());
        // With --json the summary is all that is printed.
        let progress = if text { Format::Text } else { Format::Quiet };
        let summary =
            Summary { context: &context, repository: &repository, url: &url, task, keep_serving, keep: self.keep };
        let began = Instant::now();
        let print_until_over = async move |events, notices| {
            print_events(events, notices, language, progress, |board| !is_over(board, task)).await;
            summary.print(&project.board(), began.elapsed().as_secs_f64()).await;
            if keep_serving {
                std::future::pending().await
            }
        };
        let project = process.project.clone();
        process.run(shutdown, print_until_over).await?;
        match project.board().task(task).map(|task| task.status) {
            Ok(Status::Done) => Ok(()),
            Ok(status) => Err(Failure::failed(
                context.say(
                    format!("The feature is {status}, not done."),
                    format!("機能は {status} で、完了していません。"),
                ),
                {
                    let (home, repository) = (root.join("home"), repository.display());
                    let command = format!("SAIHAI_HOME={} saihai --project {repository} task why 1", home.display());
                    context.say(format!("Look at it: {command}"), format!("確認するには: {command}"))
                },
            )),
            Err(refusal) => Err(Failure::refused(&refusal, language)),
        }
    }
}

fn introduction(context: &Context, url: &str) -> String {
    context
        .say(format!("{INTRODUCTION}\nThe board, live: {url}"), format!("{INTRODUCTION_JA}\nボード（ライブ）: {url}"))
}

fn failed(context: &Context, en: &str, ja: &str, error: std::io::Error) -> Failure {
    Failure::failed(
        context.say(format!("{en}: {error}"), format!("{ja}: {error}")),
        context.say("Free some space.", "空きを作ってください。"),
    )
}

/// Creates the feature as a task of the manager, and starts it.
async fn start_feature(opened: &crate::context::OpenProject) -> Result<TaskId, Failure> {
    let lead: AgentId = "lead".parse().map_err(|error: board::BadId| Failure::failed(error.to_string(), ""))?;
    let task = NewTask {
        description: scenario::DESCRIPTION.into(),
        task_type: TaskType::Feature,
        assignee: Some(lead),
        ..NewTask::titled(scenario::TITLE)
    };
    let receipt = opened.submit(Command::CreateTasks { parent: None, tasks: vec![task], key: None }).await?;
    let created = receipt.events.iter().find_map(|event| match &event.what {
        EventKind::TasksCreated { tasks, .. } => tasks.first().map(|task| task.id),
        _ => None,
    });
    let task = created.unwrap_or(TaskId(1));
    let to = Destination::Status(Status::InProgress);
    opened.submit(Command::MoveTask { task, to, reason: None, forced: false, merged: false }).await?;
    Ok(task)
}

/// The feature is settled, failed or blocked, and no session is live.
fn is_over(board: &Board, task: TaskId) -> bool {
    let stuck = |task: &board::Task| matches!(task.status, Status::Failed | Status::Blocked);
    let over = board.task(task).is_ok_and(|task| task.is_settled() || stuck(task));
    over && board.all_live_sessions().next().is_none()
}

struct Summary<'a> {
    context: &'a Context,
    repository: &'a PathBuf,
    url: &'a str,
    task: TaskId,
    keep_serving: bool,
    /// What was made is left when it ends.
    keep: bool,
}

impl Summary<'_> {
    async fn print(&self, board: &Board, seconds: f64) {
        let is_done = |task: &&Arc<board::Task>| !task.is_step() && task.status == Status::Done;
        let done = board.tasks.values().filter(is_done).count();
        let tasks = board.tasks.values().filter(|task| !task.is_step()).count();
        let sessions = board.sessions.len();
        let merged = board.sessions.values().filter(|session| {
            let facts = session.workspace.as_ref().map(|facts| &facts.merge);
            matches!(facts, Some(board::Merge::Merged { .. }))
        });
        let merged = merged.count();
        let sent_back =
            board.sessions.values().filter(|session| matches!(session.verdict, Some(Verdict::Rejected(_)))).count();
        let seconds = (seconds * 10.0).round() / 10.0;
        let json = json!({
            "merged": merged, "tasks": tasks, "sessions": sessions, "seconds": seconds, "sent_back": sent_back,
            "done": done, "login_url": self.url,
        });
        let graph = ["log", "--graph", "--format=%h %s (%an)", "main"];
        let graph = git::AsyncGit::in_repository(self.repository).run(&graph).await.unwrap_or_default();
        let text = || {
            let (home, repository) = (self.context.home.display(), self.repository.display());
            let say = |en: String, ja: String| self.context.say(en, ja);
            let mut lines = vec![
                String::new(),
                say(
                    format!(
                        "{done} of {tasks} tasks done in {seconds} s: {merged} branches merged, {sessions} sessions, \
                         {sent_back} times work was sent back."
                    ),
                    format!(
                        "{seconds} 秒で {tasks} 件中 {done} 件のタスクが完了: マージしたブランチ {merged}、セッション \
                         {sessions}、差し戻し {sent_back} 回。"
                    ),
                ),
                String::new(),
                graph.clone(),
                String::new(),
            ];
            if self.keep_serving {
                lines.extend([
                    self.context.say(
                        "Ask why anything happened, in another terminal:",
                        "何がなぜ起きたかは、別の端末で調べられます:",
                    ),
                    format!("  export SAIHAI_HOME={home}; cd {repository}"),
                    format!("  saihai task tree; saihai task why {}; saihai session list; saihai log tail", self.task),
                ]);
                let url = self.url;
                lines.push(if self.keep {
                    say(
                        format!("Look at the board until Ctrl-C; the repository is kept: {url}"),
                        format!("Ctrl-C までボードを見られます。リポジトリは残ります: {url}"),
                    )
                } else {
                    say(
                        format!("Look at the board until Ctrl-C, then everything is removed: {url}"),
                        format!("Ctrl-C までボードを見られます。終了するとすべて削除します: {url}"),
                    )
                });
            }
            lines.join("\n")
        };
        let _ = self.context.format.print(&json, || vec![self.task.to_string()], text);
    }
}
