//! Which runner takes which work, and who is told why none does?

use serde_json::{Value, json};

use super::Host;
use crate::runner::{Team, wait_for};
use crate::server::{Server, nothing};

const WRITE: &str = "echo done > src/$(basename \"$(git rev-parse --abbrev-ref HEAD)\").txt";

fn team_that_needs(labels: &Value) -> Team {
    let team = Team::new(WRITE);
    team.redefine_solo(WRITE, &json!({ "runs_on": labels }));
    team
}

/// R10, L9: an agent that asks for a label waits for a runner that has it, and `why` says which is missing. A runner's token
/// says what it may call itself.
#[test]
fn labels_decide_who_runs_an_agent() {
    let team = team_that_needs(&json!(["gpu"]));
    let server = Server::start(&team.world);
    let task = team.start_task("Train");
    let why = || team.world.ok(&["task", "why", &task]);
    assert!(why().contains("Nobody runs this project"), "{}", why());

    // Its token does not let it call itself that.
    let plain = Host::new();
    let (token, _) = Server::runner_token(&team.world, "plain", &["linux"]);
    let first = plain.runner(&server.url(), &token, &["--labels", "gpu,linux"]);
    wait_for("why to name the label", || why().contains("labels gpu").then_some(()));
    assert_eq!(team.task(&task)["status"], "in_progress");
    let demand = server.ask_as_runner(&token, "/demand", &nothing());
    assert_eq!(demand.0, 405, "it is only asked: {demand:?}");
    let demand = server.send(&token, "GET", "/runner/v1/demand", "application/json", b"").json();
    assert_eq!(demand["labels"]["gpu"], json!({ "waiting": 1, "running": 0 }), "{demand}");
    let metrics =
        server.send(&team.world.ok(&["token", "create", "--role", "viewer", "--quiet"]), "GET", "/metrics", "", b"");
    let metrics = String::from_utf8(metrics.body).unwrap();
    assert!(metrics.contains("saihai_sessions_waiting{label=\"gpu\"} 1"), "{metrics}");

    let fast = Host::new();
    let (token, id) = Server::runner_token(&team.world, "fast", &["gpu"]);
    let second = fast.runner(&server.url(), &token, &["--labels", "gpu,linux"]);
    team.until_task(&task, "done");
    let shown = team.world.json(&["runner", "show", &id]);
    assert_eq!((&shown["labels"], &shown["draining"]), (&json!(["gpu"]), &json!(false)));
    first.stop();
    second.stop();
}

/// R10: `up` where the repository is has labels too, and works beside runners on other hosts.
#[test]
fn up_has_labels_too() {
    let team = team_that_needs(&json!(["here"]));
    let up = crate::runner::Up::start(&team, &["--labels", "here"]);
    let task = team.start_task("Here");
    team.until_task(&task, "done");
    let (host, url) = (Host::new(), up.ready["url"].as_str().unwrap().trim_end_matches('/').to_owned());
    let (token, id) = Server::runner_token(&team.world, "there", &[]);
    let runner = host.runner(&url, &token, &["--labels", "there"]);
    team.redefine_solo(WRITE, &json!({ "runs_on": ["there"] }));
    let task = team.start_task("There");
    team.until_task(&task, "done");
    let board = team.board();
    let last = board.sessions.values().next_back().unwrap();
    assert!(matches!(&last.driver, board::Driver::Runner { runner, .. } if runner.as_str() == id));
    runner.stop();
    up.stop();
}

/// L9, R10: a runner beside its server is one runner: drained, it is not taken for another that could begin.
#[test]
fn a_drained_runner_in_the_servers_home_begins_nothing() {
    let team = Team::new(WRITE);
    let server = Server::start(&team.world);
    let host = Host::new();
    let (token, id) = Server::runner_token(&team.world, "here", &[]);
    let mut command = host.command(&server.url(), &token, &[]);
    command.env("SAIHAI_HOME", team.world.home());
    let runner = super::RunningRunner::start(command, team.world.path().join("runner.err"));
    let first = team.start_task("First");
    team.until_task(&first, "done");
    let session = team.world.ok(&["session", "show", "1"]);
    assert!(session.contains(&format!("here ({id})")), "{session}");
    team.world.ok(&["runner", "drain", "here"]);
    let second = team.start_task("Second");
    let why = || team.world.ok(&["task", "why", &second]);
    wait_for("why to say that it begins nothing", || why().contains("begins nothing more").then_some(()));
    runner.stop();
}

/// R10: for machines that are made for one session: it is served, judged and merged, and the runner ends.
#[test]
fn one_session_and_no_more() {
    let team = Team::new(WRITE);
    let server = Server::start(&team.world);
    let (first, second) = (team.start_task("First"), team.start_task("Second"));
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "once", &[]);
    let mut runner = host.runner(&server.url(), &token, &["--once"]);
    assert_eq!(runner.until_ended(), 0, "{}", runner.errors());
    let statuses: Vec<Value> = [&first, &second].iter().map(|task| team.task(task)["status"].clone()).collect();
    assert_eq!(statuses.iter().filter(|status| **status == "done").count(), 1, "{statuses:?}");
    assert_eq!(team.board().sessions.len(), 1);
}

/// R10: a runner that is drained finishes what it has, judged and merged, and begins nothing; then it may begin again.
#[test]
fn a_drained_runner_finishes_what_it_has() {
    let team = Team::new(&format!("barrier go; {WRITE}"));
    let server = Server::start(&team.world);
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "build", &[]);
    let runner = host.runner(&server.url(), &token, &["--max-parallel", "2"]);
    let first = team.start_task("First");
    host.until_barrier(1, "go");
    team.world.ok(&["runner", "drain", "build"]);
    let second = team.start_task("Second");
    host.release(1, "go");
    team.until_task(&first, "done");
    let why = || team.world.ok(&["task", "why", &second]);
    wait_for("why to say that it begins nothing", || why().contains("begins nothing more").then_some(()));
    assert_eq!(team.board().sessions.len(), 1);
    team.world.ok(&["runner", "resume", "build"]);
    host.until_barrier(2, "go");
    host.release(2, "go");
    team.until_task(&second, "done");
    runner.stop();
    team.world.refused(5, &["runner", "drain", "nobody"]);
}
