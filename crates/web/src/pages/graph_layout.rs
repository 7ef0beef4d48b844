//! Where do boxes, trees and lines of the graph stand? Pure: the same tasks always make the same picture.
//!
//! A tree is a container with a grid of boxes; containers stand on shelves. Between columns, rows, containers and shelves
//! there are channels with nothing in them, and lines run in channels only. So none can pass behind a box.

use std::collections::{BTreeMap, BTreeSet};

use board::TaskId;

pub(super) const WIDTH: usize = 220;
pub(super) const HEIGHT: usize = 46;
/// Where the name of a tree stands, with a channel below it.
pub(super) const HEAD: usize = 48;
/// Half of what is above the first channel: lines from and to a whole tree begin and end here.
const PORT: usize = 18;
/// Between columns and beside them; between rows and below them.
const ACROSS: usize = 40;
const SIDE: usize = 24;
const DOWN: usize = 18;
/// Between containers, and between shelves.
const GAP: usize = 44;
/// Left of everything: for lines that pass shelves, and for those into what stands first.
const OUTER: usize = 24;
/// The pictures are about so many times as wide as high.
const SHAPE: f64 = 2.2;
/// Tasks that wait for nothing and nothing waits for stand in rows of at least so many.
const ABREAST: usize = 3;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rect {
    pub(super) x: usize,
    pub(super) y: usize,
    pub(super) width: usize,
    pub(super) height: usize,
}

/// Something that waits, from what comes first. Either end may be a task or a whole tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Wait {
    pub(super) first: TaskId,
    pub(super) then: TaskId,
}

/// Tasks that are drawn together: a tree by its top, or what is in none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Tree {
    pub(super) top: Option<TaskId>,
    pub(super) tasks: Vec<TaskId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) wait: Wait,
    pub(super) points: Vec<(usize, usize)>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Picture {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) boxes: BTreeMap<TaskId, Rect>,
    /// In the order of the trees that were given.
    pub(super) containers: Vec<Rect>,
    pub(super) lines: Vec<Line>,
}

pub(super) fn layout(trees: &[Tree], waits: &[Wait]) -> Picture {
    let grids: Vec<Grid> = trees.iter().map(|tree| Grid::of(&tree.tasks, waits)).collect();
    let plan = Plan::of(trees, grids);
    let mut waits = waits.to_vec();
    waits.sort_unstable();
    waits.dedup();
    let routes: Vec<(Wait, Route)> = waits.iter().filter_map(|wait| Some((*wait, plan.route(*wait)?))).collect();
    let lanes = Lanes::of(&routes);
    let lines = routes.iter().map(|(wait, route)| Line { wait: *wait, points: plan.points(*wait, route, &lanes) });
    let boxes = plan.cells.iter().map(|(id, cell)| (*id, plan.rect(*cell)));
    Picture {
        width: plan.containers.iter().map(|rect| rect.x + rect.width).max().unwrap_or(0) + GAP,
        height: plan.shelf_bottoms.last().map_or(0, |bottom| bottom + GAP),
        lines: lines.collect(),
        boxes: boxes.collect(),
        containers: plan.containers,
    }
}

/// Where the tasks of a tree stand in its container.
#[derive(Debug, Default)]
struct Grid {
    places: BTreeMap<TaskId, (usize, usize)>,
    columns: usize,
    rows: usize,
}

impl Grid {
    fn of(tasks: &[TaskId], waits: &[Wait]) -> Self {
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
    fn is_free(&self, row: usize, after: Option<usize>, before: usize) -> bool {
        let from = after.map_or(0, |column| column + 1);
        !self.places.values().any(|(column, at)| *at == row && (from..before).contains(column))
    }

    fn size(&self) -> (usize, usize) {
        let (columns, rows) = (self.columns.max(1), self.rows);
        let width = 2 * SIDE + columns * WIDTH + (columns - 1) * ACROSS;
        (width, HEAD + rows * (HEIGHT + DOWN))
    }
}

/// The shelf of each container with how many are left of it there, and its left side: on the first shelf with room.
fn shelve(sizes: &[(usize, usize)], right: usize) -> (Vec<(usize, usize)>, Vec<usize>) {
    let mut shelves: Vec<(usize, usize)> = Vec::new();
    let mut lefts = Vec::new();
    let mut shelved = Vec::new();
    for (width, _) in sizes {
        let shelf = shelves.iter().position(|(x, _)| x + width <= right).unwrap_or_else(|| {
            shelves.push((2 * OUTER, 0));
            shelves.len() - 1
        });
        let (x, before) = &mut shelves[shelf];
        shelved.push((shelf, *before));
        lefts.push(*x);
        (*x, *before) = (*x + width + GAP, *before + 1);
    }
    (shelved, lefts)
}

/// How many must come before each one, on the longest way. Cycles cannot be (L5), and would end.
fn layers(linked: &BTreeSet<TaskId>, waits: &[Wait]) -> BTreeMap<TaskId, usize> {
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

/// Room between things, in which lines run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Channel {
    /// Upright, left of a column of a container; after the last one, right of it.
    Column { container: usize, before: usize },
    /// Level, above a row of a container; after the last one, below it.
    Row { container: usize, before: usize },
    /// Upright, left of a container on its shelf; after the last one, right of it.
    Gap { shelf: usize, before: usize },
    /// Level, above a shelf.
    Shelf { before: usize },
    /// Upright, left of everything.
    Outer,
}

/// The channels that a line takes: upright and level in turn, the first and the last upright. None: it is straight.
type Route = Vec<Channel>;

#[derive(Clone, Copy, Debug)]
struct Cell {
    container: usize,
    column: usize,
    row: usize,
}

/// Where everything but the lines is.
#[derive(Debug)]
struct Plan {
    grids: Vec<Grid>,
    containers: Vec<Rect>,
    /// The shelf of each container, and how many are left of it there.
    shelved: Vec<(usize, usize)>,
    shelf_bottoms: Vec<usize>,
    cells: BTreeMap<TaskId, Cell>,
    tops: BTreeMap<TaskId, usize>,
}

/// An end of a line.
#[derive(Clone, Copy, Debug)]
enum End {
    Task(Cell),
    Tree(usize),
}

impl Plan {
    fn of(trees: &[Tree], grids: Vec<Grid>) -> Self {
        let sizes: Vec<(usize, usize)> = grids.iter().map(Grid::size).collect();
        let area: usize = sizes.iter().map(|(width, height)| (width + GAP) * (height + GAP)).sum();
        let widest = sizes.iter().map(|(width, _)| *width).max().unwrap_or(0);
        let right = (2 * OUTER + widest).max((area as f64 * SHAPE).sqrt() as usize);
        let (shelved, lefts) = shelve(&sizes, right);
        let shelves = shelved.iter().map(|(shelf, _)| shelf + 1).max().unwrap_or(0);
        let (mut shelf_tops, mut shelf_bottoms) = (Vec::new(), Vec::new());
        for shelf in 0..shelves {
            let on_it = shelved.iter().zip(&sizes).filter(|((on, _), _)| *on == shelf);
            let top = shelf_bottoms.last().map_or(GAP, |bottom| bottom + GAP);
            shelf_tops.push(top);
            shelf_bottoms.push(top + on_it.map(|(_, (_, height))| *height).max().unwrap_or(0));
        }
        let rect = |(((shelf, _), x), (width, height)): (((usize, usize), usize), (usize, usize))| Rect {
            x,
            y: shelf_tops[shelf],
            width,
            height,
        };
        let containers = shelved.iter().copied().zip(lefts).zip(sizes).map(rect).collect();
        let (cells, tops) = (BTreeMap::new(), BTreeMap::new());
        let mut plan = Self { grids, containers, shelved, shelf_bottoms, cells, tops };
        for (container, (tree, grid)) in trees.iter().zip(&plan.grids).enumerate() {
            plan.tops.extend(tree.top.map(|top| (top, container)));
            let cells =
                grid.places.iter().map(|(id, (column, row))| (*id, Cell { container, column: *column, row: *row }));
            plan.cells.extend(cells);
        }
        plan
    }

    fn rect(&self, cell: Cell) -> Rect {
        let container = self.containers[cell.container];
        let x = container.x + SIDE + cell.column * (WIDTH + ACROSS);
        let y = container.y + HEAD + cell.row * (HEIGHT + DOWN);
        Rect { x, y, width: WIDTH, height: HEIGHT }
    }

    fn end(&self, id: TaskId) -> Option<End> {
        let task = self.cells.get(&id).map(|cell| End::Task(*cell));
        task.or_else(|| self.tops.get(&id).map(|container| End::Tree(*container)))
    }

    /// None where an end is not drawn, or is the other's tree.
    fn route(&self, wait: Wait) -> Option<Route> {
        let (first, then) = (self.end(wait.first)?, self.end(wait.then)?);
        let (from, to) = (first.container(), then.container());
        match (first, then) {
            (End::Task(a), End::Task(b)) if from == to => Some(self.inside(a, b)),
            _ if from == to => None,
            _ => {
                let mut route = self.out_of(first);
                let last = self.into(then);
                route.extend(self.between(from, to));
                // The gap between neighbours is both the way out and the way in.
                if route.last() == last.first() {
                    route.pop();
                }
                route.extend(last);
                Some(route)
            }
        }
    }

    /// As straight as the boxes in between let it be.
    fn inside(&self, a: Cell, b: Cell) -> Route {
        let grid = &self.grids[a.container];
        let column = |before| Channel::Column { container: a.container, before };
        let onward = a.column < b.column;
        if onward && a.row == b.row && grid.is_free(a.row, Some(a.column), b.column) {
            Vec::new()
        } else if onward && grid.is_free(b.row, Some(a.column), b.column) {
            vec![column(a.column + 1)]
        } else if onward && grid.is_free(a.row, Some(a.column), b.column) {
            vec![column(b.column)]
        } else {
            let before = if b.row > a.row { b.row } else { b.row + 1 };
            vec![column(a.column + 1), Channel::Row { container: a.container, before }, column(b.column)]
        }
    }

    /// From the right of something to the gap right of its container.
    fn out_of(&self, end: End) -> Route {
        let (shelf, before) = self.shelved[end.container()];
        let gap = Channel::Gap { shelf, before: before + 1 };
        match end {
            End::Task(Cell { container, column, row }) => {
                let grid = &self.grids[container];
                if grid.is_free(row, Some(column), grid.columns) {
                    return vec![gap];
                }
                let right = Channel::Column { container, before: column + 1 };
                vec![right, Channel::Row { container, before: row + 1 }, gap]
            }
            End::Tree(_) => vec![gap],
        }
    }

    /// From the gap left of a container to the left of something in it.
    fn into(&self, end: End) -> Route {
        let (shelf, before) = self.shelved[end.container()];
        let gap = Channel::Gap { shelf, before };
        match end {
            End::Task(Cell { container, column, row }) if !self.grids[container].is_free(row, None, column) => {
                vec![gap, Channel::Row { container, before: row }, Channel::Column { container, before: column }]
            }
            End::Task(_) | End::Tree(_) => vec![gap],
        }
    }

    /// From the gap right of a container to the one left of another.
    fn between(&self, from: usize, to: usize) -> Route {
        let ((from, left), (to, right)) = (self.shelved[from], self.shelved[to]);
        let shelf = |before| Channel::Shelf { before };
        if from == to && left + 1 == right {
            Vec::new()
        } else if from == to || to == from + 1 {
            vec![shelf(from + 1)]
        } else if to + 1 == from {
            vec![shelf(from)]
        } else if to > from {
            vec![shelf(from + 1), Channel::Outer, shelf(to)]
        } else {
            vec![shelf(from), Channel::Outer, shelf(to + 1)]
        }
    }

    /// Where a channel begins and ends, across the lines in it.
    fn room(&self, channel: Channel) -> (usize, usize) {
        match channel {
            Channel::Column { container, before } => {
                let left = self.containers[container].x + SIDE;
                let (columns, step) = (self.grids[container].columns, WIDTH + ACROSS);
                if before == 0 {
                    (left - SIDE, left)
                } else if before >= columns {
                    (left + columns * step - ACROSS, left + columns * step - ACROSS + SIDE)
                } else {
                    (left + before * step - ACROSS, left + before * step)
                }
            }
            Channel::Row { container, before } => {
                let bottom = self.containers[container].y + HEAD + before * (HEIGHT + DOWN);
                (bottom - DOWN, bottom)
            }
            Channel::Gap { shelf, before } => {
                let on_shelf = |at: usize| {
                    let place = self.shelved.iter().position(|shelved| *shelved == (shelf, at));
                    place.map(|container| self.containers[container])
                };
                match before.checked_sub(1).and_then(on_shelf) {
                    Some(left) => (left.x + left.width, left.x + left.width + GAP),
                    None => (OUTER, 2 * OUTER),
                }
            }
            Channel::Shelf { before } => {
                let below = before.checked_sub(1).map_or(0, |shelf| self.shelf_bottoms[shelf]);
                (below, below + GAP)
            }
            Channel::Outer => (0, OUTER),
        }
    }

    fn points(&self, wait: Wait, route: &[Channel], lanes: &Lanes) -> Vec<(usize, usize)> {
        let (Some(first), Some(then)) = (self.end(wait.first), self.end(wait.then)) else { return Vec::new() };
        let mut points = vec![self.side(first, |rect| rect.x + rect.width)];
        for channel in route {
            let at = lanes.place(*channel, wait.first, self.room(*channel));
            let (x, y) = points[points.len() - 1];
            points.push(if channel.is_upright() { (at, y) } else { (x, at) });
        }
        let goal = self.side(then, |rect| rect.x);
        if !route.is_empty() {
            points.push((points[points.len() - 1].0, goal.1));
        }
        points.push(goal);
        points.dedup();
        points
    }

    /// The middle of an end's side.
    fn side(&self, end: End, x: impl Fn(Rect) -> usize) -> (usize, usize) {
        match end {
            End::Task(cell) => {
                let rect = self.rect(cell);
                (x(rect), rect.y + HEIGHT / 2)
            }
            End::Tree(container) => {
                let rect = self.containers[container];
                (x(rect), rect.y + PORT)
            }
        }
    }
}

impl End {
    fn container(self) -> usize {
        match self {
            Self::Task(cell) => cell.container,
            Self::Tree(container) => container,
        }
    }
}

impl Channel {
    fn is_upright(self) -> bool {
        match self {
            Self::Column { .. } | Self::Gap { .. } | Self::Outer => true,
            Self::Row { .. } | Self::Shelf { .. } => false,
        }
    }
}

/// Who runs where in a channel: all lines from one thing run together until they part.
#[derive(Debug)]
struct Lanes(BTreeMap<Channel, BTreeSet<TaskId>>);

impl Lanes {
    fn of(routes: &[(Wait, Route)]) -> Self {
        let mut lanes: BTreeMap<Channel, BTreeSet<TaskId>> = BTreeMap::new();
        for (wait, route) in routes {
            for channel in route {
                lanes.entry(*channel).or_default().insert(wait.first);
            }
        }
        Self(lanes)
    }

    fn place(&self, channel: Channel, first: TaskId, (from, to): (usize, usize)) -> usize {
        let Some(all) = self.0.get(&channel) else { return usize::midpoint(from, to) };
        let at = all.iter().position(|id| *id == first).unwrap_or(0);
        from + (to - from) * (at + 1) / (all.len() + 1)
    }
}

/// The waits on the longest chain: what must be done one after the other, at best.
pub(super) fn longest_chain(waits: &[Wait]) -> BTreeSet<Wait> {
    let ids: BTreeSet<TaskId> = waits.iter().flat_map(|wait| [wait.first, wait.then]).collect();
    let depth = layers(&ids, waits);
    let mut chain = BTreeSet::new();
    let deepest = depth.values().max().copied().unwrap_or(0);
    let mut at = depth.iter().find(|(_, depth)| **depth == deepest && deepest > 0).map(|(id, _)| *id);
    while let Some(id) = at {
        let before = waits.iter().filter(|wait| wait.then == id && depth[&wait.first] + 1 == depth[&id]).min();
        chain.extend(before);
        at = before.map(|wait| wait.first);
    }
    chain
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn tree(top: u32, tasks: &[u32]) -> Tree {
        Tree { top: Some(TaskId(top)), tasks: tasks.iter().map(|id| TaskId(*id)).collect() }
    }

    fn wait(first: u32, then: u32) -> Wait {
        Wait { first: TaskId(first), then: TaskId(then) }
    }

    fn place(picture: &Picture, id: u32) -> (usize, usize) {
        let rect = picture.boxes[&TaskId(id)];
        (rect.x, rect.y)
    }

    /// Does a line that runs level or upright come inside of a box? Its edge is not inside.
    fn runs_through(rect: Rect, (x1, y1): (usize, usize), (x2, y2): (usize, usize)) -> bool {
        let (left, right) = (x1.min(x2), x1.max(x2));
        let (top, bottom) = (y1.min(y2), y1.max(y2));
        left < rect.x + rect.width && right > rect.x && top < rect.y + rect.height && bottom > rect.y
    }

    fn overlap(a: Rect, b: Rect) -> bool {
        a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height
    }

    #[test]
    fn what_waits_stands_right_of_what_comes_first() {
        let picture = layout(&[tree(9, &[1, 2, 3])], &[wait(1, 2), wait(2, 3)]);
        assert_eq!(place(&picture, 1).1, place(&picture, 3).1, "a chain is level");
        assert!(place(&picture, 1).0 < place(&picture, 2).0 && place(&picture, 2).0 < place(&picture, 3).0);
        assert!(picture.lines.iter().all(|line| line.points.len() == 2), "and its lines are straight");
    }

    #[test]
    fn a_line_over_a_box_goes_around_it() {
        let picture = layout(&[tree(9, &[1, 2, 3])], &[wait(1, 2), wait(2, 3), wait(1, 3)]);
        let around = picture.lines.iter().find(|line| line.wait == wait(1, 3)).unwrap();
        assert_eq!(around.points.len(), 6, "{:?}", around.points);
    }

    #[test]
    fn the_longest_chain_is_found() {
        let chain = longest_chain(&[wait(1, 2), wait(2, 3), wait(1, 3), wait(4, 3)]);
        assert_eq!(chain, BTreeSet::from([wait(1, 2), wait(2, 3)]));
        assert_eq!(longest_chain(&[]), BTreeSet::new());
    }

    prop_compose! {
        /// Some trees, whose tops are above 1000, and waits from lower to higher numbers anywhere between them.
        fn trees_and_waits()(
            homes in prop::collection::vec(0_usize..6, 1..60),
            ends in prop::collection::vec((0_u32..66, 0_u32..66), 0..70),
        ) -> (Vec<Tree>, Vec<Wait>) {
            let tasks_of = |home: usize| {
                let numbered = homes.iter().enumerate().filter(|(_, of)| **of == home);
                numbered.map(|(at, _)| u32::try_from(at).unwrap()).collect::<Vec<_>>()
            };
            let trees = (0..6).map(|home| tree(1000 + u32::try_from(home).unwrap(), &tasks_of(home)));
            let last = u32::try_from(homes.len()).unwrap();
            let end = |id: u32| if id < 60 { id % last } else { 940 + id };
            let waits = ends.into_iter().map(|(a, b)| (end(a), end(b))).filter(|(a, b)| a != b);
            (trees.collect(), waits.map(|(a, b)| wait(a.min(b), a.max(b))).collect())
        }
    }

    proptest! {
        /// W11: no two boxes or containers overlap, each box is in its container and all is in the picture.
        #[test]
        fn nothing_overlaps((trees, waits) in trees_and_waits()) {
            let picture = layout(&trees, &waits);
            let boxes: Vec<Rect> = picture.boxes.values().copied().collect();
            for rects in [&boxes, &picture.containers] {
                for (at, a) in rects.iter().enumerate() {
                    prop_assert!(rects[at + 1..].iter().all(|b| !overlap(*a, *b)));
                    prop_assert!(a.x + a.width <= picture.width && a.y + a.height <= picture.height);
                }
            }
            for (tree, around) in trees.iter().zip(&picture.containers) {
                for rect in tree.tasks.iter().map(|id| picture.boxes[id]) {
                    prop_assert!(rect.x > around.x && rect.x + rect.width < around.x + around.width);
                    prop_assert!(rect.y > around.y && rect.y + rect.height < around.y + around.height);
                }
            }
        }

        /// W11: a line is level or upright, and comes inside of no box, and of no tree but those it belongs to.
        #[test]
        fn no_line_crosses_what_it_does_not_belong_to((trees, waits) in trees_and_waits()) {
            let picture = layout(&trees, &waits);
            for line in &picture.lines {
                let own = |tree: &Tree| [line.wait.first, line.wait.then].iter().any(|id| tree.top == Some(*id) || tree.tasks.contains(id));
                for pair in line.points.windows(2) {
                    let (from, to) = (pair[0], pair[1]);
                    prop_assert!(from.0 == to.0 || from.1 == to.1, "{:?}", line);
                    prop_assert!(from.0.max(to.0) <= picture.width && from.1.max(to.1) <= picture.height);
                    for (id, rect) in &picture.boxes {
                        prop_assert!(!runs_through(*rect, from, to), "{:?} runs through {}", line, id);
                    }
                    for (tree, rect) in trees.iter().zip(&picture.containers).filter(|(tree, _)| !own(tree)) {
                        prop_assert!(!runs_through(*rect, from, to), "{:?} runs through {:?}", line, tree.top);
                    }
                }
            }
        }

        /// W11: the same tasks make the same picture, in whatever order they are told.
        #[test]
        fn a_picture_is_always_the_same((trees, waits) in trees_and_waits()) {
            let turned: Vec<Wait> = waits.iter().rev().copied().collect();
            let others: Vec<Tree> = trees.iter().map(|tree| Tree { top: tree.top, tasks: tree.tasks.iter().rev().copied().collect() }).collect();
            prop_assert_eq!(layout(&trees, &waits), layout(&others, &turned));
        }
    }
}
