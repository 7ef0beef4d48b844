//! `saihai token`: who else may use the server?

mod create;
mod list;
mod revoke;

use clap::Subcommand;

use crate::context::Context;
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Token {
    Create(create::Create),
    List(list::List),
    Revoke(revoke::Revoke),
}

pub(super) async fn run(context: &Context, command: Token) -> Result<(), Failure> {
    match command {
        Token::Create(create) => create.run(context).await,
        Token::List(list) => list.run(context).await,
        Token::Revoke(revoke) => revoke.run(context).await,
    }
}
