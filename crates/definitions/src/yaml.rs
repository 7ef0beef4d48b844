//! What does a YAML text say, and where does it say it?

use std::fmt;

use serde::de::{Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_saphyr::{Error, Location, MessageFormatter, NonFiniteFloatPolicy, Spanned, UserMessageFormatter};

use crate::problem::{ProblemReport, SourceLocation};

/// A value and where it is. Typed reading would stop at the first mistake; with this tree every mistake
/// of a file is reported at once.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) location: SourceLocation,
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
pub(crate) fn parse(source: &str, report: &mut ProblemReport) -> Option<Node> {
    let options = serde_saphyr::options! {
        // No definition nests deeper than a goal in a list in a task type.
        budget: serde_saphyr::budget! { max_depth: 16, max_nodes: 50_000 },
        alias_limits: serde_saphyr::alias_limits! { max_total_replayed_events: 50_000, max_replay_stack_depth: 16 },
        with_snippet: false,
        strict_booleans: true,
        reject_unsupported_tags: true,
        non_finite_float_policy: NonFiniteFloatPolicy::AsString,
    };
    match serde_saphyr::from_str_with_options::<Spanned<RawValue>>(source, options) {
        Ok(Spanned { value: RawValue::Null, .. }) => {
            report.whole_file("the file is empty", None);
            None
        }
        Ok(raw) => Some(to_node(raw, source)),
        Err(error) => {
            let message = error_message(&error);
            match error.location() {
                Some(location) => report.at(source_location(location), message),
                None => report.whole_file(message, None),
            }
            None
        }
    }
}

fn error_message(error: &Error) -> String {
    match error {
        Error::DuplicateMappingKey { key: Some(key), .. } => format!("duplicate key `{key}`"),
        Error::MultipleDocuments { .. } => "a second YAML document begins here; one is expected".into(),
        other => format!("invalid YAML: {}", UserMessageFormatter.format_message(other)),
    }
}

fn source_location(location: Location) -> SourceLocation {
    SourceLocation { line: location.line() as usize, column: location.column() as usize }
}

/// Numbers and booleans keep the text of the source.
fn to_node(raw: Spanned<RawValue>, source: &str) -> Node {
    let value = match raw.value {
        RawValue::Null => Value::Null,
        RawValue::Text(text) => Value::Scalar(text),
        RawValue::NumberOrBoolean => Value::Scalar(source_text(raw.defined, source).unwrap_or_default().to_owned()),
        RawValue::List(items) => Value::List(items.into_iter().map(|item| to_node(item, source)).collect()),
        RawValue::Map(entries) => {
            Value::Map(entries.into_iter().map(|(key, value)| (to_node(key, source), to_node(value, source))).collect())
        }
    };
    Node { location: source_location(raw.referenced), value }
}

fn source_text(location: Location, source: &str) -> Option<&str> {
    let span = location.span();
    let start = usize::try_from(span.byte_offset()?).ok()?;
    let length = usize::try_from(span.byte_len()?).ok()?;
    source.get(start..start + length)
}

enum RawValue {
    Null,
    /// A number or boolean: its text is read from the source.
    NumberOrBoolean,
    Text(String),
    List(Vec<Spanned<RawValue>>),
    Map(Vec<(Spanned<RawValue>, Spanned<RawValue>)>),
}

impl<'de> Deserialize<'de> for RawValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(RawValueVisitor)
    }
}

struct RawValueVisitor;

impl<'de> Visitor<'de> for RawValueVisitor {
    type Value = RawValue;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a YAML value")
    }

    fn visit_unit<E>(self) -> Result<RawValue, E> {
        Ok(RawValue::Null)
    }

    fn visit_bool<E>(self, _: bool) -> Result<RawValue, E> {
        Ok(RawValue::NumberOrBoolean)
    }

    fn visit_i64<E>(self, _: i64) -> Result<RawValue, E> {
        Ok(RawValue::NumberOrBoolean)
    }

    fn visit_u64<E>(self, _: u64) -> Result<RawValue, E> {
        Ok(RawValue::NumberOrBoolean)
    }

    fn visit_i128<E>(self, _: i128) -> Result<RawValue, E> {
        Ok(RawValue::NumberOrBoolean)
    }

    fn visit_u128<E>(self, _: u128) -> Result<RawValue, E> {
        Ok(RawValue::NumberOrBoolean)
    }

    fn visit_f64<E>(self, _: f64) -> Result<RawValue, E> {
        Ok(RawValue::NumberOrBoolean)
    }

    fn visit_str<E>(self, text: &str) -> Result<RawValue, E> {
        Ok(RawValue::Text(text.to_owned()))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = access.next_element()? {
            items.push(item);
        }
        Ok(RawValue::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<RawValue, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = access.next_entry()? {
            entries.push(entry);
        }
        Ok(RawValue::Map(entries))
    }
}
