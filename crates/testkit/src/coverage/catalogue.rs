//! Which ids are there, and which of them does a text name?

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;

/// The ids of `requirements.md`, in its order.
#[derive(Debug, Default)]
pub(super) struct Catalogue {
    ids: Vec<String>,
    index: HashMap<String, usize>,
}

/// The ids in a text.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct CitedIds<'a> {
    pub(super) known: BTreeSet<&'a str>,
    /// Of a family that exists, such as `N2.99`: most likely a mistake.
    pub(super) unknown: BTreeSet<String>,
}

pub(super) fn is_lesson(id: &str) -> bool {
    family(id) == 'F'
}

/// The letter with which an id begins.
pub(super) fn family(id: &str) -> char {
    id.chars().next().unwrap_or_default()
}

impl Catalogue {
    /// Takes the first cell of every table row that holds an id and nothing else.
    pub(super) fn read(markdown: &str) -> Self {
        let mut catalogue = Self::default();
        for line in markdown.lines() {
            let cell = line.strip_prefix('|').and_then(|rest| rest.split('|').next()).unwrap_or_default().trim();
            let is_id = names(cell).first().is_some_and(|name| *name == (0..cell.len()));
            if is_id && !catalogue.index.contains_key(cell) {
                catalogue.index.insert(cell.to_owned(), catalogue.ids.len());
                catalogue.ids.push(cell.to_owned());
            }
        }
        catalogue
    }

    pub(super) fn ids(&self) -> impl Iterator<Item = &str> {
        self.ids.iter().map(String::as_str)
    }

    pub(super) fn find(&self, text: &str) -> CitedIds<'_> {
        let mut found = CitedIds::default();
        let mut before: Option<(usize, usize)> = None;
        for name in names(text) {
            let id = &text[name.clone()];
            let Some(&at) = self.index.get(id) else {
                if self.has_family(id) && id.ends_with(|c: char| c.is_ascii_digit()) {
                    found.unknown.insert(id.to_owned());
                }
                before = None;
                continue;
            };
            let first = before.filter(|(_, end)| is_range(&text[*end..name.start])).map(|(first, _)| first);
            let first = first.filter(|first| family(&self.ids[*first]) == family(id)).unwrap_or(at);
            found.known.extend(self.ids[first.min(at)..=at].iter().map(String::as_str));
            before = Some((at, name.end));
        }
        found
    }

    fn has_family(&self, id: &str) -> bool {
        self.ids().any(|known| family(known) == family(id))
    }
}

fn is_range(between: &str) -> bool {
    matches!(between.trim(), "-" | "–" | "—" | "to")
}

/// Where the text has something of the form `E1`, `N2.18` or `R2b`, as a word of its own.
fn names(text: &str) -> Vec<Range<usize>> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut names = Vec::new();
    let mut end = 0;
    for (start, c) in text.char_indices() {
        if start < end || !c.is_ascii_uppercase() || text[..start].ends_with(is_word) {
            continue;
        }
        let length = name_length(&text[start..]);
        if length > 0 && !text[start + length..].starts_with(is_word) {
            end = start + length;
            names.push(start..end);
        }
    }
    names
}

/// The length of the name at the beginning of the text; 0 if there is none.
fn name_length(text: &str) -> usize {
    let digits = |from: usize| text[from..].bytes().take_while(u8::is_ascii_digit).count();
    let number = digits(1);
    if number == 0 {
        return 0;
    }
    let mut length = 1 + number;
    if text[length..].starts_with('.') {
        let part = digits(length + 1);
        length += if part > 0 { 1 + part } else { 0 };
    }
    let suffix = text[length..].starts_with(|c: char| c.is_ascii_lowercase());
    length + usize::from(suffix)
}

#[cfg(test)]
mod tests {
    use super::Catalogue;

    fn catalogue() -> Catalogue {
        let ids = ["E1", "E2", "N2.1", "N2.2", "N2.3", "N2.10", "R2", "R2b", "R3", "F30", "F31", "F40"];
        Catalogue::read(&ids.map(|id| format!("| {id} | words about E2 |\n")).concat())
    }

    #[test]
    fn ids_are_the_first_cells_in_their_order() {
        let page = "# E9\n| id | what |\n|---|---|\n| L1 | see L9 |\n| E1 | x |\n| see E2 | x |\nE3\n| E1 | again |\n|R2b|x|\n";
        assert_eq!(Catalogue::read(page).ids().collect::<Vec<_>>(), ["L1", "E1", "R2b"]);
    }

    #[test]
    fn words_of_the_form_of_an_id_are_found() {
        let cases: &[(&str, &[&str], &[&str])] = &[
            ("", &[], &[]),
            ("E1", &["E1"], &[]),
            ("E1: the end of E2.", &["E1", "E2"], &[]),
            ("(N2.1), `R2b`, F40's", &["F40", "N2.1", "R2b"], &[]),
            ("N2.10 is not N2.1", &["N2.1", "N2.10"], &[]),
            ("xE1 E1x_ E1_ E E1é _E1", &[], &[]),
            ("E3, N2.99, F32 and X1, E1st", &[], &["E3", "F32", "N2.99"]),
            ("日本語E1 E2", &["E2"], &[]),
        ];
        for (text, known, unknown) in cases {
            let found = catalogue();
            let found = found.find(text);
            assert_eq!(found.known.into_iter().collect::<Vec<_>>(), *known, "{text}");
            assert_eq!(found.unknown.into_iter().collect::<Vec<_>>(), *unknown, "{text}");
        }
    }

    #[test]
    fn ranges_stand_for_all_between() {
        let cases: &[(&str, &[&str])] = &[
            ("N2.1–N2.10", &["N2.1", "N2.10", "N2.2", "N2.3"]),
            ("F30-F31", &["F30", "F31"]),
            ("F30 – F40, E1", &["E1", "F30", "F31", "F40"]),
            ("N2.2 to N2.3", &["N2.2", "N2.3"]),
            ("R2–R3", &["R2", "R2b", "R3"]),
            ("N2.1, N2.10", &["N2.1", "N2.10"]),
            ("N2.10–N2.1", &["N2.1", "N2.10"]),
            ("E1–F40", &["E1", "F40"]),
            ("E1–E9–E2", &["E1", "E2"]),
        ];
        for (text, expected) in cases {
            let catalogue = catalogue();
            let found: Vec<_> = catalogue.find(text).known.into_iter().collect();
            assert_eq!(found, *expected, "{text}");
        }
    }
}
