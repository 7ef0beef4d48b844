//! What do all pages have around them?

use askama::Template;
use axum::extract::FromRequestParts;
use axum::extract::rejection::{PathRejection, QueryRejection};
use axum::response::{Html, IntoResponse, Redirect, Response};
use board::{Board, Language, SessionStatus, Timestamp, attention};
use http::StatusCode;
use http::request::Parts;

use crate::assets::VERSION;
use crate::person::{Person, language_of};
use crate::problem::Problem;
use crate::{AppState, ProjectRequest};

/// The page that is open, among those of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NavItem {
    Projects,
    Now,
    Board,
    Agents,
    Sessions,
    Queue,
    Chat,
    Memory,
    History,
    Settings,
}

/// What the frame of a page shows.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    pub(super) person: Person,
    pub(super) version: &'static str,
    pub(super) title: String,
    pub(super) current: NavItem,
    pub(super) project: Option<ProjectHeader>,
}

/// How the project stands, on every page of it.
#[derive(Clone, Debug)]
pub(super) struct ProjectHeader {
    pub(super) id: String,
    pub(super) name: String,
    pub(super) paused: bool,
    pub(super) running: usize,
    pub(super) queued: usize,
    /// What needs the owner.
    pub(super) needs: usize,
    pub(super) seq: board::Seq,
}

impl ProjectHeader {
    fn of(board: &Board, now: Timestamp) -> Self {
        let live = |wanted: fn(SessionStatus) -> bool| board.all_live_sessions().filter(|s| wanted(s.status)).count();
        Self {
            id: board.settings.id.to_string(),
            name: board.settings.name.clone(),
            paused: board.paused,
            running: live(|status| matches!(status, SessionStatus::Starting | SessionStatus::Running)),
            queued: live(|status| status == SessionStatus::Verifying),
            needs: attention(board, now).len(),
            seq: board.seq,
        }
    }
}

impl Layout {
    pub(super) fn new(
        person: Person,
        title: impl Into<String>,
        current: NavItem,
        open: Option<&ProjectRequest>,
    ) -> Self {
        let project = open.map(|open| ProjectHeader::of(&open.board, open.now));
        Self { person, version: &VERSION, title: title.into(), current, project }
    }

    pub(super) fn t<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        self.person.say(en, ja)
    }

    /// The id of the project; nothing where there is none.
    pub(super) fn id(&self) -> &str {
        self.project.as_ref().map_or("", |header| header.id.as_str())
    }

    pub(super) fn language(&self) -> Language {
        self.person.language
    }

    pub(super) fn owner(&self) -> bool {
        self.person.is_owner()
    }

    /// What leads to a chat with whoever splits work.
    pub(super) fn ask(&self, name: &str) -> String {
        match self.language() {
            Language::En => format!("Ask {name} for something"),
            Language::Ja => format!("{name} に依頼する"),
        }
    }

    /// What is asked before agents are stopped: how many that are (L11).
    pub(super) fn stop_question(&self) -> String {
        let agents = self.project.as_ref().map_or(0, |header| header.running);
        match (self.language(), agents) {
            (Language::En, 1) => "Stop the 1 agent that works? Its task goes on when you resume.".into(),
            (Language::En, _) => format!("Stop the {agents} agents that work? Their tasks go on when you resume."),
            (Language::Ja, _) => {
                format!("作業中のエージェント {agents} 件を停止しますか？ 再開するとタスクは続きます。")
            }
        }
    }

    /// The pages of a project: where, its name, what of it wants attention.
    pub(super) fn pages(&self) -> Vec<NavLink> {
        let Some(header) = &self.project else { return Vec::new() };
        let entry = |current, path: &str, en, ja, key, count| NavLink {
            current: self.current == current,
            url: format!("/p/{}{path}", header.id),
            name: self.t(en, ja).to_owned(),
            key,
            count,
            counted: match (current, self.language()) {
                (NavItem::Board, Language::En) => "blocked or failed",
                (NavItem::Board, Language::Ja) => "ブロック・失敗",
                (NavItem::Sessions, Language::En) => "running",
                (NavItem::Sessions, Language::Ja) => "実行中",
                (_, Language::En) => "waiting to be merged",
                (_, Language::Ja) => "マージ待ち",
            },
        };
        vec![
            entry(NavItem::Now, "/now", "Now", "いま", "w", header.needs),
            entry(NavItem::Board, "", "Board", "ボード", "b", 0),
            entry(NavItem::Agents, "/agents", "Agents", "エージェント", "a", 0),
            entry(NavItem::Sessions, "/sessions", "Sessions", "セッション", "s", header.running),
            entry(NavItem::Queue, "/queue", "Merge queue", "マージ待ち", "q", header.queued),
            entry(NavItem::Chat, "/chat", "Chat", "チャット", "c", 0),
            entry(NavItem::Memory, "/memory", "Memory", "メモリー", "m", 0),
            entry(NavItem::History, "/history", "History", "履歴", "h", 0),
            entry(NavItem::Settings, "/settings", "Settings", "設定", "e", 0),
        ]
    }
}

/// An entry of the navigation.
#[derive(Debug)]
pub(super) struct NavLink {
    pub(super) current: bool,
    pub(super) url: String,
    pub(super) name: String,
    /// Pressed after `g`.
    pub(super) key: &'static str,
    pub(super) count: usize,
    /// What is counted.
    pub(super) counted: &'static str,
}

/// A person who opens a page. One who is not logged in is sent to the login page.
#[derive(Debug)]
pub(super) struct PageUser(pub(super) Person);

impl FromRequestParts<AppState> for PageUser {
    type Rejection = Response;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Response> {
        state.person(&parts.headers).await.map(Self).map_err(|problem| match problem.http {
            StatusCode::UNAUTHORIZED => Redirect::to("/login").into_response(),
            _ => ErrorPage { problem, language: language_of(&parts.headers) }.into_response(),
        })
    }
}

/// The parts of an address, with a page that says what is wrong with them.
#[derive(Debug, FromRequestParts)]
#[from_request(via(axum::extract::Path), rejection(ErrorPage))]
pub(super) struct Path<T>(pub(super) T);

/// What stands behind the question mark, likewise.
#[derive(Debug, FromRequestParts)]
#[from_request(via(axum::extract::Query), rejection(ErrorPage))]
pub(super) struct Query<T>(pub(super) T);

impl From<PathRejection> for ErrorPage {
    fn from(rejection: PathRejection) -> Self {
        Self { problem: Problem::not_found(rejection.body_text(), "There is no such page."), language: Language::En }
    }
}

impl From<QueryRejection> for ErrorPage {
    fn from(rejection: QueryRejection) -> Self {
        Self { problem: Problem::bad_argument(rejection.body_text(), "Remove it."), language: Language::En }
    }
}

/// A page that says what is wrong.
#[derive(Debug, Template)]
#[template(path = "problem.html")]
pub(super) struct ErrorPage {
    pub(super) problem: Problem,
    pub(super) language: Language,
}

impl ErrorPage {
    fn t<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        match self.language {
            Language::En => en,
            Language::Ja => ja,
        }
    }

    fn version(&self) -> &'static str {
        &VERSION
    }
}

impl IntoResponse for ErrorPage {
    fn into_response(self) -> Response {
        match self.render() {
            Ok(page) => (self.problem.http, Html(in_reading_order(page))).into_response(),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
}

/// A page without the characters that turn text round: a name of an agent's would be read as another (W3). Our own texts
/// have none.
fn in_reading_order(page: String) -> String {
    let turns = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    if page.contains(turns) { page.replace(turns, "\u{fffd}") } else { page }
}

/// What a handler of a page answers.
pub(super) type Answer = Result<Response, ErrorPage>;

pub(super) fn page(template: &impl Template) -> Answer {
    match template.render() {
        Ok(page) => Ok(Html(in_reading_order(page)).into_response()),
        Err(error) => Err(ErrorPage {
            problem: Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", error.to_string(), "Reload the page."),
            language: Language::En,
        }),
    }
}

/// A problem in the language of whom it is shown to.
pub(super) fn error_page(person: &Person) -> impl Fn(Problem) -> ErrorPage + use<> {
    let language = person.language;
    move |problem| ErrorPage { problem, language }
}

/// A refusal of the board, likewise.
pub(super) fn refused(person: &Person) -> impl Fn(board::Refusal) -> ErrorPage + use<> {
    let person = person.clone();
    move |refusal| ErrorPage { problem: person.refused(&refusal), language: person.language }
}

#[cfg(test)]
mod tests {
    use super::in_reading_order;

    /// W3: no text of an agent's is shown in another order than it is written.
    #[test]
    fn text_that_turns_round_is_made_visible() {
        assert_eq!(in_reading_order("<h1>a\u{202e}txt.exe\u{2066}</h1>".into()), "<h1>a\u{fffd}txt.exe\u{fffd}</h1>");
        assert_eq!(in_reading_order("日本 עברית".into()), "日本 עברית");
    }
}
