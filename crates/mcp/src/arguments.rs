//! How are arguments read, and how are they described? Both from one type.

use board::{RefusalReason, TaskId};
use control::ControlError;
use rmcp::model::JsonObject;
use schemars::generate::{Contract, SchemaSettings};
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{DeserializeOwned, Error, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use crate::answers::{RefusalBody, refuse};

/// What is wrong is said in so many characters: it quotes what was sent, however long that is.
const LONGEST: usize = 300;

/// Reads arguments. Unknown names, missing ones and wrong types are refused by name.
pub(crate) fn read<T: DeserializeOwned>(arguments: JsonObject) -> Result<T, ControlError> {
    serde_json::from_value(Value::Object(arguments)).map_err(|error| {
        let wrong = error.to_string();
        let mut told: String = wrong.chars().take(LONGEST).collect();
        if told.len() < wrong.len() {
            told.push('…');
        }
        refuse(RefusalReason::BadArguments(told))
    })
}

/// A task id as models write it: `tsk_12`, `12` or the number 12.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TaskRef(pub(crate) TaskId);

impl<'de> Deserialize<'de> for TaskRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Ids;
        impl Visitor<'_> for Ids {
            type Value = TaskRef;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a task id such as `tsk_12`")
            }

            fn visit_str<E: Error>(self, text: &str) -> Result<TaskRef, E> {
                text.trim().parse().map(TaskRef).map_err(E::custom)
            }

            fn visit_u64<E: Error>(self, number: u64) -> Result<TaskRef, E> {
                let id = u32::try_from(number).map_err(|_| E::custom("there is no such task id"))?;
                Ok(TaskRef(TaskId(id)))
            }
        }
        deserializer.deserialize_any(Ids)
    }
}

impl JsonSchema for TaskRef {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "TaskRef".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

/// The schema of a set of words, such as statuses.
macro_rules! words_schema {
    ($($name:ident: $words:ty),+ $(,)?) => {
        $(pub(crate) fn $name(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
            let words: Vec<_> = <$words>::ALL.iter().map(|word| word.as_str()).collect();
            schemars::json_schema!({ "enum": words })
        })+
    };
}

words_schema! {
    statuses: board::Status,
    priorities: board::Priority,
    task_types: board::TaskType,
    outcomes: board::Outcome,
    choices: board::Choice,
}

/// A status as it is written; `open` means `todo`.
pub(crate) fn status<'de, D: Deserializer<'de>>(deserializer: D) -> Result<board::Status, D::Error> {
    let word = String::deserialize(deserializer)?;
    board::Status::parse(&word).map_err(D::Error::custom)
}

pub(crate) fn status_if_any<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<board::Status>, D::Error> {
    let word = Option::<String>::deserialize(deserializer)?;
    word.map(|word| board::Status::parse(&word).map_err(D::Error::custom)).transpose()
}

/// A schema with nothing in it that a model can do without: every list costs every context.
pub(crate) fn input_schema<T: JsonSchema>() -> JsonObject {
    let mut schema = schema::<T>(Contract::Deserialize);
    compact(&mut schema);
    schema.remove("description");
    object(schema)
}

/// What a result is like: the tool's answer, or a refusal. Some clients hold even a refusal against
/// the schema, and would show their agent a complaint about that instead.
pub(crate) fn output_schema<T: JsonSchema>() -> JsonObject {
    let choices = vec![Value::Object(answer_schema::<T>()), Value::Object(answer_schema::<RefusalBody>())];
    object(JsonObject::from_iter([("type".into(), "object".into()), ("anyOf".into(), choices.into())]))
}

/// Clients refuse answers that do not fit, so what may be left out must not be required; and they
/// complain about number formats that are Rust's alone.
fn answer_schema<T: JsonSchema>() -> JsonObject {
    let mut schema = schema::<T>(Contract::Serialize);
    schema.remove("$schema");
    schema.remove("title");
    schema.remove("description");
    without_formats(&mut schema);
    object(schema)
}

fn without_formats(schema: &mut JsonObject) {
    schema.remove("format");
    let inner = schema.iter_mut().flat_map(|(name, value)| match (name.as_str(), value) {
        ("properties", Value::Object(properties)) => properties.values_mut().collect(),
        ("anyOf", Value::Array(choices)) => choices.iter_mut().collect(),
        ("items" | "additionalProperties", inner) => vec![inner],
        _ => Vec::new(),
    });
    inner.filter_map(Value::as_object_mut).for_each(without_formats);
}

fn schema<T: JsonSchema>(contract: Contract) -> JsonObject {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
        settings.contract = contract;
    });
    let schema = settings.into_generator().into_root_schema_for::<T>();
    match schema.to_value() {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    }
}

fn object(mut schema: JsonObject) -> JsonObject {
    schema.entry("type").or_insert_with(|| "object".into());
    schema
}

fn compact(schema: &mut JsonObject) {
    for noise in ["$schema", "title", "format", "default", "additionalProperties", "minimum"] {
        schema.remove(noise);
    }
    if let Some(Value::Array(types)) = schema.get_mut("type") {
        types.retain(|name| name != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            schema.insert("type".into(), only);
        }
    }
    if let Some(Value::Object(properties)) = schema.get_mut("properties") {
        properties.values_mut().filter_map(Value::as_object_mut).for_each(compact);
    }
    if let Some(Value::Object(items)) = schema.get_mut("items") {
        compact(items);
    }
}

#[cfg(test)]
mod tests {
    use board::{Code, TaskId};
    use control::ControlError;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::{LONGEST, TaskRef, read};
    use crate::tools::{managing, own, tasks};

    /// Any JSON, with the names and words of real arguments mixed in.
    fn any_json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            any::<f64>().prop_map(Value::from),
            "\\PC{0,20}|tsk_[0-9]{1,12}|todo|open|high|success|wait".prop_map(Value::from),
            "x{400,2000}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let names =
                "task_id|status|reason|title|description|tasks|local_id|dependencies|result|summary|limit|[a-z]{1,9}";
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::btree_map(names, inner, 0..5).prop_map(|map| json!(map)),
            ]
        })
    }

    fn read_or_refused<T: serde::de::DeserializeOwned>(arguments: &Value) -> Result<(), TestCaseError> {
        let Value::Object(arguments) = arguments else { return Ok(()) };
        match read::<T>(arguments.clone()) {
            Ok(_) => Ok(()),
            Err(ControlError::Refused(refusal)) => {
                prop_assert_eq!(refusal.code(), Code::InvalidArgument);
                prop_assert!(refusal.message(board::Language::En).chars().count() < LONGEST + 100);
                Ok(())
            }
            Err(error) => Err(TestCaseError::fail(error.to_string())),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// M4, T2: whatever the arguments are, they are read, or refused in a few words.
        #[test]
        fn any_arguments_are_read_or_refused(arguments in any_json()) {
            read_or_refused::<tasks::ListTasks>(&arguments)?;
            read_or_refused::<tasks::CreateTask>(&arguments)?;
            read_or_refused::<tasks::CreateTasksBatch>(&arguments)?;
            read_or_refused::<tasks::UpdateTaskStatus>(&arguments)?;
            read_or_refused::<own::ReportCompleted>(&arguments)?;
            read_or_refused::<own::SaveContext>(&arguments)?;
            read_or_refused::<managing::SelectAction>(&arguments)?;
            read_or_refused::<managing::UpdateTaskDependencies>(&arguments)?;
            read_or_refused::<managing::GetRecentCompletions>(&arguments)?;
        }

        /// M5: a task is named as models write it, and by nothing else.
        #[test]
        fn a_task_is_named_by_its_number_with_or_without_prefix(id in any::<u32>(), other in any_json()) {
            for written in [json!(id), json!(id.to_string()), json!(format!(" tsk_{id} "))] {
                prop_assert_eq!(serde_json::from_value::<TaskRef>(written).map(|task| task.0).ok(), Some(TaskId(id)));
            }
            let expected = match &other {
                Value::String(text) => text.trim().parse().ok(),
                Value::Number(number) => number.as_u64().and_then(|n| u32::try_from(n).ok()).map(TaskId),
                Value::Null | Value::Bool(_) | Value::Array(_) | Value::Object(_) => None,
            };
            prop_assert_eq!(serde_json::from_value::<TaskRef>(other).map(|task| task.0).ok(), expected);
        }
    }
}
