//! How git is run: bounded in time and bytes, with nothing of it left over, and nobody's hooks.

use std::path::Path;
use std::time::{Duration, Instant};

use git::{AsyncGit, GitError};

use crate::scratch::Scratch;

/// Longer than any test waits.
const FOR_EVER: &str = "alias.nap=!echo $$ > nap.pid; exec sleep 1000";

/// The same for a program that does not end when it is asked to, and is not git's own child.
const STUBBORN: &str = "alias.nap=!(trap '' TERM; sh -c 'echo $$ > nap.pid; exec sleep 1000') & wait";

/// The process that wrote its number there, once it has.
fn napping(directory: &Path) -> Option<String> {
    let pid = std::fs::read_to_string(directory.join("nap.pid")).ok()?;
    pid.ends_with('\n').then(|| pid.trim().to_owned())
}

fn is_gone(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.is_empty() || stat.contains(") Z ")
}

#[track_caller]
fn wait_until(what: &str, condition: impl Fn() -> bool) {
    let began = Instant::now();
    while !condition() {
        assert!(began.elapsed() < Duration::from_secs(20), "{what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// V6: a command that never ends must not hold up the merge queue, nor leave a process behind.
#[test]
fn a_command_that_takes_too_long_is_ended_with_all_it_started() {
    for nap in [FOR_EVER, STUBBORN] {
        let scratch = Scratch::new();
        let limit = Duration::from_millis(500);
        let error = scratch.git.clone().with_time_limit(limit).run(&["-c", nap, "nap"]).unwrap_err();
        assert!(matches!(&error, GitError::TimedOut { command, .. } if command == "nap"), "{error}");
        let pid = napping(scratch.path()).unwrap();
        wait_until("it still runs", || is_gone(&pid));
    }
}

/// V6: the same for a filter that a repository has configured, as LFS is.
#[test]
fn a_filter_that_hangs_is_ended() {
    let scratch = Scratch::new();
    scratch.run(&["config", "filter.slow.smudge", "echo $$ > nap.pid; exec sleep 1000"]);
    std::fs::write(scratch.path().join(".gitattributes"), "README filter=slow\n").unwrap();
    std::fs::remove_file(scratch.path().join("README")).unwrap();
    let git = scratch.git.clone().with_time_limit(Duration::from_millis(500));
    let error = git.run(&["checkout", "--quiet", "--", "README"]).unwrap_err();
    assert!(matches!(&error, GitError::TimedOut { command, .. } if command == "checkout"), "{error}");
    let pid = napping(scratch.path()).unwrap();
    wait_until("the filter still runs", || is_gone(&pid));
    assert!(!scratch.path().join(".git/index.lock").exists(), "git had time to remove its lock");
}

/// R4: a session that is stopped while its workspace is made leaves no git behind.
#[test]
fn a_caller_that_goes_away_ends_the_command() {
    let scratch = Scratch::new();
    let git = AsyncGit::from(scratch.git.clone());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let pid = runtime.block_on(async {
        let arguments = ["-c", FOR_EVER, "nap"];
        let nap = git.run(&arguments);
        let started = async {
            loop {
                if let Some(pid) = napping(scratch.path()) {
                    return pid;
                }
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::select! {
            ended = nap => panic!("{ended:?}"),
            pid = started => pid,
        }
    });
    wait_until("it still runs", || is_gone(&pid));
}

/// R1: what a repository makes git print does not fill the memory.
#[test]
fn output_is_bounded() {
    let scratch = Scratch::new();
    let endless = ["-c", "alias.endless=!yes", "endless"];
    let error = scratch.git.clone().with_output_limit(100_000).run(&endless).unwrap_err();
    assert!(matches!(&error, GitError::TooMuchOutput { command, .. } if command == "endless"), "{error}");
    assert_eq!(scratch.git.first_bytes(&endless, 10).unwrap(), b"y\ny\ny\ny\ny\n");
}

/// R1: input and output larger than a pipe do not block each other.
#[test]
fn large_input_and_output_pass() {
    let scratch = Scratch::new();
    let input = "line\n".repeat(200_000);
    let output = scratch.git.run_with(&["-c", "alias.echo=!cat", "echo"], input.as_bytes()).unwrap();
    assert_eq!(output.len(), input.len() - 1);
    // One that does not read it is no reason to wait.
    assert_eq!(scratch.git.run_with(&["rev-parse", "--is-bare-repository"], input.as_bytes()).unwrap(), "false");
}

/// F62: a failure carries git's own name of the command and its message.
#[test]
fn a_failure_says_which_command_and_why() {
    let scratch = Scratch::new();
    let error = scratch.git.run(&["-c", "a.b=c", "checkout", "--quiet", "nowhere"]).unwrap_err();
    let GitError::Failed { command, message } = &error else { panic!("{error}") };
    assert_eq!(command, "checkout");
    assert!(message.contains("nowhere"), "{message}");
}

/// R1, F62: hooks do not run, file names are not expanded, and commits are ours.
#[test]
fn a_repository_does_not_make_git_do_more_than_is_asked() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = Scratch::new();
    let hook = scratch.path().join(".git/hooks/post-commit");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\ntouch hook-ran\n").unwrap();
    std::fs::set_permissions(&hook, std::fs::Permissions::from_mode(0o755)).unwrap();
    scratch.commit("$(touch shell-ran) ; `touch shell-ran`");
    assert!(!scratch.path().join("hook-ran").exists());
    assert!(!scratch.path().join("shell-ran").exists());
    assert!(scratch.run(&["var", "GIT_AUTHOR_IDENT"]).starts_with("Saihai <saihai@localhost>"));
}
