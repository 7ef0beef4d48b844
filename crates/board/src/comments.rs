//! Which comments has a session not seen yet, which sessions have seen a comment (L10), and what waits for the owner?

use crate::board::Board;
use crate::refusal::{Refusal, RefusalReason};
use crate::session::Session;
use crate::task::{Comment, Proposal, Task};
use crate::{AgentId, Party, Seq};

/// What others have written about the task, or a step of it, since its session last read.
pub fn unread<'a>(board: &'a Board, session: &'a Session, task: &'a Task) -> impl Iterator<Item = &'a Comment> {
    let own = |by: &Party| matches!(by, Party::Agent(agent) if *agent == session.agent);
    let steps = board.children(task).filter(|child| child.is_step()).flat_map(|step| step.comments.iter());
    task.comments.iter().chain(steps).filter(move |comment| comment.seq > session.comments_read && !own(&comment.by))
}

/// What agents propose for the memory bank and nobody has answered, oldest first.
pub fn open_proposals(board: &Board) -> Vec<(&Task, &Proposal)> {
    let all = board.tasks.values().flat_map(|task| task.proposals.iter().map(|proposal| (task.as_ref(), proposal)));
    let mut open: Vec<_> = all.filter(|(_, proposal)| proposal.answer.is_none()).collect();
    open.sort_by_key(|(_, proposal)| proposal.seq);
    open
}

/// The proposal that an event made, unless it was answered.
pub fn open_proposal(board: &Board, seq: Seq) -> Result<(&Task, &Proposal), Refusal> {
    let found = open_proposals(board).into_iter().find(|(_, proposal)| proposal.seq == seq);
    found.ok_or_else(|| RefusalReason::NoOpenProposal { proposal: seq }.into())
}

/// The sessions that have read a comment, oldest first.
pub fn readers<'a>(board: &'a Board, task: &'a Task, comment: &'a Comment) -> impl Iterator<Item = &'a Session> {
    // A step has no sessions of its own.
    let of = task.parent.filter(|_| task.is_step()).and_then(|id| board.tasks.get(&id)).map_or(task, AsRef::as_ref);
    board.sessions_of(of).filter(|session| session.comments_read >= comment.seq)
}

/// Has somebody other than the task's own agent written about it since?
pub(crate) fn written_since(task: &Task, assignee: &AgentId, seq: crate::Seq) -> bool {
    let own = |by: &Party| matches!(by, Party::Agent(agent) if agent == assignee);
    task.comments.iter().any(|comment| comment.seq > seq && !own(&comment.by))
}
