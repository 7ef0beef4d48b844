//! Tests of the only writer, on a store in memory and on SQLite.

mod history;
mod race;
mod world;
