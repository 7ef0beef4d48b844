//! What does a browser need that has an earlier text of a page, in order to have the newer one?

use std::collections::HashMap;

use serde::Serialize;

/// A part of the newer text, in its order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub(crate) enum Part<'a> {
    /// So many lines of the earlier text, from this one on.
    Earlier(usize, usize),
    /// Lines that the earlier text does not have where they are needed.
    New(Vec<&'a str>),
}

/// Takes each line from the earlier text where it can: the next one there, the one after that, or else any that is the
/// same. One look at each line, however the texts differ; lines that were moved are not sent again.
pub(crate) fn changes<'a>(earlier: &str, newer: &'a str) -> Vec<Part<'a>> {
    let lines: Vec<&str> = earlier.split('\n').collect();
    let mut places: HashMap<&str, usize> = HashMap::with_capacity(lines.len());
    for (place, line) in lines.iter().enumerate() {
        places.entry(line).or_insert(place);
    }
    let mut parts = Vec::new();
    let mut next = 0;
    for line in newer.split('\n') {
        let same = |place: &usize| lines.get(*place) == Some(&line);
        let found = [next, next + 1].into_iter().find(same).or_else(|| places.get(line).copied());
        match (found, parts.last_mut()) {
            (Some(place), Some(Part::Earlier(from, count))) if *from + *count == place => *count += 1,
            (Some(place), _) => parts.push(Part::Earlier(place, 1)),
            (None, Some(Part::New(lines))) => lines.push(line),
            (None, _) => parts.push(Part::New(vec![line])),
        }
        next = found.map_or(next, |place| place + 1);
    }
    parts
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Part, changes};

    /// As `live.js` does it.
    fn rebuilt(earlier: &str, parts: &[Part<'_>]) -> String {
        let lines: Vec<&str> = earlier.split('\n').collect();
        let taken = parts.iter().flat_map(|part| match part {
            Part::Earlier(from, count) => lines[*from..from + count].to_vec(),
            Part::New(lines) => lines.clone(),
        });
        taken.collect::<Vec<_>>().join("\n")
    }

    /// W5, W11: one changed line among many costs that line.
    #[test]
    fn only_the_line_that_changed_is_sent() {
        let parts = changes("head\n<li>\na\n</li>\n<li>\nb\n</li>", "head\n<li>\na\n</li>\n<li>\nc\n</li>");
        assert_eq!(parts, [Part::Earlier(0, 5), Part::New(vec!["c"]), Part::Earlier(6, 1)]);
    }

    /// W11: a card that goes to another column is not sent again.
    #[test]
    fn what_moved_is_taken_from_where_it_was() {
        assert_eq!(changes("a\nb\nc", "c\na\nb"), [Part::Earlier(2, 1), Part::Earlier(0, 2)]);
        assert_eq!(changes("a\nb", "a\nb"), [Part::Earlier(0, 2)]);
    }

    proptest! {
        /// W5: whatever the texts are, the browser comes to have the newer one.
        #[test]
        fn the_newer_text_is_always_rebuilt(earlier in "[abc\n]{0,60}", newer in "[abcé\n]{0,60}") {
            let parts = changes(&earlier, &newer);
            prop_assert_eq!(rebuilt(&earlier, &parts), newer);
        }
    }
}
