//! The tests of the runner.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod clients;
mod reconcile;
mod supervision;
mod toolchains;
