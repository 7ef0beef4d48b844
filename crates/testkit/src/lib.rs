//! What do tests of the whole need: teams that are simulated, clients and
//! models that follow a script, a browser, and a page that tells what is proved.

pub mod browser;
pub mod conformance;
pub mod coverage;
pub mod mcp;
pub mod model;
pub mod seed;
pub mod simulation;
