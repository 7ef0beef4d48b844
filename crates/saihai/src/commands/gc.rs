//! `saihai gc`

use std::io::{IsTerminal as _, Write as _};

use clap::Args;
use runner::gc::{GcFinding, Leftover, find, remove};
use runner::{RunnerHost, RunnerPaths};
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{Format, clean};
use crate::up_process::current_user;

/// Remove workspaces, branches, logs and processes that are not needed any more
#[derive(Debug, Args)]
#[command(after_help = "\
A workspace is removed when its task is done, or failed or was cancelled longer ago than
`workspaces.keep_failed`; never while it has work that exists nowhere else. A branch is removed when its
task is done and it is merged. Logs are removed 30 days after the end of their session. It asks first.")]
pub(crate) struct Gc {
    /// Only print what would be removed, and why everything else is kept
    #[arg(long)]
    dry_run: bool,
    /// Do not ask
    #[arg(long, short)]
    yes: bool,
}

impl Gc {
    pub(crate) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let paths = RunnerPaths::new(&context.home, &opened.id);
        let host = RunnerHost { repository: opened.path.clone(), paths, user: current_user() };
        let board = opened.board();
        let found = find(&host, &board, opened.now()).await;
        let removals = found.iter().filter(|found| found.remove).count();
        if !self.dry_run && removals > 0 && !self.yes {
            self.ask(context, &found, removals)?;
        }
        let mut failures = Vec::new();
        if !self.dry_run {
            for found in found.iter().filter(|found| found.remove) {
                if let Err(error) = remove(&host, &board, found).await {
                    failures.push(format!("{}: {error}", name(found)));
                }
            }
        }
        let json: Vec<_> = found.iter().map(|found| self.json(found)).collect();
        let ids = || found.iter().filter(|found| found.remove).map(name).collect();
        context.format.print(&json, ids, || {
            let lines: Vec<_> = found.iter().map(|found| self.line(found)).collect();
            if lines.is_empty() {
                opened.say("There is nothing to remove.", "削除するものはありません。")
            } else {
                lines.join("\n")
            }
        })?;
        if failures.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(failures.join("; "), "Look at what is in the way, and run it again."))
    }

    /// Asks the user, unless --yes was given (C4).
    fn ask(&self, context: &Context, found: &[GcFinding], removals: usize) -> Result<(), Failure> {
        let unasked = || {
            Failure::new(
                crate::failure::CliExit::Refused,
                "needs_confirmation",
                format!("{removals} things would be removed."),
                "Look at them with --dry-run, then run it with --yes.",
            )
        };
        if context.format != Format::Text || !std::io::stdin().is_terminal() {
            return Err(unasked());
        }
        for found in found.iter().filter(|found| found.remove) {
            let _ = writeln!(std::io::stderr(), "{}", self.line(found));
        }
        let _ = write!(std::io::stderr(), "Remove {removals} things? [y/N] ");
        let mut answer = String::new();
        let _ = std::io::stdin().read_line(&mut answer);
        if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(unasked()) }
    }

    fn line(&self, found: &GcFinding) -> String {
        let does = match (found.remove, self.dry_run) {
            (true, true) => "would remove",
            (true, false) => "removed     ",
            (false, _) => "keeps       ",
        };
        clean(&format!("{does} {}: {}", name(found), found.reason))
    }

    fn json(&self, found: &GcFinding) -> serde_json::Value {
        let kind = match found.leftover {
            Leftover::Workspace { .. } => "workspace",
            Leftover::Branch { .. } => "branch",
            Leftover::Session { .. } => "log",
            Leftover::Process { .. } => "process",
        };
        let removed = found.remove && !self.dry_run;
        json!({ "kind": kind, "name": name(found), "remove": found.remove, "removed": removed, "reason": found.reason })
    }
}

fn name(found: &GcFinding) -> String {
    match &found.leftover {
        Leftover::Workspace { task, path } => format!("workspace of {task} ({})", path.display()),
        Leftover::Branch { name, .. } => format!("branch {name}"),
        Leftover::Session { session, .. } => format!("log of {session}"),
        Leftover::Process { session, pid, .. } => format!("process {pid} of {session}"),
    }
}
