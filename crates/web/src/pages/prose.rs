//! How is what people and agents write shown? As Markdown, with nothing in it that could do harm, and with the tasks that
//! it names as links that say how they stand.

use std::fmt;
use std::fmt::Write as _;

use askama::filters::HtmlSafe;
use board::{Board, TaskId};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

use super::parts::status_word;
use crate::person::Person;

/// Text as a page shows it: escaped, but for what is made here.
#[derive(Clone, Debug)]
pub(super) struct Prose(String);

impl fmt::Display for Prose {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl HtmlSafe for Prose {}

/// What tasks that are named are looked up on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Named<'a> {
    pub(super) board: &'a Board,
    pub(super) person: &'a Person,
}

impl Named<'_> {
    /// Markdown. HTML in it is text, images are their description, and links lead to http, mail and our own pages only.
    pub(super) fn markdown(self, text: &str) -> Prose {
        let text = board::clean(text);
        let parser = Parser::new_ext(&text, Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS);
        let mut links = Vec::new();
        let mut quoted = 0_usize;
        let events = parser.map(|event| match event {
            Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
            Event::SoftBreak => Event::HardBreak,
            Event::Start(Tag::CodeBlock(_)) => {
                quoted += 1;
                Event::Html("<pre tabindex=\"0\">".into())
            }
            Event::End(TagEnd::CodeBlock) => {
                quoted -= 1;
                Event::Html("</pre>\n".into())
            }
            // Headings are the page's.
            Event::Start(Tag::Heading { .. }) => Event::Html("<p><strong>".into()),
            Event::End(TagEnd::Heading(_)) => Event::Html("</strong></p>\n".into()),
            Event::Start(Tag::HtmlBlock) => Event::Html("<p>".into()),
            Event::End(TagEnd::HtmlBlock) => Event::Html("</p>\n".into()),
            Event::Start(Tag::Image { .. }) | Event::End(TagEnd::Image) => Event::Text("".into()),
            Event::Start(Tag::Link { dest_url, .. }) => {
                let safe = leads_somewhere_safe(&dest_url);
                links.push(safe);
                if safe { Event::Html(link_to(&dest_url)) } else { Event::Text("".into()) }
            }
            Event::End(TagEnd::Link) => match links.pop() {
                Some(true) => Event::Html("</a>".into()),
                Some(false) | None => Event::Text("".into()),
            },
            Event::Text(text) if links.is_empty() && quoted == 0 => Event::Html(self.with_tasks(&text).into()),
            other => other,
        });
        let mut page = String::with_capacity(text.len() + 64);
        html::push_html(&mut page, events);
        Prose(page)
    }

    /// Text without Markdown, on one line or several.
    pub(super) fn plain(self, text: &str) -> Prose {
        Prose(self.with_tasks(&board::clean(text)))
    }

    /// Escapes a text, and makes a link of each task that it names.
    fn with_tasks(self, text: &str) -> String {
        let mut said = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(at) = rest.find("tsk_") {
            let digits = rest[at + 4..].bytes().take_while(u8::is_ascii_digit).count();
            let end = at + 4 + digits;
            let begins = !rest[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
            let ends = !rest[end..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
            escape(&mut said, &rest[..at]);
            let named = &rest[at..end];
            match named.parse::<TaskId>() {
                Ok(id) if begins && ends => self.task(&mut said, id, named),
                Ok(_) | Err(_) => escape(&mut said, named),
            }
            rest = &rest[end..];
        }
        escape(&mut said, rest);
        said
    }

    fn task(self, said: &mut String, id: TaskId, named: &str) {
        let Some(task) = self.board.tasks.get(&id) else { return escape(said, named) };
        let word = status_word(task.status, self.person.language);
        let mut title = String::new();
        escape(&mut title, &format!("{word}: {}", board::one_line(&task.title)));
        let written = write!(
            said,
            "<a class=\"ref\" href=\"/p/{}/tasks/{id}\" title=\"{title}\"><span class=\"dot {}\"></span>{id}<span \
             class=\"hidden\"> {word}</span></a>",
            self.board.settings.id, task.status
        );
        written.expect("writing to a string does not fail");
    }
}

/// To another site by http, to a mailbox, or to a page of ours.
fn leads_somewhere_safe(url: &str) -> bool {
    let lower = url.trim().to_ascii_lowercase();
    let ours = lower.starts_with('/') && !lower.starts_with("//") && !lower.contains('\\');
    ours || ["http://", "https://", "mailto:"].iter().any(|scheme| lower.starts_with(scheme))
}

fn link_to(url: &str) -> CowStr<'static> {
    let mut said = String::from("<a rel=\"noreferrer nofollow\" href=\"");
    escape(&mut said, url.trim());
    said.push_str("\">");
    said.into()
}

fn escape(said: &mut String, text: &str) {
    for c in text.chars() {
        match c {
            '&' => said.push_str("&amp;"),
            '<' => said.push_str("&lt;"),
            '>' => said.push_str("&gt;"),
            '"' => said.push_str("&quot;"),
            '\'' => said.push_str("&#39;"),
            other => said.push(other),
        }
    }
}
