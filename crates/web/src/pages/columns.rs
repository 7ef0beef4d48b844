//! Which cards stand in which column, in which order, and which columns are folded to a count?

use std::cmp::{Ordering, Reverse};

use board::lifecycle::Move;
use board::{Actor, Board, Language, Priority, Status, Task, TaskId, Timestamp, legal_moves};

use super::board_query::{BoardQuery, Grouping, Sorting, tree_of};
use super::parts::{Note, note, priority_word, status_word};
use crate::person::Person;
use crate::remedies::move_word;

/// Cards of a column that are shown before one asks for more.
const SHOWN: usize = 50;
const MORE: usize = 500;

/// A board with more cards than this folds what nobody has to look at, as long as something is on its way.
const CALM: usize = 20;

/// What runs and what is stuck stands first, so that it is in sight in every window.
const ORDER: [Status; 7] = [
    Status::InProgress,
    Status::Blocked,
    Status::Failed,
    Status::Todo,
    Status::Backlog,
    Status::Done,
    Status::Cancelled,
];

#[derive(Debug)]
pub(super) struct Column {
    pub(super) status: Status,
    pub(super) name: &'static str,
    pub(super) count: usize,
    pub(super) groups: Vec<Group>,
    /// Where the others are shown too.
    pub(super) more_link: String,
    /// Where a narrow window shows this column, and whether it does here.
    pub(super) tab_link: String,
    pub(super) current: bool,
    pub(super) foldable: bool,
    pub(super) folded: bool,
}

/// Cards that are put together; all of a column's, where nothing is asked for.
#[derive(Debug)]
pub(super) struct Group {
    pub(super) name: String,
    pub(super) link: Option<TaskId>,
    /// How many of the column belong here, shown or not.
    pub(super) count: usize,
    pub(super) cards: Vec<Card>,
}

impl Column {
    pub(super) fn left(&self) -> usize {
        if self.folded { 0 } else { self.count - self.groups.iter().map(|group| group.cards.len()).sum::<usize>() }
    }
}

/// A task on the board.
#[derive(Debug)]
pub(super) struct Card {
    pub(super) id: TaskId,
    pub(super) title: String,
    pub(super) parent: Option<String>,
    pub(super) assignee: Option<String>,
    pub(super) priority: Priority,
    pub(super) priority_word: &'static str,
    pub(super) running: bool,
    /// How many of its children are settled, and how many there are.
    pub(super) children: Option<(usize, usize)>,
    pub(super) note: Option<Note>,
    pub(super) moves: Vec<MoveButton>,
}

impl Card {
    /// Where it can be dragged, for the script: `start:in_progress:: block:blocked:reason:`.
    pub(super) fn drops(&self) -> String {
        let said = |m: &MoveButton| {
            let (reason, later) = (if m.needs_reason { "reason" } else { "" }, if m.later { "later" } else { "" });
            format!("{}:{}:{reason}:{later}", m.name, m.to)
        };
        self.moves.iter().map(said).collect::<Vec<_>>().join(" ")
    }
}

/// A move that would be admitted now.
#[derive(Debug)]
pub(super) struct MoveButton {
    pub(super) name: &'static str,
    pub(super) word: &'static str,
    pub(super) to: Status,
    pub(super) needs_reason: bool,
    /// A retry that only puts the task back.
    pub(super) later: bool,
}

impl MoveButton {
    /// The moves that a person may make; none for a viewer.
    pub(super) fn all(board: &Board, person: &Person, task: &Task, merged: bool, now: Timestamp) -> Vec<Self> {
        if !person.is_owner() {
            return Vec::new();
        }
        let actor: Actor = person.actor();
        let button = |offer: board::LegalMove| Self {
            name: offer.name.as_str(),
            word: move_word(offer.name, person.language),
            to: offer.to,
            needs_reason: offer.needs_reason,
            later: false,
        };
        legal_moves(board, &actor, task, merged, now)
            .into_iter()
            .flat_map(|offer| match offer.name {
                // A retry starts at once, unless one chooses otherwise (L12).
                Move::Retry => {
                    let now = Self { to: Status::InProgress, ..button(offer) };
                    let word = person.say("Retry later", "後で再試行");
                    vec![now, Self { word, later: true, ..button(offer) }]
                }
                _ => vec![button(offer)],
            })
            .collect()
    }

    /// Tells it from the other buttons of the task, whatever stands beside it.
    pub(super) fn key(&self) -> String {
        format!("{}{}", self.name, if self.later { "-later" } else { "" })
    }

    /// Is it what one most likely comes for?
    pub(super) fn is_first(&self) -> bool {
        matches!(self.name, "start" | "retry" | "unblock") && !self.later
    }
}

pub(super) fn card(board: &Board, person: &Person, task: &Task, now: Timestamp) -> Card {
    let children = board.live_children(task).count();
    let settled = board.live_children(task).filter(|child| child.is_settled()).count();
    let parent = task.parent.and_then(|id| board.tasks.get(&id));
    Card {
        id: task.id,
        title: task.title.clone(),
        parent: parent.map(|parent| parent.title.clone()),
        assignee: task.assignee.as_ref().map(ToString::to_string),
        priority: task.priority,
        priority_word: priority_word(task.priority, person.language),
        running: task.live.is_some(),
        children: (children > 0).then_some((settled, children)),
        note: note(board, task, now, person),
        moves: MoveButton::all(board, person, task, false, now),
    }
}

/// Which columns are folded.
#[derive(Debug)]
pub(super) enum Folds {
    /// None can be.
    Never,
    /// As the browser remembers it: `done.-todo` folds one and opens the other, and the rest is as the board is.
    Remembered(Option<String>),
}

impl Folds {
    fn takes(&self, wanted: &BoardQuery, status: Status, busy: bool) -> bool {
        let Self::Remembered(cookie) = self else { return false };
        let named = |list: &str, word: &str| list.split('.').any(|one| one == word);
        if !is_idle(status) {
            return false;
        }
        if let Some(page) = &wanted.folded {
            return named(page, status.as_str());
        }
        if wanted.asks_for(status) || wanted.more == Some(status) || wanted.tab == Some(status) {
            return false;
        }
        match cookie {
            Some(cookie) if named(cookie, status.as_str()) => true,
            Some(cookie) if named(cookie, &format!("-{status}")) => false,
            Some(_) | None => busy,
        }
    }
}

/// Does nobody have to look at what has this status?
fn is_idle(status: Status) -> bool {
    match status {
        Status::Backlog | Status::Todo | Status::Done | Status::Cancelled => true,
        Status::InProgress | Status::Blocked | Status::Failed => false,
    }
}

/// The tasks by status, with the order and the groups that are wanted.
pub(super) fn columns(
    board: &Board,
    tasks: Vec<&Task>,
    wanted: &BoardQuery,
    folds: &Folds,
    card: &dyn Fn(&Task) -> Card,
    language: Language,
) -> Vec<Column> {
    let busy = tasks.len() > CALM && tasks.iter().any(|task| !is_idle(task.status));
    let mut by_status: Vec<(Status, Vec<&Task>)> = ORDER.iter().map(|status| (*status, Vec::new())).collect();
    for task in tasks {
        if let Some((_, column)) = by_status.iter_mut().find(|(status, _)| *status == task.status) {
            column.push(task);
        }
    }
    let shown = |(status, tasks): (Status, Vec<&Task>)| {
        let folded = folds.takes(wanted, status, busy);
        let most = if wanted.more == Some(status) { MORE } else { SHOWN };
        let count = tasks.len();
        let groups = if folded { Vec::new() } else { groups(board, tasks, wanted, most, card, language) };
        let more_link = if wanted.more == Some(status) || matches!(folds, Folds::Never) {
            String::new()
        } else {
            wanted.link(&[("more", status.as_str())])
        };
        let tab_link = wanted.link(&[("tab", status.as_str())]);
        let foldable = is_idle(status) && !matches!(folds, Folds::Never);
        let name = status_word(status, language);
        Column { status, name, count, groups, more_link, tab_link, current: false, foldable, folded }
    };
    // A column is left out while nothing is in it.
    let rare = |status| matches!(status, Status::Failed | Status::Cancelled | Status::Blocked);
    let asked = |status| wanted.status.is_empty() || wanted.asks_for(status);
    let worth = |column: &Column| column.count > 0 || (asked(column.status) && !rare(column.status));
    let mut columns: Vec<Column> = by_status.into_iter().map(shown).filter(worth).collect();
    let current = current(&columns, wanted);
    if let Some(column) = columns.get_mut(current) {
        column.current = true;
    }
    columns
}

/// Which column a narrow window shows: the one that was chosen, else the first that has something.
fn current(columns: &[Column], wanted: &BoardQuery) -> usize {
    let chosen = wanted.tab.or(wanted.at);
    let chosen = columns.iter().position(|column| Some(column.status) == chosen);
    chosen.or_else(|| columns.iter().position(|column| column.count > 0 && !column.folded)).unwrap_or(0)
}

/// What the page must say when it is fetched again, so that nothing folds, unfolds or goes by itself.
pub(super) fn kept(columns: &[Column]) -> String {
    let folded: Vec<_> = columns.iter().filter(|column| column.folded).map(|column| column.status.as_str()).collect();
    let at = columns.iter().find(|column| column.current).map_or("", |column| column.status.as_str());
    format!("folded={}&at={at}", folded.join("."))
}

/// At most so many cards of a column, in their groups. What comes first in a group is its name's order.
fn groups(
    board: &Board,
    tasks: Vec<&Task>,
    wanted: &BoardQuery,
    most: usize,
    card: &dyn Fn(&Task) -> Card,
    language: Language,
) -> Vec<Group> {
    let mut placed: Vec<(GroupKey<'_>, &Task)> =
        tasks.into_iter().map(|task| (GroupKey::of(board, task, wanted.group), task)).collect();
    placed.sort_by(|(left, a), (right, b)| left.cmp(right).then_with(|| order(wanted.sort, a, b)));
    let mut groups = Vec::new();
    let mut room = most;
    for of_group in placed.chunk_by(|(left, _), (right, _)| left == right) {
        if room == 0 {
            break;
        }
        let cards: Vec<Card> = of_group.iter().take(room).map(|(_, task)| card(task)).collect();
        room -= cards.len();
        let (key, _) = &of_group[0];
        groups.push(Group { name: key.name(wanted.group, language), link: key.link(), count: of_group.len(), cards });
    }
    groups
}

/// Where a group stands among the others: what belongs to none comes last.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum GroupKey<'a> {
    Tree(Reverse<Priority>, TaskId, &'a str),
    Agent(&'a str),
    Rest,
}

impl<'a> GroupKey<'a> {
    fn of(board: &'a Board, task: &'a Task, grouping: Grouping) -> Self {
        match grouping {
            Grouping::Nothing => Self::Rest,
            Grouping::Tree => tree_of(board, task)
                .map_or(Self::Rest, |top| Self::Tree(Reverse(top.priority), top.id, top.title.as_str())),
            Grouping::Agent => task.assignee.as_ref().map_or(Self::Rest, |agent| Self::Agent(agent.as_str())),
        }
    }

    fn name(&self, grouping: Grouping, language: Language) -> String {
        match (self, grouping, language) {
            (Self::Tree(_, _, title), _, _) => (*title).to_owned(),
            (Self::Agent(agent), _, _) => (*agent).to_owned(),
            (Self::Rest, Grouping::Nothing, _) => String::new(),
            (Self::Rest, Grouping::Tree, Language::En) => "In no tree".into(),
            (Self::Rest, Grouping::Tree, Language::Ja) => "ツリーなし".into(),
            (Self::Rest, Grouping::Agent, Language::En) => "Nobody".into(),
            (Self::Rest, Grouping::Agent, Language::Ja) => "担当者なし".into(),
        }
    }

    fn link(&self) -> Option<TaskId> {
        match self {
            Self::Tree(_, id, _) => Some(*id),
            Self::Agent(_) | Self::Rest => None,
        }
    }
}

/// Two cards of a column: what runs comes first.
fn order(sorting: Sorting, a: &Task, b: &Task) -> Ordering {
    let running = |task: &Task| task.live.is_none();
    let by = match sorting {
        Sorting::Urgent => match a.status {
            Status::Done | Status::Cancelled | Status::Failed => b.status_at.cmp(&a.status_at),
            Status::Backlog | Status::Todo | Status::InProgress | Status::Blocked => {
                b.priority.cmp(&a.priority).then(a.id.cmp(&b.id))
            }
        },
        Sorting::Changed => b.updated_at.cmp(&a.updated_at),
        Sorting::Newest => b.id.cmp(&a.id),
        Sorting::Title => a.title.to_lowercase().cmp(&b.title.to_lowercase()),
    };
    running(a).cmp(&running(b)).then(by).then(b.id.cmp(&a.id))
}

#[cfg(test)]
mod tests {
    use board::Status;

    use super::{BoardQuery, Folds, kept};

    fn folded(folds: &Folds, wanted: &BoardQuery, busy: bool) -> Vec<Status> {
        Status::ALL.iter().copied().filter(|status| folds.takes(wanted, *status, busy)).collect()
    }

    /// W11: only idle columns fold: as the page has them, else where they are not asked for, as the browser remembers,
    /// and else while there is much to look at.
    #[test]
    fn who_folds_a_column() {
        let idle = [Status::Backlog, Status::Todo, Status::Done, Status::Cancelled];
        let (none, cookie) = (Folds::Remembered(None), Folds::Remembered(Some("done.-todo.failed".into())));
        let any = BoardQuery::default();
        assert_eq!(folded(&none, &any, true), idle);
        assert_eq!(folded(&none, &any, false), []);
        assert_eq!(folded(&cookie, &any, true), [Status::Backlog, Status::Done, Status::Cancelled]);
        assert_eq!(folded(&cookie, &any, false), [Status::Done]);
        let asked = BoardQuery { tab: Some(Status::Done), ..BoardQuery::default() };
        assert_eq!(folded(&cookie, &asked, false), []);
        let page = BoardQuery { folded: Some("backlog".into()), ..asked };
        assert_eq!(folded(&cookie, &page, true), [Status::Backlog]);
        assert_eq!(folded(&Folds::Never, &page, true), []);
    }

    /// W13: a page without columns keeps nothing up.
    #[test]
    fn what_is_kept_of_no_columns_is_nothing() {
        assert_eq!(kept(&[]), "folded=&at=");
    }
}
