//! Tests of the only writer, on a store in memory and on SQLite.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod copy;
mod follower;
mod history;
mod other_hosts;
mod race;
mod world;
