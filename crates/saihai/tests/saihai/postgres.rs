//! Does everything work on PostgreSQL, under several servers, and does an installation get there and back?

use std::io::{BufRead as _, BufReader, Write as _};
use std::time::Duration;

use serde_json::{Value, json};
use store::contract::postgres::Schema;

use crate::runner::{Team, Up};
use crate::server::Server;
use crate::world::{World, column};

const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// E2, E3, E9: servers on one database are equal. What one was told the other knows at once: tokens, tasks, sessions of
/// agents; and it goes on when the first one is killed.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn servers_are_equal_and_replaceable() {
    let schema = Schema::fresh().await;
    let world = World::with_store(Some(schema.url()));
    world.write(".saihai/agents/hand.yaml", "id: hand\nclient: attached\ndecompose: never\n");
    world.ok(&["agent", "apply"]);
    let (one, two) = (Server::start(&world), Server::start(&world));

    // A token that was just made, by another process, opens both.
    let made = world.json(&["token", "create", "--role", "owner"]);
    let (token, token_id) = (made["token"].as_str().unwrap().to_owned(), made["id"].as_str().unwrap());
    let task = json!({ "title": "Write it down", "assignee": "hand", "completion": "reported" });
    let (status, made) = one.ask(&token, "POST", "/projects/shop/tasks", &task);
    assert_eq!((status, &made["id"]), (201, &json!("tsk_1")), "{made}");
    assert_eq!(two.ask(&token, "GET", "/projects/shop/tasks/1", &Value::Null).1["title"], "Write it down");
    assert_eq!(two.ask(&token, "POST", "/projects/shop/tasks/1/start", &json!({})).0, 200);

    // An agent begins its session with the one, and goes on with the other.
    let passkey = world.ok(&["agent", "passkey", "hand", "--quiet"]);
    let (mut begun, mut going) = (one.client(), two.client());
    for client in [&mut begun, &mut going] {
        client.initialize("2025-11-25").await;
    }
    let login = json!({ "agent_id": "hand", "passkey": passkey, "project_id": "shop" });
    let session = begun.must("authenticate", login).await["session_token"].clone();
    let with = |more: Value| {
        let mut arguments = json!({ "session_token": session });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    going.must("report_model", with(json!({ "provider": "me", "model_id": "me" }))).await;
    assert_eq!(begun.must("get_next_action", with(json!({}))).await["action"], "get_task");
    let mut one = one;
    one.kill();
    going.must("get_my_task", with(json!({}))).await;
    going.must("report_completed", with(json!({ "result": "success", "summary": "written" }))).await;
    going.must("logout", with(json!({}))).await;
    assert_eq!(two.ask(&token, "GET", "/projects/shop/tasks/1", &Value::Null).1["status"], "done");
    assert_eq!(world.status("1"), "done");
    // Its token is known to whoever comes in its place, and useless everywhere once it is revoked.
    let three = Server::start(&world);
    world.ok(&["token", "revoke", token_id]);
    for server in [&two, &three] {
        assert_eq!(server.ask(&token, "GET", "/projects/shop/tasks/1", &Value::Null).0, 401);
    }
}

/// E7: what one server is told reaches the pages and streams of another.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn events_reach_the_streams_of_other_servers() {
    let schema = Schema::fresh().await;
    let world = World::with_store(Some(schema.url()));
    let server = Server::start(&world);
    let token = world.ok(&["token", "create", "--role", "viewer", "--quiet"]);
    let port = server.port;
    let mut stream = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(WAIT_LIMIT)).unwrap();
    write!(
        stream,
        "GET /api/v1/events?project=shop HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nAuthorization: Bearer {token}\r\n\r\n"
    )
    .unwrap();
    let mut lines = BufReader::new(stream).lines();
    assert!(lines.next().unwrap().unwrap().contains("200"));
    world.ok(&["task", "add", "Seen elsewhere"]);
    assert!(lines.map_while(Result::ok).any(|line| line.contains("Seen elsewhere")), "the stream ended without it");
}

/// E10: an installation moves to PostgreSQL and back, whole; a copy that is repeated goes on where it was; what holds
/// something else, or is in use, is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn an_installation_moves_to_postgresql_and_back() {
    let schema = Schema::fresh().await;
    let world = World::new();
    world.write(
        ".saihai/agents/keyed.yaml",
        "id: keyed\nmode: one_shot\nclient: command\ncommand: [\"true\"]\nenv: {API_KEY: s3cret-value}\n",
    );
    world.ok(&["agent", "apply"]);
    for n in 1..=30 {
        world.task(&format!("Task {n}"));
    }
    let (file, database) = (world.location(), schema.url());
    let before = world.ok(&["log", "tail", "--lines", "1000", "--json"]);

    let copied = world.json(&["store", "copy", &file, &database]);
    assert_eq!(column(&copied["streams"], "stream"), ["installation", "project/shop"]);
    // Once more: nothing is new.
    let again = world.json(&["store", "copy", &file, &database]);
    assert!(again["streams"].as_array().unwrap().iter().all(|stream| stream["new"] == 0), "{again}");

    let there = |arguments: &[&str]| world.ok(&[&["--store", &database], arguments].concat());
    assert_eq!(there(&["log", "tail", "--lines", "1000", "--json"]), before);
    assert!(there(&["log", "verify"]).contains("chain intact"));
    there(&["task", "add", "Only there"]);
    assert_eq!(there(&["task", "list", "--all", "--quiet"]).lines().count(), 31);

    // The old store has gone another way since: neither is written over the other.
    world.task("Only here");
    let other = world.refused(6, &["store", "copy", &file, &database]);
    assert!(other["message"].as_str().unwrap().contains("holds another project/shop"), "{other}");

    // Nobody copies what a server is using.
    let on_postgres = world.in_store(&database);
    let server = Server::start(&on_postgres);
    let back = format!("sqlite:{}", on_postgres.path().join("back.db").display());
    let in_use = on_postgres.refused(6, &["store", "copy", &database, &back]);
    assert!(in_use["message"].as_str().unwrap().contains("in use"), "{in_use}");
    // But a backup can be made beside it.
    let backup = on_postgres.path().join("backup.db");
    on_postgres.ok(&["store", "backup", backup.to_str().unwrap()]);
    drop(server);
    let saved = format!("sqlite:{}", backup.display());
    assert_eq!(on_postgres.ok(&["--store", &saved, "task", "list", "--all", "--quiet"]).lines().count(), 31);
    on_postgres.refused(2, &["store", "backup", backup.to_str().unwrap()]);
    let kept = rusqlite::Connection::open(&backup).unwrap();
    let key: String = kept.query_row("SELECT value FROM secrets WHERE name = 'API_KEY'", [], |row| row.get(0)).unwrap();
    assert_eq!(key, "s3cret-value", "values of env come along");

    on_postgres.ok(&["store", "copy", &database, &back]);
    let home_again = on_postgres.in_store(&back);
    assert_eq!(home_again.ok(&["task", "list", "--all", "--quiet"]).lines().count(), 31);
    assert!(home_again.ok(&["log", "verify"]).contains("chain intact"));
}

/// E3, R3: a team works on PostgreSQL, and a database that is killed meanwhile costs it nothing but time.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[ignore = "needs SAIHAI_TEST_POSTGRES, which scripts/test sets"]
async fn a_team_works_while_its_database_is_killed() {
    let directory = tempfile::tempdir().unwrap();
    std::fs::set_permissions(directory.path(), std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut server = store::contract::postgres::Server::start(directory.path());
    let world = World::repository().in_store(&server.url());
    let script = "barrier go; echo b > src/$(date +%N).txt";
    let team = Team::in_repository(world, script, &json!({}));
    team.redefine_solo(script, &json!({ "max_sessions": 3 }));
    let tasks: Vec<_> = (0..3).map(|n| team.start_task(&format!("Part {n}"))).collect();
    let up = Up::start(&team, &["--max-parallel", "3"]);
    for session in 1..=3 {
        team.until_barrier(session, "go");
    }
    server.kill();
    for task in 1..=3 {
        team.release(task, "go");
    }
    server.restart();
    for task in &tasks {
        team.until_task(task, "done");
    }
    assert_eq!(team.world.json(&["session", "list", "--all"]).as_array().unwrap().len(), 3, "none was started again");
    up.stop();
}
