//! What was said between the owner and an agent?

use askama::Template;
use axum::extract::State;
use board::{Agent, AgentId, Message, Mode, Party};

use super::layout::{Answer, Layout, NavItem, PageUser, Path, error_page, page, refused};
use super::parts::{Note, of_session};
use super::task::{MessageRow, said};
use crate::person::Person;
use crate::{AppState, ProjectRequest};

/// The newest messages of a conversation.
const SHOWN: usize = 200;

#[derive(Debug, Template)]
#[template(path = "chat.html")]
struct Chat {
    layout: Layout,
    agents: Vec<Partner>,
    /// With whom, if with anybody.
    with: Option<Partner>,
    session: Option<(board::SessionId, Note)>,
    messages: Vec<MessageRow>,
}

#[derive(Clone, Debug)]
struct Partner {
    id: String,
    name: String,
    unread: usize,
    current: bool,
    /// A one-shot agent never reaches the board.
    hears: bool,
}

pub(super) async fn chats(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    show(person, &open, None)
}

pub(super) async fn chat(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path((project, id)): Path<(String, AgentId)>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let agent = open.board.agent(&id).map_err(refused(&person))?;
    show(person, &open, Some(agent))
}

fn show(person: Person, open: &ProjectRequest, with: Option<&Agent>) -> Answer {
    let board = &open.board;
    let partner = |agent: &Agent| Partner {
        id: agent.id().to_string(),
        name: agent.spec.name.clone(),
        unread: board.unread(agent).filter(|message| message.from == Party::Owner).count(),
        current: with.is_some_and(|with| with.id() == agent.id()),
        hears: agent.active && agent.spec.mode == Mode::Guided,
    };
    let between = |message: &&std::sync::Arc<Message>| {
        let own = with.map(|agent| Party::Agent(agent.id().clone()));
        own.is_some_and(|agent| {
            (message.from == agent && message.to == Party::Owner)
                || (message.from == Party::Owner && message.to == agent)
        })
    };
    let mut messages: Vec<_> =
        board.messages.iter().rev().filter(between).take(SHOWN).map(|m| said(board, m, open.now, &person)).collect();
    messages.reverse();
    let session = with.and_then(|agent| agent.chat.live).and_then(|id| board.sessions.get(&id));
    page(&Chat {
        agents: board
            .agents
            .values()
            .map(|agent| partner(agent))
            .filter(|agent| agent.hears || agent.current)
            .collect(),
        session: session.map(|session| (session.id, of_session(&open.board, session, open.now, person.language))),
        with: with.map(partner),
        messages,
        layout: Layout::new(person.clone(), person.say("Chat", "チャット"), NavItem::Chat, Some(open)),
    })
}
