//! `saihai message list`

use board::wire;
use board::{AgentId, Party};
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, local_time};

/// List messages, oldest first
#[derive(Debug, Args)]
pub(crate) struct List {
    /// Only those to or from this agent
    #[arg(long)]
    agent: Option<AgentId>,
    /// At most this many, the newest
    #[arg(long, default_value_t = 50)]
    limit: usize,
}

impl List {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let party = match &self.agent {
            Some(agent) => {
                Some(Party::Agent(board.agent(agent).map_err(|refusal| opened.refusal(refusal))?.id().clone()))
            }
            None => None,
        };
        let concerns = |message: &board::Message| {
            party.as_ref().is_none_or(|party| message.from == *party || message.to == *party)
        };
        let mut views: Vec<_> = board
            .messages
            .iter()
            .rev()
            .filter(|m| concerns(m))
            .take(self.limit)
            .map(|m| wire::Message::of(&board, m))
            .collect();
        views.reverse();
        let ids = || views.iter().map(|view| view.id.to_string()).collect();
        context.format.print(&views, ids, || {
            if views.is_empty() {
                return opened.say("No messages.", "メッセージはありません。");
            }
            let line = |view: &wire::Message| {
                let state = match (view.read, view.expired) {
                    (false, true) => opened.say("  [expired before it was read]", "  [期限切れ: 読まれませんでした]"),
                    (false, false) => opened.say("  [unread]", "  [未読]"),
                    (true, _) => String::new(),
                };
                format!(
                    "{} {} {} → {}{state}\n  {}",
                    view.id,
                    local_time(view.at),
                    view.from,
                    view.to,
                    clean(&view.content).replace('\n', "\n  ")
                )
            };
            views.iter().map(line).collect::<Vec<_>>().join("\n")
        })
    }
}
