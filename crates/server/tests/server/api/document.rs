//! Does the document say what the handlers do, and do they say nothing else?

use std::collections::BTreeSet;

use control::token_hash;
use serde_json::{Map, Value, json};

use super::sample_board::{PROJECT, SampleBoard, sample_board};
use super::{Sender, assert_problem, header, json_of};
use crate::test_server::{BY_HAND, ENV_SECRET, TestServer};

/// A request that there is an answer to.
struct Sample {
    path: String,
    body: Value,
    status: u16,
}

/// Every operation of the document: method, path, description.
fn operations(document: &Value) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            found.push((method.to_uppercase(), path.clone(), operation.clone()));
        }
    }
    assert!(found.len() > 30, "{}", found.len());
    found
}

/// The schema with every reference resolved, and with nothing allowed that it does not name.
fn strict(document: &Value, schema: &Value, outermost: bool) -> Value {
    if let Some(reference) = schema["$ref"].as_str() {
        let pointer = reference.strip_prefix('#').unwrap();
        return strict(document, document.pointer(pointer).unwrap_or_else(|| panic!("{reference}")), outermost);
    }
    match schema {
        Value::Object(fields) => {
            let mut strictly: Map<String, Value> = Map::new();
            for (name, value) in fields {
                let inner = match name.as_str() {
                    // The parts of one object know only their own fields.
                    "allOf" => value.as_array().unwrap().iter().map(|part| strict(document, part, false)).collect(),
                    "oneOf" | "anyOf" => {
                        value.as_array().unwrap().iter().map(|part| strict(document, part, outermost)).collect()
                    }
                    "properties" => {
                        let fields = value.as_object().unwrap().iter();
                        Value::Object(fields.map(|(name, f)| (name.clone(), strict(document, f, true))).collect())
                    }
                    "items" | "additionalProperties" => strict(document, value, true),
                    "example" | "enum" | "required" | "type" | "format" | "description" => value.clone(),
                    _ => value.clone(),
                };
                strictly.insert(name.clone(), inner);
            }
            let object = fields.contains_key("allOf") || fields.contains_key("properties");
            if object && outermost && !fields.contains_key("additionalProperties") {
                strictly.insert("unevaluatedProperties".into(), Value::Bool(false));
            }
            Value::Object(strictly)
        }
        other => other.clone(),
    }
}

/// What of an answer is not as the schema says.
fn misfits(document: &Value, schema: &Value, answer: &Value) -> Vec<String> {
    let schema = strict(document, schema, true);
    let validator = jsonschema::draft202012::options().should_validate_formats(true).build(&schema).unwrap();
    validator.iter_errors(answer).map(|error| format!("{}: {error}", error.instance_path())).collect()
}

/// Panics if an answer is not what the document promises for its status.
fn assert_as_described(document: &Value, operation: &Value, status: u16, answer: &Value, what: &str) {
    let response = &operation["responses"][status.to_string()];
    assert!(response.is_object(), "{what}: {status} is not described: {answer}");
    let Some(content) = response.get("content") else {
        assert!(answer.is_null(), "{what}: nothing is described, but there is {answer}");
        return;
    };
    let wrong = misfits(document, &content["application/json"]["schema"], answer);
    assert!(wrong.is_empty(), "{what}: {wrong:#?}\n{answer:#}");
}

/// At least one request for an operation.
async fn samples(sample_board: &SampleBoard, method: &str, path: &str) -> Vec<Sample> {
    let server = &sample_board.server;
    let board = server.project(PROJECT).await.newest().await.unwrap();
    let inside = path.strip_prefix("/projects/{project}");
    let at = |rest: String| format!("/projects/{PROJECT}{rest}");
    let one = |rest: &str, body: Value, status: u16| vec![Sample { path: at(rest.into()), body, status }];
    let looks = |rests: Vec<String>| -> Vec<Sample> {
        rests.into_iter().map(|rest| Sample { path: at(rest), body: Value::Null, status: 200 }).collect()
    };
    let sessions = |rest: &str| board.sessions.keys().map(|id| format!("/sessions/{id}{rest}")).collect::<Vec<_>>();
    let tasks = |rest: &str| board.tasks.keys().map(|id| format!("/tasks/{id}{rest}")).collect::<Vec<_>>();
    let painted = board.tasks.values().find(|task| task.title.starts_with("Paint it")).unwrap().id;
    let outside = |path: &str, body: Value, status: u16| vec![Sample { path: path.into(), body, status }];
    match (method, inside) {
        ("GET", None) if path == "/events" => Vec::new(),
        ("GET", None) if matches!(path, "/me" | "/projects" | "/tokens") => outside(path, Value::Null, 200),
        ("GET", None) if path == "/runners" => {
            let heartbeat = control::RunnerHeartbeat { name: "build-1".into(), ..Default::default() };
            server.state.control().hear_runner(&"tok_runner".parse().unwrap(), &heartbeat).await.unwrap();
            outside(path, Value::Null, 200)
        }
        ("POST", None) if path == "/runners/{runner}/drain" => outside("/runners/tok_runner/drain", Value::Null, 204),
        ("POST", None) if path == "/runners/{runner}/resume" => outside("/runners/tok_runner/resume", Value::Null, 204),
        ("DELETE", None) if path == "/runners/{runner}" => outside("/runners/tok_runner", Value::Null, 200),
        ("POST", None) if path == "/tokens" => outside(path, json!({ "role": "viewer", "name": "ann" }), 201),
        ("POST", None) if path == "/logins" => outside(path, json!({ "role": "owner" }), 201),
        ("DELETE", None) if path == "/tokens/{token}" => outside("/tokens/tok_runner", Value::Null, 204),
        ("GET", Some("")) => one("", Value::Null, 200),
        ("POST", Some("/pause")) => one("/pause", Value::Null, 200),
        ("POST", Some("/resume")) => one("/resume", Value::Null, 200),
        ("GET", Some("/tasks")) => {
            let queries =
                ["", "?all=true", "?status=open,blocked", "?q=part%20TSK_9&all=true", "?label=ui", "?as_of=20"];
            looks(queries.iter().map(|query| format!("/tasks{query}")).collect())
        }
        ("POST", Some("/tasks")) => {
            let new = json!({ "title": "New", "priority": "high", "labels": ["x"], "dependencies": ["tsk_1"],
                "idempotency_key": "once" });
            [201, 200].into_iter().flat_map(|status| one("/tasks", new.clone(), status)).collect()
        }
        ("GET", Some("/tasks/{task}")) => looks(tasks("")),
        ("GET", Some("/tasks/{task}/why")) => looks(tasks("/why")),
        ("GET", Some("/tasks/{task}/events")) => looks(tasks("/events")),
        ("GET", Some("/tasks/{task}/offers")) => looks(tasks("/offers")),
        ("GET", Some("/tasks/{task}/diff")) => looks(vec!["/tasks/tsk_1/diff".into()]),
        ("PATCH", Some("/tasks/{task}")) => {
            one(&format!("/tasks/{painted}"), json!({ "title": "Paint it red", "type": "docs", "labels": [] }), 200)
        }
        ("PUT", Some("/tasks/{task}/assignee")) => {
            one(&format!("/tasks/{painted}/assignee"), json!({ "agent": "w1" }), 200)
        }
        ("PATCH", Some("/tasks/{task}/dependencies")) => {
            one(&format!("/tasks/{painted}/dependencies"), json!({ "add": ["tsk_1"] }), 200)
        }
        ("POST", Some("/tasks/{task}/comments")) => {
            one(&format!("/tasks/{painted}/comments"), json!({ "text": "in blue" }), 201)
        }
        ("POST", Some("/tasks/{task}/revert")) => {
            let merged = board.tasks.values().find(|task| !board::merges(&board, task).is_empty()).unwrap().id;
            one(&format!("/tasks/{merged}/revert"), json!({ "reason": "too slow" }), 201)
        }
        ("POST", Some("/tasks/{task}/{move}")) => {
            one(&format!("/tasks/{painted}/cancel"), json!({ "reason": "enough" }), 200)
        }
        ("GET", Some("/agents")) => looks(vec!["/agents".into(), "/agents?all=true".into()]),
        ("GET", Some("/agents/{agent}")) => looks(board.agents.keys().map(|id| format!("/agents/{id}")).collect()),
        ("GET", Some("/agents/{agent}/decisions")) => {
            looks(board.agents.keys().map(|id| format!("/agents/{id}/decisions")).collect())
        }
        ("GET", Some("/sessions")) => {
            let queries = ["", "?running=true", "?task=1", "?agent=w1", "?running=true&agent=w2"];
            looks(queries.iter().map(|query| format!("/sessions{query}")).collect())
        }
        ("GET", Some("/sessions/{session}")) => looks(sessions("")),
        ("GET", Some("/sessions/{session}/transcript")) => {
            looks([sessions("/transcript?from=0&limit=500"), sessions("/transcript")].concat())
        }
        ("GET", Some("/sessions/{session}/log")) => {
            looks([sessions("/log?from=0&limit=100"), sessions("/log")].concat())
        }
        ("GET", Some("/sessions/{session}/decisions")) => looks(sessions("/decisions")),
        ("POST", Some("/sessions/{session}/stop")) => {
            let live = board.all_live_sessions().find(|session| session.can_call()).unwrap().id;
            one(&format!("/sessions/{live}/stop"), Value::Null, 200)
        }
        ("GET", Some("/report")) => looks(vec!["/report".into(), "/report?since=2026-01-01T00:00:00Z".into()]),
        ("GET", Some("/queue")) => one("/queue", Value::Null, 200),
        ("GET", Some("/messages")) => looks(vec!["/messages".into(), "/messages?agent=w2".into()]),
        ("POST", Some("/messages")) => {
            let open = board.tasks.values().find(|task| task.assignee.is_some() && !task.is_settled()).unwrap();
            let about = json!({ "to": open.assignee, "content": "Hello", "related_task": open.id });
            let plain = one("/messages", json!({ "to": "w1", "content": "Hello" }), 201);
            plain.into_iter().chain(one("/messages", about, 200)).collect()
        }
        ("GET", Some("/memory")) => one("/memory", Value::Null, 200),
        ("GET", Some("/proposals")) => one("/proposals", Value::Null, 200),
        ("POST", Some("/proposals/{number}/accept")) => {
            one(&format!("/proposals/{}/accept", proposal(&board)), json!({ "category": "time" }), 201)
        }
        ("POST", Some("/proposals/{number}/decline")) => {
            one(&format!("/proposals/{}/decline", proposal(&board)), Value::Null, 204)
        }
        ("GET", Some("/memory/{path}")) => {
            looks(vec!["/memory/architecture/database.md".into(), "/memory/style".into()])
        }
        ("GET", Some("/events")) => looks(vec!["/events?limit=500".into()]),
        (method, _) => panic!("{method} {path} is described, and nobody has tried it"),
    }
}

fn proposal(board: &board::Board) -> board::Seq {
    board::comments::open_proposals(board)[0].1.seq
}

/// A request to an operation that names something, whether it exists or not.
fn some_request(path: &str) -> String {
    let fill = [("{project}", PROJECT), ("{task}", "tsk_1"), ("{session}", "ses_1"), ("{agent}", "w1")];
    let path = fill.iter().fold(path.to_owned(), |path, (name, value)| path.replace(name, value));
    path.replace("{move}", "start")
        .replace("{path}", "style.md")
        .replace("{token}", "tok_runner")
        .replace("{runner}", "tok_runner")
        .replace("{number}", "7")
}

/// W4: every operation answers as the document says, with no field that it does not name.
#[tokio::test]
async fn every_answer_is_as_described() {
    let sample_board = sample_board().await;
    let owner = Sender::of(&sample_board.server, "owner");
    let document = owner.get("/openapi.json").await;
    jsonschema::draft202012::meta::validate(&document["components"]["schemas"]["Task"]).unwrap();
    // What is only looked at comes first, while everything is as it was made.
    let mut all = operations(&document);
    all.sort_by_key(|(method, path, _)| (method != "GET", method == "DELETE", path.contains("{move}")));
    for (method, path, operation) in &all {
        for Sample { path: sample, body, status } in samples(&sample_board, method, path).await {
            let (found, answer) = owner.call(method, &sample, body).await;
            let what = format!("{method} {sample}");
            assert_eq!(found, status, "{what}: {answer}");
            assert_as_described(&document, operation, found, &answer, &what);
        }
    }
}

/// W4: names are unique, refusals are described everywhere, and closed sets are sets of words.
#[tokio::test]
async fn the_document_is_whole() {
    let sample_board = sample_board().await;
    let document = Sender::of(&sample_board.server, "viewer").get("/openapi.json").await;
    let mut names = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let name = operation["operationId"].as_str().unwrap().to_owned();
        assert!(names.insert(name.clone()), "{name} twice");
        assert!(operation["summary"].is_string(), "{method} {path} says nothing");
        for refused in ["4XX", "5XX"] {
            let content = &operation["responses"][refused]["content"]["application/problem+json"];
            assert_eq!(content["schema"]["$ref"], "#/components/schemas/Problem", "{method} {path}");
        }
        let named = operation["parameters"].as_array().into_iter().flatten().filter(|p| p["in"] == "path");
        let named: BTreeSet<_> =
            named.map(|parameter| format!("{{{}}}", parameter["name"].as_str().unwrap())).collect();
        let parts: BTreeSet<_> = path.split('/').filter(|part| part.starts_with('{')).map(str::to_owned).collect();
        assert_eq!(named, parts, "{method} {path}");
    }
    let schemas = &document["components"]["schemas"];
    assert_eq!(schemas["Status"]["enum"].as_array().unwrap().len(), board::Status::ALL.len());
    assert_eq!(schemas["Task"]["properties"]["status"]["$ref"], "#/components/schemas/Status");
    assert_eq!(schemas["Task"]["properties"]["id"]["type"], "string");
}

/// What is compared with the document is compared strictly.
#[tokio::test]
async fn a_field_more_or_another_word_would_be_noticed() {
    let sample_board = sample_board().await;
    let owner = Sender::of(&sample_board.server, "owner");
    let document = owner.get("/openapi.json").await;
    let schema = json!({ "$ref": "#/components/schemas/TaskDetail" });
    let answer = owner.get(&format!("/projects/{PROJECT}/tasks/1")).await;
    assert!(misfits(&document, &schema, &answer).is_empty());
    for (pointer, value) in
        [("", json!("surplus")), ("/left", json!(1)), ("/context", json!({})), ("/labels", json!(7))]
    {
        let mut wrong = answer.clone();
        match wrong.pointer_mut(pointer).unwrap() {
            Value::Object(fields) => drop(fields.insert("surplus".into(), value)),
            other => *other = value,
        }
        assert!(!misfits(&document, &schema, &wrong).is_empty(), "{pointer}");
    }
    for (name, value) in [("status", "finished"), ("created_at", "yesterday"), ("priority", "")] {
        let mut wrong = answer.clone();
        wrong[name] = json!(value);
        assert!(!misfits(&document, &schema, &wrong).is_empty(), "{name}");
    }
}

/// W4, C6: what is listed has the names that the command line's `--json` has.
#[tokio::test]
async fn answers_agree_with_the_command_line() {
    let sample_board = sample_board().await;
    let owner = Sender::of(&sample_board.server, "owner");
    let board = sample_board.server.project(PROJECT).await.newest().await.unwrap();
    for task in board.tasks.values() {
        let shown = serde_json::to_value(board::wire::TaskDetail::of(&board, task)).unwrap();
        assert_eq!(owner.get(&format!("/projects/{PROJECT}/tasks/{}", task.id)).await, shown);
    }
    for session in board.sessions.values() {
        let shown =
            serde_json::to_value(board::wire::SessionDetail::of(&board, session, board::Timestamp(0), |waiting| {
                board::say_waiting(waiting, board::Language::En)
            }))
            .unwrap();
        let answer = owner.get(&format!("/projects/{PROJECT}/sessions/{}", session.id)).await;
        for (name, value) in shown.as_object().unwrap() {
            assert_eq!(answer[name], *value, "{} of {}", name, session.id);
        }
    }
    for agent in board.agents.values() {
        let shown = serde_json::to_value(board::wire::Agent::of(&board, agent)).unwrap();
        assert_eq!(owner.get(&format!("/projects/{PROJECT}/agents/{}", agent.id())).await["agent"], shown);
    }
    let messages = owner.get(&format!("/projects/{PROJECT}/messages")).await;
    let shown = board.messages.iter().rev().map(|message| board::wire::Message::of(&board, message));
    assert_eq!(messages["items"], serde_json::to_value(shown.collect::<Vec<_>>()).unwrap());
}

/// W3, S4: nobody comes in anywhere, a viewer changes nothing, and no other role is a person's.
#[tokio::test]
async fn each_operation_is_for_those_it_is_for() {
    let sample_board = sample_board().await;
    let server = &sample_board.server;
    let (viewer, nobody) = (Sender::of(server, "viewer"), Sender::nobody(server));
    let document = viewer.get("/openapi.json").await;
    let heads = server.heads().await;
    for (method, path, _) in operations(&document) {
        let sample = some_request(&path);
        let what = format!("{method} {sample}");
        let reply = nobody.send(&method, &format!("/api/v1{sample}"), b"{}").await;
        assert_eq!(reply.status, 401, "{what}");
        assert_problem(&reply, &what);
        for role in ["runner", "coordinator"] {
            let reply = Sender::of(server, role).send(&method, &format!("/api/v1{sample}"), b"{}").await;
            assert_eq!(reply.status, 403, "{what} by {role}");
        }
        if method != "GET" || path == "/tokens" {
            let reply = viewer.send(&method, &format!("/api/v1{sample}"), b"{}").await;
            assert_eq!(reply.status, 403, "{what}");
            assert_problem(&reply, &what);
        } else if path != "/events" {
            let (status, answer) = viewer.call(&method, &sample, Value::Null).await;
            assert_eq!(status, 200, "{what}: {answer}");
        }
    }
    assert_eq!(server.heads().await, heads, "nothing has happened");
    assert_eq!(nobody.send("GET", "/api/v1/openapi.json", b"").await.status, 401);
    assert_eq!(nobody.send("GET", "/metrics", b"").await.status, 401);
}

async fn secrets(sample_board: &SampleBoard) -> Vec<(String, String)> {
    let server = &sample_board.server;
    let mut secrets: Vec<(String, String)> = vec![("environment".into(), ENV_SECRET.into())];
    for (role, token) in &server.tokens {
        secrets.push((format!("token of {role}"), token.clone()));
    }
    for (project, passkey) in &server.passkeys {
        secrets.push((format!("passkey of {project}"), passkey.clone()));
        let board = server.project(project).await.board();
        let hash = board.agent(&crate::test_server::agent(BY_HAND)).unwrap().passkey.clone().unwrap();
        secrets.push((format!("hash of the passkey of {project}"), hash.0));
    }
    for credential in &sample_board.credentials {
        secrets.push(("credential".into(), credential.clone()));
    }
    let hashes: Vec<_> =
        secrets.iter().map(|(what, secret)| (format!("hash of {what}"), token_hash(secret).0)).collect();
    secrets.extend(hashes);
    secrets
}

/// S4, F35: no answer to anybody who looks has a secret or the hash of one.
#[tokio::test]
async fn secrets_are_in_no_answer() {
    let sample_board = sample_board().await;
    let server = &sample_board.server;
    let secrets = secrets(&sample_board).await;
    let owner = Sender::of(server, "owner");
    let document = owner.get("/openapi.json").await;
    let mut looked = 0;
    let check = |what: &str, text: &str| {
        for (name, secret) in &secrets {
            assert!(!text.contains(secret.as_str()), "{what} shows the {name}");
        }
    };
    for (method, path, _) in operations(&document).into_iter().filter(|(method, ..)| method == "GET") {
        for sample in samples(&sample_board, &method, &path).await {
            let reply = owner.send("GET", &format!("/api/v1{}", sample.path), b"").await;
            check(&sample.path, &reply.head);
            check(&sample.path, &String::from_utf8_lossy(&reply.body));
            looked += 1;
        }
    }
    assert!(looked > 80, "{looked}");
    let metrics = owner.send("GET", "/metrics", b"").await;
    check("/metrics", &String::from_utf8_lossy(&metrics.body));
    let mut stream = super::stream::Reading::begin(&owner, "/events?after=0", None).await.unwrap();
    let events = server.heads().await.iter().sum::<u64>();
    for _ in 0..events {
        check("/events", &stream.next().await.unwrap().data);
    }
    // A hidden value is named, so that it is known to be there.
    let shown = owner.get(&format!("/projects/{PROJECT}/agents/w1")).await;
    assert_eq!(shown["definition"]["env"]["KEY"], "(hidden)");
}

/// W4: a secret that is made is shown once, and then it works.
#[tokio::test]
async fn a_token_is_shown_once() {
    let server = TestServer::open(board::Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    let made = owner.change("POST", "/tokens", json!({ "role": "viewer", "name": "ann" })).await;
    let secret = made["token"].as_str().unwrap();
    let listed = owner.get("/tokens").await.to_string();
    assert!(listed.contains(made["id"].as_str().unwrap()) && listed.contains("ann"));
    assert!(!listed.contains(secret) && !listed.contains(&token_hash(secret).0));
    let mut ann = Sender::nobody(&server);
    ann.bearer = Some(secret.into());
    assert_eq!(ann.get("/me").await, json!({ "name": "ann", "role": "viewer", "language": "en" }));
    owner.change("DELETE", &format!("/tokens/{}", made["id"].as_str().unwrap()), Value::Null).await;
    assert_eq!(ann.refused("GET", "/me", Value::Null).await, (401, "not_authenticated".into()));
    assert_eq!(owner.refused("DELETE", "/tokens/tok_none", Value::Null).await, (404, "not_found".into()));
}

/// W4: the answer to a request that makes something says where it is.
#[tokio::test]
async fn what_is_made_can_be_found() {
    let server = TestServer::open(board::Limits::default()).await;
    let owner = Sender::of(&server, "owner");
    let reply = owner.send("POST", "/api/v1/projects/web/tasks", br#"{"title":"T"}"#).await;
    let place = header(&reply, "location").unwrap().strip_prefix("/api/v1").unwrap().to_owned();
    assert_eq!(owner.get(&place).await["id"], json_of(&reply)["id"]);
}
