//! `saihai gc`

use std::io::{IsTerminal as _, Write as _};

use board::{Language, say_span};
use clap::Args;
use dispatch::Inventory;
use runner::gc::{GcFinding, GcReason, Leftover, find, remove};
use runner::{RunnerHost, RunnerPaths};
use serde_json::json;

use crate::context::{Context, OpenProject, say_in};
use crate::failure::Failure;
use crate::show::{Format, clean};
use crate::up_process::current_user;

/// Remove workspaces, branches, logs and processes that are not needed any more
#[derive(Debug, Args)]
#[command(after_help = "\
A workspace is removed when its task is done, or failed or was cancelled longer ago than
`workspaces.keep_failed`; never while it has work that exists nowhere else. A branch is removed
when its task is done and it is merged. Logs are removed 30 days after the end of their session.
It asks first.")]
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
        let board = opened.board();
        let (project, repository) = (opened.id.clone(), opened.path.clone());
        let host = RunnerHost { project, began: board.began, repository, paths, user: current_user(), upstream: None };
        let inventory = Inventory::from(&*board);
        let found = find(&host, &inventory, opened.now()).await;
        let removals = found.iter().filter(|found| found.remove).count();
        if !self.dry_run && removals > 0 && !self.yes {
            self.ask(context, &opened, &found, removals)?;
        }
        let mut failures = Vec::new();
        if !self.dry_run {
            for found in found.iter().filter(|found| found.remove) {
                if let Err(error) = remove(&host, inventory.settings.isolation, found).await {
                    failures.push(format!("{}: {error}", name(opened.language, found)));
                }
            }
        }
        let json: Vec<_> = found.iter().map(|found| self.json(found)).collect();
        let ids = || found.iter().filter(|found| found.remove).map(|found| name(Language::En, found)).collect();
        context.format.print(&json, ids, || {
            let lines: Vec<_> = found.iter().map(|found| self.line(&opened, found)).collect();
            if lines.is_empty() {
                opened.say("There is nothing to remove.", "削除するものはありません。")
            } else {
                lines.join("\n")
            }
        })?;
        if failures.is_empty() {
            return Ok(());
        }
        Err(Failure::failed(
            opened.say(failures.join("; "), format!("削除できません: {}", failures.join("; "))),
            opened.say("See the reason above, and run it again.", "上の理由を確認し、もう一度実行してください。"),
        ))
    }

    /// Asks the user, unless --yes was given (C4).
    fn ask(
        &self,
        context: &Context,
        opened: &OpenProject,
        found: &[GcFinding],
        removals: usize,
    ) -> Result<(), Failure> {
        let unasked = || {
            Failure::new(
                crate::failure::CliExit::Refused,
                "needs_confirmation",
                opened.say(format!("{removals} things would be removed."), format!("{removals} 件が削除されます。")),
                opened.say(
                    "See them with --dry-run, then run it with --yes.",
                    "--dry-run で確認してから、--yes を付けて実行してください。",
                ),
            )
        };
        if context.format != Format::Text || !std::io::stdin().is_terminal() {
            return Err(unasked());
        }
        for found in found.iter().filter(|found| found.remove) {
            let _ = writeln!(std::io::stderr(), "{}", self.line(opened, found));
        }
        let question =
            opened.say(format!("Remove {removals} things? [y/N] "), format!("{removals} 件を削除しますか? [y/N] "));
        let _ = write!(std::io::stderr(), "{question}");
        let mut answer = String::new();
        let _ = std::io::stdin().read_line(&mut answer);
        if matches!(answer.trim(), "y" | "Y" | "yes") { Ok(()) } else { Err(unasked()) }
    }

    fn line(&self, opened: &OpenProject, found: &GcFinding) -> String {
        let action = match (found.remove, self.dry_run) {
            (true, true) => opened.say("would remove", "削除予定"),
            (true, false) => opened.say("removed     ", "削除済み"),
            (false, _) => opened.say("keeps       ", "保持    "),
        };
        clean(&format!("{action} {}: {}", name(opened.language, found), reason(opened.language, &found.reason)))
    }

    fn json(&self, found: &GcFinding) -> serde_json::Value {
        let kind = match found.leftover {
            Leftover::Workspace { .. } => "workspace",
            Leftover::Branch { .. } => "branch",
            Leftover::Session { .. } => "log",
            Leftover::Process { .. } => "process",
        };
        let removed = found.remove && !self.dry_run;
        json!({ "kind": kind, "name": name(Language::En, found), "remove": found.remove, "removed": removed, "reason": found.reason.to_string() })
    }
}

fn reason(language: Language, reason: &GcReason) -> String {
    let ja = match reason {
        GcReason::OutlivesSession => "セッションは終了しましたが、まだ動いています".to_owned(),
        GcReason::SessionEnded { ago } => format!("セッションの終了から {}", say_span(*ago, language)),
        GcReason::UnknownSession => "ボードにないセッションです".to_owned(),
        GcReason::Unreadable => "git で読めません。中を確認して、自分で削除してください".to_owned(),
        GcReason::HasSession(task) => format!("{task} のセッションがあります"),
        GcReason::KeptFor { task, status, age, keep } => {
            let (age, keep) = (say_span(*age, language), say_span(*keep, language));
            format!("{task} は {status} になって {age} です（{keep} の間は保持）")
        }
        GcReason::NotDone { task, status } => format!("{task} は {status} です"),
        GcReason::InRepository => "作業はリポジトリにあります".to_owned(),
        GcReason::NotCommitted { file } => format!("ここにしかない作業があります: {file} が未コミットです"),
        GcReason::OnlyCommit(commit) => format!("ここにしかない作業があります: コミット {commit}"),
        GcReason::NotExamined(error) => format!("調べられません: {error}"),
        GcReason::BranchMoved => "Saihai が残した位置から動いています".to_owned(),
        GcReason::Merged => "マージ済みです".to_owned(),
        GcReason::NotInTarget => "対象ブランチに入っていません".to_owned(),
    };
    say_in(language, reason.to_string(), ja)
}

/// For programs it is English in every language (C5).
fn name(language: Language, found: &GcFinding) -> String {
    let say = |en: String, ja: String| say_in(language, en, ja);
    match &found.leftover {
        Leftover::Workspace { task, path } => say(
            format!("workspace of {task} ({})", path.display()),
            format!("{task} の作業コピー（{}）", path.display()),
        ),
        Leftover::Branch { name, .. } => say(format!("branch {name}"), format!("ブランチ {name}")),
        Leftover::Session { session, .. } => say(format!("log of {session}"), format!("{session} のログ")),
        Leftover::Process { session, pid, .. } => {
            say(format!("process {pid} of {session}"), format!("{session} のプロセス {pid}"))
        }
    }
}
