//! Which tasks does the board show, and how? What its address says; links are addresses too.

use board::{Board, Status, Task};
use serde::Deserialize;

use crate::search::Search;

/// What is looked for. Everything is in the address, so that a view can be kept and sent.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct BoardQuery {
    pub(super) view: View,
    pub(super) q: String,
    pub(super) status: String,
    pub(super) assignee: String,
    pub(super) label: String,
    pub(super) priority: String,
    pub(super) group: Grouping,
    pub(super) sort: Sorting,
    /// The column that is to be shown at length.
    pub(super) more: Option<Status>,
    /// The column that a narrow window shows: chosen by a link, and as the page had it.
    pub(super) tab: Option<Status>,
    pub(super) at: Option<Status>,
    /// The columns that the page has folded: no change folds or unfolds one by itself (W13).
    pub(super) folded: Option<String>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum View {
    #[default]
    Columns,
    Tree,
    Graph,
}

impl View {
    fn as_str(self) -> &'static str {
        match self {
            Self::Columns => "columns",
            Self::Tree => "tree",
            Self::Graph => "graph",
        }
    }
}

/// What the cards of a column are put together by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grouping {
    #[default]
    #[serde(rename = "")]
    Nothing,
    Tree,
    Agent,
}

impl Grouping {
    pub(super) const ALL: [Self; 3] = [Self::Nothing, Self::Tree, Self::Agent];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Nothing => "",
            Self::Tree => "tree",
            Self::Agent => "agent",
        }
    }
}

/// The order of the cards, after what is running.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Sorting {
    /// What is open by priority, what is over by its age.
    #[default]
    #[serde(rename = "")]
    Urgent,
    Changed,
    Newest,
    Title,
}

impl Sorting {
    pub(super) const ALL: [Self; 4] = [Self::Urgent, Self::Changed, Self::Newest, Self::Title];

    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Urgent => "",
            Self::Changed => "changed",
            Self::Newest => "newest",
            Self::Title => "title",
        }
    }
}

impl BoardQuery {
    pub(super) fn takes(&self, search: &Search, task: &Task) -> bool {
        search.finds(task)
            && self.takes_status(task.status)
            && (self.assignee.is_empty() || task.assignee.as_ref().is_some_and(|agent| agent.as_str() == self.assignee))
            && (self.label.is_empty() || task.labels.contains(&self.label))
            && (self.priority.is_empty() || task.priority.as_str() == self.priority)
    }

    fn takes_status(&self, status: Status) -> bool {
        match self.status.as_str() {
            "" => true,
            "unsettled" => !status.is_settled(),
            word => status.as_str() == word,
        }
    }

    /// Is this the only status that is looked for?
    pub(super) fn asks_for(&self, status: Status) -> bool {
        self.status == status.as_str()
    }

    /// How many filters there are besides the search.
    pub(super) fn filters(&self) -> usize {
        [&self.status, &self.assignee, &self.label, &self.priority].iter().filter(|word| !word.is_empty()).count()
    }

    pub(super) fn any(&self) -> bool {
        self.filters() > 0 || !self.q.is_empty()
    }

    pub(super) fn is(&self, view: &str) -> bool {
        view == self.view.as_str()
    }

    /// The same with some words changed, as the query of a link.
    pub(super) fn link(&self, changed: &[(&str, &str)]) -> String {
        let own = [
            ("view", self.view.as_str()),
            ("q", &self.q),
            ("status", &self.status),
            ("assignee", &self.assignee),
            ("label", &self.label),
            ("priority", &self.priority),
            ("group", self.group.as_str()),
            ("sort", self.sort.as_str()),
        ];
        let kept = own.iter().filter(|(key, _)| !changed.iter().any(|(other, _)| other == key));
        let said = kept.chain(changed).filter(|(key, word)| !word.is_empty() && (*key, *word) != ("view", "columns"));
        let pairs: Vec<_> = said.map(|(key, word)| format!("{key}={}", encoded(word))).collect();
        format!("?{}", pairs.join("&"))
    }

    /// A link to another view of what is found.
    pub(super) fn view_link(&self, view: &str) -> String {
        self.link(&[("view", view)])
    }
}

/// As a query wants it.
pub(super) fn encoded(text: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.~".contains(&byte);
    text.bytes().map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") }).collect()
}

/// The top of the tree that a task belongs to; none for a task that stands alone.
pub(super) fn tree_of<'a>(board: &'a Board, task: &'a Task) -> Option<&'a Task> {
    board.ancestors(task).last().or((!task.children.is_empty()).then_some(task))
}

#[cfg(test)]
mod tests {
    use super::{BoardQuery, encoded};

    #[test]
    fn a_link_keeps_what_it_does_not_change() {
        let wanted = BoardQuery { q: "a b".into(), status: "failed".into(), ..BoardQuery::default() };
        assert_eq!(wanted.link(&[]), "?q=a%20b&status=failed");
        assert_eq!(wanted.view_link("tree"), "?q=a%20b&status=failed&view=tree");
        assert_eq!(wanted.link(&[("status", ""), ("more", "todo")]), "?q=a%20b&more=todo");
    }

    #[test]
    fn a_word_in_a_link_stays_one_word() {
        assert_eq!(encoded("a&b=ü"), "a%26b%3D%C3%BC");
    }
}
