//! Does the first page say what runs, what needs me, and what landed; and does a session read as a conversation (W7, W8)?

use serde_json::json;
use testkit::browser::Options;

use super::log_in;
use crate::runner::metered::{start, team_with_claude};
use crate::runner::{Team, checks};

/// Edits a file, tests it, and thinks until it is let go.
const CLIENT: &str = r#"
say() { printf '%s\n' "$1"; }
say '{"type":"system","subtype":"init","model":"m-1"}'
say '{"type":"assistant","message":{"id":"a","content":[{"type":"text","text":"I change **one** line."}],"usage":{"input_tokens":900,"output_tokens":100}}}'
say '{"type":"assistant","message":{"id":"b","content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"src/a.txt","old_string":"two","new_string":"zwei"}}]}}'
say '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"done"}]}}'
say '{"type":"assistant","message":{"id":"c","content":[{"type":"tool_use","id":"t2","name":"Bash","input":{"command":"make test"}}]}}'
while ! test -e src/go; do sleep 0.1; done
say '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2","content":"1 failing","is_error":true}]}}'
say '{"type":"result","is_error":false,"result":"All done.","total_cost_usd":0.25,"usage":{"input_tokens":900,"output_tokens":100}}'
rm src/go
echo done > src/b.txt
"#;

/// W7, W8: while an agent works the first page says what it does; its session reads as a conversation, a tool's result takes
/// the place of its call, the raw line is a click away, and words are found; afterwards the page says what landed and cost.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn an_agent_is_watched_from_its_start_to_its_merge() {
    let (team, path) = team_with_claude(&json!({}), CLIENT);
    let task = team.start_task("Translate");
    let up = start(&team, &path);
    let browser = log_in(Options::default(), up.ready["login_url"].as_str().unwrap()).await;
    let base = up.ready["url"].as_str().unwrap().trim_end_matches('/').replace("127.0.0.1", "saihai.localhost");
    let now = format!("{base}/p/shop/now");
    browser.goto(&now).await;
    browser.until_text(".working", "Translate").await;
    browser.until_text(".working .said", "Bash: make test").await;
    browser.until_text("[data-key=needs]", "Nothing needs you.").await;

    browser.click(".working .said a").await;
    browser.until_text("#log .prose", "I change").await;
    browser.until_text("#log .edit .added", "+zwei").await;
    browser.until_text("#log [data-calls=t2]", "working").await;
    std::fs::write(team.workspace(1).join("src/go"), "").unwrap();
    browser.until_text("#log", "All done.").await;
    browser.until("!document.querySelector('[data-calls]')", "the result to take the place of its call").await;
    browser.until_text("#log details.tool .bad", "failed").await;
    browser.type_into(".find input", "ZWEI").await;
    browser.press("Enter").await;
    browser.until_text(".transcript .edit", "+zwei").await;
    assert_eq!(browser.count(".transcript .entry").await, 1);
    browser.click(".transcript .place a").await;
    browser.until("location.search.startsWith('?at=')", "the place").await;
    browser.until_text("#log .edit", "+zwei").await;
    browser.click("nav.tabs a[href='?tab=output']").await;
    browser.until_text("pre#log", "\"old_string\":\"two\"").await;

    team.until_task(&task, "done");
    browser.goto(&now).await;
    browser.until_text(".landed", "Translate").await;
    browser.until_text(".sums", "$0.25").await;
    up.stop();
}

/// W7, G5: what failed, what is ready and what is blocked stand with the one button that helps; the tab's title counts them.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn what_needs_me_has_its_button() {
    let team = Team::configured("echo x > src/b.txt", &json!({ "limits": { "max_attempts": 1 } }));
    team.world.write(
        ".saihai/config.yaml",
        json!({ "limits": { "max_attempts": 1, "backoff_first": 1, "backoff_most": 1 }, "dod": checks(&[("never", "test -e src/never || test ! -e src/b.txt")])["dod"] })
            .to_string(),
    );
    team.commit("a check that the work fails");
    let failing = team.start_task("Fails");
    let ready = team.world.ok(&["task", "add", "Ready", "--assign", "solo", "--quiet"]);
    let up = team.up();
    team.until_task(&failing, "failed");
    let browser = log_in(Options::default(), up.ready["login_url"].as_str().unwrap()).await;
    let url = browser.url().await;
    browser.goto(&format!("{}/now", url.trim_end_matches('/'))).await;
    browser.until_text(".needs .failed", "Fails").await;
    browser.until_text(".needs .start", "Ready").await;
    browser.until("document.title.startsWith('(2) ')", "the count in the title").await;
    assert_eq!(browser.text(".needs .failed button").await, "Retry");
    browser.click(&format!(".needs [data-task={ready}]")).await;
    team.until_board("it to be started", |board| (board.sessions.len() > 1).then_some(()));
    browser.until_text("#notice", "Ready").await;
    up.stop();
}
