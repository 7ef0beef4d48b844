//! A server for the conformance suite: ours, on any free port, with the suite's tools and an empty
//! store. Prints where it listens, as one line of JSON, and serves until it is killed.

use std::io::Write as _;
use std::sync::Arc;

use control::{Control, ProcessLifetime, SystemClock};
use mcp::Mcp;
use server::{HttpServer, ServerState};
use store::MemoryStore;
use testkit::conformance::ConformanceServer;
use tokio_util::sync::CancellationToken;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let control = Control::new(Arc::new(MemoryStore::new()), Arc::new(SystemClock), ProcessLifetime::LongLived);
    let state = ServerState::open(control, CancellationToken::new()).await?;
    let server = HttpServer::bind(state.shutdown().clone(), &"127.0.0.1:0".parse()?, &[]).await?;
    let routes = mcp::router(ConformanceServer(Mcp::new(state)), &server);
    let mut out = std::io::stdout();
    writeln!(out, "{}", serde_json::json!({ "mcp_url": server.mcp_url() }))?;
    out.flush()?;
    server.with(routes).serve().await;
    Ok(())
}
