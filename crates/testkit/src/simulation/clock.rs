//! What time is it in the simulation? Whatever the schedule says; it may jump, also backwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use board::{Span, Timestamp};
use control::Clock;

#[derive(Clone, Debug)]
pub(super) struct SimClock(Arc<AtomicI64>);

impl SimClock {
    pub(super) fn new() -> Self {
        Self(Arc::new(AtomicI64::new(1_800_000_000_000)))
    }

    pub(super) fn jump(&self, span: Span) {
        self.0.fetch_add(span.0, Ordering::Relaxed);
    }

    /// Goes forward to an instant, if it is not past.
    pub(super) fn reach(&self, at: Timestamp) {
        self.0.fetch_max(at.0, Ordering::Relaxed);
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.0.load(Ordering::Relaxed))
    }
}
