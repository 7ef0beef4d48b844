//! Is what was found what was written?

use crate::chain::follows;
use crate::{Damage, Hash, Head, Seq, StoreError, StoredEvent, StreamName, Verified};

/// Walks along a stream, event by event, and notes where the chain is broken.
pub(crate) struct Proof {
    last: Seq,
    /// The hash of the event `last`; unknown if that event could not be read.
    hash: Option<Hash>,
    intact: Seq,
    damage: Vec<Damage>,
}

impl Proof {
    /// A walk that begins after a known event.
    pub(crate) fn after(head: Head) -> Self {
        Self { last: head.seq, hash: Some(head.hash), intact: head.seq, damage: Vec::new() }
    }

    /// The place that was looked at last.
    pub(crate) fn last(&self) -> Seq {
        self.last
    }

    /// The next event that was found.
    pub(crate) fn event(&mut self, event: &StoredEvent) {
        self.reach(event.seq - 1);
        if self.hash.is_some_and(|before| !follows(&before, event)) {
            self.damage.push(Damage::Altered { seq: event.seq });
        }
        self.step(event.seq, Some(event.hash));
    }

    /// There is something in the place of event `seq`, but it is not an event.
    pub(crate) fn garbage(&mut self, seq: Seq) {
        self.reach(seq - 1);
        self.damage.push(Damage::Altered { seq });
        self.step(seq, None);
    }

    /// The medium does not give the events up to `seq`.
    pub(crate) fn unreadable(&mut self, seq: Seq, detail: String) {
        let damage = Damage::Medium { detail };
        if self.damage.last() != Some(&damage) {
            self.damage.push(damage);
        }
        self.step(seq, None);
    }

    /// All events up to `seq` must have been seen by now.
    pub(crate) fn reach(&mut self, seq: Seq) {
        if self.last < seq {
            self.damage.push(Damage::Missing { seq: self.last + 1 });
            self.step(seq, None);
        }
    }

    /// The stream must end here, with `head`.
    pub(crate) fn end(&mut self, head: Head) {
        self.reach(head.seq);
        let seen = self.last;
        if seen > head.seq {
            let detail = format!("the stream ends at event {}, but events go on to {seen}", head.seq);
            self.damage.push(Damage::Medium { detail });
        } else if self.hash.is_some_and(|hash| hash != head.hash) && self.is_unbroken() {
            self.damage.push(Damage::Altered { seq: seen });
        }
    }

    pub(crate) fn add(&mut self, damage: Damage) {
        self.damage.push(damage);
    }

    pub(crate) fn verified(self) -> Verified {
        Verified { intact: self.intact, damage: self.damage }
    }

    /// Fails with the first damage, if there is any.
    pub(crate) fn into_result(self, stream: &StreamName) -> Result<(), StoreError> {
        match self.damage.first() {
            None => Ok(()),
            Some(damage) => Err(StoreError::Damaged(format!("{stream}: {damage}"))),
        }
    }

    fn step(&mut self, seq: Seq, hash: Option<Hash>) {
        self.last = seq;
        self.hash = hash;
        if self.is_unbroken() {
            self.intact = seq;
        }
    }

    fn is_unbroken(&self) -> bool {
        self.damage.is_empty()
    }
}
