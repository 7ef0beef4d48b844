//! Is what happens counted, once, and under names that nobody can make up?

use board::{Actor, Command, EndReason, Limits, ProcessEnd, Purpose, Status};
use serde_json::{Value, json};

use super::Sender;
use super::sample_board::end;
use crate::test_server::{TestServer, agent, moving, owner};

async fn metrics(sender: &Sender) -> String {
    let reply = sender.send("GET", "/metrics", b"").await;
    assert_eq!(reply.status, 200);
    String::from_utf8(reply.body).unwrap()
}

/// The sum of the samples whose line begins so and has all of these labels.
fn count(metrics: &str, name: &str, labels: &[&str]) -> f64 {
    let wanted =
        |line: &&str| line.split(['{', ' ']).next() == Some(name) && labels.iter().all(|label| line.contains(label));
    metrics.lines().filter(wanted).map(|line| line.rsplit(' ').next().unwrap().parse::<f64>().unwrap()).sum()
}

/// W4: `/metrics` is for those who are logged in, and shows a refused command by its code.
#[tokio::test]
async fn commands_are_counted_by_their_outcome() {
    let server = TestServer::open(Limits::default()).await;
    assert_eq!(Sender::nobody(&server).send("GET", "/metrics", b"").await.status, 401);
    let sender = Sender::of(&server, "owner");
    sender.change("POST", "/projects/web/tasks", json!({ "title": "T" })).await;
    sender.refused("POST", "/projects/web/tasks/1/start", json!({})).await;
    let metrics = metrics(&Sender::of(&server, "viewer")).await;
    let labels = |outcome: &'static str, command: &'static str| [r#"project="web""#, outcome, command];
    let refused = labels(r#"outcome="not_ready""#, r#"command="move_task""#);
    assert_eq!(count(&metrics, "saihai_commands_total", &refused), 1.0, "{metrics}");
    let accepted = labels(r#"outcome="accepted""#, r#"command="create_tasks""#);
    assert!(count(&metrics, "saihai_commands_total", &accepted) >= 1.0, "{metrics}");
    assert!(count(&metrics, "saihai_command_seconds_count", &[r#"command="move_task""#]) >= 1.0, "{metrics}");
    assert!(count(&metrics, "saihai_tasks", &[r#"project="web""#, r#"status="backlog""#]) == 1.0, "{metrics}");
}

/// W4, S4: a caller cannot make up names for what is counted.
#[tokio::test]
async fn labels_are_nobodys_choice() {
    let server = TestServer::open(Limits::default()).await;
    let sender = Sender::of(&server, "owner");
    let mut client = server.client(None);
    for name in ["made_up_one", "made_up_two", "help"] {
        let _ = client.request("tools/call", json!({ "name": name, "arguments": {} })).await;
    }
    Sender::nobody(&server).send("MADEUP", "/api/v1/me", b"").await;
    Sender::nobody(&server).send("GET", "/api/v1/made-up", b"").await;
    sender.call("GET", "/projects/made-up/tasks", Value::Null).await;
    let metrics = metrics(&sender).await;
    assert!(!metrics.contains("made_up") && !metrics.contains("MADEUP") && !metrics.contains("made-up"), "{metrics}");
    assert_eq!(count(&metrics, "saihai_mcp_calls_total", &[r#"tool="unknown""#, r#"outcome="not_found""#]), 2.0);
    assert_eq!(count(&metrics, "saihai_mcp_calls_total", &[r#"tool="help""#, r#"outcome="ok""#]), 1.0, "{metrics}");
    assert_eq!(count(&metrics, "saihai_mcp_call_seconds_count", &[r#"tool="unknown""#]), 2.0);
}

/// W4: events count once each, whoever wrote them, and also in a project that came later.
#[tokio::test]
async fn events_are_counted_once_whoever_wrote_them() {
    let server = TestServer::open(Limits::default()).await;
    let sender = Sender::of(&server, "viewer");
    // From now on it counts.
    let before = metrics(&sender).await;
    assert_eq!(count(&before, "saihai_sessions_ended_total", &[]), 0.0, "{before}");
    // The fixture writes as another process does: with a writer of its own.
    let project = server.project("web").await;
    for (number, who) in ["w1", "w2", "w3"].into_iter().enumerate() {
        let task = server.started("web", who).await;
        server.clock.pass(2);
        let (session, _) = server.claim("web", &agent(who), Purpose::Task(task)).await.unwrap();
        let reason = if number == 0 { EndReason::TimedOut } else { EndReason::Stopped };
        end(&project, session, ProcessEnd::because(reason)).await;
        project.submit(owner(), moving(task, Status::Cancelled)).await.unwrap();
        let now = metrics(&sender).await;
        assert_eq!(count(&now, "saihai_sessions_ended_total", &[r#"project="web""#]), (number + 1) as f64, "{now}");
    }
    let late: board::ProjectId = "late".parse().unwrap();
    let installation = server.control.installation().await.unwrap();
    let add = board::InstallationCommand::AddProject { id: late.clone(), path: "/late".into() };
    installation.submit(owner(), add).await.unwrap();
    metrics(&sender).await;
    let opened = server.control.project(&late).await.unwrap();
    let agents = vec![board::AgentSpec::worker(agent("w9"))];
    opened.submit(owner(), Command::ApplyRoster { agents }).await.unwrap();
    let new = board::NewTask { assignee: Some(agent("w9")), ..board::NewTask::titled("T") };
    let create = Command::CreateTasks { parent: None, tasks: vec![new], key: None };
    opened.submit(owner(), create).await.unwrap();
    opened.submit(owner(), moving(board::TaskId(1), Status::InProgress)).await.unwrap();
    let claim = Command::Claim {
        agent: agent("w9"),
        purpose: Purpose::Task(board::TaskId(1)),
        driver: board::Driver::Runner { runner: crate::test_server::runner(), spawn: "s".parse().unwrap() },
        credential: None,
        forced: false,
    };
    opened.submit(Actor::Runner(crate::test_server::runner()), claim).await.unwrap();
    end(&opened, board::SessionId(1), ProcessEnd::because(EndReason::Lost)).await;

    let now = metrics(&sender).await;
    let ended = |labels: &[&str]| count(&now, "saihai_sessions_ended_total", labels);
    assert_eq!(ended(&[r#"project="web""#, r#"reason="timed_out""#]), 1.0, "{now}");
    assert_eq!(ended(&[r#"project="web""#, r#"reason="stopped""#]), 2.0, "{now}");
    assert_eq!(ended(&[r#"project="late""#, r#"reason="lost""#]), 1.0, "{now}");
    assert_eq!(count(&now, "saihai_verdicts_total", &[r#"verdict="failed""#]), 1.0, "{now}");
    assert_eq!(count(&now, "saihai_verdicts_total", &[r#"verdict="none""#]), 3.0, "{now}");
    assert_eq!(count(&now, "saihai_queue_wait_seconds_count", &[]), 4.0, "{now}");
    assert_eq!(count(&now, "saihai_queue_wait_seconds_sum", &[]), 6.0, "{now}");
    assert_eq!(count(&now, "saihai_verification_seconds_count", &[]), 0.0, "nothing was verified");
}
