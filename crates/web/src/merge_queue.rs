//! What is on its way into the target, and what has come there? One answer for pages and programs.

use std::cmp::Reverse;

use board::{Board, Merge, Session, SessionStatus, Timestamp};

use super::person::Person;
use super::problem::Problem;
use super::{AppState, ProjectRequest};

/// Merges that are told.
const MERGES: usize = 20;

impl AppState {
    /// The sessions whose work is being verified, in the order in which they came, and since when.
    pub(super) async fn verifying<'a>(
        &self,
        person: &Person,
        open: &'a ProjectRequest,
    ) -> Result<Vec<(&'a Session, Option<Timestamp>)>, Problem> {
        let ended = self.task_events.ended(self.server.control().store().as_ref(), &open.id).await;
        let ended = ended.map_err(|error| person.problem(&error))?;
        let live = open.board.all_live_sessions().filter(|session| session.status == SessionStatus::Verifying);
        let mut found: Vec<_> = live.collect();
        found.sort_by_key(|session| (ended.get(&session.id).map(|(seq, _)| *seq), session.id));
        Ok(found.into_iter().map(|session| (session, ended.get(&session.id).map(|(_, at)| *at))).collect())
    }
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
