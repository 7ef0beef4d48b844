//! How is it said what was used (G5)?

use super::{Phrase, phrase};
use crate::Language;
use crate::spending::{Allowance, Budget, Spent};

/// An amount in millionths of a dollar, in cents: never less than it was.
pub fn say_money(micros: u64) -> String {
    let cents = micros.div_ceil(10_000);
    format!("${}.{:02}", cents / 100, cents % 100)
}

/// A number of tokens, as people say it: `840`, `12k`, `1.4M`.
pub fn say_tokens(tokens: u64) -> String {
    match tokens {
        0..10_000 => tokens.to_string(),
        10_000..1_000_000 => format!("{}k", tokens / 1_000),
        _ => format!("{}.{}M", tokens / 1_000_000, tokens % 1_000_000 / 100_000),
    }
}

/// What was used, with what nobody knows the cost of; nothing where nothing was told.
pub fn say_spent(spent: &Spent, language: Language) -> String {
    let about = if spent.estimated_micros > 0 { "≈ " } else { "" };
    let money = format!("{about}{}", say_money(spent.cost_micros));
    let (tokens, unpriced) = (say_tokens(spent.tokens), say_tokens(spent.unpriced_tokens));
    match (spent.tokens, spent.cost_micros, spent.unpriced_tokens) {
        (0, 0, _) => phrase("not told", "不明").say(language, &[]),
        (_, 0, 1..) => phrase("{0} tokens, cost not told", "{0} トークン、費用は不明").say(language, &[&tokens]),
        (_, _, 0) => phrase("{0}, {1} tokens", "{0}、{1} トークン").say(language, &[&money, &tokens]),
        (_, _, _) => {
            phrase("{0}, {1} tokens, {2} of them at no known price", "{0}、{1} トークン（うち {2} は価格不明）")
                .say(language, &[&money, &tokens, &unpriced])
        }
    }
}

/// What may be used.
pub fn say_budget(budget: &Budget, language: Language) -> String {
    let part = |(what, allowance): (Phrase, Allowance)| {
        let money = allowance.cost_micros.map(say_money);
        let tokens = phrase("{0} tokens", "{0} トークン");
        let tokens = allowance.tokens.map(|most| tokens.say(language, &[&say_tokens(most)]));
        let both: Vec<_> = money.into_iter().chain(tokens).collect();
        (!both.is_empty()).then(|| what.say(language, &[&super::list(&both)]))
    };
    let parts = [
        (phrase("{0} a session", "セッションごとに {0}"), budget.session),
        (phrase("{0} a task", "タスクごとに {0}"), budget.task),
        (phrase("{0} a day", "1 日に {0}"), budget.day),
    ];
    let parts: Vec<_> = parts.into_iter().filter_map(part).collect();
    if parts.is_empty() { phrase("no limit", "制限なし").say(language, &[]) } else { parts.join("; ") }
}

#[cfg(test)]
mod tests {
    use super::{say_money, say_spent, say_tokens};
    use crate::{Language, Spent};

    /// G5: what a client does not tell is said, not shown as 0.
    #[test]
    fn what_is_not_told_is_no_zero() {
        let say = |spent: Spent| say_spent(&spent, Language::En);
        assert_eq!(say(Spent::default()), "not told");
        assert_eq!(
            say(Spent { tokens: 1_400_000, unpriced_tokens: 1_400_000, ..Spent::default() }),
            "1.4M tokens, cost not told"
        );
        assert_eq!(say(Spent { tokens: 27_422, cost_micros: 380_000, ..Spent::default() }), "$0.38, 27k tokens");
        let estimated = Spent { tokens: 900, cost_micros: 1, estimated_micros: 1, ..Spent::default() };
        assert_eq!(say(estimated), "≈ $0.01, 900 tokens");
    }

    #[test]
    fn amounts_are_rounded_up() {
        assert_eq!(
            (say_money(0), say_money(1), say_money(12_340_001)),
            ("$0.00".into(), "$0.01".into(), "$12.35".into())
        );
        assert_eq!(say_tokens(9_999), "9999");
    }
}
