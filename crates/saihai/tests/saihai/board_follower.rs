//! How does a test wait for what happens on the board? It follows the project's events in the store,
//! in its own process, instead of starting a command again and again.

use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use board::wire::{SessionDetail, TaskDetail};
use board::{Board, ProjectId, SessionId, Settings, TaskId};
use control::{Control, Log, ProcessLifetime, Project, StoreLocation};
use serde_json::Value;
use tokio::runtime::Runtime;

/// SQLite tells no other process of a write, so the store is asked. It answers from shared memory.
const POLL: Duration = Duration::from_millis(10);

/// The board of the project `shop`, folded from the events that were read so far. It only reads.
pub(crate) struct BoardFollower {
    location: StoreLocation,
    state: Mutex<Option<State>>,
}

struct State {
    /// Of its own: some tests look from a runtime, in which no other may be entered.
    runtime: Option<Runtime>,
    log: Log,
    board: Arc<Board>,
}

impl BoardFollower {
    /// For a store that need not exist yet.
    pub(crate) fn new(location: &str) -> Self {
        Self { location: location.parse().unwrap(), state: Mutex::new(None) }
    }

    /// The board with every event that is in the store now.
    pub(crate) fn board(&self) -> Arc<Board> {
        thread::scope(|scope| {
            let look = || {
                let mut state = self.state.lock().unwrap();
                let state = state.get_or_insert_with(|| State::open(&self.location));
                state.catch_up();
                Arc::clone(&state.board)
            };
            scope.spawn(look).join()
        })
        .unwrap()
    }

    /// What `look` finds on the board, as soon as it does; `None` when the time is up.
    pub(crate) fn until<T>(&self, limit: Duration, mut look: impl FnMut(&Board) -> Option<T>) -> Option<T> {
        let began = Instant::now();
        let mut seen = None;
        loop {
            let board = self.board();
            if seen != Some(board.seq) {
                seen = Some(board.seq);
                if let Some(found) = look(&board) {
                    return Some(found);
                }
            }
            if began.elapsed() > limit {
                return None;
            }
            thread::sleep(POLL);
        }
    }
}

impl State {
    fn open(location: &StoreLocation) -> Self {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap();
        let control = runtime.block_on(Control::open(location, ProcessLifetime::ShortLived));
        let board = Arc::new(Board::new(Settings::new(project_id())));
        Self { log: control.unwrap().log(), runtime: Some(runtime), board }
    }

    fn catch_up(&mut self) {
        let stream = Project::stream(&project_id());
        let runtime = self.runtime.as_ref().unwrap();
        runtime.block_on(async {
            let end = self.log.end(&stream).await.unwrap();
            if end > self.board.seq {
                self.log.fold(&stream, Arc::make_mut(&mut self.board), end).await.unwrap();
            }
        });
    }
}

impl Drop for State {
    fn drop(&mut self) {
        self.runtime.take().unwrap().shutdown_background();
    }
}

fn project_id() -> ProjectId {
    "shop".parse().unwrap()
}

/// A task as `task show --json` prints it.
pub(crate) fn task_json(board: &Board, id: &str) -> Option<Value> {
    let id: TaskId = id.parse().unwrap();
    board.tasks.get(&id).map(|task| serde_json::to_value(TaskDetail::of(board, task)).unwrap())
}

/// A session as `session show --json` prints it.
pub(crate) fn session_json(board: &Board, number: u32) -> Option<Value> {
    board
        .sessions
        .get(&SessionId(number))
        .map(|session| {
            SessionDetail::of(board, session, board::Timestamp(0), |waiting| {
                board::say_waiting(waiting, board::Language::En)
            })
        })
        .map(|session| serde_json::to_value(session).unwrap())
}
