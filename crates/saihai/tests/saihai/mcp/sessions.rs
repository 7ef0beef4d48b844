//! Is what is sent twice done once, and is whoever comes too late told so?

use board::{EndReason, ProcessEnd};
use serde_json::{Value, json};

use super::fixture::over_both_transports;
use crate::world::column;

fn batch(key: Option<&str>) -> Value {
    json!({ "idempotency_key": key, "tasks": [
        { "local_id": "a", "title": "Write it", "description": "d" },
        { "local_id": "b", "title": "Test it", "description": "d", "dependencies": ["a"] },
    ] })
}

/// L6, F22: the same batch with the same key creates nothing twice and is answered alike, also by
/// the server after a restart; without a key it is refused as a duplicate, whole.
#[tokio::test]
async fn same_key_creates_nothing_twice() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Fix the login", "coder");
        let mut coder = fixture.claim("coder", &task).await;
        coder.begin_session().await;
        let first = coder.must("create_tasks_batch", batch(Some("k1"))).await;
        assert_eq!(coder.must("create_tasks_batch", batch(Some("k1"))).await, first);
        fixture.kill(&mut coder).await;
        assert_eq!(coder.must("create_tasks_batch", batch(Some("k1"))).await, first);
        assert_eq!(coder.refused("create_tasks_batch", batch(None)).await, "duplicate");
        assert_eq!(coder.refused("create_tasks_batch", batch(Some("k2"))).await, "duplicate");
        let one = json!({ "title": "Ship it", "description": "d", "idempotency_key": "k3" });
        let created = coder.must("create_task", one.clone()).await;
        assert_eq!(coder.must("create_task", one).await["task"]["id"], created["task"]["id"]);
        let found = coder.must("list_tasks", json!({})).await;
        assert_eq!(column(&found["tasks"], "id"), ["tsk_2", "tsk_3", "tsk_4"]);
    })
    .await;
}

/// S1, S2, S3, N2.1: two sessions of older generations find every call refused, and change nothing,
/// while the third works.
#[tokio::test]
async fn sessions_of_older_generations_are_refused() {
    over_both_transports(async |mut fixture| {
        let task = fixture.started("Small", "solo");
        let mut stale = Vec::new();
        for _ in 0..2 {
            let mut old = fixture.claim("solo", &task).await;
            old.begin_session().await;
            old.must("save_context", json!({ "progress": "begun" })).await;
            // A client of its own stays connected when the runner gives the session up.
            let client = fixture.connect(&old.credential).await;
            let connected = std::mem::replace(&mut old.client, client);
            let (credential, session, generation, listed_tools) =
                (old.credential.clone(), old.session, old.generation, old.listed_tools.clone());
            fixture.end(old, ProcessEnd::because(EndReason::Lost)).await;
            stale.push(super::agent::Agent { client: connected, credential, session, generation, listed_tools });
        }
        let mut live = fixture.claim("solo", &task).await;
        assert_eq!([&stale[0], &stale[1], &live].map(|agent| agent.generation.0), [1, 2, 3]);
        live.begin_session().await;
        let before = fixture.board().await;
        for old in &mut stale {
            for (tool, arguments) in [
                ("get_next_action", json!({})),
                ("get_my_task", json!({})),
                ("save_context", json!({ "progress": "mine" })),
                ("report_completed", json!({ "result": "success", "summary": "mine" })),
                ("create_task", json!({ "title": "mine", "description": "d" })),
                ("logout", json!({})),
            ] {
                let refusal = old.refusal(tool, arguments).await;
                assert_eq!((&refusal["code"], &refusal["tools"]), (&json!("stale_session"), &json!([])), "{tool}");
            }
        }
        assert_eq!(before.seq, fixture.board().await.seq, "nothing was written");
        assert_eq!(live.next_action().await, "work");
        live.report("success", "It works.").await;
    })
    .await;
}
