//! Which tasks does a text name? A Markdown list, or one title per line.

/// A task of the list: its title, and what stands indented below it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ListedTask {
    pub(super) title: String,
    pub(super) description: String,
}

/// Reads the tasks. If there is a list, its items are the tasks and the text around it is left out; items that are ticked off
/// are done already. Without a list every line is a task, except headings.
pub(super) fn listed_tasks(text: &str) -> Vec<ListedTask> {
    if text.lines().any(|line| item(line).is_some()) { from_list(text) } else { from_lines(text) }
}

fn from_lines(text: &str) -> Vec<ListedTask> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| ListedTask { title: line.to_owned(), description: String::new() }).collect()
}

fn from_list(text: &str) -> Vec<ListedTask> {
    let mut tasks: Vec<ListedTask> = Vec::new();
    // Below which item the lines stand: one that is ticked off takes its lines with it.
    let mut below = Below::Nothing;
    for line in text.lines() {
        match (item(line), below) {
            (Some(Item { done: true, .. }), _) => below = Below::Nothing,
            (Some(Item { title, .. }), _) => {
                tasks.push(ListedTask { title: title.to_owned(), description: String::new() });
                below = Below::Task;
            }
            (None, Below::Task) if line.trim().is_empty() || line.starts_with([' ', '\t']) => {
                if let Some(task) = tasks.last_mut() {
                    task.description.push_str(line);
                    task.description.push('\n');
                }
            }
            (None, _) => below = Below::Nothing,
        }
    }
    for task in &mut tasks {
        task.description = without_indent(&task.description);
    }
    tasks
}

#[derive(Clone, Copy)]
enum Below {
    Nothing,
    Task,
}

struct Item<'a> {
    title: &'a str,
    done: bool,
}

/// A line that is an item of a list and not indented: `- `, `* `, `+ `, `1. ` or `1) `, with or without a box.
fn item(line: &str) -> Option<Item<'_>> {
    let rest = line.strip_prefix(['-', '*', '+']).or_else(|| {
        let rest = line.trim_start_matches(|c: char| c.is_ascii_digit());
        if rest.len() == line.len() { None } else { rest.strip_prefix(['.', ')']) }
    })?;
    let title = rest.strip_prefix([' ', '\t'])?.trim();
    let (title, done) = match (title.strip_prefix("[ ]"), title.strip_prefix("[x]").or(title.strip_prefix("[X]"))) {
        (Some(title), _) => (title.trim(), false),
        (None, Some(title)) => (title.trim(), true),
        (None, None) => (title, false),
    };
    // Three dashes with spaces are a rule, and an empty item is none.
    let is_rule = title.chars().all(|c| matches!(c, '-' | '*' | ' '));
    (!is_rule).then_some(Item { title, done })
}

/// The lines without what all of them are indented by.
fn without_indent(text: &str) -> String {
    let lines = || text.lines().filter(|line| !line.trim().is_empty());
    let indent = lines().map(|line| line.len() - line.trim_start_matches([' ', '\t']).len()).min().unwrap_or(0);
    let kept: Vec<_> = text.lines().map(|line| line.get(indent..).unwrap_or("").trim_end()).collect();
    kept.join("\n").trim().to_owned()
}

#[cfg(test)]
mod tests {
    use super::listed_tasks;

    fn read(text: &str) -> Vec<(String, String)> {
        listed_tasks(text).into_iter().map(|task| (task.title, task.description)).collect()
    }

    fn tasks(expected: &[(&str, &str)]) -> Vec<(String, String)> {
        expected.iter().map(|(title, description)| ((*title).to_owned(), (*description).to_owned())).collect()
    }

    /// C7
    #[test]
    fn the_items_of_a_list_are_tasks() {
        let text = "\
# Sprint

Some words.

- [ ] Login page
  With a form.

    - and a box
- [x] Already there
  not this
* Logout

1. Numbered
2) Also

- - -
After.
";
        let expected =
            [("Login page", "With a form.\n\n  - and a box"), ("Logout", ""), ("Numbered", ""), ("Also", "")];
        assert_eq!(read(text), tasks(&expected));
    }

    /// C7
    #[test]
    fn without_a_list_every_line_is_a_task() {
        assert_eq!(read("# Head\nOne\n\n  Two -- 2\r\n"), tasks(&[("One", ""), ("Two -- 2", "")]));
        assert_eq!(read("\n \n"), []);
    }
}
