//! Is everything that a killed process acknowledged still in the store?

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use board::{Board, ProjectId, Settings, TaskId};
use control::{Control, ProcessLifetime, Project, SystemClock};
use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use store::SqliteStore;
use testkit::seed::Seed;

/// Starts a process that adds tasks, kills it after `acknowledged` of them, and returns the ids that it had printed.
fn killed_after(store: &Path, acknowledged: usize) -> Vec<TaskId> {
    let mut child = Command::new(env!("CARGO_BIN_EXE_add_tasks"))
        .arg(store)
        .stdout(Stdio::piped())
        .spawn()
        .expect("add_tasks starts");
    let mut lines = BufReader::new(child.stdout.take().expect("its output is piped")).lines();
    let mut said: Vec<TaskId> = Vec::new();
    let mut read = |said: &mut Vec<TaskId>| match lines.next() {
        Some(Ok(line)) => line.parse().map(|id| said.push(id)).is_ok(),
        Some(Err(_)) | None => false,
    };
    while said.len() < acknowledged && read(&mut said) {}
    child.kill().expect("the process can be killed");
    // What it had printed before it died.
    while read(&mut said) {}
    child.wait().expect("a killed process can be waited for");
    said
}

/// E3, F80: `kill -9` in the middle of a thousand commands, fifty times: nothing that was
/// acknowledged is lost, no id is given twice, and the log verifies.
#[test]
fn what_was_acknowledged_survives_fifty_kills() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("saihai.db");
    let seed = Seed::for_test("testkit", "crash::what_was_acknowledged_survives_fifty_kills");
    let mut rng = ChaCha8Rng::seed_from_u64(seed.value());
    let mut acknowledged = BTreeSet::new();
    for round in 0..50 {
        let said = killed_after(&path, rng.random_range(0..1_000));
        for id in said {
            assert!(acknowledged.insert(id), "round {round}: {id} was given twice");
        }
    }
    assert!(acknowledged.len() > 5_000, "only {}", acknowledged.len());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    runtime.block_on(async {
        let control = Control::new(
            Arc::new(SqliteStore::open(&path).unwrap()),
            Arc::new(SystemClock),
            ProcessLifetime::ShortLived,
        );
        let id: ProjectId = "crashtest".parse().unwrap();
        let board = control.project(&id).await.unwrap().board();
        let lost: Vec<_> = acknowledged.iter().filter(|id| !board.tasks.contains_key(*id)).collect();
        assert_eq!(lost, Vec::<&TaskId>::new());
        let fresh = Board::new(Settings::new(id.clone()));
        let report = control.log().verify(&Project::stream(&id), fresh).await.unwrap();
        assert!(report.is_sound(), "{report:?}");
    });
}
