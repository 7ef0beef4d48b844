//! The server behind its real door, driven over HTTP by friends, by strangers and by garbage.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod api;
mod attached;
mod clients;
mod crowded;
mod garbage;
mod hostile;
mod http_server;
mod lists;
mod test_server;
