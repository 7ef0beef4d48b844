//! The doors: where agents and people come in. MCP over HTTP and over stdio, one implementation behind
//! both, for agents; pages and an HTTP API for people.
//!
//! A door parses, finds out who calls, and submits a command to [`control`]; it decides nothing.
//! What may happen, and what is said about it, is the board's.

mod door;
mod guesses;
mod mcp;
mod premises;
mod web;
mod workplaces;

pub use door::{Door, DoorError, Listen};
pub use mcp::{Mcp, serve_stdio, tools_page};
pub use premises::{Diff, LogFrom, LogPage, Premises};
pub use web::{Web, offer_login};
pub use workplaces::Workplaces;
