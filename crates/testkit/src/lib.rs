//! What do tests of the whole need: teams that are simulated, and a page that tells what is proved.

pub mod conformance;
pub mod coverage;
pub mod mcp;
pub mod simulation;
