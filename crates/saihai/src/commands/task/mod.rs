//! `saihai task`: what is to be done, and how does it stand?

mod add;
mod assign;
mod block;
mod cancel;
mod comment;
mod depend;
mod diff;
mod edit;
mod list;
mod log;
mod open;
mod retry;
mod revert;
mod show;
mod start;
mod task_list_file;
mod tree;
mod unblock;
mod update;
mod why;

use std::io::Read as _;

use board::lifecycle::Move;
use board::wire;
use board::{Board, Command, Destination, Language, Status, TaskId};
use clap::Subcommand;
use control::Receipt;

use crate::context::{Context, OpenProject, say_in};
use crate::failure::Failure;

#[derive(Debug, Subcommand)]
pub(crate) enum Task {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Tree(tree::Tree),
    Update(update::Update),
    Comment(comment::Comment),
    Assign(assign::Assign),
    Start(start::Start),
    Block(block::Block),
    Unblock(unblock::Unblock),
    Cancel(cancel::Cancel),
    Retry(retry::Retry),
    Revert(revert::Revert),
    Depend(depend::Depend),
    Why(why::Why),
    Log(log::Log),
    Diff(diff::Diff),
    Open(open::Open),
    Edit(edit::Edit),
}

pub(super) async fn run(context: &Context, command: Task) -> Result<(), Failure> {
    match command {
        Task::Add(add) => add.run(context).await,
        Task::List(list) => list.run(context).await,
        Task::Show(show) => show.run(context).await,
        Task::Tree(tree) => tree.run(context).await,
        Task::Update(update) => update.run(context).await,
        Task::Comment(comment) => comment.run(context).await,
        Task::Assign(assign) => assign.run(context).await,
        Task::Start(start) => start.run(context).await,
        Task::Block(block) => block.run(context).await,
        Task::Unblock(unblock) => unblock.run(context).await,
        Task::Cancel(cancel) => cancel.run(context).await,
        Task::Retry(retry) => retry.run(context).await,
        Task::Revert(revert) => revert.run(context).await,
        Task::Depend(depend) => depend.run(context).await,
        Task::Why(why) => why.run(context).await,
        Task::Log(log) => log.run(context).await,
        Task::Diff(diff) => diff.run(context).await,
        Task::Open(open) => open.run(context).await,
        Task::Edit(edit) => edit.run(context).await,
    }
}

/// The most text that is taken from stdin, in bytes.
const MAX_STDIN: u64 = 1 << 20;

/// A text argument, or all of stdin for `-`.
pub(crate) fn text_or_stdin(language: Language, text: String) -> Result<String, Failure> {
    if text != "-" {
        return Ok(text);
    }
    let mut read = String::new();
    // One byte more than the limit, so that a longer text is noticed and refused instead of cut.
    std::io::stdin().take(MAX_STDIN + 1).read_to_string(&mut read).map_err(|error| {
        Failure::bad_argument(
            say_in(language, format!("cannot read stdin: {error}"), format!("標準入力を読めません: {error}")),
            say_in(language, "Pipe UTF-8 text into the command.", "UTF-8 のテキストを渡してください。"),
        )
    })?;
    if read.len() as u64 > MAX_STDIN {
        return Err(Failure::bad_argument(
            say_in(language, "stdin has more than 1 MiB of text.", "標準入力のテキストが 1 MiB を超えています。"),
            say_in(language, "Pipe a shorter text into the command.", "より短いテキストを渡してください。"),
        ));
    }
    Ok(read.trim_end().to_owned())
}

/// How a task is to be moved.
struct MoveRequest {
    task: TaskId,
    to: Destination,
    reason: Option<String>,
    forced: bool,
}

/// Moves a task as the owner. For `done` it first looks whether the branch is in the target (L1).
async fn submit_move(opened: &OpenProject, request: MoveRequest) -> Result<Receipt<Board>, Failure> {
    let MoveRequest { task, to, reason, forced } = request;
    let merged = to == Destination::Status(Status::Done) && is_merged(opened, task);
    opened.submit(Command::MoveTask { task, to, reason, forced, merged }).await
}

/// Is the task's branch in the target branch?
pub(super) fn is_merged(opened: &OpenProject, id: TaskId) -> bool {
    let board = opened.board();
    let Some(task) = board.tasks.get(&id) else { return false };
    crate::local_files::is_merged(&opened.path, &board, task)
}

/// Does the same to each of several tasks, and shows them. What is refused is told at the end; the others are done.
async fn change_each(
    context: &Context,
    opened: &OpenProject,
    ids: &[TaskId],
    command: impl Fn(TaskId) -> Command,
) -> Result<(), Failure> {
    if let [id] = ids {
        let receipt = opened.submit(command(*id)).await?;
        return print_changed(context, opened, &receipt, *id);
    }
    let (mut changed, mut refused) = (Vec::new(), None::<Failure>);
    for id in ids {
        match opened.submit(command(*id)).await {
            Ok(receipt) => changed.extend(receipt.after.task(*id).ok().map(wire::Task::from)),
            Err(failure) => match &mut refused {
                Some(first) => first.message = format!("{} {}", first.message, failure.message),
                None => refused = Some(failure),
            },
        }
    }
    let line =
        |task: &wire::Task| format!("{} {}: {}", task.item.id, task.item.status, crate::show::clean(&task.item.title));
    context.format.print(
        &changed,
        || changed.iter().map(|task| task.item.id.to_string()).collect(),
        || changed.iter().map(line).collect::<Vec<_>>().join("\n"),
    )?;
    refused.map_or(Ok(()), Err)
}

/// A move that the owner names.
fn owner_move(task: TaskId, name: Move, reason: Option<&str>, forced: bool) -> Command {
    Command::MoveTask { task, to: Destination::By(name), reason: reason.map(str::to_owned), forced, merged: false }
}

/// Shows a task after it was changed.
fn print_changed(context: &Context, opened: &OpenProject, receipt: &Receipt<Board>, id: TaskId) -> Result<(), Failure> {
    let task = receipt.after.task(id).map_err(|refusal| opened.refusal(refusal))?;
    context.format.print(
        &wire::Task::from(task),
        || vec![id.to_string()],
        || {
            if receipt.events.is_empty() {
                return opened.say(format!("{id} is already like that."), format!("{id} は既にその状態です。"));
            }
            let more = receipt
                .events
                .iter()
                .filter(|event| matches!(event.what, board::EventKind::TaskMoved { task, .. } if task != id))
                .count();
            let more = if more > 0 {
                opened.say(format!(", with {more} below it"), format!("（下位 {more} 件も）"))
            } else {
                String::new()
            };
            format!("{id} {}{more}: {}", task.status, crate::show::clean(&task.title))
        },
    )
}
