//! What does a store in PostgreSQL do when the database goes away, is older or newer, is damaged, or was named wrongly?

use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::net::Shutdown;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::thread;
use std::time::Duration;

use rustix::process::Signal;
use store::contract::postgres::{Schema, Server};
use store::{
    Damage, EventLog as _, NewEvent, PostgresAddress, PostgresStore, Presence as _, SessionOutput as _, StoreError,
    StreamName,
};
use tokio::task::JoinSet;
use tokio::time::timeout;

const WAIT_LIMIT: Duration = Duration::from_secs(60);

fn stream() -> StreamName {
    StreamName::project("p")
}

fn event(body: impl Into<String>) -> NewEvent {
    NewEvent { at: 1_700_000_000_000, kind: "noted".into(), version: 1, body: body.into() }
}

/// A directory that the server's user can enter.
fn directory() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::fs::Permissions::from_mode(0o755)).unwrap();
    directory
}

async fn open(url: &str) -> Result<PostgresStore, StoreError> {
    PostgresStore::open(&url.parse::<PostgresAddress>().unwrap()).await
}

/// Appends one event, whoever else appends.
async fn append_at_last(store: &PostgresStore, body: &str) {
    loop {
        let seq = store.head(&stream()).await.unwrap().seq;
        match store.append(&stream(), seq, vec![event(body)]).await {
            Ok(_) => return,
            Err(StoreError::Conflict { .. }) => {}
            Err(error) => panic!("{body}: {error}"),
        }
    }
}

/// E3, S2a: a database that is killed again and again costs waiting. What was acknowledged is there once, in whatever order.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn a_killed_database_costs_waiting_and_no_acknowledgement() {
    let directory = directory();
    let mut server = Server::start(directory.path());
    let acknowledged = Arc::new(AtomicU32::new(0));
    let stores = [Arc::new(open(&server.url()).await.unwrap()), Arc::new(open(&server.url()).await.unwrap())];
    let mut watching = stores[0].subscribe(&stream()).await.unwrap();
    let mut writers = JoinSet::new();
    for writer in 0..4 {
        let (store, acknowledged) = (Arc::clone(&stores[writer % 2]), Arc::clone(&acknowledged));
        writers.spawn(async move {
            for round in 0..100 {
                append_at_last(&store, &format!("{writer}/{round}")).await;
                acknowledged.fetch_add(1, Ordering::Relaxed);
            }
        });
    }
    // Killed twice while they write.
    for part in [100, 250] {
        while acknowledged.load(Ordering::Relaxed) < part {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
        tokio::task::block_in_place(|| server.restart());
    }
    timeout(2 * WAIT_LIMIT, writers.join_all()).await.unwrap();
    let events = stores[1].read(&stream(), 0, 1_000).await.unwrap();
    let bodies: BTreeSet<_> = events.iter().map(|event| event.body.clone()).collect();
    assert_eq!((events.len(), bodies.len()), (400, 400), "each is there once");
    assert_eq!(stores[0].verify(&stream()).await.unwrap().damage, []);
    let told = async { while watching.changed().await.unwrap() < 400 {} };
    timeout(WAIT_LIMIT, told).await.expect("whoever waits for events is told, also after the database was away");
}

/// E3, S2a: one that stands still does, too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn a_frozen_database_costs_waiting() {
    let directory = directory();
    let server = Server::start(directory.path());
    let store = Arc::new(open(&server.url()).await.unwrap());
    append_at_last(&store, "before").await;
    server.signal(Signal::STOP);
    let waiting = Arc::clone(&store);
    let append = tokio::spawn(async move { append_at_last(&waiting, "meanwhile").await });
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert!(!append.is_finished(), "nothing is acknowledged by a database that stands still");
    server.signal(Signal::CONT);
    timeout(WAIT_LIMIT, append).await.unwrap().unwrap();
    assert_eq!(store.head(&stream()).await.unwrap().seq, 2);
}

/// Passes on what is said between clients and a server, until it is told to lose an answer.
struct Proxy {
    loses_answers: Arc<AtomicBool>,
    directory: tempfile::TempDir,
}

impl Proxy {
    fn before(server: &Path) -> Self {
        let directory = tempfile::tempdir().unwrap();
        let (socket, server) = (directory.path().join(".s.PGSQL.5432"), server.join(".s.PGSQL.5432"));
        let listener = UnixListener::bind(socket).unwrap();
        let loses_answers = Arc::new(AtomicBool::new(false));
        let loses = Arc::clone(&loses_answers);
        thread::spawn(move || {
            while let Ok((client, _)) = listener.accept() {
                let server = UnixStream::connect(&server).unwrap();
                let (from_client, to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
                thread::spawn(move || pump(from_client, to_server, |_| true));
                let loses = Arc::clone(&loses);
                // Loses the answer to an append, and the connection with it.
                let passes = move |said: &[u8]| {
                    let appended = said.windows(9).any(|words| words == b"INSERT 0 ");
                    !(appended && loses.swap(false, Ordering::Relaxed))
                };
                thread::spawn(move || pump(server, client, passes));
            }
        });
        Self { loses_answers, directory }
    }

    fn url(&self) -> String {
        format!("postgres:///postgres?user=saihai&host={}", self.directory.path().display())
    }
}

fn pump(mut from: UnixStream, mut to: UnixStream, passes: impl Fn(&[u8]) -> bool) {
    let mut buffer = vec![0; 1 << 16];
    while let Ok(length @ 1..) = from.read(&mut buffer) {
        if !passes(&buffer[..length]) || to.write_all(&buffer[..length]).is_err() {
            break;
        }
    }
    let _ = from.shutdown(Shutdown::Both);
    let _ = to.shutdown(Shutdown::Both);
}

/// E3: an append whose answer was lost on the way is found again. It is not written twice, and not taken for another's.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn an_append_whose_answer_was_lost_is_found_again() {
    let directory = directory();
    let server = Server::start(directory.path());
    let proxy = Proxy::before(&directory.path().join("postgres"));
    let (store, other) = (open(&proxy.url()).await.unwrap(), open(&server.url()).await.unwrap());
    store.append(&stream(), 0, vec![event("first")]).await.unwrap();
    for round in 1..=5 {
        proxy.loses_answers.store(true, Ordering::Relaxed);
        let head = store.append(&stream(), round, vec![event("same")]).await.unwrap();
        assert!(!proxy.loses_answers.load(Ordering::Relaxed), "an answer was lost");
        assert_eq!((head.seq, other.head(&stream()).await), (round + 1, Ok(head)));
    }
    // The very same event, in the same millisecond, by another.
    let theirs = other.append(&stream(), 6, vec![event("same")]).await.unwrap();
    let refused = store.append(&stream(), 6, vec![event("same")]).await;
    assert_eq!(refused, Err(StoreError::Conflict { expected: 6, actual: theirs.seq }));
}

/// E3: eight servers that start at once make the tables once.
#[tokio::test]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn tables_are_made_once() {
    let schema = Schema::fresh().await;
    let mut opening = JoinSet::new();
    for _ in 0..8 {
        let url = schema.url();
        opening.spawn(async move { open(&url).await.map(drop) });
    }
    let failed: Vec<_> = opening.join_all().await.into_iter().filter_map(Result::err).collect();
    assert_eq!(failed, []);
}

/// E9: a newer schema is worked with if it says so, and refused by name if not.
#[tokio::test]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn a_newer_schema_is_used_only_if_it_allows_that() {
    let schema = Schema::fresh().await;
    schema.open().await.append(&stream(), 0, vec![event("kept")]).await.unwrap();
    schema.run("UPDATE saihai_schema SET version = 3").await;
    assert_eq!(schema.open().await.head(&stream()).await.unwrap().seq, 1);
    schema.run("UPDATE saihai_schema SET works_since = 3").await;
    let refused = open(&schema.url()).await.unwrap_err();
    assert_eq!(refused, StoreError::NewerSchema { found: 3, known: 2 });
}

/// E3, E9, R10: the tables of an older version are added to; a server of that version works on beside the new one.
#[tokio::test]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn an_older_schema_is_migrated() {
    let schema = Schema::fresh().await;
    let older = schema.open().await;
    older.append(&stream(), 0, vec![event("kept")]).await.unwrap();
    schema.run("DROP TABLE presence, output_pieces, outputs; UPDATE saihai_schema SET version = 1").await;
    let store = schema.open().await;
    assert_eq!(store.append_output(&stream(), "ses_1", 0, b"printed".into()).await, Ok(7));
    assert_eq!(store.presence().await, Ok(vec![]));
    older.append(&stream(), 1, vec![event("beside it")]).await.unwrap();
    assert_eq!(store.head(&stream()).await.unwrap().seq, 2);
    // What the newest schema works with is written where the next version looks.
    schema.run("DO $$ BEGIN ASSERT (SELECT (version, works_since) = (2, 1) FROM saihai_schema); END $$").await;
}

/// E5: what is changed, removed or cut off by hand is named, and nothing is appended to it as if it were good.
#[tokio::test]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn damage_is_named() {
    for (harm, damage) in [
        ("UPDATE events SET body = 'forged' WHERE seq = 3", Damage::Altered { seq: 3 }),
        ("DELETE FROM events WHERE seq = 3", Damage::Missing { seq: 3 }),
        ("DELETE FROM events WHERE seq >= 3", Damage::Missing { seq: 3 }),
        ("UPDATE events SET body = '\\xff' WHERE seq = 3", Damage::Altered { seq: 3 }),
        ("UPDATE events SET version = -1 WHERE seq = 3", Damage::Altered { seq: 3 }),
    ] {
        let schema = Schema::fresh().await;
        let store = schema.open().await;
        for seq in 0..5 {
            store.append(&stream(), seq, vec![event(seq.to_string())]).await.unwrap();
        }
        schema.run(harm).await;
        let store = schema.open().await;
        let verified = store.verify(&stream()).await.unwrap();
        assert_eq!((verified.intact, verified.damage.first()), (2, Some(&damage)), "{harm}: {verified:?}");
        let read = store.read(&stream(), 0, 10).await;
        assert!(matches!(read, Err(StoreError::Damaged(_))), "{harm}: {read:?}");
        assert_eq!(store.read(&stream(), 0, 2).await.unwrap().len(), 2, "what is whole can be read");
    }
}

/// E9, S2a: a machine whose clock is another than the database's does not take part.
#[tokio::test]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn a_machine_with_another_time_is_refused() {
    let schema = Schema::fresh().await;
    schema
        .run(
            "CREATE FUNCTION clock_timestamp() RETURNS timestamptz LANGUAGE sql
             AS 'SELECT pg_catalog.clock_timestamp() - interval ''70 s'''",
        )
        .await;
    assert!(schema.open().await.clock_offset().await.unwrap().abs() < 10_000);
    let ours_first = schema.url().replace("application_name", "x").replace("&x=", "%2Cpg_catalog&application_name=");
    let refused = open(&ours_first).await.unwrap_err();
    assert!(matches!(refused, StoreError::ClockSkew { skew: 69_000..71_000, .. }), "{refused:?}");
    let said = refused.to_string();
    assert!(said.contains("ahead of") && (said.contains("70 s") || said.contains("69 s")), "{said}");
}

/// C3, E3: an address that is wrong is told at once, with the reason, and without the password.
#[tokio::test]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn a_wrong_address_is_told_with_the_reason() {
    let schema = Schema::fresh().await;
    let elsewhere = schema.url().replace("/postgres?user=saihai", "/nowhere?user=saihai&password=secret");
    let missing = open(&elsewhere).await.unwrap_err();
    assert!(matches!(&missing, StoreError::Unavailable { .. }), "{missing:?}");
    assert!(missing.to_string().contains("\"nowhere\" does not exist"), "{missing}");
    let nobody = open(&schema.url().replace("user=saihai", "user=nobody1")).await.unwrap_err();
    assert!(matches!(&nobody, StoreError::Unavailable { .. }), "{nobody:?}");
    let away = open("postgres:///postgres?user=me&password=secret&host=/nonexistent").await.unwrap_err();
    assert!(matches!(&away, StoreError::Unreachable { .. }), "{away:?}");
    assert!(!format!("{missing:?} {away:?} {away}").contains("secret"));
}

/// E3: what leaves the machine is encrypted, and its server verified by name and certificate.
#[tokio::test]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn connections_are_verified() {
    let directory = directory();
    let mut server = Server::start(directory.path());
    let (port, authority) = server.listen_with_tls();
    let url = |host: &str, more: &str| format!("postgres://saihai@{host}:{port}/postgres?{more}");
    let trusted = format!("sslmode=verify-full&sslrootcert={}", authority.display());
    let store = open(&url("localhost", &trusted)).await.unwrap();
    append_at_last(&store, "encrypted").await;
    for (wrong, part) in [
        (url("localhost", "sslmode=verify-full"), "certificate"),
        (url("127.0.0.1", &trusted), "certificate"),
        (url("localhost", "sslmode=disable"), "pg_hba.conf"),
    ] {
        let refused = open(&wrong).await.unwrap_err();
        assert!(matches!(&refused, StoreError::Unavailable { .. }), "{wrong}: {refused:?}");
        assert!(refused.to_string().contains(part), "{wrong}: {refused}");
    }
}
