//! What does a session say, print, and do? As a conversation, as it was printed, or as the decisions behind it (W8).

use askama::Template;
use axum::extract::State;
use axum::response::{Html, IntoResponse as _, Response};
use board::{Driver, OutputKind, OutputName, Session, SessionId};
use http::HeaderName;
use serde::Deserialize;

use super::ansi;
use super::layout::{Answer, Layout, NavItem, PageUser, Path, Query, error_page, page, refused};
use super::parts::{Age, Note, TaskLink, of_session};
use super::task::{Evidence, SessionRow, evidence, session_row};
use super::trace::{TraceLine, trace_lines};
use super::transcript::{self, Transcript};
use crate::person::Person;
use crate::problem::Problem;
use crate::{AppState, ProjectRequest};
use server::{LogFrom, LogPage};

/// How much of an output is sent at once.
const PAGE: usize = 64 * 1024;

/// What of a session is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Tab {
    Conversation,
    Output,
    Decisions,
}

impl Tab {
    const ALL: [Self; 3] = [Self::Conversation, Self::Output, Self::Decisions];

    fn word(self) -> &'static str {
        match self {
            Self::Conversation => "conversation",
            Self::Output => "output",
            Self::Decisions => "decisions",
        }
    }

    fn name(self, person: &Person) -> &'static str {
        match self {
            Self::Conversation => person.say("Conversation", "会話"),
            Self::Output => person.say("Output", "出力"),
            Self::Decisions => person.say("Decisions", "判断の記録"),
        }
    }
}

#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SessionQuery {
    tab: Option<Tab>,
    /// A position in the output of the tab, to begin with.
    at: Option<u64>,
    /// What is looked for in the conversation.
    q: String,
}

#[derive(Debug, Template)]
#[template(path = "session.html")]
struct SessionPage {
    layout: Layout,
    row: SessionRow,
    task: Option<TaskLink>,
    note: Note,
    live: bool,
    may_stop: bool,
    driver: String,
    model: Option<String>,
    usage: Option<String>,
    error: Option<String>,
    ended: Option<Age>,
    /// From its start to its end.
    took: Option<String>,
    evidence: Option<Evidence>,
    tab: Tab,
    wanted: SessionQuery,
    /// Is there a conversation at all? Sessions of older programs have none.
    has_conversation: bool,
    log: Option<LogView>,
    found: Option<Transcript>,
    trace: Vec<TraceLine>,
}

impl SessionPage {
    fn tabs(&self) -> impl Iterator<Item = (Tab, &'static str)> {
        let shown = |tab: &Tab| *tab != Tab::Conversation || self.has_conversation;
        Tab::ALL.into_iter().filter(shown).map(|tab| (tab, tab.name(&self.layout.person)))
    }

    fn is(&self, tab: &Tab) -> bool {
        self.tab == *tab
    }
}

/// A piece of an output, as the page shows it first.
#[derive(Debug)]
struct LogView {
    start: u64,
    end: u64,
    oldest: u64,
    shown: Shown,
}

/// What a piece of an output looks like.
#[derive(Debug)]
enum Shown {
    Text(ansi::ColouredText),
    Conversation(Transcript),
}

impl Shown {
    fn of(kind: OutputKind, page: &LogPage, person: &Person) -> Self {
        match kind {
            OutputKind::Raw => Self::Text(ansi::coloured(&page.bytes)),
            OutputKind::Transcript => Self::Conversation(transcript::read(&page.bytes, page.start, person)),
        }
    }

    fn html(&self) -> String {
        match self {
            Self::Text(text) => text.to_string(),
            Self::Conversation(said) => said.to_string(),
        }
    }
}

pub(super) async fn session(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path((project, id)): Path<(String, SessionId)>,
    Query(wanted): Query<SessionQuery>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let session = open.board.session(id).map_err(refused(&person))?;
    let output = PageOutput { state: &state, person: &person, open: &open, session };
    let has_conversation = output.exists(OutputKind::Transcript).await.map_err(error_page(&person))?;
    let tab = wanted.tab.unwrap_or(if has_conversation { Tab::Conversation } else { Tab::Output });
    let (mut log, mut found, mut trace) = (None, None, Vec::new());
    match tab {
        Tab::Conversation if !wanted.q.trim().is_empty() => {
            found = Some(output.search(wanted.q.trim()).await.map_err(error_page(&person))?);
        }
        Tab::Conversation => log = output.view(OutputKind::Transcript, wanted.at).await.map_err(error_page(&person))?,
        Tab::Output => log = output.view(OutputKind::Raw, wanted.at).await.map_err(error_page(&person))?,
        Tab::Decisions => trace = trace_lines(&open, id, &person).await.map_err(error_page(&person))?,
    }
    let stop = board::Command::StopSession { session: id, restart: false };
    let may_stop = person.is_owner()
        && board::admit(&open.board, &person.actor(), &stop, open.now).is_ok_and(|events| !events.is_empty());
    let usage = session.usage.map(|_| board::say_spent(&session.spent, person.language));
    page(&SessionPage {
        row: session_row(&open.board, session, open.now, &person),
        task: session.task().and_then(|id| open.board.tasks.get(&id)).map(|task| TaskLink::of(task, person.language)),
        note: of_session(&open.board, session, open.now, person.language),
        live: session.end.is_none(),
        may_stop,
        driver: driver_name(&state, &session.driver),
        model: session.model.as_ref().map(|model| format!("{} {}", model.provider, model.model_id)),
        usage,
        error: session.end.as_ref().and_then(|end| end.error.as_deref()).map(board::clean),
        took: session.ended_at.map(|at| board::say_span(at - session.claimed_at, person.language)),
        ended: session.ended_at.map(|at| Age { at, now: open.now, language: person.language }),
        evidence: evidence(session, &person).map(|found| Evidence { elsewhere: false, ..found }),
        tab,
        wanted,
        has_conversation,
        log,
        found,
        trace,
        layout: Layout::new(person.clone(), format!("{id}"), NavItem::Sessions, Some(&open)),
    })
}

/// Who sees to its end. A runner on another host is named.
fn driver_name(state: &AppState, driver: &Driver) -> String {
    let named = match driver {
        Driver::Runner { runner, .. } => state.server.installation().state().runner_name(runner).map(str::to_owned),
        Driver::Attached | Driver::Hand => None,
    };
    named.unwrap_or_else(|| driver.as_str().to_owned())
}

/// What a session has printed, for one page.
struct PageOutput<'a> {
    state: &'a AppState,
    person: &'a Person,
    open: &'a ProjectRequest,
    session: &'a Session,
}

impl PageOutput<'_> {
    async fn read(&self, kind: OutputKind, from: LogFrom, most: usize) -> Result<Option<LogPage>, Problem> {
        let name = OutputName { session: self.session.id, kind };
        self.state.session_output(self.person, &self.open.id, name, from, most).await
    }

    async fn exists(&self, kind: OutputKind) -> Result<bool, Problem> {
        let page = self.read(kind, LogFrom::Position(0), 1).await?;
        Ok(page.is_some_and(|page| page.newest > 0))
    }

    /// The end of it, or what begins at a place that somebody has a link to.
    async fn view(&self, kind: OutputKind, at: Option<u64>) -> Result<Option<LogView>, Problem> {
        let from = at.map_or(LogFrom::Tail, LogFrom::Position);
        let page = self.read(kind, from, PAGE).await?.map(|page| whole_lines(page, self.session.end.is_some()));
        Ok(page.map(|page| LogView {
            start: page.start,
            end: page.end(),
            oldest: page.oldest,
            shown: Shown::of(kind, &page, self.person),
        }))
    }

    /// All entries in which a word is, from the first on.
    async fn search(&self, word: &str) -> Result<Transcript, Problem> {
        let mut search = transcript::Search::new(word);
        let mut from = 0;
        while let Some(page) = self.read(OutputKind::Transcript, LogFrom::Position(from), 8 * PAGE).await? {
            let page = whole_lines(page, false);
            if page.bytes.is_empty() || search.is_full() {
                break;
            }
            from = page.end();
            search.look(&page.bytes, page.start);
        }
        Ok(search.found(self.person))
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Piece {
    from: Option<u64>,
    /// The piece that ends here.
    until: Option<u64>,
}

/// A further piece of what was printed, for the page that shows it.
pub(super) async fn log(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(place): Path<(String, SessionId)>,
    Query(piece): Query<Piece>,
) -> Result<Response, Problem> {
    further_piece(&state, &person, place, &piece, OutputKind::Raw).await
}

/// The same of the conversation.
pub(super) async fn conversation(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(place): Path<(String, SessionId)>,
    Query(piece): Query<Piece>,
) -> Result<Response, Problem> {
    further_piece(&state, &person, place, &piece, OutputKind::Transcript).await
}

async fn further_piece(
    state: &AppState,
    person: &Person,
    (project, id): (String, SessionId),
    piece: &Piece,
    kind: OutputKind,
) -> Result<Response, Problem> {
    let open = state.project(person, &project).await?;
    let session = open.board.session(id).map_err(|refusal| Problem::refused(&refusal, person.language))?;
    let over = session.end.is_some();
    let from = piece.from.or(piece.until.map(|until| until.saturating_sub(PAGE as u64))).unwrap_or(0);
    let most = piece.until.map_or(PAGE, |until| usize::try_from(until.saturating_sub(from)).unwrap_or(PAGE).min(PAGE));
    let output = PageOutput { state, person, open: &open, session };
    let mut page = output.read(kind, LogFrom::Position(from), most).await?.ok_or_else(|| {
        let hint = person
            .say("Only sessions that a runner has started have one.", "ランナーが起動したセッションにだけあります。");
        Problem::not_found(person.say("There is no log.", "ログはありません。"), hint)
    })?;
    if let Some(until) = piece.until
        && page.start >= until
    {
        page.bytes.clear();
    }
    match piece.until {
        // An earlier piece begins with a whole line.
        Some(_) if page.start > page.oldest => {
            let cut = page.bytes.iter().position(|byte| *byte == b'\n').map_or(0, |at| at + 1);
            // A line that is longer than a page is shown in pieces.
            let cut = if cut == page.bytes.len() { 0 } else { cut };
            page.bytes.drain(..cut);
            page.start += cut as u64;
        }
        Some(_) => {}
        None => page = whole_lines(page, over),
    }
    let header = |name: &'static str, value: u64| (HeaderName::from_static(name), value.to_string());
    let more = u64::from(!over || page.end() < page.newest);
    let headers = [
        header("x-log-start", page.start),
        header("x-log-end", page.end()),
        header("x-log-oldest", page.oldest),
        header("x-log-more", more),
    ];
    Ok((headers, Html(Shown::of(kind, &page, person).html())).into_response())
}

/// What is being printed at this moment is shown when its line is whole, or very long.
fn whole_lines(mut page: LogPage, over: bool) -> LogPage {
    let last = page.bytes.iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
    if let Some(end) = last.filter(|_| !over || page.end() < page.newest) {
        page.bytes.truncate(end);
    } else if !over && page.bytes.len() < PAGE / 2 && last.is_none() {
        page.bytes.clear();
    }
    page
}
