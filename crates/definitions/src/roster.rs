//! Do the agents of a project fit together?

use std::collections::BTreeMap;

use board::{AgentId, Hierarchy};

use crate::agent_file::ParsedAgent;
use crate::problem::{Problem, SourceLocation};

/// Have all the agent files been read as far as their ids?
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RosterFiles {
    AllRead,
    /// A parent that is missing may be defined in a file that could not be read.
    SomeUnreadable,
}

/// The problems between files: doubled ids, and parents that are unknown, no managers, or circular.
pub(crate) fn problems(parsed_agents: &[ParsedAgent], roster: RosterFiles) -> Vec<Problem> {
    let mut problems = Vec::new();
    let mut agents: BTreeMap<&AgentId, &ParsedAgent> = BTreeMap::new();
    for parsed in parsed_agents {
        if let Some(first) = agents.get(&parsed.spec.id) {
            let message = format!("the agent id `{}` is already taken by {}", parsed.spec.id, first.file.display());
            problems.push(problem(parsed, parsed.id_location, message));
        } else {
            agents.insert(&parsed.spec.id, parsed);
        }
    }
    for parsed in agents.values() {
        let Some(parent) = &parsed.spec.parent else {
            continue;
        };
        let message = match agents.get(parent) {
            None if roster == RosterFiles::SomeUnreadable => continue,
            None => format!("the parent `{parent}` is not on the roster"),
            Some(found) if found.spec.hierarchy == Hierarchy::Worker => {
                format!("the parent `{parent}` is a worker; a parent must be a manager")
            }
            Some(_) => match cycle(parsed, &agents) {
                Some(cycle) => format!("the parents go round in a circle: {cycle}"),
                None => continue,
            },
        };
        problems.push(problem(parsed, parsed.parent_location, message));
    }
    problems
}

fn problem(parsed: &ParsedAgent, location: SourceLocation, message: String) -> Problem {
    Problem { file: parsed.file.clone(), line: Some(location.line), column: Some(location.column), message, hint: None }
}

/// `a → b → a`, if the agent is on a circle and the first of it by id, so that it is told once.
fn cycle(parsed: &ParsedAgent, agents: &BTreeMap<&AgentId, &ParsedAgent>) -> Option<String> {
    let start = &parsed.spec.id;
    let mut path = start.to_string();
    let mut next = parsed.spec.parent.as_ref()?;
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
