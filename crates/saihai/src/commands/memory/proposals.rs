//! `saihai memory proposals`

use board::comments::open_proposals;
use board::wire;
use clap::Args;

use crate::context::Context;
use crate::failure::Failure;
use crate::show::{clean, indented, local_time};

/// What agents propose for the memory bank
#[derive(Debug, Args)]
pub(crate) struct Proposals {}

impl Proposals {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let open: Vec<_> =
            open_proposals(&board).into_iter().map(|(task, proposal)| wire::Proposal::of(task, proposal)).collect();
        let numbers = || open.iter().map(|proposal| proposal.number.to_string()).collect();
        context.format.print(&open, numbers, || {
            if open.is_empty() {
                return opened.say("No proposal waits for an answer.", "回答待ちの提案はありません。");
            }
            let mut lines: Vec<_> = open
                .iter()
                .map(|proposal| {
                    let wire::Proposal { number, task_id, by, text, at, .. } = proposal;
                    format!("{number}  {by}, {task_id}, {}:\n  {}", local_time(*at), indented(&clean(text)))
                })
                .collect();
            let first = open[0].number;
            lines.push(opened.say(
                format!("Next: saihai memory accept {first}, or saihai memory decline {first}"),
                format!("次: saihai memory accept {first} または saihai memory decline {first}"),
            ));
            lines.join("\n")
        })
    }
}
