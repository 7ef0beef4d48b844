//! What do the lines between `---` at the head of an entry say?

use crate::fields::Fields;
use crate::problem::{ProblemReport, SourceLocation};
use crate::values;
use crate::yaml;

/// All of it is optional, and other keys are for other programs.
#[derive(Debug, Default)]
pub(super) struct FrontMatter {
    pub(super) title: Option<String>,
    pub(super) category: Option<String>,
    pub(super) summary: Option<String>,
}

/// The front matter and the text that follows it.
pub(super) fn split<'t>(text: &'t str, report: &mut ProblemReport) -> (FrontMatter, &'t str) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut lines = text.split_inclusive('\n');
    let Some(first) = lines.next().filter(|line| line.trim_end() == "---") else {
        return (FrontMatter::default(), text);
    };
    let mut end = first.len();
    for line in lines {
        if line.trim_end() == "---" {
            let front = read(&text[first.len()..end], report);
            return (front, &text[end + line.len()..]);
        }
        end += line.len();
    }
    report.at(SourceLocation { line: 1, column: 1 }, "the front matter has no closing `---`");
    (FrontMatter::default(), &text[first.len()..])
}

fn read(source: &str, report: &mut ProblemReport) -> FrontMatter {
    if source.trim().is_empty() {
        return FrontMatter::default();
    }
    // One line more, so that problems name the lines of the file.
    let Some(node) = yaml::parse(&format!("\n{source}"), report) else {
        return FrontMatter::default();
    };
    let Some(mut fields) = Fields::open_any("the front matter", node, report) else {
        return FrontMatter::default();
    };
    FrontMatter {
        title: fields.text("title", values::non_blank),
        category: fields.text("category", values::line),
        summary: fields.text("summary", values::non_blank),
    }
}
