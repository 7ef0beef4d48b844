//! How is a client watched, limited and ended?

use std::fs;
use std::io::{self, BufRead as _, BufReader, PipeReader, Read as _, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::process::{Child, Command, ExitCode};
use std::time::{Duration, Instant, SystemTime};

use board::{Client, EndReason, OutputKind, ProcessEnd, Timestamp, TranscriptEntry, Usage};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Signal, getgid, getpid, getuid, set_child_subreaper, setsid};
use rustix::thread::{
    CapabilitySet, UnshareFlags, capabilities, configure_capability_in_ambient_set, set_capabilities,
};
use signal_hook::consts::SIGTERM;

use super::init::InitMessage;
use super::log::LogWriter;
use super::plan::{self, Durability, ExitRecord, ShimPlan, StartupMessage, StopReason};
use super::time_limits::TimeLimits;
use crate::clients::OutputReader;
use crate::process::{MARKER, ProcessIdentity, descendants, marked, signal_all};

/// After this long without anything the limits are looked at, so that a time in which this process was stopped is
/// noticed.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// How often, and after how long each time, an exit record that cannot be written is tried again: for an hour.
const RECORD_TRIES: u32 = 3_600;
const RECORD_AGAIN: Duration = Duration::from_secs(1);

/// What the client has used is written down at most so often.
const WRITE_USAGE_EVERY: Duration = Duration::from_secs(1);
const USAGE_AGAIN: Duration = Duration::from_millis(100);

/// A message of `init` is a few words, or why the client did not start.
const LONGEST_MESSAGE: u64 = 16 * 1024;

/// A line of output that does not end is cut here.
const LONGEST_LINE: usize = 1 << 20;

/// Runs the client of the plan that comes through stdin to its end, also if the runner is gone meanwhile.
pub(super) fn supervise() -> ExitCode {
    match run() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("the shim cannot go on: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run() -> io::Result<()> {
    let plan: ShimPlan = serde_json::from_reader(io::stdin())?;
    // It fails if we lead a process group. Then we are no part of the runner's group anyway.
    let _ = setsid();
    set_child_subreaper(Some(getpid()))?;
    let (signals, wake) = UnixStream::pair()?;
    signal_hook::low_level::pipe::register(SIGTERM, wake)?;
    let identity = ProcessIdentity::of_self()?;
    plan::write_whole(&plan::shim_file(&plan.directory), &identity, plan.record)?;
    if plan.record == Durability::Durable {
        plan::reserve_exit_record(&plan.directory)?;
    }
    send(&StartupMessage::Shim(identity));
    let exit = match ClientProcess::start(&plan, signals) {
        Ok(client) => client.watch(),
        Err(error) => {
            end_all(&plan.spawn);
            ExitRecord::because(EndReason::LaunchFailed, format!("cannot supervise: {error}"))
        }
    };
    if exit.end.reason == EndReason::LaunchFailed {
        send(&StartupMessage::Failed(exit.end.error.clone().unwrap_or_default()));
    }
    // Nobody else knows how it ended: a disk that fails for a while does not lose that.
    for _ in 0..RECORD_TRIES {
        if plan::write_exit_record(&plan.directory, &exit, plan.record).is_ok() {
            return Ok(());
        }
        std::thread::sleep(RECORD_AGAIN);
    }
    plan::write_exit_record(&plan.directory, &exit, plan.record)
}

/// To the runner that started us, if it still listens.
fn send(message: &StartupMessage) {
    let mut line = serde_json::to_vec(message).unwrap_or_default();
    line.push(b'\n');
    let _ = io::stdout().write_all(&line).and_then(|()| io::stdout().flush());
}

/// The strongest isolation that the system allows. Does `init` get a PID namespace, whose processes all end with it?
/// Otherwise the walk of descendants has to do.
#[expect(deprecated, reason = "its successor is unsafe for the sake of a flag that is not used here")]
fn isolate() -> io::Result<bool> {
    let (user, group) = (getuid().as_raw(), getgid().as_raw());
    if rustix::thread::unshare(UnshareFlags::NEWUSER | UnshareFlags::NEWPID).is_err() {
        return Ok(rustix::thread::unshare(UnshareFlags::NEWPID).is_ok());
    }
    fs::write("/proc/self/setgroups", "deny")?;
    fs::write("/proc/self/uid_map", format!("{user} {user} 1"))?;
    fs::write("/proc/self/gid_map", format!("{group} {group} 1"))?;
    keep_right_to_mount()?;
    Ok(true)
}

/// In its own namespace this process may mount. For an ordinary user that right would be lost with the next `exec`, and
/// `init` needs it once, for a root of its own (R13, F112). It gives it up before the client starts.
fn keep_right_to_mount() -> io::Result<()> {
    // An overlay keeps a directory that nobody may enter, so mounting one overrides modes.
    let needed = CapabilitySet::SYS_ADMIN | CapabilitySet::SETPCAP | CapabilitySet::DAC_OVERRIDE;
    let mut sets = capabilities(None)?;
    sets.inheritable |= needed;
    set_capabilities(None, sets)?;
    for capability in needed.iter() {
        configure_capability_in_ambient_set(capability, true)?;
    }
    Ok(())
}

/// Ends whatever is left of this spawn, and comes back when nothing is.
fn end_all(spawn: &str) {
    let own = std::process::id();
    loop {
        let mut left = descendants(own);
        left.extend(marked(spawn).into_iter().filter(|pid| *pid != own));
        if left.is_empty() {
            return;
        }
        signal_all(&left, Signal::KILL);
        std::thread::sleep(Duration::from_millis(2));
    }
}

/// One of the client's two streams.
struct OutputStream {
    pipe: Option<PipeReader>,
    line: Vec<u8>,
}

impl OutputStream {
    fn new(pipe: PipeReader) -> Self {
        Self { pipe: Some(pipe), line: Vec::new() }
    }
}

/// A client that runs, and what has been seen of it.
struct ClientProcess<'a> {
    plan: &'a ShimPlan,
    init: Child,
    own_pid_namespace: bool,
    from_init: BufReader<UnixStream>,
    signals: UnixStream,
    out: OutputStream,
    err: OutputStream,
    log: LogWriter,
    transcript: LogWriter,
    reader: OutputReader,
    /// The usage that was last written down, and when.
    written_usage: Option<(Usage, Instant)>,
    limits: TimeLimits,
    /// Which limit of the machine it has reached.
    limit_reached: Option<String>,
    /// Why it is being ended, and when it has to be over.
    ending: Option<(EndCause, Instant)>,
    end: Option<ProcessEnd>,
}

#[derive(Clone, Copy)]
enum EndCause {
    Requested(StopReason),
    Limit(EndReason),
}

impl<'a> ClientProcess<'a> {
    fn start(plan: &'a ShimPlan, signals: UnixStream) -> io::Result<Self> {
        let log = LogWriter::new(plan::log_directory(&plan.directory, OutputKind::Raw))?;
        let transcript = LogWriter::new(plan::log_directory(&plan.directory, OutputKind::Transcript))?;
        let (mut ours, theirs) = UnixStream::pair()?;
        let ((out, stdout), (err, stderr)) = (io::pipe()?, io::pipe()?);
        let own_pid_namespace = isolate()?;
        let mut command = Command::new("/proc/self/exe");
        command.args(["shim", "--init"]).env_clear().env(MARKER, &plan.spawn);
        command.stdin(std::os::fd::OwnedFd::from(theirs)).stdout(stdout).stderr(stderr);
        let init = command.spawn()?;
        // The command holds the ends that must be closed for the pipes to end.
        drop(command);
        let mut from_init = BufReader::new(ours.try_clone()?);
        let mut ready = String::new();
        from_init.read_line(&mut ready)?;
        let mut line = serde_json::to_vec(plan)?;
        line.push(b'\n');
        ours.write_all(&line)?;
        Ok(Self {
            plan,
            init,
            own_pid_namespace,
            from_init,
            signals,
            out: OutputStream::new(out),
            err: OutputStream::new(err),
            log,
            transcript,
            reader: OutputReader::new(plan.client.unwrap_or(Client::Command)),
            written_usage: None,
            limits: TimeLimits::new(plan.wall, plan.stall, Instant::now(), SystemTime::now()),
            limit_reached: None,
            ending: None,
            end: None,
        })
    }

    fn watch(mut self) -> ExitRecord {
        while self.end.is_none() {
            if let Err(error) = self.wait_for_event() {
                self.end = Some(ExitRecord::because(EndReason::Lost, format!("cannot watch: {error}")).end);
            }
        }
        // Kill first, read the rest after: a descendant that holds a pipe open would keep us reading.
        let _ = self.init.kill();
        let _ = self.init.wait();
        // The kernel has ended everything in the namespace before we could wait for its `init`.
        if !self.own_pid_namespace {
            end_all(&self.plan.spawn);
        }
        self.drain();
        self.conclude()
    }

    /// Waits for one thing to happen, and sees to it.
    fn wait_for_event(&mut self) -> io::Result<()> {
        let now = Instant::now();
        let wait = self.next_limit().min(self.next_usage(now)).saturating_duration_since(now).min(LONGEST_WAIT);
        let none = PollFlags::empty();
        let ready: Vec<bool> = {
            let fd = |stream: &'_ OutputStream| stream.pipe.as_ref().map(PipeReader::try_clone);
            let (out, err) = (fd(&self.out).transpose()?, fd(&self.err).transpose()?);
            let mut fds =
                vec![PollFd::new(self.from_init.get_ref(), PollFlags::IN), PollFd::new(&self.signals, PollFlags::IN)];
            // A stream that has ended keeps its index, by a descriptor that is polled for nothing.
            let unused = self.signals.as_fd();
            fds.push(out.as_ref().map_or(PollFd::from_borrowed_fd(unused, none), |fd| PollFd::new(fd, PollFlags::IN)));
            fds.push(err.as_ref().map_or(PollFd::from_borrowed_fd(unused, none), |fd| PollFd::new(fd, PollFlags::IN)));
            let timeout = Timespec::try_from(wait).unwrap_or_default();
            match poll(&mut fds, Some(&timeout)) {
                Ok(_) | Err(rustix::io::Errno::INTR) => {}
                Err(error) => return Err(error.into()),
            }
            fds.iter().map(|fd| !fd.revents().is_empty()).collect()
        };
        let stood_still = self.limits.waited(wait, now.elapsed());
        if let Some((_, over)) = &mut self.ending {
            *over += stood_still;
        }
        // The output goes first: the message from init may say that the client has ended, and end this loop.
        if ready[2] {
            self.read(false);
        }
        if ready[3] {
            self.read(true);
        }
        if ready[1] {
            let mut byte = [0; 16];
            let _ = self.signals.read(&mut byte)?;
            let stop = plan::read_whole(&plan::stop_file(&self.plan.directory)).unwrap_or(StopReason::Stopped);
            self.ask_to_end(EndCause::Requested(stop));
        }
        if ready[0] {
            self.read_init_message()?;
        }
        let now = Instant::now();
        self.write_usage(now);
        self.enforce(now);
        Ok(())
    }

    /// When usage is to be written down that came too soon after the last.
    fn next_usage(&self, now: Instant) -> Instant {
        match (self.reader.usage(), self.written_usage) {
            // Past that, it could not be written.
            (Some(usage), Some((written, at))) if usage != written => (at + WRITE_USAGE_EVERY).max(now + USAGE_AGAIN),
            _ => now + LONGEST_WAIT,
        }
    }

    /// Writes down what the client has used so far, for the runner to report.
    fn write_usage(&mut self, now: Instant) {
        let Some(usage) = self.reader.usage() else { return };
        let known = self.written_usage.is_some_and(|(written, at)| written == usage || now < at + WRITE_USAGE_EVERY);
        // The exit record tells the whole; a disk that is full must not end the client.
        let file = plan::usage_file(&self.plan.directory);
        if !known && plan::write_whole(&file, &usage, Durability::UntilRestart).is_ok() {
            self.written_usage = Some((usage, now));
        }
    }

    fn read_init_message(&mut self) -> io::Result<()> {
        let mut line = String::new();
        if self.from_init.by_ref().take(LONGEST_MESSAGE).read_line(&mut line)? == 0 {
            // init was killed, and its whole namespace with it.
            let signal = Some("SIGKILL".to_owned());
            self.end = Some(ProcessEnd { signal, ..ProcessEnd::because(EndReason::Signaled) });
            return Ok(());
        }
        match serde_json::from_str(&line)? {
            InitMessage::Ready => {}
            InitMessage::Started => {
                self.limits.begin(Instant::now());
                send(&StartupMessage::Client);
            }
            InitMessage::Failed(problem) => {
                self.end = Some(ExitRecord::because(EndReason::LaunchFailed, problem).end);
            }
            InitMessage::LimitReached(limit) => {
                self.limit_reached.get_or_insert(limit);
                self.ask_to_end(EndCause::Limit(EndReason::LimitReached));
            }
            InitMessage::Ended { code, signal } => {
                let reason = if signal.is_some() { EndReason::Signaled } else { EndReason::Exited };
                let signal = signal.map(signal_name);
                self.end = Some(ProcessEnd { exit_code: code, signal, ..ProcessEnd::because(reason) });
            }
        }
        Ok(())
    }

    /// When a limit is reached if nothing happens before.
    fn next_limit(&self) -> Instant {
        match self.ending {
            Some((_, over)) => over,
            None => self.limits.next(),
        }
    }

    fn enforce(&mut self, now: Instant) {
        if now < self.next_limit() {
            return;
        }
        if let Some((_, over)) = &mut self.ending {
            // `init` is among them, and with it goes its whole namespace.
            signal_all(&descendants(std::process::id()), Signal::KILL);
            *over = now + Duration::from_millis(50);
            return;
        }
        let called = fs::metadata(plan::last_call_file(&self.plan.directory)).and_then(|file| file.modified()).ok();
        if let Some(limit) = self.limits.reached(now, called, SystemTime::now()) {
            self.ask_to_end(EndCause::Limit(limit));
        }
    }

    /// Asks the client to end; `enforce` sees to it that it does.
    fn ask_to_end(&mut self, cause: EndCause) {
        if self.ending.is_some() {
            return;
        }
        // Whoever fills the machine is not asked for long.
        let at_once = matches!(cause, EndCause::Limit(EndReason::LimitReached));
        let grace = if at_once { Duration::ZERO } else { self.plan.grace };
        self.ending = Some((cause, Instant::now() + grace));
        let init = self.init.id();
        let clients: Vec<_> = descendants(std::process::id()).into_iter().filter(|pid| *pid != init).collect();
        signal_all(&clients, if self.plan.ends_on_sigint { Signal::INT } else { Signal::TERM });
    }

    fn read(&mut self, stderr: bool) {
        let stream = if stderr { &mut self.err } else { &mut self.out };
        let mut bytes = [0; 64 * 1024];
        let count = stream.pipe.as_mut().map_or(0, |pipe| pipe.read(&mut bytes).unwrap_or(0));
        if count == 0 {
            stream.pipe = None;
        } else {
            self.limits.saw_output(Instant::now());
        }
        let mut rest = &bytes[..count];
        while let Some(at) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(at + 1);
            self.take(stderr, line, true);
            rest = after;
        }
        self.take(stderr, rest, false);
        self.log.flush();
        let entries = self.reader.entries(now());
        self.write_transcript(&entries);
    }

    fn take(&mut self, stderr: bool, bytes: &[u8], whole: bool) {
        let stream = if stderr { &mut self.err } else { &mut self.out };
        stream.line.extend_from_slice(bytes);
        if whole || stream.line.len() >= LONGEST_LINE {
            self.finish_line(stderr);
        }
    }

    fn finish_line(&mut self, stderr: bool) {
        let stream = if stderr { &mut self.err } else { &mut self.out };
        let mut line = std::mem::take(&mut stream.line);
        if line.is_empty() {
            return;
        }
        for secret in &self.plan.secrets {
            line = redacted(line, secret.as_bytes());
        }
        let position = self.log.position();
        if stderr {
            self.reader.line_for_people(&line, position, now());
        } else {
            self.reader.line(&line, position, now());
        }
        self.log.write(&line);
    }

    fn write_transcript(&mut self, entries: &[TranscriptEntry]) {
        for entry in entries {
            let mut line = serde_json::to_vec(entry).unwrap_or_default();
            line.push(b'\n');
            self.transcript.write(&line);
        }
        self.transcript.flush();
    }

    /// What is left in the pipes. Nobody holds their other ends any more.
    fn drain(&mut self) {
        for stderr in [false, true] {
            while (if stderr { &self.err } else { &self.out }).pipe.is_some() {
                self.read(stderr);
            }
            self.finish_line(stderr);
        }
        self.log.flush();
        let entries = self.reader.last_entries();
        self.write_transcript(&entries);
    }

    fn conclude(mut self) -> ExitRecord {
        let mut end = self.end.take().unwrap_or_else(|| ProcessEnd::because(EndReason::Lost));
        let output_summary = self.reader.finish(end.exit_code);
        match self.ending {
            Some((EndCause::Requested(StopReason::Finished), _)) => end = ProcessEnd::exited(0),
            Some((EndCause::Requested(StopReason::Stopped), _)) => end.reason = EndReason::Stopped,
            Some((EndCause::Limit(limit), _)) => {
                end.reason = limit;
                end.error = self.limit_reached.take().or(end.error);
            }
            None if end.signal.as_deref() == Some("SIGXFSZ") => {
                end.reason = EndReason::LimitReached;
                end.error = Some("a file became larger than it may (sandbox.limits.file_size_mib)".into());
            }
            None => {
                end.vendor = output_summary.trouble;
                if let Some(login) = &output_summary.login {
                    end.reason = EndReason::LaunchFailed;
                    end.error = Some(login.clone());
                }
            }
        }
        ExitRecord { end, output_summary, output: self.log.position() }
    }
}

fn now() -> Timestamp {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    Timestamp(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
}

/// A line with a secret in it, without it.
fn redacted(line: Vec<u8>, secret: &[u8]) -> Vec<u8> {
    const INSTEAD: &[u8] = b"(secret)";
    if secret.is_empty() || secret.len() > line.len() {
        return line;
    }
    let mut clean = Vec::with_capacity(line.len());
    let mut rest = line.as_slice();
    while let Some(at) = rest.windows(secret.len()).position(|window| window == secret) {
        clean.extend_from_slice(&rest[..at]);
        clean.extend_from_slice(INSTEAD);
        rest = &rest[at + secret.len()..];
    }
    clean.extend_from_slice(rest);
    clean
}

fn signal_name(signal: i32) -> String {
    const NAMES: [(i32, &str); 12] = [
        (1, "SIGHUP"),
        (2, "SIGINT"),
        (3, "SIGQUIT"),
        (4, "SIGILL"),
        (6, "SIGABRT"),
        (7, "SIGBUS"),
        (8, "SIGFPE"),
        (9, "SIGKILL"),
        (11, "SIGSEGV"),
        (13, "SIGPIPE"),
        (15, "SIGTERM"),
        (25, "SIGXFSZ"),
    ];
    let name = NAMES.iter().find(|(number, _)| *number == signal).map(|(_, name)| (*name).to_owned());
    name.unwrap_or_else(|| format!("SIG{signal}"))
}
