//! Which runners on other hosts are there, and what do they do (R10)?

use askama::Template;
use axum::extract::State;
use board::{ProjectId, RunnerState, SessionId, say_runner_state};

use super::layout::{Answer, Layout, NavItem, PageUser, error_page, page};
use super::parts::Age;
use crate::AppState;

#[derive(Debug, Template)]
#[template(path = "runners.html")]
struct Runners {
    layout: Layout,
    runners: Vec<Row>,
}

#[derive(Debug)]
struct Row {
    id: String,
    name: String,
    state: String,
    /// Whether that asks for attention.
    bad: bool,
    heard: Age,
    version: String,
    labels: Vec<String>,
    clients: Option<Vec<&'static str>>,
    draining: bool,
    slots: u32,
    busy: Vec<(ProjectId, SessionId)>,
    troubles: Vec<(ProjectId, String)>,
}

pub(super) async fn runners(State(state): State<AppState>, PageUser(person): PageUser) -> Answer {
    let known = state.remote_runners(&person).await.map_err(error_page(&person))?;
    let now = state.server.now();
    let row = |runner: control::RemoteRunner| {
        let (state, heartbeat) = (runner.state(now), &runner.heartbeat);
        let of_project = |(project, status): (&ProjectId, &board::RunnerStatus)| {
            status.busy.iter().map(|session| (project.clone(), *session)).collect::<Vec<_>>()
        };
        Row {
            id: runner.id.to_string(),
            name: heartbeat.name.clone(),
            state: say_runner_state(state, person.language),
            bad: matches!(state, RunnerState::Silent | RunnerState::DiskFull | RunnerState::Trouble),
            heard: Age { at: runner.heard_at, now, language: person.language },
            version: heartbeat.version.clone(),
            labels: heartbeat.offer.labels.clone(),
            clients: heartbeat.offer.clients.as_ref().map(|known| known.iter().map(|client| client.as_str()).collect()),
            draining: heartbeat.offer.draining,
            slots: runner.slots(),
            busy: heartbeat.projects.iter().flat_map(of_project).collect(),
            troubles: heartbeat
                .projects
                .iter()
                .filter_map(|(project, status)| Some((project.clone(), status.trouble.clone()?)))
                .collect(),
        }
    };
    let runners = known.into_iter().map(row).collect();
    let title = person.say("Runners on other hosts", "他のホストのランナー");
    page(&Runners { layout: Layout::new(person.clone(), title, NavItem::Projects, None), runners })
}
