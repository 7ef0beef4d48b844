//! What does a log hold? Streams of events, as plain data.

use std::fmt;

use crate::Hash;

/// The position of an event in its stream. The first event has 1; 0 is the empty stream.
pub type Seq = u64;

/// The name of a stream: `installation`, or `project/<id>`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamName(String);

impl StreamName {
    pub fn installation() -> Self {
        Self("installation".into())
    }

    pub fn project(id: &str) -> Self {
        Self(format!("project/{id}"))
    }

    /// Any other name, as read back from a store.
    pub fn named(name: impl Into<String>) -> Self {
        Self(name.into())
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// An event that is to be appended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    /// When it happened, in milliseconds since 1970 UTC, as the writer saw it.
    pub at: i64,
    /// The event's type, such as `task_created`.
    pub kind: String,
    /// The version of the body's shape.
    pub version: u16,
    /// JSON text.
    pub body: String,
}

/// An event as the log holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredEvent {
    pub seq: Seq,
    pub at: i64,
    pub kind: String,
    pub version: u16,
    pub body: String,
    /// The hash over the event and the hash before it; see [`crate::link`].
    pub hash: Hash,
}

/// The end of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Head {
    pub seq: Seq,
    pub hash: Hash,
}

impl Head {
    /// The head of a stream that has no event yet.
    pub const EMPTY: Head = Head { seq: 0, hash: Hash::ZERO };
}
