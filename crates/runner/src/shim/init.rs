//! What does the first process in a client's namespace do?

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, Write as _};
use std::os::fd::AsFd as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, ExitCode, Stdio};

use rustix::mount::{MountFlags, MountPropagationFlags, mount, mount_change};
use rustix::process::{Signal, WaitOptions, getpid, set_child_subreaper, set_parent_process_death_signal, wait};
use rustix::thread::UnshareFlags;
use serde::{Deserialize, Serialize};

use super::plan::ShimPlan;

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
}

/// Starts the client of the plan that comes through stdin, and reaps until it has ended.
pub fn init() -> ExitCode {
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
    if getpid().is_init() {
        // Where `/proc` is masked, as in containers, the one that is there has to do.
        let _ = own_proc();
    } else {
        set_child_subreaper(Some(getpid())).map_err(|error| format!("cannot become a subreaper: {error}"))?;
    }
    let stdin = match &plan.stdin {
        Some(path) => File::open(path).map(Stdio::from).map_err(|error| format!("{}: {error}", path.display()))?,
        None => Stdio::null(),
    };
    // After mounting: a confined process may not mount.
    if let Some(policy) = &plan.sandbox {
        policy.enforce().map_err(|error| {
            format!("{error}. Set `sandbox: best_effort` in .saihai/config.yaml to start agents unconfined.")
        })?;
    }
    let mut command = Command::new(&plan.program);
    command.args(&plan.arguments).env_clear().envs(&plan.env).env(crate::process::MARKER, &plan.spawn);
    command.current_dir(&plan.cwd).stdin(stdin).process_group(0);
    let started = command.spawn().map_err(|error| format!("cannot start {}: {error}", plan.program.display()));
    started.map(|child| child.id())
}

/// A `/proc` that shows this namespace alone.
#[expect(deprecated, reason = "its successor is unsafe for the sake of a flag that is not used here")]
fn own_proc() -> io::Result<()> {
    rustix::thread::unshare(UnshareFlags::NEWNS)?;
    mount_change("/", MountPropagationFlags::PRIVATE | MountPropagationFlags::REC)?;
    mount("proc", "/proc", "proc", MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC, None)?;
    Ok(())
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
