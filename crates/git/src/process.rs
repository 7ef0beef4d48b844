//! How is one git command run to its end, within a time and a number of bytes?
//!
//! Git gets a process group of its own. What it starts (filters, helpers) may hold its pipes open after
//! git itself was killed, so the whole group is ended.

use std::ffi::OsStr;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::process::CommandExt as _;
use std::process::{Child, ExitStatus, Output, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Resource, Rlimit, Signal, kill_process_group, pidfd_open, prlimit};

use crate::command::Git;
use crate::error::GitError;

static SPENT: AtomicU64 = AtomicU64::new(0);

/// Between SIGTERM, on which git removes its lock files, and SIGKILL.
const GRACE: Duration = Duration::from_secs(5);

/// What is kept of stderr, which is only ever shown.
const MESSAGE_LIMIT: usize = 64 << 10;

/// A pipe that polls as writable takes this many bytes without blocking (PIPE_BUF).
const WRITE_SIZE: usize = 4096;

/// How much memory one command may have to itself, in bytes.
const MEMORY_LIMIT: u64 = 4 << 30;

/// What happens when the output reaches its limit.
#[derive(Clone, Copy, PartialEq, Eq)]
enum WhenFull {
    Fail,
    /// What was read is all that is wanted.
    Stop,
}

impl Git {
    /// How long this process has waited for git in all.
    pub fn time_spent() -> Duration {
        Duration::from_nanos(SPENT.load(Ordering::Relaxed))
    }

    /// Adds what another process of ours has waited for git, as it says.
    pub fn add_time_spent(time: Duration) {
        SPENT.fetch_add(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Runs a command, whatever its exit code.
    pub fn output<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<Output, GitError> {
        self.execute(arguments, b"", WhenFull::Fail)
    }

    /// The output of a command that must succeed: text, without the end of the last line.
    pub fn run<S: AsRef<OsStr>>(&self, arguments: &[S]) -> Result<String, GitError> {
        text(arguments, &self.output(arguments)?)
    }

    /// The same for a command that reads `input`.
    pub fn run_with<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8]) -> Result<String, GitError> {
        text(arguments, &self.execute(arguments, input, WhenFull::Fail)?)
    }

    /// The first bytes of a command's output; the command is ended when there are enough.
    pub fn first_bytes<S: AsRef<OsStr>>(&self, arguments: &[S], most: usize) -> Result<Vec<u8>, GitError> {
        let limited = self.clone().with_output_limit(most);
        Ok(limited.execute(arguments, b"", WhenFull::Stop)?.stdout)
    }

    fn execute<S: AsRef<OsStr>>(&self, arguments: &[S], input: &[u8], when: WhenFull) -> Result<Output, GitError> {
        let began = Instant::now();
        let output = Running::start(self, arguments, input).and_then(|running| running.finish(input, when));
        SPENT.fetch_add(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX), Ordering::Relaxed);
        output
    }
}

/// A command that runs.
struct Running<'a> {
    git: &'a Git,
    name: String,
    child: Child,
    group: Pid,
    /// Readable once git itself has ended.
    ended: OwnedFd,
    deadline: Instant,
}

impl<'a> Running<'a> {
    fn start<S: AsRef<OsStr>>(git: &'a Git, arguments: &[S], input: &[u8]) -> Result<Self, GitError> {
        let name = name_of(arguments);
        let mut command = git.command(arguments);
        command.stdin(if input.is_empty() { Stdio::null() } else { Stdio::piped() });
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        // Under the lock, so that a switch that is pulled meanwhile finds the group.
        let mut switch = git.kill_switch.as_ref().map(|switch| switch.state());
        if switch.as_ref().is_some_and(|switch| switch.pulled) {
            return Err(GitError::Cancelled { command: name });
        }
        let mut child = command.spawn()?;
        let group = Pid::from_child(&child);
        // Trees of a few objects may stand for a billion files. If it has ended already there is nothing to limit.
        let _ =
            prlimit(Some(group), Resource::Data, Rlimit { current: Some(MEMORY_LIMIT), maximum: Some(MEMORY_LIMIT) });
        let ended = match pidfd_open(group, PidfdFlags::empty()) {
            Ok(ended) => ended,
            Err(error) => {
                let _ = kill_process_group(group, Signal::KILL);
                let _ = child.wait();
                return Err(io::Error::from(error).into());
            }
        };
        if let Some(switch) = &mut switch {
            switch.group = Some(group);
        }
        Ok(Self { git, name, child, group, ended, deadline: Instant::now() + git.time_limit })
    }

    fn finish(mut self, input: &[u8], when: WhenFull) -> Result<Output, GitError> {
        let git = self.git;
        let mut stdout = Pipe::new(self.child.stdout.take());
        let mut stderr = Pipe::new(self.child.stderr.take());
        let mut stdin = self.child.stdin.take().map(|stdin| (stdin, input));
        let mut running = true;
        while running || stdout.is_open() || stderr.is_open() {
            let left = self.deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                self.end(Some(GRACE));
                return Err(GitError::TimedOut { command: self.name, limit: git.time_limit });
            }
            let wants = [stdout.wants(), stderr.wants(), running.then(|| self.ended.as_fd())];
            let wants = wants.map(|fd| fd.map(|fd| (fd, PollFlags::IN)));
            let writes = stdin.as_ref().map(|(stdin, _)| (stdin.as_fd(), PollFlags::OUT));
            let [out, err, exited, writable] = match ready([wants[0], wants[1], wants[2], writes], left) {
                Ok(states) => states,
                Err(error) => {
                    self.end(None);
                    return Err(error.into());
                }
            };
            if out {
                stdout.read(git.output_limit);
            }
            if err {
                stderr.read(MESSAGE_LIMIT);
            }
            if writable {
                stdin = stdin.and_then(write_some);
            }
            running &= !exited;
            if stdout.full {
                self.end(None);
                return match when {
                    WhenFull::Fail => Err(GitError::TooMuchOutput { command: self.name, limit: git.output_limit }),
                    WhenFull::Stop => {
                        Ok(Output { status: ExitStatus::default(), stdout: stdout.bytes, stderr: stderr.bytes })
                    }
                };
            }
        }
        let status = self.reap()?;
        Ok(Output { status, stdout: stdout.bytes, stderr: stderr.bytes })
    }

    /// Ends the whole group: after a grace, or at once.
    fn end(&mut self, grace: Option<Duration>) {
        if let Some(grace) = grace {
            let _ = kill_process_group(self.group, Signal::TERM);
            let _ = ready([Some((self.ended.as_fd(), PollFlags::IN))], grace);
        }
        let _ = kill_process_group(self.group, Signal::KILL);
        // A process that waits for a dead disk cannot even be killed: it is not waited for much longer.
        if matches!(ready([Some((self.ended.as_fd(), PollFlags::IN))], GRACE), Ok([true])) {
            let _ = self.reap();
        }
    }

    fn reap(&mut self) -> io::Result<ExitStatus> {
        if let Some(switch) = &self.git.kill_switch {
            switch.state().group = None;
        }
        self.child.wait()
    }
}

/// One of the command's two outputs.
struct Pipe<P> {
    pipe: Option<P>,
    bytes: Vec<u8>,
    full: bool,
}

impl<P: io::Read + AsFd> Pipe<P> {
    fn new(pipe: Option<P>) -> Self {
        Self { pipe, bytes: Vec::new(), full: false }
    }

    fn is_open(&self) -> bool {
        self.pipe.is_some()
    }

    fn wants(&self) -> Option<rustix::fd::BorrowedFd<'_>> {
        self.pipe.as_ref().map(AsFd::as_fd)
    }

    /// Reads what is there and keeps it up to a limit.
    fn read(&mut self, limit: usize) {
        let mut buffer = [0; 64 << 10];
        let count = self.pipe.as_mut().map_or(0, |pipe| pipe.read(&mut buffer).unwrap_or(0));
        if count == 0 {
            self.pipe = None;
            return;
        }
        let room = limit - self.bytes.len();
        self.full |= count >= room;
        self.bytes.extend_from_slice(&buffer[..count.min(room)]);
    }
}

/// Writes as much as does not block. Whoever does not read all of it has closed the pipe.
fn write_some<W: io::Write>((mut pipe, input): (W, &[u8])) -> Option<(W, &[u8])> {
    let count = pipe.write(&input[..input.len().min(WRITE_SIZE)]).ok()?;
    Some((pipe, &input[count..])).filter(|(_, rest)| !rest.is_empty())
}

/// Which of these can be read from or written to? Waits for one of them at most this long.
fn ready<const N: usize>(
    fds: [Option<(rustix::fd::BorrowedFd<'_>, PollFlags)>; N],
    wait: Duration,
) -> Result<[bool; N], io::Error> {
    let mut polled: Vec<_> = fds.iter().flatten().map(|(fd, events)| PollFd::from_borrowed_fd(*fd, *events)).collect();
    let timeout = Timespec::try_from(wait).unwrap_or(Timespec { tv_sec: 1, tv_nsec: 0 });
    match poll(&mut polled, Some(&timeout)) {
        Ok(_) => {}
        Err(rustix::io::Errno::INTR) => return Ok([false; N]),
        Err(error) => return Err(error.into()),
    }
    let mut states = polled.iter().map(|fd| !fd.revents().is_empty());
    Ok(fds.map(|fd| fd.is_some() && states.next().unwrap_or(false)))
}

/// Git's name for a command, after what stands before it: `-c NAME=VALUE`.
fn name_of<S: AsRef<OsStr>>(arguments: &[S]) -> String {
    let mut words = arguments.iter().map(|word| word.as_ref().to_string_lossy());
    while let Some(word) = words.next() {
        if word != "-c" {
            return word.into_owned();
        }
        words.next();
    }
    String::new()
}

fn text<S: AsRef<OsStr>>(arguments: &[S], output: &Output) -> Result<String, GitError> {
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).trim_end_matches('\n').to_owned());
    }
    let message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    Err(GitError::Failed { command: name_of(arguments), message })
}

/// The answer of a command that says no by exit code 1.
pub(crate) fn yes_or_no<S: AsRef<OsStr>>(arguments: &[S], output: &Output) -> Result<bool, GitError> {
    match output.status.code() {
        Some(0) => Ok(true),
        Some(1) => Ok(false),
        _ => text(arguments, output).map(|_| false),
    }
}
