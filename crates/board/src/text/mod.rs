//! How is it said, in English and in Japanese? The catalogue; deciding happens elsewhere.

mod decision;
mod event_lines;
mod hints;
mod instructions;
mod reasons;
mod refusals;
mod remedy;
pub mod replies;
mod spending;
mod why;

use crate::Language;

pub use decision::{DecisionText, say_decision};
pub use event_lines::{EventLine, Telling, Tone, clean, event_lines, one_line, say_judge_changes};
pub use instructions::{feedback as say_rejection, instruction};
pub use reasons::{say_end, say_move_reason, say_outcome};
pub use remedy::{Piece, Remedy, Said};
pub use spending::{say_budget, say_money, say_spent, say_tokens};
pub use why::{say as say_why, say_party, say_reason, say_runner_state, say_span, say_waiting, tell as tell_why};

/// For whom a hint is written: an agent knows tools, a person knows commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    Agent,
    Person,
    /// The owner's orchestrator, which has tools instead of commands.
    Orchestrator,
}

/// Who reads: what is true of the owner is not true of somebody who only looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    Owner,
    Other,
}

/// One phrase in both languages, with `{}` where its arguments go, in the order of the English.
/// The Japanese may use `{0}`, `{1}`, … to place them differently.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phrase {
    pub(crate) en: &'static str,
    pub(crate) ja: &'static str,
}

pub(crate) const fn phrase(en: &'static str, ja: &'static str) -> Phrase {
    Phrase { en, ja }
}

impl Phrase {
    pub(crate) fn say(self, language: Language, arguments: &[&dyn std::fmt::Display]) -> String {
        let template = match language {
            Language::En => self.en,
            Language::Ja => self.ja,
        };
        fill(template, arguments)
    }
}

/// Puts arguments into `{0}`, `{1}`, … Text that arguments bring is never read as a template.
fn fill(template: &str, arguments: &[&dyn std::fmt::Display]) -> String {
    let mut said = String::with_capacity(template.len() + 16);
    let mut rest = template;
    while let Some((before, after)) = rest.split_once('{') {
        said.push_str(before);
        let (place, tail) = after.split_once('}').unwrap_or((after, ""));
        match place.parse::<usize>().ok().and_then(|index| arguments.get(index)) {
            Some(argument) => said.push_str(&argument.to_string()),
            None => said.push_str(place),
        }
        rest = tail;
    }
    said.push_str(rest);
    said
}

/// A list as people write it.
pub(crate) fn list<T: std::fmt::Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::{fill, phrase};
    use crate::Language;

    #[test]
    fn arguments_are_never_read_as_templates() {
        assert_eq!(fill("{0} and {1}", &[&"{1}", &"b"]), "{1} and b");
    }

    #[test]
    fn languages_may_order_arguments_differently() {
        let greeting = phrase("{0} blocks {1}", "{1} は {0} に止められている");
        assert_eq!(greeting.say(Language::Ja, &[&"a", &"b"]), "b は a に止められている");
    }
}
