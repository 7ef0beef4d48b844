//! `saihai chat`

use std::io::{IsTerminal as _, Write as _};
use std::sync::Arc;

use board::wire;
use board::{AgentId, Board, Command, Message, MessageId, Party, TaskId};
use clap::Args;
use control::ProcessLifetime;
use tokio::sync::mpsc;

use crate::context::{Context, OpenProject};
use crate::failure::Failure;
use crate::show::{Format, clean};

/// Talk with an agent
#[derive(Debug, Args)]
#[command(after_help = "\
Every line you type is a message; the agent's answers appear as they arrive. Ctrl-D ends the
chat. A runner starts the agent for it, or you attach the agent by hand. Without a terminal the
lines of stdin are sent, and the command ends when the agent has answered:
  echo \"How far are you?\" | saihai chat lead

With --json every message is one line of JSON.")]
pub(crate) struct Chat {
    /// The agent's id
    agent: AgentId,
    /// How many earlier messages to show
    #[arg(long, short = 'n', default_value_t = 10, value_name = "N")]
    lines: usize,
}

/// How many of the latest messages are looked at for tasks that were made of them.
const RECENT: usize = 10;

/// A conversation in progress.
struct Conversation<'a> {
    opened: &'a OpenProject,
    agent: Party,
    format: Format,
    last_printed: MessageId,
    /// The last task that was told of.
    last_task: TaskId,
    /// The last message that the agent has not answered yet.
    awaiting_reply: Option<MessageId>,
}

impl Chat {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open_for(ProcessLifetime::LongLived).await?;
        let board = opened.board();
        board.agent(&self.agent).map_err(|refusal| opened.refusal(refusal))?;
        let agent = Party::Agent(self.agent);
        let mut conversation = Conversation {
            opened: &opened,
            agent,
            format: context.format,
            last_printed: MessageId(0),
            last_task: board.tasks.keys().next_back().copied().unwrap_or(TaskId(0)),
            awaiting_reply: None,
        };
        conversation.print_history(&board, self.lines);
        let mut lines = read_lines();
        let mut boards = opened.project.writer().watch();
        let mut typing = true;
        loop {
            tokio::select! {
                line = lines.recv(), if typing => match line {
                    Some(line) if line.trim().is_empty() => {}
                    Some(line) => conversation.send(line).await?,
                    None if std::io::stdin().is_terminal() || conversation.awaiting_reply.is_none() => return Ok(()),
                    None => typing = false,
                },
                changed = boards.changed() => {
                    let board = Arc::clone(&boards.borrow_and_update());
                    conversation.print_new(&board);
                    if changed.is_err() || (!typing && conversation.awaiting_reply.is_none()) {
                        return Ok(());
                    }
                    conversation.check_expired(&board)?;
                }
            }
        }
    }
}

impl Conversation<'_> {
    fn concerns(&self, message: &Message) -> bool {
        message.from == self.agent || message.to == self.agent
    }

    /// Prints the earlier messages.
    fn print_history(&mut self, board: &Board, lines: usize) {
        let mut before: Vec<_> = board.messages.iter().rev().filter(|m| self.concerns(m)).take(lines).collect();
        before.reverse();
        before.into_iter().for_each(|message| self.print(board, message));
        self.last_printed = board.messages.last().map_or(MessageId(0), |message| message.id);
    }

    fn print_new(&mut self, board: &Board) {
        let new: Vec<_> = board.messages.iter().rev().take_while(|message| message.id > self.last_printed).collect();
        let new: Vec<_> = new.into_iter().rev().filter(|message| self.concerns(message)).collect();
        new.iter().for_each(|message| self.print(board, message));
        if new.iter().any(|message| message.from == self.agent) {
            self.awaiting_reply = None;
        }
        self.last_printed = board.messages.last().map_or(self.last_printed, |message| message.id);
        self.print_tasks(board);
    }

    /// Prints the tasks that were made of what was said (N11).
    fn print_tasks(&mut self, board: &Board) {
        let asked = board.messages.iter().rev().filter(|message| message.to == self.agent).take(RECENT);
        let made = asked.flat_map(|message| message.tasks.iter().copied()).filter(|id| *id > self.last_task);
        let mut made: Vec<_> = made.collect();
        made.sort();
        for task in made.iter().filter_map(|id| board.tasks.get(id)) {
            if self.format == Format::Text {
                let _ = writeln!(std::io::stdout(), "→ {} {}: {}", task.id, task.status, clean(&task.title));
            }
        }
        self.last_task = made.last().map_or(self.last_task, |id| *id);
    }

    fn print(&self, board: &Board, message: &Message) {
        let view = wire::Message::of(board, message);
        let line = match self.format {
            Format::Json => serde_json::to_string(&view).unwrap_or_default(),
            Format::Quiet => view.id.to_string(),
            Format::Text => format!("{}: {}", view.from, clean(&view.content).replace('\n', "\n  ")),
        };
        // The reader closed the pipe: it has read enough.
        let _ = writeln!(std::io::stdout(), "{line}");
    }

    async fn send(&mut self, content: String) -> Result<(), Failure> {
        let command = Command::SendMessage { to: self.agent.clone(), content, related_task: None };
        let receipt = self.opened.submit(command).await?;
        self.awaiting_reply = receipt.after.messages.last().map(|message| message.id);
        // What was typed is on the screen already; what came through a pipe is not.
        if std::io::stdin().is_terminal() {
            self.last_printed = self.awaiting_reply.unwrap_or(self.last_printed);
        }
        Ok(())
    }

    fn check_expired(&self, board: &Board) -> Result<(), Failure> {
        let awaiting_reply =
            self.awaiting_reply.and_then(|id| board.messages.iter().rev().find(|message| message.id == id));
        match awaiting_reply {
            Some(message) if message.expired => Err(Failure::failed(
                self.opened.say(
                    format!("{} expired before the agent read it.", message.id),
                    format!("{} は期限切れです。読まれませんでした。", message.id),
                ),
                self.opened.say(
                    "Start a runner, or attach the agent by hand; then write again.",
                    "ランナーを起動するか、エージェントを手動で接続してから、もう一度送ってください。",
                ),
            )),
            Some(_) | None => Ok(()),
        }
    }
}

/// Reads the lines of stdin in a thread of its own, because such a read cannot be cancelled.
fn read_lines() -> mpsc::Receiver<String> {
    let (sender, lines) = mpsc::channel(16);
    std::thread::spawn(move || {
        for line in std::io::stdin().lines().map_while(Result::ok) {
            if sender.blocking_send(line).is_err() {
                return;
            }
        }
    });
    lines
}
