//! `saihai doctor`: is everything here that is needed?

use std::collections::BTreeSet;
use std::path::Path;

use board::{CheckOutcome, Client};
use clap::Args;
use git::Git;
use runner::{Trial, TrialHost};
use serde::Serialize;

use crate::context::{Context, OpenProject};
use crate::failure::{CliExit, Failure, write_stderr};
use crate::judging_files;
use crate::show::{self, Format};
use crate::uncommitted_definitions;

/// Check git, the store, the definitions, and what runs in the sandbox: clients, setup and checks
#[derive(Debug, Args)]
#[command(after_help = "\
Runs each client, `dod.setup` and every check in the sandbox, on the target branch in a copy of its own, and names the files
that they could not see. Changes nothing. Exit code 1 if something does not work.")]
pub(crate) struct Doctor {
    /// Do not run `dod.setup` and the checks, which may take long
    #[arg(long)]
    skip_checks: bool,
}

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
                findings.extend(check_project(&opened).await);
                findings.extend(check_sandboxed_programs(&opened, self.skip_checks, context.format).await);
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
    let missing = runner::missing_layers().await;
    if missing.is_empty() {
        return Finding::ok("sandbox", "agents have a root of their own, with Landlock and seccomp");
    }
    let problems: Vec<_> = missing.iter().map(|(_, problem)| problem.as_str()).collect();
    let hint = "Agents do not start with `sandbox: strict`. Use Linux 6.2 or newer with user namespaces and Landlock \
                allowed, or set `sandbox: best_effort` in .saihai/config.yaml to go without what is missing.";
    Finding::new("sandbox", Severity::Problem, problems.join("; "), hint)
}

async fn check_project(opened: &OpenProject) -> Vec<Finding> {
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
    match super::apply_definitions::preview(opened).await {
        Err(failure) => findings.push(Finding::of("definitions", &failure)),
        Ok(applied) if applied.lines().is_empty() => findings.push(Finding::ok("definitions", "as applied")),
        Ok(applied) => {
            let detail = format!("not applied yet: {}", applied.lines().join(", "));
            findings.push(Finding::new("definitions", Severity::Warning, detail, "Run `saihai agent apply`."));
        }
    }
    if let Some(warning) = uncommitted_definitions::warning(opened) {
        let hint = "Run `git add .saihai && git commit`.";
        findings.push(Finding::new("definitions", Severity::Warning, warning, hint));
    }
    let unprotected = judging_files::unprotected(opened, &board.settings);
    if !unprotected.is_empty() {
        let detail = format!("agents may change files that judge their work: {}", unprotected.join(", "));
        let hint = format!(
            "Add `{}` to `dod` in .saihai/config.yaml: checks then run with the target's.",
            judging_files::proposal(&unprotected)
        );
        findings.push(Finding::new("checks", Severity::Warning, detail, hint));
    }
    findings
}

/// Everything that agents and checks will need, tried where they will run (R14).
async fn check_sandboxed_programs(opened: &OpenProject, skip_checks: bool, format: Format) -> Vec<Finding> {
    let board = opened.board();
    let host = TrialHost::new(
        opened.id.clone(),
        opened.path.clone(),
        crate::up_process::current_user(),
        (*board.settings).clone(),
    );
    let host = match host {
        Ok(host) => host,
        Err(error) => {
            return vec![Finding::new("sandbox", Severity::Problem, error.to_string(), "Make TMPDIR writable.")];
        }
    };
    let mut findings = Vec::new();
    let programs: BTreeSet<_> = board.agents.values().filter(|a| a.active).filter_map(|a| program(&a.spec)).collect();
    for program in &programs {
        findings.push(check_client(&host, program).await);
    }
    let dod = &board.settings.dod;
    let names: Vec<_> =
        dod.setup.iter().map(|_| board::SETUP).chain(dod.checks.iter().map(|c| c.name.as_str())).collect();
    if skip_checks || names.is_empty() {
        return findings;
    }
    if format == Format::Text {
        write_stderr(&format!("Running {} in the sandbox, on {} …", names.join(", "), board.settings.target_branch));
    }
    match host.checks().await {
        Ok(trials) => {
            findings.extend(trials.iter().map(|trial| check_finding(&format!("check {}", trial.name), trial)))
        }
        Err(error) => findings.push(Finding::new("checks", Severity::Problem, error.to_string(), "")),
    }
    findings
}

fn check_finding(what: &str, trial: &Trial) -> Finding {
    let does = match trial.outcome {
        CheckOutcome::Pass => return Finding::ok(what, "passes in the sandbox"),
        CheckOutcome::Fail => "fails in the sandbox",
        CheckOutcome::TimedOut => "does not end in time in the sandbox",
        CheckOutcome::DidNotRun => "does not run in the sandbox",
    };
    let lines: Vec<_> = trial.output.trim().lines().collect();
    let detail = [&[does], &lines[lines.len().saturating_sub(5)..]].concat().join("\n");
    if trial.denied.is_empty() {
        let hint = "Run it yourself on the target branch: does it pass there?";
        return Finding::new(what, Severity::Warning, detail, hint);
    }
    Finding::new(what, Severity::Problem, detail, denied_hint(trial))
}

fn denied_hint(trial: &Trial) -> String {
    let denied: Vec<_> = trial.denied.iter().map(|path| path.display().to_string()).collect();
    format!(
        "Not there in the sandbox: {}. Add what it needs to `sandbox.read` in .saihai/config.yaml.",
        denied.join(", ")
    )
}

/// The program that a client is started as.
fn program(spec: &board::AgentSpec) -> Option<String> {
    match spec.client {
        Client::ClaudeCode => Some("claude".into()),
        Client::Codex => Some("codex".into()),
        Client::Gemini => Some("gemini".into()),
        Client::Opencode => Some("opencode".into()),
        Client::Command => spec.command.first().cloned(),
        Client::Attached => None,
    }
}

/// Is it installed, and does it start in the sandbox? A custom command is only searched for, not started.
async fn check_client(host: &TrialHost, program: &str) -> Finding {
    let Some(path) = find_program(program) else {
        let hint =
            format!("Install it, or put it on PATH; agents with it end as launch_failed. Looked for `{program}`.");
        return Finding::new(program, Severity::Warning, "not found", hint);
    };
    if !matches!(program, "claude" | "codex" | "gemini" | "opencode") {
        return Finding::ok(program, path.display().to_string());
    }
    match host.program(&path).await {
        Ok(trial) if trial.outcome == CheckOutcome::Pass => Finding::ok(program, trial.output),
        Ok(trial) if trial.outcome == CheckOutcome::TimedOut => {
            let detail = format!("`{program} --version` is not answered in the sandbox");
            Finding::new(program, Severity::Problem, detail, "Run it yourself to see why.")
        }
        Ok(trial) => {
            let detail = format!("`{program} --version` does not work in the sandbox: {}", trial.output);
            let hint = if trial.denied.is_empty() { "Run it yourself to see why.".into() } else { denied_hint(&trial) };
            Finding::new(program, Severity::Problem, detail, hint)
        }
        Err(error) => Finding::new(program, Severity::Problem, error.to_string(), "Run it yourself to see why."),
    }
}

fn find_program(program: &str) -> Option<std::path::PathBuf> {
    if program.contains('/') {
        return Some(Path::new(program).to_owned()).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|candidate| candidate.is_file())
}
