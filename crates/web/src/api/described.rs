//! How does the OpenAPI document describe what the board sends? By the JSON schemas that the wire shapes derive,
//! so that there is one description of each noun.

use std::borrow::Cow;
use std::marker::PhantomData;

use board::wire;
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, SchemaGenerator};
use serde_json::Value;
use utoipa::openapi::RefOr;
use utoipa::openapi::extensions::ExtensionsBuilder;
use utoipa::openapi::schema::{ObjectBuilder, Schema};
use utoipa::{PartialSchema, ToSchema};

/// Where the schema is kept until the document is whole. The library has types of its own for schemas, which
/// cannot say all that a JSON schema says.
const HELD: &str = "x-json-schema";

/// Stands for `T` in the document. Values of it are never made.
#[derive(Debug)]
pub(crate) struct Described<T>(PhantomData<T>);

/// The names under which handlers describe what they take and give: the library reads names, not generic types.
macro_rules! described {
    ($($name:ident = $described:ty,)+) => {
        $(pub(crate) type $name = Described<$described>;)+
    };
}

described! {
    Agent = wire::Agent,
    AgentDetail = wire::AgentDetail,
    Code = board::Code,
    Comment = wire::Comment,
    Proposal = wire::Proposal,
    Completion = board::Completion,
    Event = wire::Event,
    Language = board::Language,
    Message = wire::Message,
    Move = board::lifecycle::Move,
    Priority = board::Priority,
    Project = wire::Project,
    ProjectDetail = wire::ProjectDetail,
    RemainingFuel = board::RemainingFuel,
    Repairs = board::Repairs,
    Report = wire::Report,
    Role = board::Role,
    Session = wire::Session,
    SessionDetail = wire::SessionDetail,
    Status = board::Status,
    Task = wire::Task,
    TaskDetail = wire::TaskDetail,
    TaskType = board::TaskType,
    Time = board::Timestamp,
    TokenUse = board::TokenUse,
    TranscriptEntry = board::TranscriptEntry,
}

fn generator() -> SchemaGenerator {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.definitions_path = "/components/schemas".into();
        settings.meta_schema = None;
        settings.contract = schemars::generate::Contract::Serialize;
    });
    settings.into_generator()
}

fn held(schema: Value) -> RefOr<Schema> {
    let extensions = ExtensionsBuilder::new().add(HELD, schema).build();
    ObjectBuilder::new().extensions(Some(extensions)).into()
}

impl<T: JsonSchema> PartialSchema for Described<T> {
    fn schema() -> RefOr<Schema> {
        held(T::json_schema(&mut generator()).to_value())
    }
}

impl<T: JsonSchema> ToSchema for Described<T> {
    fn name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        let mut generator = generator();
        generator.subschema_for::<T>();
        schemas.extend(generator.take_definitions(false).into_iter().map(|(name, schema)| (name, held(schema))));
    }
}

/// Puts every schema that is held into its place.
pub(super) fn reveal(document: &mut Value) {
    match document {
        Value::Object(object) => {
            if let Some(schema) = object.remove(HELD) {
                *document = schema;
                return;
            }
            object.values_mut().for_each(reveal);
        }
        Value::Array(items) => items.iter_mut().for_each(reveal),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}
