//! What the entry points for agents (`mcp`) and for people (`web`) stand on: shared state, the HTTP
//! listener, and what they ask of the machine.
//!
//! An entry point parses, finds out who calls, and submits a command to [`control`]. What may happen,
//! and what is said about it, is decided by the board.

mod attempt_limiter;
mod connections;
mod demand;
mod http_server;
mod local_files;
mod project_follower;
mod project_view;
mod request_body;
mod state;
mod tls;
mod workspace_provider;

pub use attempt_limiter::AttemptLimiter;
pub use connections::{Connection, TooManyConnections};
pub use demand::{LabelDemand, add_demand};
pub use http_server::{HttpServer, Listen, ListenError};
pub use local_files::{Diff, LocalFiles, LogFrom, LogPage};
pub use project_follower::ProjectFollower;
pub use state::ServerState;
pub use tls::{BadCertificate, OverTls, Tls};
pub use workspace_provider::WorkspaceProvider;
