//! What can somebody do about it? One remedy has two renderings: a terminal names the command, a page shows the link or
//! button that does it (W12).

use std::fmt;

use super::{Phrase, fill};
use crate::lifecycle::Move;
use crate::{AgentId, Language, SessionId, TaskId};

/// Something that a person can look at or do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Remedy {
    /// A move of a task.
    Move {
        name: Move,
        task: TaskId,
    },
    /// Give a task to somebody.
    Assign(TaskId),
    /// Let a task no longer wait for another.
    StopWaiting {
        task: TaskId,
        on: TaskId,
    },
    /// Let the project go on.
    Resume,
    /// Insist on what is another's to do.
    Force,
    /// See what holds a task, and who has to do what.
    Explain(TaskId),
    /// See a task.
    Show(TaskId),
    /// See what a task is split into.
    ShowParts(TaskId),
    /// Write about a task.
    Comment,
    ShowSession(SessionId),
    ReadLog(SessionId),
    /// Find out why the client of a session could not be started.
    Examine(SessionId),
    /// Record the end of a session that is driven by hand.
    EndByHand(SessionId),
    /// What an agent that nobody starts is attached with.
    Passkey(AgentId),
    Tasks,
    /// All tasks, with what they are split into.
    Tree,
    Roster,
    Sessions,
    Projects,
    Tokens,
    Proposals,
    /// The server of this repository, with its runner.
    Serve,
    /// A runner on some host.
    Runner,
    /// A runner with what an agent needs.
    SuitableRunner,
    /// Let a runner that begins nothing more go on.
    ResumeRunner,
    /// What can be done at all.
    Help,
}

/// As a terminal names it.
impl fmt::Display for Remedy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Move { name: Move::Unstart | Move::Requeue | Move::Reopen | Move::Queue, task } => {
                write!(f, "`saihai task update {task} --status todo`")
            }
            Self::Move { name: Move::Shelve, task } => write!(f, "`saihai task update {task} --status backlog`"),
            Self::Move { name: Move::Finish, task } => write!(f, "`saihai task update {task} --status done`"),
            Self::Move { name, task } => write!(f, "`saihai task {name} {task}`"),
            Self::Assign(task) => write!(f, "`saihai task assign {task} AGENT`"),
            Self::StopWaiting { task, on } => write!(f, "`saihai task depend {task} --off {on}`"),
            Self::Resume => f.write_str("`saihai project resume`"),
            Self::Force => f.write_str("`--force`"),
            Self::Explain(task) => write!(f, "`saihai task why {task}`"),
            Self::Show(task) => write!(f, "`saihai task show {task}`"),
            Self::ShowParts(task) => write!(f, "`saihai task tree {task}`"),
            Self::Comment => f.write_str("`saihai task comment TASK \u{2026}`"),
            Self::ShowSession(session) => write!(f, "`saihai session show {session}`"),
            Self::ReadLog(session) => write!(f, "`saihai session log {session}`"),
            Self::Examine(_) => f.write_str("`saihai doctor`"),
            Self::EndByHand(session) => write!(f, "`saihai session end {session} --exit-code N`"),
            Self::Passkey(agent) => write!(f, "`saihai agent passkey {agent}`"),
            Self::Tasks => f.write_str("`saihai task list --all`"),
            Self::Tree => f.write_str("`saihai task tree`"),
            Self::Roster => f.write_str("`saihai agent list`"),
            Self::Sessions => f.write_str("`saihai session list`"),
            Self::Projects => f.write_str("`saihai project list`"),
            Self::Tokens => f.write_str("`saihai token list`"),
            Self::Proposals => f.write_str("`saihai memory proposals`"),
            Self::Serve => f.write_str("`saihai up`"),
            Self::Runner => f.write_str("`saihai runner`"),
            Self::SuitableRunner => f.write_str("`saihai runner --labels \u{2026}`"),
            Self::ResumeRunner => f.write_str("`saihai runner resume`"),
            Self::Help => f.write_str("`saihai --help`"),
        }
    }
}

/// A piece of what is said.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Piece {
    Text(String),
    Remedy(Remedy),
}

/// What is said, with what can be done about it where that is named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Said {
    pub pieces: Vec<Piece>,
}

impl From<String> for Said {
    fn from(text: String) -> Self {
        Self { pieces: vec![Piece::Text(text)] }
    }
}

/// As a terminal says it: with commands.
impl fmt::Display for Said {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.pieces.iter().try_for_each(|piece| match piece {
            Piece::Text(text) => f.write_str(text),
            Piece::Remedy(remedy) => write!(f, "{remedy}"),
        })
    }
}

impl Phrase {
    /// Says it with remedies where `{!0}`, `{!1}`, … stand. What arguments bring is text, whatever it looks like.
    pub(super) fn tell(self, language: Language, arguments: &[&dyn fmt::Display], remedies: &[Remedy]) -> Said {
        let mut rest = match language {
            Language::En => self.en,
            Language::Ja => self.ja,
        };
        let mut pieces = Vec::new();
        while let Some((before, after)) = rest.split_once("{!") {
            let (place, tail) = after.split_once('}').unwrap_or((after, ""));
            pieces.push(Piece::Text(fill(before, arguments)));
            pieces.extend(place.parse().ok().and_then(|place: usize| remedies.get(place)).cloned().map(Piece::Remedy));
            rest = tail;
        }
        pieces.push(Piece::Text(fill(rest, arguments)));
        Said { pieces }
    }
}

#[cfg(test)]
mod tests {
    use super::{Piece, Remedy};
    use crate::lifecycle::Move;
    use crate::text::phrase;
    use crate::{Language, TaskId};

    /// W12: a terminal names the command, and a page is told what to show in its place. Nothing that an agent wrote
    /// becomes either.
    #[test]
    fn one_remedy_has_two_renderings() {
        let unblock = Remedy::Move { name: Move::Unblock, task: TaskId(1) };
        let said = phrase("Blocked: {0} ({!0}).", "{0}（{!0}）。").tell(
            Language::En,
            &[&"{!0}"],
            std::slice::from_ref(&unblock),
        );
        assert_eq!(said.to_string(), "Blocked: {!0} (`saihai task unblock tsk_1`).");
        let text = |text: &str| Piece::Text(text.to_owned());
        assert_eq!(said.pieces, [text("Blocked: {!0} ("), Piece::Remedy(unblock), text(").")]);
    }
}
