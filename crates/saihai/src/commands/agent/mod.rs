//! `saihai agent`: who is on the roster?

mod apply;
mod list;
mod passkey;
mod show;
mod trace;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Agent {
    List(list::List),
    Show(show::Show),
    Apply(apply::Apply),
    Passkey(passkey::Passkey),
    Trace(trace::Trace),
}

pub(super) async fn run(context: &Context, command: Agent) -> Result<(), Failure> {
    match command {
        Agent::List(list) => list.run(context).await,
        Agent::Show(show) => show.run(context).await,
        Agent::Apply(apply) => apply.run(context).await,
        Agent::Passkey(passkey) => passkey.run(context).await,
        Agent::Trace(trace) => trace.run(context).await,
    }
}
