//! Do the stores keep their contract, and what does the SQLite one do when the file is damaged,
//! contended or out of space?

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod contention;
mod contract;
mod damage;
mod disk_full;
mod file;
mod heads;
mod opening;
mod postgres;
mod runtime;
