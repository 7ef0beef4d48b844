//! What is on its way into the target, and what has come there? One answer for pages and programs.

use std::cmp::Reverse;

use board::{Board, Merge, Session, Timestamp};

/// Merges that are told.
const MERGES: usize = 20;

/// The sessions whose work is being verified, in the order in which their processes ended.
pub(super) fn verifying(board: &Board) -> Vec<&Session> {
    board::merge_queue(board).collect()
}

/// When a session's process ended.
pub(super) fn ended_at(session: &Session) -> Option<Timestamp> {
    session.process_ended.map(|(_, at)| at)
}

/// The last sessions whose work was merged, newest first.
pub(super) fn merged(board: &Board) -> Vec<&Session> {
    let in_target = |session: &&Session| merge_commit(session).is_some() && !session.is_live();
    let mut found: Vec<_> = board.sessions.values().map(AsRef::as_ref).filter(in_target).collect();
    found.sort_by_key(|session| Reverse((session.ended_at, session.id)));
    found.truncate(MERGES);
    found
}

/// The commit in the target that has a session's work.
pub(super) fn merge_commit(session: &Session) -> Option<&str> {
    match &session.workspace.as_ref()?.merge {
        Merge::Merged { commit } => Some(commit),
        Merge::NotTried | Merge::Conflict { .. } | Merge::Waiting { .. } => None,
    }
}

/// The files of the user's that keep a session's work from being merged.
pub(super) fn in_the_way(session: &Session) -> &[String] {
    match session.workspace.as_ref().map(|facts| &facts.merge) {
        Some(Merge::Waiting { files, .. }) => files,
        Some(Merge::NotTried | Merge::Conflict { .. } | Merge::Merged { .. }) | None => &[],
    }
}
