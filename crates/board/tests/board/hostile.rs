//! Is everything bounded, whatever agents do (G4, F26), and is the board its log (E1, E4)?

use std::collections::BTreeMap;

use board::{
    Action, Actor, Answer, Board, CheckOutcome, Choice, Command, Context, Destination, Event, EventKind, Examination,
    Fact, Kind, Limits, Merge, NewTask, Outcome, Party, ProcessEnd, Purpose, Reason, SessionId, SessionStatus,
    Settings, Span, Status, TaskEdit, TaskId, Tool, VendorTrouble, WorkspaceFacts, apply, example_calls, snapshot,
    staff_task, staffing,
};
use proptest::prelude::*;

use crate::team::{claiming, claiming_chat, failing_check, merged, writing};
use crate::world::{World, agent, owner, project, roster, runner};

/// Small enough to be spent within a test.
fn small() -> Limits {
    Limits {
        max_children: 2,
        max_children_ever: 3,
        max_depth: 2,
        max_attempts: 2,
        max_retries: 1,
        max_idle_sessions: 3,
        max_task_sessions: 5,
        max_calls: 40,
        max_messages: 3,
        max_repeats: 8,
        ..Limits::default()
    }
}

const BATCH: u64 = 3;

/// What the limits allow in all, for so many tasks of the owner and so many of its messages.
struct Bounds {
    tasks: u64,
    sessions: u64,
    commands: u64,
}

impl Bounds {
    fn of(limits: &Limits, roots: u64, messages: u64) -> Self {
        let ever = u64::from(limits.max_children_ever);
        let tasks: u64 = roots * (0..=limits.max_depth).map(|depth| ever.pow(depth)).sum::<u64>();
        let chats = messages * chats_for_one_message(limits);
        let calls = u64::from(limits.max_calls);
        let sessions = tasks * u64::from(limits.max_task_sessions) + chats;
        Self { tasks: tasks * (1 + ever) + chats * calls * BATCH, sessions, commands: sessions * (calls + 2) }
    }
}

/// How often an unread message starts a chat before it expires: the pauses double.
fn chats_for_one_message(limits: &Limits) -> u64 {
    let (mut at, mut pause, mut starts) = (0, limits.backoff_first.0, 1);
    while at + pause <= limits.message_ttl.0 {
        (at, pause, starts) = (at + pause, (pause * 2).min(limits.backoff_most.0), starts + 1);
    }
    starts
}

/// One arbitrary deed: who, what, and two arguments.
type Deed = (u8, u8, u8, u8);

struct Game {
    world: World,
    /// Commands of each session that were accepted and changed something.
    commands: BTreeMap<SessionId, u64>,
}

fn pick<T>(items: &[T], n: u8) -> Option<&T> {
    items.get(usize::from(n).checked_rem(items.len())?)
}

impl Game {
    fn new() -> Self {
        let mut world = World::with(|settings, _| settings.limits = small());
        for assignee in ["lead", "w1"] {
            world.started(assignee);
            world.must(&owner(), writing(assignee));
        }
        Self { world, commands: BTreeMap::new() }
    }

    /// Starts whatever staffing says should be started, as an eager runner would.
    fn staff(&mut self) {
        for spec in roster() {
            loop {
                let answer = staffing(&self.world.board, &spec.id, self.world.now).unwrap();
                let claim = match (answer.action, answer.purpose) {
                    (Action::Start, Some(Purpose::Task(task))) => claiming(spec.id.as_str(), task),
                    (Action::Start, Some(Purpose::Chat)) => claiming_chat(spec.id.as_str()),
                    _ => break,
                };
                self.world.must(&runner(), claim);
            }
        }
    }

    fn play(&mut self, (who, what, a, b): Deed) {
        self.staff();
        let callers: Vec<_> = self.world.board.all_live_sessions().filter(|s| s.can_call()).map(|s| s.id).collect();
        let live: Vec<_> = self.world.board.all_live_sessions().map(|s| s.id).collect();
        let silent: Vec<_> = live.iter().copied().filter(|session| !callers.contains(session)).collect();
        match (what % 32, pick(&callers, who), pick(&silent, who)) {
            (0..=23, Some(session), _) => self.obey(*session, a, b),
            (24..=26, Some(session), _) => self.submit(*session, &self.arbitrary(*session, a, b)),
            (27, Some(session), _) => self.end(*session, a),
            (_, _, Some(session)) if what % 32 < 31 => self.examine(*session, a),
            _ => self.pass(a, b),
        }
        self.check();
    }

    /// Does one of the calls that its answer names.
    fn obey(&mut self, id: SessionId, a: u8, b: u8) {
        let world = &self.world;
        let Ok((step, _)) = board::next_action(&world.board, id, world.now) else { return };
        crate::answers::check(world, id);
        let answer = Answer::of(&world.board, id, step, world.now).unwrap();
        let session = world.session(id);
        let task = session.task().map(|task| world.task(task));
        let calls = |tool: &Tool| example_calls(&world.board, session, task, *tool, step);
        let calls: Vec<_> = answer.tools.iter().filter_map(calls).filter(|calls| !calls.is_empty()).collect();
        let call = pick(&calls, a / 4).filter(|_| !a.is_multiple_of(4)).and_then(|calls| pick(calls, b));
        let call = call.cloned().unwrap_or(Command::NextAction);
        self.submit(id, &call);
    }

    /// A call that leaves no event is counted by whoever serves it.
    fn submit(&mut self, id: SessionId, command: &Command) {
        let me = Actor::Session(id);
        let Ok(events) = self.world.attempt(&me, command) else { return };
        let counted =
            events.is_empty() && self.world.attempt(&me, &Command::CountCalls { calls: 1, repeated: None }).is_ok();
        *self.commands.entry(id).or_default() += u64::from(!events.is_empty() || counted);
    }

    /// Any call an agent can make, with any arguments.
    fn arbitrary(&self, id: SessionId, a: u8, b: u8) -> Command {
        let task = TaskId(u32::from(a) % (self.world.board.tasks.len() as u32 + 2));
        let other = TaskId(u32::from(b) % (self.world.board.tasks.len() as u32 + 2));
        let (text, forced) = (format!("{}", b % 5), a > 240);
        let to = pick(&roster(), b).map(|spec| spec.id.clone());
        let tasks = (0..u64::from(a) % (BATCH + 1)).map(|n| NewTask::titled(format!("{text} {n}"))).collect();
        match b % 19 {
            0 => Command::ReportModel { provider: text.clone(), model_id: text },
            1 => Command::FetchTask,
            2 | 3 => Command::NextAction,
            4 => Command::SelectAction { choice: *pick(Choice::ALL, a).unwrap(), reason: None },
            5 => Command::ReportCompleted { result: *pick(Outcome::ALL, a).unwrap(), summary: text, next_steps: None },
            6 => Command::SaveContext {
                context: Context { findings: Some(text.clone()), ..Context::default() },
                decision: Some(text),
            },
            7 => Command::ShowMessages,
            8 => Command::Logout,
            9 => Command::CountCalls { calls: u32::from(a) % 3, repeated: None },
            10 => Command::SendMessage { to: to.map_or(Party::Owner, Party::Agent), content: text, related_task: None },
            11 | 12 => Command::CreateTasks { parent: None, tasks, key: a.is_multiple_of(3).then_some(text) },
            13 => Command::CreateTasks { parent: Some(task), tasks, key: None },
            14 => {
                let edit = TaskEdit { title: Some(text), ..TaskEdit::default() };
                Command::EditTask { task, edit, forced }
            }
            15 => Command::AssignTask { task, assignee: to.filter(|_| !a.is_multiple_of(5)), forced },
            16 => Command::ChangeDependencies { task, add: vec![other], remove: vec![], forced },
            17 => self.world.reporting(id, Fact::Exit { end: ProcessEnd::exited(0), usage: None }),
            _ => {
                let to = Destination::Status(*pick(Status::ALL, a / 7).unwrap());
                Command::MoveTask { task, to, reason: Some(text), forced, merged: a > 128 }
            }
        }
    }

    fn end(&mut self, session: SessionId, a: u8) {
        let reason = *pick(board::EndReason::ALL, a).unwrap();
        let until = self.world.now + Span::seconds(i64::from(a));
        let vendor = (a > 200).then_some(VendorTrouble::RateLimited { until });
        let end = ProcessEnd {
            vendor,
            exit_code: a.is_multiple_of(2).then_some(i32::from(a % 3)),
            ..ProcessEnd::because(reason)
        };
        let ended = self.world.reporting(session, Fact::Exit { end, usage: None });
        let _ = self.world.attempt(&runner(), &ended);
    }

    fn examine(&mut self, session: SessionId, a: u8) {
        if self.world.session(session).status != SessionStatus::Verifying {
            let end = ProcessEnd::exited(0);
            let ended = self.world.reporting(session, Fact::Exit { end, usage: None });
            let _ = self.world.attempt(&runner(), &ended);
            return;
        }
        let files = || vec!["src/a.rs".to_owned()];
        let facts = match a % 8 {
            0 | 1 => failing_check(),
            2 => WorkspaceFacts { merge: Merge::NotTried, ..merged() },
            3 => WorkspaceFacts { merge: Merge::Conflict { files: files() }, ..failing_check() },
            4 => WorkspaceFacts { tree: Some(format!("{a}")), ..failing_check() },
            _ => merged(),
        };
        let examination = match a % 16 {
            9 => Examination::Failed { reason: "disk".into() },
            10 => Examination::Unreadable { reason: "git".into() },
            11 => Examination::Gone,
            _ => Examination::Found(Box::new(facts)),
        };
        if a.is_multiple_of(3) {
            self.world.target_is(if a > 200 { CheckOutcome::Fail } else { CheckOutcome::Pass });
        }
        let found = self.world.reporting(session, Fact::Examined(examination));
        let _ = self.world.attempt(&runner(), &found);
    }

    /// Time goes by, with or without somebody who renews the leases.
    fn pass(&mut self, a: u8, b: u8) {
        let sessions: Vec<_> = self.world.board.all_live_sessions().map(|s| (s.id, s.generation)).collect();
        let tended = !b.is_multiple_of(4);
        let steps = if tended { 20 } else { 1 };
        for _ in 0..steps {
            self.world.pass(Span::seconds(i64::from(a) / steps));
            if tended {
                let _ = self
                    .world
                    .attempt(&runner(), &Command::RenewLeases { sessions: sessions.clone(), quiet: BTreeMap::new() });
            }
            self.world.must(&Actor::System, Command::Sweep);
        }
    }

    /// What is true of every board at every moment.
    fn check(&self) {
        let board = &self.world.board;
        for task in board.tasks.values() {
            assert_eq!(task.status == Status::Blocked, task.block.is_some(), "{}", task.id);
            assert!(task.status != Status::Done || board.unsettled_children(task).next().is_none(), "{}", task.id);
            if let Some(session) = task.live {
                assert!(self.world.session(session).is_live());
                assert_eq!(self.world.session(session).purpose, Purpose::Task(task.id));
            }
            if let (Some(assignee), Kind::Task, false) = (&task.assignee, task.kind, task.is_settled()) {
                let answer = staff_task(board, board.agent(assignee).unwrap(), task, self.world.now);
                let waits = |child: &board::Task| child.status == Status::InProgress || !child.dependencies.is_empty();
                // A manager never sleeps while nothing is left to wait for (F6).
                let sleeps = answer.reason == Reason::WaitingForWorkers;
                assert!(!sleeps || board.live_children(task).any(waits), "{} sleeps for ever", task.id);
            }
        }
        for spec in roster() {
            assert!(board.task_sessions(&spec.id) <= spec.max_sessions as usize);
        }
    }
}

fn fold<'a>(mut board: Board, log: impl IntoIterator<Item = &'a Event>) -> Board {
    log.into_iter().for_each(|event| apply(&mut board, event));
    board
}

fn count(log: &[Event], which: impl Fn(&EventKind) -> usize) -> u64 {
    log.iter().map(|event| which(&event.what) as u64).sum()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    /// G4, E1, E4, F26, N1: commands, tasks and sessions are bounded by the limits; what is named is
    /// accepted; the board is the fold of its log, from the start and from a snapshot.
    #[test]
    fn hostile_agents_are_bounded_and_the_log_is_the_board(deeds in prop::collection::vec(any::<Deed>(), 200..900)) {
        let limits = small();
        let mut game = Game::new();
        let mut kept = (0, snapshot::encode(&game.world.board));
        for (n, deed) in deeds.iter().enumerate() {
            if n == deeds.len() / 2 {
                kept = (game.world.log.len(), snapshot::encode(&game.world.board));
            }
            game.play(*deed);
        }
        let Game { world, commands } = game;
        let bounds = Bounds::of(&limits, 2, 2);
        let made = count(&world.log, |what| if let EventKind::TasksCreated { tasks, .. } = what { tasks.len() } else { 0 });
        prop_assert!(made <= bounds.tasks);
        prop_assert!(world.board.sessions.len() as u64 <= bounds.sessions);
        prop_assert!(commands.values().sum::<u64>() <= bounds.commands);
        for (session, accepted) in &commands {
            prop_assert!(*accepted <= u64::from(limits.max_calls) + 2, "{session} was accepted {accepted} times");
        }
        for task in world.board.tasks.values() {
            let claims = count(&world.log, |what| {
                usize::from(matches!(what, EventKind::SessionClaimed { purpose: Purpose::Task(id), .. } if *id == task.id))
            });
            prop_assert!(claims <= u64::from(limits.max_task_sessions), "{} had {claims} sessions", task.id);
            prop_assert!(task.children.len() <= limits.max_children_ever as usize);
            prop_assert!(task.used.retries_by_agents <= limits.max_retries);
            prop_assert!(task.used.attempts <= limits.max_attempts);
            prop_assert!(task.depth <= limits.max_depth);
        }
        let start = if kept.0 == 0 { Board::new(Settings::new(project())) } else { snapshot::decode(&kept.1).unwrap() };
        prop_assert_eq!(&fold(start, &world.log[kept.0..]), &world.board);
        let stored: Vec<_> = world.log.iter().map(|e| Event::decode(Event::VERSION, e.at, &e.encode()).unwrap()).collect();
        prop_assert_eq!(&fold(Board::new(Settings::new(project())), &stored), &world.board);
        prop_assert_eq!(&snapshot::decode(&snapshot::encode(&world.board)).unwrap(), &world.board);
        crate::index::check(&world.board, &world.log);
    }
}

/// E1: folding is total: events about what is not there change nothing and do no harm.
#[test]
fn events_about_what_is_not_there_are_folded_without_harm() {
    let mut board = Board::new(Settings::new(project()));
    for event in crate::samples::every_event() {
        apply(&mut board, &event);
    }
    assert_eq!(board.seq, crate::samples::every_event().len() as u64);
    assert!(board.agent(&agent("w1")).is_ok());
}
