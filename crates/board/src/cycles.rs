//! Does anything wait for itself (L5)?

use std::collections::BTreeSet;

use crate::TaskId;
use crate::board::Board;

/// The start and the end of a task are different moments: a child starts after its parent has
/// started, and a parent ends after its children have ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Moment {
    Start(TaskId),
    End(TaskId),
}

/// A task that the board does not have yet.
#[derive(Clone, Debug)]
pub(crate) struct Planned {
    pub(crate) id: TaskId,
    pub(crate) parent: Option<TaskId>,
    pub(crate) dependencies: Vec<TaskId>,
}

/// The board as it would be: with tasks that are planned, and with one more dependency.
pub(crate) struct DependencyPlan<'a> {
    pub(crate) board: &'a Board,
    pub(crate) planned: &'a [Planned],
    pub(crate) extra: Option<(TaskId, TaskId)>,
}

impl DependencyPlan<'_> {
    /// The chain of tasks by which `task` would wait for itself if it depended on `dependency`.
    pub(crate) fn cycle(&self, task: TaskId, dependency: TaskId) -> Option<Vec<TaskId>> {
        let mut seen = BTreeSet::new();
        let mut path = Vec::new();
        self.leads(Moment::End(dependency), Moment::Start(task), &mut seen, &mut path).then(|| {
            let mut chain = vec![task];
            for moment in path {
                let (Moment::Start(id) | Moment::End(id)) = moment;
                if chain.last() != Some(&id) {
                    chain.push(id);
                }
            }
            chain
        })
    }

    fn leads(&self, from: Moment, to: Moment, seen: &mut BTreeSet<Moment>, path: &mut Vec<Moment>) -> bool {
        // An explicit stack: chains of dependencies can be longer than a thread's stack is deep.
        let mut stack = vec![(from, self.waits_for(from))];
        seen.insert(from);
        path.push(from);
        if from == to {
            return true;
        }
        while let Some((_, rest)) = stack.last_mut() {
            match rest.pop() {
                Some(next) if next == to => {
                    path.push(next);
                    return true;
                }
                Some(next) => {
                    if seen.insert(next) {
                        path.push(next);
                        stack.push((next, self.waits_for(next)));
                    }
                }
                None => {
                    stack.pop();
                    path.pop();
                }
            }
        }
        false
    }

    /// The moments that must come before `moment`.
    fn waits_for(&self, moment: Moment) -> Vec<Moment> {
        match moment {
            Moment::End(id) => {
                let mut before: Vec<_> = self.children(id).into_iter().map(Moment::End).collect();
                before.push(Moment::Start(id));
                before
            }
            Moment::Start(id) => {
                let mut before: Vec<_> = self.dependencies(id).into_iter().map(Moment::End).collect();
                before.extend(self.parent(id).map(Moment::Start));
                before
            }
        }
    }

    fn plan(&self, id: TaskId) -> Option<&Planned> {
        self.planned.iter().find(|planned| planned.id == id)
    }

    fn children(&self, id: TaskId) -> Vec<TaskId> {
        // Nobody waits for a child that was cancelled.
        let known =
            self.board.tasks.get(&id).into_iter().flat_map(|task| self.board.live_children(task)).map(|child| child.id);
        let planned = self.planned.iter().filter(|planned| planned.parent == Some(id)).map(|planned| planned.id);
        known.chain(planned).collect()
    }

    fn dependencies(&self, id: TaskId) -> Vec<TaskId> {
        let known = match self.plan(id) {
            Some(planned) => planned.dependencies.clone(),
            None => self.board.tasks.get(&id).map(|task| task.dependencies.clone()).unwrap_or_default(),
        };
        let extra = self.extra.filter(|(task, _)| *task == id).map(|(_, dependency)| dependency);
        known.into_iter().chain(extra).collect()
    }

    fn parent(&self, id: TaskId) -> Option<TaskId> {
        match self.plan(id) {
            Some(planned) => planned.parent,
            None => self.board.tasks.get(&id).and_then(|task| task.parent),
        }
    }
}
