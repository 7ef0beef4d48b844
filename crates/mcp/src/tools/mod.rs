//! What does each tool do? One file per subject.

pub(super) mod authentication;
pub(super) mod chat;
pub(super) mod coordination;
pub(super) mod directing;
pub(super) mod following;
pub(super) mod managing;
pub(super) mod own;
pub(super) mod tasks;
