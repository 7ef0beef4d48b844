//! Can the owner read afterwards what an agent asked, what was answered, and why (E6)?

use serde_json::{Value, json};

use super::fixture::{Fixture, WAIT_LIMIT, merged, over_both_transports};

/// The trace once it has so many entries: a call is answered before its entry is written.
async fn written(fixture: &Fixture, session: &str, entries: usize) -> Vec<Value> {
    let waiting = async {
        while fixture.trace(session).await.len() < entries {
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(WAIT_LIMIT, waiting).await.unwrap();
    fixture.world.json(&["session", "trace", session]).as_array().unwrap().clone()
}

/// What is expected of an entry: what was asked, what was answered, the rule.
fn entry(trace: &Value) -> [String; 3] {
    let word = |name: &str| trace[name].as_str().unwrap_or_default().to_owned();
    let answer = ["refused", "action", "verdict"].into_iter().map(word).find(|text| !text.is_empty());
    let asked = if trace["kind"] == "call" { word("tool") } else { word("kind") };
    [asked, answer.unwrap_or_default(), word("row")]
}

/// E6, N1, C2, C3, S4: every call of a session, its answer and its reason are there, in order, as
/// text and as JSON; words and ids of the arguments are, texts and secrets are not.
#[tokio::test]
async fn trace_shows_every_call_its_answer_and_its_reason() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Small", "solo");
        let mut solo = fixture.claim("solo", &task).await;
        solo.begin_session().await;
        solo.next().await;
        assert_eq!(solo.refused("get_task", json!({ "task_id": "tsk_9" })).await, "not_found");
        assert_eq!(solo.refused("select_action", json!({ "action": "wait" })).await, "not_allowed");
        solo.must("send_message", json!({ "to": "owner", "content": "Nearly there." })).await;
        fixture.world.ok(&["task", "block", &task, "--reason", "wait"]);
        assert_eq!(
            solo.refused("report_completed", json!({ "result": "success", "summary": "s" })).await,
            "interrupted"
        );
        assert_eq!(solo.next_action().await, "stop");
        fixture.world.ok(&["task", "unblock", &task]);
        solo.report("success", "It works.").await;
        solo.next().await;
        solo.must("logout", json!({})).await;
        assert_eq!(solo.refused("get_next_action", json!({})).await, "stale_session");
        let (id, credential) = (solo.id(), solo.credential.clone());
        written(&fixture, &id, 15).await;
        let ended = fixture.end(solo, board::ProcessEnd::exited(0)).await;
        fixture.examine(&ended, merged()).await;

        let trace = written(&fixture, &id, 16).await;
        let expected = [
            ["authenticate", "", ""],
            ["next_action", "report_model", "N2.3"],
            ["report_model", "", ""],
            ["next_action", "get_task", "N2.8"],
            ["get_my_task", "", ""],
            ["next_action", "work", "N2.10"],
            ["get_task", "not_found", ""],
            ["select_action", "not_allowed", ""],
            ["send_message", "", ""],
            ["report_completed", "interrupted", ""],
            ["next_action", "stop", "N2.2"],
            ["report_completed", "", ""],
            ["next_action", "logout", "N2.7"],
            ["logout", "", ""],
            ["get_next_action", "stale_session", ""],
            ["verdict", "done", ""],
        ];
        let seen: Vec<_> = trace.iter().map(entry).collect();
        assert_eq!(seen, expected);
        assert_eq!(trace[10]["reason"], "blocked");
        assert_eq!(trace[6]["arguments"], json!({ "task_id": "tsk_9" }));
        assert_eq!(trace[8]["arguments"], json!({ "to": "owner" }));
        let seqs: Vec<_> = trace.iter().map(|entry| entry["seq"].as_u64().unwrap()).collect();
        assert!(seqs.is_sorted(), "{seqs:?}");

        let text = fixture.world.ok(&["session", "trace", &id]);
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), trace.len(), "{text}");
        assert!(lines[5].ends_with("get_next_action → work (execute_task)  N2.10"), "{text}");
        assert!(lines[7].ends_with("select_action wait → refused: not_allowed"), "{text}");
        assert!(lines[10].ends_with("get_next_action → stop: blocked (interrupted)  N2.2"), "{text}");
        assert!(lines[11].ends_with("report_completed success → ok"), "{text}");
        for secret in [credential.as_str(), "Nearly there.", "It works."] {
            assert!(!text.contains(secret) && !json!(trace).to_string().contains(secret), "{secret}");
        }
        assert_eq!(fixture.world.ok(&["session", "trace", &id, "--lines", "1"]), *lines.last().unwrap());
    })
    .await;
}

/// E6, seed 004: what a coordinator was told about an agent is read afterwards, as text, JSON and on the agent's page.
#[tokio::test]
async fn answers_to_coordinators_are_seen() {
    over_both_transports(async |mut fixture| {
        assert_eq!(fixture.world.ok(&["agent", "trace", "solo"]), "Nobody has asked about it yet.");
        assert_eq!(fixture.staffed("solo").await, ["hold", "no_in_progress_task"]);
        let task = fixture.started("Small", "solo");
        for _ in 0..3 {
            assert_eq!(fixture.staffed("solo").await, ["start", "has_in_progress_task"]);
        }
        let answered = |trace: &Value| {
            let of = |name: &str| trace[name].as_str().unwrap_or_default().to_owned();
            [of("kind"), of("action"), of("reason")]
        };
        let waiting = async {
            loop {
                let trace = fixture.world.json(&["agent", "trace", "solo"]);
                let mut seen: Vec<_> = trace.as_array().unwrap().iter().map(answered).collect();
                // How many equal answers are one line depends on when they were written.
                seen.dedup();
                if seen.len() == 2 {
                    return seen;
                }
                tokio::time::sleep(std::time::Duration::from_millis(20)).await;
            }
        };
        let seen = tokio::time::timeout(WAIT_LIMIT, waiting).await.unwrap();
        let expected = [["staffing", "hold", "no_in_progress_task"], ["staffing", "start", "has_in_progress_task"]];
        assert_eq!(seen, expected);
        let text = fixture.world.ok(&["agent", "trace", "solo", "-n", "1"]);
        assert!(text.contains(&format!("get_agent_action → start: has_in_progress_task ({task})")), "{text}");
        assert_eq!(fixture.world.refused(5, &["agent", "trace", "nobody"])["code"], "not_found");
    })
    .await;
}
