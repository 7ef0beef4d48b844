//! How does a scripted agent call the server? As any MCP client does, over HTTP.

use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::client::conn::http1::handshake;
use hyper::{Request, Uri, header};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::net::TcpStream;

/// The newest revision of the protocol, which needs no handshake.
const PROTOCOL_REVISION: &str = "2026-07-28";

#[derive(Debug, thiserror::Error)]
pub(super) enum CallError {
    #[error("the server cannot be reached: {0}")]
    Unreachable(String),
    #[error("{tool} was refused: {message}")]
    Refused { tool: String, message: String },
}

/// A connection for each call: the server may have been restarted since the last.
#[derive(Debug)]
pub(super) struct McpClient {
    url: Uri,
    token: String,
    calls: u64,
}

fn unreachable(error: impl std::fmt::Display) -> CallError {
    CallError::Unreachable(error.to_string())
}

impl McpClient {
    /// From the variables that a runner sets.
    pub(super) fn from_environment() -> Result<Self, CallError> {
        let set = |name| std::env::var(name).map_err(|_| unreachable(format!("{name} is not set")));
        Ok(Self { url: set("SAIHAI_MCP_URL")?.parse().map_err(unreachable)?, token: set("SAIHAI_TOKEN")?, calls: 0 })
    }

    /// Calls a tool. Tries again for 20 seconds if the server does not answer: one that is replaced is soon back.
    pub(super) async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, CallError> {
        let mut tries = 0;
        loop {
            match self.call_once(tool, &arguments).await {
                Err(CallError::Unreachable(_)) if tries < 100 => {
                    tries += 1;
                    tokio::time::sleep(std::time::Duration::from_millis(200)).await;
                }
                answer => return answer,
            }
        }
    }

    async fn call_once(&mut self, tool: &str, arguments: &Value) -> Result<Value, CallError> {
        self.calls += 1;
        let about = json!({
            "io.modelcontextprotocol/protocolVersion": PROTOCOL_REVISION,
            "io.modelcontextprotocol/clientInfo": { "name": "saihai-demo", "version": env!("CARGO_PKG_VERSION") },
            "io.modelcontextprotocol/clientCapabilities": {},
        });
        let body = json!({
            "jsonrpc": "2.0", "id": self.calls, "method": "tools/call",
            "params": { "name": tool, "arguments": arguments, "_meta": about },
        });
        let authority = self.url.authority().map(ToString::to_string).unwrap_or_default();
        let request = Request::post(self.url.path())
            .header(header::HOST, &authority)
            .header(header::CONTENT_TYPE, "application/json")
            .header(header::ACCEPT, "application/json, text/event-stream")
            .header(header::AUTHORIZATION, format!("Bearer {}", self.token))
            .header("Mcp-Protocol-Version", PROTOCOL_REVISION)
            .header("Mcp-Method", "tools/call")
            .header("Mcp-Name", tool)
            .body(Full::new(Bytes::from(body.to_string())))
            .map_err(unreachable)?;
        let stream = TcpStream::connect(&authority).await.map_err(unreachable)?;
        let (mut sender, connection) = handshake(TokioIo::new(stream)).await.map_err(unreachable)?;
        tokio::spawn(connection);
        let response = sender.send_request(request).await.map_err(unreachable)?;
        let body = response.into_body().collect().await.map_err(unreachable)?.to_bytes();
        let answer: Value = serde_json::from_slice(&body).map_err(unreachable)?;
        let result = &answer["result"];
        let content = result["structuredContent"].clone();
        if result["isError"] == true || result.is_null() {
            let message = content["message"].as_str().map_or_else(|| answer.to_string(), str::to_owned);
            return Err(CallError::Refused { tool: tool.to_owned(), message });
        }
        Ok(content)
    }
}
