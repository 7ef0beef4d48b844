//! What is happening, in a line for people? Made from the events alone, by whatever entry point they came.

use super::instructions::feedback;
use super::reasons::{say_end, say_move_reason, say_outcome};
use super::why::{say_party, say_waiting};
use super::{Phrase, Reader, list, phrase};
use crate::board::Board;
use crate::event::{Event, EventKind};
use crate::evidence::{
    CheckOutcome, CheckResult, EndReason, Examination, JudgeChanges, Merge, ProcessEnd, Rejection, Verdict,
    WorkspaceFacts,
};
use crate::examination::{Waiting, waiting};
use crate::task::{ProposalAnswer, Status};
use crate::{Language, Party, SessionId, TaskId, Timestamp};

/// How a line is to be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Good,
    Bad,
    Quiet,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EventLine {
    pub tone: Tone,
    pub text: String,
}

/// To whom, and where, an event is told.
#[derive(Clone, Copy, Debug)]
pub struct Telling {
    pub reader: Reader,
    pub language: Language,
    /// The task on whose own page it is told: its title need not be said there.
    pub on_page_of: Option<TaskId>,
}

/// The lines for an event; none for what only keeps the books. `say_time` words a moment in the reader's zone.
pub fn event_lines(
    board: &Board,
    event: &Event,
    telling: Telling,
    say_time: impl Fn(Timestamp) -> String,
) -> Vec<EventLine> {
    let Telling { reader, language, on_page_of } = telling;
    EventFormatter { board, reader, language, on_page_of, at: event.at, say_time: &say_time }.lines(event)
}

struct EventFormatter<'a> {
    board: &'a Board,
    reader: Reader,
    language: Language,
    on_page_of: Option<TaskId>,
    at: Timestamp,
    say_time: &'a dyn Fn(Timestamp) -> String,
}

type Arguments<'a> = &'a [&'a dyn std::fmt::Display];

impl EventFormatter<'_> {
    fn line(&self, tone: Tone, wording: Phrase, arguments: Arguments<'_>) -> Vec<EventLine> {
        vec![EventLine { tone, text: wording.say(self.language, arguments) }]
    }

    fn lines(&self, event: &Event) -> Vec<EventLine> {
        match &event.what {
            EventKind::TasksCreated { tasks, .. } => tasks.iter().flat_map(|task| self.created(task)).collect(),
            EventKind::TaskEdited { task, .. } => {
                self.line(Tone::Quiet, phrase("{0} is edited", "{0} を編集"), &[task])
            }
            EventKind::TaskAssigned { task, assignee: Some(agent) } => {
                self.line(Tone::Quiet, phrase("{0} is given to {1}", "{0} を {1} に割り当て"), &[task, agent])
            }
            EventKind::TaskAssigned { task, assignee: None } => {
                self.line(Tone::Quiet, phrase("{0} is unassigned", "{0} の割り当てを解除"), &[task])
            }
            EventKind::DependenciesChanged { task, added, removed } => {
                let said = [("+", added), ("−", removed)]
                    .map(|(sign, ids)| ids.iter().map(|id| format!("{sign}{id}")).collect::<Vec<_>>().join(" "));
                let said = said.join(" ");
                self.line(Tone::Quiet, phrase("{0} waits for: {1}", "{0} の依存: {1}"), &[task, &said.trim()])
            }
            // Assigning a task moves it so, and has a line of its own.
            EventKind::TaskMoved { from: Status::Backlog, to: Status::Todo, .. } => Vec::new(),
            EventKind::TaskMoved { task, to, by, reason, .. } => self.moved(*task, *to, by, reason.as_deref()),
            EventKind::SessionClaimed { session, agent, purpose, .. } => match purpose.task() {
                Some(task) => {
                    let said = phrase("{0} {1} starts for {2}", "{0} {1} が {2} を開始");
                    self.line(Tone::Plain, said, &[session, agent, &task])
                }
                None => self.line(
                    Tone::Plain,
                    phrase("{0} {1} starts to chat", "{0} {1} がチャットを開始"),
                    &[session, agent],
                ),
            },
            EventKind::StopRequested { session, cause } => {
                self.line(Tone::Plain, phrase("{0} is told to stop: {1}", "{0} に停止を指示: {1}"), &[session, cause])
            }
            EventKind::ActionChosen { session, choice, .. } => {
                let (who, choice) = (self.who(*session), choice.as_str());
                self.line(Tone::Quiet, phrase("{0} chooses to {1}", "{0} の選択: {1}"), &[&who, &choice])
            }
            EventKind::CompletionReported { session, report } => {
                let (who, summary) = (self.who(*session), one_line(&report.summary));
                self.line(
                    Tone::Quiet,
                    phrase("{0} says: {1}, {2}", "{0} の報告: {1}、{2}"),
                    &[&who, &report.result, &summary],
                )
            }
            EventKind::ProcessEnded { session, end, .. } => self.ended(*session, end),
            EventKind::WorkspaceExamined { session, facts } => self.examined(*session, facts),
            EventKind::Examined { session, examination } => match examination {
                Examination::Found(facts) => self.examined(*session, facts),
                Examination::Failed { .. } => self.waits(*session),
                // What is said of it is the verdict.
                Examination::NotNeeded | Examination::Unreadable { .. } => Vec::new(),
                Examination::Gone => {
                    let said = phrase(
                        "{0} the work of {1} is gone with its workspace",
                        "{0} {1} の作業は作業場所ごと失われました",
                    );
                    self.line(Tone::Bad, said, &[session, &self.who(*session)])
                }
            },
            EventKind::TargetChecked { commit, results } => self.target_checked(commit, results),
            EventKind::Judged { session, verdict: Some(Verdict::Rejected(why)) } => {
                let (who, why) = (self.who(*session), one_line(&feedback(&shortened(why), self.language)));
                let said = phrase("{0} the work of {1} is sent back: {2}", "{0} {1} の作業を差し戻し: {2}");
                self.line(Tone::Bad, said, &[session, &who, &why])
            }
            EventKind::AccountParked { account, until } => {
                let said = phrase("{0} is rate limited until {1}", "{0} は {1} までレート制限");
                self.line(Tone::Bad, said, &[account, &(self.say_time)(*until)])
            }
            EventKind::FuelSpent { task: Some(task), fuel, .. } => self.line(
                Tone::Bad,
                phrase("{0} has spent its {1}", "{0} は {1} を使い切りました"),
                &[task, &fuel.as_str()],
            ),
            EventKind::MessageSent { from, to, content, .. } => {
                let (from, to) = (self.party(from), self.party(to));
                self.line(Tone::Plain, phrase("{0} → {1}: {2}", "{0} → {1}: {2}"), &[&from, &to, &one_line(content)])
            }
            EventKind::CommentAdded { task, by, text } => {
                let by = self.party(by);
                self.line(
                    Tone::Plain,
                    phrase("{0} on {1}: {2}", "{0}（{1} について）: {2}"),
                    &[&by, task, &one_line(text)],
                )
            }
            EventKind::MemoryProposed { by, text, .. } => self.line(
                Tone::Plain,
                phrase("{0} proposes for the memory bank: {1}", "{0} がメモリーバンクに提案: {1}"),
                &[by, &one_line(text)],
            ),
            EventKind::ProposalAnswered { task, answer, .. } => self.line(
                Tone::Quiet,
                match answer {
                    ProposalAnswer::Accepted => phrase("what {0} proposed is remembered", "{0} の提案を採用"),
                    ProposalAnswer::Declined => phrase("what {0} proposed is declined", "{0} の提案を見送り"),
                },
                &[task],
            ),
            EventKind::MessageExpired { message } => {
                self.line(Tone::Bad, phrase("{0} expired unread", "{0} は未読のまま期限切れ"), &[message])
            }
            EventKind::RosterApplied { present, left } => {
                let said =
                    present.iter().map(|spec| format!("+{}", spec.id)).chain(left.iter().map(|id| format!("−{id}")));
                let said = list(&said.collect::<Vec<_>>());
                self.line(Tone::Quiet, phrase("the roster changes: {0}", "メンバーの変更: {0}"), &[&said])
            }
            EventKind::ProjectConfigured { .. } => {
                self.line(Tone::Quiet, phrase("the settings change", "設定の変更"), &[])
            }
            EventKind::ProjectPaused => {
                self.line(Tone::Plain, phrase("the project is paused", "プロジェクトを一時停止"), &[])
            }
            EventKind::ProjectResumed => {
                self.line(Tone::Plain, phrase("the project is resumed", "プロジェクトを再開"), &[])
            }
            EventKind::PasskeySet { .. }
            | EventKind::BranchRecorded { .. }
            | EventKind::SessionRunning { .. }
            | EventKind::LeasesRenewed { .. }
            | EventKind::SessionsTakenOver { .. }
            | EventKind::MergeTurnTaken { .. }
            | EventKind::MergeTurnEnded { .. }
            | EventKind::UsageReported { .. }
            | EventKind::MergeStarted { .. }
            | EventKind::Judged { .. }
            | EventKind::ModelReported { .. }
            | EventKind::TaskFetched { .. }
            | EventKind::ActionGiven { .. }
            | EventKind::ActionRepeated { .. }
            | EventKind::ContextSaved { .. }
            | EventKind::LoggedOut { .. }
            | EventKind::CallsCounted { .. }
            | EventKind::FuelSpent { task: None, .. }
            | EventKind::MessagesShown { .. } => Vec::new(),
        }
    }

    fn created(&self, task: &crate::CreatedTask) -> Vec<EventLine> {
        let (by, title) = (self.party(&task.creator), one_line(&task.title));
        match &task.assignee {
            Some(agent) => {
                let said = phrase("{0} created by {1} for {2}: {3}", "{1} が {2} に {0} を作成: {3}");
                self.line(Tone::Plain, said, &[&task.id, &by, agent, &title])
            }
            None => self.line(
                Tone::Plain,
                phrase("{0} created by {1}: {2}", "{1} が {0} を作成: {2}"),
                &[&task.id, &by, &title],
            ),
        }
    }

    fn moved(&self, id: TaskId, to: Status, by: &Party, reason: Option<&str>) -> Vec<EventLine> {
        let task = self.board.tasks.get(&id);
        let tone = match to {
            _ if task.is_some_and(|task| task.is_step()) => Tone::Quiet,
            Status::Done => Tone::Good,
            Status::Failed | Status::Blocked => Tone::Bad,
            Status::Backlog | Status::Todo | Status::InProgress | Status::Cancelled => Tone::Plain,
        };
        let why =
            reason.map(|reason| format!(": {}", one_line(&say_move_reason(reason, self.language)))).unwrap_or_default();
        let title = task.filter(|task| self.on_page_of != Some(task.id)).map(|task| one_line(&task.title));
        let title = title.map(|title| phrase("  ({0})", "  「{0}」").say(self.language, &[&title])).unwrap_or_default();
        let said = match (to, by) {
            (Status::Backlog, _) => phrase("{1} put {0} into the backlog{2}{3}", "{1} が {0} をバックログへ移動{2}{3}"),
            (Status::Todo, _) => phrase("{1} set {0} to do{2}{3}", "{1} が {0} を待機へ移動{2}{3}"),
            (Status::InProgress, _) => phrase("{1} started {0}{2}{3}", "{1} が {0} を開始{2}{3}"),
            (Status::Blocked, _) => phrase("{1} blocked {0}{2}{3}", "{1} が {0} をブロック{2}{3}"),
            (Status::Cancelled, _) => phrase("{1} cancelled {0}{2}{3}", "{1} が {0} を中止{2}{3}"),
            (Status::Done, Party::System) => phrase("{0} is done{2}{3}", "{0} が完了{2}{3}"),
            (Status::Done, _) => phrase("{1} finished {0}{2}{3}", "{1} が {0} を完了{2}{3}"),
            (Status::Failed, Party::Owner) => phrase("{1} gave {0} up{2}{3}", "{1} が {0} を失敗に{2}{3}"),
            (Status::Failed, Party::Agent(_) | Party::System) => phrase("{0} has failed{2}{3}", "{0} が失敗{2}{3}"),
        };
        self.line(tone, said, &[&id, &self.party(by), &why, &title])
    }

    fn ended(&self, session: SessionId, end: &ProcessEnd) -> Vec<EventLine> {
        let how = match (end.reason, end.exit_code, &end.signal) {
            (EndReason::Exited, Some(0), _) => return Vec::new(),
            (EndReason::Exited, code, _) => {
                let code = code.map_or("?".into(), |code| code.to_string());
                phrase("exit code {0}", "終了コード {0}").say(self.language, &[&code])
            }
            (EndReason::Signaled, _, signal) => phrase("killed by {0}", "{0} で強制終了")
                .say(self.language, &[&signal.as_deref().unwrap_or("a signal")]),
            (reason, ..) => say_end(reason, self.language),
        };
        let error = end.error.as_ref().map(|error| format!(": {}", one_line(error))).unwrap_or_default();
        let tone = if end.reason == EndReason::Stopped { Tone::Plain } else { Tone::Bad };
        self.line(
            tone,
            phrase("{0} {1} ended: {2}{3}", "{0} {1} が終了: {2}{3}"),
            &[&session, &self.who(session), &how, &error],
        )
    }

    fn examined(&self, session: SessionId, facts: &WorkspaceFacts) -> Vec<EventLine> {
        let mut lines = Vec::new();
        let waits = match &facts.merge {
            Merge::Waiting { .. } | Merge::NotTried => self.waits(session),
            Merge::Conflict { .. } | Merge::Merged { .. } => Vec::new(),
        };
        // About to be merged: what there is to say is said when it is.
        let passed = facts.checks.iter().all(|check| check.outcome == CheckOutcome::Pass);
        if facts.merge == Merge::NotTried && passed && waits.is_empty() {
            return lines;
        }
        for check in &facts.checks {
            let tone = if check.outcome == CheckOutcome::Pass { Tone::Quiet } else { Tone::Bad };
            let said = phrase("{0} check {1}: {2}", "{0} チェック {1}: {2}");
            lines.extend(self.line(
                tone,
                said,
                &[&session, &one_line(&check.name), &say_outcome(check.outcome, self.language)],
            ));
        }
        match &facts.merge {
            Merge::Merged { commit } => {
                let (files, short) = (facts.changed.len(), &commit[..commit.len().min(10)]);
                let ja = "{0} {1} の作業を {2} としてマージ、{3} ファイル";
                let said = match files {
                    1 => phrase("{0} the work of {1} is merged as {2}, {3} file", ja),
                    _ => phrase("{0} the work of {1} is merged as {2}, {3} files", ja),
                };
                lines.extend(self.line(Tone::Good, said, &[&session, &self.who(session), &short, &files]));
            }
            Merge::Waiting { .. } | Merge::NotTried => lines.extend(waits),
            Merge::Conflict { .. } => {}
        }
        let (protected, trusted) = say_judge_changes(&facts.judge_changes, self.language);
        lines.extend(
            trusted.into_iter().flat_map(|said| self.line(Tone::Bad, phrase("{0} {1}", "{0} {1}"), &[&session, &said])),
        );
        lines.extend(
            protected
                .into_iter()
                .flat_map(|said| self.line(Tone::Quiet, phrase("{0} {1}", "{0} {1}"), &[&session, &said])),
        );
        lines
    }

    /// What keeps ended work from being merged, unless it is only not its turn yet.
    fn waits(&self, session: SessionId) -> Vec<EventLine> {
        let waiting = self.board.session(session).ok().and_then(|session| waiting(self.board, session, self.at));
        let Some(waiting) = waiting.filter(|waiting| !matches!(waiting, Waiting::Behind { .. })) else {
            return Vec::new();
        };
        let said = phrase("{0} waits to be merged: {1}", "{0} はマージ待ち: {1}");
        self.line(Tone::Bad, said, &[&session, &say_waiting(&waiting, self.language)])
    }

    fn target_checked(&self, commit: &str, results: &[CheckResult]) -> Vec<EventLine> {
        let short = &commit[..commit.len().min(10)];
        let failed: Vec<_> = results.iter().filter(|check| check.outcome != CheckOutcome::Pass).collect();
        let Some(first) = failed.first() else {
            let said = phrase("the target passes its checks at {0}", "対象ブランチは {0} でチェックに合格");
            return self.line(Tone::Good, said, &[&short]);
        };
        let names: Vec<_> = failed.iter().map(|check| one_line(&check.name)).collect();
        let said = phrase(
            "the target itself fails {0} at {1}, and no work is merged until it is mended: {2}",
            "対象ブランチ自体が {1} で {0} に失敗しており、直るまでマージしません: {2}",
        );
        self.line(Tone::Bad, said, &[&list(&names), &short, &one_line(&first.output)])
    }

    fn who(&self, session: SessionId) -> String {
        self.board.session(session).map(|session| session.agent.to_string()).unwrap_or_default()
    }

    fn party(&self, party: &Party) -> String {
        say_party(party, self.reader, self.language)
    }
}

/// A rejection whose checks say one line each: the one that tells what is wrong.
fn shortened(why: &Rejection) -> Rejection {
    let Rejection::Check { failed } = why else { return why.clone() };
    let shorten = |check: &CheckResult| CheckResult { output: telling_line(&check.output).into(), ..check.clone() };
    Rejection::Check { failed: failed.iter().map(shorten).collect() }
}

/// The line of a check's output that tells most: the first that speaks of an error, else the last. Headings between
/// rules, such as `==== ERRORS ====`, tell nothing (D26).
fn telling_line(output: &str) -> &str {
    const TROUBLE: [&str; 6] = ["error", "fail", "panicked", "assert", "exception", "not found"];
    let is_heading = |line: &str| ["==", "--", "__", "**", "~~", "##"].iter().any(|rule| line.starts_with(rule));
    let mut lines = output.lines().map(str::trim).filter(|line| !line.is_empty() && !is_heading(line));
    let tells = |line: &&str| TROUBLE.iter().any(|word| line.to_lowercase().contains(word));
    lines.clone().find(tells).or_else(|| lines.next_back()).unwrap_or_else(|| output.trim())
}

/// The first lines of a text as one, and not too long.
pub fn one_line(text: &str) -> String {
    let line = clean(text).split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(160) {
        Some((at, _)) => format!("{}…", &line[..at]),
        None => line,
    }
}

/// Text from agents and files without anything that moves a terminal's cursor or turns the text round.
pub fn clean(text: &str) -> String {
    let hidden = |c: char| match c {
        '\n' => false,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => true,
        other => other.is_control(),
    };
    text.replace('\t', "    ").chars().map(|c| if hidden(c) { '\u{fffd}' } else { c }).collect()
}

/// What is said of work that changes the files that judge it: those that were taken from the target, and those that were
/// not.
pub fn say_judge_changes(changes: &JudgeChanges, language: Language) -> (Option<String>, Option<String>) {
    let said = |files: &[String], en: &'static str, ja: &'static str| {
        let files: Vec<_> = files.iter().map(|file| one_line(file)).collect();
        (!files.is_empty()).then(|| phrase(en, ja).say(language, &[&list(&files)]))
    };
    let protected = said(
        &changes.protected,
        "it changes protected files, and was checked with the target's: {0}",
        "保護されたファイルを変更しています (チェックは対象ブランチのもので実行): {0}",
    );
    let trusted = said(
        &changes.trusted,
        "it changes files that judge it, and was checked with its own: {0}",
        "判定に使われるファイルを変更しています (チェックは変更後のもので実行): {0}",
    );
    (protected, trusted)
}

#[cfg(test)]
mod tests {
    use super::telling_line;

    /// D26: what went wrong is told, not the ruler above it.
    #[test]
    fn the_line_that_tells_most_is_no_heading() {
        let pytest =
            "==== ERRORS ====\n____ ERROR collecting ____\nsrc/a.py:3: in f\nE   NameError: x\n==== 1 error ====";
        for (output, expected) in [
            (pytest, "E   NameError: x"),
            ("checking a\ntwo words are misspelt\n----\n", "two words are misspelt"),
            ("=====", "====="),
            ("", ""),
        ] {
            assert_eq!(telling_line(output), expected);
        }
    }
}
