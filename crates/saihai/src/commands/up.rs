//! `saihai up`

use board::Board;
use clap::Args;
use control::ProcessLifetime;
use server::Listen;

use super::serve::{announce, shutdown_signal};
use crate::context::Context;
use crate::event_printer::print_events;
use crate::failure::{Failure, write_stderr};
use crate::idle::{conclude, is_idle};
use crate::show::Format;
use crate::up_process::{UpOptions, UpProcess};

/// Run the team: apply the definitions, serve the board, start and watch the agents
#[derive(Debug, Args)]
#[command(after_help = "\
Applies .saihai/, then starts an agent for every task that is in progress, examines its work, runs
the checks on the merge candidate and merges what passes. Start tasks with `saihai task start`.

Ctrl-C or SIGTERM ends it. The agents continue under their shims, and the next `saihai up` takes
them over. With --stop-agents they are ended too.

With --until-idle it ends by itself: exit code 0 if all that was started is done, 7 if something is
blocked, failed or cannot go on. With --json the first line says where it listens; then every event
is a line, as in `saihai log tail --follow --json`, and so is every notice of the runner.")]
pub(crate) struct Up {
    /// Where to listen: HOST:PORT (port 0: any free one) [default: 127.0.0.1:4700, or any free port]
    #[arg(long, value_name = "ADDR")]
    listen: Option<Listen>,
    /// Another name under which clients may reach it; can be given several times
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// How many agents run at once [default: `max_parallel` of the project, else the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_parallel: Option<u32>,
    /// What this machine has for agents that ask for it with `runs_on`
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    labels: Vec<String>,
    /// Start nothing while less than this many MiB are free on the disk
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    min_free_disk: u64,
    /// Also end the agents when it ends
    #[arg(long)]
    stop_agents: bool,
    /// End when nothing runs and nothing can start
    #[arg(long)]
    until_idle: bool,
}

impl Up {
    pub(crate) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open_for(ProcessLifetime::LongLived).await?;
        let language = opened.language;
        let context = &context.speaking(language);
        let applied = super::apply_definitions::apply(&opened).await?;
        super::apply_definitions::check_first_commit(&opened)?;
        if context.format == Format::Text && !applied.lines(language).is_empty() {
            let changes = applied.lines(language).join(", ");
            write_stderr(
                &opened.say(format!("Definitions applied: {changes}"), format!("定義を適用しました: {changes}")),
            );
        }
        if let (Format::Text, Some(warning)) = (context.format, crate::uncommitted_definitions::warning(&opened)) {
            write_stderr(&warning);
        }
        if let (Format::Text, Some(warning)) = (context.format, crate::budget_warning::warning(&opened)) {
            write_stderr(&warning);
        }
        if matches!(self.listen, Some(Listen::Unix(_))) {
            return Err(Failure::bad_argument(
                opened.say("Agents can reach it over TCP only.", "エージェントは TCP でのみ接続できます。"),
                opened.say(
                    "Give --listen HOST:PORT; `saihai serve` can listen on a unix socket.",
                    "--listen HOST:PORT を指定してください。unix ソケットは `saihai serve` で使えます。",
                ),
            ));
        }
        let options = UpOptions {
            listen: self.listen,
            allow_host: self.allow_host,
            max_parallel: self.max_parallel.map(|most| most as usize),
            disk_floor: Some(self.min_free_disk << 20),
            only: None,
            most_sessions: None,
            labels: self.labels,
            stop_agents: self.stop_agents,
        };
        let id = opened.id.clone();
        let process = UpProcess::open(context, opened, options).await?;
        let shutdown = shutdown_signal();
        let mcp_url = process.http_server().mcp_url();
        announce(
            context,
            process.http_server(),
            &process.web,
            &format!(
                "Saihai runs the agents of {id}, and serves them at {mcp_url}\nCtrl-C ends it; working agents continue."
            ),
            &format!(
                "Saihai は {id} のエージェントを実行し、{mcp_url} で応答します。\nCtrl-C で終了します。作業中のエージェントは続行します。"
            ),
        )
        .await?;
        let text = context.format == Format::Text;
        let project = process.project.clone();
        let format = context.format;
        let keep_going = |board: &Board| !self.until_idle || !is_idle(board, project.clock().now());
        let print_events = async |events, notices| print_events(events, notices, language, format, keep_going).await;
        process.run(shutdown, print_events).await?;
        if self.until_idle {
            conclude(context, &project.board())?;
        }
        let left = project.board().all_live_sessions().count();
        if text && left > 0 && !self.stop_agents {
            write_stderr(&context.say(
                format!("{left} agents continue under their shims. The next `saihai up` takes them over."),
                format!("{left} 件のセッションは続行します。`saihai up` で引き継げます。"),
            ));
        }
        Ok(())
    }
}
