//! Where do the tasks of one tree stand, each right of what it waits for?

use std::collections::{BTreeMap, BTreeSet};

use board::TaskId;

use super::{ACROSS, DOWN, HEAD, HEIGHT, SIDE, WIDTH, Wait};

/// Tasks that wait for nothing and nothing waits for stand in rows of at least so many.
const ABREAST: usize = 3;

/// Where the tasks of a tree stand in its container.
#[derive(Debug, Default)]
pub(super) struct Grid {
    pub(super) places: BTreeMap<TaskId, (usize, usize)>,
    pub(super) columns: usize,
    pub(super) rows: usize,
}

impl Grid {
    pub(super) fn of(tasks: &[TaskId], waits: &[Wait]) -> Self {
        let known: BTreeSet<TaskId> = tasks.iter().copied().collect();
        let inside: Vec<Wait> = waits
            .iter()
            .filter(|wait| wait.first != wait.then && known.contains(&wait.first) && known.contains(&wait.then))
            .copied()
            .collect();
        let linked: BTreeSet<TaskId> = inside.iter().flat_map(|wait| [wait.first, wait.then]).collect();
        let layers = layers(&linked, &inside);
        let mut grid = Self::default();
        let depth = layers.values().max().map_or(0, |last| last + 1);
        for layer in 0..depth {
            grid.place_layer(layer, &layers, &inside);
        }
        grid.columns = depth;
        grid.rows = grid.places.values().map(|(_, row)| row + 1).max().unwrap_or(0);
        let alone: Vec<TaskId> = known.difference(&linked).copied().collect();
        grid.place_rest(&alone);
        grid
    }

    /// Each beside what it waits for, or at the next free place below.
    fn place_layer(&mut self, layer: usize, layers: &BTreeMap<TaskId, usize>, inside: &[Wait]) {
        let row_of_first = |grid: &Self, id: TaskId| {
            inside
                .iter()
                .filter(|wait| wait.then == id)
                .filter_map(|wait| grid.places.get(&wait.first))
                .map(|(_, row)| *row)
                .min()
        };
        let mut column: Vec<(usize, TaskId)> = layers
            .iter()
            .filter(|(_, at)| **at == layer)
            .map(|(id, _)| (row_of_first(self, *id).unwrap_or(usize::MAX), *id))
            .collect();
        column.sort_unstable();
        let mut taken = BTreeSet::new();
        for (wanted, id) in column {
            let from = if wanted == usize::MAX { 0 } else { wanted };
            let row = (from..).find(|row| taken.insert(*row)).unwrap_or(from);
            self.places.insert(id, (layer, row));
        }
    }

    fn place_rest(&mut self, alone: &[TaskId]) {
        if alone.is_empty() {
            return;
        }
        let abreast = self.columns.max(ABREAST.min(alone.len()));
        for (at, id) in alone.iter().enumerate() {
            self.places.insert(*id, (at % abreast, self.rows + at / abreast));
        }
        self.columns = self.columns.max(abreast);
        self.rows += alone.len().div_ceil(abreast);
    }

    /// Is nothing in a row between two columns, these not counted?
    pub(super) fn is_free(&self, row: usize, after: Option<usize>, before: usize) -> bool {
        let from = after.map_or(0, |column| column + 1);
        !self.places.values().any(|(column, at)| *at == row && (from..before).contains(column))
    }

    pub(super) fn size(&self) -> (usize, usize) {
        let (columns, rows) = (self.columns.max(1), self.rows);
        let width = 2 * SIDE + columns * WIDTH + (columns - 1) * ACROSS;
        (width, HEAD + rows * (HEIGHT + DOWN))
    }
}

/// How many must come before each one, on the longest way. Cycles cannot be (L5), and would end.
pub(super) fn layers(linked: &BTreeSet<TaskId>, waits: &[Wait]) -> BTreeMap<TaskId, usize> {
    let mut layers: BTreeMap<TaskId, usize> = linked.iter().map(|id| (*id, 0)).collect();
    for _ in 0..linked.len() {
        let mut moved = false;
        for wait in waits {
            let least = layers[&wait.first] + 1;
            if layers[&wait.then] < least && least < linked.len() {
                layers.insert(wait.then, least);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    layers
}
