//! How does the work stand? By status, as a tree, or by what waits for what.

use std::sync::Arc;

use askama::Template;
use axum::extract::State;
use board::{Board, Hierarchy, Language, Mode, Priority, Status, Task, TaskType};
use http::HeaderMap;

use super::board_query::{BoardQuery, Grouping, Sorting, View};
use super::columns::{Column, Folds, card, columns, kept};
use super::graph::Graph;
use super::layout::{Answer, Layout, NavItem, PageUser, Path, Query, error_page, page};
use super::parts::{priority_word, rank_word, status_word, type_word};
use super::tree::{self, TreeFolds, TreeRow};
use crate::AppState;
use crate::person::{Person, cookie};
use crate::search::Search;

/// Labels that can be chosen.
const LABELS: usize = 500;

/// With more tasks than this the graph cannot be read, and is not drawn.
const DRAWN: usize = 150;

/// The cookie with the columns that are folded. It is set for a project's own path.
const FOLDS: &str = "saihai_folds";

/// The same for the tree.
const TREE_FOLDS: &str = "saihai_tree";

/// A value and its word, for something that can be chosen.
type Choice = (&'static str, &'static str);

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
    priorities: Vec<Choice>,
    types: Vec<Choice>,
    statuses: Vec<Choice>,
    groupings: Vec<Choice>,
    sortings: Vec<Choice>,
    /// What the page is asked for again with.
    kept: String,
}

pub(super) async fn board(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
    Query(wanted): Query<BoardQuery>,
    headers: HeaderMap,
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
        statuses: statuses(language),
        groupings: Grouping::ALL.iter().map(|g| (g.as_str(), grouping_word(*g, language))).collect(),
        sortings: Sorting::ALL.iter().map(|s| (s.as_str(), sorting_word(*s, language))).collect(),
        kept: String::new(),
        layout: Layout::new(person.clone(), board.settings.name.clone(), NavItem::Board, Some(&open)),
        wanted: wanted.clone(),
    };
    match wanted.view {
        View::Columns => {
            let folds = Folds::Remembered(cookie(&headers, FOLDS).map(str::to_owned));
            let card = |task: &Task| card(board, &person, task, now);
            shown.columns = columns(board, found, &wanted, &folds, &card, language);
            shown.kept = kept(&shown.columns);
        }
        View::Tree => {
            let roots = tree::roots(board, &found);
            shown.rows_left = tree::left(&roots);
            let filtered = wanted.any();
            let folds = match filtered {
                true => TreeFolds::none(),
                false => TreeFolds::remembered(cookie(&headers, TREE_FOLDS), board.tasks.len()),
            };
            let takes = |task: &Task| !filtered || wanted.takes(&search, task);
            shown.rows = tree::rows(board, &roots, &folds, &takes, now, &person);
        }
        View::Graph => {
            let open_ones = found.into_iter().filter(|task| !wanted.status.is_empty() || !task.is_settled());
            let tasks: Vec<_> = open_ones.collect();
            shown.graph_left = tasks.len().saturating_sub(DRAWN);
            let tasks = &tasks[..tasks.len().min(DRAWN)];
            shown.graph = Some(Graph::draw(board, tasks, None, &format!("/p/{project}/tasks/"), language));
        }
    }
    page(&shown)
}

fn statuses(language: Language) -> Vec<Choice> {
    let unsettled = match language {
        Language::En => "not settled",
        Language::Ja => "未完了",
    };
    let each = Status::ALL.iter().map(|status| (status.as_str(), status_word(*status, language)));
    std::iter::once(("unsettled", unsettled)).chain(each).collect()
}

fn grouping_word(grouping: Grouping, language: Language) -> &'static str {
    match (grouping, language) {
        (Grouping::Nothing, Language::En) => "not grouped",
        (Grouping::Tree, Language::En) => "by tree",
        (Grouping::Agent, Language::En) => "by agent",
        (Grouping::Nothing, Language::Ja) => "なし",
        (Grouping::Tree, Language::Ja) => "ツリー別",
        (Grouping::Agent, Language::Ja) => "担当者別",
    }
}

fn sorting_word(sorting: Sorting, language: Language) -> &'static str {
    match (sorting, language) {
        (Sorting::Urgent, Language::En) => "most urgent first",
        (Sorting::Changed, Language::En) => "last changed first",
        (Sorting::Newest, Language::En) => "newest first",
        (Sorting::Title, Language::En) => "by title",
        (Sorting::Urgent, Language::Ja) => "優先度順",
        (Sorting::Changed, Language::Ja) => "更新順",
        (Sorting::Newest, Language::Ja) => "新しい順",
        (Sorting::Title, Language::Ja) => "タイトル順",
    }
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
    labels.truncate(LABELS);
    labels
}
