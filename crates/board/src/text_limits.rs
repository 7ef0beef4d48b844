//! Which texts are accepted? Anything a person or agent writes has a length and no hidden controls.

use unicode_normalization::UnicodeNormalization as _;

use crate::field::Field;
use crate::refusal::{Refusal, RefusalReason};

/// The most tasks that one command creates.
pub(crate) const MAX_BATCH: usize = 100;

/// The most dependencies of one task.
pub(crate) const MAX_DEPENDENCIES: usize = 50;

pub(crate) fn check(field: Field, text: &str) -> Result<(), Refusal> {
    if !field.may_be_empty() && text.trim().is_empty() {
        return Err(RefusalReason::TextEmpty { field }.into());
    }
    let length = text.chars().count();
    if length > field.limit() {
        return Err(RefusalReason::TextTooLong { field, length, limit: field.limit() }.into());
    }
    let hidden = |c: char| c.is_control() && (field.is_one_line() || !matches!(c, '\n' | '\t' | '\r'));
    if text.chars().any(hidden) {
        return Err(RefusalReason::TextControls { field }.into());
    }
    Ok(())
}

/// A title as it is compared: case, width and spacing do not make it another one.
pub(crate) fn normalised(title: &str) -> String {
    let folded: String = title.nfkc().flat_map(char::to_lowercase).collect();
    folded.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::normalised;

    /// L6: what a person would call the same title is the same title.
    #[test]
    fn titles_are_compared_without_case_width_and_spacing() {
        assert_eq!(normalised("  Write   the API "), normalised("write the api"));
        assert_eq!(normalised("ＡＰＩ　設計"), normalised("api 設計"));
        assert_ne!(normalised("API 1"), normalised("API 2"));
    }
}
