//! What has the project decided? The memory bank, as it lies in the repository.

use askama::Template;
use axum::extract::State;
use board::comments::open_proposals;
use board::{Seq, TaskId};
use definitions::memory::{self, EntryWithText};

use super::board_query::encoded;
use super::layout::{Answer, Layout, NavItem, PageUser, Path, error_page, page};
use super::parts::Age;
use super::prose::{Named, Prose};
use crate::AppState;
use crate::problem::Problem;

#[derive(Debug, Template)]
#[template(path = "memory.html")]
struct Memory {
    layout: Layout,
    entries: Vec<Row>,
    problems: Vec<String>,
    proposals: Vec<ProposalRow>,
    shown: Option<(String, Prose)>,
}

#[derive(Debug)]
struct Row {
    path: String,
    /// The same in an address.
    link: String,
    title: String,
    category: Option<String>,
    summary: Option<String>,
    current: bool,
}

/// What an agent proposes.
#[derive(Debug)]
struct ProposalRow {
    number: Seq,
    by: String,
    task: TaskId,
    text: Prose,
    at: Age,
}

pub(super) async fn memories(state: State<AppState>, visitor: PageUser, Path(project): Path<String>) -> Answer {
    show(state, visitor, project, None).await
}

pub(super) async fn entry(
    state: State<AppState>,
    visitor: PageUser,
    Path((project, path)): Path<(String, String)>,
) -> Answer {
    show(state, visitor, project, Some(path)).await
}

async fn show(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    project: String,
    path: Option<String>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let directory = state.repository(&open.id).join(".saihai");
    let wanted = path.clone();
    let read = move |_: &dyn server::LocalFiles| {
        let shown = wanted.map(|path| memory::show(&directory, &path)).transpose();
        (memory::list(&directory), shown)
    };
    let ((entries, problems), shown) = state.with_local_files(read).await.map_err(error_page(&person))?;
    let shown = shown.map_err(|error| {
        let hint = person.say("See the list.", "一覧を見てください。");
        error_page(&person)(Problem::not_found(error.to_string(), hint))
    })?;
    let current = shown.as_ref().map(|shown| shown.entry.path.clone());
    let row = |entry: memory::MemoryEntry| Row {
        current: Some(&entry.path) == current.as_ref(),
        link: entry.path.iter().map(|part| encoded(&part.to_string_lossy())).collect::<Vec<_>>().join("/"),
        path: entry.path.display().to_string(),
        title: entry.title,
        category: entry.category,
        summary: entry.summary,
    };
    let now = open.now;
    let proposal = |(task, proposal): (&board::Task, &board::Proposal)| ProposalRow {
        number: proposal.seq,
        by: proposal.by.to_string(),
        task: task.id,
        text: Named { board: &open.board, person: &person }.markdown(&proposal.text),
        at: Age { at: proposal.at, now, language: person.language },
    };
    page(&Memory {
        proposals: open_proposals(&open.board).into_iter().map(proposal).collect(),
        entries: entries.into_iter().map(row).collect(),
        problems: problems.iter().map(ToString::to_string).collect(),
        shown: shown.map(|EntryWithText { entry, body }| {
            (entry.title, Named { board: &open.board, person: &person }.markdown(&body))
        }),
        layout: Layout::new(person.clone(), person.say("Memory", "メモリー"), NavItem::Memory, Some(&open)),
    })
}
