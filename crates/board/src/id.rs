//! What are things called? Ids as types of their own, so that none is taken for another.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The number of an event in its project's stream; the first is 1.
pub type Seq = u64;

/// A text that was to be an id, and what it should have been.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct BadId {
    pub text: String,
    pub expected: &'static str,
}

/// An id is a text in JSON.
macro_rules! text_schema {
    ($name:ident) => {
        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string" })
            }
        }
    };
}

/// A number that is written with a prefix (`tsk_12`) and read with or without it.
macro_rules! numbered_id {
    ($(#[$meta:meta])* $name:ident, $prefix:literal, $expected:literal) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(pub u32);

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&format!(concat!($prefix, "{}"), self.0))
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                let digits = text.strip_prefix($prefix).unwrap_or(text);
                match digits.parse() {
                    Ok(number) if digits.starts_with(|c: char| c.is_ascii_digit()) => Ok(Self(number)),
                    Ok(_) | Err(_) => Err(BadId { text: text.to_owned(), expected: $expected }),
                }
            }
        }

        text_schema!($name);

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                if serializer.is_human_readable() {
                    serializer.collect_str(self)
                } else {
                    serializer.serialize_u32(self.0)
                }
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                if deserializer.is_human_readable() {
                    let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
                    text.parse().map_err(serde::de::Error::custom)
                } else {
                    u32::deserialize(deserializer).map(Self)
                }
            }
        }
    };
}

numbered_id!(
    /// A task or step of a project.
    TaskId, "tsk_", "a task id such as `tsk_12` or `12`"
);
numbered_id!(
    /// One run of one agent.
    SessionId, "ses_", "a session id such as `ses_3` or `3`"
);
numbered_id!(
    /// A message between the owner and an agent.
    MessageId, "msg_", "a message id such as `msg_7` or `7`"
);

/// A name chosen by people, used as an id.
macro_rules! named_id {
    ($(#[$meta:meta])* $name:ident, $expected:literal) => {
        $(#[$meta])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(Arc<str>);

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
            }
        }

        text_schema!($name);

        impl $name {
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl FromStr for $name {
            type Err = BadId;

            fn from_str(text: &str) -> Result<Self, BadId> {
                if is_name(text) {
                    Ok(Self(text.into()))
                } else {
                    Err(BadId { text: text.to_owned(), expected: $expected })
                }
            }
        }
    };
}

/// Letters, digits, `-`, `_` and `.`, beginning with a letter or digit, at most 64.
fn is_name(text: &str) -> bool {
    text.len() <= 64
        && text.starts_with(|c: char| c.is_ascii_alphanumeric())
        && text.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'))
}

named_id!(
    /// An identity on a project's roster.
    AgentId, "a name of at most 64 letters, digits, `-`, `_`, `.` that begins with a letter or digit"
);
named_id!(
    /// A project of the installation.
    ProjectId, "a name of at most 64 letters, digits, `-`, `_`, `.` that begins with a letter or digit"
);
named_id!(
    /// A process that starts, watches and ends agents.
    RunnerId, "a name of at most 64 letters, digits, `-`, `_`, `.` that begins with a letter or digit"
);
named_id!(
    /// One start of one client program, chosen by the runner.
    SpawnId, "a name of at most 64 letters, digits, `-`, `_`, `.` that begins with a letter or digit"
);

impl RunnerId {
    /// Runners on other hosts are known by their token, whose id this is then.
    pub fn is_on_another_host(&self) -> bool {
        self.as_str().starts_with("tok_")
    }
}

/// How often a task (or an agent's chat) was claimed. A report that carries an older one is stale.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Generation(pub u32);

#[cfg(test)]
mod tests {
    use super::{AgentId, TaskId};

    /// C6: the command line also takes the bare number.
    #[test]
    fn task_ids_are_read_with_and_without_their_prefix() {
        assert_eq!("tsk_12".parse(), Ok(TaskId(12)));
        assert_eq!("12".parse(), Ok(TaskId(12)));
        for bad in ["", "tsk_", "+1", "-1", "tsk_1x", "ses_1", "99999999999"] {
            assert!(bad.parse::<TaskId>().is_err(), "{bad}");
        }
    }

    #[test]
    fn names_that_could_be_paths_or_options_are_not_ids() {
        for bad in ["", "-x", "../a", "a/b", "a b", ".git", "日本"] {
            assert!(bad.parse::<AgentId>().is_err(), "{bad}");
        }
        assert!("worker-01".parse::<AgentId>().is_ok());
    }
}
