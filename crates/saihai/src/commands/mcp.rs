//! `saihai mcp`

use std::sync::Arc;

use clap::Args;
use control::ProcessLifetime;
use server::ServerState;
use tokio_util::sync::CancellationToken;

use crate::context::Context;
use crate::failure::Failure;
use crate::local_files::LocalFilesOnDisk;

/// Serve one agent, or the owner's orchestrator, over stdin and stdout
#[derive(Debug, Args)]
#[command(after_help = "\
For clients that start their MCP servers themselves. It works on the same store as everything else,
with or without `saihai serve`, and ends when the client closes its stdin.

SAIHAI_TOKEN may hold the session's credential, or the passkey of an agent attached by hand:
  claude mcp add saihai --env SAIHAI_TOKEN=PASSKEY -- saihai mcp
With a token of role orchestrator the client directs the whole project for its owner:
  claude mcp add saihai --env SAIHAI_TOKEN=TOKEN -- saihai mcp")]
pub(crate) struct Mcp {}

impl Mcp {
    pub(crate) async fn run(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::LongLived).await?;
        let token = std::env::var("SAIHAI_TOKEN").ok().filter(|token| !token.is_empty());
        let server = ServerState::open(control, CancellationToken::new()).await;
        let server = server.map_err(|error| Failure::control(error, context.language()))?;
        server.provide_local_files(Arc::new(LocalFilesOnDisk { home: context.home.clone() }));
        mcp::serve_stdio(server, token).await;
        Ok(())
    }
}
