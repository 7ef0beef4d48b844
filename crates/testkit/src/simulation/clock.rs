//! What time is it in the simulation? Whatever the schedule says; it may jump, also backwards.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use board::{Span, Timestamp};
use control::Clock;

#[derive(Clone, Debug)]
pub(super) struct SimClock {
    wall: Arc<AtomicI64>,
    monotonic: Arc<AtomicI64>,
}

impl SimClock {
    pub(super) fn new() -> Self {
        Self { wall: Arc::new(AtomicI64::new(1_800_000_000_000)), monotonic: Arc::default() }
    }

    pub(super) fn pass(&self, span: Span) {
        self.jump(span);
        self.monotonic.fetch_add(span.0.max(0), Ordering::Relaxed);
    }

    /// Only the wall clock: it is set, or the machine was suspended.
    pub(super) fn jump(&self, span: Span) {
        self.wall.fetch_add(span.0, Ordering::Relaxed);
    }

    /// Goes forward to an instant, if it is not past.
    pub(super) fn reach(&self, at: Timestamp) {
        self.pass(Span((at - self.now()).0.max(0)));
    }
}

impl Clock for SimClock {
    fn now(&self) -> Timestamp {
        Timestamp(self.wall.load(Ordering::Relaxed))
    }

    fn monotonic(&self) -> Duration {
        Duration::from_millis(self.monotonic.load(Ordering::Relaxed).unsigned_abs())
    }
}
