//! `saihai memory accept`

use board::comments::open_proposal;
use board::{Command, ProposalAnswer, Seq};
use clap::Args;
use definitions::memory::NewMemoryEntry;
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;

/// Write what an agent proposed into the memory bank
#[derive(Debug, Args)]
#[command(after_help = "\
Its first line becomes the title. The file is yours to edit and to commit; agents see it then.

Examples:
  saihai memory proposals
  saihai memory accept 345 --category architecture")]
pub(crate) struct Accept {
    /// Its number, from `saihai memory proposals`
    number: Seq,
    /// A title instead of its first line
    #[arg(long)]
    title: Option<String>,
    /// The folder it goes to
    #[arg(long)]
    category: Option<String>,
}

impl Accept {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let (_, proposal) = open_proposal(&board, self.number).map_err(|refusal| opened.refusal(refusal))?;
        let path = super::add::add(&opened, &NewMemoryEntry::proposed(&proposal.text, self.title, self.category))?;
        opened.submit(Command::AnswerProposal { proposal: self.number, answer: ProposalAnswer::Accepted }).await?;
        context.format.print(
            &json!({ "path": path }),
            || vec![path.display().to_string()],
            || super::add::wrote(&opened, &path),
        )
    }
}
