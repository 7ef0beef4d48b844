//! Do the texts say what they said? All of them on one page, to be read by people when one changes (C5, N1, M4).

use std::fmt::Write as _;

use board::{
    Answer, Audience, Choice, Interrupt, Language, Outcome, Progress, Purpose, Reason, Refusal, RefusalReason,
    Rejection, Status, StopCause, TaskId, Tool, event_lines, instruction, replies, say_reason, say_rejection,
    wire::TaskSummary,
};

use crate::answers::every_step;
use crate::refusals::every_refusal;
use crate::samples::every_event;
use crate::team::{Team, failing_check};
use crate::world::agent;

const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/texts.md");

/// C5, N1, M4: a changed text is seen where texts are read, and none changes by accident.
#[test]
fn texts_are_those_on_the_page() {
    let mut page = String::from("# What is said\n\nPrinted by a test of `board` with SAIHAI_BLESS=1.\n");
    for language in Language::ALL {
        page.push_str(&format!("\n# {language:?}\n"));
        refusals(&mut page, *language);
        instructions(&mut page, *language);
        replies(&mut page, *language);
        reasons(&mut page, *language);
        events(&mut page, *language);
    }
    if std::env::var_os("SAIHAI_BLESS").is_some() {
        std::fs::write(PAGE, &page).unwrap();
    }
    let written = std::fs::read_to_string(PAGE).unwrap_or_default();
    for (line, (now, then)) in page.lines().zip(written.lines()).enumerate() {
        assert_eq!(now, then, "line {} of tests/golden/texts.md; SAIHAI_BLESS=1 writes it anew", line + 1);
    }
    assert_eq!(page.len(), written.len(), "tests/golden/texts.md is not whole; SAIHAI_BLESS=1 writes it anew");
}

fn line(page: &mut String, text: &str) {
    writeln!(page, "{text}").unwrap();
}

fn refusals(page: &mut String, language: Language) {
    line(page, "\n## Refusals\n");
    let not_staffed = |reason: &Reason| RefusalReason::NotStaffed { agent: agent("w1"), reason: *reason };
    let settled =
        RefusalReason::IllegalMove { task: TaskId(1), from: Status::Done, to: Status::Todo, legal: Vec::new() };
    let more = Reason::ALL.iter().map(not_staffed).chain([settled]).map(Refusal::from);
    for refusal in every_refusal().into_iter().chain(more) {
        line(page, &format!("{} `{}`", refusal.message(language), refusal.code()));
        line(page, &format!("- agent: {}", refusal.hint(language, Audience::Agent)));
        line(page, &format!("- person: {}", refusal.hint(language, Audience::Person)));
    }
}

fn instructions(page: &mut String, language: Language) {
    line(page, "\n## Instructions");
    let task = |id, status| TaskSummary {
        id: TaskId(id),
        title: format!("title {id}"),
        status,
        assignee_id: Some(agent("w1")),
        description: Some("description".into()),
        summary: None,
    };
    for action in every_step(TaskId(2)) {
        let answer = Answer {
            action,
            tools: Tool::ALL.to_vec(),
            task: Some(task(1, Status::InProgress)),
            subtask: Some(task(2, Status::Todo)),
            progress: Some(Progress { total: 7, done: 1, in_progress: 2, unstarted: 1, blocked: 2, failed: 1 }),
            waiting: vec![task(3, Status::InProgress)],
            children: vec![task(2, Status::Todo), task(3, Status::InProgress)],
            feedback: Some(Rejection::NoChange),
            comments: Vec::new(),
        };
        let reason = action.reason().unwrap_or("-");
        line(
            page,
            &format!("\n### {} {} {reason}\n\n{}", action.action(), action.state(), instruction(&answer, language)),
        );
    }
}

fn replies(page: &mut String, language: Language) {
    line(page, "\n## Replies\n");
    let mut said = vec![
        replies::authenticated(true, language),
        replies::authenticated(false, language),
        replies::model_reported(true, language),
        replies::model_reported(false, language),
        replies::task_updated(language),
        replies::context_saved(language),
        replies::logged_out(language),
    ];
    said.extend(Choice::ALL.iter().map(|choice| replies::selected(*choice, language)));
    let mut team = Team::with_a_started();
    let worker = team.world.enter("w1", team.a);
    let mut settings = (*team.world.board.settings).clone();
    settings.language = language;
    team.world.board.settings = settings.into();
    for session in [team.lead, worker] {
        let session = team.world.session(session);
        assert_ne!(session.purpose, Purpose::Chat);
        said.extend(Outcome::ALL.iter().map(|result| replies::reported(&team.world.board, session, *result)));
    }
    said.iter().for_each(|text| line(page, text));
}

fn reasons(page: &mut String, language: Language) {
    line(page, "\n## Reasons and rejections\n");
    Reason::ALL.iter().for_each(|reason| line(page, &format!("{reason}: {}", say_reason(*reason, language))));
    let rejections = every_rejection();
    rejections.iter().for_each(|why| line(page, &format!("{}: {}", why.as_str(), say_rejection(why, language))));
}

fn every_rejection() -> Vec<Rejection> {
    let files = || vec!["a.rs".to_owned(), "b.rs".to_owned()];
    vec![
        Rejection::NoReport,
        Rejection::ScopeViolation { files: files() },
        Rejection::NoChange,
        Rejection::Conflict { files: files() },
        Rejection::Check { failed: failing_check().checks },
        Rejection::Goal { unmet: files() },
        Rejection::ChildrenOpen,
    ]
}

fn events(page: &mut String, language: Language) {
    line(page, "\n## Events\n");
    let mut board = Team::with_a_started().world.board;
    let telling = board::Telling { reader: board::Reader::Owner, language, on_page_of: None };
    for event in every_event() {
        for said in event_lines(&board, &event, telling, |at| at.to_string()) {
            line(page, &format!("{:?} {}", said.tone, said.text));
        }
        board::apply(&mut board, &event);
    }
}

/// N1, F24: why a session is interrupted, as answers and traces carry it.
#[test]
fn interrupts_have_their_words() {
    let derived = [
        (Interrupt::Cancelled, "cancelled"),
        (Interrupt::Blocked, "blocked"),
        (Interrupt::Reassigned, "reassigned"),
        (Interrupt::Held { by: TaskId(1) }, "held"),
        (Interrupt::ProjectPaused, "project_paused"),
    ];
    let recorded = StopCause::ALL.iter().map(|cause| (Interrupt::Stopped(*cause), cause.as_str()));
    for (interrupt, word) in derived.into_iter().chain(recorded) {
        assert_eq!(interrupt.as_str(), word);
    }
}

/// C5: a time is said in the unit that a person would take.
#[test]
fn spans_are_said_in_one_unit() {
    for (seconds, said, said_in_japanese) in [
        (0, "0 s", "0 秒"),
        (119, "119 s", "119 秒"),
        (120, "2 min", "2 分"),
        (7_199, "119 min", "119 分"),
        (7_200, "2 h", "2 時間"),
        (172_799, "47 h", "47 時間"),
        (172_800, "2 d", "2 日"),
    ] {
        let span = board::Span::seconds(seconds);
        assert_eq!(
            [Language::En, Language::Ja].map(|language| board::say_span(span, language)),
            [said, said_in_japanese]
        );
    }
    assert_eq!(board::Span(-5).to_string(), "0 s", "a clock that was set back");
}

/// C5, W12: what Saihai gives as a reason is said in words; what people and agents wrote stays as it is.
#[test]
fn reasons_of_moves_are_said_in_words() {
    for (reason, english, said) in [
        ("no_progress", "no progress was made", "進展がありません"),
        ("fuel_spent: max_calls", "it has used up its calls", "呼び出し回数の上限を使い切りました"),
        (
            "attempts_spent: check",
            "every attempt was sent back, the last one for a check that failed",
            "すべての試行が差し戻されました。最後の理由: チェックの失敗",
        ),
        ("exit code 3", "it ended with exit code 3", "終了コード 3 で終わりました"),
        ("signal SIGKILL", "it was killed by SIGKILL", "SIGKILL で強制終了しました"),
        ("waiting for the owner", "waiting for the owner", "waiting for the owner"),
    ] {
        assert_eq!(board::say_move_reason(reason, Language::En), english);
        assert_eq!(board::say_move_reason(reason, Language::Ja), said);
    }
    let codes = board::Fuel::ALL.iter().map(|fuel| fuel.reason().to_owned());
    let sent_back = every_rejection().into_iter().map(|why| format!("attempts_spent: {}", why.as_str()));
    let ends = board::EndReason::ALL
        .iter()
        .map(|end| end.as_str())
        .filter(|end| !["exited", "signaled", "stopped", "lost"].contains(end));
    for code in codes.chain(sent_back).chain(ends.map(str::to_owned)) {
        for language in Language::ALL {
            let said = board::say_move_reason(&code, *language);
            assert!(said != code && !said.contains('_'), "{code}: {said}");
        }
    }
}

/// C5: what agents wrote cannot move a cursor or turn the text round.
#[test]
fn text_from_agents_is_made_harmless() {
    assert_eq!(board::clean("a\tb\nc"), "a    b\nc");
    assert_eq!(board::clean("\u{1b}[2J\u{202e}x\u{2066}\r"), "\u{fffd}[2J\u{fffd}x\u{fffd}\u{fffd}");
}
