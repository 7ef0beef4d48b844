//! May another secret be tried? After a few wrong ones in a row there is a pause, which doubles.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard};

use board::{Span, Timestamp};

/// Failed attempts before the first pause.
const FREE: u32 = 5;
/// The pause after those; it doubles with every further one.
const FIRST_PAUSE: Span = Span::seconds(10);
const LONGEST_PAUSE: Span = Span::minutes(15);

#[derive(Clone, Copy, Debug)]
struct FailedAttempts {
    times: u32,
    last: Timestamp,
}

impl FailedAttempts {
    fn pause(self) -> Span {
        match self.times.checked_sub(FREE) {
            None => Span(0),
            Some(more) => Span(FIRST_PAUSE.0.saturating_mul(1 << more.min(20)).min(LONGEST_PAUSE.0)),
        }
    }
}

/// Counts failed attempts for each account that somebody tried to log in to.
#[derive(Debug)]
pub struct AttemptLimiter<W> {
    failed: Mutex<HashMap<W, FailedAttempts>>,
}

impl<W> Default for AttemptLimiter<W> {
    fn default() -> Self {
        Self { failed: Mutex::default() }
    }
}

impl<W: Clone + Eq + Hash> AttemptLimiter<W> {
    /// Counts one attempt, or says in how many seconds the next one is allowed. It counts as failed until
    /// [`Self::succeeded`] is called, so that attempts made at the same time are all counted.
    pub fn attempt(&self, whose: &W, now: Timestamp) -> Result<(), i64> {
        let mut failed = self.lock();
        let known = failed.entry(whose.clone()).or_insert(FailedAttempts { times: 0, last: now });
        let left = known.pause().0 - (now - known.last).0;
        if left > 0 {
            return Err(left.div_euclid(1000) + 1);
        }
        *known = FailedAttempts { times: known.times + 1, last: now };
        Ok(())
    }

    pub fn succeeded(&self, whose: &W) {
        self.lock().remove(whose);
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<W, FailedAttempts>> {
        self.failed.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::AttemptLimiter;
    use board::{Span, Timestamp};

    /// S3: guessing is slow, and costs a known agent nothing but patience.
    #[test]
    fn guessing_is_slowed_down_and_forgotten_after_a_right_one() {
        let attempts = AttemptLimiter::default();
        let whose = Some("coder");
        let mut now = Timestamp(0);
        for _ in 0..5 {
            attempts.attempt(&whose, now).unwrap();
        }
        assert_eq!(attempts.attempt(&whose, now), Err(11));
        assert_eq!(attempts.attempt(&None, now), Ok(()), "nobody else is slowed down");
        now = now + Span::seconds(10);
        attempts.attempt(&whose, now).unwrap();
        assert_eq!(attempts.attempt(&whose, now), Err(21));
        now = now + Span::seconds(20);
        attempts.attempt(&whose, now).unwrap();
        attempts.succeeded(&whose);
        assert_eq!(attempts.attempt(&whose, now), Ok(()));
    }
}
