//! How does the work stand? By status, as a tree, or by what waits for what.

use std::cmp::Reverse;
use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use board::lifecycle::Move;
use board::{
    Actor, Board, Hierarchy, Language, Mode, Priority, Status, Task, TaskId, TaskType, Timestamp, legal_moves,
};
use serde::Deserialize;

use super::graph::Graph;
use super::layout::{Answer, Layout, NavItem, PageUser, Path, Query, error_page, page};
use super::parts::{Note, StatusChip, note, priority_word, rank_word, status_word, type_word};
use crate::AppState;
use crate::person::Person;
use crate::remedies::move_word;
use crate::search::Search;

/// Cards of a column, or rows of a tree, that are shown before one asks for more.
const SHOWN: usize = 50;
const MORE: usize = 500;

/// With more tasks than this the graph cannot be read, and is not drawn.
const DRAWN: usize = 150;

/// What is looked for.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BoardQuery {
    view: View,
    q: String,
    assignee: String,
    label: String,
    priority: String,
    /// The column that is to be shown at length.
    more: Option<Status>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum View {
    #[default]
    Columns,
    Tree,
    Graph,
}

impl BoardQuery {
    fn takes(&self, search: &Search, task: &Task) -> bool {
        search.finds(task)
            && (self.assignee.is_empty() || task.assignee.as_ref().is_some_and(|agent| agent.as_str() == self.assignee))
            && (self.label.is_empty() || task.labels.contains(&self.label))
            && (self.priority.is_empty() || task.priority.as_str() == self.priority)
    }

    fn any(&self) -> bool {
        [&self.q, &self.assignee, &self.label, &self.priority].iter().any(|word| !word.is_empty())
    }

    fn is(&self, view: &str) -> bool {
        view == match self.view {
            View::Columns => "columns",
            View::Tree => "tree",
            View::Graph => "graph",
        }
    }

    /// The same with another view or column, as the query of a link.
    fn link(&self, view: &str, more: &str) -> String {
        let words = [
            ("view", view),
            ("q", &self.q),
            ("assignee", &self.assignee),
            ("label", &self.label),
            ("priority", &self.priority),
            ("more", more),
        ];
        let said = words.iter().filter(|(key, word)| !word.is_empty() && (*key, *word) != ("view", "columns"));
        let pairs: Vec<_> = said.map(|(key, word)| format!("{key}={}", encoded(word))).collect();
        format!("?{}", pairs.join("&"))
    }
}

/// As a query wants it.
pub(super) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

#[derive(Debug, Template)]
#[template(path = "board.html")]
struct BoardPage {
    layout: Layout,
    wanted: BoardQuery,
    total: usize,
    found: usize,
    columns: Vec<Column>,
    rows: Vec<TreeRow>,
    rows_left: usize,
    graph: Option<Graph>,
    graph_left: usize,
    /// Who is there, on a board with nothing on it yet.
    team: Vec<Member>,
    /// Who can be asked for something first.
    lead: Option<(String, String)>,
    agents: Vec<String>,
    labels: Vec<String>,
    priorities: Vec<(&'static str, &'static str)>,
    types: Vec<(&'static str, &'static str)>,
}

#[derive(Debug)]
pub(super) struct Column {
    pub(super) status: Status,
    pub(super) name: &'static str,
    pub(super) count: usize,
    pub(super) cards: Vec<Card>,
    /// Where the others are shown too.
    pub(super) more_link: String,
}

impl Column {
    pub(super) fn left(&self) -> usize {
        self.count - self.cards.len()
    }
}

/// A task on the board.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: TaskId,
    pub(super) title: String,
    pub(super) parent: Option<TaskId>,
    pub(super) assignee: Option<String>,
    pub(super) priority: Priority,
    pub(super) priority_word: &'static str,
    pub(super) type_word: &'static str,
    pub(super) labels: Vec<String>,
    /// How many of its children are settled, and how many there are.
    pub(super) children: Option<(usize, usize)>,
    pub(super) note: Option<Note>,
    pub(super) moves: Vec<MoveButton>,
}

impl Card {
    /// Where it can be dragged, for the script: `start:in_progress:: block:blocked:reason:`.
    pub(super) fn drops(&self) -> String {
        let said = |m: &MoveButton| {
            let (reason, later) = (if m.needs_reason { "reason" } else { "" }, if m.later { "later" } else { "" });
            format!("{}:{}:{reason}:{later}", m.name, m.to)
        };
        self.moves.iter().map(said).collect::<Vec<_>>().join(" ")
    }
}

/// A move that would be admitted now.
#[derive(Debug)]
pub(super) struct MoveButton {
    pub(super) name: &'static str,
    pub(super) word: &'static str,
    pub(super) to: Status,
    pub(super) needs_reason: bool,
    /// A retry that only puts the task back.
    pub(super) later: bool,
}

impl MoveButton {
    /// The moves that a person may make; none for a viewer.
    pub(super) fn all(board: &Board, person: &Person, task: &Task, merged: bool, now: Timestamp) -> Vec<Self> {
        if !person.is_owner() {
            return Vec::new();
        }
        let actor: Actor = person.actor();
        let button = |offer: board::LegalMove| Self {
            name: offer.name.as_str(),
            word: move_word(offer.name, person.language),
            to: offer.to,
            needs_reason: offer.needs_reason,
            later: false,
        };
        legal_moves(board, &actor, task, merged, now)
            .into_iter()
            .flat_map(|offer| match offer.name {
                // A retry starts at once, unless one chooses otherwise (L12).
                Move::Retry => {
                    let now = Self { to: Status::InProgress, ..button(offer) };
                    let word = person.say("Retry later", "後で再試行");
                    vec![now, Self { word, later: true, ..button(offer) }]
                }
                _ => vec![button(offer)],
            })
            .collect()
    }

    /// Tells it from the other buttons of the task, whatever stands beside it.
    pub(super) fn key(&self) -> String {
        format!("{}{}", self.name, if self.later { "-later" } else { "" })
    }

    /// Is it what one most likely comes for?
    pub(super) fn is_first(&self) -> bool {
        matches!(self.name, "start" | "retry" | "unblock") && !self.later
    }
}

#[derive(Debug)]
struct TreeRow {
    depth: usize,
    id: TaskId,
    title: String,
    chip: StatusChip,
    step: bool,
    assignee: Option<String>,
    note: Option<Note>,
}

pub(super) async fn board(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
    Query(wanted): Query<BoardQuery>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let (board, now, language) = (&open.board, open.now, person.language);
    let search = Search::new(&wanted.q);
    let total = board.tasks.values().filter(|task| !task.is_step()).count();
    let found: Vec<&Task> =
        board.tasks.values().map(Arc::as_ref).filter(|task| !task.is_step() && wanted.takes(&search, task)).collect();
    let count = found.len();
    let mut shown = BoardPage {
        total,
        found: count,
        columns: Vec::new(),
        rows: Vec::new(),
        rows_left: 0,
        graph: None,
        graph_left: 0,
        agents: board.agents.values().filter(|agent| agent.active).map(|agent| agent.id().to_string()).collect(),
        team: if total == 0 { team(board, &person) } else { Vec::new() },
        lead: lead(board),
        labels: labels(board),
        priorities: Priority::ALL.iter().rev().map(|p| (p.as_str(), priority_word(*p, language))).collect(),
        types: TaskType::ALL.iter().map(|t| (t.as_str(), type_word(*t, language))).collect(),
        layout: Layout::new(person.clone(), board.settings.name.clone(), NavItem::Board, Some(&open)),
        wanted: wanted.clone(),
    };
    match wanted.view {
        View::Columns => {
            shown.columns = columns(board, found, wanted.more, &|task| card(board, &person, task, now), language);
            for column in shown.columns.iter_mut().filter(|column| wanted.more != Some(column.status)) {
                column.more_link = wanted.link("columns", column.status.as_str());
            }
        }
        View::Tree => {
            let roots = roots(board, &found);
            shown.rows_left = roots.len().saturating_sub(MORE);
            let filtered = wanted.any();
            shown.rows = tree(board, &roots, &|task| !filtered || wanted.takes(&search, task), now, &person);
        }
        View::Graph => {
            let open_ones = found.into_iter().filter(|task| wanted.any() || !task.is_settled());
            let tasks: Vec<_> = open_ones.collect();
            shown.graph_left = tasks.len().saturating_sub(DRAWN);
            let tasks = &tasks[..tasks.len().min(DRAWN)];
            shown.graph = Some(Graph::draw(board, tasks, None, &format!("/p/{project}/tasks/"), language));
        }
    }
    page(&shown)
}

/// An agent, as an empty board introduces it.
#[derive(Debug)]
struct Member {
    id: String,
    name: String,
    rank: &'static str,
    role: String,
}

fn team(board: &Board, person: &Person) -> Vec<Member> {
    let member = |agent: &board::Agent| Member {
        id: agent.id().to_string(),
        name: agent.spec.name.clone(),
        rank: rank_word(agent.spec.hierarchy, person),
        role: agent.spec.role.clone(),
    };
    let active = || board.agents.values().filter(|agent| agent.active);
    let managers = active().filter(|agent| agent.spec.hierarchy == Hierarchy::Manager);
    let workers = active().filter(|agent| agent.spec.hierarchy == Hierarchy::Worker);
    managers.chain(workers).map(|agent| member(agent)).collect()
}

/// The manager at the top that can be talked to.
fn lead(board: &Board) -> Option<(String, String)> {
    let leads = |agent: &&Arc<board::Agent>| {
        let spec = &agent.spec;
        agent.active && spec.hierarchy == Hierarchy::Manager && spec.mode == Mode::Guided && spec.parent.is_none()
    };
    board.agents.values().find(leads).map(|agent| (agent.id().to_string(), agent.spec.name.clone()))
}

/// The labels that are in use, for the filter.
fn labels(board: &Board) -> Vec<String> {
    let mut labels: Vec<_> = board.tasks.values().flat_map(|task| &task.labels).cloned().collect();
    labels.sort_unstable();
    labels.dedup();
    labels.truncate(MORE);
    labels
}

/// The tasks by status: what is open most urgent first, what is over newest first.
pub(super) fn columns(
    board: &Board,
    tasks: Vec<&Task>,
    more: Option<Status>,
    card: &dyn Fn(&Task) -> Card,
    language: Language,
) -> Vec<Column> {
    let mut by_status: Vec<(Status, Vec<&Task>)> = Status::ALL.iter().map(|status| (*status, Vec::new())).collect();
    for task in tasks {
        if let Some((_, column)) = by_status.iter_mut().find(|(status, _)| *status == task.status) {
            column.push(task);
        }
    }
    let shown = |(status, mut column): (Status, Vec<&Task>)| {
        match status {
            Status::Done | Status::Cancelled | Status::Failed => {
                column.sort_by_key(|task| Reverse((task.status_at, task.id)))
            }
            Status::Backlog | Status::Todo | Status::InProgress | Status::Blocked => {
                column.sort_by_key(|task| (Reverse(task.priority), task.id));
            }
        }
        let most = if more == Some(status) { MORE } else { SHOWN };
        let cards = column.iter().take(most).map(|task| card(task)).collect();
        Column { status, name: status_word(status, language), count: column.len(), cards, more_link: String::new() }
    };
    // A column is left out while nothing is in it.
    let rare = |status| matches!(status, Status::Failed | Status::Cancelled | Status::Blocked);
    let worth = |column: &Column| column.count > 0 || !rare(column.status) || board.tasks.is_empty();
    by_status.into_iter().map(shown).filter(worth).collect()
}

pub(super) fn card(board: &Board, person: &Person, task: &Task, now: Timestamp) -> Card {
    let children = board.live_children(task).count();
    let settled = board.live_children(task).filter(|child| child.is_settled()).count();
    Card {
        id: task.id,
        title: task.title.clone(),
        parent: task.parent,
        assignee: task.assignee.as_ref().map(ToString::to_string),
        priority: task.priority,
        priority_word: priority_word(task.priority, person.language),
        type_word: type_word(task.task_type, person.language),
        labels: task.labels.clone(),
        children: (children > 0).then_some((settled, children)),
        note: note(board, task, now, person),
        moves: MoveButton::all(board, person, task, false, now),
    }
}

/// The tasks above the found ones, each once.
fn roots<'a>(board: &'a Board, found: &[&'a Task]) -> Vec<&'a Task> {
    let mut roots: Vec<&Task> = found.iter().map(|task| board.ancestors(task).last().unwrap_or(task)).collect();
    roots.sort_by_key(|task| (task.is_settled(), Reverse(task.priority), task.id));
    roots.dedup_by_key(|task| task.id);
    roots
}

/// Rows of the tree, parents before children; of a filtered tree, what is found and what is above it.
fn tree(
    board: &Board,
    roots: &[&Task],
    takes: &dyn Fn(&Task) -> bool,
    now: Timestamp,
    person: &Person,
) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    let mut rest: Vec<(&Task, usize)> = roots.iter().take(MORE).rev().map(|task| (*task, 0)).collect();
    while let Some((task, depth)) = rest.pop() {
        let below = || board.descendants(task).iter().filter_map(|id| board.tasks.get(id)).any(|task| takes(task));
        if !takes(task) && !below() {
            continue;
        }
        rows.push(TreeRow {
            depth,
            id: task.id,
            title: task.title.clone(),
            chip: StatusChip { status: task.status, language: person.language },
            step: task.is_step(),
            assignee: task.assignee.as_ref().map(ToString::to_string),
            note: note(board, task, now, person),
        });
        let children: Vec<_> = board.children(task).collect();
        rest.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
    }
    rows
}
