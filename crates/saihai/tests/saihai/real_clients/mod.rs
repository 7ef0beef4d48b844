//! Do real clients get through real work? `saihai up` starts them as it starts them for everybody: in
//! the strict sandbox, in a clone, with an environment built from nothing. Only the model is scripted. People start them
//! themselves, too: in windows of their own.
//!
//! These tests are ignored unless they are asked for: `scripts/test --real-clients` installs the clients and
//! runs them. `SAIHAI_REAL_CLIENTS` names the directory that `scripts/clients` installed them in.

mod fixture;
mod own_window;

use serde_json::{Value, json};
use testkit::model::Behaviour;

use self::fixture::{CLAUDE, CODEX, ClientSetup, Fixture, GEMINI, OPENCODE};
use crate::world::{column, texts};

const WORKER: &str = "hierarchy_type: worker\ndecompose: never\nscope: {write: [\"src/**\"]}\n";

/// A whole task: told what to do it writes with its own tools, commits, reports, logs out and ends, and
/// the work is checked and merged.
async fn works(setup: ClientSetup) {
    let fixture = Fixture::start(Behaviour::Guided, &[("coder", setup, WORKER)]).await;
    let task = fixture.task("Greet", "Write a greeting into `src/hello.md`.", "coder");
    fixture.until_done(&task);
    let session = fixture.first_session(&task);
    assert_eq!([&session["end_reason"], &session["dod_result"], &session["verdict"]], ["exited", "merged", "done"]);
    assert_eq!((session["exit_code"].as_i64(), texts(&session["artifacts"])), (Some(0), vec!["src/hello.md"]));
    let usage = &session["usage"];
    assert!(usage["input_tokens"].as_u64() > Some(0) && usage["output_tokens"].as_u64() > Some(0), "{session}");
    assert_eq!(usage["cost_micros"].is_u64(), setup.client == "claude-code", "only one tells: {session}");

    let steps = fixture.world.json(&["session", "trace", session["id"].as_str().unwrap()]);
    let step = |step: &Value| step["tool"].as_str().or(step["action"].as_str()).map(str::to_owned);
    let steps: Vec<_> = steps.as_array().unwrap().iter().filter_map(step).collect();
    // The actions between the calls are the answers of `get_next_action`.
    let told =
        ["report_model", "report_model", "get_task", "get_my_task", "work", "report_completed", "logout", "logout"];
    assert_eq!(steps, [&["authenticate"], &told[..]].concat());

    assert!(fixture.world.read("src/hello.md").starts_with("# Greet\n"));
    assert!(fixture.world.git(&["log", "--format=%an"]).lines().any(|author| author == "coder"), "it committed itself");
    fixture.nothing_else_changed();
}

/// A vendor that limits the rate: the account is parked, and the task loses no attempt.
async fn is_rate_limited(setup: ClientSetup) {
    let fixture = Fixture::start(Behaviour::RateLimited, &[("coder", setup, WORKER)]).await;
    let task = fixture.task("Greet", "Write a greeting into `src/hello.md`.", "coder");
    let session = fixture.first_session(&task);
    assert_eq!(session["verdict_detail"], json!({ "none": "rate_limited" }), "{session}");
    let staffing_of = fixture.staffing_of(&task, "coder").await;
    assert_eq!([&staffing_of["action"], &staffing_of["reason"]], ["hold", "cooling_down"], "{staffing_of}");
    // People read the time of their zone, to the second.
    let until = staffing_of["until"].as_str().unwrap().replace('T', " ");
    let parked = format!("{} is rate limited until {}", setup.client, &until[.."2026-11-18 20:00:00".len()]);
    fixture.until(&parked, || fixture.up.output().contains(&parked).then_some(()));
    let why = fixture.world.ok(&["task", "why", &task]);
    assert!(why.contains("its next session waits for"), "{why}");
    fixture.nothing_else_changed();
}

/// A login that the vendor refuses is no failed attempt: the owner is told what to do.
async fn is_logged_out(setup: ClientSetup) {
    let fixture = Fixture::start(Behaviour::Unauthorised, &[("coder", setup, WORKER)]).await;
    let task = fixture.task("Greet", "Write a greeting into `src/hello.md`.", "coder");
    let session = fixture.first_session(&task);
    assert_eq!(session["end_reason"], "launch_failed", "{session}");
    assert_eq!(session["verdict_detail"], json!({ "none": "launch_failed" }), "{session}");
    let error = session["error"].as_str().unwrap();
    assert!(error.starts_with(setup.advice) && error.contains("The key is wrong."), "{error}");
    let staffing_of = fixture.staffing_of(&task, "coder").await;
    assert_eq!([&staffing_of["action"], &staffing_of["reason"]], ["hold", "cooling_down"], "{staffing_of}");
    fixture.until("it is told", || fixture.up.output().contains(setup.advice).then_some(()));
    fixture.nothing_else_changed();
}

/// T3, R1, R2, R5, R6, F45, F46, F47
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn claude_code_works() {
    works(CLAUDE).await;
}

/// T3, R1, R2, R5, R6, F45, F46, F47
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn codex_works() {
    works(CODEX).await;
}

/// T3, R1, R2, R5, R6, F45, F46, F47
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn gemini_works() {
    works(GEMINI).await;
}

/// T3, R1, R2, R5, R6, F45, F46, F47
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn opencode_works() {
    works(OPENCODE).await;
}

/// T3, R5, A3, F33, F34
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn claude_code_is_rate_limited() {
    is_rate_limited(CLAUDE).await;
}

/// T3, R5, A3, F33, F34
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn codex_is_rate_limited() {
    is_rate_limited(CODEX).await;
}

/// T3, R5, A3, F33, F34
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn gemini_is_rate_limited() {
    is_rate_limited(GEMINI).await;
}

/// T3, R5, A3, F33, F34
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn opencode_is_rate_limited() {
    is_rate_limited(OPENCODE).await;
}

/// T3, R5, A3, F33
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn claude_code_is_logged_out() {
    is_logged_out(CLAUDE).await;
}

/// T3, R5, A3, F33
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn codex_is_logged_out() {
    is_logged_out(CODEX).await;
}

/// T3, R5, A3, F33
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn gemini_is_logged_out() {
    is_logged_out(GEMINI).await;
}

/// T3, R5, A3, F33
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn opencode_is_logged_out() {
    is_logged_out(OPENCODE).await;
}

/// T3, R2: what is outside its scope cannot be changed, neither with its own tools nor in a shell: there
/// is nothing to find fault with afterwards.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn a_client_is_confined_to_its_scope() {
    for setup in [CLAUDE, CODEX] {
        let fixture = Fixture::start(Behaviour::Guided, &[("coder", setup, WORKER)]).await;
        let task = fixture.task("Greet", "Write a greeting into `README.md`.", "coder");
        let session = fixture.first_session(&task);
        assert_eq!(session["verdict_detail"], json!({ "rejected": "no_change" }), "{session}");
        assert_eq!(fixture.world.read("README.md"), "A shop.\n");
        fixture.nothing_else_changed();
    }
}

/// T3, R5, R6: a manager splits a task for workers of other vendors, waits, and reports when they are
/// through.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs the real clients: scripts/test --real-clients"]
async fn a_team_of_three_vendors_works() {
    let worker = "hierarchy_type: worker\nparent: lead\ndecompose: never\nscope: {write: [\"work/**\"]}\n";
    let team = [("lead", CLAUDE, "hierarchy_type: manager\n"), ("reader", CODEX, worker), ("writer", GEMINI, worker)];
    let fixture = Fixture::start(Behaviour::Guided, &team).await;
    let task = fixture.task("Greet everybody", "Write greetings, each into a file of its own.", "lead");
    fixture.until_done(&task);
    let children = fixture.world.json(&["task", "list", "--parent", &task, "--all"]);
    assert_eq!(column(&children, "status"), ["done", "done"]);
    let mut workers = column(&children, "assignee_id");
    workers.sort_unstable();
    assert_eq!(workers, ["reader", "writer"]);
    for child in column(&children, "id") {
        assert!(fixture.world.read(&format!("work/{child}.md")).contains(child));
    }
    fixture.nothing_else_changed();
}
