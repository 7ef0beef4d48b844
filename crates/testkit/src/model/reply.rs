//! What does an answer of the model look like in HTTP?

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde_json::{Value, json};

/// The answer to one request.
#[derive(Clone, Debug)]
pub(super) struct Reply {
    pub(super) status: u16,
    pub(super) content_type: &'static str,
    pub(super) body: String,
}

impl Reply {
    pub(super) fn json(body: &Value) -> Self {
        Self { status: 200, content_type: "application/json", body: body.to_string() }
    }

    pub(super) fn stream(body: String) -> Self {
        Self { status: 200, content_type: "text/event-stream", body }
    }

    /// An error in a shape that every vendor's client reads.
    pub(super) fn error(status: u16, kind: &str, message: &str) -> Self {
        let error = json!({ "type": kind, "message": message, "code": status, "status": kind.to_uppercase() });
        let body = json!({ "type": "error", "error": error });
        Self { status, content_type: "application/json", body: body.to_string() }
    }
}

/// Server-sent events that are named by their type.
pub(super) fn events(events: &[Value]) -> String {
    events.iter().map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or(""))).collect()
}

/// Server-sent events without names.
pub(super) fn lines(events: &[Value]) -> String {
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// Ids that no earlier run has used: clients keep conversations, and confuse entries with the same id.
#[derive(Debug)]
pub(super) struct Ids {
    run: u128,
    last: AtomicU64,
}

impl Ids {
    pub(super) fn new() -> Self {
        let run = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
        Self { run, last: AtomicU64::new(0) }
    }

    pub(super) fn next(&self, kind: &str) -> String {
        format!("{kind}_{:x}{:04x}", self.run, self.last.fetch_add(1, Ordering::Relaxed))
    }
}
