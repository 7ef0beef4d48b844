//! Does the command line do what it says? Every test runs the real binary on a scratch repository
//! with its own home.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod agents;
mod board_follower;
mod by_hand;
mod chaos;
mod contract;
mod doctor;
mod exits;
mod init;
mod language;
mod log;
mod mcp;
mod memory;
mod merged;
mod messages;
mod older;
mod other_hosts;
mod parallel;
mod postgres;
mod projects;
mod prompts;
mod real_clients;
mod report;
mod runner;
mod scripts;
mod server;
mod sessions;
mod shapes;
mod store_faults;
mod tasks;
mod terminal;
mod tokens;
mod web;
mod world;
