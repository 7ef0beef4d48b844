//! What waits for what? Drawn here, as a picture with links in it: trees are boxes around their tasks.

use std::collections::{BTreeMap, BTreeSet};

use askama::Template;
use askama::filters::HtmlSafe;
use board::{Board, Language, Status, Task, TaskId};

use super::board_query::tree_of;
use super::graph_layout::{HEIGHT, Picture, Rect, Tree, WIDTH, Wait, layout, longest_chain};
use super::parts::status_word;

/// Corners of lines are as round as this.
const ROUND: usize = 5;
/// Pixels that a letter takes, about.
const LETTER: usize = 8;

#[derive(Debug, Template)]
#[template(path = "graph.html")]
pub(super) struct Graph {
    width: usize,
    height: usize,
    trees: Vec<Container>,
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    label: String,
}

impl HtmlSafe for Graph {}

#[derive(Debug)]
struct Container {
    rect: Rect,
    /// Its top; none for what is in no tree.
    top: Option<TaskId>,
    url: String,
    title: String,
    short: String,
    settled: usize,
    all: usize,
    current: bool,
}

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
    running: bool,
    current: bool,
}

#[derive(Debug)]
struct Edge {
    path: String,
    met: bool,
    /// On the longest chain of what is still open.
    chain: bool,
}

impl Graph {
    /// Draws tasks in their trees, each right of what it waits for.
    pub(super) fn draw(
        board: &Board,
        tasks: &[&Task],
        current: Option<TaskId>,
        base: &str,
        language: Language,
    ) -> Self {
        let known: BTreeMap<TaskId, &Task> = tasks.iter().map(|task| (task.id, *task)).collect();
        let trees = trees(board, &known);
        let waits: Vec<Wait> = known
            .values()
            .flat_map(|task| task.dependencies.iter().map(|first| Wait { first: *first, then: task.id }))
            .filter(|wait| known.contains_key(&wait.first))
            .collect();
        let met = |wait: &Wait| known.get(&wait.first).is_some_and(|task| task.status == Status::Done);
        let open: Vec<Wait> = waits.iter().filter(|wait| !met(wait)).copied().collect();
        let chain = longest_chain(&open);
        let Picture { width, height, boxes, containers, lines } = layout(&trees, &waits);
        let edge = |line: super::graph_layout::Line| Edge {
            path: rounded(&line.points),
            met: met(&line.wait),
            chain: chain.contains(&line.wait),
        };
        // What matters most is drawn last, above the rest.
        let mut edges: Vec<Edge> = lines.into_iter().map(edge).collect();
        edges.sort_by_key(|edge| edge.chain);
        let node = |(id, rect): (&TaskId, &Rect)| {
            let task = known[id];
            Node {
                id: *id,
                url: format!("{base}{id}"),
                x: rect.x,
                y: rect.y,
                status: task.status,
                word: status_word(task.status, language),
                title: task.title.clone(),
                short: shortened(&task.title, (WIDTH - 20) / LETTER),
                running: task.live.is_some(),
                current: current == Some(*id),
            }
        };
        let containers = trees.iter().zip(containers).filter(|(tree, _)| !tree.tasks.is_empty());
        Self {
            width,
            height,
            trees: containers.map(|(tree, rect)| container(board, tree, rect, current, base, language)).collect(),
            nodes: boxes.iter().map(node).collect(),
            edges,
            label: match language {
                Language::En => format!("{} tasks and what they wait for", known.len()),
                Language::Ja => format!("{} 件のタスクと依存関係", known.len()),
            },
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }
}

fn container(
    board: &Board,
    tree: &Tree,
    rect: Rect,
    current: Option<TaskId>,
    base: &str,
    language: Language,
) -> Container {
    let top = tree.top.and_then(|id| board.tasks.get(&id));
    let below: Vec<_> = top.map(|top| board.descendants(top)).unwrap_or_default();
    let counted = below.iter().filter_map(|id| board.tasks.get(id)).filter(|task| !task.is_step());
    let counted: Vec<bool> = counted.map(|task| task.is_settled()).collect();
    let title = match (top, language) {
        (Some(top), _) => top.title.clone(),
        (None, Language::En) => "In no tree".to_owned(),
        (None, Language::Ja) => "ツリーなし".to_owned(),
    };
    Container {
        rect,
        top: tree.top,
        url: tree.top.map(|id| format!("{base}{id}")).unwrap_or_default(),
        short: shortened(&title, rect.width.saturating_sub(70) / LETTER),
        title,
        settled: counted.iter().filter(|settled| **settled).count(),
        all: counted.len(),
        current: tree.top.is_some() && tree.top == current,
    }
}

/// The tasks by their trees, in the order of their ids; what is in none comes last. The top is not a box but the box
/// around the others, if there are any.
fn trees(board: &Board, known: &BTreeMap<TaskId, &Task>) -> Vec<Tree> {
    let mut by_top: BTreeMap<TaskId, Vec<TaskId>> = BTreeMap::new();
    let mut rest = Vec::new();
    for (id, task) in known {
        match tree_of(board, task) {
            Some(top) if top.id == *id => drop(by_top.entry(top.id).or_default()),
            Some(top) => by_top.entry(top.id).or_default().push(*id),
            None => rest.push(*id),
        }
    }
    let empty: BTreeSet<TaskId> = by_top.iter().filter(|(_, tasks)| tasks.is_empty()).map(|(top, _)| *top).collect();
    rest.extend(&empty);
    by_top.retain(|top, _| !empty.contains(top));
    let mut trees: Vec<Tree> = by_top.into_iter().map(|(top, tasks)| Tree { top: Some(top), tasks }).collect();
    if !rest.is_empty() {
        trees.push(Tree { top: None, tasks: rest });
    }
    trees
}

/// A line with round corners, as SVG has it.
fn rounded(points: &[(usize, usize)]) -> String {
    let Some(((x, y), rest)) = points.split_first() else { return String::new() };
    let mut path = format!("M{x} {y}");
    for (at, (x, y)) in rest.iter().enumerate() {
        let before = points[at];
        match rest.get(at + 1) {
            Some(after) => {
                let (x1, y1) = towards((*x, *y), before);
                let (x2, y2) = towards((*x, *y), *after);
                path.push_str(&format!(" L{x1} {y1} Q{x} {y} {x2} {y2}"));
            }
            None => path.push_str(&format!(" L{} {y}", x.saturating_sub(2))),
        }
    }
    path
}

/// A little from a corner towards another point, at most half of the way.
fn towards((x, y): (usize, usize), (to_x, to_y): (usize, usize)) -> (usize, usize) {
    let step = |from: usize, to: usize| {
        let far = from.abs_diff(to).div_euclid(2).min(ROUND);
        if to > from { from + far } else { from - far }
    };
    (step(x, to_x), step(y, to_y))
}

/// As much of a title as fits: a wide letter counts twice.
fn shortened(title: &str, room: usize) -> String {
    let mut used = 0;
    let mut short = String::new();
    for letter in title.chars() {
        used += if (letter as u32) < 0x1100 { 1 } else { 2 };
        if used > room {
            short.push('…');
            break;
        }
        short.push(letter);
    }
    short
}

#[cfg(test)]
mod tests {
    use super::{rounded, shortened};

    #[test]
    fn wide_letters_take_the_room_of_two() {
        assert_eq!(shortened("short", 25), "short");
        assert_eq!(shortened(&"a".repeat(30), 25), format!("{}…", "a".repeat(25)));
        assert_eq!(shortened(&"あ".repeat(30), 25), format!("{}…", "あ".repeat(12)));
    }

    #[test]
    fn corners_are_round_and_ends_leave_room_for_the_tip() {
        assert_eq!(rounded(&[(0, 0), (20, 0), (20, 40), (60, 40)]), "M0 0 L15 0 Q20 0 20 5 L20 35 Q20 40 25 40 L58 40");
    }
}
