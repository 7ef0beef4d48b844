//! Is what an agent reads possible, complete, and in its language (N1, F8)?

use std::collections::BTreeSet;

use board::{
    Actor, Answer, Choice, Command, Interrupt, Language, NextAction, Outcome, SessionId, Status, StopCause, Tool,
    example_calls, instruction, say_why, why,
};

use crate::team::{Team, failing_check};
use crate::world::{World, owner};

/// Checks the answer that a session would get now, and the explanation of its task.
pub(crate) fn check(world: &World, session: SessionId) {
    let mut world = world.clone();
    // It is told with the answer what was written, and may report then.
    if world.session(session).fetched {
        let _ = world.attempt(&Actor::Session(session), &Command::FetchTask);
    }
    let world = &world;
    let (action, row) = world.peek(session);
    let answer = Answer::of(&world.board, session, action, world.now).unwrap();
    for language in Language::ALL {
        check_text(&answer, *language);
    }
    // What is left of a task that came back may be nothing but its open steps.
    assert!(!answer.tools.is_empty(), "{row} {action:?} offers nothing");
    for tool in &answer.tools {
        assert!(can_follow(world, session, *tool, action), "{row} {action:?} names {tool}, which is refused");
    }
    if let Some(task) = world.session(session).task() {
        check_why(world, task);
    }
}

fn check_text(answer: &Answer, language: Language) {
    let text = instruction(answer, language);
    let open: BTreeSet<_> = answer.tools.iter().copied().chain([Tool::GetNextAction]).collect();
    let named = tools_in(&text);
    assert!(named.is_subset(&open), "{:?} names {named:?}, open are {open:?}: {text}", answer.action);
    assert!(!text.trim().is_empty());
    assert_eq!(has_japanese(&text), language == Language::Ja, "{text}");
    let words = [answer.action.action(), answer.action.state()];
    assert!(words.iter().all(|word| !word.is_empty() && word.chars().all(|c| c.is_ascii_lowercase() || c == '_')));
}

fn check_why(world: &World, task: board::TaskId) {
    let explained = why(&world.board, task, world.now, &board::RunnerView::Unknown).unwrap();
    assert!(!explained.lines.is_empty(), "nothing explains {task}");
    for line in &explained.lines {
        for language in Language::ALL {
            let said = say_why(line, task, *language);
            assert!(!said.is_empty() && !said.contains('{'), "{line:?}: {said}");
        }
    }
}

/// The names of tools that occur in a text.
pub(crate) fn tools_in(text: &str) -> BTreeSet<Tool> {
    let words = text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
    words.filter_map(|word| word.parse().ok()).collect()
}

pub(crate) fn has_japanese(text: &str) -> bool {
    text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
}

/// Is one of the calls accepted by which the agent could follow the step, at once or, where work is
/// to be started, after assigning it?
fn can_follow(world: &World, session: SessionId, tool: Tool, action: NextAction) -> bool {
    let me = Actor::Session(session);
    let Some(calls) = calls(world, session, tool, action) else { return true };
    if calls.iter().any(|call| world.allows(&me, call)) {
        return true;
    }
    // The same instruction asks for this first.
    let first = match action {
        NextAction::Start => self::calls(world, session, Tool::AssignTask, action),
        NextAction::GetPendingMessages => self::calls(world, session, Tool::GetPendingMessages, action),
        _ => None,
    };
    first.into_iter().flatten().any(|first| {
        let mut after = world.clone();
        let done = after.attempt(&me, &first).is_ok();
        done && self::calls(&after, session, tool, action).into_iter().flatten().any(|call| after.allows(&me, &call))
    })
}

fn calls(world: &World, session: SessionId, tool: Tool, action: NextAction) -> Option<Vec<Command>> {
    let session = world.session(session);
    let task = session.task().map(|task| world.task(task));
    example_calls(&world.board, session, task, tool, action)
}

/// Every step there is; a new one does not compile until it is here.
pub(crate) fn every_step(subtask: board::TaskId) -> Vec<NextAction> {
    use NextAction as S;
    let mut steps = vec![S::ReportModel];
    loop {
        let next = match steps.last().unwrap() {
            S::ReportModel => S::GetPendingMessages,
            S::GetPendingMessages => S::WaitForMessages,
            S::WaitForMessages => S::LeaveChat,
            S::LeaveChat => S::LogOut,
            S::LogOut => S::GetTask,
            S::GetTask => S::CreateSubtasks,
            S::CreateSubtasks => S::Work,
            S::Work => S::Rework,
            S::Rework => S::Start,
            S::Start => S::Adjust,
            S::Adjust => S::Wait,
            S::Wait => S::ReportCompletion,
            S::ReportCompletion => S::ExecuteSubtask(subtask),
            S::ExecuteSubtask(_) => S::StartSubtask(subtask),
            S::StartSubtask(_) => S::ReviewBlocks,
            S::ReviewBlocks => S::SituationalAwareness,
            S::SituationalAwareness => S::Stop(Interrupt::Cancelled),
            S::Stop(_) => break,
        };
        steps.push(next);
    }
    let causes = StopCause::ALL.iter().map(|cause| Interrupt::Stopped(*cause));
    let derived =
        [Interrupt::Blocked, Interrupt::Reassigned, Interrupt::Held { by: subtask }, Interrupt::ProjectPaused];
    steps.extend(causes.chain(derived).map(S::Stop));
    steps
}

/// N1: every step has an instruction in English and in Japanese that names only open calls.
#[test]
fn every_step_is_said_in_both_languages() {
    let team = Team::with_a_started();
    for action in every_step(team.a) {
        // Those whose opening names their one call are only given where that call is open.
        let answer = Answer::of(&team.world.board, team.lead, action, team.world.now).unwrap();
        let answer = Answer { tools: answer.tools.into_iter().chain(only_call(action)).collect(), ..answer };
        Language::ALL.iter().for_each(|language| check_text(&answer, *language));
        assert_eq!(action.reason().is_some(), matches!(action, NextAction::Stop(_)), "{action:?}");
    }
}

fn only_call(action: NextAction) -> Option<Tool> {
    match action {
        NextAction::GetPendingMessages => Some(Tool::GetPendingMessages),
        NextAction::ReportCompletion => Some(Tool::ReportCompleted),
        NextAction::ExecuteSubtask(_) | NextAction::StartSubtask(_) => Some(Tool::UpdateTaskStatus),
        _ => None,
    }
}

/// N1: a chat that is stopped has no context to save, and is not told to.
#[test]
fn stopped_chat_is_told_only_to_log_out() {
    let mut world = World::new();
    let chat = world.chat("w1");
    world.must(&owner(), Command::StopSession { session: chat, restart: true });
    check(&world, chat);
    let (action, _) = world.peek(chat);
    let answer = Answer::of(&world.board, chat, action, world.now).unwrap();
    assert_eq!(answer.tools, [Tool::Logout]);
}

/// N1, M4: a session whose calls are spent cannot save anything any more.
#[test]
fn session_without_calls_is_told_only_to_log_out() {
    let mut world = World::with(|settings, _| settings.limits.max_calls = 10);
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let left = 10 - world.session(session).calls;
    world.must(&Actor::Session(session), Command::CountCalls { calls: left, repeated: None });
    check(&world, session);
    let (action, _) = world.peek(session);
    assert_eq!(Answer::of(&world.board, session, action, world.now).unwrap().tools, [Tool::Logout]);
}

/// N1, N2.17, M4: a worker is never told to use a manager's tool.
#[test]
fn worker_with_stuck_steps_is_offered_no_tool_of_a_manager() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let me = Actor::Session(session);
    let steps = world.create(&me, &["one", "two"]);
    world.must(&me, crate::team::depending(steps[1], steps[0]));
    world.go(&me, steps[0], Status::InProgress);
    world.go(&me, steps[0], Status::Failed);
    check(&world, session);
    let answer = Answer::of(&world.board, session, NextAction::ReviewBlocks, world.now).unwrap();
    let tools = [Tool::ListTasks, Tool::GetTask, Tool::UpdateTaskStatus, Tool::ReportCompleted];
    assert_eq!((world.peek(session).0, answer.tools.as_slice()), (NextAction::ReviewBlocks, tools.as_slice()));
}

/// N5, F3: `adjust` lists the children that exist, `situational_awareness` only counts.
#[test]
fn adjust_lists_the_children_and_awareness_only_counts_them() {
    let mut team = Team::with_a_started();
    let of = |team: &Team| {
        let (action, _) = team.world.peek(team.lead);
        Answer::of(&team.world.board, team.lead, action, team.world.now).unwrap()
    };
    let aware = of(&team);
    assert_eq!((aware.action, aware.children.len()), (NextAction::SituationalAwareness, 0));
    let counts = aware.progress.unwrap();
    assert_eq!((counts.total, counts.in_progress, counts.unstarted), (2, 1, 1));
    team.world.select(team.lead, Choice::Adjust);
    let adjust = of(&team);
    let listed: Vec<_> = adjust.children.iter().map(|child| (child.id, child.status)).collect();
    assert_eq!(listed, [(team.a, Status::InProgress), (team.b, Status::Backlog)]);
    let text = instruction(&adjust, Language::En);
    assert!(text.contains("tsk_2") && text.contains("tsk_3"), "{text}");
}

/// V3, N2.11: the instruction of a rework carries what was wrong.
#[test]
fn rework_says_which_check_failed_and_how() {
    let mut world = World::new();
    let task = world.started("w1");
    let first = world.enter("w1", task);
    let steps = world.create(&Actor::Session(first), &["one", "two"]);
    for action in steps {
        world.go(&Actor::Session(first), action, Status::InProgress);
        world.go(&Actor::Session(first), action, Status::Done);
    }
    world.deliver(first, failing_check());
    let second = world.enter("w1", task);
    let answer = Answer::of(&world.board, second, world.peek(second).0, world.now).unwrap();
    assert_eq!(answer.action, NextAction::Rework);
    for language in Language::ALL {
        let text = instruction(&answer, *language);
        assert!(text.contains("tests_pass") && text.contains("2 failed"), "{text}");
    }
}

/// N1, F8: reporting `blocked` stays possible while children are blocked.
#[test]
fn manager_with_blocked_children_can_still_report_that_it_is_blocked() {
    let mut team = Team::with_a_started();
    let lead = team.lead();
    team.world.go(&lead, team.a, Status::Blocked);
    team.world.go(&lead, team.b, Status::Cancelled);
    assert_eq!(team.world.ask(team.lead).0, NextAction::ReviewBlocks);
    team.world.report(team.lead, Outcome::Blocked);
    team.world.leave(team.lead);
    assert_eq!(team.world.task(team.top).status, Status::Blocked);
}

/// N1: how far the work is counts every child by its status.
#[test]
fn progress_counts_steps_by_their_status() {
    let mut world = World::new();
    let task = world.started("w1");
    let session = world.enter("w1", task);
    let me = Actor::Session(session);
    let steps = world.create(&me, &["a", "b", "c", "d", "e"]);
    for (step, to) in [(0, Status::Done), (1, Status::Failed), (2, Status::Blocked)] {
        world.go(&me, steps[step], Status::InProgress);
        world.go(&me, steps[step], to);
    }
    world.go(&me, steps[3], Status::InProgress);
    let (action, _) = world.peek(session);
    let progress = Answer::of(&world.board, session, action, world.now).unwrap().progress.unwrap();
    let expected = board::Progress { total: 5, done: 1, in_progress: 1, unstarted: 1, blocked: 1, failed: 1 };
    assert_eq!(progress, expected);
}

/// N1: who is to assign and then start is offered both, though a start is refused before.
#[test]
fn starting_is_offered_although_assigning_comes_first() {
    let team = Team::new();
    let offered = |action| Answer::of(&team.world.board, team.lead, action, team.world.now).unwrap().tools;
    assert!(offered(NextAction::Start).contains(&Tool::UpdateTaskStatus));
}
