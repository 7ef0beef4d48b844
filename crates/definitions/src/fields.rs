//! What is the value of each key of a mapping? Mistakes are reported, and reading continues.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;

use crate::problem::{ProblemReport, SourceLocation};
use crate::values;
use crate::yaml::{Node, Value};

/// A mapping whose keys have been checked.
#[derive(Debug)]
pub(crate) struct Fields<'r> {
    location: SourceLocation,
    entries: Vec<Field>,
    pub(crate) report: &'r mut ProblemReport,
}

#[derive(Debug)]
struct Field {
    key: String,
    location: SourceLocation,
    node: Node,
}

/// A check of a text that says what is wrong with it.
type TextCheck = fn(&str) -> Result<(), String>;

impl<'r> Fields<'r> {
    /// A mapping that may have only the `known` keys.
    pub(crate) fn open(what: &str, node: Node, known: &[&str], report: &'r mut ProblemReport) -> Option<Self> {
        let fields = Self::open_any(what, node, report)?;
        for field in fields.entries.iter().filter(|field| !known.contains(&field.key.as_str())) {
            let message = format!("unknown key `{}`", field.key.escape_debug());
            fields.report.hinted(field.location, message, suggestion(&field.key, known));
        }
        Some(fields)
    }

    /// A mapping whose keys are not a closed set.
    pub(crate) fn open_any(what: &str, node: Node, report: &'r mut ProblemReport) -> Option<Self> {
        let Value::Map(pairs) = node.value else {
            report.at(node.location, format!("{what} must be a mapping, not {}", node.describe()));
            return None;
        };
        let mut entries = Vec::new();
        for (key, node) in pairs {
            match key.value {
                Value::Scalar(text) => entries.push(Field { key: text, location: key.location, node }),
                Value::Null | Value::List(_) | Value::Map(_) => {
                    report.at(key.location, format!("a key must be text, not {}", key.describe()));
                }
            }
        }
        Some(Self { location: node.location, entries, report })
    }

    pub(crate) fn keys(&self) -> Vec<(String, SourceLocation)> {
        self.entries.iter().map(|field| (field.key.clone(), field.location)).collect()
    }

    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|field| field.key == key)
    }

    pub(crate) fn is_mapping(&self, key: &str) -> bool {
        self.entries.iter().any(|field| field.key == key && matches!(field.node.value, Value::Map(_)))
    }

    /// Where the key is; where the mapping is if it has no such key.
    pub(crate) fn location(&self, key: &str) -> SourceLocation {
        self.entries.iter().find(|field| field.key == key).map_or(self.location, |field| field.location)
    }

    pub(crate) fn require(&mut self, key: &str) {
        if !self.has(key) {
            self.report.at(self.location, format!("missing key `{key}`"));
        }
    }

    pub(crate) fn text(&mut self, key: &str, rule: TextCheck) -> Option<String> {
        self.scalar(key, "text", |text| rule(text).map(|()| text.to_owned()))
    }

    /// One of a closed set of words, or an id.
    pub(crate) fn parsed<T: FromStr<Err: Display>>(&mut self, key: &str) -> Option<T> {
        let node = self.node(key)?;
        let Value::Scalar(text) = &node.value else {
            return self.wrong(&node, key, "text");
        };
        text.parse().map_err(|error| self.report.at(node.location, format!("`{key}`: {error}"))).ok()
    }

    /// The default if the key is not there; `None` if its word is not one.
    pub(crate) fn parsed_or<T: FromStr<Err: Display>>(&mut self, key: &str, default: T) -> Option<T> {
        if self.has(key) { self.parsed(key) } else { Some(default) }
    }

    pub(crate) fn count(&mut self, key: &str, range: RangeInclusive<u32>) -> Option<u32> {
        self.scalar(key, "a whole number", |text| values::count(text, range))
    }

    pub(crate) fn tokens(&mut self, key: &str) -> Option<u64> {
        self.scalar(key, "a number of tokens", values::tokens)
    }

    /// Dollars, in millionths of one; `least` is too.
    pub(crate) fn dollars(&mut self, key: &str, least: u64) -> Option<u64> {
        self.scalar(key, "an amount in dollars", |text| values::dollars(text, least))
    }

    pub(crate) fn seconds(&mut self, key: &str, least: u64) -> Option<u64> {
        self.scalar(key, "a length of time", |text| values::seconds(text, least))
    }

    pub(crate) fn texts(&mut self, key: &str, rule: TextCheck) -> Option<Vec<String>> {
        let mut texts = Vec::new();
        for node in self.items(key)? {
            let Value::Scalar(text) = &node.value else {
                self.wrong::<()>(&node, key, "a list of texts");
                continue;
            };
            match rule(text) {
                Ok(()) => texts.push(text.clone()),
                Err(wrong) => self.report.at(node.location, format!("`{key}` {wrong}")),
            }
        }
        Some(texts)
    }

    pub(crate) fn items(&mut self, key: &str) -> Option<Vec<Node>> {
        let node = self.node(key)?;
        match node.value {
            Value::List(items) => Some(items),
            Value::Null | Value::Scalar(_) | Value::Map(_) => self.wrong(&node, key, "a list"),
        }
    }

    pub(crate) fn fields(&mut self, key: &str, known: &[&str]) -> Option<Fields<'_>> {
        let node = self.node(key)?;
        Fields::open(&format!("`{key}`"), node, known, self.report)
    }

    pub(crate) fn fields_any(&mut self, key: &str) -> Option<Fields<'_>> {
        let node = self.node(key)?;
        if let Value::Scalar(_) = node.value {
            // Not repeated: it may be somebody's key.
            self.report.at(node.location, format!("`{key}` must be a mapping, not text"));
            return None;
        }
        Fields::open_any(&format!("`{key}`"), node, self.report)
    }

    fn scalar<T>(&mut self, key: &str, expected: &str, read: impl FnOnce(&str) -> Result<T, String>) -> Option<T> {
        let node = self.node(key)?;
        let Value::Scalar(text) = &node.value else {
            return self.wrong(&node, key, expected);
        };
        read(text).map_err(|wrong| self.report.at(node.location, format!("`{key}` {wrong}"))).ok()
    }

    /// The value of the key. A key without a value is a mistake, not the default.
    fn node(&mut self, key: &str) -> Option<Node> {
        let field = self.entries.iter().find(|field| field.key == key)?;
        if matches!(field.node.value, Value::Null) {
            self.report.hinted(field.location, format!("`{key}` is empty"), "give it a value or remove the key");
            return None;
        }
        Some(field.node.clone())
    }

    fn wrong<T>(&mut self, node: &Node, key: &str, expected: &str) -> Option<T> {
        self.report.at(node.location, format!("`{key}` must be {expected}, not {}", node.describe()));
        None
    }
}

fn suggestion(key: &str, known: &[&str]) -> String {
    let nearest = known
        .iter()
        .map(|known| (strsim::jaro_winkler(key, known), known))
        .filter(|(likeness, _)| *likeness >= 0.8)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    match nearest {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => format!("known keys: {}", known.join(", ")),
    }
}
