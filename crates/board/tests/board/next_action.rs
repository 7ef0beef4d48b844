//! What does an agent do next? One test for every row of N2, with the row that answered.

use board::{
    Actor, AgentSpec, Choice, Code, Command, Decompose, EndReason, NextAction, Outcome, ProcessEnd, RefusalReason,
    Span, Status, next_action,
};

use crate::team::{INTERRUPTIONS, Team, depending, failing_check, moving, saving};
use crate::world::{World, owner, spec};
use Status::{Cancelled, Done, Failed, InProgress, Todo};

fn never_splits(agents: &mut [AgentSpec]) {
    spec(agents, "w1").decompose = Decompose::Never;
}

/// A worker in a session, with two steps.
fn stepping() -> (World, board::TaskId, board::SessionId, Vec<board::TaskId>) {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let steps = world.create(&Actor::Session(session), &["one", "two"]);
    (world, task, session, steps)
}

/// N2.1, S2: a session that has ended, left or lost its lease is refused.
#[test]
fn n2_1_session_that_is_over_is_stale() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let code = |world: &World| next_action(&world.board, session, world.now).map_err(|refusal| refusal.code());
    assert!(code(&world).is_ok());
    let mut lapsed = world.clone();
    lapsed.pass(Span::seconds(60));
    assert!(code(&lapsed).is_ok());
    lapsed.pass(Span(1));
    lapsed.must(&Actor::System, Command::Sweep);
    assert_eq!(code(&lapsed), Err(Code::StaleSession));
    world.must(&Actor::Session(session), Command::Logout);
    assert_eq!(code(&world), Err(Code::StaleSession));
    world.end(session, ProcessEnd::exited(0));
    assert_eq!(code(&world), Err(Code::StaleSession));
    assert_eq!(*world.refusal(&Actor::Session(session), &Command::NextAction).0, RefusalReason::StaleSession(session));
}

/// N2.2: everything that interrupts a session, by its name; it comes before the model is asked for.
#[test]
fn n2_2_interrupted_session_is_told_to_stop() {
    for (happens, interrupt, _) in INTERRUPTIONS {
        let mut team = Team::with_a_started();
        let worker = team.world.claim("w1", team.a);
        happens(&mut team);
        assert_eq!(team.world.ask(worker), (NextAction::Stop(interrupt), "N2.2"));
        assert_eq!(team.world.cannot(worker, crate::team::creating(&["one"])), Code::Interrupted);
        // N7: saving and leaving stay allowed.
        team.world.must(&Actor::Session(worker), saving());
        team.world.must(&Actor::Session(worker), Command::Logout);
    }
}

/// N2.3
#[test]
fn n2_3_model_is_reported_first() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.claim("w1", task);
    assert_eq!(world.ask(session), (NextAction::ReportModel, "N2.3"));
    let chat = world.chat("w2");
    assert_eq!(world.ask(chat), (NextAction::ReportModel, "N2.3"));
}

/// N2.4, F87: unread messages are shown once, and again only when there are new ones.
#[test]
fn n2_4_unread_messages_are_fetched() {
    let mut world = World::new();
    let chat = world.chat("w1");
    world.report_model(chat);
    assert_eq!(world.ask(chat), (NextAction::GetPendingMessages, "N2.4"));
    world.must(&Actor::Session(chat), Command::ShowMessages);
    assert_eq!(world.ask(chat).1, "N2.5");
    world.must(&owner(), crate::team::writing("w1"));
    assert_eq!(world.ask(chat).1, "N2.4");
}

/// A chat that has been shown everything.
fn quiet_chat() -> (World, board::SessionId) {
    let mut world = World::new();
    let chat = world.chat("w1");
    world.report_model(chat);
    world.must(&Actor::Session(chat), Command::ShowMessages);
    (world, chat)
}

/// N2.5
#[test]
fn n2_5_chat_waits_for_ten_idle_minutes() {
    let (mut world, chat) = quiet_chat();
    world.tend(Span::minutes(10));
    assert_eq!(world.ask(chat), (NextAction::WaitForMessages, "N2.5"));
}

/// N2.6: idle is counted from the last message to or from the agent.
#[test]
fn n2_6_chat_leaves_when_it_was_idle_for_longer() {
    let (mut world, chat) = quiet_chat();
    world.tend(Span(10 * 60_000 + 1));
    assert_eq!(world.ask(chat), (NextAction::LeaveChat, "N2.6"));
    let answer = Command::SendMessage { to: board::Party::Owner, content: "well".into(), related_task: None };
    world.must(&Actor::Session(chat), answer);
    assert_eq!(world.ask(chat).1, "N2.5");
}

/// N2.7, F10: after the report nothing is left; nor when the task is not in progress.
#[test]
fn n2_7_nothing_is_left_after_the_report() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let mut finished = world.clone();
    finished.must(&owner(), crate::team::forced(task, Done));
    assert_eq!(finished.ask(session), (NextAction::LogOut, "N2.7"));
    world.report(session, Outcome::Success);
    assert_eq!(world.ask(session), (NextAction::LogOut, "N2.7"));
    assert_eq!(world.cannot(session, crate::team::creating(&["one"])), Code::StateConflict);
}

/// N2.8
#[test]
fn n2_8_task_is_fetched_in_every_session() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.claim("w1", task);
    world.report_model(session);
    assert_eq!(world.ask(session), (NextAction::GetTask, "N2.8"));
    world.must(&Actor::Session(session), Command::FetchTask);
    assert_ne!(world.peek(session).1, "N2.8");
}

/// N2.9, N3: managers always split, workers unless they never do; cancelled children do not count.
#[test]
fn n2_9_task_without_live_children_is_split() {
    let mut team = Team::new();
    let lead = team.lead();
    assert_ne!(team.world.peek(team.lead).1, "N2.9");
    team.world.go(&lead, team.a, Cancelled);
    team.world.go(&lead, team.b, Cancelled);
    assert_eq!(team.world.ask(team.lead), (NextAction::CreateSubtasks, "N2.9"));
    let task = team.world.started("w1");
    let worker = team.world.enter("w1", task);
    assert_eq!(team.world.ask(worker), (NextAction::CreateSubtasks, "N2.9"));
}

/// N2.9, L6, F8: what cannot be split any more is not asked to be.
#[test]
fn n2_9_worker_that_has_used_up_its_children_works_itself() {
    let mut world = World::with(|settings, _| settings.limits.max_children_ever = 1);
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let step = world.create(&Actor::Session(session), &["one"])[0];
    world.go(&Actor::Session(session), step, Cancelled);
    assert_eq!(world.ask(session), (NextAction::Work, "N2.10"));
}

/// N2.10, N3
#[test]
fn n2_10_worker_that_never_splits_works_itself() {
    let mut world = World::with(|_, agents| never_splits(agents));
    let task = world.started("w1");
    let session = world.enter("w1", task);
    assert_eq!(world.ask(session), (NextAction::Work, "N2.10"));
}

/// N2.11: rejected, retried or reopened; a report or a new step since ends it.
#[test]
fn n2_11_task_that_came_back_is_reworked() {
    let (mut world, task, first, steps) = stepping();
    for step in &steps {
        world.go(&Actor::Session(first), *step, InProgress);
        world.go(&Actor::Session(first), *step, Done);
    }
    world.deliver(first, failing_check());
    let second = world.enter("w1", task);
    assert_eq!(world.ask(second), (NextAction::Rework, "N2.11"));
    let mut stepped = world.clone();
    stepped.create(&Actor::Session(second), &["mend"]);
    assert_eq!(stepped.ask(second).1, "N2.16");
    world.report(second, Outcome::Success);
    assert_eq!(world.ask(second).1, "N2.7");
    world.leave(second);
    world.examine(second, crate::team::merged());

    world.go(&owner(), task, Todo);
    world.go(&owner(), task, InProgress);
    let reopened = world.enter("w1", task);
    assert_eq!(world.ask(reopened), (NextAction::Rework, "N2.11"));
    world.end(reopened, ProcessEnd::exited(9));
    world.go(&owner(), task, Todo);
    world.go(&owner(), task, InProgress);
    let retried = world.enter("w1", task);
    assert_eq!(world.ask(retried), (NextAction::Rework, "N2.11"));
}

/// N2.12, N4, F10: a choice is given once, before anything below it, and then the table goes on.
#[test]
fn n2_12_choice_is_delivered_once_and_first() {
    for (choice, step) in [(Choice::Start, NextAction::Start), (Choice::Adjust, NextAction::Adjust)] {
        let mut team = Team::new();
        team.world.select(team.lead, choice);
        assert_eq!(team.world.ask(team.lead), (step, "N2.12"));
        assert_eq!(team.world.ask(team.lead).1, "N2.18");
    }
    let mut team = Team::with_a_started();
    let lead = team.lead();
    team.world.go(&lead, team.b, Cancelled);
    team.world.select(team.lead, Choice::Adjust);
    team.world.complete("w1", team.a);
    assert_eq!(team.world.ask(team.lead), (NextAction::Adjust, "N2.12"));
    assert_eq!(team.world.ask(team.lead), (NextAction::ReportCompletion, "N2.14"));
}

/// N2.13, N4: `wait` is given until the agent leaves.
#[test]
fn n2_13_wait_is_delivered_until_logout() {
    let mut team = Team::with_a_started();
    team.world.select(team.lead, Choice::Wait);
    assert_eq!(team.world.ask(team.lead), (NextAction::Wait, "N2.13"));
    assert_eq!(team.world.ask(team.lead), (NextAction::Wait, "N2.13"));
}

/// N2.14, F7: a cancelled child does not keep its parent from completing.
#[test]
fn n2_14_settled_children_complete_their_parent() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    team.world.complete("w1", team.a);
    assert_ne!(team.world.peek(team.lead).1, "N2.14");
    team.world.go(&lead, team.b, Cancelled);
    assert_eq!(team.world.ask(team.lead), (NextAction::ReportCompletion, "N2.14"));
}

/// N2.15
#[test]
fn n2_15_step_in_progress_is_executed() {
    let (mut world, _, session, steps) = stepping();
    world.go(&Actor::Session(session), steps[1], InProgress);
    assert_eq!(world.ask(session), (NextAction::ExecuteSubtask(steps[1]), "N2.15"));
}

/// N2.16, F11, F20: the most urgent ready step is next, then the oldest; never one that waits.
#[test]
fn n2_16_most_urgent_ready_step_is_next() {
    let (mut world, _, session, steps) = stepping();
    let me = Actor::Session(session);
    assert_eq!(world.ask(session), (NextAction::StartSubtask(steps[0]), "N2.16"));
    let urgent = board::TaskEdit { priority: Some(board::Priority::Critical), ..board::TaskEdit::default() };
    world.must(&me, Command::EditTask { task: steps[1], edit: urgent, forced: false });
    assert_eq!(world.ask(session), (NextAction::StartSubtask(steps[1]), "N2.16"));
    world.must(&me, depending(steps[1], steps[0]));
    assert_eq!(world.ask(session), (NextAction::StartSubtask(steps[0]), "N2.16"));
    assert_eq!(world.refused(&me, moving(steps[1], InProgress)), Code::NotReady);
}

/// N2.17, F2: nothing runs and nothing can be started: somebody has to look.
#[test]
fn n2_17_stuck_children_are_reviewed() {
    let (mut world, _, session, steps) = stepping();
    let me = Actor::Session(session);
    world.must(&me, depending(steps[1], steps[0]));
    world.go(&me, steps[0], InProgress);
    world.go(&me, steps[0], Failed);
    assert_eq!(world.ask(session), (NextAction::ReviewBlocks, "N2.17"));

    let mut team = Team::with_a_started();
    let lead = team.lead();
    team.world.must(&lead, depending(team.b, team.a));
    team.world.assign(&lead, team.b, "w2");
    assert_eq!(team.world.peek(team.lead).1, "N2.18");
    let worker = team.world.enter("w1", team.a);
    team.world.end(worker, ProcessEnd::because(EndReason::TimedOut));
    assert_eq!(team.world.ask(team.lead), (NextAction::ReviewBlocks, "N2.17"));
}

/// N2.18
#[test]
fn n2_18_manager_decides_otherwise() {
    let mut team = Team::new();
    assert_eq!(team.world.ask(team.lead), (NextAction::SituationalAwareness, "N2.18"));
    team.give("w1", team.a);
    assert_eq!(team.world.ask(team.lead), (NextAction::SituationalAwareness, "N2.18"));
}
