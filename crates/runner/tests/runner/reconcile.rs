//! What does the runner do next? The table of the reconciler (R12).

use std::time::Duration;

use board::{Generation, Purpose, Reason, SessionId, SessionStatus, Span, TaskId, Timestamp, Waiting};
use dispatch::{ExamineItem, Offer, SessionState, Wanted};
use runner::{Message, Mine, Outcome, Phase, Plan, Room, Step, reconcile};

const NOW: Duration = Duration::from_secs(1_000);
const ONE: SessionId = SessionId(1);
const GENERATION: Generation = Generation(1);

fn nothing() -> Wanted {
    Wanted {
        revision: 10,
        now: Timestamp(0),
        offers: Vec::new(),
        next_offer: None,
        sessions: Vec::new(),
        examine: Vec::new(),
        slots: None,
        target_branch: "main".into(),
        target_red: None,
    }
}

fn room() -> Room {
    Room { slots: 2, disk_full: false, only: None, most_claims: None, target: None }
}

fn offer(task: u32) -> Offer {
    Offer { agent: "w1".parse().unwrap(), task: Some(TaskId(task)) }
}

fn state(session: u32, task: u32) -> SessionState {
    SessionState {
        session: SessionId(session),
        generation: GENERATION,
        purpose: Purpose::Task(TaskId(task)),
        spawn: format!("spawn-{session}").parse().unwrap(),
        status: SessionStatus::Running,
        stop: None,
        finished: false,
        last_call_at: Timestamp(0),
        facts: 2,
    }
}

fn ended(session: u32, waiting: Option<Waiting>) -> ExamineItem {
    ExamineItem { session: SessionId(session), generation: GENERATION, waiting }
}

/// A runner in which session 1 runs for task 1.
fn running() -> (Mine, Wanted) {
    let (mut mine, mut wanted) = (Mine::default(), Wanted { offers: vec![offer(1)], ..nothing() });
    mine.begun(&Step::Claim { offer: offer(1) }, Some("spawn-1".parse().unwrap()));
    let claimed = Message::Claimed { offer: offer(1), session: ONE, generation: GENERATION, revision: 11 };
    mine.happened(&claimed, &mut wanted, NOW);
    (mine, Wanted { revision: 11, sessions: vec![state(1, 1)], ..wanted })
}

fn steps(wanted: &Wanted, mine: &Mine, room: &Room) -> Vec<Step> {
    reconcile(wanted, mine, room, NOW).steps
}

/// R9, A6: as many as there are slots, most urgent first; a chat takes none, and waits for none.
#[test]
fn offers_are_claimed_while_there_is_room() {
    let chat = Offer { agent: "w1".parse().unwrap(), task: None };
    let wanted = Wanted { offers: vec![offer(1), offer(2), offer(3), chat.clone()], ..nothing() };
    let claims = |offers: &[Offer]| offers.iter().map(|offer| Step::Claim { offer: offer.clone() }).collect::<Vec<_>>();
    assert_eq!(steps(&wanted, &Mine::default(), &room()), claims(&[offer(1), offer(2), chat.clone()]));
    let only = Room { only: Some(TaskId(3)), ..room() };
    assert_eq!(steps(&wanted, &Mine::default(), &only), claims(&[offer(3)]));
    let once = Room { most_claims: Some(1), ..room() };
    assert_eq!(steps(&wanted, &Mine::default(), &once), claims(&[offer(1)]));
    let full = Room { disk_full: true, ..room() };
    let plan = reconcile(&wanted, &Mine::default(), &full, NOW);
    assert_eq!((plan.steps, plan.wake_at.is_some()), (Vec::new(), true));
}

/// S1: nothing is claimed twice, neither while it is being claimed nor right after it could not be.
#[test]
fn offer_is_claimed_once() {
    let mut wanted = Wanted { offers: vec![offer(1)], ..nothing() };
    let mut mine = Mine::default();
    mine.begun(&Step::Claim { offer: offer(1) }, Some("spawn-1".parse().unwrap()));
    assert_eq!(steps(&wanted, &mine, &room()), []);
    // The board may already have the session, before its claim was answered.
    let early = Wanted { sessions: vec![state(1, 1)], offers: Vec::new(), ..nothing() };
    assert_eq!(steps(&early, &mine, &room()), []);
    mine.happened(&Message::NotClaimed { offer: offer(1) }, &mut wanted, NOW);
    let Plan { steps, wake_at } = reconcile(&wanted, &mine, &room(), NOW);
    assert_eq!(steps, []);
    assert_eq!(reconcile(&wanted, &mine, &room(), wake_at.unwrap()).steps, [Step::Claim { offer: offer(1) }]);
}

/// S2, R3, F126: sessions that nobody here knows are settled before anything is claimed.
#[test]
fn unknown_sessions_are_adopted_first() {
    let wanted = Wanted { sessions: vec![state(1, 1)], offers: vec![offer(2)], ..nothing() };
    let mut mine = Mine::default();
    let adopt = Step::Adopt { state: state(1, 1) };
    assert_eq!(steps(&wanted, &mine, &room()), std::slice::from_ref(&adopt));
    mine.begun(&adopt, None);
    assert_eq!(steps(&wanted, &mine, &room()), []);
    mine.happened(&Message::Adopted { session: ONE, running: true }, &mut wanted.clone(), NOW);
    assert_eq!(steps(&wanted, &mine, &room()), [Step::Claim { offer: offer(2) }]);
}

/// L4, S1: a process is ended when its session has to stop, and when the board has given it up; once.
#[test]
fn unwanted_processes_are_stopped() {
    let (mut mine, wanted) = running();
    let stop = Step::Stop { session: ONE };
    let stopped = Wanted { sessions: vec![SessionState { stop: Some(Reason::Blocked), ..state(1, 1) }], ..nothing() };
    for unwanted in [stopped, Wanted { revision: 12, ..nothing() }] {
        assert_eq!(steps(&unwanted, &mine, &room()), std::slice::from_ref(&stop));
    }
    // A board from before the claim knows nothing of it.
    assert_eq!(steps(&nothing(), &mine, &room()), []);
    mine.begun(&stop, None);
    assert_eq!(steps(&Wanted { revision: 12, ..nothing() }, &mine, &room()), []);
    // Its task is not started again beside it.
    let again = Wanted { revision: 12, offers: vec![offer(1)], ..nothing() };
    assert_eq!(steps(&again, &mine, &room()), []);
    mine.happened(&Message::Ended { session: ONE }, &mut wanted.clone(), NOW);
    assert!(steps(&again, &mine, &room()).contains(&Step::Claim { offer: offer(1) }));
}

/// V2: a client that has reported gets a minute to end by itself.
#[test]
fn finished_client_is_ended_after_a_minute() {
    let (mut mine, _) = running();
    let wanted = Wanted { sessions: vec![SessionState { finished: true, ..state(1, 1) }], revision: 12, ..nothing() };
    let [Step::EndBy { session: ONE, by }] = steps(&wanted, &mine, &room())[..] else { panic!("it is given time") };
    mine.begun(&Step::EndBy { session: ONE, by }, None);
    assert_eq!(reconcile(&wanted, &mine, &room(), NOW), Plan { steps: Vec::new(), wake_at: Some(by) });
    assert_eq!(reconcile(&wanted, &mine, &room(), by).steps, [Step::Finish { session: ONE }]);
}

/// V11: what waits for something that only the board can change is not looked at; the others go on.
#[test]
fn work_is_examined_unless_it_waits() {
    let red = Waiting::TargetRed { commit: "c".into(), checks: vec!["t".into()] };
    let files = Waiting::Files { reason: "a.rs has changes".into(), files: vec!["a.rs".into()] };
    let held = [red, Waiting::Held { by: TaskId(1) }, Waiting::RightOfWay { task: TaskId(1), files: Vec::new() }];
    for waiting in held {
        let wanted = Wanted { examine: vec![ended(1, Some(waiting)), ended(2, None)], ..nothing() };
        let examine = Step::Examine { session: SessionId(2), generation: GENERATION };
        assert_eq!(steps(&wanted, &Mine::default(), &room()), [examine]);
    }
    // Files of the user are looked at again and again, but not at once.
    let mut wanted = Wanted { examine: vec![ended(1, Some(files.clone()))], ..nothing() };
    let mut mine = Mine::default();
    let examine = Step::Examine { session: ONE, generation: GENERATION };
    assert_eq!(steps(&wanted, &mine, &room()), std::slice::from_ref(&examine));
    mine.begun(&examine, None);
    assert_eq!(steps(&wanted, &mine, &room()), []);
    let aside = Message::Examined { session: ONE, outcome: Outcome::Aside { waiting: Some(files) } };
    mine.happened(&aside, &mut wanted, NOW);
    let Plan { steps: none, wake_at } = reconcile(&wanted, &mine, &room(), NOW);
    assert_eq!(none, []);
    assert_eq!(reconcile(&wanted, &mine, &room(), wake_at.unwrap()).steps, std::slice::from_ref(&examine));
    // The board says that the wait is over.
    wanted.examine[0].waiting = None;
    assert_eq!(steps(&wanted, &mine, &room()), [examine]);
}

/// V10: trouble of our own is tried again, less and less often.
#[test]
fn trouble_is_tried_again_less_and_less_often() {
    let trouble = Some(Waiting::Trouble { reason: "disk".into() });
    let mut wanted = Wanted { examine: vec![ended(1, trouble.clone())], ..nothing() };
    let mut mine = Mine::default();
    let mut waits = Vec::new();
    for _ in 0..8 {
        mine.begun(&Step::Examine { session: ONE, generation: GENERATION }, None);
        let outcome = Outcome::Aside { waiting: trouble.clone() };
        mine.happened(&Message::Examined { session: ONE, outcome }, &mut wanted, NOW);
        waits.push((reconcile(&wanted, &mine, &room(), NOW).wake_at.unwrap() - NOW).as_secs());
    }
    assert_eq!(waits, [2, 4, 8, 16, 32, 60, 60, 60]);
}

/// R12: what ended is examined once, also if its end is told late.
#[test]
fn late_end_starts_no_second_examination() {
    let (mut mine, mut wanted) = running();
    wanted.examine = vec![ended(1, None)];
    assert_eq!(steps(&wanted, &mine, &room()), [], "its process is still being looked after");
    mine.happened(&Message::Ended { session: ONE }, &mut wanted, NOW);
    let examine = Step::Examine { session: ONE, generation: GENERATION };
    assert_eq!(steps(&wanted, &mine, &room()), std::slice::from_ref(&examine));
    mine.begun(&examine, None);
    mine.happened(&Message::Ended { session: ONE }, &mut wanted, NOW);
    assert_eq!(mine.sessions[&ONE].phase, Phase::Examining);
    // Cancelled meanwhile: nobody waits for the result.
    assert_eq!(steps(&Wanted { revision: 12, ..nothing() }, &mine, &room()), [Step::BreakOff { session: ONE }]);
    mine.happened(&Message::Examined { session: ONE, outcome: Outcome::BrokenOff }, &mut wanted, NOW);
    assert_eq!(steps(&Wanted { revision: 12, ..nothing() }, &mine, &room()), [Step::Forget { session: ONE }]);
}

/// V9: a red target is tested again when it is another commit, and looked at until then.
#[test]
fn red_target_is_checked_when_it_has_moved() {
    let wanted = Wanted { target_red: Some("red".into()), ..nothing() };
    let at = |commit: &str| Room { target: Some(commit.into()), ..room() };
    assert!(reconcile(&wanted, &Mine::default(), &at("red"), NOW).wake_at.is_some());
    assert_eq!(steps(&wanted, &Mine::default(), &at("other")), [Step::CheckTarget]);
    let mut mine = Mine::default();
    mine.begun(&Step::CheckTarget, None);
    assert_eq!(steps(&wanted, &mine, &at("other")), []);
}

/// A1.5: what is held back for a while is looked at again then.
#[test]
fn held_back_offer_is_waited_for() {
    let wanted = Wanted { next_offer: Some(Span::seconds(5)), ..nothing() };
    let wake = reconcile(&wanted, &Mine::default(), &room(), NOW).wake_at.unwrap();
    assert!(wake >= NOW + Duration::from_secs(5));
}
