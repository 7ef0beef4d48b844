//! Do agents get through their work by the real entrances? Every scenario is played twice: against
//! `saihai serve` over HTTP, and through `saihai mcp` over stdio with no server running.

mod agent;
mod chat;
mod entrances;
mod interrupts;
mod managers;
mod restarts;
mod sessions;
mod stage;
mod stuck;
mod trace;
mod workers;
