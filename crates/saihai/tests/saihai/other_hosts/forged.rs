//! What can a runner do that is not obedient, and a stranger on the network (T6, V16)?

use board::{Examination, Fact, Generation, JudgeChanges, Merge, ProcessEnd, SessionId, WorkspaceFacts};
use dispatch::FactReport;
use serde_json::{Value, json};

use super::Host;
use crate::runner::Team;
use crate::server::{Server, nothing};

const WRITE: &str = "barrier go; echo done > src/a.txt";

const PROJECT: &str = "/projects/shop";

fn heartbeat(name: &str, home: &str) -> Value {
    json!({ "name": name, "home": home, "version": "0", "protocol": [1, 1], "offer": {}, "projects": {} })
}

fn about(session: u32, generation: u32) -> Value {
    serde_json::to_value((SessionId(session), Generation(generation))).unwrap()
}

/// T6, S4: strangers, agents, people and runners that were removed get nothing: no word, no commit, no place to write.
#[test]
fn only_runners_are_answered() {
    let team = Team::new(WRITE);
    let server = Server::start(&team.world);
    let (removed, id) = Server::runner_token(&team.world, "removed", &[]);
    team.world.ok(&["runner", "remove", &id]);
    let owner = team.world.ok(&["token", "create", "--role", "owner", "--quiet"]);
    let passkey = team.world.ok(&["agent", "passkey", "solo", "--quiet"]);
    for token in ["", "nonsense", &removed, &owner, &passkey] {
        for (path, body) in [
            ("/register", json!({ "heartbeat": heartbeat("x", "x") })),
            ("/projects/shop/wanted", json!({ "after": null, "heartbeat": heartbeat("x", "x") })),
            ("/projects/shop/claim", nothing()),
            ("/projects/shop/inventory", nothing()),
            ("/projects/shop/move", nothing()),
        ] {
            assert_eq!(server.ask_as_runner(token, path, &body).0, 401, "{token}: {path}");
        }
        for (method, path) in [
            ("GET", "git/info/refs?service=git-upload-pack"),
            ("POST", "git/git-upload-pack"),
            ("PUT", "uploads/ses_1?at=0"),
            ("PUT", "output/ses_1?at=0"),
            ("GET", "output/ses_1"),
        ] {
            let path = format!("/runner/v1/projects/shop/{path}");
            assert_eq!(server.send(token, method, &path, "application/json", b"x").status, 401, "{token}: {path}");
        }
        assert_eq!(server.send(token, "GET", "/runner/v1/demand", "", b"").status, 401);
    }
    assert!(!team.project_directory().join("incoming").exists());
}

/// T6, V16, R10: a runner can act on nothing but its own sessions: what it says of another's, sends for it or asks about it
/// changes nothing. Nor can it move the target to what nobody wants to be merged, or write into the repository.
#[test]
fn a_runner_can_act_on_its_own_sessions_only() {
    let team = Team::new(WRITE);
    let server = Server::start(&team.world);
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "honest", &[]);
    let runner = host.runner(&server.url(), &token, &[]);
    let task = team.start_task("Write");
    host.until_barrier(1, "go");
    let (hostile, _) = Server::runner_token(&team.world, "hostile", &[]);
    let ask = |path: &str, body: &Value| server.ask_as_runner(&hostile, &format!("{PROJECT}{path}"), body);
    let head = team.world.git(&["rev-parse", "main"]);

    let generation = Generation(team.board().sessions[&SessionId(1)].generation.0);
    let facts = WorkspaceFacts {
        commits: 1,
        changed: vec!["src/a.txt".into()],
        outside_scope: Vec::new(),
        checks: Vec::new(),
        goals_unmet: Vec::new(),
        merge: Merge::Merged { commit: head.clone() },
        target: Some(head.clone()),
        candidate: Some(head.clone()),
        judge_changes: JudgeChanges::default(),
        tree: None,
        undone_by_git: false,
    };
    for (number, fact) in [
        (1, Fact::Exit { end: ProcessEnd::exited(0), usage: None }),
        (2, Fact::Examined(Examination::Found(Box::new(facts)))),
    ] {
        let report = FactReport { session: SessionId(1), generation, number: number + 100, fact };
        // Answered, so that nobody asks for ever; and without effect.
        assert_eq!(ask("/fact", &serde_json::to_value(report).unwrap()).0, 200);
    }
    let of = about(1, generation.0);
    let of = json!({ "session": of[0], "generation": of[1] });
    assert_eq!(ask("/examine-order", &of), (200, json!({ "order": null })));
    let step = json!({ "of": of, "number": 9, "found": null });
    assert_eq!(ask("/examination-step", &step), (200, json!({ "step": null })));
    let renew = json!({ "sessions": [about(1, generation.0)] });
    ask("/renew", &renew);

    let send = |method: &str, path: &str, body: &[u8]| {
        server.send(&hostile, method, &format!("/runner/v1{PROJECT}{path}"), "application/octet-stream", body)
    };
    assert_eq!(send("PUT", "/output/ses_1?at=0", b"all is well\n").status, 403);
    assert_eq!(send("GET", "/output/ses_1", b"").status, 403);
    // A bundle with a commit of its own, sent as if it were the session's work.
    let bundle = forged_bundle(&team, &head);
    for path in ["/uploads/ses_1?at=0", "/uploads/ses_99?at=0"] {
        assert_eq!(send("PUT", path, &bundle.bytes).status, 403, "{path}");
    }
    let sent = json!({ "length": bundle.bytes.len(), "blake3": bundle.hash });
    let publish = json!({ "of": of, "head": bundle.head, "bundle": sent });
    assert_eq!(ask("/publish", &publish).0, 409);
    let moved = json!({ "of": of, "from": head, "to": bundle.head, "bundle": sent });
    assert_eq!(ask("/move", &moved).0, 409);
    assert_eq!(send("GET", "/git/info/refs?service=git-receive-pack", b"").status, 403);
    assert_eq!(send("POST", "/git/git-receive-pack", b"0000").status, 404);
    assert_eq!(send("GET", "/git/../../../etc/passwd", b"").status, 404);
    assert_eq!(ask("/ref", &json!({ "reference": "--output=/tmp/saihai-forged" })), (200, json!({ "commit": null })));

    // The same with its own session, before the board wants a merge.
    host.release(1, "go");
    team.until_task(&task, "done");
    assert!(!team.history().contains(&"forged".to_owned()), "{:?}", team.history());
    assert!(
        team.git_quietly(&["cat-file", "-e", &bundle.head]).status.code() != Some(0),
        "the forged commit is not there"
    );
    runner.stop();
}

struct Forged {
    head: String,
    bytes: Vec<u8>,
    hash: String,
}

/// A commit on top of another, in a bundle, which the repository itself does not have.
fn forged_bundle(team: &Team, on: &str) -> Forged {
    let clone = team.world.path().join("forger");
    team.world.git(&["clone", "--quiet", ".", clone.to_str().unwrap()]);
    let git = |arguments: &[&str]| team.world.git(&[&["-C", clone.to_str().unwrap()], arguments].concat());
    std::fs::write(clone.join("src/forged.txt"), "forged\n").unwrap();
    git(&["add", "."]);
    git(&["commit", "--quiet", "--message=forged"]);
    let head = git(&["rev-parse", "HEAD"]);
    let file = team.world.path().join("forged.bundle");
    git(&["bundle", "create", "--quiet", file.to_str().unwrap(), "HEAD", "--not", on]);
    let bytes = std::fs::read(file).unwrap();
    let hash = blake3::hash(&bytes).to_hex().to_string();
    Forged { head, bytes, hash }
}

/// T6, V16, V10: also for a session of its own a runner cannot move the target to another commit than the one that the board
/// wants to be merged, and what it sends as work is proved like an agent's.
#[test]
fn a_runner_moves_the_target_only_where_the_board_wants_it() {
    let team = Team::new("exit 0");
    let server = Server::start(&team.world);
    let (token, _) = Server::runner_token(&team.world, "hostile", &[]);
    let ask = |path: &str, body: &Value| server.ask_as_runner(&token, &format!("{PROJECT}{path}"), body);
    let head = team.world.git(&["rev-parse", "main"]);
    team.start_task("Write");
    // It claims the work as any runner would, and says that it is done.
    let offer = json!({ "agent": "solo", "task": "tsk_1" });
    let claim = json!({ "offer": {}, "claim": { "offer": offer, "spawn": "spawn-1", "credential": "c".repeat(64) } });
    let (status, claimed) = ask("/claim", &claim);
    assert_eq!(status, 200, "{claimed}");
    let (session, generation) = (SessionId(1), team.board().sessions[&SessionId(1)].generation);
    let fact = |number, fact| {
        let report = FactReport { session, generation, number, fact };
        assert_eq!(ask("/fact", &serde_json::to_value(report).unwrap()).0, 200);
    };
    fact(1, Fact::Branch { branch: "task-1-write".into(), base: head.clone() });
    fact(2, Fact::Running);
    fact(3, Fact::Exit { end: ProcessEnd::exited(0), usage: None });
    team.until_session(1, "it to be examined", |session| session["status"] == "verifying");
    let of = json!({ "session": session, "generation": generation });
    let bundle = forged_bundle(&team, &head);
    let upload = |bytes: &[u8]| {
        let path = format!("/runner/v1{PROJECT}/uploads/ses_1?at=0");
        assert_eq!(server.send(&token, "PUT", &path, "application/octet-stream", bytes).status, 200);
    };
    let sent = |bytes: &[u8]| json!({ "length": bytes.len(), "blake3": blake3::hash(bytes).to_hex().to_string() });
    upload(&bundle.bytes);
    let moved = json!({ "of": of, "from": head, "to": bundle.head, "bundle": sent(&bundle.bytes) });
    let (status, answer) = ask("/move", &moved);
    assert!(status == 503 || status == 409, "{status}: {answer}");
    assert_eq!(team.world.git(&["rev-parse", "main"]), head);
    // What is broken, or not what was said, is refused and leaves nothing.
    upload(&bundle.bytes);
    let (status, _) = ask("/publish", &json!({ "of": of, "head": bundle.head, "bundle": sent(b"other") }));
    assert_eq!(status, 409);
    let broken = &bundle.bytes[..bundle.bytes.len() - 30];
    upload(broken);
    let (status, _) = ask("/publish", &json!({ "of": of, "head": bundle.head, "bundle": sent(broken) }));
    assert_eq!(status, 503);
    assert!(team.git_quietly(&["cat-file", "-e", &bundle.head]).status.code() != Some(0), "nothing of it is there");
    // Its place is bounded, and where nothing arrived nothing is found.
    let path = format!("/runner/v1{PROJECT}/uploads/ses_1?at=0");
    let long = vec![0; (512 << 10) + 4096];
    assert_eq!(server.send(&token, "PUT", &path, "application/octet-stream", &long).status, 413);
}

/// R10, E9: a runner whose protocol no server speaks is told to update, in words; and two homes may not share one token.
#[test]
fn skew_and_shared_tokens_are_told() {
    let team = Team::new(WRITE);
    let server = Server::start(&team.world);
    let (token, _) = Server::runner_token(&team.world, "one", &[]);
    let register = |name: &str, home: &str, protocol: [u32; 2]| {
        let mut heartbeat = heartbeat(name, home);
        heartbeat["protocol"] = json!(protocol);
        server.ask_as_runner(&token, "/register", &json!({ "heartbeat": heartbeat }))
    };
    let (status, told) = register("one", "home-1", [7, 9]);
    assert_eq!((status, &told["code"]), (426, &json!("protocol")));
    assert!(told["message"].as_str().unwrap().contains("update the older one"), "{told}");
    assert_eq!(register("one", "home-1", [1, 9]).0, 200);
    let (status, told) = register("two", "home-2", [1, 1]);
    assert_eq!((status, &told["code"]), (409, &json!("token_in_use")));
    // What is said besides, by a newer one, is passed over.
    let mut heartbeat = heartbeat("one", "home-1");
    heartbeat["moon"] = json!("full");
    assert_eq!(server.ask_as_runner(&token, "/register", &json!({ "heartbeat": heartbeat, "more": 1 })).0, 200);
    // A real one is told why it is not let in.
    let host = Host::new();
    let refused = host.command(&server.url(), &token, &[]).output().unwrap();
    let said = String::from_utf8(refused.stderr).unwrap();
    assert!(!refused.status.success() && said.contains("make one for each"), "{said}");
    let mut unknown = host.command(&server.url(), "sht_nobody", &[]);
    let said = String::from_utf8(unknown.output().unwrap().stderr).unwrap();
    assert!(said.contains("token create --role runner"), "{said}");
}
