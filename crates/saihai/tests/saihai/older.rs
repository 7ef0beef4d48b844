//! Does this program work beside an older one, on the same store and as the other end of a runner's connection (E9, R10)?
//!
//! These tests are ignored unless they are asked for: `scripts/test --older COMMIT` builds the older program and runs them.
//! `SAIHAI_OLDER` names it.

use std::path::PathBuf;

use serde_json::json;

use crate::other_hosts::Host;
use crate::runner::Team;
use crate::server::Server;

const WRITE: &str = "echo done > src/$(basename \"$(git rev-parse --abbrev-ref HEAD)\").txt";

fn older() -> PathBuf {
    PathBuf::from(std::env::var_os("SAIHAI_OLDER").expect("SAIHAI_OLDER names an older saihai"))
}

/// One task of each of two servers is done by the runner of one program, on servers of perhaps another.
#[track_caller]
fn work_is_done(servers: &[&Server], team: &Team, runner: Option<PathBuf>) {
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "host", &[]);
    let urls: Vec<_> = servers.iter().map(|server| server.url()).collect();
    let program = runner.unwrap_or_else(|| env!("CARGO_BIN_EXE_saihai").into());
    let runner = host.runner_of(&program, &urls.join(","), &token, &[]);
    let owner = team.world.ok(&["token", "create", "--role", "owner", "--quiet"]);
    for (number, server) in servers.iter().enumerate() {
        let new = json!({ "title": format!("Part {number}"), "assignee": "solo" });
        let (status, task) = server.ask(&owner, "POST", "/projects/shop/tasks", &new);
        assert_eq!(status, 201, "{task}");
        let id = task["id"].as_str().unwrap();
        let (status, started) = server.ask(&owner, "POST", &format!("/projects/shop/tasks/{id}/start"), &json!({}));
        assert_eq!(status, 200, "{started}");
        team.until_task(id, "done");
        // Each of them knows it.
        for other in servers {
            let (_, seen) = other.ask(&owner, "GET", &format!("/projects/shop/tasks/{id}"), &json!(null));
            assert_eq!(seen["status"], "done", "{seen}");
        }
    }
    assert!(team.world.ok(&["log", "verify"]).contains("chain intact"));
    let verified = team.world.command_of(&older(), &["log", "verify"]).output().unwrap();
    assert!(verified.status.success(), "{verified:?}");
    runner.stop();
}

/// R10: the runner's host was updated later, or earlier, than the server's.
#[test]
#[ignore = "needs an older program: scripts/test --older COMMIT"]
fn runners_and_servers_of_two_versions() {
    for (server, runner) in [(Some(older()), None), (None, Some(older()))] {
        let team = Team::new(WRITE);
        let server = match server {
            Some(older) => Server::of(&team.world, &older),
            None => Server::start(&team.world),
        };
        work_is_done(&[&server], &team, runner);
    }
}

/// E9: servers are updated one after the other.
#[test]
#[ignore = "needs an older program: scripts/test --older COMMIT"]
fn servers_of_two_versions_share_a_store() {
    for runner in [None, Some(older())] {
        let team = Team::new(WRITE);
        let servers = [Server::of(&team.world, &older()), Server::start(&team.world)];
        work_is_done(&servers.each_ref(), &team, runner);
    }
}
