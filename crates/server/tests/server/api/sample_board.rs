//! A house in which everything has happened once: the more there is to show, the more is proved.

use board::{
    Actor, CheckOutcome, CheckResult, Command, Context, DodResult, Driver, EndReason, Examination, Fact, Limits, Merge,
    NewTask, Outcome, Party, ProcessEnd, Purpose, SessionId, Status, TaskId, Usage, WorkspaceFacts,
};
use control::Project;

use crate::test_server::{BY_HAND, TestServer, agent, moving, owner, runner};

/// The project in which it has happened; its tasks are done when they are merged.
pub(super) const PROJECT: &str = "api";

/// What agents were told to keep to themselves, and is shown to nobody.
pub(super) struct SampleBoard {
    pub(super) server: TestServer,
    pub(super) credentials: Vec<String>,
}

pub(super) async fn sample_board() -> SampleBoard {
    let server = TestServer::open(Limits::default()).await;
    let project = server.project(PROJECT).await;
    let mut credentials = Vec::new();

    let merged = at_work(&server, "w1", &mut credentials).await;
    report(&project, merged).await;
    end(&project, merged, ProcessEnd::exited(0)).await;
    examine(&project, merged, facts(CheckOutcome::Pass, Merge::Merged { commit: "c0ffee".into() })).await;

    let mut settings = (*project.board().settings).clone();
    settings.dod.checks = vec![board::Check { name: "tests".into(), command: "make test".into() }];
    project.submit(owner(), Command::Configure { settings: Box::new(settings) }).await.unwrap();

    let waiting = at_work(&server, "w2", &mut credentials).await;
    report(&project, waiting).await;
    end(&project, waiting, ProcessEnd::exited(0)).await;
    let merge = Merge::Waiting { reason: "your files are in the way".into(), files: vec!["a.rs".into()] };
    examine(&project, waiting, facts(CheckOutcome::Pass, merge)).await;

    let rejected = at_work(&server, "solo", &mut credentials).await;
    report(&project, rejected).await;
    end(&project, rejected, ProcessEnd::exited(0)).await;
    examine(&project, rejected, facts(CheckOutcome::Fail, Merge::NotTried)).await;

    let killed = at_work(&server, "w3", &mut credentials).await;
    let signal = ProcessEnd { signal: Some("SIGKILL".into()), ..ProcessEnd::because(EndReason::Signaled) };
    end(&project, killed, signal).await;

    let by_hand = server.started(PROJECT, BY_HAND).await;
    let claim = Command::Claim {
        agent: agent(BY_HAND),
        purpose: Purpose::Task(by_hand),
        driver: Driver::Hand,
        credential: None,
        forced: false,
    };
    let receipt = project.submit(owner(), claim).await.unwrap();
    let session = *receipt.after.sessions.keys().next_back().unwrap();
    let command = Command::EndByHand {
        session,
        end: ProcessEnd::exited(0),
        dod_result: DodResult::Pending,
        merged: false,
        artifacts: vec!["notes.md".into()],
    };
    project.submit(owner(), command).await.unwrap();

    // A manager has split its task, and one child is its worker's.
    let managing = at_work(&server, "boss", &mut credentials).await;
    let child = |title: &str, who: &str| NewTask { assignee: Some(agent(who)), ..NewTask::titled(title) };
    let tasks = vec![child("A first part", "w1"), child("A second part", "w2")];
    session_does(&project, managing, Command::CreateTasks { parent: None, tasks, key: Some("split".into()) }).await;

    let top = |title: &str| NewTask { labels: vec!["ui".into()], ..NewTask::titled(title) };
    let tasks = vec![top("Paint it"), top("Cancel it"), top("Block it")];
    project.submit(owner(), Command::CreateTasks { parent: None, tasks, key: None }).await.unwrap();
    let last = project.board().tasks.keys().next_back().unwrap().0;
    project.submit(owner(), moving(TaskId(last - 1), Status::Cancelled)).await.unwrap();
    project.submit(owner(), moving(TaskId(last), Status::Todo)).await.unwrap();
    project.submit(owner(), moving(TaskId(last), Status::Blocked)).await.unwrap();

    credentials.push(server.chatting(PROJECT, "w2").await);
    let chat = *project.board().sessions.keys().next_back().unwrap();
    let send = Command::SendMessage { to: Party::Owner, content: "Well.".into(), related_task: Some(TaskId(1)) };
    session_does(&project, chat, send).await;
    // What agents are told is remembered in the trace.
    let mut client = server.client(credentials.first().map(String::as_str));
    let _ = client.request("tools/call", serde_json::json!({ "name": "get_next_action", "arguments": {} })).await;
    let mut client = server.client(credentials.last().map(String::as_str));
    let _ = client.request("tools/call", serde_json::json!({ "name": "get_next_action", "arguments": {} })).await;

    *server.beside.log.lock().unwrap() = "It works, 日本語も。\n".repeat(1000).into_bytes();
    let memory = server.repository(PROJECT).join(".saihai/memory/architecture");
    std::fs::create_dir_all(&memory).unwrap();
    std::fs::write(memory.join("database.md"), "---\ntitle: Database\nsummary: One\n---\nAll of it in one.\n").unwrap();
    std::fs::write(memory.join("style.md"), "# Style\nShort.\n").unwrap();
    std::fs::write(memory.join("broken.md"), b"\xff\xfe").unwrap();
    SampleBoard { server, credentials }
}

async fn at_work(server: &TestServer, who: &str, credentials: &mut Vec<String>) -> SessionId {
    let task = server.started(PROJECT, who).await;
    let project = server.project(PROJECT).await;
    let (branch, base) = (format!("task-{}", task.0), "0123".into());
    project.submit(Actor::Runner(runner()), Command::RecordBranch { task, branch, base }).await.unwrap();
    let (session, credential) = server.claim(PROJECT, &agent(who), Purpose::Task(task)).await.unwrap();
    credentials.push(credential);
    session_does(&project, session, Command::ReportModel { provider: "p".into(), model_id: "m".into() }).await;
    session_does(&project, session, Command::FetchTask).await;
    session
}

async fn session_does(project: &Project, session: SessionId, command: Command) {
    project.submit(Actor::Session(session), command).await.unwrap();
}

async fn report(project: &Project, session: SessionId) {
    let context = Context { findings: Some("It was there.".into()), ..Context::default() };
    session_does(project, session, Command::SaveContext { context, decision: Some("Dates are UTC".into()) }).await;
    let decision = Some("# Names\nFiles are named after what they hold.".into());
    session_does(project, session, Command::SaveContext { context: Context::default(), decision }).await;
    let report = Command::ReportCompleted {
        result: Outcome::Success,
        summary: "All done.".into(),
        next_steps: Some("None.".into()),
    };
    session_does(project, session, report).await;
}

pub(super) async fn end(project: &Project, session: SessionId, end: ProcessEnd) {
    let usage = Some(Usage { input_tokens: 10, output_tokens: 20, cost_micros: Some(30) });
    tell(project, session, Fact::Exit { end, usage }).await;
}

/// The runner tells a fact.
pub(crate) async fn tell(project: &Project, session: SessionId, fact: Fact) {
    let board = project.board();
    let (generation, number) = board.session(session).map(|found| (found.generation, found.facts + 1)).unwrap();
    let command = Command::Report { session, generation, number, fact };
    project.submit(Actor::Runner(runner()), command).await.unwrap();
}

async fn examine(project: &Project, session: SessionId, facts: WorkspaceFacts) {
    let failed = facts.checks.iter().filter(|check| check.outcome != CheckOutcome::Pass);
    let passes = |check: &CheckResult| CheckResult { outcome: CheckOutcome::Pass, ..check.clone() };
    let results: Vec<_> = failed.map(passes).collect();
    if !results.is_empty() {
        let command = Command::ReportTarget { commit: "7a49e7".into(), results };
        project.submit(Actor::Runner(runner()), command).await.unwrap();
    }
    tell(project, session, Fact::Examined(Examination::Found(Box::new(facts)))).await;
}

fn facts(outcome: CheckOutcome, merge: Merge) -> WorkspaceFacts {
    WorkspaceFacts {
        commits: 2,
        changed: vec!["a.rs".into()],
        outside_scope: Vec::new(),
        checks: vec![CheckResult {
            name: "tests".into(),
            command: "make test".into(),
            outcome,
            output: "1 of 2".into(),
        }],
        judge_changes: board::JudgeChanges::default(),
        goals_unmet: Vec::new(),
        merge,
        target: Some("7a49e7".into()),
        candidate: Some("c0ffee".into()),
        tree: Some("7ee".into()),
        undone_by_git: false,
    }
}
