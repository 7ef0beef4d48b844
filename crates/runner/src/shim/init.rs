//! What does the first process in a client's namespace do?

use std::convert::Infallible;
use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Read as _, Write as _};
use std::net::Shutdown;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Command, ExitCode, Stdio};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{
    DumpableBehavior, Signal, WaitOptions, getpid, set_child_subreaper, set_dumpable_behavior,
    set_parent_process_death_signal, wait,
};
use rustix::thread::{
    CapabilitySet, CapabilitySets, UnshareFlags, clear_ambient_capability_set, remove_capability_from_bounding_set,
    set_capabilities,
};
use serde::{Deserialize, Serialize};

use super::plan::ShimPlan;
use super::resources::{ResourceWatch, set_process_limits};
use crate::sandbox::{CannotConfine, Layer};

/// Why a client did not start is cut here, in bytes.
const LONGEST_PROBLEM: u64 = 4096;

/// What `init` tells its shim.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum InitMessage {
    /// From here on the shim's death kills init too.
    Ready,
    Started,
    Failed(String),
    Ended {
        code: Option<i32>,
        signal: Option<i32>,
    },
    /// It uses more of the machine than it may, and is to be ended.
    LimitReached(String),
}

/// Starts the client of the plan that comes through stdin, and reaps until it has ended.
pub(super) fn init() -> ExitCode {
    let run = || -> io::Result<()> {
        let socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let (mut to_shim, mut from_shim) = (socket.try_clone()?, BufReader::new(socket));
        // In this order, so that nothing is left over: if the shim dies before this line, no plan comes; if
        // it dies after it, the kernel kills us.
        set_parent_process_death_signal(Some(Signal::KILL))?;
        send(&mut to_shim, &InitMessage::Ready)?;
        let mut plan = String::new();
        if from_shim.read_line(&mut plan)? == 0 {
            return Ok(());
        }
        let plan: ShimPlan = serde_json::from_str(&plan)?;
        match start(&plan) {
            Ok(client) => {
                send(&mut to_shim, &InitMessage::Started)?;
                if let Some(policy) = plan.sandbox {
                    let mut to_shim = to_shim.try_clone()?;
                    let watch = ResourceWatch::new(policy.limits, policy.write);
                    std::thread::spawn(move || {
                        let limit = watch_resources(watch);
                        send(&mut to_shim, &InitMessage::LimitReached(limit))
                    });
                }
                send(&mut to_shim, &reap_until(client)?)
            }
            Err(problem) => send(&mut to_shim, &InitMessage::Failed(problem)),
        }
    };
    if run().is_ok() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn send(socket: &mut UnixStream, message: &InitMessage) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    socket.write_all(&line)
}

/// The client's pid, as it is known here.
fn start(plan: &ShimPlan) -> Result<u32, String> {
    let first = getpid().is_init();
    match &plan.sandbox {
        Some(policy) if first || policy.without.contains(&Layer::Root) => {
            let home = plan.env.get("HOME").map_or("/", String::as_str);
            policy.enter_root(Path::new(home)).map_err(|error| error.to_string())?;
        }
        Some(_) => return Err(CannotConfine::Root(io::Error::other("there are no namespaces for it")).to_string()),
        None => {}
    }
    if first {
        if plan.sandbox.as_ref().is_none_or(|policy| policy.without.contains(&Layer::Root)) {
            // Where `/proc` is masked, as in containers, the one that is there has to do.
            let _ = own_proc();
        }
        give_up_capabilities().map_err(|error| format!("cannot give up its capabilities: {error}"))?;
    } else {
        set_child_subreaper(Some(getpid())).map_err(|error| format!("cannot become a subreaper: {error}"))?;
    }
    // This process reports how the client ended, so the client must not reach into it: no debugger can attach to it,
    // and only the process that becomes the client is confined. Landlock then keeps that one from ours (V16, F105).
    let out_of_reach = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    out_of_reach.map_err(|error| format!("cannot be kept out of the client's reach: {error}"))?;
    start_client(plan).map_err(|error| format!("cannot start the client: {error}"))?
}

/// Starts the process that confines itself and becomes the client. It answers only if it cannot.
fn start_client(plan: &ShimPlan) -> io::Result<Result<u32, String>> {
    let (mut ours, theirs) = UnixStream::pair()?;
    let mut command = Command::new("/proc/self/exe");
    command.args(["shim", "--client"]).env_clear().env(crate::process::MARKER, &plan.spawn);
    command.stdin(OwnedFd::from(theirs)).process_group(0);
    let child = command.spawn()?;
    // The command holds the end that must be closed for ours to end.
    drop(command);
    ours.write_all(&serde_json::to_vec(plan)?)?;
    ours.shutdown(Shutdown::Write)?;
    let mut problem = Vec::new();
    ours.take(LONGEST_PROBLEM).read_to_end(&mut problem)?;
    let problem = String::from_utf8_lossy(&problem).into_owned();
    Ok(if problem.is_empty() { Ok(child.id()) } else { Err(problem) })
}

/// Confines this process and becomes the client of the plan that comes through stdin. What keeps it from that is written
/// back; the socket is closed when the client runs.
pub(super) fn become_confined_client() -> ExitCode {
    let run = || -> io::Result<()> {
        let mut socket = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
        let plan: ShimPlan = serde_json::from_reader(BufReader::new(&socket))?;
        let Err(problem) = replace_with_client(&plan);
        socket.write_all(problem.as_bytes())
    };
    let _ = run();
    ExitCode::FAILURE
}

fn replace_with_client(plan: &ShimPlan) -> Result<Infallible, String> {
    let stdin = match &plan.stdin {
        Some(path) => File::open(path).map(Stdio::from).map_err(|error| format!("{}: {error}", path.display()))?,
        None => Stdio::null(),
    };
    if let Some(policy) = &plan.sandbox {
        set_process_limits(&policy.limits);
        policy.confine_self().map_err(|error| error.to_string())?;
    }
    let mut command = Command::new(&plan.program);
    command.args(&plan.arguments).env_clear().envs(&plan.env).env(crate::process::MARKER, &plan.spawn);
    let error = command.current_dir(&plan.cwd).stdin(stdin).exec();
    Err(format!("cannot start {}: {error}", plan.program.display()))
}

/// A `/proc` that shows this namespace alone.
#[expect(deprecated, reason = "its successor is unsafe for the sake of a flag that is not used here")]
fn own_proc() -> io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?;
    Ok(())
}

/// What the shim has let us keep must not reach the client, nor be of use to anybody who reaches us.
fn give_up_capabilities() -> io::Result<()> {
    clear_ambient_capability_set()?;
    for capability in CapabilitySet::all().iter() {
        // Newer kernels have more of them than the list, older ones fewer.
        let _ = remove_capability_from_bounding_set(capability);
    }
    let none = CapabilitySet::empty();
    set_capabilities(None, CapabilitySets { effective: none, permitted: none, inheritable: none })?;
    Ok(())
}

/// Looks until a limit is reached, and says which.
fn watch_resources(mut watch: ResourceWatch) -> String {
    loop {
        match watch.look() {
            Ok(again) => std::thread::sleep(again),
            Err(limit) => return limit,
        }
    }
}

fn reap_until(client: u32) -> io::Result<InitMessage> {
    loop {
        match wait(WaitOptions::empty()) {
            Ok(Some((pid, status))) if pid.as_raw_pid().unsigned_abs() == client => {
                return Ok(InitMessage::Ended { code: status.exit_status(), signal: status.terminating_signal() });
            }
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
    }
}
