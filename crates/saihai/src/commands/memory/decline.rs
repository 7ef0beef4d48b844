//! `saihai memory decline`

use board::{Command, ProposalAnswer, Seq};
use clap::Args;
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;

/// Leave what an agent proposed out of the memory bank
#[derive(Debug, Args)]
pub(crate) struct Decline {
    /// Its number, from `saihai memory proposals`
    number: Seq,
}

impl Decline {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        opened.submit(Command::AnswerProposal { proposal: self.number, answer: ProposalAnswer::Declined }).await?;
        let number = self.number;
        context.format.print(
            &json!({ "number": number, "answer": "declined" }),
            || vec![number.to_string()],
            || opened.say(format!("{number} is declined."), format!("{number} を見送りました。")),
        )
    }
}
