//! placeholder

pub mod coverage;
