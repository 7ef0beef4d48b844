//! What is promised of session output?

use std::sync::Arc;

use tokio::task::{JoinSet, yield_now};

use super::{Storage, events, project};
use crate::{OUTPUT_PIECE_LIMIT, OutputPage, Store, StoreError, StreamName};

const SESSION: &str = "ses_1";

async fn append(store: &dyn Store, at: u64, text: &str) -> u64 {
    store.append_output(&project(), SESSION, at, text.into()).await.unwrap()
}

async fn read(store: &dyn Store, from: u64, most: usize) -> OutputPage {
    store.output(&project(), SESSION, from, most).await.unwrap()
}

fn page(start: u64, text: &str, oldest: u64, newest: u64) -> OutputPage {
    OutputPage { start, bytes: text.into(), oldest, newest }
}

/// R10
pub async fn output_is_kept_by_position(storage: &impl Storage) {
    let (one, two) = (storage.handle().await, storage.handle().await);
    assert_eq!(read(&*one, 5, 10).await, OutputPage::default());
    assert_eq!(append(&*one, 0, "one ").await, 4);
    assert_eq!(append(&*two, 4, "two ").await, 8);
    assert_eq!(append(&*one, 8, "three").await, 13);
    for (from, most, start, text) in [
        (0, 100, 0, "one two three"),
        (0, usize::MAX, 0, "one two three"),
        (0, 4, 0, "one "),
        (2, 4, 2, "e tw"),
        (2, 9, 2, "e two thr"),
        (4, 4, 4, "two "),
        (12, 4, 12, "e"),
        (3, 0, 3, ""),
        (13, 4, 13, ""),
        (99, 4, 13, ""),
        (u64::MAX, usize::MAX, 13, ""),
    ] {
        assert_eq!(read(&*two, from, most).await, page(start, text, 0, 13), "{most} bytes from {from}");
    }
}

/// R10: outputs of other sessions and projects are others.
pub async fn outputs_are_independent(storage: &impl Storage) {
    let store = storage.handle().await;
    let other = StreamName::project("q");
    append(&*store, 0, "first").await;
    assert_eq!(store.append_output(&project(), "ses_10", 0, b"second".into()).await, Ok(6));
    assert_eq!(store.append_output(&other, SESSION, 0, b"third one".into()).await, Ok(9));
    assert_eq!(read(&*store, 0, 100).await, page(0, "first", 0, 5));
    assert_eq!(store.output(&project(), "ses_10", 0, 100).await, Ok(page(0, "second", 0, 6)));
    assert_eq!(store.output(&other, SESSION, 0, 100).await, Ok(page(0, "third one", 0, 9)));
    assert_eq!(store.sessions_with_output(&project()).await, Ok(vec![SESSION.into(), "ses_10".into()]));
    store.drop_output_before(&project(), SESSION, u64::MAX).await.unwrap();
    assert_eq!(store.sessions_with_output(&project()).await, Ok(vec!["ses_10".into()]));
    assert_eq!(store.sessions_with_output(&other).await, Ok(vec![SESSION.into()]));
    assert_eq!(store.sessions_with_output(&StreamName::installation()).await, Ok(vec![]));
}

/// R10: what was there already, or would leave a gap, is not written; the sender learns where to go on.
pub async fn only_the_next_piece_is_appended(storage: &impl Storage) {
    let store = storage.handle().await;
    assert_eq!(append(&*store, 0, "first ").await, 6);
    for at in [0, 3, 5, 7, 100] {
        assert_eq!(append(&*store, at, "other ").await, 6, "at {at}");
    }
    assert_eq!(append(&*store, 6, "").await, 6);
    assert_eq!(append(&*store, 3, "").await, 6);
    assert_eq!(append(&*store, 6, "second").await, 12);
    assert_eq!(append(&*store, 6, "second").await, 12);
    assert_eq!(read(&*store, 0, 100).await, page(0, "first second", 0, 12));
}

/// R10: what a session printed before anything of it was sent may be gone.
pub async fn first_piece_may_begin_anywhere(storage: &impl Storage) {
    let store = storage.handle().await;
    assert_eq!(append(&*store, 50, "").await, 0);
    assert_eq!(store.sessions_with_output(&project()).await, Ok(vec![]));
    assert_eq!(append(&*store, 1_000_000_000_000, "late ").await, 1_000_000_000_005);
    assert_eq!(append(&*store, 0, "early").await, 1_000_000_000_005);
    assert_eq!(append(&*store, 1_000_000_000_005, "r").await, 1_000_000_000_006);
    let kept = |text| page(1_000_000_000_000, text, 1_000_000_000_000, 1_000_000_000_006);
    assert_eq!(read(&*store, 0, 100).await, kept("late r"));
    assert_eq!(read(&*store, 7, 2).await, kept("la"));
}

/// R10
pub async fn old_output_is_dropped_in_whole_pieces(storage: &impl Storage) {
    let (store, other) = (storage.handle().await, storage.handle().await);
    store.drop_output_before(&project(), SESSION, 5).await.unwrap();
    for (at, text) in [(0, "one "), (4, "two "), (8, "three")] {
        append(&*store, at, text).await;
    }
    for (position, oldest) in [(0, 0), (3, 0), (4, 4), (7, 4), (12, 8)] {
        other.drop_output_before(&project(), SESSION, position).await.unwrap();
        let left = &"one two three"[usize::try_from(oldest).unwrap()..];
        assert_eq!(read(&*store, 0, 100).await, page(oldest, left, oldest, 13), "before {position}");
    }
    assert_eq!(append(&*store, 0, "one ").await, 13);
    // With the last piece it is as if there had been none.
    other.drop_output_before(&project(), SESSION, 13).await.unwrap();
    assert_eq!(read(&*store, 0, 100).await, OutputPage::default());
    assert_eq!(append(&*store, 20, "again").await, 25);
    assert_eq!(read(&*store, 0, 100).await, page(20, "again", 20, 25));
}

/// R10: any bytes come back as they were, and a piece has a limit.
pub async fn pieces_have_a_limit(storage: &impl Storage) {
    let store = storage.handle().await;
    let longest: Vec<u8> = (0..OUTPUT_PIECE_LIMIT).map(|index| (index % 251) as u8).collect();
    let longer = [&longest[..], b"!"].concat();
    let refused = store.append_output(&project(), SESSION, 0, longer).await;
    assert!(matches!(refused, Err(StoreError::Failed(_))), "{refused:?}");
    assert_eq!(read(&*store, 0, 9).await, OutputPage::default());
    let end = longest.len() as u64;
    assert_eq!(store.append_output(&project(), SESSION, 0, longest.clone()).await, Ok(end));
    assert_eq!(store.append_output(&project(), SESSION, end, longest.clone()).await, Ok(2 * end));
    assert!(read(&*store, 0, usize::MAX).await.bytes == longest.repeat(2));
    let across = read(&*store, end - 3, 6).await;
    assert_eq!(across.bytes, [&longest[longest.len() - 3..], &longest[..3]].concat());
    let nowhere = store.append_output(&project(), "ses_2", u64::MAX, b"x".into()).await;
    assert!(matches!(nowhere, Err(StoreError::Failed(_))), "{nowhere:?}");
}

/// R10: no event and no stream comes of it.
pub async fn output_is_no_part_of_a_stream(storage: &impl Storage) {
    let store = storage.handle().await;
    append(&*store, 0, "printed").await;
    assert_eq!(store.streams().await.unwrap(), []);
    store.append(&project(), 0, events(1, 1)).await.unwrap();
    append(&*store, 7, "more").await;
    assert_eq!(store.verify(&project()).await.unwrap().intact, 1);
}

/// R10: of eight pieces for the same position one is written, and all senders are told where it ends.
pub async fn racing_pieces_have_one_winner_each(storage: &impl Storage) {
    let handles = [storage.handle().await, storage.handle().await];
    let (mut at, mut all) = (70, String::new());
    for round in 0..20 {
        let mut senders = JoinSet::new();
        for sender in 0..8 {
            let store = Arc::clone(&handles[sender % 2]);
            senders.spawn(async move { append(&*store, at, &format!("{round}/{sender};").repeat(sender + 1)).await });
        }
        let ends = senders.join_all().await;
        let won = read(&*handles[0], at, usize::MAX).await;
        assert_eq!(ends, vec![won.newest; 8]);
        let text = String::from_utf8(won.bytes).unwrap();
        let sender: usize = text[..text.find(';').unwrap()].rsplit_once('/').unwrap().1.parse().unwrap();
        assert_eq!(text, format!("{round}/{sender};").repeat(sender + 1));
        at = won.newest;
        all += &text;
    }
    assert_eq!(read(&*handles[1], 0, usize::MAX).await, page(70, &all, 70, at));
}

/// R10: where nothing is kept yet, one first piece is written, wherever the others begin.
pub async fn racing_first_pieces_leave_no_gap(storage: &impl Storage) {
    let handles = [storage.handle().await, storage.handle().await];
    for session in 0..10 {
        let session = format!("ses_{session}");
        let mut senders = JoinSet::new();
        for sender in 0..8_u64 {
            let (store, session) = (Arc::clone(&handles[sender as usize % 2]), session.clone());
            senders.spawn(async move {
                let piece = vec![b'0' + sender as u8; 10];
                store.append_output(&project(), &session, sender * 100, piece).await.unwrap()
            });
        }
        let ends = senders.join_all().await;
        let kept = handles[0].output(&project(), &session, 0, usize::MAX).await.unwrap();
        assert_eq!(kept.newest - kept.oldest, 10);
        assert_eq!(kept.bytes, vec![b'0' + (kept.oldest / 100) as u8; 10]);
        assert_eq!(ends, vec![kept.newest; 8]);
    }
}

/// R10: senders of the same output, each at its own pace, while old pieces are dropped: what is kept has no gap.
pub async fn output_that_is_sent_and_dropped_at_once_has_no_gap(storage: &impl Storage) {
    let handles = [storage.handle().await, storage.handle().await];
    let text: Vec<u8> = (0..4_000_u32).map(|index| (index % 251) as u8).collect();
    let end = text.len() as u64;
    let mut senders = JoinSet::new();
    for sender in 0..4 {
        let (store, text) = (Arc::clone(&handles[sender % 2]), text.clone());
        senders.spawn(async move {
            let mut at = 0;
            while at < end {
                let from = usize::try_from(at).unwrap();
                let piece = text[from..text.len().min(from + 30 + sender * 7)].to_vec();
                at = store.append_output(&project(), SESSION, at, piece).await.unwrap();
                yield_now().await;
                store.drop_output_before(&project(), SESSION, at.saturating_sub(500)).await.unwrap();
            }
        });
    }
    while !senders.is_empty() {
        let kept = read(&*handles[0], 0, usize::MAX).await;
        assert_eq!((kept.start, kept.end()), (kept.oldest, kept.newest));
        let (from, to) = (usize::try_from(kept.start).unwrap(), usize::try_from(kept.newest).unwrap());
        assert!(kept.bytes == text[from..to], "{from}..{to} is not what was sent");
        yield_now().await;
        while senders.try_join_next().transpose().unwrap().is_some() {}
    }
    let kept = read(&*handles[1], 0, usize::MAX).await;
    assert_eq!(kept.newest, end);
    assert!(end - kept.oldest < 600, "{} is kept", kept.oldest);
}
