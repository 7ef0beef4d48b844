//! Tests of the whole: simulated teams, and processes that are killed.

mod architecture;
mod attacks;
mod crash;
mod named_tests;
mod seeds;
mod simulation;
