//! What do agents use, in tokens and money, and how much of it may they (G5)?

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::Timestamp;
use crate::evidence::Usage;

/// What may be used before work is stopped. What is not set has no bound.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Budget {
    /// By one session.
    pub session: Allowance,
    /// By all sessions of a task, since the owner last let it go on.
    pub task: Allowance,
    /// By the project in a day, which begins at midnight UTC.
    pub day: Allowance,
}

impl Budget {
    /// Is money limited anywhere?
    pub fn limits_money(&self) -> bool {
        [self.session, self.task, self.day].iter().any(|allowance| allowance.cost_micros.is_some())
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default)]
pub struct Allowance {
    /// Given and made together.
    pub tokens: Option<u64>,
    /// In millionths of a US dollar.
    pub cost_micros: Option<u64>,
}

/// What a model's tokens cost, where its client does not tell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Price {
    /// The model's id, or how it begins if that ends with `*`.
    pub model: String,
    /// A million tokens that are given, in millionths of a US dollar.
    pub input_micros: u64,
    /// The same of those that are made.
    pub output_micros: u64,
}

impl Price {
    pub fn is_of(&self, model: &str) -> bool {
        // `anthropic/claude-…` is the same model as `claude-…`.
        let name = model.rsplit('/').next().unwrap_or(model);
        match self.model.strip_suffix('*') {
            Some(beginning) => [model, name].iter().any(|known| known.starts_with(beginning)),
            None => [model, name].contains(&self.model.as_str()),
        }
    }

    fn of(&self, usage: &Usage) -> u64 {
        let part = |tokens: u64, micros: u64| u128::from(tokens) * u128::from(micros) / 1_000_000;
        let sum = part(usage.input_tokens, self.input_micros) + part(usage.output_tokens, self.output_micros);
        u64::try_from(sum).unwrap_or(u64::MAX)
    }
}

/// What was used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Spent {
    /// Given and made together.
    pub tokens: u64,
    /// In millionths of a US dollar.
    pub cost_micros: u64,
    /// How much of that follows from a price, and was not told by the client.
    pub estimated_micros: u64,
    /// Tokens of which nobody knows what they cost.
    pub unpriced_tokens: u64,
}

impl Spent {
    /// By the client's own word, or else by its model's price.
    pub fn of(usage: &Usage, price: Option<&Price>) -> Self {
        let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
        match (usage.cost_micros, price) {
            (Some(told), _) => Self { tokens, cost_micros: told, ..Self::default() },
            (None, Some(price)) => {
                let cost = price.of(usage);
                Self { tokens, cost_micros: cost, estimated_micros: cost, ..Self::default() }
            }
            (None, None) => Self { tokens, unpriced_tokens: tokens, ..Self::default() },
        }
    }

    #[must_use]
    pub fn and(self, other: Self) -> Self {
        self.combined(other, u64::saturating_add)
    }

    /// What came since. A client may correct itself downwards; that takes nothing back.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        self.combined(before, u64::saturating_sub)
    }

    fn combined(self, other: Self, with: fn(u64, u64) -> u64) -> Self {
        Self {
            tokens: with(self.tokens, other.tokens),
            cost_micros: with(self.cost_micros, other.cost_micros),
            estimated_micros: with(self.estimated_micros, other.estimated_micros),
            unpriced_tokens: with(self.unpriced_tokens, other.unpriced_tokens),
        }
    }

    /// Is all of an allowance used?
    pub fn uses_up(&self, allowance: &Allowance) -> bool {
        allowance.tokens.is_some_and(|most| self.tokens >= most)
            || allowance.cost_micros.is_some_and(|most| self.cost_micros >= most)
    }

    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}

/// The day of an instant, in UTC, counted from 1970.
pub fn day_of(at: Timestamp) -> i64 {
    at.0.div_euclid(DAY)
}

/// When a day is over.
pub fn end_of_day(day: i64) -> Timestamp {
    Timestamp(day.saturating_add(1).saturating_mul(DAY)).in_range()
}

/// Milliseconds.
const DAY: i64 = 24 * 60 * 60 * 1000;

#[cfg(test)]
mod tests {
    use super::{Allowance, Price, Spent, day_of, end_of_day};
    use crate::{Timestamp, Usage};

    fn usage(input_tokens: u64, output_tokens: u64, cost_micros: Option<u64>) -> Usage {
        Usage { input_tokens, output_tokens, cost_micros }
    }

    /// G5: what the client tells goes before a price, and what nobody knows is no zero.
    #[test]
    fn cost_is_told_estimated_or_unknown() {
        let price = Price { model: "m-*".into(), input_micros: 2_000_000, output_micros: 10_000_000 };
        let told = Spent::of(&usage(1_000, 100, Some(7)), Some(&price));
        assert_eq!((told.cost_micros, told.estimated_micros), (7, 0));
        let estimated = Spent::of(&usage(1_000, 100, None), Some(&price));
        assert_eq!((estimated.cost_micros, estimated.estimated_micros), (3_000, 3_000));
        let unknown = Spent::of(&usage(1_000, 100, None), None);
        assert_eq!((unknown.tokens, unknown.unpriced_tokens, unknown.cost_micros), (1_100, 1_100, 0));
    }

    #[test]
    fn prices_are_found_by_the_model() {
        let price = |model: &str| Price { model: model.into(), input_micros: 1, output_micros: 1 };
        assert!(price("gpt-5*").is_of("gpt-5.5") && price("gpt-5*").is_of("openai/gpt-5"));
        assert!(price("gpt-5").is_of("gpt-5") && !price("gpt-5").is_of("gpt-5.5") && !price("gpt-5*").is_of("gpt-4"));
    }

    #[test]
    fn either_allowance_may_be_used_up() {
        let spent = Spent { tokens: 10, cost_micros: 5, ..Spent::default() };
        let allowance = |tokens, cost_micros| Allowance { tokens, cost_micros };
        assert!(spent.uses_up(&allowance(Some(10), None)) && spent.uses_up(&allowance(None, Some(5))));
        assert!(!spent.uses_up(&allowance(Some(11), Some(6))) && !spent.uses_up(&Allowance::default()));
    }

    #[test]
    fn days_begin_at_midnight() {
        let noon = Timestamp(12 * 60 * 60 * 1000);
        assert_eq!((day_of(noon), day_of(Timestamp(-1))), (0, -1));
        assert_eq!(day_of(end_of_day(0)), 1);
    }
}
