//! Is work done, checked and merged on other hosts as it is beside the repository?

use serde_json::json;

use super::Host;
use crate::runner::{Team, checks, wait_for};
use crate::server::Server;
use crate::world::World;

/// One-shot agents, some bound to a host by its label.
const WORK: &str = r#"
name=$(basename "$(git rev-parse --abbrev-ref HEAD)")
seq 1 60000
echo "$name" > "src/$name.txt"
"#;

fn team_of_two_sites() -> Team {
    let team = Team::configured("exit 9", &checks(&[("there", "test -s src/a.txt")]));
    for site in ["east", "west"] {
        team.agent(site, WORK, &json!({ "runs_on": [site], "max_sessions": 2 }));
    }
    team.commit("sites");
    team.world.ok(&["agent", "apply"]);
    team
}

fn start_for(team: &Team, agent: &str, title: &str) -> String {
    team.world.ok(&["task", "add", title, "--assign", agent, "--start", "--quiet"])
}

/// R10, R12, F42: agents work on two hosts that have nothing but a token and a server's address. Their work is checked there
/// and merged into the repository that the server keeps; the user's checkout follows; their output is on the server, byte
/// for byte.
#[test]
fn two_hosts_do_the_work_of_a_server() {
    let team = team_of_two_sites();
    let server = Server::start(&team.world);
    let (east, west) = (Host::new(), Host::new());
    let (one, two) =
        (Server::runner_token(&team.world, "east", &["east"]), Server::runner_token(&team.world, "west", &["west"]));
    let first = east.runner(&server.url(), &one.0, &["--labels", "east"]);
    let second = west.runner(&server.url(), &two.0, &["--labels", "west"]);
    assert_eq!((&first.ready["runner"], &first.ready["projects"]), (&json!(one.1), &json!(["shop"])));

    let sites = ["east", "west", "east", "west"];
    let tasks: Vec<_> =
        sites.iter().enumerate().map(|(n, site)| start_for(&team, site, &format!("Part {n}"))).collect();
    for task in &tasks {
        team.until_task(task, "done");
    }
    // The branches are in the target, and the checkout has followed.
    assert_eq!(team.world.git(&["status", "--porcelain"]), "");
    for n in 0..4 {
        let file = format!("src/task-{}-part-{n}.txt", n + 1);
        assert!(team.merged(&file).is_some() && team.world.repository.join(&file).exists(), "{file}");
    }
    // Each worked where its label is.
    let board = team.board();
    for session in board.sessions.values() {
        let board::Driver::Runner { runner, .. } = &session.driver else { panic!("{session:?}") };
        assert_eq!(runner.as_str(), if session.agent.as_str() == "east" { &one.1 } else { &two.1 });
        let host = if session.agent.as_str() == "east" { &east } else { &west };
        let printed = host.log(session.id.0);
        assert!(printed.contains("\n60000\n"), "{} bytes", printed.len());
        wait_for("the output to be there", || {
            (team.world.ok(&["session", "log", &session.id.to_string()]) == printed.trim_end()).then_some(())
        });
        // So does the conversation that was made of it there.
        wait_for("the conversation to be there", || {
            let said = team.world.run(&["session", "log", &session.id.to_string(), "--transcript", "--json"]);
            said.stdout.contains("60000").then_some(())
        });
    }
    // Nothing but the definitions was laid out there, and the workspaces of merged work are gone.
    assert!(!east.workspace(1).exists() && !west.workspace(2).exists());
    let listed = team.world.json(&["runner", "list"]);
    assert_eq!(crate::world::column(&listed, "name").len(), 2, "{listed:#}");
    assert!(listed.as_array().unwrap().iter().all(|runner| runner["present"] == true), "{listed:#}");
    first.stop();
    second.stop();
    assert!(team.world.ok(&["log", "verify"]).contains("chain intact"));
    // One that has said that it goes is not missed.
    assert_eq!(team.world.json(&["runner", "list"]), json!([]));
}

/// R10, V3, V11: work of two hosts that collides is sent back to its agent, resolved and merged, like any other.
#[test]
fn work_of_two_hosts_that_collides_all_lands() {
    const COLLIDE: &str = r#"
git add -A; sed -i '/^<<<<<<<\|^=======\|^>>>>>>>/d' src/a.txt
name=$(basename "$(git rev-parse --abbrev-ref HEAD)")
grep -qx "$name" src/a.txt || echo "$name" >> src/a.txt
"#;
    let team = Team::configured(COLLIDE, &checks(&[("clean", "! grep -n '^<<<<<<<' src/a.txt")]));
    team.redefine_solo(COLLIDE, &json!({ "max_sessions": 6 }));
    let server = Server::start(&team.world);
    let hosts = [Host::new(), Host::new(), Host::new()];
    let tasks: Vec<_> = (0..6).map(|n| team.start_task(&format!("Line {n}"))).collect();
    let runners: Vec<_> = hosts
        .iter()
        .enumerate()
        .map(|(n, host)| {
            let (token, _) = Server::runner_token(&team.world, &format!("host-{n}"), &[]);
            host.runner(&server.url(), &token, &["--max-parallel", "2"])
        })
        .collect();
    for task in &tasks {
        team.until_task(task, "done");
    }
    let merged = team.merged("src/a.txt").unwrap();
    for n in 0..6 {
        let line = format!("task-{}-line-{n}", n + 1);
        assert_eq!(merged.lines().filter(|found| *found == line).count(), 1, "{merged}");
    }
    for runner in runners {
        runner.stop();
    }
}

/// R10, M1: agents that speak MCP reach the board through their host's runner: the demo's team, spread over two hosts.
#[test]
fn guided_agents_work_on_other_hosts() {
    let team = demo_team(World::repository());
    let server = Server::start(&team.world);
    let hosts = [Host::new(), Host::new()];
    let runners = hosts.each_ref().map(|host| {
        let (token, _) = Server::runner_token(&team.world, "host", &[]);
        host.runner(&server.url(), &token, &[])
    });
    let feature = team.world.ok(&["task", "add", "Greet", "--assign", "lead", "--start", "--quiet"]);
    team.until_task(&feature, "done");
    for language in ["languages/ja", "languages/de", "languages/fr"] {
        assert!(team.merged(language).is_some(), "{language}");
    }
    for runner in runners {
        runner.stop();
    }
}

/// The team of the demo: a manager and three workers.
pub(super) fn demo_team(world: World) -> Team {
    world.write("languages/en", "Hello!\n");
    world.write("README.md", "# greet\n\n- en: English\n");
    let team = Team::in_repository(world, "exit 9", &json!({}));
    for id in ["lead", "aiko", "bernd", "chloe"] {
        let manager = id == "lead";
        let mut agent = json!({
            "id": id, "mode": "guided", "client": "command", "system_prompt": "Work.",
            "command": [env!("CARGO_BIN_EXE_saihai"), "demo-agent", id, "10"],
            "hierarchy_type": if manager { "manager" } else { "worker" },
        });
        if !manager {
            agent["parent"] = json!("lead");
            agent["decompose"] = json!(if id == "bernd" { "auto" } else { "never" });
        }
        team.world.write(&format!(".saihai/agents/{id}.yaml"), agent.to_string());
    }
    team.commit("the demo's team");
    team.world.ok(&["agent", "apply"]);
    team
}

/// R10: where the project names a remote, the target moves there, whatever server is asked; a push of somebody else's
/// meanwhile is merged with, and the server's own checkout is left alone.
#[test]
fn the_target_moves_on_the_remote() {
    let world = World::repository();
    let remote = world.path().join("origin.git");
    world.git(&["init", "--quiet", "--bare", "--initial-branch=main", remote.to_str().unwrap()]);
    let settings = json!({ "remote": remote, "dod": { "timeout": 30, "checks": [{ "type": "there", "command": "test -s src/a.txt" }] } });
    let script = "barrier go; echo done > src/$(basename \"$(git rev-parse --abbrev-ref HEAD)\").txt";
    let team = Team::in_repository(world, script, &settings);
    team.world.git(&["push", "--quiet", remote.to_str().unwrap(), "main"]);
    let before = team.world.git(&["rev-parse", "main"]);
    let refused = team.world.refused(3, &["up", "--listen", "127.0.0.1:0"]);
    assert!(refused["hint"].as_str().unwrap().contains("saihai runner"), "it would merge beside the remote: {refused}");
    let (mut one, two) = (Server::start(&team.world), Server::start(&team.world));
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "host", &[]);
    let runner = host.runner(&format!("{},{}", one.url(), two.url()), &token, &[]);
    let task = team.start_task("Write");
    host.until_barrier(1, "go");
    // Somebody pushes, and a server dies.
    let clone = team.world.path().join("clone");
    team.world.git(&["clone", "--quiet", remote.to_str().unwrap(), clone.to_str().unwrap()]);
    let in_clone = |arguments: &[&str]| team.world.git(&[&["-C", clone.to_str().unwrap()], arguments].concat());
    std::fs::write(clone.join("theirs.txt"), "theirs\n").unwrap();
    in_clone(&["add", "."]);
    in_clone(&["commit", "--quiet", "--message=theirs"]);
    in_clone(&["push", "--quiet", "origin", "main"]);
    one.kill();
    host.release(1, "go");
    team.until_task(&task, "done");
    let in_remote = |arguments: &[&str]| team.world.git(&[&["-C", remote.to_str().unwrap()], arguments].concat());
    assert_eq!(in_remote(&["show", "main:theirs.txt"]), "theirs");
    assert_eq!(in_remote(&["show", "main:src/task-1-write.txt"]), "done");
    assert_eq!(team.world.git(&["rev-parse", "main"]), before, "the owner pulls when they like");
    wait_for("what was handed over to be gone there", || {
        in_remote(&["for-each-ref", "refs/saihai"]).is_empty().then_some(())
    });
    drop(two);
    runner.stop();
}

/// E10, R10: a project that leaves its remote goes on with the target here, and not beside what was merged there.
#[test]
fn a_project_leaves_its_remote_with_what_was_merged_there() {
    let (team, remote) = team_with_remote("echo done > src/b.txt");
    let server = Server::start(&team.world);
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "host", &[]);
    let runner = host.runner(&server.url(), &token, &[]);
    let task = team.start_task("Write");
    team.until_task(&task, "done");
    runner.stop();
    drop(server);

    team.world.write(".saihai/config.yaml", "{}");
    team.commit("no remote");
    let listen = ["up", "--listen", "127.0.0.1:0", "--until-idle"];
    let refused = team.world.refused(3, &listen);
    let pull = format!("git pull {remote} main");
    assert!(refused["hint"].as_str().unwrap().contains(&pull), "{refused}");
    let doctor = team.world.command(&["doctor", "--skip-checks", "--json"]).output().unwrap();
    assert!(String::from_utf8_lossy(&doctor.stdout).contains(&pull), "{doctor:?}");
    assert!(team.board().settings.remote.is_some(), "nothing was changed");
    team.world.git(&["pull", "--quiet", "--no-rebase", "--no-edit", &remote, "main"]);
    team.world.ok(&listen);
    assert!(team.board().settings.remote.is_none());
}

/// The way out where the remote is gone for good.
#[test]
fn a_project_leaves_a_remote_that_is_gone() {
    let (team, remote) = team_with_remote("echo done > src/b.txt");
    let server = Server::start(&team.world);
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "host", &[]);
    let runner = host.runner(&server.url(), &token, &[]);
    let task = team.start_task("Write");
    team.until_task(&task, "done");
    runner.stop();
    std::fs::remove_dir_all(&remote).unwrap();
    team.world.write(".saihai/config.yaml", "{}");
    team.world.refused(3, &["agent", "apply"]);
    team.world.ok(&["agent", "apply", "--without-pull"]);
    assert!(team.board().settings.remote.is_none());
    drop(server);
}

/// A project whose remote is a bare repository that has its target.
fn team_with_remote(script: &str) -> (Team, String) {
    let world = World::repository();
    let remote = world.path().join("origin.git").to_str().unwrap().to_owned();
    world.git(&["init", "--quiet", "--bare", "--initial-branch=main", &remote]);
    let team = Team::in_repository(world, script, &json!({ "remote": remote }));
    team.world.git(&["push", "--quiet", &remote, "main"]);
    (team, remote)
}

/// R10, L9: while a runner cannot reach the remote, whoever asks why nothing starts is told.
#[test]
fn a_remote_that_cannot_be_reached_is_told() {
    let (team, remote) = team_with_remote("echo done > src/b.txt");
    let aside = format!("{remote}.aside");
    std::fs::rename(&remote, &aside).unwrap();
    let task = team.start_task("Write");
    let why = || team.world.ok(&["task", "why", &task]);
    let nobody = why();
    assert!(nobody.contains("saihai runner") && !nobody.contains("saihai up"), "{nobody}");
    let server = Server::start(&team.world);
    let host = Host::new();
    let (token, id) = Server::runner_token(&team.world, "host", &[]);
    let runner = host.runner(&server.url(), &token, &[]);
    wait_for("why to tell it", || {
        (why().contains("cannot work for this project") && why().contains(&remote)).then_some(())
    });
    assert!(team.world.ok(&["runner", "list"]).contains("in trouble"));
    assert!(team.world.ok(&["runner", "show", &id]).contains(&remote));
    std::fs::rename(&aside, &remote).unwrap();
    team.until_task(&task, "done");
    runner.stop();
}

/// R10: repositories of every kind are followed, as the server's own and as a remote.
#[test]
fn repositories_of_every_kind_have_runners() {
    for (kind, remote) in [("sha256", false), ("sha256", true), ("shallow", false), ("shallow", true)] {
        let world = World::bare();
        if kind == "sha256" {
            world.git(&["init", "--quiet", "--initial-branch=main", "--object-format=sha256"]);
            world.git(&["commit", "--quiet", "--allow-empty", "--message=first"]);
        } else {
            let origin = World::repository();
            origin.git(&["commit", "--quiet", "--allow-empty", "--message=second"]);
            world.git(&["clone", "--quiet", "--depth=1", &format!("file://{}", origin.repository.display()), "."]);
        }
        let origin = world.path().join("origin.git").to_str().unwrap().to_owned();
        let settings = if remote { json!({ "remote": origin }) } else { json!({}) };
        let team = Team::in_repository(world, "echo done > src/b.txt", &settings);
        team.world.git(&[
            "clone",
            "--quiet",
            "--bare",
            &format!("file://{}", team.world.repository.display()),
            &origin,
        ]);
        let server = Server::start(&team.world);
        let host = Host::new();
        let (token, _) = Server::runner_token(&team.world, "host", &[]);
        let runner = host.runner(&server.url(), &token, &[]);
        let task = team.start_task("Write");
        team.until_task(&task, "done");
        let place = if remote { origin } else { team.world.repository.to_str().unwrap().to_owned() };
        assert_eq!(team.world.git(&["-C", &place, "show", "main:src/b.txt"]), "done", "{kind} {remote}");
        runner.stop();
        drop(server);
    }
}
