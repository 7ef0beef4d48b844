//! `saihai session`: which runs of agents are there, and what became of them?

mod end;
mod list;
mod log;
mod show;
mod start;
mod stop;
mod trace;

use clap::Subcommand;

pub(crate) use self::log::print_output;

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Session {
    List(list::List),
    Show(show::Show),
    Start(start::Start),
    End(end::End),
    Stop(stop::Stop),
    Log(log::Log),
    Trace(trace::Trace),
}

pub(super) async fn run(context: &Context, command: Session) -> Result<(), Failure> {
    match command {
        Session::List(list) => list.run(context).await,
        Session::Show(show) => show.run(context).await,
        Session::Start(start) => start.run(context).await,
        Session::End(end) => end.run(context).await,
        Session::Stop(stop) => stop.run(context).await,
        Session::Log(log) => log.run(context).await,
        Session::Trace(trace) => trace.run(context).await,
    }
}
