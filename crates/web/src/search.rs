//! Does a task match a search? One answer for pages and programs.

use board::Task;

/// Of a search, so many characters count.
const LONGEST: usize = 200;

/// Words that must all be in a title, or be the task's id; read once for all tasks.
#[derive(Debug)]
pub(super) struct Search(Vec<String>);

impl Search {
    pub(super) fn new(text: &str) -> Self {
        let text: String = text.chars().take(LONGEST).collect();
        Self(text.to_lowercase().split_whitespace().map(str::to_owned).collect())
    }

    pub(super) fn finds(&self, task: &Task) -> bool {
        if self.0.is_empty() {
            return true;
        }
        let title = task.title.to_lowercase();
        self.0.iter().all(|word| title.contains(word) || word.parse() == Ok(task.id))
    }
}
