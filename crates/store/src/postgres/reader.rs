//! What is in the database? The queries behind every read.

use std::collections::BTreeMap;

use tokio_postgres::Row;

use super::connections::Connections;
use super::signed;
use crate::proof::Proof;
use crate::snapshots::StoredSnapshot;
use crate::{
    Decision, Hash, Head, RecordedDecision, SecretValues, Seq, Snapshot, StoreError, StoredEvent, StreamName, Verified,
};

/// Events that are read at once to prove a stream.
const PAGE: usize = 4096;

/// What stands in an event's place.
enum Found {
    Event(StoredEvent),
    Garbage(Seq),
}

pub(super) async fn head(connections: &Connections, stream: &StreamName) -> Result<Head, StoreError> {
    Ok(heads(connections, std::slice::from_ref(stream)).await?.pop().map_or(Head::EMPTY, |(_, head)| head))
}

/// The heads of those streams that exist.
pub(super) async fn heads(
    connections: &Connections,
    streams: &[StreamName],
) -> Result<Vec<(StreamName, Head)>, StoreError> {
    let names: Vec<&str> = streams.iter().map(StreamName::as_str).collect();
    let rows = connections.rows("SELECT name, seq, hash FROM streams WHERE name = ANY($1)", &[&names]).await?;
    rows.iter()
        .map(|row| {
            let name = StreamName::named(row.get::<_, String>(0));
            let hash = hash_in(row, 2).ok_or_else(|| StoreError::Damaged(format!("{name}: its head is no hash")))?;
            Ok((name, Head { seq: unsigned(row, 1), hash }))
        })
        .collect()
}

pub(super) async fn streams(connections: &Connections) -> Result<Vec<StreamName>, StoreError> {
    let rows = connections.rows("SELECT name FROM streams WHERE seq > 0 ORDER BY name COLLATE \"C\"", &[]).await?;
    Ok(rows.iter().map(|row| StreamName::named(row.get::<_, String>(0))).collect())
}

/// The events after `after`, proven, in one round trip: the event `after` and the stream's head come along.
pub(super) async fn read(
    connections: &Connections,
    stream: &StreamName,
    after: Seq,
    limit: usize,
) -> Result<Vec<StoredEvent>, StoreError> {
    let page = "
        SELECT streams.seq, streams.hash, event.seq, at, kind, version, body, event.hash
        FROM streams LEFT JOIN LATERAL (
            SELECT * FROM events WHERE stream = id AND seq >= $2 ORDER BY seq LIMIT $3
        ) AS event ON true
        WHERE name = $1 ORDER BY event.seq";
    let limit = i64::try_from(limit).unwrap_or(i64::MAX);
    let rows = connections.rows(page, &[&stream.as_str(), &signed(after), &limit.saturating_add(1)]).await?;
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let head_hash = hash_in(first, 1).ok_or_else(|| StoreError::Damaged(format!("{stream}: its head is no hash")))?;
    let head = Head { seq: unsigned(first, 0), hash: head_hash };
    if after > head.seq {
        return Ok(Vec::new());
    }
    let mut found = rows.iter().filter(|row| row.get::<_, Option<i64>>(2).is_some()).map(event_in);
    let before = match after {
        0 => Head::EMPTY,
        _ => match found.next() {
            Some(Found::Event(event)) if event.seq == after => Head { seq: after, hash: event.hash },
            Some(_) | None => return Err(StoreError::Damaged(format!("{stream}: event {after} is missing"))),
        },
    };
    let last = after.saturating_add(limit.unsigned_abs()).min(head.seq);
    let mut proof = Proof::after(before);
    let mut events = Vec::new();
    for found in found.take(usize::try_from(limit).unwrap_or(usize::MAX)) {
        match found {
            Found::Event(event) => {
                proof.event(&event);
                events.push(event);
            }
            Found::Garbage(seq) => proof.garbage(seq),
        }
    }
    if last == head.seq {
        proof.end(head);
    } else {
        proof.reach(last);
    }
    proof.into_result(stream).map(|()| events)
}

/// Proves the whole stream and its snapshot. What lies up to the head never changes: with the head read first, no
/// transaction is needed.
pub(super) async fn verify(connections: &Connections, stream: &StreamName) -> Result<Verified, StoreError> {
    let mut proof = Proof::after(Head::EMPTY);
    let end = match head(connections, stream).await {
        Err(StoreError::Damaged(detail)) => {
            proof.add(crate::Damage::Medium { detail });
            None
        }
        found => Some(found?),
    };
    let until = end.map_or(Seq::MAX, |head| head.seq);
    let page = "
        SELECT NULL, NULL, events.seq, at, kind, version, body, events.hash FROM events JOIN streams ON id = stream
        WHERE name = $1 AND events.seq > $2 AND events.seq <= $3 ORDER BY events.seq LIMIT $4";
    loop {
        let parameters = (signed(proof.last()), signed(until), PAGE as i64);
        let rows = connections.rows(page, &[&stream.as_str(), &parameters.0, &parameters.1, &parameters.2]).await?;
        for row in &rows {
            match event_in(row) {
                Found::Event(event) => proof.event(&event),
                Found::Garbage(seq) => proof.garbage(seq),
            }
        }
        if rows.len() < PAGE {
            break;
        }
    }
    if let Some(end) = end {
        proof.end(end);
    }
    if let Some(kept) = snapshot(connections, stream).await?.filter(|kept| !kept.is_intact()) {
        proof.add(crate::Damage::Snapshot { seq: kept.snapshot.head.seq });
    }
    Ok(proof.verified())
}

pub(super) async fn snapshot(
    connections: &Connections,
    stream: &StreamName,
) -> Result<Option<StoredSnapshot>, StoreError> {
    let rows = connections
        .rows(
            "SELECT snapshots.seq, snapshots.hash, format, bytes, checksum
             FROM snapshots JOIN streams ON id = stream WHERE name = $1",
            &[&stream.as_str()],
        )
        .await?;
    Ok(rows.first().map(|row| {
        let head = Head { seq: unsigned(row, 0), hash: hash_in(row, 1).unwrap_or(Hash::ZERO) };
        let format = u32::try_from(row.get::<_, i64>(2)).unwrap_or(u32::MAX);
        StoredSnapshot { snapshot: Snapshot { head, format, bytes: row.get(3) }, checksum: row.get(4) }
    }))
}

pub(super) async fn decisions(
    connections: &Connections,
    stream: &StreamName,
    subject: &str,
    before: u64,
    limit: usize,
) -> Result<Vec<RecordedDecision>, StoreError> {
    let (before, limit) = (signed(before), i64::try_from(limit).unwrap_or(i64::MAX));
    let rows = connections
        .rows(
            "SELECT number, at, decisions.seq, kind, subject, body FROM decisions JOIN streams ON id = stream
             WHERE name = $1 AND subject = $2 AND number < $3 ORDER BY number DESC LIMIT $4",
            &[&stream.as_str(), &subject, &before, &limit],
        )
        .await?;
    let decision = |row: &Row| Decision {
        at: row.get(1),
        seq: unsigned(row, 2),
        kind: row.get(3),
        subject: row.get(4),
        body: row.get(5),
    };
    Ok(rows.iter().map(|row| RecordedDecision { number: unsigned(row, 0), decision: decision(row) }).collect())
}

pub(super) async fn secrets(
    connections: &Connections,
    stream: &StreamName,
    owner: &str,
) -> Result<SecretValues, StoreError> {
    let values = "SELECT secrets.name, value FROM secrets JOIN streams ON id = stream
                  WHERE streams.name = $1 AND owner = $2";
    let rows = connections.rows(values, &[&stream.as_str(), &owner]).await?;
    Ok(rows.iter().map(|row| (row.get(0), row.get(1))).collect())
}

pub(super) async fn all_secrets(
    connections: &Connections,
    stream: &StreamName,
) -> Result<BTreeMap<String, SecretValues>, StoreError> {
    let values = "SELECT owner, secrets.name, value FROM secrets JOIN streams ON id = stream WHERE streams.name = $1";
    let mut found = BTreeMap::<String, SecretValues>::new();
    for row in connections.rows(values, &[&stream.as_str()]).await? {
        found.entry(row.get(0)).or_default().insert(row.get(1), row.get(2));
    }
    Ok(found)
}

/// The event in the third column and those after it.
fn event_in(row: &Row) -> Found {
    let seq = unsigned(row, 2);
    let text = |column: usize| String::from_utf8(row.get(column)).ok();
    let event = || {
        Some(StoredEvent {
            seq,
            at: row.get(3),
            kind: text(4)?,
            version: u16::try_from(row.get::<_, i32>(5)).ok()?,
            body: text(6)?,
            hash: hash_in(row, 7)?,
        })
    };
    event().map_or(Found::Garbage(seq), Found::Event)
}

fn hash_in(row: &Row, column: usize) -> Option<Hash> {
    row.get::<_, &[u8]>(column).try_into().ok().map(Hash::from_bytes)
}

/// Numbers of events begin at 0; anything else is damage, which the proof finds.
pub(super) fn unsigned(row: &Row, column: usize) -> u64 {
    u64::try_from(row.get::<_, i64>(column)).unwrap_or(0)
}
