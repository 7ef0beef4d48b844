//! Do agents get their work done through the real servers? Every scenario runs twice: against
//! `saihai serve` over HTTP, and through `saihai mcp` over stdio with no server running.

mod agent;
mod chat;
mod directing;
mod fixture;
mod interrupts;
mod managers;
mod owner_changes;
mod restarts;
mod sessions;
mod steering;
mod stuck;
mod trace;
mod workers;
