//! What is on this machine that is not on the board? The output of sessions, and the repository.

use std::path::Path;

use board::{Board, OutputName, ProjectId, RunnerView, Task};

/// Reads files and git on this machine. Its functions block, so they are called on a thread for that.
pub trait LocalFiles: Send + Sync + std::fmt::Debug {
    /// A piece of a session's output, at most `most` bytes; `None` if there is none on this machine.
    fn log(&self, project: &ProjectId, output: OutputName, from: LogFrom, most: usize) -> Option<LogPage>;

    /// The runner of a project, if it runs on this machine.
    fn runner(&self, project: &ProjectId) -> RunnerView;

    /// Is the task's branch in the target?
    fn is_merged(&self, repository: &Path, board: &Board, task: &Task) -> bool;

    /// What the task's work changes, as git shows it, cut after `most` bytes; `None` if there is no work.
    fn diff(&self, repository: &Path, board: &Board, task: &Task, most: usize) -> Option<Diff>;
}

/// From where on a log is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LogFrom {
    /// This position in the whole output.
    Position(u64),
    /// The last bytes of it, beginning with a whole line.
    Tail,
}

/// A piece of a session's output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LogPage {
    /// Where it begins in the whole output; later than asked for if that is not kept any more.
    pub start: u64,
    pub bytes: Vec<u8>,
    /// The oldest position that is kept.
    pub oldest: u64,
    /// Where the output ends by now.
    pub newest: u64,
}

impl LogPage {
    pub fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    pub text: String,
    /// There is more than was asked for.
    pub cut: bool,
}
