//! Where do boxes, trees and lines of the graph stand? Pure: the same tasks always make the same picture.
//!
//! A tree is a container with a grid of boxes; containers stand on shelves. Between columns, rows, containers and shelves
//! there are channels with nothing in them, and lines run in channels only. So none can pass behind a box.

mod grid;

use std::collections::{BTreeMap, BTreeSet};

use board::TaskId;

use self::grid::{Grid, layers};

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
mod tests;
