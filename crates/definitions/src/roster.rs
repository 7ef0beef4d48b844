//! Do the agents of a project fit together?

use std::collections::BTreeMap;

use board::{AgentId, Hierarchy};

use crate::agent_file::Draft;
use crate::problem::{Place, Problem};

/// Have all the agent files been read as far as their ids?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Roster {
    Whole,
    /// Who is missing may stand in a file that could not be read.
    Partial,
}

/// The problems between files: doubled ids, and parents that are unknown, no managers, or circular.
pub(crate) fn problems(drafts: &[Draft], roster: Roster) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut agents: BTreeMap<&AgentId, &Draft> = BTreeMap::new();
    for draft in drafts {
        if let Some(first) = agents.get(&draft.spec.id) {
            let message = format!("the agent id `{}` is already taken by {}", draft.spec.id, first.file.display());
            problems.push(problem(draft, draft.id_at, message));
        } else {
            agents.insert(&draft.spec.id, draft);
        }
    }
    for draft in agents.values() {
        let Some(parent) = &draft.spec.parent else {
            continue;
        };
        let message = match agents.get(parent) {
            None if roster == Roster::Partial => continue,
            None => format!("the parent `{parent}` is not on the roster"),
            Some(found) if found.spec.hierarchy == Hierarchy::Worker => {
                format!("the parent `{parent}` is a worker; a parent must be a manager")
            }
            Some(_) => match cycle(draft, &agents) {
                Some(cycle) => format!("the parents go round in a circle: {cycle}"),
                None => continue,
            },
        };
        problems.push(problem(draft, draft.parent_at, message));
    }
    problems
}

fn problem(draft: &Draft, place: Place, message: String) -> Problem {
    Problem { file: draft.file.clone(), line: Some(place.line), column: Some(place.column), message, hint: None }
}

/// `a → b → a`, if the agent is on a circle and the first of it by id, so that it is told once.
fn cycle(draft: &Draft, agents: &BTreeMap<&AgentId, &Draft>) -> Option<String> {
    let start = &draft.spec.id;
    let mut path = start.to_string();
    let mut next = draft.spec.parent.as_ref()?;
    for _ in 0..agents.len() {
        path = format!("{path} → {next}");
        if next == start {
            return Some(path);
        }
        if next < start {
            return None;
        }
        next = agents.get(next)?.spec.parent.as_ref()?;
    }
    None
}
