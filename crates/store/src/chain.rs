//! How is one event tied to the one before it?

use crate::event::{NewEvent, Seq, StoredEvent};
use crate::hash::Hash;

/// The hash of the event `seq` that follows the one with hash `before`.
///
/// Every field is hashed with its length, so that no two different events give the same input.
pub fn link(before: &Hash, seq: Seq, event: &NewEvent) -> Hash {
    digest(before, seq, event.at, event.version, [&event.kind, &event.body])
}

/// Whether `event`, as it was found, follows the one with hash `before`.
pub(crate) fn follows(before: &Hash, event: &StoredEvent) -> bool {
    event.hash == digest(before, event.seq, event.at, event.version, [&event.kind, &event.body])
}

fn digest(before: &Hash, seq: Seq, at: i64, version: u16, texts: [&str; 2]) -> Hash {
    let mut hasher = blake3::Hasher::new();
    hasher.update(before.as_bytes());
    hasher.update(&seq.to_le_bytes());
    hasher.update(&at.to_le_bytes());
    hasher.update(&version.to_le_bytes());
    for text in texts {
        hasher.update(&(text.len() as u64).to_le_bytes());
        hasher.update(text.as_bytes());
    }
    Hash::from_bytes(*hasher.finalize().as_bytes())
}
