//! The runner: workspace, sandbox, shim, client, evidence, checks, merge.

pub mod clients;
