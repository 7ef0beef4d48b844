//! Has a client run for too long, or been silent for too long? By monotonic time, which no step of the clock changes,
//! and less the time in which this process itself stood still (S2a).

use std::time::{Duration, Instant, SystemTime};

use board::EndReason;

/// A wait that lasts so much longer than it should was interrupted: this process was stopped with its client.
const TOLERANCE: Duration = Duration::from_secs(5);

#[derive(Debug)]
pub(super) struct TimeLimits {
    most: Duration,
    most_silent: Option<Duration>,
    began: Instant,
    /// When it last printed something or called the server.
    last_activity: Instant,
    /// The time of the last call that was seen, as its file says it.
    last_call: Option<SystemTime>,
    /// What both clocks said when they were last compared.
    compared: (Instant, SystemTime),
}

impl TimeLimits {
    pub(super) fn new(most: Duration, most_silent: Option<Duration>, now: Instant, wall: SystemTime) -> Self {
        Self { most, most_silent, began: now, last_activity: now, last_call: None, compared: (now, wall) }
    }

    /// The client runs only now.
    pub(super) fn begin(&mut self, now: Instant) {
        (self.began, self.last_activity) = (now, now);
    }

    pub(super) fn saw_output(&mut self, now: Instant) {
        self.last_activity = now;
    }

    /// After a wait that was to last `planned` at most. Returns how long this process stood still, which counts
    /// against nobody.
    pub(super) fn waited(&mut self, planned: Duration, really: Duration) -> Duration {
        let longer = really.saturating_sub(planned);
        if longer < TOLERANCE {
            return Duration::ZERO;
        }
        self.began += longer;
        self.last_activity += longer;
        longer
    }

    /// When a limit is reached if nothing happens before.
    pub(super) fn next(&self) -> Instant {
        let end = self.began + self.most;
        self.most_silent.map_or(end, |silent| end.min(self.last_activity + silent))
    }

    /// Which limit is reached. A call of the agent since the last one that was seen counts as activity; `called` and
    /// `wall` are both by the wall clock, which may have been set between the two.
    pub(super) fn reached(&mut self, now: Instant, called: Option<SystemTime>, wall: SystemTime) -> Option<EndReason> {
        if now < self.next() {
            return None;
        }
        if now >= self.began + self.most {
            return Some(EndReason::TimedOut);
        }
        if called.is_none() || called == self.last_call {
            return Some(EndReason::Stalled);
        }
        self.last_call = called;
        let since = now.saturating_duration_since(self.last_activity);
        let ago = called.and_then(|called| wall.duration_since(called).ok());
        if self.was_set(now, wall) {
            // It cannot be told when the agent called, so it has the benefit of the doubt.
            self.last_activity = now;
        } else if let Some(ago) = ago.filter(|ago| *ago < since) {
            self.last_activity = now.checked_sub(ago).unwrap_or(now);
        } else {
            return Some(EndReason::Stalled);
        }
        None
    }

    /// Was the wall clock set since the last time this was asked?
    fn was_set(&mut self, now: Instant, wall: SystemTime) -> bool {
        let (then, wall_then) = std::mem::replace(&mut self.compared, (now, wall));
        let passed = now.saturating_duration_since(then);
        wall.duration_since(wall_then).map_or(true, |by_wall| by_wall.abs_diff(passed) > TOLERANCE)
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant, SystemTime};

    use board::EndReason;

    use super::TimeLimits;

    const fn seconds(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    /// A client that may run for an hour and be silent for ten minutes, and its beginning by both clocks.
    fn limits() -> (TimeLimits, Instant, SystemTime) {
        let (now, wall) = (Instant::now(), SystemTime::now());
        (TimeLimits::new(seconds(3600), Some(seconds(600)), now, wall), now, wall)
    }

    /// R4
    #[test]
    fn silence_is_measured_from_the_last_output_or_call() {
        let (mut limits, start, wall) = limits();
        assert_eq!(limits.reached(start + seconds(599), None, wall + seconds(599)), None);
        limits.saw_output(start + seconds(500));
        assert_eq!(limits.reached(start + seconds(600), None, wall + seconds(600)), None);
        let called = Some(wall + seconds(900));
        assert_eq!(limits.reached(start + seconds(1100), called, wall + seconds(1100)), None);
        assert_eq!(limits.next(), start + seconds(1500), "ten minutes after the call");
        assert_eq!(limits.reached(start + seconds(1500), called, wall + seconds(1500)), Some(EndReason::Stalled));
    }

    /// R4
    #[test]
    fn whole_time_is_limited_whatever_it_does() {
        let (mut limits, start, wall) = limits();
        limits.saw_output(start + seconds(3599));
        let called = Some(wall + seconds(3599));
        assert_eq!(limits.reached(start + seconds(3600), called, wall + seconds(3600)), Some(EndReason::TimedOut));
    }

    /// R4: a call before the last output does not prolong the silence after it.
    #[test]
    fn old_call_is_no_activity() {
        let (mut limits, start, wall) = limits();
        limits.saw_output(start + seconds(500));
        let called = Some(wall + seconds(100));
        assert_eq!(limits.reached(start + seconds(1100), called, wall + seconds(1100)), Some(EndReason::Stalled));
    }

    /// S2a: a clock that was set back or forward after a call makes no live agent a silent one.
    #[test]
    fn clock_that_is_set_stalls_nobody() {
        for set in [|wall: SystemTime| wall - seconds(3600), |wall| wall + seconds(3600)] {
            let (mut limits, start, wall) = limits();
            let called = Some(wall + seconds(300));
            assert_eq!(limits.reached(start + seconds(600), called, set(wall + seconds(600))), None);
            assert_eq!(limits.next(), start + seconds(1200));
        }
    }

    /// S2a: time in which the shim was stopped does not count.
    #[test]
    fn stopped_time_does_not_count() {
        let (mut limits, start, wall) = limits();
        assert_eq!(limits.waited(seconds(30), seconds(31)), Duration::ZERO);
        assert_eq!(limits.waited(seconds(30), seconds(1830)), seconds(1800));
        assert_eq!(limits.reached(start + seconds(2000), None, wall + seconds(2000)), None);
        assert_eq!(limits.next(), start + seconds(2400));
    }
}
