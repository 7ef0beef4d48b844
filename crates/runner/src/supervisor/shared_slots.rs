//! How many clients may the runners of several projects run together, in one process (R9)?

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use board::ProjectId;

/// Slots for clients that several projects share.
#[derive(Debug)]
pub struct SharedSlots {
    most: usize,
    taken: Mutex<BTreeMap<ProjectId, usize>>,
}

impl SharedSlots {
    pub fn new(most: usize) -> Self {
        Self { most, taken: Mutex::default() }
    }

    /// What one project may use while it holds this: nobody else takes a slot meanwhile.
    pub(super) fn share(&self, project: &ProjectId) -> Share<'_> {
        let taken = self.taken.lock().unwrap_or_else(PoisonError::into_inner);
        let others = taken.iter().filter(|(other, _)| *other != project).map(|(_, count)| count).sum();
        Share { slots: self.most.saturating_sub(others), taken }
    }
}

pub(super) struct Share<'a> {
    pub(super) slots: usize,
    taken: MutexGuard<'a, BTreeMap<ProjectId, usize>>,
}

impl Share<'_> {
    pub(super) fn take(&mut self, project: &ProjectId, count: usize) {
        self.taken.insert(project.clone(), count);
    }
}

#[cfg(test)]
mod tests {
    use super::SharedSlots;

    /// R9: what one project uses, another cannot.
    #[test]
    fn what_one_uses_another_cannot() {
        let (slots, shop, web) = (SharedSlots::new(3), "shop".parse().unwrap(), "web".parse().unwrap());
        // One after the other: whoever holds a share keeps all others out.
        let left = |project| slots.share(project).slots;
        assert_eq!(left(&shop), 3);
        slots.share(&shop).take(&shop, 2);
        assert_eq!([left(&shop), left(&web)], [3, 1]);
        slots.share(&web).take(&web, 1);
        assert_eq!([left(&shop), left(&web)], [2, 1]);
        slots.share(&shop).take(&shop, 0);
        assert_eq!(left(&web), 3);
    }
}
