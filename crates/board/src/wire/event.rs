//! Which shape does an event have on the wire?

use schemars::JsonSchema;
use serde::Serialize;

use crate::event;
use crate::{Actor, Seq, Timestamp};

/// An event with its place in the log, without secrets.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct Event {
    pub seq: Seq,
    pub at: Timestamp,
    pub by: Actor,
    /// What happened, such as `task_moved`.
    #[serde(rename = "type")]
    pub kind: &'static str,
    pub data: serde_json::Value,
}

impl Event {
    pub fn of(seq: Seq, event: &event::Event) -> Self {
        let event = event.redacted();
        // The name of what happened is told beside it.
        let data = match serde_json::to_value(&event.what) {
            Ok(serde_json::Value::Object(object)) => object.into_iter().next().map(|(_, data)| data),
            Ok(_) | Err(_) => None,
        };
        Self { seq, at: event.at, kind: event.name(), by: event.by, data: data.unwrap_or_default() }
    }
}
