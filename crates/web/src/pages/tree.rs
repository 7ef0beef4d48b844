//! What belongs to what? Rows of a tree, of which parts can be folded; what is folded is not sent.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use board::{Board, Task, TaskId, Timestamp};

use super::parts::{Note, StatusChip, note};
use crate::person::Person;

/// Trees that are shown.
const TREES: usize = 500;
/// A board with more tasks than this shows the tops of its trees first.
const OPEN: usize = 200;

#[derive(Debug)]
pub(super) struct TreeRow {
    pub(super) depth: usize,
    pub(super) id: TaskId,
    pub(super) title: String,
    pub(super) chip: StatusChip,
    pub(super) step: bool,
    pub(super) assignee: Option<String>,
    pub(super) note: Option<Note>,
    /// Of a task with parts: is it unfolded, how many of the parts are settled, and how many are there?
    pub(super) parts: Option<(bool, usize, usize)>,
}

/// Which parts of the tree are folded.
#[derive(Debug)]
pub(super) struct TreeFolds {
    /// What the browser remembers: `12.-3` unfolds one and folds another.
    said: BTreeMap<TaskId, bool>,
    /// How the others are.
    rest: Rest,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rest {
    Open,
    /// What is settled is folded.
    SettledFolded,
    Folded,
}

impl TreeFolds {
    /// All that is found is seen.
    pub(super) fn none() -> Self {
        Self { said: BTreeMap::new(), rest: Rest::Open }
    }

    pub(super) fn remembered(cookie: Option<&str>, tasks: usize) -> Self {
        let said = cookie.into_iter().flat_map(|text| text.split('.')).filter_map(|word| {
            let (open, id) = word.strip_prefix('-').map_or((true, word), |id| (false, id));
            Some((TaskId(id.parse().ok()?), open))
        });
        Self { said: said.collect(), rest: if tasks > OPEN { Rest::Folded } else { Rest::SettledFolded } }
    }

    fn is_open(&self, task: &Task) -> bool {
        self.said.get(&task.id).copied().unwrap_or(match self.rest {
            Rest::Open => true,
            Rest::SettledFolded => !task.is_settled(),
            Rest::Folded => false,
        })
    }
}

/// The tasks above the found ones, each once: those that are open first.
pub(super) fn roots<'a>(board: &'a Board, found: &[&'a Task]) -> Vec<&'a Task> {
    let mut roots: Vec<&Task> = found.iter().map(|task| board.ancestors(task).last().unwrap_or(task)).collect();
    roots.sort_by_key(|task| (task.is_settled(), Reverse(task.priority), task.id));
    roots.dedup_by_key(|task| task.id);
    roots
}

/// Trees that are not shown.
pub(super) fn left(roots: &[&Task]) -> usize {
    roots.len().saturating_sub(TREES)
}

/// Rows of the tree, parents before children; of a filtered tree, what is found and what is above it.
pub(super) fn rows(
    board: &Board,
    roots: &[&Task],
    folds: &TreeFolds,
    takes: &dyn Fn(&Task) -> bool,
    now: Timestamp,
    person: &Person,
) -> Vec<TreeRow> {
    let mut rows = Vec::new();
    let mut rest: Vec<(&Task, usize)> = roots.iter().take(TREES).rev().map(|task| (*task, 0)).collect();
    while let Some((task, depth)) = rest.pop() {
        let below = || board.descendants(task).iter().filter_map(|id| board.tasks.get(id)).any(|task| takes(task));
        if !takes(task) && !below() {
            continue;
        }
        let open = folds.is_open(task);
        rows.push(TreeRow {
            depth,
            id: task.id,
            title: task.title.clone(),
            chip: StatusChip { status: task.status, language: person.language },
            step: task.is_step(),
            assignee: task.assignee.as_ref().map(ToString::to_string),
            note: note(board, task, now, person),
            parts: parts(board, task).map(|(settled, all)| (open, settled, all)),
        });
        if open {
            let children: Vec<_> = board.children(task).collect();
            rest.extend(children.into_iter().rev().map(|child| (child, depth + 1)));
        }
    }
    rows
}

/// How many of the parts at the ends of a task's branches are settled, and how many there are.
fn parts(board: &Board, task: &Task) -> Option<(usize, usize)> {
    if task.children.is_empty() {
        return None;
    }
    let below = board.descendants(task);
    let ends = below.iter().filter_map(|id| board.tasks.get(id)).filter(|task| task.children.is_empty());
    let settled: Vec<bool> = ends.map(|task| task.is_settled()).collect();
    Some((settled.iter().filter(|settled| **settled).count(), settled.len()))
}

#[cfg(test)]
mod tests {
    use board::TaskId;

    use super::{Rest, TreeFolds};

    /// W11: what somebody folded stays so; a cookie that means nothing folds nothing.
    #[test]
    fn the_browser_remembers_what_is_folded() {
        let folds = TreeFolds::remembered(Some("12.-3.x."), 10);
        assert_eq!(folds.said, [(TaskId(3), false), (TaskId(12), true)].into());
        assert_eq!(folds.rest, Rest::SettledFolded);
        assert_eq!(TreeFolds::remembered(None, 5000).rest, Rest::Folded);
    }
}
