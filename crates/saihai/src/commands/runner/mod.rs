//! `saihai runner`: run agents on this host for servers elsewhere, and look after such runners.

mod drain;
mod list;
mod remove;
mod resume;
mod run;
mod show;

use board::{InstallationCommand, RunnerId, Timestamp};
use clap::{Args, Subcommand};
use control::{Control, ProcessLifetime, RemoteRunner, Writer};
use serde_json::json;

use crate::context::{Context, owner};
use crate::failure::{CliExit, Failure};

/// Run agents on this host for servers elsewhere; or list and look after such runners
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
On the machine of the server, once for each runner:
  saihai token create --role runner --name build-1 --labels gpu,linux
On the other host, with git and the clients that agents use:
  saihai runner --server https://saihai.example.org --token-file token

It needs nothing else there: repositories, definitions and logins of agents' work come from the
servers and the host's own user. Agents go on when it ends, and it takes them over again."
)]
pub(crate) struct Runner {
    #[command(subcommand)]
    command: Option<RunnerCommand>,
    #[command(flatten)]
    run: run::Run,
}

#[derive(Debug, Subcommand)]
pub(crate) enum RunnerCommand {
    List(list::List),
    Show(show::Show),
    Drain(drain::Drain),
    Resume(resume::Resume),
    Remove(remove::Remove),
}

impl Runner {
    /// Does it keep running, instead of answering once?
    pub(crate) fn is_long_running(&self) -> bool {
        self.command.is_none()
    }
}

pub(super) async fn run(context: &Context, runner: Runner) -> Result<(), Failure> {
    match runner.command {
        None => runner.run.run(context).await,
        Some(RunnerCommand::List(list)) => list.run(context).await,
        Some(RunnerCommand::Show(show)) => show.run(context).await,
        Some(RunnerCommand::Drain(drain)) => drain.run(context).await,
        Some(RunnerCommand::Resume(resume)) => resume.run(context).await,
        Some(RunnerCommand::Remove(remove)) => remove.run(context).await,
    }
}

/// The installation, with its runners on other hosts.
struct Runners {
    control: Control,
    installation: Writer<board::Installation>,
    known: Vec<RemoteRunner>,
    now: Timestamp,
}

impl Runners {
    async fn open(context: &Context) -> Result<Self, Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let installation = context.installation(&control).await?;
        let failed = |error| Failure::control(error, context.language());
        let known = control.remote_runners(&installation.state()).await.map_err(failed)?;
        let now = control.clock().now();
        Ok(Self { control, installation, known, now })
    }

    /// The id of a runner's token, by that id or the runner's name.
    fn find(&self, context: &Context, named: &str) -> Result<RunnerId, Failure> {
        let state = self.installation.state();
        let named_so = |known: &&board::Token| {
            let host = self.known.iter().find(|runner| runner.id.as_str() == known.id);
            known.id == named || known.name == named || host.is_some_and(|runner| runner.heartbeat.name == named)
        };
        let runners = state.tokens.values().filter(|token| token.role == board::Role::Runner && !token.revoked);
        let found: Vec<_> = runners.filter(named_so).collect();
        match found[..] {
            [one] => one.id.parse().map_err(|_| not_found(context, named)),
            [] => Err(not_found(context, named)),
            [..] => Err(Failure::bad_argument(
                context.say(
                    format!("Several runners are called {named}."),
                    format!("{named} という名前のランナーは複数あります。"),
                ),
                context
                    .say("Name one by its id: `saihai runner list`.", "id で指定してください: `saihai runner list`。"),
            )),
        }
    }

    async fn submit(&self, context: &Context, command: InstallationCommand) -> Result<(), Failure> {
        let submitted = self.installation.submit(owner(), command).await;
        submitted.map(drop).map_err(|error| Failure::control(error, context.language()))
    }
}

fn not_found(context: &Context, named: &str) -> Failure {
    Failure::new(
        CliExit::NotFound,
        "not_found",
        context.say(format!("There is no runner {named}."), format!("ランナー {named} はありません。")),
        context.say(
            "See `saihai runner list`; `saihai token create --role runner` lets one in.",
            "`saihai runner list` で確認できます。追加は `saihai token create --role runner` です。",
        ),
    )
}

/// A runner as programs get it (C3).
fn json_of(runner: &RemoteRunner, now: Timestamp) -> serde_json::Value {
    let heartbeat = &runner.heartbeat;
    json!({
        "id": runner.id,
        "name": heartbeat.name,
        "present": runner.is_present(now),
        "heard_at": runner.heard_at,
        "version": heartbeat.version,
        "labels": heartbeat.offer.labels,
        "clients": heartbeat.offer.clients,
        "draining": heartbeat.offer.draining,
        "slots": runner.slots(),
        "busy": runner.busy(),
        "projects": heartbeat.projects,
    })
}
