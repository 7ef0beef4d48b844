//! Is the head that is told always the newest, however often it is asked?

use store::{EventLog as _, NewEvent, SqliteStore, StreamName};

fn event() -> NewEvent {
    NewEvent { at: 0, kind: "x".into(), version: 1, body: "{}".into() }
}

/// E2: another connection's append is seen by the very next question, also when nothing was
/// written between a hundred questions before it.
#[tokio::test]
async fn the_head_is_the_newest_however_often_it_is_asked() {
    let dir = tempfile::tempdir().unwrap();
    let open = || SqliteStore::open(dir.path().join("log.db")).unwrap();
    let (here, there) = (open(), open());
    let (one, two) = (StreamName::named("one"), StreamName::named("two"));
    for seq in 0..50 {
        for _ in 0..20 {
            assert_eq!(here.head(&one).await.unwrap().seq, seq);
            assert_eq!(here.head(&two).await.unwrap().seq, seq);
        }
        there.append(&one, seq, vec![event()]).await.unwrap();
        assert_eq!(here.head(&one).await.unwrap().seq, seq + 1);
        here.append(&two, seq, vec![event()]).await.unwrap();
        assert_eq!(there.head(&two).await.unwrap().seq, seq + 1);
    }
    // A store that is closed meanwhile takes nobody's locks away.
    drop(there);
    let third = open();
    third.append(&one, 50, vec![event()]).await.unwrap();
    assert_eq!(here.head(&one).await.unwrap().seq, 51);
}
