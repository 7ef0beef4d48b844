//! The table tests of the core: every requirement that is decided without IO.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

mod answers;
mod attaching;
mod attempts;
mod attention;
mod backoff;
mod budget;
mod by_hand;
mod chat;
mod comments;
mod cycles;
mod events;
mod examination;
mod fuel;
mod guards;
mod hostile;
mod index;
mod legal_moves;
mod lifecycle;
mod logins;
mod loops;
mod mended;
mod merge_turn;
mod next_action;
mod refusals;
mod reverting;
mod samples;
mod secrets;
mod sessions;
mod snapshot;
mod staffing;
mod subtasks;
mod team;
mod texts;
mod undo;
mod verdict;
mod why;
mod world;
