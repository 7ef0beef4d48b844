//! How is a sentence shown that names what can be done? With the control that does it in its place (W12).

use askama::Template;
use askama::filters::HtmlSafe;
use board::{Board, Command, Piece, Remedy, Said, Timestamp};

use super::columns::MoveButton;
use crate::person::Person;
use crate::remedies::{address, word};

/// A sentence with its links and buttons.
#[derive(Debug, Template)]
#[template(path = "sentence.html")]
pub(super) struct Sentence {
    pieces: Vec<Control>,
}

impl HtmlSafe for Sentence {}

#[derive(Debug)]
enum Control {
    Text(String),
    Link {
        url: String,
        word: String,
    },
    /// A move that would be admitted.
    Move {
        task: board::TaskId,
        offer: MoveButton,
    },
    /// A request that would be admitted, with one field at most.
    Request {
        api: String,
        field: Option<(&'static str, String)>,
        word: String,
    },
}

impl Sentence {
    pub(super) fn of(said: Said, board: &Board, person: &Person, now: Timestamp) -> Self {
        let shown = |piece| match piece {
            Piece::Text(text) => Control::Text(text),
            Piece::Remedy(remedy) => control(&remedy, board, person, now),
        };
        Self { pieces: said.pieces.into_iter().map(shown).collect() }
    }
}

/// The button, where the board would admit what it does; the link, where there is a page; else words.
fn control(remedy: &Remedy, board: &Board, person: &Person, now: Timestamp) -> Control {
    let project = board.settings.id.as_str();
    let words = word(remedy, person.language);
    let admitted = |command: &Command| {
        person.is_owner() && board::admit(board, &person.actor(), command, now).is_ok_and(|events| !events.is_empty())
    };
    match remedy {
        Remedy::Move { name, task } => {
            let offers = board.tasks.get(task).map(|task| MoveButton::all(board, person, task, false, now));
            let offer = offers.into_iter().flatten().find(|offer| offer.name == name.as_str() && !offer.later);
            offer.map_or(Control::Text(words), |offer| Control::Move { task: *task, offer })
        }
        Remedy::StopWaiting { task, on } => {
            let command =
                Command::ChangeDependencies { task: *task, add: Vec::new(), remove: vec![*on], forced: false };
            match admitted(&command) {
                true => Control::Request {
                    api: format!("PATCH /api/v1/projects/{project}/tasks/{task}/dependencies"),
                    field: Some(("remove", on.to_string())),
                    word: words,
                },
                false => Control::Text(words),
            }
        }
        Remedy::Resume if admitted(&Command::Resume) => {
            Control::Request { api: format!("POST /api/v1/projects/{project}/resume"), field: None, word: words }
        }
        Remedy::Assign(task) => Control::Link { url: format!("/p/{project}/tasks/{task}#assign"), word: words },
        remedy => match address(remedy, project) {
            Some(url) => Control::Link { url, word: words },
            None => Control::Text(words),
        },
    }
}
