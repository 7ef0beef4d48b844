//! `saihai runner --server URL`

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use board::{ProjectId, RunnerOffer};
use clap::Args;
use control::RunnerHeartbeat;
use remote::{Connection, OneSession, PROTOCOL, Registered, RemoteError, RunnerSelf};
use runner::{AtShutdown, Notice};
use serde_json::json;
use tokio::sync::mpsc;

use crate::commands::serve::shutdown_signal;
use crate::context::Context;
use crate::event_printer::say_notice;
use crate::failure::{CliExit, Failure, write_stderr};
use crate::runner_process::{Ending, RunnerOptions, RunnerProcess, home_id};
use crate::show::{Format, clean};
use crate::up_process::current_user;

/// When a server that cannot be reached is asked again.
const COME_AGAIN: Duration = Duration::from_secs(2);

#[derive(Debug, Args)]
pub(crate) struct Run {
    /// A server, such as https://saihai.example.org; several, separated by commas, stand in for each other
    #[arg(long, value_name = "URL", value_delimiter = ',', env = "SAIHAI_SERVER")]
    server: Vec<String>,
    /// The runner's token; better in the environment or in a file, where others do not see it
    #[arg(long, env = "SAIHAI_RUNNER_TOKEN", hide_env_values = true)]
    token: Option<String>,
    /// A file with the runner's token
    #[arg(long, value_name = "FILE", conflicts_with = "token")]
    token_file: Option<PathBuf>,
    /// What this host has for agents that ask for it with `runs_on` [default: all that its token permits]
    #[arg(long, value_name = "LABELS", value_delimiter = ',')]
    labels: Vec<String>,
    /// The name under which it is listed [default: the host's]
    #[arg(long)]
    name: Option<String>,
    /// How many agents run at once, of all projects [default: the number of cores]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    max_parallel: Option<u32>,
    /// Start nothing while less than this many MiB are free on the disk
    #[arg(long, value_name = "MIB", default_value_t = 1024)]
    min_free_disk: u64,
    /// A file with the certificates to trust instead of the system's
    #[arg(long, value_name = "FILE")]
    ca: Option<PathBuf>,
    /// Run one session, and end when its work is judged
    #[arg(long)]
    once: bool,
    /// Also end the agents when it ends
    #[arg(long)]
    stop_agents: bool,
}

impl Run {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let connection = self.connection(context)?;
        let me = self.introduce(context)?;
        let shutdown = shutdown_signal();
        tokio::pin!(shutdown);
        let registered = tokio::select! {
            registered = come(context, &connection, &me) => registered?,
            () = &mut shutdown => return Ok(()),
        };
        announce(context, &connection, &registered)?;
        let (told, notices) = mpsc::unbounded_channel();
        let printed = tokio::spawn(print_notices(context.clone(), notices));
        let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
        let options = RunnerOptions {
            max_parallel: self.max_parallel.map_or(cores, |most| most as usize),
            disk_floor: self.min_free_disk << 20,
            at_shutdown: if self.stop_agents { AtShutdown::StopAgents } else { AtShutdown::LeaveAgents },
            once: self.once.then(OneSession::default),
        };
        let ended = RunnerProcess::new(context.clone(), connection, me, options, told).run(registered, shutdown).await;
        let _ = printed.await;
        match ended? {
            Ending::Told | Ending::Served => Ok(()),
            Ending::Removed => Err(Failure::new(
                CliExit::Refused,
                "not_authenticated",
                context.say(
                    "The token is not good any more: this runner was removed. Its agents are ended; their workspaces are kept.",
                    "トークンが無効になりました。このランナーは削除されています。エージェントは終了し、作業コピーは残しています。",
                ),
                token_hint(context),
            )),
        }
    }

    fn connection(&self, context: &Context) -> Result<Connection, Failure> {
        if self.server.is_empty() {
            return Err(Failure::bad_argument(
                context.say("It needs to know a server.", "サーバーの指定が必要です。"),
                context.say(
                    "Give --server https://saihai.example.org, or set SAIHAI_SERVER. Where the repository is, `saihai up` runs agents.",
                    "--server https://saihai.example.org か SAIHAI_SERVER を指定してください。リポジトリのあるマシンでは `saihai up` を使います。",
                ),
            ));
        }
        let token = match (&self.token, &self.token_file) {
            (Some(token), _) => token.clone(),
            (None, Some(file)) => std::fs::read_to_string(file).map_err(|error| {
                let file = file.display();
                Failure::bad_argument(
                    context.say(format!("{file} cannot be read: {error}"), format!("{file} を読めません: {error}")),
                    token_hint(context),
                )
            })?,
            (None, None) => {
                return Err(Failure::bad_argument(
                    context.say("It needs a runner's token.", "ランナーのトークンが必要です。"),
                    token_hint(context),
                ));
            }
        };
        // Git works in another directory.
        let ca = self.ca.as_ref().map(|file| std::fs::canonicalize(file).unwrap_or_else(|_| file.clone()));
        Connection::new(&self.server, token.trim().to_owned(), ca.as_deref()).map_err(|error| {
            Failure::bad_argument(
                context.say(error.to_string(), format!("接続できません: {error}")),
                context.say("Correct --server or --ca.", "--server か --ca を直してください。"),
            )
        })
    }

    fn introduce(&self, context: &Context) -> Result<Arc<RunnerSelf>, Failure> {
        let failed = |error: std::io::Error| {
            let home = context.home.display();
            Failure::new(
                CliExit::Store,
                "store",
                context.say(format!("cannot use {home}: {error}"), format!("{home} を使えません: {error}")),
                context.say("Check its permissions.", "権限を確認してください。"),
            )
        };
        context.make_home()?;
        let host = || rustix::system::uname().nodename().to_string_lossy().into_owned();
        Ok(RunnerSelf::new(RunnerHeartbeat {
            name: self.name.clone().unwrap_or_else(host),
            offer: RunnerOffer {
                labels: self.labels.clone(),
                clients: Some(current_user().installed_clients()),
                draining: false,
            },
            version: env!("CARGO_PKG_VERSION").into(),
            protocol: PROTOCOL,
            home: home_id(&context.home).map_err(failed)?,
            ..RunnerHeartbeat::default()
        }))
    }
}

fn token_hint(context: &Context) -> String {
    context.say(
        "On the server's machine: `saihai token create --role runner --name NAME`. Give it with --token-file or SAIHAI_RUNNER_TOKEN.",
        "サーバーのマシンで `saihai token create --role runner --name NAME` を実行し、--token-file か SAIHAI_RUNNER_TOKEN で渡してください。",
    )
}

/// Comes to a server, however long none can be reached.
async fn come(context: &Context, connection: &Connection, me: &RunnerSelf) -> Result<Registered, Failure> {
    let mut told = None;
    loop {
        match me.register(connection).await {
            Ok(registered) => return Ok(registered),
            Err(RemoteError::Unreachable(reason)) => {
                if told.as_ref() != Some(&reason) {
                    write_stderr(&context.say(
                        format!("No server can be reached yet: {}", clean(&reason)),
                        format!("サーバーに接続できません。再試行します: {}", clean(&reason)),
                    ));
                    told = Some(reason);
                }
                tokio::time::sleep(COME_AGAIN).await;
            }
            Err(error) => {
                let hint = if error.is_unknown_token() {
                    token_hint(context)
                } else {
                    context.say(
                        "Do what the server says, and try again.",
                        "サーバーの指示に従ってから、もう一度実行してください。",
                    )
                };
                return Err(Failure::new(
                    CliExit::Refused,
                    "not_allowed",
                    context.say(error.to_string(), format!("サーバーに拒否されました: {error}")),
                    hint,
                ));
            }
        }
    }
}

fn announce(context: &Context, connection: &Connection, registered: &Registered) -> Result<(), Failure> {
    let projects: Vec<_> = registered.projects.iter().map(|project| project.id.to_string()).collect();
    let (runner, server) = (&registered.runner, connection.server());
    context.format.print(
        &json!({ "runner": runner, "server": server, "projects": projects }),
        || vec![runner.to_string()],
        || {
            let listed = if projects.is_empty() { context.say("no project yet", "まだなし") } else { projects.join(", ") };
            context.say(
                format!("This is the runner {runner} of {server}, for {listed}.\nCtrl-C ends it; working agents continue."),
                format!("{server} のランナー {runner} です（プロジェクト: {listed}）。\nCtrl-C で終了します。作業中のエージェントは続行します。"),
            )
        },
    )
}

async fn print_notices(context: Context, mut notices: mpsc::UnboundedReceiver<(ProjectId, Notice)>) {
    while let Some((project, notice)) = notices.recv().await {
        if context.format == Format::Text {
            write_stderr(&clean(&format!("{project}: {}", say_notice(&notice, context.language()))));
        }
    }
}
