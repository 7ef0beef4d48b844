//! Does nothing overlap, does no line cross a box, and is it always the same picture?

use std::collections::BTreeSet;

use board::TaskId;
use proptest::prelude::*;

use super::{Picture, Rect, Tree, Wait, layout, longest_chain};

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
