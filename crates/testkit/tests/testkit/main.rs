//! Tests of the whole: simulated teams, and processes that are killed.

mod crash;
mod simulation;
