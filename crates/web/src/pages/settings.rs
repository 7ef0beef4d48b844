//! What is set: the project's rules, who may come in, and the language?

use askama::Template;
use axum::extract::State;
use board::{Role, Token, TokenUse};

use super::layout::{Answer, Layout, NavItem, PageUser, Path, error_page, page};
use super::parts::Age;
use crate::AppState;
use crate::person::Person;

#[derive(Debug, Template)]
#[template(path = "settings.html")]
struct Settings {
    layout: Layout,
    path: String,
    rules: Vec<(&'static str, String)>,
    checks: Vec<(String, String)>,
    limits: Vec<(&'static str, String)>,
    tokens: Vec<Row>,
    roles: Vec<&'static str>,
}

#[derive(Debug)]
struct Row {
    id: String,
    name: String,
    role: &'static str,
    kind: &'static str,
    own: bool,
    created: Age,
    expires: Option<String>,
}

pub(super) async fn settings(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let set = &open.board.settings;
    let installation = state.server.installation().state();
    let valid = installation.tokens.values().filter(|token| installation.is_valid(token, open.now));
    let mut tokens: Vec<&Token> = valid.filter(|_| person.is_owner()).collect();
    tokens.sort_by_key(|token| std::cmp::Reverse(token.created_at));
    let row = |token: &Token| Row {
        id: token.id.clone(),
        name: token.name.clone(),
        role: token.role.as_str(),
        kind: match token.used_as {
            TokenUse::Bearer => person.say("token", "トークン"),
            TokenUse::Link => person.say("login link", "ログインリンク"),
            TokenUse::Browser => person.say("browser", "ブラウザ"),
        },
        own: token.id == person.token,
        created: Age { at: token.created_at, now: open.now, language: person.language },
        expires: token.expires_at.map(|at| at.to_string().chars().take(16).collect::<String>().replace('T', " ")),
    };
    page(&Settings {
        path: state.repository(&open.id).display().to_string(),
        rules: rules(set, &person),
        checks: set.dod.checks.iter().map(|check| (check.name.clone(), check.command.clone())).collect(),
        limits: limits(&set.limits, &person),
        tokens: tokens.into_iter().map(row).collect(),
        roles: Role::ALL.iter().map(|role| role.as_str()).collect(),
        layout: Layout::new(person.clone(), person.say("Settings", "設定"), NavItem::Settings, Some(&open)),
    })
}

fn rules(set: &board::Settings, person: &Person) -> Vec<(&'static str, String)> {
    vec![
        (person.say("Target branch", "ターゲットブランチ"), set.target_branch.clone()),
        (person.say("Done when", "完了条件"), set.completion.to_string()),
        (person.say("Merge", "マージ方法"), set.merge.to_string()),
        (person.say("Sandbox", "サンドボックス"), set.sandbox.to_string()),
        (person.say("Each agent and check may use", "エージェント・チェックの上限"), sandbox_limits(set, person)),
        (person.say("Isolation", "分離"), set.isolation.to_string()),
        (person.say("Language of agents", "エージェントの言語"), set.language.to_string()),
        (person.say("Budget", "予算"), board::say_budget(&set.budget, person.language)),
        (
            person.say("Agents at once", "同時実行数"),
            set.max_parallel
                .map_or_else(|| person.say("one for each core", "コア数").to_owned(), |most| most.to_string()),
        ),
    ]
}

fn sandbox_limits(set: &board::Settings, person: &Person) -> String {
    let board::SandboxLimits { processes, memory_mib, open_files, file_size_mib, disk_mib, files } = set.sandbox_limits;
    let memory = memory_mib.map_or_else(
        || person.say("three quarters of the memory", "メモリの 4 分の 3").to_owned(),
        |memory| format!("{memory} MiB {}", person.say("of memory", "メモリ")),
    );
    let [process, disk, each, file, open] = [
        person.say("processes", "プロセス"),
        person.say("MiB of disk", "MiB ディスク"),
        person.say("MiB for a file", "MiB / ファイル"),
        person.say("files", "ファイル"),
        person.say("open files", "同時に開くファイル"),
    ];
    format!(
        "{processes} {process}, {memory}, {disk_mib} {disk}, {files} {file}, {file_size_mib} {each}, {open_files} {open}"
    )
}

fn limits(limits: &board::Limits, person: &Person) -> Vec<(&'static str, String)> {
    vec![
        (person.say("Open children of a task", "未完了の子タスク"), limits.max_children.to_string()),
        (person.say("Children of a task, ever", "子タスクの総数"), limits.max_children_ever.to_string()),
        (person.say("Depth", "深さ"), limits.max_depth.to_string()),
        (person.say("Rejected attempts", "差し戻し回数"), limits.max_attempts.to_string()),
        (person.say("Retries by agents", "エージェントによる再試行"), limits.max_retries.to_string()),
        (person.say("Sessions without a new fact", "進展のないセッション"), limits.max_idle_sessions.to_string()),
        (person.say("Sessions of a task", "タスクのセッション数"), limits.max_task_sessions.to_string()),
        (person.say("Calls of a session", "セッションの呼び出し数"), limits.max_calls.to_string()),
        (person.say("Messages of a session", "セッションのメッセージ数"), limits.max_messages.to_string()),
        (person.say("Equal answers in a row", "同じ応答の繰り返し"), limits.max_repeats.to_string()),
        (
            person.say("Sessions of the project at once", "プロジェクトの同時セッション数"),
            limits.max_sessions.to_string(),
        ),
        (
            person.say("Time to live of a message", "メッセージの有効期間"),
            board::say_span(limits.message_ttl, person.language),
        ),
    ]
}
