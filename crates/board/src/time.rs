//! When? Instants and spans as the log records them; nothing here reads a clock.

use std::fmt;
use std::ops::{Add, Sub};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An instant, in milliseconds since 1970 UTC. Written in JSON as RFC 3339.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The nearest instant that can be written as a date.
    pub fn in_range(self) -> Self {
        // From the second day of the year 1 to the last but one of 9999, in any time zone.
        Self(self.0.clamp(-62_135_510_400_000, 253_402_207_200_000))
    }
}

/// A length of time in milliseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct Span(pub i64);

impl Span {
    pub const fn seconds(seconds: i64) -> Self {
        Self(seconds * 1000)
    }

    pub const fn minutes(minutes: i64) -> Self {
        Self::seconds(minutes * 60)
    }
}

impl JsonSchema for Timestamp {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }
}

impl Add<Span> for Timestamp {
    type Output = Timestamp;

    fn add(self, span: Span) -> Timestamp {
        Timestamp(self.0.saturating_add(span.0)).in_range()
    }
}

impl Sub for Timestamp {
    type Output = Span;

    fn sub(self, earlier: Timestamp) -> Span {
        Span(self.0.saturating_sub(earlier.0))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let instant = jiff::Timestamp::from_millisecond(self.in_range().0).map_err(|_| fmt::Error)?;
        write!(f, "{instant:.3}")
    }
}

/// As a person says it: `4 s`, `12 min`, `3 h`, `2 d`.
impl fmt::Display for Span {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.max(0) / 1000;
        match seconds {
            0..120 => write!(f, "{seconds} s"),
            120..7200 => write!(f, "{} min", seconds / 60),
            7200..172_800 => write!(f, "{} h", seconds / 3600),
            _ => write!(f, "{} d", seconds / 86_400),
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() { serializer.collect_str(self) } else { serializer.serialize_i64(self.0) }
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
            let instant: jiff::Timestamp = text.parse().map_err(serde::de::Error::custom)?;
            Ok(Self(instant.as_millisecond()))
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    /// E4: whatever a client claims as a time, the log stays readable.
    #[test]
    fn any_instant_can_be_written_and_read() {
        for at in [i64::MIN, -1, 0, i64::MAX, 253_402_207_200_999] {
            let json = serde_json::to_string(&Timestamp(at)).unwrap();
            assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), Timestamp(at).in_range());
        }
    }

    #[test]
    fn timestamps_are_rfc_3339_on_the_wire() {
        let at = Timestamp(1_700_000_000_123);
        let json = serde_json::to_string(&at).unwrap();
        assert_eq!(json, r#""2023-11-14T22:13:20.123Z""#);
        assert_eq!(serde_json::from_str::<Timestamp>(&json).unwrap(), at);
    }
}
