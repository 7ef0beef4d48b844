//! What was, and is it still as it was written? Reading, replaying and proving a stream.

use board::Seq;
use store::{Damage, Store, StreamName};

use crate::{ControlError, Decider};

const PAGE: usize = 4096;

/// Folds a stream from its first event, up to and including `until`.
pub async fn replay<D: Decider>(
    store: &dyn Store,
    stream: &StreamName,
    fresh: D,
    until: Seq,
) -> Result<D, ControlError> {
    let mut state = fresh;
    fold(store, stream, &mut state, until).await?;
    Ok(state)
}

/// Folds what comes after `state`, up to and including `until`.
pub async fn fold<D: Decider>(
    store: &dyn Store,
    stream: &StreamName,
    state: &mut D,
    until: Seq,
) -> Result<(), ControlError> {
    while state.seq() < until {
        let room = usize::try_from(until - state.seq()).unwrap_or(PAGE).min(PAGE);
        let page = store.read(stream, state.seq(), room).await?;
        for stored in &page {
            let event = D::decode(stored).map_err(|error| ControlError::unreadable(stream, stored.seq, &error))?;
            state.apply(&event);
        }
        if page.len() < room {
            break;
        }
    }
    Ok(())
}

/// The events after `after`, at most `limit`, with their sequence numbers.
pub async fn events_after<D: Decider>(
    store: &dyn Store,
    stream: &StreamName,
    after: Seq,
    limit: usize,
) -> Result<Vec<(Seq, D::Event)>, ControlError> {
    let page = store.read(stream, after, limit).await?;
    page.iter()
        .map(|stored| match D::decode(stored) {
            Ok(event) => Ok((stored.seq, event)),
            Err(error) => Err(ControlError::unreadable(stream, stored.seq, &error)),
        })
        .collect()
}

/// What `log verify` found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyReport {
    pub events: Seq,
    pub damage: Vec<Damage>,
    /// An event that this binary cannot read, though its hash is right.
    pub unreadable: Option<String>,
    /// Does the board that is opened (from its snapshot) equal the one folded from all events?
    pub live_equals_replay: bool,
}

impl VerifyReport {
    pub fn is_sound(&self) -> bool {
        self.damage.is_empty() && self.unreadable.is_none() && self.live_equals_replay
    }
}

/// Proves the chain, rebuilds the state from all events and compares it with the live one (E5).
pub async fn verify<D: Decider + PartialEq>(
    store: &dyn Store,
    stream: &StreamName,
    fresh: D,
) -> Result<VerifyReport, ControlError> {
    let verified = store.verify(stream).await?;
    let mut report =
        VerifyReport { events: verified.intact, damage: verified.damage, unreadable: None, live_equals_replay: true };
    if !report.damage.is_empty() {
        report.live_equals_replay = false;
        return Ok(report);
    }
    let rebuilt = match replay(store, stream, fresh.clone(), verified.intact).await {
        Ok(rebuilt) => rebuilt,
        Err(error) => {
            report.unreadable = Some(error.to_string());
            report.live_equals_replay = false;
            return Ok(report);
        }
    };
    let (mut live, _) = load(store, stream, fresh).await?;
    // Events may have come since; compare at the same place.
    report.live_equals_replay = if live.seq() <= rebuilt.seq() {
        fold(store, stream, &mut live, rebuilt.seq()).await?;
        live == rebuilt
    } else {
        let mut rebuilt = rebuilt;
        fold(store, stream, &mut rebuilt, live.seq()).await?;
        live == rebuilt
    };
    Ok(report)
}

/// Opens a stream: its newest snapshot and the tail after it (E4). Also tells where the snapshot was.
pub(crate) async fn load<D: Decider>(
    store: &dyn Store,
    stream: &StreamName,
    fresh: D,
) -> Result<(D, Seq), ControlError> {
    let mut state = fresh;
    let mut snapshot_seq = 0;
    if let Some(format) = D::SNAPSHOT_FORMAT
        && let Some(snapshot) = store.snapshot(stream, format).await?
        && let Some(found) = D::from_snapshot(&snapshot.bytes).filter(|found| found.seq() == snapshot.head.seq)
    {
        snapshot_seq = snapshot.head.seq;
        state = found;
    }
    fold(store, stream, &mut state, Seq::MAX).await?;
    Ok((state, snapshot_seq))
}
