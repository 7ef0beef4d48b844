//! `saihai doctor`: is everything here that is needed?

use std::collections::BTreeSet;
use std::io;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

use board::Client;
use clap::Args;
use git::Git;
use serde::Serialize;

use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure};
use crate::show;

/// Check git, the store, the definitions and the clients they name
#[derive(Debug, Args)]
#[command(after_help = "Changes nothing. Exit code 1 if something does not work.")]
pub(crate) struct Doctor {}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
enum Severity {
    Ok,
    Warning,
    Problem,
}

#[derive(Debug, Serialize)]
struct Finding {
    what: String,
    state: Severity,
    detail: String,
    hint: String,
}

impl Finding {
    fn new(what: &str, state: Severity, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { what: what.into(), state, detail: detail.into(), hint: hint.into() }
    }

    fn ok(what: &str, detail: impl Into<String>) -> Self {
        Self::new(what, Severity::Ok, detail, "")
    }

    fn of(what: &str, failure: &Failure) -> Self {
        Self::new(what, Severity::Problem, failure.message.clone(), failure.hint.clone())
    }
}

impl Doctor {
    pub(crate) async fn run(self, context: &Context) -> Result<(), Failure> {
        let mut findings = vec![check_git(), check_sandbox().await];
        match context.open().await {
            Ok(opened) => {
                findings.push(Finding::ok("store", format!("{} opens", context.store_path().display())));
                findings.push(Finding::ok("project", format!("{} at {}", opened.id, opened.path.display())));
                findings.extend(check_project(&opened));
            }
            Err(failure) if failure.exit == CliExit::Store => findings.push(Finding::of("store", &failure)),
            Err(failure) => {
                findings.push(Finding::new("project", Severity::Warning, failure.message, failure.hint));
            }
        }
        let problems = findings.iter().filter(|finding| finding.state == Severity::Problem).count();
        let ids = || findings.iter().filter(|f| f.state != Severity::Ok).map(|f| f.what.clone()).collect();
        context.format.print(&findings, ids, || {
            let line = |finding: &Finding| {
                let mark = match finding.state {
                    Severity::Ok => "ok     ",
                    Severity::Warning => "warning",
                    Severity::Problem => "PROBLEM",
                };
                let hint =
                    if finding.hint.is_empty() { String::new() } else { format!("\n          → {}", finding.hint) };
                format!(
                    "{mark} {:<14} {}{hint}",
                    finding.what,
                    show::clean(&finding.detail).replace('\n', "\n          ")
                )
            };
            findings.iter().map(line).collect::<Vec<_>>().join("\n")
        })?;
        match problems {
            0 => Ok(()),
            n => Err(Failure::failed(
                format!("{n} of {} checks found a problem.", findings.len()),
                "Follow the hints above.",
            )),
        }
    }
}

fn check_git() -> Finding {
    match Git::for_command_line(".").version() {
        Some(version) => Finding::ok("git", version),
        None => Finding::new("git", Severity::Problem, "git was not found.", "Install git."),
    }
}

/// Tried with a real program, because kernels and containers differ.
async fn check_sandbox() -> Finding {
    let missing = runner::missing_walls().await;
    if missing.is_empty() {
        return Finding::ok("sandbox", "agents have a root of their own, with Landlock and seccomp");
    }
    let problems: Vec<_> = missing.iter().map(|(_, problem)| problem.as_str()).collect();
    let hint = "Agents do not start with `sandbox: strict`. Use Linux 6.2 or newer with user namespaces and Landlock \
                allowed, or set `sandbox: best_effort` in .saihai/config.yaml to go without what is missing.";
    Finding::new("sandbox", Severity::Problem, problems.join("; "), hint)
}

fn check_project(opened: &OpenProject) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !opened.path.is_dir() {
        let detail = format!("{} is not there any more.", opened.path.display());
        findings.push(Finding::new(
            "repository",
            Severity::Problem,
            detail,
            "Move it back, or run `saihai init` where it is now.",
        ));
        return findings;
    }
    let board = opened.board();
    let target = &board.settings.target_branch;
    findings.push(match Git::for_command_line(&opened.path).branch_commit(target) {
        Some(commit) => Finding::ok("target", format!("{target} at {}", &commit[..commit.len().min(10)])),
        None => {
            let hint = "Make a first commit on it, or correct `target_branch` in .saihai/config.yaml.";
            Finding::new("target", Severity::Problem, format!("There is no branch {target} yet."), hint)
        }
    });
    match super::apply_definitions::preview(opened) {
        Err(failure) => findings.push(Finding::of("definitions", &failure)),
        Ok(applied) if applied.lines().is_empty() => findings.push(Finding::ok("definitions", "as applied")),
        Ok(applied) => {
            let detail = format!("not applied yet: {}", applied.lines().join(", "));
            findings.push(Finding::new("definitions", Severity::Warning, detail, "Run `saihai agent apply`."));
        }
    }
    let programs: BTreeSet<_> = board.agents.values().filter(|a| a.active).filter_map(|a| program(&a.spec)).collect();
    findings.extend(programs.iter().map(|program| check_client(program)));
    findings
}

/// The program that a client is started as.
fn program(spec: &board::AgentSpec) -> Option<String> {
    match spec.client {
        Client::ClaudeCode => Some("claude".into()),
        Client::Codex => Some("codex".into()),
        Client::Gemini => Some("gemini".into()),
        Client::Opencode => Some("opencode".into()),
        Client::Command => spec.command.first().cloned(),
    }
}

/// Is it installed, and does it start? A custom command is only searched for, not started.
fn check_client(program: &str) -> Finding {
    let Some(path) = find_program(program) else {
        let hint =
            format!("Install it, or put it on PATH; agents with it end as launch_failed. Looked for `{program}`.");
        return Finding::new(program, Severity::Warning, "not found", hint);
    };
    if !matches!(program, "claude" | "codex" | "gemini" | "opencode") {
        return Finding::ok(program, path.display().to_string());
    }
    match ask_version(&path) {
        Ok(output) if output.status.success() => {
            Finding::ok(program, String::from_utf8_lossy(&output.stdout).trim().to_owned())
        }
        Ok(output) => {
            let detail = format!("`{program} --version` ended with {}", output.status);
            Finding::new(program, Severity::Problem, detail, "Run it yourself to see why.")
        }
        Err(error) => Finding::new(program, Severity::Problem, error.to_string(), "Run it yourself to see why."),
    }
}

/// With a time limit, because a client may wait for something, such as a first login.
fn ask_version(program: &Path) -> io::Result<Output> {
    const VERSION_TIMEOUT: Duration = Duration::from_secs(10);
    let mut command = Command::new(program);
    command.arg("--version").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let (mut child, asked) = (command.spawn()?, Instant::now());
    while child.try_wait()?.is_none() {
        if asked.elapsed() > VERSION_TIMEOUT {
            child.kill()?;
            child.wait()?;
            let silence = format!("`--version` was not answered within {} seconds", VERSION_TIMEOUT.as_secs());
            return Err(io::Error::new(io::ErrorKind::TimedOut, silence));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    child.wait_with_output()
}

fn find_program(program: &str) -> Option<std::path::PathBuf> {
    if program.contains('/') {
        return Some(Path::new(program).to_owned()).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|candidate| candidate.is_file())
}
