//! What is there to know about one task, and what may be done with it now?

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use board::wire::TaskDetail;
use board::{
    Board, CheckOutcome, Command, Merge, NewTask, Party, Priority, Seq, Session, Status, Task, TaskId, TaskType,
    Timestamp, Tone, event_lines, may_edit, say_rejection, tell_why, why,
};
use serde::Deserialize;

use super::columns::MoveButton;
use super::graph::Graph;
use super::layout::{Answer, Layout, NavItem, PageUser, Path, Query, error_page, page, refused};
use super::parts::{Age, Note, StatusChip, TaskLink, VerdictBadge, of_session, party_word, priority_word, type_word};
use super::prose::{Named, Prose};
use super::sentence::Sentence;
use crate::person::Person;
use crate::task_events::newest_events;
use crate::{AppState, ProjectRequest};

/// Lines of the timeline on one page.
const EVENTS: usize = 60;

/// Sessions and messages that are shown; the others have pages of their own.
const NEWEST: usize = 10;

/// Bytes of a difference that are shown.
const DIFF: usize = 512 * 1024;

#[derive(Debug, Template)]
#[template(path = "task.html")]
struct TaskPage {
    layout: Layout,
    task: Facts,
    moves: Vec<MoveButton>,
    /// Why it cannot be edited, if so.
    read_only: Option<(String, Sentence)>,
    why: Vec<Sentence>,
    above: Vec<TaskLink>,
    children: Vec<TaskLink>,
    waits_for: Vec<TaskLink>,
    waited_for_by: Vec<TaskLink>,
    graph: Option<Graph>,
    sessions: Vec<SessionRow>,
    evidence: Option<Evidence>,
    feedback: Option<String>,
    notes: Vec<(&'static str, Prose)>,
    comments: Vec<CommentRow>,
    may_comment: bool,
    may_revert: bool,
    messages: Vec<MessageRow>,
    timeline: Vec<Line>,
    earlier: Option<Seq>,
    agents: Vec<String>,
    priorities: Vec<(&'static str, &'static str)>,
    types: Vec<(&'static str, &'static str)>,
    may_split: bool,
    may_assign: bool,
    may_depend: bool,
}

#[derive(Debug)]
struct Facts {
    id: TaskId,
    title: String,
    description: String,
    described: Prose,
    chip: StatusChip,
    status_age: Age,
    held_by: Option<TaskId>,
    step: bool,
    assignee: Option<String>,
    mover: String,
    creator: String,
    priority: Priority,
    priority_word: &'static str,
    task_type: TaskType,
    type_word: &'static str,
    labels: String,
    branch: Option<String>,
    base: Option<String>,
    created: Age,
    attempts: u32,
    cost: String,
    left: board::RemainingFuel,
    claim: Option<(&'static str, Prose)>,
}

#[derive(Debug)]
pub(super) struct SessionRow {
    pub(super) id: board::SessionId,
    pub(super) agent: String,
    pub(super) task: Option<TaskId>,
    pub(super) note: Note,
    pub(super) end: Option<String>,
    pub(super) verdict: Option<VerdictBadge>,
    pub(super) started: Age,
    pub(super) calls: u32,
}

/// What was found when the work was examined.
#[derive(Debug)]
pub(super) struct Evidence {
    pub(super) session: board::SessionId,
    /// It is shown on another page than its session's.
    pub(super) elsewhere: bool,
    pub(super) commits: u32,
    pub(super) changed: Vec<String>,
    pub(super) outside: Vec<String>,
    pub(super) unmet: Vec<String>,
    pub(super) protected: Vec<String>,
    pub(super) trusted: Vec<String>,
    pub(super) checks: Vec<CheckRow>,
    pub(super) merge: &'static str,
    pub(super) merge_text: String,
}

#[derive(Debug)]
pub(super) struct CheckRow {
    pub(super) name: String,
    pub(super) outcome: CheckOutcome,
    pub(super) word: String,
    pub(super) output: String,
}

/// What was written about the task, and who has read it.
#[derive(Debug)]
struct CommentRow {
    seq: Seq,
    by: String,
    text: Prose,
    at: Age,
    read: String,
}

#[derive(Debug)]
pub(super) struct MessageRow {
    pub(super) id: board::MessageId,
    pub(super) from: String,
    pub(super) to: String,
    pub(super) own: bool,
    pub(super) content: Prose,
    pub(super) at: Age,
    pub(super) state: &'static str,
    /// The tasks that were made of it, with the move that one most likely makes now.
    pub(super) tasks: Vec<(TaskLink, Option<MoveButton>)>,
}

/// A line of the timeline.
#[derive(Debug)]
pub(super) struct Line {
    pub(super) seq: Seq,
    pub(super) at: Age,
    pub(super) tone: &'static str,
    pub(super) text: Prose,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct DiffQuery {
    before: Option<Seq>,
}

pub(super) async fn task(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path((project, id)): Path<(String, TaskId)>,
    Query(wanted): Query<DiffQuery>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let (board, now, language) = (&open.board, open.now, person.language);
    let task = board.task(id).map_err(refused(&person))?;
    let merged = state.finished(&person, &open, task).await;
    let before = wanted.before.unwrap_or(Seq::MAX);
    let events = newest_events(&open.project, task, before, EVENTS).await;
    let events = events.map_err(|error| error_page(&person)(person.problem(&error)))?;
    let earlier = (events.len() == EVENTS).then(|| events.last().map(|(seq, _)| *seq)).flatten();
    let refusal = may_edit(board, &person.actor(), task, now)
        .err()
        .map(|refusal| (refusal.message(language), Sentence::of(refusal.tell_hint(language), board, &person, now)));
    let read_only = refusal.filter(|_| person.is_owner());
    let runner = state.runner_view(&person, &open.id).await.map_err(error_page(&person))?;
    let explained = why(board, id, now, &runner).map_err(refused(&person))?;
    let mut above: Vec<_> = board.ancestors(task).map(|task| TaskLink::of(task, language)).collect();
    above.reverse();
    let sessions: Vec<&Session> = board.sessions_of(task).rev().take(NEWEST).collect();
    let examined = sessions.iter().find(|session| session.workspace.is_some());
    let admits = |command: &Command| board::admit(board, &person.actor(), command, now).is_ok();
    let part = vec![NewTask::titled("a part like no other")];
    let split = Command::CreateTasks { parent: Some(id), tasks: part, key: None };
    let depend = Command::ChangeDependencies { task: id, add: Vec::new(), remove: Vec::new(), forced: false };
    page(&TaskPage {
        task: facts(board, task, now, &person),
        may_revert: person.is_owner() && board::may_revert(board, &person.actor(), id, now),
        moves: MoveButton::all(board, &person, task, merged, now),
        why: explained
            .lines
            .iter()
            .map(|line| Sentence::of(tell_why(line, id, person.reader(), language), board, &person, now))
            .collect(),
        above,
        children: TaskLink::all(board, &task.children, language),
        waits_for: TaskLink::all(board, &task.dependencies, language),
        waited_for_by: TaskLink::all(board, &task.dependents, language),
        graph: neighbours(board, task, &project, &person),
        sessions: sessions.iter().map(|session| session_row(board, session, now, &person)).collect(),
        evidence: examined.and_then(|session| evidence(session, &person)),
        feedback: task.feedback.as_ref().filter(|_| !task.is_settled()).map(|why| say_rejection(why, language)),
        notes: context(board, task, &person),
        comments: task.comments.iter().map(|comment| comment_row(board, task, comment, now, &person)).collect(),
        may_comment: person.is_owner() && admits(&Command::CommentTask { task: id, text: "x".into() }),
        messages: messages(board, id, now, &person),
        timeline: events
            .iter()
            .flat_map(|(seq, event)| lines(board, *seq, &about(event, id), Some(id), now, &person))
            .collect(),
        earlier,
        agents: board.agents.values().filter(|agent| agent.active).map(|agent| agent.id().to_string()).collect(),
        priorities: Priority::ALL.iter().rev().map(|p| (p.as_str(), priority_word(*p, language))).collect(),
        types: TaskType::ALL.iter().map(|t| (t.as_str(), type_word(*t, language))).collect(),
        may_split: person.is_owner() && admits(&split),
        may_assign: person.is_owner() && admits(&assign(board, task)),
        may_depend: person.is_owner() && !task.is_step() && task.status != Status::InProgress && admits(&depend),
        read_only,
        layout: Layout::new(person.clone(), format!("{id} {}", task.title), NavItem::Board, Some(&open)),
    })
}

impl AppState {
    /// Is its branch in the target? Only asked where that could finish the task.
    async fn finished(&self, person: &Person, open: &ProjectRequest, task: &Task) -> bool {
        if task.status != Status::InProgress || task.live.is_some() || task.is_step() || !person.is_owner() {
            return false;
        }
        let (repository, board, task) = (self.repository(&open.id), Arc::clone(&open.board), task.clone());
        self.with_local_files(move |local_files| local_files.is_merged(&repository, &board, &task))
            .await
            .unwrap_or(false)
    }
}

/// A command that gives the task to another agent, to see whether that would be allowed.
fn assign(board: &Board, task: &Task) -> Command {
    let other = board.agents.values().find(|agent| agent.active && task.assignee.as_ref() != Some(agent.id()));
    let assignee = if task.assignee.is_some() { None } else { other.map(|agent| agent.id().clone()) };
    Command::AssignTask { task: task.id, assignee, forced: false }
}

fn comment_row(board: &Board, task: &Task, comment: &board::Comment, now: Timestamp, person: &Person) -> CommentRow {
    let readers: Vec<_> = board::comments::readers(board, task, comment)
        .map(|reader| format!("{} {}", reader.id, reader.agent))
        .collect();
    let read = match readers.as_slice() {
        [] => person.say("not read yet", "未読").to_owned(),
        readers => format!("{} {}", person.say("read by", "既読:"), readers.join(", ")),
    };
    CommentRow {
        seq: comment.seq,
        by: party_word(&comment.by, person),
        text: Named { board, person }.markdown(&comment.text),
        at: Age { at: comment.at, now, language: person.language },
        read,
    }
}

fn facts(board: &Board, task: &Task, now: Timestamp, person: &Person) -> Facts {
    let detail = TaskDetail::of(board, task);
    let named = Named { board, person };
    let age = |at| Age { at, now, language: person.language };
    Facts {
        id: task.id,
        title: task.title.clone(),
        description: board::clean(&task.description),
        described: named.markdown(&task.description),
        chip: StatusChip { status: task.status, language: person.language },
        status_age: age(task.status_at),
        held_by: detail.held_by.filter(|_| !task.is_settled()),
        step: task.is_step(),
        assignee: task.assignee.as_ref().map(ToString::to_string),
        mover: party_word(&board.mover(task), person),
        creator: party_word(&task.creator, person),
        priority: task.priority,
        priority_word: priority_word(task.priority, person.language),
        task_type: task.task_type,
        type_word: type_word(task.task_type, person.language),
        labels: task.labels.join(", "),
        branch: task.branch.clone(),
        base: task.base_commit.as_ref().map(|commit| commit.chars().take(10).collect()),
        created: age(task.created_at),
        attempts: task.used.attempts,
        cost: board::say_spent(&task.spent, person.language),
        left: detail.left,
        claim: task
            .report
            .as_ref()
            .map(|report| (outcome_word(report.result, person), named.markdown(&report.summary))),
    }
}

/// What an agent says became of its task.
fn outcome_word(outcome: board::Outcome, person: &Person) -> &'static str {
    match outcome {
        board::Outcome::Success => person.say("done", "完了"),
        board::Outcome::Failed => person.say("failed", "失敗"),
        board::Outcome::Blocked => person.say("blocked", "ブロック"),
    }
}

/// The task with what it waits for, what waits for it, and its parts: nothing, if it stands alone.
fn neighbours(board: &Board, task: &Task, project: &str, person: &Person) -> Option<Graph> {
    let mut ids: Vec<TaskId> = vec![task.id];
    let near = [&task.dependencies, &task.dependents, &task.children];
    ids.extend(near.into_iter().flatten().copied());
    for id in ids.clone() {
        ids.extend(board.tasks.get(&id).into_iter().flat_map(|task| task.dependencies.iter().chain(&task.dependents)));
    }
    let mut known = std::collections::BTreeSet::new();
    ids.retain(|id| known.insert(*id));
    ids.truncate(40);
    let tasks: Vec<&Task> = ids.iter().filter_map(|id| board.tasks.get(id)).map(Arc::as_ref).collect();
    let base = format!("/p/{project}/tasks/");
    (tasks.len() > 1).then(|| Graph::draw(board, &tasks, Some(task.id), &base, person.language))
}

pub(super) fn session_row(board: &Board, session: &Session, now: Timestamp, person: &Person) -> SessionRow {
    let end = session.end.as_ref().map(|end| match (end.exit_code, &end.signal) {
        (Some(0), _) => board::say_end(end.reason, person.language),
        (Some(code), _) => format!("{} ({code})", board::say_end(end.reason, person.language)),
        (None, Some(signal)) => format!("{} ({signal})", board::say_end(end.reason, person.language)),
        (None, None) => board::say_end(end.reason, person.language),
    });
    SessionRow {
        id: session.id,
        agent: session.agent.to_string(),
        task: session.task(),
        note: of_session(board, session, now, person.language),
        end,
        verdict: session.verdict.as_ref().map(|verdict| VerdictBadge::of(verdict, person.language)),
        started: Age { at: session.claimed_at, now, language: person.language },
        calls: session.calls,
    }
}

pub(super) fn evidence(session: &Session, person: &Person) -> Option<Evidence> {
    let facts = session.workspace.as_ref()?;
    let (merge, merge_text) = match &facts.merge {
        Merge::NotTried => ("", person.say("not merged", "未マージ").to_owned()),
        Merge::Conflict { files } => ("bad", format!("{}: {}", person.say("conflict", "競合"), files.join(", "))),
        Merge::Waiting { reason, .. } => ("bad", format!("{}: {reason}", person.say("waits", "待機"))),
        Merge::Merged { commit } => {
            let short: String = commit.chars().take(10).collect();
            ("good", format!("{} {short}", person.say("merged as", "マージ済み")))
        }
    };
    let check = |check: &board::CheckResult| CheckRow {
        name: check.name.clone(),
        outcome: check.outcome,
        word: board::say_outcome(check.outcome, person.language),
        output: board::clean(&check.output),
    };
    Some(Evidence {
        session: session.id,
        elsewhere: true,
        commits: facts.commits,
        changed: facts.changed.clone(),
        outside: facts.outside_scope.clone(),
        unmet: facts.goals_unmet.clone(),
        protected: facts.judge_changes.protected.clone(),
        trusted: facts.judge_changes.trusted.clone(),
        checks: facts.checks.iter().map(check).collect(),
        merge,
        merge_text,
    })
}

/// What agents noted for those after them.
fn context(board: &Board, task: &Task, person: &Person) -> Vec<(&'static str, Prose)> {
    let Some(context) = &task.context else { return Vec::new() };
    let named = Named { board, person };
    let all = [
        (person.say("Progress", "進捗"), &context.progress),
        (person.say("Findings", "判明したこと"), &context.findings),
        (person.say("Blockers", "障害"), &context.blockers),
        (person.say("Next steps", "次のステップ"), &context.next_steps),
    ];
    all.into_iter().filter_map(|(name, text)| Some((name, named.markdown(text.as_ref()?)))).collect()
}

fn messages(board: &Board, id: TaskId, now: Timestamp, person: &Person) -> Vec<MessageRow> {
    let about = board.messages.iter().rev().filter(|message| message.related_task == Some(id)).take(NEWEST);
    let mut said: Vec<_> = about.map(|message| said(board, message, now, person)).collect();
    said.reverse();
    said
}

pub(super) fn said(board: &Board, message: &board::Message, now: Timestamp, person: &Person) -> MessageRow {
    let view = board::wire::Message::of(board, message);
    let state = match (&message.to, view.expired, view.read) {
        (Party::Agent(_), true, _) => person.say("expired unread", "未読のまま期限切れ"),
        (Party::Agent(_), false, false) => person.say("not read yet", "未読"),
        (Party::Agent(_), false, true) => person.say("read", "既読"),
        (Party::Owner | Party::System, _, _) => "",
    };
    MessageRow {
        id: message.id,
        from: party_word(&message.from, person),
        to: party_word(&message.to, person),
        own: message.from == Party::Owner,
        content: Named { board, person }.markdown(&message.content),
        at: Age { at: message.at, now, language: person.language },
        state,
        tasks: message.tasks.iter().filter_map(|id| made_of(board, *id, now, person)).collect(),
    }
}

fn made_of(board: &Board, id: TaskId, now: Timestamp, person: &Person) -> Option<(TaskLink, Option<MoveButton>)> {
    let task = board.tasks.get(&id)?;
    let offer = MoveButton::all(board, person, task, false, now).into_iter().find(MoveButton::is_first);
    Some((TaskLink::of(task, person.language), offer))
}

/// The event without what it tells of other tasks.
fn about(event: &board::Event, id: TaskId) -> board::Event {
    let mut event = event.clone();
    if let board::EventKind::TasksCreated { tasks, .. } = &mut event.what {
        tasks.retain(|task| task.id == id || task.parent == Some(id));
    }
    event
}

pub(super) fn lines(
    board: &Board,
    seq: Seq,
    event: &board::Event,
    on_page_of: Option<TaskId>,
    now: Timestamp,
    person: &Person,
) -> Vec<Line> {
    let line = |said: board::EventLine| Line {
        seq,
        at: Age { at: event.at, now, language: person.language },
        tone: match said.tone {
            Tone::Plain => "",
            Tone::Good => "good",
            Tone::Bad => "bad",
            Tone::Quiet => "quiet",
        },
        text: Named { board, person }.plain(&said.text),
    };
    let telling = board::Telling { reader: person.reader(), language: person.language, on_page_of };
    event_lines(board, event, telling, |at| at.to_string()).into_iter().map(line).collect()
}

#[derive(Debug, Template)]
#[template(path = "diff.html")]
struct DiffPage {
    layout: Layout,
    id: TaskId,
    title: String,
    lines: Vec<(&'static str, String)>,
    cut: bool,
}

pub(super) async fn diff(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path((project, id)): Path<(String, TaskId)>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let task = open.board.task(id).map_err(refused(&person))?.clone();
    let title = task.title.clone();
    let (repository, board) = (state.repository(&open.id), Arc::clone(&open.board));
    let diff = state.with_local_files(move |local_files| local_files.diff(&repository, &board, &task, DIFF)).await;
    let diff = diff.map_err(error_page(&person))?;
    let cut = diff.as_ref().is_some_and(|diff| diff.cut);
    let text = diff.map(|diff| board::clean(&diff.text)).unwrap_or_default();
    let lines = text.lines().map(|line| (line_class(line), line.to_owned())).collect();
    let layout = Layout::new(person, format!("{id} diff"), NavItem::Board, Some(&open));
    page(&DiffPage { layout, id, title, lines, cut })
}

fn line_class(line: &str) -> &'static str {
    match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] => "head",
        [b'd', b'i', b'f', b'f', b' ', ..] => "file",
        [b'@', ..] => "hunk",
        [b'+', ..] => "added",
        [b'-', ..] => "removed",
        [b' ', ..] | [] => "",
        _ => "head",
    }
}
