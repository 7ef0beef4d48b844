//! `saihai doctor`: is everything here that is needed?

use std::collections::BTreeSet;
use std::path::Path;

use board::{CheckOutcome, Client};
use clap::Args;
use git::Git;
use runner::{Trial, TrialHost};
use serde::Serialize;

use crate::context::{Context, OpenProject, say_in};
use crate::failure::{CliExit, Failure, write_stderr};
use crate::judging_files;
use crate::show::{self, Format};
use crate::uncommitted_definitions;

/// Check git, the store, the definitions, and what runs in the sandbox: clients, setup and checks
#[derive(Debug, Args)]
#[command(after_help = "\
Runs each client, `workspace.setup`, `dod.setup` and every check in the sandbox, on the target
branch in a copy of its own, and names the files that they could not see. Changes nothing. Exit
code 1 if something does not work.")]
pub(crate) struct Doctor {
    /// Do not run the setups and the checks, which may take long
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
        let opened = context.open().await;
        let language = opened.as_ref().map_or_else(|_| context.language(), |opened| opened.language);
        let context = &context.speaking(language);
        let mut findings = vec![check_git(context), check_sandbox(context).await];
        match opened {
            Ok(opened) => {
                let (store, path) = (&context.store, opened.path.display());
                findings
                    .push(Finding::ok("store", opened.say(format!("{store} opens"), format!("{store} を開けます"))));
                findings.push(Finding::ok(
                    "project",
                    opened.say(format!("{} at {path}", opened.id), format!("{}（{path}）", opened.id)),
                ));
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
                    Severity::Ok => say_in(language, "ok     ", "正常"),
                    Severity::Warning => say_in(language, "warning", "警告"),
                    Severity::Problem => say_in(language, "PROBLEM", "問題"),
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
                say_in(
                    language,
                    format!("{n} of {} checks found a problem.", findings.len()),
                    format!("{} 件の検査のうち {n} 件で問題が見つかりました。", findings.len()),
                ),
                say_in(language, "Follow the hints above.", "上のヒントに従ってください。"),
            )),
        }
    }
}

fn check_git(context: &Context) -> Finding {
    match Git::for_command_line(".").version() {
        Some(version) => Finding::ok("git", version),
        None => {
            let detail = context.say("git was not found.", "git が見つかりません。");
            let hint = context.say("Install git.", "git をインストールしてください。");
            Finding::new("git", Severity::Problem, detail, hint)
        }
    }
}

/// Tried with a real program, because kernels and containers differ.
async fn check_sandbox(context: &Context) -> Finding {
    let missing = runner::missing_layers().await;
    if missing.is_empty() {
        let detail = context.say(
            "agents have a root of their own, with Landlock and seccomp",
            "エージェントは専用のルートで、Landlock と seccomp の下で動きます",
        );
        return Finding::ok("sandbox", detail);
    }
    let problems: Vec<_> = missing.iter().map(|(_, problem)| problem.as_str()).collect();
    let problems = problems.join("; ");
    let hint = context.say(
        "Agents do not start with `sandbox: strict`. Use Linux 6.2 or newer with user namespaces and Landlock allowed, or \
         set `sandbox: best_effort` in .saihai/config.yaml to go without what is missing.",
        "`sandbox: strict` ではエージェントが起動しません。ユーザー名前空間と Landlock を許可した Linux 6.2 以降を使うか、\
         .saihai/config.yaml に `sandbox: best_effort` を設定して、足りないものなしで動かしてください。",
    );
    let detail = context.say(problems.clone(), format!("使えない隔離機能があります: {problems}"));
    Finding::new("sandbox", Severity::Problem, detail, hint)
}

async fn check_project(opened: &OpenProject) -> Vec<Finding> {
    let mut findings = Vec::new();
    if !opened.path.is_dir() {
        let path = opened.path.display();
        let detail = opened.say(format!("{path} is not there any more."), format!("{path} がなくなっています。"));
        let hint = opened.say(
            "Move it back, or run `saihai init` where it is now.",
            "元に戻すか、今の場所で `saihai init` を実行してください。",
        );
        findings.push(Finding::new("repository", Severity::Problem, detail, hint));
        return findings;
    }
    let board = opened.board();
    let target = &board.settings.target_branch;
    findings.push(match Git::for_command_line(&opened.path).branch_commit(target) {
        Some(commit) => {
            let commit = &commit[..commit.len().min(10)];
            Finding::ok("target", opened.say(format!("{target} at {commit}"), format!("{target}（{commit}）")))
        }
        None => {
            let detail = opened
                .say(format!("There is no branch {target} yet."), format!("ブランチ {target} がまだありません。"));
            let hint = opened.say(
                "Make a first commit on it, or correct `target_branch` in .saihai/config.yaml.",
                "最初のコミットを作成するか、.saihai/config.yaml の `target_branch` を直してください。",
            );
            Finding::new("target", Severity::Problem, detail, hint)
        }
    });
    findings.extend(check_definitions(opened).await);
    findings
}

/// Are the definitions applied, committed, and safe from the agents that they judge?
async fn check_definitions(opened: &OpenProject) -> Vec<Finding> {
    let mut findings = Vec::new();
    match super::apply_definitions::preview(opened).await {
        Err(failure) => findings.push(Finding::of("definitions", &failure)),
        Ok(applied) if applied.lines(opened.language).is_empty() => {
            findings.push(Finding::ok("definitions", opened.say("as applied", "適用済みです")));
        }
        Ok(applied) => {
            let lines = applied.lines(opened.language).join(", ");
            let detail = opened.say(format!("not applied yet: {lines}"), format!("未適用: {lines}"));
            let hint = opened.say("Run `saihai agent apply`.", "`saihai agent apply` を実行してください。");
            findings.push(Finding::new("definitions", Severity::Warning, detail, hint));
        }
    }
    if let Some(warning) = uncommitted_definitions::warning(opened) {
        let hint =
            opened.say("Run `git add .saihai && git commit`.", "`git add .saihai && git commit` を実行してください。");
        findings.push(Finding::new("definitions", Severity::Warning, warning, hint));
    }
    if let Some(warning) = crate::budget_warning::warning(opened) {
        findings.push(Finding::new("budget", Severity::Warning, warning, ""));
    }
    let unprotected = judging_files::unprotected(opened, &opened.board().settings);
    if !unprotected.is_empty() {
        let (files, proposal) = (unprotected.join(", "), judging_files::proposal(&unprotected));
        let detail = opened.say(
            format!("agents may change files that judge their work: {files}"),
            format!("作業を判定するファイルをエージェントが変更できます: {files}"),
        );
        let hint = opened.say(
            format!("Add `{proposal}` to `dod` in .saihai/config.yaml: checks then run with the target's."),
            format!(
                ".saihai/config.yaml の `dod` に `{proposal}` を追加すると、チェックは対象ブランチのものを使います。"
            ),
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
            let detail = opened.say(error.to_string(), format!("試す場所を用意できません: {error}"));
            let hint = opened.say("Make TMPDIR writable.", "TMPDIR に書き込めるようにしてください。");
            return vec![Finding::new("sandbox", Severity::Problem, detail, hint)];
        }
    };
    let mut findings = Vec::new();
    let programs: BTreeSet<_> = board.agents.values().filter(|a| a.active).filter_map(|a| program(&a.spec)).collect();
    for program in &programs {
        findings.push(check_client(opened, &host, program).await);
    }
    let dod = &board.settings.dod;
    if !skip_checks && let Some(setup) = &board.settings.workspace_setup {
        if format == Format::Text {
            let command = &setup.command;
            write_stderr(&opened.say(
                format!("Running `{command}` in a new workspace …"),
                format!("`{command}` を新しい作業コピーで実行しています…"),
            ));
        }
        findings.push(match host.workspace_setup().await {
            Ok(()) => {
                let detail = opened.say("succeeds in a new workspace", "新しい作業コピーで成功します");
                Finding::ok("workspace.setup", detail)
            }
            Err(error) => {
                let detail = opened.say(error.to_string(), format!("新しい作業コピーで失敗します: {error}"));
                let hint = opened.say(
                    "Run it yourself in a fresh clone. While it fails, no agent starts.",
                    "新しいクローンで自分で実行してみてください。失敗する間、エージェントは起動しません。",
                );
                Finding::new("workspace.setup", Severity::Problem, detail, hint)
            }
        });
    }
    let names: Vec<_> =
        dod.setup.iter().map(|_| board::SETUP).chain(dod.checks.iter().map(|c| c.name.as_str())).collect();
    if skip_checks || names.is_empty() {
        return findings;
    }
    if format == Format::Text {
        let (names, target) = (names.join(", "), &board.settings.target_branch);
        write_stderr(&opened.say(
            format!("Running {names} in the sandbox, on {target} …"),
            format!("{names} を {target} 上のサンドボックスで実行しています…"),
        ));
    }
    match host.checks().await {
        Ok(trials) => {
            findings.extend(trials.iter().map(|trial| check_finding(opened, &format!("check {}", trial.name), trial)))
        }
        Err(error) => {
            let detail = opened.say(error.to_string(), format!("チェックを実行できません: {error}"));
            findings.push(Finding::new("checks", Severity::Problem, detail, ""));
        }
    }
    findings
}

fn check_finding(opened: &OpenProject, what: &str, trial: &Trial) -> Finding {
    let does = match trial.outcome {
        CheckOutcome::Pass => {
            return Finding::ok(what, opened.say("passes in the sandbox", "サンドボックスで合格します"));
        }
        CheckOutcome::Fail => opened.say("fails in the sandbox", "サンドボックスで不合格になります"),
        CheckOutcome::TimedOut => {
            opened.say("does not end in time in the sandbox", "サンドボックスで時間内に終わりません")
        }
        CheckOutcome::DidNotRun => opened.say("does not run in the sandbox", "サンドボックスで実行できません"),
    };
    let lines: Vec<_> = trial.output.trim().lines().collect();
    let detail = [&[does.as_str()], &lines[lines.len().saturating_sub(5)..]].concat().join("\n");
    if trial.denied.is_empty() {
        let hint = opened.say(
            "Run it yourself on the target branch: does it pass there?",
            "対象ブランチで自分で実行して、合格するか確認してください。",
        );
        return Finding::new(what, Severity::Warning, detail, hint);
    }
    Finding::new(what, Severity::Problem, detail, denied_hint(opened, trial))
}

fn denied_hint(opened: &OpenProject, trial: &Trial) -> String {
    let denied: Vec<_> = trial.denied.iter().map(|path| path.display().to_string()).collect();
    let denied = denied.join(", ");
    opened.say(
        format!("Not there in the sandbox: {denied}. Add what it needs to `sandbox.read` in .saihai/config.yaml."),
        format!(
            "サンドボックスから見えません: {denied}。必要なものを .saihai/config.yaml の `sandbox.read` に追加してください。"
        ),
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
async fn check_client(opened: &OpenProject, host: &TrialHost, program: &str) -> Finding {
    let Some(path) = find_program(program) else {
        let hint = opened.say(
            format!("Install it, or put it on PATH; agents with it end as launch_failed. Looked for `{program}`."),
            format!(
                "インストールするか、PATH に入れてください（`{program}` を探しました）。このままではエージェントが起動に失敗します。"
            ),
        );
        return Finding::new(program, Severity::Warning, opened.say("not found", "見つかりません"), hint);
    };
    let see_why = || opened.say("Run it yourself to see why.", "自分で実行して原因を確認してください。");
    if !matches!(program, "claude" | "codex" | "gemini" | "opencode") {
        return Finding::ok(program, path.display().to_string());
    }
    match host.program(&path).await {
        Ok(trial) if trial.outcome == CheckOutcome::Pass => Finding::ok(program, trial.output),
        Ok(trial) if trial.outcome == CheckOutcome::TimedOut => {
            let detail = opened.say(
                format!("`{program} --version` is not answered in the sandbox"),
                format!("サンドボックスで `{program} --version` が応答しません"),
            );
            Finding::new(program, Severity::Problem, detail, see_why())
        }
        Ok(trial) => {
            let detail = opened.say(
                format!("`{program} --version` does not work in the sandbox: {}", trial.output),
                format!("サンドボックスで `{program} --version` が動きません: {}", trial.output),
            );
            let hint = if trial.denied.is_empty() { see_why() } else { denied_hint(opened, &trial) };
            Finding::new(program, Severity::Problem, detail, hint)
        }
        Err(error) => {
            let detail = opened.say(error.to_string(), format!("サンドボックスで試せません: {error}"));
            Finding::new(program, Severity::Problem, detail, see_why())
        }
    }
}

fn find_program(program: &str) -> Option<std::path::PathBuf> {
    if program.contains('/') {
        return Some(Path::new(program).to_owned()).filter(|path| path.is_file());
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|candidate| candidate.is_file())
}
