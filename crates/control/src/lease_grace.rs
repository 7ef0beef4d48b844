//! From when on may a lease lapse? Time in which the server, the machine or the store stood still does not count
//! against a runner (S2a).

use std::time::Duration;

use board::{Span, Timestamp};

/// How often the clocks are looked at while there are leases.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(5);

/// A look that comes so much later, or finds the clocks so much apart, was kept from coming.
const TOLERANCE: Duration = Duration::from_secs(10);

/// For this long a runner has time to renew its leases: three times as long as it takes between two renewals.
const GRACE: Span = Span::seconds(60);

/// What both clocks said at one moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    pub(crate) wall: Timestamp,
    /// By a clock that nobody sets, and that may stop while the machine is suspended.
    pub(crate) monotonic: Duration,
}

/// When the grace of all leases began.
#[derive(Debug)]
pub(crate) struct LeaseGrace {
    since: Timestamp,
    last: Moment,
}

impl LeaseGrace {
    pub(crate) fn beginning(at: Moment) -> Self {
        Self { since: at.wall, last: at }
    }

    /// Looks at the clocks. If this process could not look for a while (stopped), or the wall clock went ahead of the
    /// monotonic one (suspended, or set), every lease gets a new grace. To be called every [`LOOK_EVERY`].
    pub(crate) fn look(&mut self, now: Moment) {
        let ran = now.monotonic.saturating_sub(self.last.monotonic);
        let passed = u64::try_from((now.wall - self.last.wall).0).map_or(Duration::ZERO, Duration::from_millis);
        let stopped = ran > LOOK_EVERY + TOLERANCE;
        let went_ahead = passed > ran + TOLERANCE;
        if stopped || went_ahead {
            self.begin_again(now.wall);
        }
        // A clock that was set back must not leave the beginning in the future.
        self.since = self.since.min(now.wall);
        self.last = now;
    }

    /// Nothing could be written, so nobody could renew.
    pub(crate) fn begin_again(&mut self, now: Timestamp) {
        self.since = now;
    }

    /// No lease lapses before this.
    pub(crate) fn ends(&self) -> Timestamp {
        self.since + GRACE
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use board::{Span, Timestamp};

    use super::{GRACE, LeaseGrace, Moment};

    const START: Timestamp = Timestamp(1_000_000);

    /// A look after so many seconds by each clock.
    fn at(wall: i64, monotonic: u64) -> Moment {
        Moment { wall: START + Span::seconds(wall), monotonic: Duration::from_secs(monotonic) }
    }

    fn grace(looks: &[Moment]) -> i64 {
        let mut grace = LeaseGrace::beginning(at(0, 0));
        looks.iter().for_each(|look| grace.look(*look));
        (grace.ends() - (START + GRACE)).0 / 1000
    }

    /// S2a, F100: who looks regularly has one grace; a gap, a suspend or a step forward begins a new one.
    #[test]
    fn grace_begins_again_when_time_stood_still() {
        assert_eq!(grace(&[at(5, 5), at(10, 10), at(24, 24)]), 0, "late by less than the tolerance");
        assert_eq!(grace(&[at(5, 5), at(95, 95)]), 95, "stopped for 90 s");
        assert_eq!(grace(&[at(5, 5), at(3600, 6)]), 3600, "suspended for an hour");
        assert_eq!(grace(&[at(5, 5), at(3605, 10)]), 3605, "set forward by an hour");
        assert_eq!(grace(&[at(5, 5), at(12, 6)]), 0, "set forward by a little");
    }

    /// S2a: a clock that is set back lets no lease lapse early, and keeps none for ever.
    #[test]
    fn clock_that_is_set_back_begins_at_its_new_time() {
        assert_eq!(grace(&[at(5, 5), at(-3595, 10)]), -3595);
        assert_eq!(grace(&[at(5, 5), at(-3595, 10), at(-3590, 15)]), -3595);
    }
}
