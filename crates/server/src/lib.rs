//! The doors: where agents and people come in. MCP over HTTP and over stdio, one implementation behind
//! both, for agents; pages and an HTTP API for people.
//!
//! A door parses, finds out who calls, and submits a command to [`control`]; it decides nothing.
//! What may happen, and what is said about it, is the board's.

mod attempt_limiter;
mod http_server;
mod local_files;
mod mcp;
mod web;
mod workspace_provider;

pub use http_server::{HttpServer, Listen, ListenError};
pub use local_files::{Diff, LocalFiles, LogFrom, LogPage};
pub use mcp::{Mcp, serve_stdio, tools_page};
pub use web::{Web, offer_login};
pub use workspace_provider::WorkspaceProvider;
