//! What does one event of every kind look like?

use board::{
    Actor, AgentSpec, Check, CheckOutcome, CheckResult, Choice, Claim, Completion, Context, CreatedTask, Dod,
    DodResult, Driver, EndReason, Event, Fuel, Generation, Goal, GoalType, Inconclusive, Interrupt, Kind, Merge,
    MessageId, ModelReport, Outcome, Party, Priority, ProcessEnd, Purpose, Rejection, SecretHash, SessionId, Settings,
    Status, Step, StopCause, TaskEdit, TaskId, TaskType, Timestamp, Usage, VendorTrouble, Verdict, What,
    WorkspaceFacts,
};

use crate::world::{agent, owner, project, runner};

pub(crate) const SECRET: &str = "argon2-of-a-secret";

const TASK: TaskId = TaskId(12);
const SESSION: SessionId = SessionId(3);

/// The kinds of events; a new one does not compile until it is here.
pub(crate) fn kinds() -> Vec<&'static str> {
    every_what().iter().map(known).collect()
}

fn known(what: &What) -> &'static str {
    use What as W;
    match what {
        W::ProjectConfigured { .. } | W::ProjectPaused | W::ProjectResumed | W::RosterApplied { .. } => what.kind(),
        W::PasskeySet { .. } | W::AccountParked { .. } | W::TasksCreated { .. } | W::TaskEdited { .. } => what.kind(),
        W::TaskAssigned { .. } | W::DependenciesChanged { .. } | W::TaskMoved { .. } => what.kind(),
        W::BranchRecorded { .. } | W::SessionClaimed { .. } | W::SessionRunning { .. } => what.kind(),
        W::LeasesRenewed { .. } | W::StopRequested { .. } | W::ProcessEnded { .. } => what.kind(),
        W::WorkspaceExamined { .. } | W::Judged { .. } | W::ModelReported { .. } | W::TaskFetched { .. } => what.kind(),
        W::StepGiven { .. } | W::StepRepeated { .. } | W::ActionChosen { .. } | W::CompletionReported { .. } => {
            what.kind()
        }
        W::ContextSaved { .. } | W::LoggedOut { .. } | W::CallsCounted { .. } | W::FuelSpent { .. } => what.kind(),
        W::MessageSent { .. } | W::MessagesShown { .. } | W::MessageExpired { .. } => what.kind(),
    }
}

/// How many kinds there are, by the arms above.
pub(crate) const KINDS: usize = 32;

pub(crate) fn every_event() -> Vec<Event> {
    let actors = [owner(), Actor::Session(SESSION), runner(), Actor::System];
    let whats = every_what().into_iter().enumerate();
    whats
        .map(|(n, what)| Event { at: Timestamp(1_767_225_600_000 + n as i64), by: actors[n % 4].clone(), what })
        .collect()
}

fn every_what() -> Vec<What> {
    let mut all = vec![What::ProjectPaused, What::ProjectResumed];
    all.extend(about_project());
    all.extend(about_tasks());
    all.extend(about_sessions());
    all.extend(about_ends());
    all.extend(about_work());
    all.extend(about_messages());
    all
}

fn about_project() -> Vec<What> {
    let settings = Settings {
        goals: vec![(TaskType::Bug, vec![Goal { kind: GoalType::TestAdded, pattern: "**/*.test.*".into() }])],
        dod: Dod {
            timeout: 300,
            setup: Some("npm ci".into()),
            checks: vec![Check { name: "tests_pass".into(), command: "npm test".into() }],
        },
        ..Settings::new(project())
    };
    let mut spec = AgentSpec { parent: Some(agent("lead")), ..AgentSpec::worker(agent("w1")) };
    spec.env.insert("KEY".into(), board::EnvValue("value".into()));
    spec.scope.write.push("src/**".into());
    vec![
        What::ProjectConfigured { settings: Box::new(settings) },
        What::RosterApplied { present: vec![spec], left: vec![agent("old")] },
        What::PasskeySet { agent: agent("w1"), hash: SecretHash(SECRET.into()) },
        What::AccountParked { account: "claude-code".into(), until: Timestamp(1_767_225_663_000) },
    ]
}

fn about_tasks() -> Vec<What> {
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
    };
    let edit = TaskEdit { title: Some("Login".into()), priority: Some(Priority::Low), ..TaskEdit::default() };
    let moved = |from, to, by, reason: Option<&str>| What::TaskMoved {
        task: TASK,
        from,
        to,
        by,
        reason: reason.map(str::to_owned),
        forced: false,
    };
    vec![
        What::TasksCreated { tasks: vec![created], key: Some("k".into()) },
        What::TaskEdited { task: TASK, edit },
        What::TaskAssigned { task: TASK, assignee: Some(agent("w1")) },
        What::TaskAssigned { task: TASK, assignee: None },
        What::DependenciesChanged { task: TASK, added: vec![TaskId(10)], removed: vec![TaskId(11)] },
        moved(Status::Todo, Status::InProgress, Party::Agent(agent("lead")), None),
        moved(Status::InProgress, Status::Blocked, Party::System, Some("no_progress")),
        moved(Status::Blocked, Status::Cancelled, Party::Owner, Some("not needed")),
        What::BranchRecorded { task: TASK, branch: "task-12-login".into(), base: "ba5e".into() },
    ]
}

fn about_sessions() -> Vec<What> {
    let claimed = |driver, purpose, credential| What::SessionClaimed {
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
        What::SessionRunning { session: SESSION },
        What::LeasesRenewed { sessions: vec![SESSION], until: Timestamp(1_767_225_680_000) },
    ];
    all.extend(StopCause::ALL.iter().map(|cause| What::StopRequested { session: SESSION, cause: *cause }));
    all
}

fn about_ends() -> Vec<What> {
    let until = Timestamp(1_767_225_663_000);
    let usage = Usage { input_tokens: 10, output_tokens: 20, cost_micros: Some(30) };
    let ended = |end, dod_result, usage| What::ProcessEnded {
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
    let check = |outcome| CheckResult { name: "tests_pass".into(), outcome, output: "end".into() };
    let examined = |merge| {
        let checks = CheckOutcome::ALL.iter().map(|outcome| check(*outcome)).collect();
        let facts = WorkspaceFacts {
            commits: 2,
            changed: files(),
            outside_scope: files(),
            checks,
            goals_unmet: files(),
            merge,
        };
        What::WorkspaceExamined { session: SESSION, facts: Box::new(facts) }
    };
    let rejections = [
        Rejection::NoReport,
        Rejection::ScopeViolation { files: files() },
        Rejection::NoChange,
        Rejection::Conflict { files: files() },
        Rejection::Check { failed: vec![check(CheckOutcome::DidNotRun)] },
        Rejection::Goal { unmet: files() },
        Rejection::ChildrenOpen,
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
        examined(Merge::NotTried),
        examined(Merge::Conflict { files: files() }),
        examined(Merge::Waiting { reason: "src/a.rs has changes".into(), files: files() }),
        examined(Merge::Merged { commit: "c0ffee".into() }),
        What::Judged { session: SESSION, verdict: None },
    ];
    all.extend(verdicts.map(|verdict| What::Judged { session: SESSION, verdict: Some(verdict) }));
    all
}

fn about_work() -> Vec<What> {
    let report = ModelReport { provider: "anthropic".into(), model_id: "m".into(), matches: true };
    let claim = |result| Claim {
        result,
        summary: "it is so".into(),
        next_steps: Some("none".into()),
        at: Timestamp(1_767_225_600_000),
    };
    let context = Context { progress: Some("half".into()), ..Context::default() };
    let held = Interrupt::Held { by: TaskId(1) };
    let stopped = Interrupt::Stopped(StopCause::NoProgress);
    let steps = [
        Step::Work,
        Step::Wait,
        Step::ExecuteSubtask(TASK),
        Step::StartSubtask(TASK),
        Step::Stop(held),
        Step::Stop(stopped),
    ];
    let mut all = vec![
        What::ModelReported { session: SESSION, report },
        What::TaskFetched { session: SESSION },
        What::ContextSaved { session: SESSION, context },
        What::CallsCounted { session: SESSION, calls: 7 },
        What::StepRepeated { session: SESSION, step: Step::SituationalAwareness, times: 3 },
        What::LoggedOut { session: SESSION },
    ];
    all.extend(steps.map(|step| What::StepGiven { session: SESSION, step }));
    all.extend(Choice::ALL.iter().map(|c| What::ActionChosen {
        session: SESSION,
        choice: *c,
        reason: Some("x".into()),
    }));
    all.extend(Outcome::ALL.iter().map(|o| What::CompletionReported { session: SESSION, claim: claim(*o) }));
    all.extend(Fuel::ALL.iter().map(|f| What::FuelSpent { task: Some(TASK), session: None, fuel: *f }));
    all
}

fn about_messages() -> Vec<What> {
    let sent = |from, to, related_task| What::MessageSent {
        message: MessageId(7),
        from,
        to,
        content: "こんにちは".into(),
        related_task,
    };
    vec![
        sent(Party::Owner, Party::Agent(agent("w1")), Some(TASK)),
        sent(Party::Agent(agent("w1")), Party::Owner, None),
        What::MessagesShown { session: SESSION, upto: MessageId(7) },
        What::MessageExpired { message: MessageId(7) },
    ]
}
