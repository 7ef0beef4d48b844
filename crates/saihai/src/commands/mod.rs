//! Which commands are there?

mod agent;
mod apply_definitions;
mod chat;
mod completions;
pub(crate) mod demo;
mod doctor;
mod gc;
mod init;
mod log;
mod login;
mod mcp;
mod memory;
mod message;
mod project;
mod report;
mod runner;
pub(crate) mod serve;
mod session;
mod store;
mod task;
mod token;
mod up;
mod worker;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    Demo(demo::Demo),
    Init(init::Init),
    Up(up::Up),
    Serve(serve::Serve),
    Runner(runner::Runner),
    Login(login::Login),
    Mcp(mcp::Mcp),
    /// Projects of this installation
    #[command(subcommand)]
    Project(project::Project),
    /// Agents: list, show, apply their definitions
    #[command(subcommand)]
    Agent(agent::Agent),
    /// Tasks: add, move, explain
    #[command(subcommand)]
    Task(task::Task),
    /// Sessions: runs of agents, started by a runner or by hand
    #[command(subcommand)]
    Session(session::Session),
    /// One worker on one task: print its prompt, or run it in the foreground
    #[command(subcommand)]
    Worker(worker::Worker),
    /// The memory bank: what the project has decided
    #[command(subcommand)]
    Memory(memory::Memory),
    /// The store: copy it elsewhere, back it up
    #[command(subcommand)]
    Store(store::Store),
    /// Messages between you and the agents
    #[command(subcommand)]
    Message(message::Message),
    Chat(chat::Chat),
    /// Tokens for people, runners and coordinators
    #[command(subcommand)]
    Token(token::Token),
    /// The event log: follow, verify, replay
    #[command(subcommand)]
    Log(log::Log),
    Report(report::Report),
    Gc(gc::Gc),
    Doctor(doctor::Doctor),
    Completions(completions::Completions),
}

impl Command {
    /// Does the command keep running, instead of answering once?
    pub(crate) fn is_long_running(&self) -> bool {
        if let Self::Runner(runner) = self {
            return runner.is_long_running();
        }
        matches!(self, Self::Demo(_) | Self::Up(_) | Self::Worker(_) | Self::Serve(_) | Self::Mcp(_) | Self::Chat(_))
    }
}

pub(crate) async fn run(context: &Context, command: Command) -> Result<(), Failure> {
    match command {
        Command::Demo(demo) => demo.run(context).await,
        Command::Init(init) => init.run(context).await,
        Command::Up(up) => up.run(context).await,
        Command::Serve(serve) => serve.run(context).await,
        Command::Runner(runner) => runner::run(context, runner).await,
        Command::Login(login) => login.run(context).await,
        Command::Mcp(mcp) => mcp.run(context).await,
        Command::Project(command) => project::run(context, command).await,
        Command::Agent(command) => agent::run(context, command).await,
        Command::Task(command) => task::run(context, command).await,
        Command::Session(command) => session::run(context, command).await,
        Command::Worker(command) => worker::run(context, command).await,
        Command::Memory(command) => memory::run(context, command).await,
        Command::Store(command) => store::run(context, command).await,
        Command::Message(command) => message::run(context, command).await,
        Command::Chat(chat) => chat.run(context).await,
        Command::Token(command) => token::run(context, command).await,
        Command::Log(command) => log::run(context, command).await,
        Command::Report(report) => report.run(context).await,
        Command::Gc(gc) => gc.run(context).await,
        Command::Doctor(doctor) => doctor.run(context).await,
        Command::Completions(completions) => completions.run(context),
    }
}
