//! The tests of the git layer, on real repositories.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod limits;
mod merged;
mod refs;
mod scratch;
