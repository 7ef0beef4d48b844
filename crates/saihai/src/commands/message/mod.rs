//! `saihai message`: what is said between you and the agents?

mod list;
mod send;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Message {
    Send(send::Send),
    List(list::List),
}

pub(super) async fn run(context: &Context, command: Message) -> Result<(), Failure> {
    match command {
        Message::Send(send) => send.run(context).await,
        Message::List(list) => list.run(context).await,
    }
}
