//! `saihai session end`

use board::wire;
use board::{Command, DodResult, EndReason, ProcessEnd, SessionId};
use clap::{Args, ValueEnum};
use serde_json::Value;

use crate::commands::task::is_merged;
use crate::context::{Context, OpenProject};
use crate::failure::Failure;

/// The results of the checks and the merge that a person may record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum DodArgument {
    Pending,
    Merged,
    Timeout,
    Error,
}

/// Record how a session that you ran by hand ended
#[derive(Debug, Args)]
#[command(after_help = "\
Exit code other than 0, a signal, a timeout or an error: the task failed. `merged`: it is done, if
its branch is in the target. `pending`: it stays in progress.

Example:
  saihai session end 1 --exit-code 0 --dod-result merged --artifacts '[\"src/auth.ts\"]'")]
pub(crate) struct End {
    /// Its id, such as ses_3 or 3
    id: SessionId,
    /// The exit code of its process
    #[arg(long, value_name = "N", allow_hyphen_values = true)]
    exit_code: i32,
    /// The signal that ended it, such as SIGTERM
    #[arg(long, value_name = "NAME")]
    signal: Option<String>,
    /// The result of the checks and the merge
    #[arg(long, value_enum, default_value = "pending", value_name = "RESULT")]
    dod_result: DodArgument,
    /// The files it changed, as a JSON array of paths
    #[arg(long, value_name = "JSON")]
    artifacts: Option<String>,
    /// What went wrong, as JSON
    #[arg(long, value_name = "JSON")]
    error: Option<String>,
}

impl End {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        let opened = context.open().await?;
        let command = self.command(&opened)?;
        let receipt = opened.submit(command).await?;
        let session = receipt.after.session(self.id).map_err(|refusal| opened.refusal(refusal))?;
        let view = wire::Session::from(session);
        context.format.print(
            &view,
            || vec![self.id.to_string()],
            || {
                let task = view.task_id.and_then(|id| receipt.after.tasks.get(&id));
                let (id, verdict) = (view.id, view.verdict.unwrap_or("none"));
                let Some(task) = task else { return format!("{id}: {verdict}") };
                let (task, status) = (task.id, task.status);
                opened.say(
                    format!("{id} ended, verdict {verdict}; {task} is {status}.\nNext: saihai task why {task}"),
                    format!(
                        "{id} は終わりました（判定 {verdict}）。{task} は {status} です。\n次: saihai task why {task}"
                    ),
                )
            },
        )
    }

    fn command(&self, opened: &OpenProject) -> Result<Command, Failure> {
        let signal = self.signal.clone().filter(|signal| !signal.is_empty());
        let dod_result = match self.dod_result {
            DodArgument::Pending => DodResult::Pending,
            DodArgument::Merged => DodResult::Merged,
            DodArgument::Timeout => DodResult::Timeout,
            DodArgument::Error => DodResult::Error,
        };
        let reason = match (&signal, self.dod_result) {
            (_, DodArgument::Timeout) => EndReason::TimedOut,
            (Some(_), DodArgument::Pending | DodArgument::Merged | DodArgument::Error) => EndReason::Signaled,
            (None, DodArgument::Pending | DodArgument::Merged | DodArgument::Error) => EndReason::Exited,
        };
        let session = opened.board().session(self.id).map_err(|refusal| opened.refusal(refusal))?.task();
        let merged = self.dod_result == DodArgument::Merged && session.is_some_and(|task| is_merged(opened, task));
        let end =
            ProcessEnd { reason, exit_code: Some(self.exit_code), signal, vendor: None, error: self.error(opened)? };
        Ok(Command::EndByHand { session: self.id, end, dod_result, merged, artifacts: self.artifacts(opened)? })
    }

    fn artifacts(&self, opened: &OpenProject) -> Result<Vec<String>, Failure> {
        let Some(text) = self.artifacts.as_deref().filter(|text| !text.trim().is_empty()) else {
            return Ok(Vec::new());
        };
        serde_json::from_str(text).map_err(|error| {
            Failure::bad_argument(
                opened.say(
                    format!("--artifacts is not a JSON array of paths: {error}"),
                    format!("--artifacts がパスの JSON 配列ではありません: {error}"),
                ),
                opened.say("Write it as '[\"src/a.rs\"]'.", "'[\"src/a.rs\"]' のように書いてください。"),
            )
        })
    }

    /// `null`, an empty text and an empty object mean that there was no error.
    fn error(&self, opened: &OpenProject) -> Result<Option<String>, Failure> {
        let Some(text) = self.error.as_deref().filter(|text| !text.trim().is_empty()) else { return Ok(None) };
        let value: Value = serde_json::from_str(text).map_err(|error| {
            Failure::bad_argument(
                opened.say(format!("--error is not JSON: {error}"), format!("--error が JSON ではありません: {error}")),
                opened.say(
                    "Write it as '{\"message\": \"what went wrong\"}'.",
                    "'{\"message\": \"何が起きたか\"}' のように書いてください。",
                ),
            )
        })?;
        Ok(match value {
            Value::Null => None,
            Value::String(text) => Some(text).filter(|text| !text.trim().is_empty()),
            Value::Object(object) if object.is_empty() => None,
            other @ (Value::Object(_) | Value::Array(_) | Value::Number(_) | Value::Bool(_)) => Some(other.to_string()),
        })
    }
}
