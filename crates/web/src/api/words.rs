//! Which words are there? The closed sets of the board, as the document describes them.

use std::borrow::Cow;

use utoipa::openapi::schema::{ObjectBuilder, Schema, SchemaFormat, Type};
use utoipa::openapi::{KnownFormat, RefOr};
use utoipa::{PartialSchema, ToSchema};

/// A set of words of the board. Values are the board's own; this only describes them.
macro_rules! described {
    ($($name:ident = $words:ty),+ $(,)?) => {$(
        #[derive(Debug)]
        pub(crate) enum $name {}

        impl PartialSchema for $name {
            fn schema() -> RefOr<Schema> {
                let words = <$words>::ALL.iter().map(|word| word.as_str());
                ObjectBuilder::new().schema_type(Type::String).enum_values(Some(words)).into()
            }
        }

        impl ToSchema for $name {
            fn name() -> Cow<'static, str> {
                stringify!($name).into()
            }
        }
    )+};
}

described! {
    Action = board::Action,
    CheckOutcome = board::CheckOutcome,
    Client = board::Client,
    Code = board::Code,
    Completion = board::Completion,
    Decompose = board::Decompose,
    DodResult = board::DodResult,
    EndReason = board::EndReason,
    GoalType = board::GoalType,
    Hierarchy = board::Hierarchy,
    Isolation = board::Isolation,
    Kind = board::Kind,
    Language = board::Language,
    MergeStrategy = board::MergeStrategy,
    Mode = board::Mode,
    Move = board::lifecycle::Move,
    Outcome = board::Outcome,
    Priority = board::Priority,
    Reason = board::Reason,
    Role = board::Role,
    Sandbox = board::Sandbox,
    SessionStatus = board::SessionStatus,
    Status = board::Status,
    StopCause = board::StopCause,
    TaskType = board::TaskType,
    TokenUse = board::TokenUse,
}

/// An instant.
#[derive(Debug)]
pub(crate) enum Time {}

impl PartialSchema for Time {
    fn schema() -> RefOr<Schema> {
        let format = SchemaFormat::KnownFormat(KnownFormat::DateTime);
        ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
    }
}

impl ToSchema for Time {
    fn name() -> Cow<'static, str> {
        "Time".into()
    }
}
