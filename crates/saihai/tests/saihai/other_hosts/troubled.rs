//! What becomes of work on other hosts when processes die, and when a runner is removed?

use rustix::process::Signal;
use serde_json::json;

use super::Host;
use crate::runner::{Team, signal, wait_for};
use crate::server::Server;

const WRITE: &str = "barrier go; echo done > src/$(basename \"$(git rev-parse --abbrev-ref HEAD)\").txt";

fn parallel_team() -> Team {
    let team = Team::new(WRITE);
    team.redefine_solo(WRITE, &json!({ "max_sessions": 3 }));
    team
}

/// R10, R3, S2, S2a: the server dies while agents work, agents end while no server is there, the runner dies too; whoever
/// comes back is told everything once.
#[test]
fn a_server_and_a_runner_die_and_come_back() {
    let team = parallel_team();
    let mut server = Server::start(&team.world);
    let (port, url) = (server.port, server.url());
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "host", &[]);
    let mut runner = host.runner(&url, &token, &["--max-parallel", "3"]);
    let tasks: Vec<_> = (0..3).map(|n| team.start_task(&format!("Part {n}"))).collect();
    (1..=3).for_each(|session| host.until_barrier(session, "go"));
    server.kill();
    host.release(1, "go");
    let exited = |task: &String| {
        let session = team.board().tasks[&task.parse::<board::TaskId>().unwrap()].live.unwrap();
        host.home().join(format!("projects/shop/sessions/{session}/exit.json")).exists()
    };
    wait_for("the first agent to end", || exited(&tasks[0]).then_some(()));
    runner.kill();
    host.release(2, "go");
    wait_for("the second agent to end", || exited(&tasks[1]).then_some(()));

    let server = Server::start_at(&team.world, port, &[]);
    let runner = host.runner(&url, &token, &["--max-parallel", "3"]);
    team.until_task(&tasks[0], "done");
    team.until_task(&tasks[1], "done");
    assert_eq!(team.task(&tasks[2])["status"], "in_progress");
    host.release(3, "go");
    team.until_task(&tasks[2], "done");
    assert_eq!(team.board().sessions.len(), 3, "none was started again");
    runner.stop();
    host.until_quiet();
    drop(server);
}

/// R10, S1, L9, F129: a runner that is not heard of is missed, its sessions wait for it for minutes, and then they are started
/// elsewhere. When it comes back its process is ended, and what it has written stays there.
#[test]
fn a_runner_that_comes_back_late_gives_up_what_others_do() {
    let team = parallel_team();
    let config = json!({ "limits": { "backoff_first": 1, "backoff_most": 1, "remote_lease": 3 } });
    team.world.write(".saihai/config.yaml", config.to_string());
    team.commit("a short lease");
    team.world.ok(&["agent", "apply"]);
    let server = Server::start(&team.world);
    let (late, other) = (Host::new(), Host::new());
    let (token, _) = Server::runner_token(&team.world, "late", &[]);
    let first = late.runner(&server.url(), &token, &[]);
    let task = team.start_task("Write");
    late.until_barrier(1, "go");
    std::fs::write(late.workspace(1).join("src/kept.txt"), "kept\n").unwrap();
    signal(first.pid(), Signal::STOP);
    let (token, _) = Server::runner_token(&team.world, "other", &[]);
    let second = other.runner(&server.url(), &token, &[]);
    assert_eq!(team.until_ended(1)["end_reason"], "lost");
    other.until_barrier(2, "go");
    signal(first.pid(), Signal::CONT);
    late.until_quiet_but(&first);
    other.release(1, "go");
    team.until_task(&task, "done");
    assert_eq!(team.task(&task)["attempts"], 0, "nobody is charged");
    assert_eq!(std::fs::read_to_string(late.workspace(1).join("src/kept.txt")).unwrap(), "kept\n");
    first.stop();
    second.stop();
}

/// R10, V12: a runner that is removed ends its agents, which are started elsewhere; what they had finished and handed over is
/// examined by another, and not done again.
#[test]
fn what_a_removed_runner_had_goes_on_elsewhere() {
    let team = parallel_team();
    let gate = team.world.path().join("gate");
    let check = format!("[ -e '{}' ]", gate.display());
    let config = json!({
        "sandbox": "off",
        "limits": { "backoff_first": 1, "backoff_most": 1 },
        "dod": { "timeout": 60, "checks": [{ "type": "gate", "command": format!("while ! {check}; do sleep 0.05; done") }] },
    });
    team.world.write(".saihai/config.yaml", config.to_string());
    team.commit("a check that waits");
    team.world.ok(&["agent", "apply"]);
    let server = Server::start(&team.world);
    let (first, second) = (Host::new(), Host::new());
    let (token, id) = Server::runner_token(&team.world, "first", &[]);
    let mut removed = first.runner(&server.url(), &token, &["--max-parallel", "2"]);
    let (ended, running) = (team.start_task("Ended"), team.start_task("Running"));
    (1..=2).for_each(|session| first.until_barrier(session, "go"));
    first.release(1, "go");
    // Its work was handed over, and its check waits.
    let published = || team.world.git(&["for-each-ref", "refs/saihai"]).contains("/work");
    wait_for("the work to be published", || published().then_some(()));
    team.world.ok(&["runner", "remove", &id]);
    assert_eq!(removed.until_ended(), 1, "{}", removed.errors());
    first.until_quiet();
    std::fs::write(&gate, "").unwrap();

    let (token, _) = Server::runner_token(&team.world, "second", &[]);
    let runner = second.runner(&server.url(), &token, &["--max-parallel", "2"]);
    team.until_task(&ended, "done");
    second.until_barrier(3, "go");
    second.release(2, "go");
    team.until_task(&running, "done");
    let sessions = |task: &str| (1..=3).filter(|n| team.session(*n)["task_id"] == task).count();
    assert_eq!((sessions(&ended), sessions(&running)), (1, 2), "the first was not done again");
    // Its token opens nothing any more.
    let mut again = first.command(&server.url(), &token_of_nobody(&token), &[]);
    assert!(!again.output().unwrap().status.success());
    runner.stop();
}

fn token_of_nobody(token: &str) -> String {
    format!("{}x", &token[..token.len() - 1])
}
