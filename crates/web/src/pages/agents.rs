//! Who is on the roster, what is each of them doing, and what keeps them from it?

use askama::Template;
use axum::extract::State;
use board::{Action, Agent, AgentId, Board, Staffing, TaskId, Timestamp, say_reason, staffing};
use serde::Deserialize;

use super::layout::{Answer, Layout, NavItem, PageUser, Path, error_page, page, refused};
use super::parts::{Age, Note, TaskLink, of_session, rank_word};
use crate::AppState;
use crate::person::Person;

#[derive(Debug, Template)]
#[template(path = "agents.html")]
struct Agents {
    layout: Layout,
    agents: Vec<Row>,
    parked: Vec<(String, Timestamp)>,
}

#[derive(Debug)]
struct Row {
    id: String,
    name: String,
    depth: usize,
    rank: &'static str,
    role: String,
    skills: Vec<String>,
    client: &'static str,
    model: Option<String>,
    active: bool,
    load: usize,
    most: u32,
    doing: Vec<(board::SessionId, Option<TaskLink>, Note)>,
    waiting: Vec<TaskLink>,
    /// Why it is not started, and until when.
    staffing: String,
    starts: bool,
    /// It can be written to: a one-shot agent never reaches the board.
    hears: bool,
    until: Option<Timestamp>,
    unread: usize,
}

pub(super) async fn agents(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let board = &open.board;
    let agents =
        in_order(board).into_iter().map(|(agent, depth)| row(board, agent, depth, open.now, &person)).collect();
    let parked = board.parked.iter().filter(|(_, until)| **until > open.now);
    let parked = parked.map(|(account, until)| (account.clone(), *until)).collect();
    let title = person.say("Agents", "エージェント");
    page(&Agents { layout: Layout::new(person.clone(), title, NavItem::Agents, Some(&open)), agents, parked })
}

/// Managers before those who report to them; who has left comes last.
fn in_order(board: &Board) -> Vec<(&Agent, usize)> {
    let mut found = Vec::new();
    let top =
        |agent: &&Agent| agent.active && agent.spec.parent.as_ref().is_none_or(|id| board.active_agent(id).is_none());
    let roots: Vec<&Agent> = board.agents.values().map(AsRef::as_ref).filter(top).collect();
    let mut rest: Vec<(&Agent, usize)> = roots.into_iter().rev().map(|agent| (agent, 0)).collect();
    while let Some((agent, depth)) = rest.pop() {
        found.push((agent, depth));
        let below: Vec<_> = board.subordinates(agent.id()).collect();
        rest.extend(below.into_iter().rev().map(|agent| (agent, depth + 1)));
    }
    found.extend(board.agents.values().map(AsRef::as_ref).filter(|agent| !agent.active).map(|agent| (agent, 0)));
    found
}

fn row(board: &Board, agent: &Agent, depth: usize, now: Timestamp, person: &Person) -> Row {
    let language = person.language;
    let doing: Vec<_> = board
        .live_sessions(agent.id())
        .map(|session| {
            let task = session.task().and_then(|id| board.tasks.get(&id)).map(|task| TaskLink::of(task, language));
            (session.id, task, of_session(board, session, now, language))
        })
        .collect();
    let answer = staffing(board, agent.id(), now).ok();
    let waiting = board.open_tasks(agent.id()).into_iter().filter(|task| task.live.is_none()).take(5);
    Row {
        id: agent.id().to_string(),
        name: agent.spec.name.clone(),
        depth,
        rank: rank_word(agent.spec.hierarchy, person),
        role: agent.spec.role.clone(),
        skills: agent.spec.skills.clone(),
        client: agent.spec.client.as_str(),
        model: agent.spec.model.clone(),
        active: agent.active,
        hears: agent.active && agent.spec.mode == board::Mode::Guided,
        load: board.task_sessions(agent.id()),
        most: agent.spec.max_sessions,
        doing,
        waiting: waiting.map(|task| TaskLink::of(task, language)).collect(),
        staffing: answer.map(|answer| say_reason(answer.reason, language)).unwrap_or_default(),
        starts: answer.is_some_and(|answer| answer.action == Action::Start),
        until: answer.and_then(|answer| answer.until),
        unread: board.unread(agent).count(),
    }
}

#[derive(Debug, Template)]
#[template(path = "agent.html")]
struct AgentPage {
    layout: Layout,
    agent: Row,
    definition: String,
    tasks: Vec<TaskLink>,
    answers: Vec<StaffingAnswer>,
}

/// What a coordinator or runner was told about the agent.
#[derive(Debug)]
struct StaffingAnswer {
    at: Age,
    action: &'static str,
    reason: String,
    task: Option<TaskId>,
    times: u64,
}

/// So many of the newest are shown.
const ANSWERS: usize = 20;

/// What the trace has of an answer.
#[derive(Debug, Deserialize)]
struct TracedAnswer {
    #[serde(flatten)]
    staffing: Staffing,
    #[serde(default = "once")]
    times: u64,
}

fn once() -> u64 {
    1
}

fn staffing_answer(decision: &control::Decision, now: Timestamp, person: &Person) -> Option<StaffingAnswer> {
    let TracedAnswer { staffing, times } = serde_json::from_str(&decision.body).ok()?;
    Some(StaffingAnswer {
        at: Age { at: Timestamp(decision.at), now, language: person.language },
        action: match staffing.action {
            Action::Start => person.say("start", "開始"),
            Action::NoChange => person.say("hold", "待機"),
            Action::Stop => person.say("stop", "停止"),
        },
        reason: say_reason(staffing.reason, person.language),
        task: staffing.task(),
        times,
    })
}

pub(super) async fn agent(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path((project, id)): Path<(String, AgentId)>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let agent = open.board.agent(&id).map_err(refused(&person))?;
    let decisions = open.project.decisions(id.as_str(), u64::MAX, ANSWERS).await;
    let decisions = decisions.map_err(|error| error_page(&person)(person.problem(&error)))?;
    let answers = decisions.iter().filter_map(|one| staffing_answer(&one.decision, open.now, &person)).collect();
    let tasks = open.board.open_tasks(&id).into_iter().map(|task| TaskLink::of(task, person.language)).collect();
    page(&AgentPage {
        agent: row(&open.board, agent, 0, open.now, &person),
        definition: board::clean(&definitions::to_yaml(&agent.spec)),
        tasks,
        answers,
        layout: Layout::new(person, agent.spec.name.clone(), NavItem::Agents, Some(&open)),
    })
}
