//! What waits for what? Drawn here, as a picture with links in it.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use askama::filters::HtmlSafe;
use board::{Board, Language, Status, Task, TaskId};

use super::parts::status_word;

const WIDTH: usize = 200;
const HEIGHT: usize = 48;
const ACROSS: usize = 72;
const DOWN: usize = 16;
const MARGIN: usize = 12;

#[derive(Debug, Template)]
#[template(path = "graph.html")]
pub(super) struct Graph {
    width: usize,
    height: usize,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    label: String,
}

impl HtmlSafe for Graph {}

#[derive(Debug)]
struct Node {
    id: TaskId,
    url: String,
    x: usize,
    y: usize,
    status: Status,
    word: &'static str,
    title: String,
    short: String,
    current: bool,
}

#[derive(Debug)]
struct Edge {
    path: String,
    /// From a part to its whole, rather than from what comes first.
    part: bool,
    met: bool,
}

impl Graph {
    /// Draws tasks from left to right, each after what it waits for.
    pub(super) fn draw(
        board: &Board,
        tasks: &[&Task],
        current: Option<TaskId>,
        base: &str,
        language: Language,
    ) -> Self {
        let known: BTreeMap<TaskId, &Task> = tasks.iter().map(|task| (task.id, *task)).collect();
        let before = |task: &Task| -> Vec<(TaskId, bool)> {
            let waits = task.dependencies.iter().filter(|id| known.contains_key(id)).map(|id| (*id, false));
            let parts = task.children.iter().filter(|id| known.contains_key(id)).map(|id| (*id, true));
            waits.chain(parts).collect()
        };
        let layers = layers(&known, &before);
        let places = place(&layers, &known, &before);
        let nodes: Vec<Node> = known
            .values()
            .map(|task| {
                let (x, y) = places[&task.id];
                Node {
                    id: task.id,
                    url: format!("{base}{}", task.id),
                    x,
                    y,
                    status: task.status,
                    word: status_word(task.status, language),
                    title: task.title.clone(),
                    short: shortened(&task.title),
                    current: current == Some(task.id),
                }
            })
            .collect();
        let edges = known.values().flat_map(|task| {
            let to = places[&task.id];
            let met = |id: &TaskId| board.tasks.get(id).is_some_and(|task| task.status == Status::Done);
            before(task).into_iter().map(move |(id, part)| (id, part, to, met(&id)))
        });
        let edges = edges.map(|(id, part, to, met)| Edge { path: curve(places[&id], to), part, met }).collect();
        let right = nodes.iter().map(|node| node.x + WIDTH).max().unwrap_or(0);
        let bottom = nodes.iter().map(|node| node.y + HEIGHT).max().unwrap_or(0);
        let label = match language {
            Language::En => format!("{} tasks and what they wait for", nodes.len()),
            Language::Ja => format!("{} 件のタスクと依存関係", nodes.len()),
        };
        Self { width: right + MARGIN, height: bottom + MARGIN, nodes, edges, label }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

/// How many tasks must come before each one, on the longest way. Cycles cannot be (L5), and would end.
fn layers(known: &BTreeMap<TaskId, &Task>, before: &dyn Fn(&Task) -> Vec<(TaskId, bool)>) -> BTreeMap<TaskId, usize> {
    let mut layers: BTreeMap<TaskId, usize> = known.keys().map(|id| (*id, 0)).collect();
    for _ in 0..known.len() {
        let mut moved = false;
        for (id, task) in known {
            let least = before(task).iter().map(|(earlier, _)| layers[earlier] + 1).max().unwrap_or(0);
            if layers[id] < least && least < known.len() {
                layers.insert(*id, least);
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    layers
}

/// Each layer is a column, in the order of the means of what comes before.
fn place(
    layers: &BTreeMap<TaskId, usize>,
    known: &BTreeMap<TaskId, &Task>,
    before: &dyn Fn(&Task) -> Vec<(TaskId, bool)>,
) -> BTreeMap<TaskId, (usize, usize)> {
    let mut places: BTreeMap<TaskId, (usize, usize)> = BTreeMap::new();
    let used: BTreeSet<usize> = layers.values().copied().collect();
    for layer in used {
        let mut column: Vec<TaskId> = layers.iter().filter(|(_, at)| **at == layer).map(|(id, _)| *id).collect();
        let mean = |id: &TaskId| {
            let rows: Vec<usize> =
                before(known[id]).iter().filter_map(|(id, _)| places.get(id)).map(|(_, y)| *y).collect();
            if rows.is_empty() { usize::MAX } else { rows.iter().sum::<usize>() / rows.len() }
        };
        column.sort_by_key(|id| (mean(id), *id));
        for (row, id) in column.into_iter().enumerate() {
            places.insert(id, (MARGIN + layer * (WIDTH + ACROSS), MARGIN + row * (HEIGHT + DOWN)));
        }
    }
    places
}

fn curve((x1, y1): (usize, usize), (x2, y2): (usize, usize)) -> String {
    let (x1, y1, y2) = (x1 + WIDTH, y1 + HEIGHT / 2, y2 + HEIGHT / 2);
    let middle = usize::midpoint(x1, x2);
    format!("M{x1} {y1} C{middle} {y1} {middle} {y2} {} {y2}", x2.saturating_sub(2))
}

/// As much of a title as fits: a wide letter counts twice.
fn shortened(title: &str) -> String {
    const ROOM: usize = 25;
    let mut used = 0;
    let mut short = String::new();
    for letter in title.chars() {
        used += if (letter as u32) < 0x1100 { 1 } else { 2 };
        if used > ROOM {
            short.push('…');
            break;
        }
        short.push(letter);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn wide_letters_take_the_room_of_two() {
        assert_eq!(shortened("short"), "short");
        assert_eq!(shortened(&"a".repeat(30)), format!("{}…", "a".repeat(25)));
        assert_eq!(shortened(&"あ".repeat(30)), format!("{}…", "あ".repeat(12)));
    }
}
