//! A server for the conformance suite: ours, on any free port, with the suite's tools and an empty
//! store. Prints where it listens, as one line of JSON, and serves until it is killed.

use std::io::Write as _;
use std::sync::Arc;

use control::{Control, ProcessLifetime, SystemClock};
use server::{HttpServer, Mcp};
use store::MemoryStore;
use testkit::conformance::Examined;
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let control = Control::new(Arc::new(MemoryStore::new()), Arc::new(SystemClock), ProcessLifetime::LongLived);
    let mcp = Mcp::new(control, CancellationToken::new()).await?;
    let shutdown = mcp.shutdown().clone();
    let door = HttpServer::bind(Examined(mcp), shutdown, &"127.0.0.1:0".parse()?, &[]).await?;
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::json!({ "mcp_url": door.mcp_url() }))?;
    out.flush()?;
    door.serve().await;
    Ok(())
}
