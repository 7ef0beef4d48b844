//! `saihai log verify`

use board::{Board, Installation, Language, Settings};
use clap::Args;
use control::{Control, ProcessLifetime, Project, StreamName, VerifyReport};
use serde_json::json;

use crate::context::Context;
use crate::failure::{CliExit, Failure};
use crate::store_trouble::backup_hint;

/// Check the log: its hash chain, that it can be read, and that replaying it gives the live board
#[derive(Debug, Args)]
#[command(after_help = "Exit code 4 if anything differs from what was written; the message says what and where.")]
pub(crate) struct Verify {}

impl Verify {
    pub(super) async fn run(self, context: &Context) -> Result<(), Failure> {
        // The store's own hint for damage is to run this very command.
        self.prove_all(context).await.map_err(|failure| match failure {
            failure if failure.hint.contains("saihai log verify") => {
                Failure { hint: backup_hint(context.language()), ..failure }
            }
            failure => failure,
        })
    }

    async fn prove_all(self, context: &Context) -> Result<(), Failure> {
        let control = context.control(ProcessLifetime::ShortLived).await?;
        let streams = control.log().streams().await;
        let streams = streams.map_err(|error| Failure::control(error, context.language()))?;
        let mut reports = Vec::new();
        for stream in streams {
            let report = prove(&control, &stream).await;
            reports.push((stream, report.map_err(|error| Failure::control(error, context.language()))?));
        }
        let unsound: Vec<_> = reports.iter().filter(|(_, report)| !report.is_sound()).collect();
        if let Some(failure) = damage(context, &unsound) {
            return Err(failure);
        }
        let json: Vec<_> = reports
            .iter()
            .map(|(stream, report)| json!({ "stream": stream.as_str(), "events": report.events, "sound": true }))
            .collect();
        context.format.print(
            &json,
            || reports.iter().map(|(stream, _)| stream.to_string()).collect(),
            || {
                if reports.is_empty() {
                    return context.say("The log is empty.", "ログは空です。");
                }
                let line = |(stream, report): &(StreamName, VerifyReport)| {
                    let events = report.events;
                    context.say(
                        format!("{stream}: {events} events, chain intact, replay equals the live state"),
                        format!("{stream}: {events} 件、連鎖は無傷、再生結果は現在の状態と一致"),
                    )
                };
                reports.iter().map(line).collect::<Vec<_>>().join("\n")
            },
        )
    }
}

async fn prove(control: &Control, stream: &StreamName) -> Result<VerifyReport, control::ControlError> {
    let log = control.log();
    match stream.as_str().strip_prefix("project/").and_then(|id| id.parse().ok()) {
        Some(id) => {
            debug_assert_eq!(Project::stream(&id), *stream);
            log.verify(stream, Board::new(Settings::new(id))).await
        }
        None => log.verify(stream, Installation::default()).await,
    }
}

fn damage(context: &Context, unsound: &[&(StreamName, VerifyReport)]) -> Option<Failure> {
    if unsound.is_empty() {
        return None;
    }
    let mut found = match context.language() {
        Language::En => Vec::new(),
        Language::Ja => vec!["記録が書かれたときのものと異なります:".to_owned()],
    };
    for (stream, report) in unsound {
        found.extend(report.damage.iter().map(|damage| format!("{stream}: {damage}")));
        found.extend(report.unreadable.iter().map(|error| format!("{stream}: {error}")));
        if report.damage.is_empty() && report.unreadable.is_none() {
            found.push(context.say(
                format!("{stream}: replaying the log gives another state than the live one"),
                format!("{stream}: ログの再生結果が現在の状態と一致しません"),
            ));
        }
    }
    Some(Failure::new(CliExit::Store, "store", found.join("\n"), backup_hint(context.language())))
}
