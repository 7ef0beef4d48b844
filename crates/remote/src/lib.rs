//! A runner on another host (R10): the port between a runner and the board, over HTTP.
//!
//! Nothing is decided here. [`RemoteDispatch`] asks what `control::LocalDispatch` would be asked in the same process, and
//! [`router`] answers with just that, for runners that have shown their token, about their own sessions. Beside it go what a
//! runner in the same process has on the disk: the repository, read-only over git's own protocol; merged commits, as a
//! bundle that is proved like an agent's; and the output of sessions, by offset.

mod caller;
mod connection;
mod dispatch_client;
mod forwarder;
mod git_http;
mod output;
mod protocol;
mod repository;
mod servers_repository;
mod service;
mod shipping;
mod state;
mod uploads;

pub use connection::{BadServer, Connection, RemoteError};
pub use dispatch_client::{OneSession, RemoteDispatch, RunnerSelf};
pub use forwarder::Forwarder;
pub use protocol::{Origin, PROTOCOL, ProjectInfo, Registered};
pub use servers_repository::ServersRepository;
pub use service::router;
pub use shipping::ship_output;
