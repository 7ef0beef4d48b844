//! What runs, what needs me, what landed, and what did it cost? The first page (W7).

use askama::Template;
use axum::extract::State;
use board::wire::{Report, Work};
use board::{Attention, Board, Need, Session, SessionId, SessionStatus, Span, Status, Task, attention, day_of};

use super::columns::MoveButton;
use super::layout::{Answer, Layout, NavItem, PageUser, Path, error_page, page};
use super::parts::{Age, Note, TaskLink, note, of_session};
use crate::person::Person;
use crate::problem::Problem;
use crate::{AppState, ProjectRequest};

/// What "of late" is.
const OF_LATE: Span = Span::minutes(24 * 60);

/// Agents, things that need somebody, and merged tasks that are shown.
const SHOWN: usize = 60;

#[derive(Debug, Template)]
#[template(path = "now.html")]
struct Now {
    layout: Layout,
    working: Vec<Working>,
    needs: Vec<NeedRow>,
    more_needs: usize,
    landed: Vec<Landed>,
    sent_back: u32,
    failed: usize,
    used: String,
    today: Option<DayBudget>,
    /// Nothing has ever been asked for.
    fresh: bool,
}

/// An agent at work.
#[derive(Debug)]
struct Working {
    session: SessionId,
    agent: String,
    task: Option<TaskLink>,
    since: Age,
    note: Note,
    said: Option<String>,
    heard: Age,
    cost: String,
    may_stop: bool,
}

/// Something that needs a person.
#[derive(Debug)]
struct NeedRow {
    key: String,
    what: &'static str,
    need: Need,
    task: TaskLink,
    note: Option<Note>,
    since: Age,
    button: Option<MoveButton>,
    /// Where it is seen to, if no button does it.
    place: Option<(String, &'static str)>,
}

#[derive(Debug)]
struct Landed {
    task: TaskLink,
    at: Age,
    work: String,
}

/// How much of the day's budget is used.
#[derive(Debug)]
struct DayBudget {
    percent: u64,
    said: String,
}

pub(super) async fn now(
    State(state): State<AppState>,
    PageUser(person): PageUser,
    Path(project): Path<String>,
) -> Answer {
    let open = state.project(&person, &project).await.map_err(error_page(&person))?;
    let working = working(&state, &person, &open).await.map_err(error_page(&person))?;
    let report = Report::of(&open.board, open.now + Span(-OF_LATE.0), open.now);
    let needed = attention(&open.board, open.now);
    let task_link =
        |id| open.board.tasks.get(&id).map(|task: &std::sync::Arc<Task>| TaskLink::of(task, person.language));
    let landed = report.tasks.iter().rev().filter(|task| task.merged_as.is_some() && task.status == Status::Done);
    let landed = landed.take(SHOWN).filter_map(|task| {
        Some(Landed {
            task: task_link(task.id)?,
            at: Age { at: task.at, now: open.now, language: person.language },
            work: work(&task.work, &person),
        })
    });
    page(&Now {
        working,
        more_needs: needed.len().saturating_sub(SHOWN),
        needs: needed.iter().take(SHOWN).filter_map(|found| need_row(&open, &person, found)).collect(),
        landed: landed.collect(),
        sent_back: report.total.sent_back,
        failed: report.count(Status::Failed),
        used: work(&report.total, &person),
        today: day_budget(&open, &person),
        fresh: open.board.tasks.is_empty(),
        layout: Layout::new(person.clone(), person.say("Now", "いま"), NavItem::Now, Some(&open)),
    })
}

async fn working(state: &AppState, person: &Person, open: &ProjectRequest) -> Result<Vec<Working>, Problem> {
    let mut live: Vec<&Session> = open.board.all_live_sessions().collect();
    // Those that run longest first: that is where one looks for what hangs.
    live.sort_by_key(|session| (session.status == SessionStatus::Verifying, session.claimed_at));
    let mut rows = Vec::new();
    for session in live.into_iter().take(SHOWN) {
        let activity = state.activity(person, &open.id, session.id).await?;
        let heard = activity.as_ref().map_or(session.heard_at(), |activity| activity.at.max(session.heard_at()));
        let stop = board::Command::StopSession { session: session.id, restart: false };
        let running = session.status != SessionStatus::Verifying;
        rows.push(Working {
            session: session.id,
            agent: session.agent.to_string(),
            task: session
                .task()
                .and_then(|id| open.board.tasks.get(&id))
                .map(|task| TaskLink::of(task, person.language)),
            since: Age { at: session.claimed_at, now: open.now, language: person.language },
            note: of_session(&open.board, session, open.now, person.language),
            said: activity.map(|activity| activity.line),
            heard: Age { at: heard, now: open.now, language: person.language },
            cost: if session.spent.is_nothing() {
                String::new()
            } else {
                board::say_spent(&session.spent, person.language)
            },
            may_stop: running
                && person.is_owner()
                && board::admit(&open.board, &person.actor(), &stop, open.now).is_ok_and(|events| !events.is_empty()),
        });
    }
    Ok(rows)
}

fn need_row(open: &ProjectRequest, person: &Person, found: &Attention) -> Option<NeedRow> {
    let board: &Board = &open.board;
    let task = board.tasks.get(&found.task)?;
    let place = |path: &str, en, ja| Some((format!("/p/{}/{path}", open.id), person.say(en, ja)));
    let (what, wanted, place) = match found.need {
        Need::TargetRed => (
            person.say("Target fails its checks", "対象ブランチのチェック失敗"),
            None,
            place("queue", "See what fails", "失敗内容を見る"),
        ),
        Need::Files => (
            person.say("Your files are in the way", "編集中のファイルと競合"),
            None,
            place("queue", "See which", "ファイルを見る"),
        ),
        Need::Trouble => {
            (person.say("Cannot be merged", "マージできません"), None, place("queue", "See why", "理由を見る"))
        }
        Need::Failed => (person.say("Failed", "失敗"), Some("retry"), None),
        Need::Blocked => (person.say("Blocked", "ブロック"), Some("unblock"), None),
        Need::Proposal => {
            (person.say("Proposes to remember", "メモリーの提案"), None, place("memory", "Read it", "読む"))
        }
        Need::Start => (person.say("Ready to start", "開始できます"), Some("start"), None),
    };
    let button = wanted.and_then(|wanted| {
        MoveButton::all(board, person, task, false, open.now)
            .into_iter()
            .find(|button| button.name == wanted && !button.later)
    });
    Some(NeedRow {
        key: format!("{}-{}", found.need, found.task),
        what,
        need: found.need,
        task: TaskLink::of(task, person.language),
        note: (found.need != Need::Start).then(|| note(board, task, open.now, person)).flatten(),
        since: Age { at: found.since, now: open.now, language: person.language },
        button,
        place,
    })
}

/// What sessions cost, and how long they took.
fn work(work: &Work, person: &Person) -> String {
    let about = if work.estimated_micros > 0 { "≈ " } else { "" };
    let money = (work.cost_micros > 0).then(|| format!("{about}{}", board::say_money(work.cost_micros)));
    let tokens = work.input_tokens + work.output_tokens;
    let tokens = (tokens > 0).then(|| format!("{} {}", board::say_tokens(tokens), person.say("tokens", "トークン")));
    let time = board::say_span(Span(work.milliseconds), person.language);
    [money, tokens, Some(time)].into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn day_budget(open: &ProjectRequest, person: &Person) -> Option<DayBudget> {
    let (allowed, day) = (open.board.settings.budget.day, day_of(open.now));
    let spent = open.board.days.get(&day).copied().unwrap_or_default();
    let (used, most) = match (allowed.cost_micros, allowed.tokens) {
        (Some(most), _) => (spent.cost_micros, most),
        (None, Some(most)) => (spent.tokens, most),
        (None, None) => return None,
    };
    let said = match allowed.cost_micros {
        Some(most) => format!("{} / {}", board::say_money(used), board::say_money(most)),
        None => {
            format!("{} / {} {}", board::say_tokens(used), board::say_tokens(most), person.say("tokens", "トークン"))
        }
    };
    Some(DayBudget { percent: (used.saturating_mul(100) / most.max(1)).min(100), said })
}
