//! What does a YAML text say, and where does it say it?

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, MessageFormatter, NonFiniteFloatPolicy, Spanned, UserMessageFormatter};

use crate::problem::{Place, Report};

/// A value and where it stands. The tree keeps going where typed reading would stop at the first
/// mistake, so that every mistake of a file can be reported at once.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) place: Place,
    pub(crate) value: Value,
}

#[derive(Clone, Debug)]
pub(crate) enum Value {
    Null,
    /// As it was written, also when it looks like a number: `1.10` stays `1.10`.
    Scalar(String),
    List(Vec<Node>),
    Map(Vec<(Node, Node)>),
}

impl Node {
    /// What it is, for `must be a list, not …`.
    pub(crate) fn describe(&self) -> String {
        match &self.value {
            Value::Null => "nothing".into(),
            Value::Scalar(text) => format!("`{}`", text.escape_debug()),
            Value::List(_) => "a list".into(),
            Value::Map(_) => "a mapping".into(),
        }
    }
}

/// Reads one document. An empty one is a problem too.
pub(crate) fn parse(source: &str, report: &mut Report) -> Option<Node> {
    let options = serde_saphyr::options! {
        // No definition nests deeper than a goal in a list in a task type.
        budget: serde_saphyr::budget! { max_depth: 16, max_nodes: 50_000 },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 50_000, max_replay_stack_depth: 16 },
        with_snippet: false,
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
    };
    match serde_saphyr::from_str_with_options::<Spanned<Raw>>(source, options) {
        Ok(Spanned { value: Raw::Null, .. }) => {
            report.whole_file("the file is empty", None);
            None
        }
        Ok(raw) => Some(located(raw, source)),
        Err(error) => {
            let message = wording(&error);
            match error.location() {
                Some(location) => report.at(place(location), message),
                None => report.whole_file(message, None),
            }
            None
        }
    }
}

fn wording(error: &Error) -> String {
    match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        Error::MultipleDocuments { .. } => "a second YAML document begins here; one is expected".into(),
        other => format!("invalid YAML: {}", UserMessageFormatter.format_message(other)),
    }
}

fn place(location: Location) -> Place {
    Place { line: location.line() as usize, column: location.column() as usize }
}

/// Numbers and booleans get the text that stands in the source.
fn located(raw: Spanned<Raw>, source: &str) -> Node {
    let value = match raw.value {
        Raw::Null => Value::Null,
        Raw::Text(text) => Value::Scalar(text),
        Raw::Plain => Value::Scalar(written(raw.defined, source).unwrap_or_default().to_owned()),
        Raw::List(items) => Value::List(items.into_iter().map(|item| located(item, source)).collect()),
        Raw::Map(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (located(key, source), located(value, source))).collect())
        }
    };
    Node { place: place(raw.referenced), value }
}

fn written(location: Location, source: &str) -> Option<&str> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    source.get(start..start + length)
}

enum Raw {
    Null,
    /// A number or boolean: its text is looked up where it stands.
    Plain,
    Text(String),
    List(Vec<Spanned<Raw>>),
    Map(Vec<(Spanned<Raw>, Spanned<Raw>)>),
}

impl<'de> Deserialize<'de> for Raw {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawVisitor)
    }
}

struct RawVisitor;

impl<'de> Visitor<'de> for RawVisitor {
    type Value = Raw;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<Raw, E> {
        Ok(Raw::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_i128<E>(self, _: i128) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_u128<E>(self, _: u128) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Raw, E> {
        Ok(Raw::Plain)
    }

    fn visit_str<E>(self, text: &str) -> Result<Raw, E> {
        Ok(Raw::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(Raw::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Raw, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(Raw::Map(entries))
    }
}
