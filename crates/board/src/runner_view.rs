//! What is known of the runner of a project (L9)?

use serde::{Deserialize, Serialize};

use crate::SessionId;

/// The runner, as far as whoever asks can see it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunnerView {
    /// It cannot be seen from here.
    Unknown,
    /// There is none.
    Missing,
    Present(RunnerStatus),
}

/// How a runner stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunnerStatus {
    /// How many clients it runs at once.
    pub slots: u32,
    /// The sessions that have a slot.
    pub busy: Vec<SessionId>,
    /// Its disk, if that is too full to start anything.
    pub disk: Option<DiskSpace>,
}

/// Bytes that are free on a disk, and that must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DiskSpace {
    pub free: u64,
    pub floor: u64,
}
