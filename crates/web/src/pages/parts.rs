//! The small things that many pages show: ages, statuses, tasks by name.

use askama::Template;
use askama::filters::HtmlSafe;
use board::{
    Board, Hierarchy, Language, Party, Priority, Session, SessionStatus, Status, Task, TaskId, TaskType, Timestamp,
    Verdict,
};

use crate::person::Person;

/// How long ago; the browser lets it go on.
#[derive(Clone, Copy, Debug, Template)]
#[template(source = r#"<time datetime="{{ at }}" title="{{ at }}" data-age>{{ self.said() }}</time>"#, ext = "html")]
pub(super) struct Age {
    pub(super) at: Timestamp,
    pub(super) now: Timestamp,
    pub(super) language: Language,
}

impl HtmlSafe for Age {}

impl Age {
    fn said(&self) -> String {
        board::say_span(self.now - self.at, self.language)
    }

    /// The same as a length of time, not as how long ago.
    pub(super) fn length(self) -> Length {
        Length(self)
    }
}

/// How long something has gone on; the browser lets it go on.
#[derive(Clone, Copy, Debug, Template)]
#[template(
    source = r#"<time class="length" datetime="{{ self.0.at }}" title="{{ self.0.at }}" data-age>{{ self.0.said() }}</time>"#,
    ext = "html"
)]
pub(super) struct Length(Age);

impl HtmlSafe for Length {}

/// A status with its colour and its word.
#[derive(Clone, Copy, Debug, Template)]
#[template(source = r#"<span class="chip {{ status }}">{{ self.word() }}</span>"#, ext = "html")]
pub(super) struct StatusChip {
    pub(super) status: Status,
    pub(super) language: Language,
}

impl HtmlSafe for StatusChip {}

impl StatusChip {
    fn word(&self) -> &'static str {
        status_word(self.status, self.language)
    }
}

pub(super) fn status_word(status: Status, language: Language) -> &'static str {
    match (status, language) {
        (Status::Backlog, Language::En) => "Backlog",
        (Status::Todo, Language::En) => "To do",
        (Status::InProgress, Language::En) => "In progress",
        (Status::Blocked, Language::En) => "Blocked",
        (Status::Done, Language::En) => "Done",
        (Status::Failed, Language::En) => "Failed",
        (Status::Cancelled, Language::En) => "Cancelled",
        (Status::Backlog, Language::Ja) => "バックログ",
        (Status::Todo, Language::Ja) => "待機",
        (Status::InProgress, Language::Ja) => "進行中",
        (Status::Blocked, Language::Ja) => "ブロック",
        (Status::Done, Language::Ja) => "完了",
        (Status::Failed, Language::Ja) => "失敗",
        (Status::Cancelled, Language::Ja) => "中止",
    }
}

pub(super) fn priority_word(priority: Priority, language: Language) -> &'static str {
    match (priority, language) {
        (Priority::Low, Language::En) => "low",
        (Priority::Medium, Language::En) => "medium",
        (Priority::High, Language::En) => "high",
        (Priority::Critical, Language::En) => "critical",
        (Priority::Low, Language::Ja) => "低",
        (Priority::Medium, Language::Ja) => "中",
        (Priority::High, Language::Ja) => "高",
        (Priority::Critical, Language::Ja) => "緊急",
    }
}

pub(super) fn type_word(task_type: TaskType, language: Language) -> &'static str {
    match (task_type, language) {
        (_, Language::En) => task_type.as_str(),
        (TaskType::Task, Language::Ja) => "タスク",
        (TaskType::Feature, Language::Ja) => "機能",
        (TaskType::Bug, Language::Ja) => "バグ",
        (TaskType::Refactor, Language::Ja) => "リファクタリング",
        (TaskType::Docs, Language::Ja) => "文書",
        (TaskType::Test, Language::Ja) => "テスト",
        (TaskType::Research, Language::Ja) => "調査",
    }
}

/// What became of a session's work.
#[derive(Clone, Copy, Debug, Template)]
#[template(source = r#"<span class="verdict {{ class }}">{{ word }}</span>"#, ext = "html")]
pub(super) struct VerdictBadge {
    class: &'static str,
    word: &'static str,
}

impl HtmlSafe for VerdictBadge {}

impl VerdictBadge {
    pub(super) fn of(verdict: &Verdict, language: Language) -> Self {
        let word = match (verdict, language) {
            (Verdict::None(_), Language::En) => "no verdict",
            (Verdict::Failed { .. }, Language::En) => "failed",
            (Verdict::Blocked { .. }, Language::En) => "blocked",
            (Verdict::Rejected(_), Language::En) => "sent back",
            (Verdict::Done, Language::En) => "done",
            (Verdict::None(_), Language::Ja) => "判定なし",
            (Verdict::Failed { .. }, Language::Ja) => "失敗",
            (Verdict::Blocked { .. }, Language::Ja) => "ブロック",
            (Verdict::Rejected(_), Language::Ja) => "差し戻し",
            (Verdict::Done, Language::Ja) => "完了",
        };
        Self { class: verdict.as_str(), word }
    }
}

pub(super) fn session_word(status: SessionStatus, language: Language) -> &'static str {
    match (status, language) {
        (SessionStatus::Starting, Language::En) => "starting",
        (SessionStatus::Running, Language::En) => "running",
        (SessionStatus::Verifying, Language::En) => "verifying",
        (SessionStatus::Ended, Language::En) => "ended",
        (SessionStatus::Starting, Language::Ja) => "起動中",
        (SessionStatus::Running, Language::Ja) => "実行中",
        (SessionStatus::Verifying, Language::Ja) => "検証中",
        (SessionStatus::Ended, Language::Ja) => "終了",
    }
}

pub(super) fn rank_word(rank: Hierarchy, person: &Person) -> &'static str {
    match (rank, person.language) {
        (Hierarchy::Manager, Language::En) => "manager",
        (Hierarchy::Worker, Language::En) => "worker",
        (Hierarchy::Manager, Language::Ja) => "マネージャー",
        (Hierarchy::Worker, Language::Ja) => "ワーカー",
    }
}

/// Who that is, for whoever reads: the owner is "you" to the owner alone.
pub(super) fn party_word(party: &Party, person: &Person) -> String {
    board::say_party(party, person.reader(), person.language)
}

/// A task by its id and title, with its status.
#[derive(Clone, Debug)]
pub(super) struct TaskLink {
    pub(super) id: TaskId,
    pub(super) title: String,
    pub(super) chip: StatusChip,
    pub(super) assignee: Option<String>,
}

impl TaskLink {
    pub(super) fn of(task: &Task, language: Language) -> Self {
        Self {
            id: task.id,
            title: task.title.clone(),
            chip: StatusChip { status: task.status, language },
            assignee: task.assignee.as_ref().map(ToString::to_string),
        }
    }

    pub(super) fn all(board: &Board, ids: &[TaskId], language: Language) -> Vec<Self> {
        ids.iter().filter_map(|id| board.tasks.get(id)).map(|task| Self::of(task, language)).collect()
    }
}

/// How a task stands, with its evidence and its age.
#[derive(Clone, Debug, Template)]
#[template(
    source = r#"<span class="note {{ tone }}">{{ text }}{% if let Some(age) = since %}{% if self.apart() %} ·{% endif %} {{ age }}{% endif %}</span>"#,
    ext = "html"
)]
pub(super) struct Note {
    /// A class of the style sheet: `running`, `good`, `bad`, `waits` or nothing.
    pub(super) tone: &'static str,
    pub(super) text: String,
    pub(super) since: Option<Age>,
}

impl HtmlSafe for Note {}

impl Note {
    /// What is running ends in "last call", and its age follows.
    fn apart(&self) -> bool {
        self.tone != "running"
    }
}

/// What holds a task now, in a few words.
pub(super) fn note(board: &Board, task: &Task, now: Timestamp, person: &Person) -> Option<Note> {
    let language = person.language;
    let say = |en: &str, ja: &str| match language {
        Language::En => en.to_owned(),
        Language::Ja => ja.to_owned(),
    };
    let age = |at| Some(Age { at, now, language });
    if let Some(session) = task.live.and_then(|id| board.sessions.get(&id)) {
        return Some(of_session(board, session, now, language));
    }
    Some(match task.status {
        Status::Backlog | Status::Todo => match board::obstacles(board, task).first() {
            Some(obstacle) => Note { tone: "waits", text: of_obstacle(obstacle, language), since: None },
            None => {
                let mover = party_word(&board.mover(task), person);
                let text = say(&format!("ready, {mover} to start"), &format!("開始可、{mover}待ち"));
                Note { tone: "ready", text, since: age(task.status_at) }
            }
        },
        Status::InProgress => match task.assignee.as_ref().and_then(|id| board.agents.get(id)) {
            _ if board.held_by(task).is_some() => {
                Note { tone: "waits", text: say("held", "保留"), since: age(task.status_at) }
            }
            _ if task.by_hand => Note { tone: "waits", text: say("by hand", "手動"), since: age(task.status_at) },
            Some(agent) => {
                let staffing = board::staff_task(board, agent, task, now);
                let text = board::say_reason(staffing.reason, language);
                Note { tone: "waits", text, since: age(task.status_at) }
            }
            None => return None,
        },
        Status::Blocked => {
            let text = task.block.as_ref().map(|block| reason(&block.reason, language)).unwrap_or_default();
            Note { tone: "bad", text, since: age(task.status_at) }
        }
        Status::Failed | Status::Cancelled => {
            let text =
                task.conclusion.as_ref().map(|conclusion| reason(&conclusion.reason, language)).unwrap_or_default();
            let tone = if task.status == Status::Failed { "bad" } else { "" };
            Note { tone, text, since: age(task.status_at) }
        }
        Status::Done => Note { tone: "good", text: say("done", "完了"), since: age(task.status_at) },
    })
}

/// A reason in words: what Saihai itself gives is a code of the log.
fn reason(reason: &str, language: Language) -> String {
    board::one_line(&board::say_move_reason(reason, language))
}

/// What a session is doing, and when it was last heard of.
pub(super) fn of_session(board: &Board, session: &Session, now: Timestamp, language: Language) -> Note {
    let word = session_word(session.status, language);
    let (tone, text, since) = match (session.status, board::waiting(board, session, now)) {
        (_, Some(waiting)) => {
            let waits = match language {
                Language::En => "waits to merge",
                Language::Ja => "マージ待ち",
            };
            let tone = if matches!(waiting, board::Waiting::Behind { .. }) { "waits" } else { "bad" };
            let ended = session.process_ended.map(|(_, at)| at);
            (tone, format!("{waits}: {}", board::one_line(&board::say_waiting(&waiting, language))), ended)
        }
        (SessionStatus::Starting | SessionStatus::Running, None) => {
            let heard = match language {
                Language::En => "last heard",
                Language::Ja => "最終応答",
            };
            ("running", format!("{word}, {heard}"), Some(session.heard_at()))
        }
        (SessionStatus::Verifying, None) => {
            let ended = match language {
                Language::En => "its process ended",
                Language::Ja => "プロセス終了",
            };
            ("running", format!("{word}, {ended}"), session.ended_at.or(Some(session.last_call_at)))
        }
        (SessionStatus::Ended, None) => ("", word.to_owned(), session.ended_at),
    };
    Note { tone, text, since: since.map(|at| Age { at, now, language }) }
}

fn of_obstacle(obstacle: &board::Obstacle, language: Language) -> String {
    use board::Obstacle;
    match (obstacle, language) {
        (Obstacle::ProjectPaused, Language::En) => "the project is paused".into(),
        (Obstacle::ProjectPaused, Language::Ja) => "プロジェクトは一時停止中".into(),
        (Obstacle::Unassigned, Language::En) => "nobody is assigned".into(),
        (Obstacle::Unassigned, Language::Ja) => "担当者なし".into(),
        (Obstacle::AssigneeInactive(agent), Language::En) => format!("{agent} has left"),
        (Obstacle::AssigneeInactive(agent), Language::Ja) => format!("{agent} は離脱"),
        (Obstacle::Waiting { on, .. }, Language::En) => format!("waits for {on}"),
        (Obstacle::Waiting { on, .. }, Language::Ja) => format!("{on} 待ち"),
        (Obstacle::DependencyCancelled(on), Language::En) => format!("{on} was cancelled"),
        (Obstacle::DependencyCancelled(on), Language::Ja) => format!("{on} は中止"),
        (Obstacle::Held { by }, Language::En) => format!("held by {by}"),
        (Obstacle::Held { by }, Language::Ja) => format!("{by} により保留"),
        (Obstacle::FuelSpent(fuel), _) => board::say_move_reason(fuel.reason(), language),
    }
}
