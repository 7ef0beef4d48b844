//! How does an append become durable, once, whoever else appends and whatever happens to the connection?

use super::connections::{Connections, Trouble};
use super::{bytes, reader, signed};
use crate::{Head, NewEvent, Seq, StoreError, StreamName, link};

/// One statement, and so one round trip and one transaction. The row of the stream decides every race: whoever comes second
/// waits for it, finds another number there, and changes nothing.
const APPEND: &str = "
    WITH moved AS (
        UPDATE streams SET seq = $4, hash = $5 WHERE name = $1 AND seq = $2 AND hash = $3 RETURNING id
    )
    INSERT INTO events (stream, seq, at, kind, version, body, hash, append)
    SELECT moved.id, event.*, $12
    FROM moved, unnest($6::BIGINT[], $7::BIGINT[], $8::BYTEA[], $9::INTEGER[], $10::BYTEA[], $11::BYTEA[]) AS event
    RETURNING seq";

/// The events of one append as columns, chained to the event before them.
struct Columns<'a> {
    seqs: Vec<i64>,
    times: Vec<i64>,
    kinds: Vec<&'a [u8]>,
    versions: Vec<i32>,
    bodies: Vec<&'a [u8]>,
    hashes: Vec<Vec<u8>>,
    end: Head,
}

impl<'a> Columns<'a> {
    fn after(before: Head, events: &'a [NewEvent]) -> Self {
        let mut end = before;
        let mut hashes = Vec::with_capacity(events.len());
        for event in events {
            end.seq += 1;
            end.hash = link(&end.hash, end.seq, event);
            hashes.push(bytes(&end.hash));
        }
        Self {
            seqs: (before.seq + 1..=end.seq).map(signed).collect(),
            times: events.iter().map(|event| event.at).collect(),
            kinds: events.iter().map(|event| event.kind.as_bytes()).collect(),
            versions: events.iter().map(|event| i32::from(event.version)).collect(),
            bodies: events.iter().map(|event| event.body.as_bytes()).collect(),
            hashes,
            end,
        }
    }
}

/// Appends events after `before`. The stream is known to exist.
pub(super) async fn append(
    connections: &Connections,
    stream: &StreamName,
    before: Head,
    events: &[NewEvent],
) -> Result<Head, StoreError> {
    let columns = Columns::after(before, events);
    // Which append this is: another server may append the very same events in the same millisecond.
    let append = getrandom::u64().map_err(StoreError::failed)?.cast_signed();
    let mut answer_was_lost = false;
    let mut retry = connections.retry();
    loop {
        match try_append(connections, stream, before, &columns, append).await {
            Ok(true) => return Ok(columns.end),
            Ok(false) if answer_was_lost && is_ours(connections, stream, before.seq + 1, append).await? => {
                return Ok(columns.end);
            }
            Ok(false) => {
                let actual = reader::head(connections, stream).await?;
                if actual == before {
                    // It was restored to an earlier state in this very moment, or the head and the events disagree.
                    return Err(StoreError::Damaged(format!("{stream}: nothing can follow event {}", before.seq)));
                }
                return Err(StoreError::Conflict { expected: before.seq, actual: actual.seq });
            }
            Err(trouble) => {
                retry.pause(trouble).await?;
                answer_was_lost = true;
            }
        }
    }
}

/// Whether the stream ended where it should, and the events are there now.
async fn try_append(
    connections: &Connections,
    stream: &StreamName,
    before: Head,
    columns: &Columns<'_>,
    append: i64,
) -> Result<bool, Trouble> {
    let Columns { seqs, times, kinds, versions, bodies, hashes, end } = columns;
    let (from, from_hash, to, to_hash) = (signed(before.seq), bytes(&before.hash), signed(end.seq), bytes(&end.hash));
    let rows = connections
        .try_rows(
            APPEND,
            &[
                &stream.as_str(),
                &from,
                &from_hash,
                &to,
                &to_hash,
                seqs,
                times,
                kinds,
                versions,
                bodies,
                hashes,
                &append,
            ],
        )
        .await?;
    Ok(!rows.is_empty())
}

/// Is the event one that this append wrote, although its answer was lost?
async fn is_ours(connections: &Connections, stream: &StreamName, first: Seq, append: i64) -> Result<bool, StoreError> {
    let mine = "SELECT 1 FROM events JOIN streams ON id = stream WHERE name = $1 AND events.seq = $2 AND append = $3";
    Ok(!connections.rows(mine, &[&stream.as_str(), &signed(first), &append]).await?.is_empty())
}
