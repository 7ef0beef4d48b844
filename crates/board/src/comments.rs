//! Which comments has a session not seen yet, and which sessions have seen a comment (L10)?

use crate::board::Board;
use crate::session::Session;
use crate::task::{Comment, Task};
use crate::{AgentId, Party};

/// What others have written about the task since its session last read.
pub fn unread<'a>(session: &'a Session, task: &'a Task) -> impl Iterator<Item = &'a Comment> {
    let own = |by: &Party| matches!(by, Party::Agent(agent) if *agent == session.agent);
    task.comments.iter().filter(move |comment| comment.seq > session.comments_read && !own(&comment.by))
}

/// The sessions that have read a comment, oldest first.
pub fn readers<'a>(board: &'a Board, task: &'a Task, comment: &'a Comment) -> impl Iterator<Item = &'a Session> {
    board.sessions_of(task).filter(|session| session.comments_read >= comment.seq)
}

/// Has somebody other than the task's own agent written about it since?
pub(crate) fn written_since(task: &Task, assignee: &AgentId, seq: crate::Seq) -> bool {
    let own = |by: &Party| matches!(by, Party::Agent(agent) if agent == assignee);
    task.comments.iter().any(|comment| comment.seq > seq && !own(&comment.by))
}
