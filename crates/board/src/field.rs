//! Which texts can be written, and how long may each be?

use crate::words::words;

words! {
    Field {
        Title = "title",
        Description = "description",
        Label = "label",
        Reason = "reason",
        Summary = "summary",
        NextSteps = "next_steps",
        Context = "context",
        Message = "content",
        Comment = "text",
        Decision = "decision",
        Key = "idempotency_key",
        Model = "model_id",
        Name = "name",
    }
}

impl Field {
    /// The most characters.
    pub fn limit(self) -> usize {
        match self {
            Self::Title => 500,
            Self::Label | Self::Key | Self::Model | Self::Name => 200,
            Self::Reason => 2_000,
            Self::Message | Self::Comment | Self::Decision => 4_000,
            Self::Summary | Self::NextSteps | Self::Context => 20_000,
            Self::Description => 100_000,
        }
    }

    pub(crate) fn may_be_empty(self) -> bool {
        matches!(self, Self::Description | Self::NextSteps | Self::Context)
    }

    pub(crate) fn is_one_line(self) -> bool {
        matches!(self, Self::Title | Self::Label | Self::Key | Self::Model | Self::Name)
    }
}
