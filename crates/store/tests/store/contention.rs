//! Does everyone get through when many write at once?

use std::thread;
use std::time::{Duration, Instant};

use store::{EventLog as _, StoreError};

use crate::file::{File, event, events, project};

const PROCESSES: u64 = 40;
const APPENDS: u64 = 5;

fn block_on<T>(future: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(future)
}

/// What one process does: opens the store, appends, and judges again when another was first.
async fn append_a_few(file: &File, who: u64) {
    let store = file.open();
    for round in 0..APPENDS {
        loop {
            let seq = store.head(&project()).await.unwrap().seq;
            match store.append(&project(), seq, vec![event(&format!("{who}/{round}"))]).await {
                Ok(_) => break,
                Err(StoreError::Conflict { .. }) => {}
                Err(error) => panic!("{error}"),
            }
        }
    }
}

/// E3, F80
#[test]
fn forty_processes_create_and_write_one_file_and_none_fails() {
    let file = File::fresh();
    thread::scope(|scope| {
        for who in 0..PROCESSES {
            let file = &file;
            scope.spawn(move || block_on(append_a_few(file, who)));
        }
    });
    let log = block_on(file.open().read(&project(), 0, usize::MAX)).unwrap();
    let mut bodies: Vec<_> = log.into_iter().map(|event| event.body).collect();
    bodies.sort();
    bodies.dedup();
    assert_eq!(bodies.len() as u64, PROCESSES * APPENDS);
}

/// E3, F80
#[test]
fn a_process_that_writes_without_pause_does_not_starve_another() {
    let file = block_on(File::with_events(1));
    let done = std::sync::atomic::AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            block_on(async {
                let store = file.open();
                let other = store::StreamName::installation();
                let mut seq = 0;
                while !done.load(std::sync::atomic::Ordering::Relaxed) {
                    seq = store.append(&other, seq, events(200)).await.unwrap().seq;
                }
            });
        });
        let store = file.open();
        let started = Instant::now();
        for seq in 1..=20 {
            block_on(store.append(&project(), seq, events(1))).unwrap();
        }
        done.store(true, std::sync::atomic::Ordering::Relaxed);
        assert!(started.elapsed() < Duration::from_secs(20), "{:?}", started.elapsed());
    });
}
