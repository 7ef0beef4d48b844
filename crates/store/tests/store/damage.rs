//! Is damage to the file noticed, named, and never taken for content?

use std::fs::{self, OpenOptions};
use std::io::{Read, Seek, SeekFrom, Write};

use store::{
    Damage, EventLog as _, Hash, Head, Snapshot, Snapshots as _, SqliteStore, StoreError, StreamName, Verified,
};

use crate::file::{File, event, project};

/// What reading says, as text; it must not succeed.
async fn complaint(file: &File) -> String {
    match file.open().read(&project(), 0, 1_000).await {
        Err(StoreError::Damaged(complaint)) => complaint,
        other => panic!("{other:?}"),
    }
}

async fn verified(file: &File) -> Verified {
    file.open().verify(&project()).await.unwrap()
}

/// E5
#[tokio::test]
async fn a_flipped_byte_in_a_body_is_named_by_reading_and_by_verifying() {
    for flipped in ["CAST('{\"number\":6}' AS TEXT)", "CAST(x'ff00fe' AS TEXT)"] {
        let file = File::with_events(10).await;
        file.meddle(&format!("UPDATE events SET body = {flipped} WHERE seq = 7"), ());
        let expected = Verified { intact: 6, damage: vec![Damage::Altered { seq: 7 }] };
        assert_eq!(verified(&file).await, expected);
        assert_eq!(complaint(&file).await, "project/p: event 7 is not what was written");
        // What lies before it is still given.
        assert_eq!(file.open().read(&project(), 0, 6).await.unwrap().len(), 6);
    }
}

/// E5
#[tokio::test]
async fn every_field_of_an_event_is_proven() {
    for field in ["at = 2", "kind = 'x'", "version = 2", "version = 70000", "body = ''", "hash = x'00'"] {
        let file = File::with_events(10).await;
        file.meddle(&format!("UPDATE events SET {field} WHERE seq = 10"), ());
        let expected = Verified { intact: 9, damage: vec![Damage::Altered { seq: 10 }] };
        assert_eq!(verified(&file).await, expected, "{field}");
        assert_eq!(complaint(&file).await, "project/p: event 10 is not what was written");
    }
}

/// E5
#[tokio::test]
async fn a_deleted_middle_event_is_missed() {
    let file = File::with_events(10).await;
    file.meddle("DELETE FROM events WHERE seq = 5", ());
    let expected = Verified { intact: 4, damage: vec![Damage::Missing { seq: 5 }] };
    assert_eq!(verified(&file).await, expected);
    assert_eq!(complaint(&file).await, "project/p: event 5 is missing");
    // Nor can what follows it be proven.
    assert!(matches!(file.open().read(&project(), 5, 10).await, Err(StoreError::Damaged(_))));
}

/// E5
#[tokio::test]
async fn a_deleted_last_event_is_missed() {
    let file = File::with_events(10).await;
    file.meddle("DELETE FROM events WHERE seq = 10", ());
    file.meddle("DELETE FROM events WHERE seq = 9", ());
    let expected = Verified { intact: 8, damage: vec![Damage::Missing { seq: 9 }] };
    assert_eq!(verified(&file).await, expected);
    assert_eq!(complaint(&file).await, "project/p: event 9 is missing");
    // Also by whoever knows the stream up to its end.
    assert!(matches!(file.open().read(&project(), 10, 10).await, Err(StoreError::Damaged(_))));
}

/// E5
#[tokio::test]
async fn a_head_set_back_is_noticed_and_nothing_is_written_over() {
    let file = File::with_events(10).await;
    let store = file.open();
    let eighth = store.read(&project(), 7, 1).await.unwrap().remove(0);
    file.meddle("UPDATE streams SET seq = 8, hash = ?1", [eighth.hash.as_bytes()]);
    let Verified { intact, damage } = store.verify(&project()).await.unwrap();
    assert_eq!(intact, 10);
    assert!(matches!(&damage[..], [Damage::Medium { detail }] if detail.contains("go on to 10")));
    let refused = store.append(&project(), 8, vec![event("other")]).await;
    assert!(matches!(refused, Err(StoreError::Damaged(_))), "{refused:?}");
}

/// E3
#[tokio::test]
async fn a_damaged_stream_does_not_stop_the_others() {
    let file = File::with_events(10).await;
    file.meddle("UPDATE streams SET seq = 8", ());
    let (store, damaged, sound) = (file.open(), project(), StreamName::installation());
    for seq in 0..20 {
        let (bad, good, again) = tokio::join!(
            store.append(&damaged, 8, vec![event("bad")]),
            store.append(&sound, seq * 2, vec![event("good")]),
            store.append(&sound, seq * 2 + 1, vec![event("again")]),
        );
        assert!(matches!(bad, Err(StoreError::Damaged(_))), "{bad:?}");
        assert_eq!((good.unwrap().seq, again.unwrap().seq), (seq * 2 + 1, seq * 2 + 2));
    }
}

/// E4
#[tokio::test]
async fn a_damaged_snapshot_counts_as_none_and_is_reported() {
    for damage in ["bytes = x'01ff03'", "seq = 8", "hash = x'00'", "format = -1"] {
        let file = File::with_events(10).await;
        let store = file.open();
        let head = Head { seq: 9, hash: Hash::ZERO };
        let snapshot = Snapshot { head, format: 1, bytes: vec![1, 2, 3] };
        store.put_snapshot(&project(), snapshot.clone()).await.unwrap();
        file.meddle(&format!("UPDATE snapshots SET {damage}"), ());
        assert_eq!(store.snapshot(&project(), 1).await, Ok(None), "{damage}");
        let Verified { intact, damage } = store.verify(&project()).await.unwrap();
        assert_eq!((intact, damage.len()), (10, 1), "{damage:?}");
        // The next one takes its place.
        store.put_snapshot(&project(), snapshot.clone()).await.unwrap();
        assert_eq!(store.snapshot(&project(), 1).await, Ok(Some(snapshot)));
    }
}

/// E5
#[tokio::test]
async fn a_file_cut_in_half_is_an_error_not_a_shorter_log() {
    let file = File::with_events(5_000).await;
    let length = fs::metadata(file.path()).unwrap().len();
    let cut = OpenOptions::new().write(true).open(file.path()).unwrap();
    cut.set_len(length / 2 / 4096 * 4096).unwrap();
    let error = SqliteStore::open(file.path()).unwrap_err();
    assert!(matches!(error, StoreError::Damaged(_)), "{error:?}");
}

/// E5
#[tokio::test]
async fn verifying_reports_an_unreadable_page_and_goes_on_after_it() {
    let file = File::with_events(5_000).await;
    // Beyond the page, so that it can only be found by going on.
    file.meddle("UPDATE events SET body = 'x' WHERE seq = 4900", ());
    spoil_page_with(&file, 2_500);

    let Verified { intact, damage } = verified(&file).await;
    assert!((2_300..2_500).contains(&intact), "{intact}");
    let first = format!("events from {} on cannot be read", intact + 1);
    assert!(matches!(&damage[0], Damage::Medium { detail } if detail.starts_with(&first)), "{damage:?}");
    assert!(damage.contains(&Damage::Altered { seq: 4_900 }), "{damage:?}");
    let read = file.open().read(&project(), 0, 5_000).await;
    assert!(matches!(read, Err(StoreError::Damaged(_))), "{read:?}");
}

/// E5: what lies between two unreadable pages is read, and each of them is named by its first event.
#[tokio::test]
async fn verifying_names_every_unreadable_page() {
    let file = File::with_events(5_000).await;
    file.meddle("UPDATE events SET body = 'x' WHERE seq = 3000", ());
    spoil_page_with(&file, 2_500);
    spoil_page_with(&file, 3_500);
    let Verified { intact, damage } = verified(&file).await;
    let unreadable: Vec<u64> = damage.iter().filter_map(unreadable_from).collect();
    assert_eq!(unreadable.first(), Some(&(intact + 1)), "{damage:?}");
    assert!(unreadable.iter().any(|from| (3_300..=3_500).contains(from)), "{damage:?}");
    assert!(unreadable.iter().all(|from| *from <= 3_500), "{damage:?}");
    assert!(damage.contains(&Damage::Altered { seq: 3_000 }), "{damage:?}");
}

fn unreadable_from(damage: &Damage) -> Option<u64> {
    match damage {
        Damage::Medium { detail } => detail.strip_prefix("events from ")?.split(' ').next()?.parse().ok(),
        _ => None,
    }
}

/// Overwrites the page of the file on which an event is.
fn spoil_page_with(file: &File, number: u32) {
    let mut raw = OpenOptions::new().read(true).write(true).open(file.path()).unwrap();
    let mut content = Vec::new();
    raw.read_to_end(&mut content).unwrap();
    let text = format!("{{\"number\":{number}}}");
    let at = content.windows(text.len()).position(|window| window == text.as_bytes()).unwrap();
    raw.seek(SeekFrom::Start((at / 4096 * 4096) as u64)).unwrap();
    raw.write_all(&[0xa5; 4096]).unwrap();
}
