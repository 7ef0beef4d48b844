//! Tests of the whole: simulated teams, and processes that are killed.

mod architecture;
mod crash;
mod simulation;
