//! `saihai session`: which runs of agents are there, and what became of them?

mod end;
mod list;
mod log;
mod show;
mod start;
mod stop;
mod trace;

use board::wire;
use board::{Board, Driver, Mode, Span, Timestamp};
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

/// How long ago its agent last called: one that is silent for long may be gone (F48). One-shot agents
/// and those run by hand never call.
fn last_call(board: &Board, session: &wire::Session, now: Timestamp) -> Option<Span> {
    let guided = board.agents.get(&session.agent_id).is_none_or(|agent| agent.spec.mode == Mode::Guided);
    let calls = guided && session.driver != Driver::Hand.as_str();
    (session.ended_at.is_none() && calls).then(|| now - session.last_call_at)
}
