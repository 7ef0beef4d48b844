//! How does an installation get into another store, whole and proved (E10)?

use board::Seq;
use store::{Head, NewEvent, OUTPUT_PIECE_LIMIT, Store, StoreError, StoreLocation, StreamName};

/// Events that are read and written at once.
const PAGE: usize = 2_000;

/// How far a stream has been copied.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CopiedStream {
    pub stream: StreamName,
    /// Events that are there now, and how many of them were there before.
    pub events: Seq,
    pub before: Seq,
}

#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    #[error("{location}: {error}")]
    Store { location: String, error: StoreError },
    /// There is something else in the target.
    #[error("{location} holds another {stream}: it differs at event {seq}")]
    Other { location: String, stream: StreamName, seq: Seq },
    /// The target has streams that the source has not.
    #[error("{location} holds {stream}, which is not in {from}")]
    More { location: String, stream: StreamName, from: String },
    #[error("{location} was written to while it was copied: {stream} is at event {now}, of which {copied} are copied")]
    WrittenTo { location: String, stream: StreamName, copied: Seq, now: Seq },
    #[error("{location} is in use: {by}")]
    InUse { location: String, by: String },
}

/// May others write to the source meanwhile?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    /// No: it is left for the target, which must have all of it.
    Left,
    /// Yes: it goes on, and the target has what was there when it was asked.
    Stays,
}

/// Copies every stream with its secrets and the output of its sessions, and proves that what arrived is what was there: the
/// hash of each event holds all events before it. What an earlier try has copied is kept. The trace, snapshots and presence
/// stay behind: the first is no part of the log, the others are made again.
pub async fn copy_store(
    from: &StoreLocation,
    to: &StoreLocation,
    source: Source,
    mut tell: impl FnMut(&StreamName, Seq, Seq),
) -> Result<Vec<CopiedStream>, CopyError> {
    let failed = |location: &StoreLocation| {
        let location = location.to_string();
        move |error| CopyError::Store { location: location.clone(), error }
    };
    let opened = from.open().await.map_err(failed(from))?;
    if source == Source::Left
        && let Some(shared) = &opened.shared
        && let Some(by) = shared.other_servers().await.map_err(failed(from))?
    {
        return Err(CopyError::InUse { location: from.to_string(), by });
    }
    let (read, write) = (opened.store, to.open().await.map_err(failed(to))?.store);
    let streams = read.streams().await.map_err(failed(from))?;
    let there = write.streams().await.map_err(failed(to))?;
    if let Some(stream) = there.into_iter().find(|stream| !streams.contains(stream)) {
        return Err(CopyError::More { location: to.to_string(), stream, from: from.to_string() });
    }
    let mut copied = Vec::new();
    for stream in streams {
        let end = read.head(&stream).await.map_err(failed(from))?;
        let before = write.head(&stream).await.map_err(failed(to))?;
        check_same(&*read, from, to, &stream, before).await?;
        let mut head = before;
        while head.seq < end.seq {
            let room = usize::try_from(end.seq - head.seq).unwrap_or(PAGE).min(PAGE);
            let page = read.read(&stream, head.seq, room).await.map_err(failed(from))?;
            let Some(last) = page.last().map(|event| Head { seq: event.seq, hash: event.hash }) else { break };
            let events = page
                .into_iter()
                .map(|event| NewEvent { at: event.at, kind: event.kind, version: event.version, body: event.body })
                .collect();
            let expected = head.seq;
            head = write.append(&stream, expected, events).await.map_err(failed(to))?;
            if head != last {
                return Err(CopyError::Other { location: to.to_string(), stream, seq: expected + 1 });
            }
            tell(&stream, head.seq, end.seq);
        }
        copy_secrets(&*read, &*write, &stream, failed(from), failed(to)).await?;
        for session in read.sessions_with_output(&stream).await.map_err(failed(from))? {
            copy_output(&*read, &*write, &stream, &session, failed(from), failed(to)).await?;
        }
        copied.push(CopiedStream { stream, events: head.seq, before: before.seq });
    }
    if source == Source::Left {
        for CopiedStream { stream, events, .. } in &copied {
            let now = read.head(stream).await.map_err(failed(from))?.seq;
            if now != *events {
                let (location, stream) = (from.to_string(), stream.clone());
                return Err(CopyError::WrittenTo { location, stream, copied: *events, now });
            }
        }
    }
    Ok(copied)
}

/// What an earlier try has copied must be the beginning of what is there.
async fn check_same(
    read: &dyn Store,
    from: &StoreLocation,
    to: &StoreLocation,
    stream: &StreamName,
    before: Head,
) -> Result<(), CopyError> {
    if before.seq == 0 {
        return Ok(());
    }
    let same = read.read(stream, before.seq - 1, 1).await;
    let same = same.map_err(|error| CopyError::Store { location: from.to_string(), error })?;
    if same.first().is_some_and(|event| event.hash == before.hash) {
        return Ok(());
    }
    Err(CopyError::Other { location: to.to_string(), stream: stream.clone(), seq: before.seq })
}

async fn copy_secrets(
    read: &dyn Store,
    write: &dyn Store,
    stream: &StreamName,
    from: impl Fn(StoreError) -> CopyError,
    to: impl Fn(StoreError) -> CopyError,
) -> Result<(), CopyError> {
    for (owner, values) in read.all_secrets(stream).await.map_err(from)? {
        write.put_secrets(stream, &owner, values).await.map_err(&to)?;
    }
    Ok(())
}

/// Copies what is kept of a session's output by now, from where an earlier try ended.
async fn copy_output(
    read: &dyn Store,
    write: &dyn Store,
    stream: &StreamName,
    session: &str,
    from: impl Fn(StoreError) -> CopyError,
    to: impl Fn(StoreError) -> CopyError,
) -> Result<(), CopyError> {
    let until = read.output(stream, session, 0, 0).await.map_err(&from)?.newest;
    let mut at = write.output(stream, session, 0, 0).await.map_err(&to)?.newest;
    while at < until {
        let page = read.output(stream, session, at, OUTPUT_PIECE_LIMIT).await.map_err(&from)?;
        if page.bytes.is_empty() {
            break;
        }
        if page.start > at {
            // What follows the copied part is not kept any more, and the rest must not follow a gap.
            write.drop_output_before(stream, session, u64::MAX).await.map_err(&to)?;
        }
        let end = page.end();
        at = write.append_output(stream, session, page.start, page.bytes).await.map_err(&to)?;
        if at != end {
            break; // Somebody else copies it.
        }
    }
    Ok(())
}
