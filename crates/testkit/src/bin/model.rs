//! Which model answers? One that follows a script, for trying real clients without an account.

use clap::Parser;
use testkit::model::{Behaviour, ModelServer};

/// Serve a scripted model to Claude Code, Codex, Gemini CLI and opencode
#[derive(Parser)]
#[command(after_help = "\
It prints its address. Point a client at it:
  ANTHROPIC_BASE_URL=URL         Claude Code
  base_url = \"URL/v1\"            Codex (wire_api = \"responses\"), opencode
  GOOGLE_GEMINI_BASE_URL=URL     Gemini CLI
MODEL_LOG=1 prints every answer.")]
struct Arguments {
    /// Where to listen; port 0 takes any free one
    #[arg(long, default_value = "127.0.0.1:0")]
    listen: String,
    /// guided (does what Saihai says), 429 or 401 (refuses everything)
    #[arg(long, default_value = "guided")]
    behaviour: Behaviour,
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> std::io::Result<()> {
    let Arguments { listen, behaviour } = Arguments::parse();
    let server = ModelServer::listen(&listen, behaviour).await?;
    println!("{}", server.url());
    server.wait().await
}
