//! `saihai task why`

use board::{Line, TaskId, left, say_why};
use clap::Args;
use runner::RunnerPaths;
use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;
use crate::local_files::runner_view;
use crate::session_output::last_lines;
use crate::show::clean;

/// Explain why a task is (not) running, what must happen, and who must do it
#[derive(Debug, Args)]
pub(crate) struct Why {
    /// Its id, such as tsk_12 or 12
    id: TaskId,
}

impl Why {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let board = opened.board();
        let installation = context.installation(&opened.control).await?.state();
        let elsewhere =
            opened.control.runners_of(&installation, &opened.id).await.map_err(|error| opened.failure(error))?;
        let runner = runner_view(&RunnerPaths::new(&context.home, &opened.id)).and(elsewhere);
        let why = board::why(&board, self.id, opened.now(), &runner).map_err(|refusal| opened.refusal(refusal))?;
        let task = board.task(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let lines: Vec<_> = why.lines.iter().map(|line| say_why(line, self.id, opened.language)).collect();
        let ended_badly = why.lines.iter().find_map(|line| match line {
            Line::LastSession { session, .. } => Some(*session),
            _ => None,
        });
        let log = match ended_badly {
            Some(session) => last_lines(&context.home, &opened.project, session).await?,
            None => Vec::new(),
        };
        let left = left(&board, task);
        let json = json!({
            "id": self.id, "status": why.status, "mover": board.mover(task).to_string(), "reasons": lines, "left": left, "last_lines": log,
        });
        context.format.print(
            &json,
            || vec![self.id.to_string()],
            || {
                let mut text = vec![opened.say(
                    format!("{} is {}: {}", self.id, why.status, clean(&task.title)),
                    format!("{} は {} です: {}", self.id, why.status, clean(&task.title)),
                )];
                text.extend(lines.iter().map(|line| format!("  {}", clean(line).replace('\n', "\n    "))));
                if !log.is_empty() {
                    text.push(opened.say("  It printed last:", "  最後の出力:"));
                    text.extend(log.iter().map(|line| format!("    {line}")));
                }
                if !task.is_settled() && !task.is_step() {
                    text.push(opened.say(
                        format!(
                            "  Left: {} attempts, {} sessions, {} subtasks.",
                            left.attempts, left.sessions, left.children
                        ),
                        format!(
                            "  残り: 試行 {} 回、セッション {} 回、サブタスク {} 件。",
                            left.attempts, left.sessions, left.children
                        ),
                    ));
                }
                text.join("\n")
            },
        )
    }
}
