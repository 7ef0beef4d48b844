//! What does one event of every kind look like?

use board::{
    Actor, AgentSpec, Check, CheckOutcome, CheckResult, Choice, Completion, CompletionReport, Context, CreatedTask,
    Dod, DodResult, Driver, EndReason, Event, EventKind, Examination, Fuel, Generation, Goal, GoalType, Inconclusive,
    Interrupt, Kind, Merge, MessageId, ModelReport, NextAction, Outcome, Party, Priority, ProcessEnd, ProposalAnswer,
    Purpose, Rejection, SecretHash, SessionId, Settings, Status, StopCause, TaskEdit, TaskId, TaskType, Timestamp,
    Usage, VendorTrouble, Verdict, WorkspaceFacts,
};

use crate::world::{agent, owner, project, runner};

pub(crate) const SECRET: &str = "argon2-of-a-secret";

const TASK: TaskId = TaskId(12);
const SESSION: SessionId = SessionId(3);

/// The kinds of events; a new one does not compile until it is here.
pub(crate) fn kinds() -> Vec<&'static str> {
    every_what().iter().map(known).collect()
}

fn known(what: &EventKind) -> &'static str {
    use EventKind as E;
    match what {
        E::ProjectConfigured { .. } | E::ProjectPaused | E::ProjectResumed | E::RosterApplied { .. } => what.name(),
        E::PasskeySet { .. } | E::AccountParked { .. } | E::TasksCreated { .. } | E::TaskEdited { .. } => what.name(),
        E::TaskAssigned { .. } | E::DependenciesChanged { .. } | E::TaskMoved { .. } => what.name(),
        E::BranchRecorded { .. } | E::SessionClaimed { .. } | E::SessionRunning { .. } => what.name(),
        E::SessionsTakenOver { .. } | E::MergeTurnTaken { .. } | E::MergeTurnEnded { .. } => what.name(),
        E::LeasesRenewed { .. } | E::StopRequested { .. } | E::ProcessEnded { .. } => what.name(),
        E::UsageReported { .. } => what.name(),
        E::Examined { .. } | E::MergeStarted { .. } | E::TargetChecked { .. } => what.name(),
        E::WorkspaceExamined { .. } | E::Judged { .. } | E::ModelReported { .. } | E::TaskFetched { .. } => what.name(),
        E::ActionGiven { .. } | E::ActionRepeated { .. } | E::ActionChosen { .. } | E::CompletionReported { .. } => {
            what.name()
        }
        E::ContextSaved { .. } | E::LoggedOut { .. } | E::CallsCounted { .. } | E::FuelSpent { .. } => what.name(),
        E::MemoryProposed { .. } | E::ProposalAnswered { .. } => what.name(),
        E::CommentAdded { .. } | E::MessageSent { .. } | E::MessagesShown { .. } | E::MessageExpired { .. } => {
            what.name()
        }
    }
}

/// How many kinds there are, by the arms above.
pub(crate) const KINDS: usize = 42;

pub(crate) fn every_event() -> Vec<Event> {
    let actors = [owner(), Actor::Session(SESSION), runner(), Actor::System];
    let whats = every_what().into_iter().enumerate();
    whats
        .map(|(n, what)| Event {
            at: Timestamp(1_767_225_600_000 + n as i64),
            by: actors[n % 4].clone(),
            what,
            continues: false,
            fact: None,
        })
        .collect()
}

fn every_what() -> Vec<EventKind> {
    let mut all = vec![EventKind::ProjectPaused, EventKind::ProjectResumed];
    all.extend(about_project());
    all.extend(about_tasks());
    all.extend(about_sessions());
    all.extend(about_ends());
    all.extend(about_work());
    all.extend(about_messages());
    all.extend(about_limits());
    // Kinds that came later are last: an earlier place would write the lines after it anew.
    all.push(EventKind::MergeStarted { session: SESSION, candidate: "c0ffee".into() });
    all
}

fn about_limits() -> Vec<EventKind> {
    let reason = "more than 4096 processes at once".to_owned();
    let end = ProcessEnd { error: Some(reason.clone()), ..ProcessEnd::because(EndReason::LimitReached) };
    let verdict = Some(Verdict::Rejected(Rejection::LimitReached { reason }));
    vec![
        EventKind::ProcessEnded { session: SESSION, end, dod_result: None, artifacts: Vec::new(), usage: None },
        EventKind::Judged { session: SESSION, verdict },
    ]
}

fn about_project() -> Vec<EventKind> {
    let settings = Settings {
        goals: vec![(TaskType::Bug, vec![Goal { kind: GoalType::TestAdded, pattern: "**/*.test.*".into() }])],
        dod: Dod {
            timeout: 300,
            setup: Some("npm ci".into()),
            checks: vec![Check { name: "tests_pass".into(), command: "npm test".into() }],
            protect: Vec::new(),
        },
        ..Settings::new(project())
    };
    let mut spec = AgentSpec { parent: Some(agent("lead")), ..AgentSpec::worker(agent("w1")) };
    spec.env.0.insert("KEY".into());
    spec.scope.write.push("src/**".into());
    vec![
        EventKind::ProjectConfigured { settings: Box::new(settings) },
        EventKind::RosterApplied { present: vec![spec], left: vec![agent("old")] },
        EventKind::PasskeySet { agent: agent("w1"), hash: SecretHash(SECRET.into()) },
        EventKind::AccountParked { account: "claude-code".into(), until: Timestamp(1_767_225_663_000) },
    ]
}

fn about_tasks() -> Vec<EventKind> {
    let created = CreatedTask {
        id: TASK,
        kind: Kind::Task,
        status: Status::Backlog,
        title: "ログイン画面".into(),
        description: "line\nline".into(),
        task_type: TaskType::Feature,
        priority: Priority::High,
        parent: Some(TaskId(1)),
        depth: 1,
        assignee: None,
        creator: Party::Agent(agent("lead")),
        dependencies: vec![TaskId(11)],
        labels: vec!["ui".into()],
        completion: Some(Completion::Reported),
        allow_empty: true,
        repairs: None,
        reverts: None,
        mandate: Some(MessageId(7)),
    };
    let edit = TaskEdit { title: Some("Login".into()), priority: Some(Priority::Low), ..TaskEdit::default() };
    let moved = |from, to, by, reason: Option<&str>| EventKind::TaskMoved {
        task: TASK,
        from,
        to,
        by,
        reason: reason.map(str::to_owned),
        forced: false,
    };
    vec![
        EventKind::TasksCreated { tasks: vec![created], key: Some("k".into()) },
        EventKind::TaskEdited { task: TASK, edit },
        EventKind::TaskAssigned { task: TASK, assignee: Some(agent("w1")) },
        EventKind::TaskAssigned { task: TASK, assignee: None },
        EventKind::DependenciesChanged { task: TASK, added: vec![TaskId(10)], removed: vec![TaskId(11)] },
        moved(Status::Todo, Status::InProgress, Party::Agent(agent("lead")), None),
        moved(Status::InProgress, Status::Blocked, Party::System, Some("no_progress")),
        moved(Status::Blocked, Status::Cancelled, Party::Owner, Some("not needed")),
        EventKind::BranchRecorded { task: TASK, branch: "task-12-login".into(), base: "ba5e".into() },
    ]
}

fn about_sessions() -> Vec<EventKind> {
    let claimed = |driver, purpose, credential| EventKind::SessionClaimed {
        session: SESSION,
        agent: agent("w1"),
        purpose,
        driver,
        generation: Generation(2),
        lease_until: Some(Timestamp(1_767_225_660_000)),
        credential,
    };
    let runner = Driver::Runner { runner: "r".parse().unwrap(), spawn: "s-1".parse().unwrap() };
    let mut all = vec![
        claimed(runner, Purpose::Task(TASK), Some(SecretHash(SECRET.into()))),
        claimed(Driver::Attached, Purpose::Chat, None),
        claimed(Driver::Hand, Purpose::Task(TASK), None),
        EventKind::SessionRunning { session: SESSION },
        EventKind::LeasesRenewed {
            sessions: vec![SESSION],
            until: Timestamp(1_767_225_680_000),
            printed: [(SESSION, Timestamp(1_767_225_610_000))].into(),
        },
        EventKind::SessionsTakenOver { sessions: vec![SESSION], runner: "tok_1a2b3c4d".parse().unwrap() },
        EventKind::MergeTurnTaken { session: SESSION, until: Timestamp(1_767_225_680_000) },
        EventKind::MergeTurnEnded { session: SESSION },
    ];
    all.extend(StopCause::ALL.iter().map(|cause| EventKind::StopRequested { session: SESSION, cause: *cause }));
    all
}

fn about_ends() -> Vec<EventKind> {
    let until = Timestamp(1_767_225_663_000);
    let usage = Usage { input_tokens: 10, output_tokens: 20, cost_micros: Some(30) };
    let ended = |end, dod_result, usage| EventKind::ProcessEnded {
        session: SESSION,
        end,
        dod_result,
        artifacts: vec!["src/a.rs".into()],
        usage,
    };
    let limited = ProcessEnd { vendor: Some(VendorTrouble::RateLimited { until }), ..ProcessEnd::exited(1) };
    let signal = ProcessEnd {
        signal: Some("SIGKILL".into()),
        error: Some("out of memory".into()),
        vendor: Some(VendorTrouble::Unavailable),
        ..ProcessEnd::because(EndReason::Signaled)
    };
    let files = || vec!["x".to_owned()];
    let check =
        |outcome| CheckResult { name: "tests_pass".into(), command: "make test".into(), outcome, output: "end".into() };
    let examined = |merge| {
        let checks = CheckOutcome::ALL.iter().map(|outcome| check(*outcome)).collect();
        WorkspaceFacts {
            commits: 2,
            changed: files(),
            outside_scope: files(),
            checks,
            judge_changes: board::JudgeChanges::default(),
            goals_unmet: files(),
            merge,
            target: Some("7a49e7".into()),
            candidate: Some("c0ffee".into()),
            tree: Some("7ee".into()),
            undone_by_git: false,
        }
    };
    let merges = [
        Merge::NotTried,
        Merge::Conflict { files: files() },
        Merge::Waiting { reason: "src/a.rs has changes".into(), files: files() },
        Merge::Merged { commit: "c0ffee".into() },
    ];
    let old = |facts| EventKind::WorkspaceExamined { session: SESSION, facts: Box::new(facts) };
    let examinations = [
        Examination::NotNeeded,
        Examination::Failed { reason: "disk full".into() },
        Examination::Unreadable { reason: "no HEAD".into() },
        Examination::Gone,
        Examination::Found(Box::new(examined(Merge::NotTried))),
    ];
    let examinations = examinations.map(|examination| EventKind::Examined { session: SESSION, examination });
    let rejections = [
        Rejection::NoReport,
        Rejection::ScopeViolation { files: files() },
        Rejection::NoChange,
        Rejection::Conflict { files: files() },
        Rejection::Check { failed: vec![check(CheckOutcome::DidNotRun)] },
        Rejection::Goal { unmet: files() },
        Rejection::ChildrenOpen,
        Rejection::EndedBadly { reason: "exit code 1".into() },
        Rejection::Unreadable { reason: "no HEAD".into() },
    ];
    let none = [
        Inconclusive::Stopped,
        Inconclusive::Lost,
        Inconclusive::LaunchFailed,
        Inconclusive::RateLimited,
        Inconclusive::VendorUnavailable,
        Inconclusive::Waiting,
        Inconclusive::ManagerExit,
        Inconclusive::Pending,
    ];
    let words =
        [Verdict::Failed { reason: "exit code 1".into() }, Verdict::Blocked { reason: "no key".into() }, Verdict::Done];
    let verdicts = rejections.map(Verdict::Rejected).into_iter().chain(none.map(Verdict::None)).chain(words);
    let mut all = vec![
        ended(ProcessEnd::exited(0), Some(DodResult::Merged), Some(usage)),
        ended(limited, None, None),
        ended(signal, Some(DodResult::Error), None),
        EventKind::TargetChecked { commit: "7a49e7".into(), results: vec![check(CheckOutcome::Fail)] },
        EventKind::Judged { session: SESSION, verdict: None },
    ];
    all.extend(merges.map(|merge| old(examined(merge))));
    all.extend(examinations);
    all.extend(verdicts.map(|verdict| EventKind::Judged { session: SESSION, verdict: Some(verdict) }));
    all
}

fn about_work() -> Vec<EventKind> {
    let model = ModelReport { provider: "anthropic".into(), model_id: "m".into(), matches: true };
    let report = |result| CompletionReport {
        result,
        summary: "it is so".into(),
        next_steps: Some("none".into()),
        at: Timestamp(1_767_225_600_000),
    };
    let context = Context { progress: Some("half".into()), ..Context::default() };
    let held = Interrupt::Held { by: TaskId(1) };
    let stopped = Interrupt::Stopped(StopCause::NoProgress);
    let steps = [
        NextAction::Work,
        NextAction::Wait,
        NextAction::ExecuteSubtask(TASK),
        NextAction::StartSubtask(TASK),
        NextAction::Stop(held),
        NextAction::Stop(stopped),
    ];
    let mut all = vec![
        EventKind::ModelReported { session: SESSION, report: model },
        EventKind::TaskFetched { session: SESSION },
        EventKind::ContextSaved { session: SESSION, context },
        EventKind::CallsCounted { session: SESSION, calls: 7 },
        EventKind::ActionRepeated { session: SESSION, action: NextAction::SituationalAwareness, times: 3 },
        EventKind::LoggedOut { session: SESSION },
    ];
    all.extend(steps.map(|action| EventKind::ActionGiven { session: SESSION, action }));
    all.extend(Choice::ALL.iter().map(|c| EventKind::ActionChosen {
        session: SESSION,
        choice: *c,
        reason: Some("x".into()),
    }));
    all.extend(Outcome::ALL.iter().map(|o| EventKind::CompletionReported { session: SESSION, report: report(*o) }));
    all.extend(Fuel::ALL.iter().map(|f| EventKind::FuelSpent { task: Some(TASK), session: None, fuel: *f }));
    all
}

fn about_messages() -> Vec<EventKind> {
    let sent = |from, to, related_task| EventKind::MessageSent {
        message: MessageId(7),
        from,
        to,
        content: "こんにちは".into(),
        related_task,
    };
    vec![
        EventKind::CommentAdded { task: TASK, by: Party::Owner, text: "続けて\nください".into() },
        EventKind::MemoryProposed { task: TASK, by: agent("w1"), text: "Dates are UTC".into() },
        EventKind::ProposalAnswered { task: TASK, proposal: 7, answer: ProposalAnswer::Accepted },
        EventKind::ProposalAnswered { task: TASK, proposal: 8, answer: ProposalAnswer::Declined },
        sent(Party::Owner, Party::Agent(agent("w1")), Some(TASK)),
        sent(Party::Agent(agent("w1")), Party::Owner, None),
        EventKind::MessagesShown { session: SESSION, upto: MessageId(7) },
        EventKind::MessageExpired { message: MessageId(7) },
        EventKind::UsageReported {
            session: SESSION,
            usage: Usage { input_tokens: 1_200, output_tokens: 80, cost_micros: None },
        },
    ]
}
