//! What the owner does in the browser: is it done, and seen by everybody at once?

use serde_json::{Value, json};
use testkit::browser::{Browser, Options};

use super::{base, link_for, log_in};
use crate::runner::{Team, Up};

/// An agent that waits for the test before and after it changes a file.
const WORKER: &str = "barrier begin; echo four >> src/a.txt; git add -A; git commit -qm work; barrier end";

fn login<'a>(up: &'a Up<'_>) -> &'a str {
    up.ready["login_url"].as_str().unwrap()
}

/// A column as the page shows it.
fn column(status: &str) -> String {
    format!(".column[data-status={status}]")
}

/// Marks the page: a reload would lose the mark.
async fn mark(browser: &Browser) {
    browser.eval("window.marked = true").await;
}

async fn is_marked(browser: &Browser) -> bool {
    browser.eval("window.marked === true").await == Value::Bool(true)
}

/// W2, W3, W6, F91, L1: a task is created and started in one tab; both tabs show a real agent at work and
/// its work merged, without being loaded again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_task_from_the_idea_to_the_merge_in_two_tabs() {
    let team = Team::new(WORKER);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.until_text(".empty", "Nothing to do yet").await;
    let first = browser.tab().await;
    mark(&browser).await;
    let second = browser.second_tab().await;
    browser.goto(&format!("{}/p/shop", base(login(&up)))).await;
    mark(&browser).await;

    browser.switch(&first).await;
    browser.press("n").await;
    browser.type_into("#new-task [name=title]", "Add a fourth line").await;
    browser.eval("document.querySelector('#new-task [name=assignee]').value = 'solo'").await;
    browser.click("#new-task .primary").await;
    browser.until_text(&column("todo"), "Add a fourth line").await;
    browser.until("!document.querySelector('#new-task').open", "the dialog is closed").await;
    browser.switch(&second).await;
    browser.until_text(&column("todo"), "Add a fourth line").await;

    browser.click(".card .menu summary").await;
    browser.click(".card [data-move=start]").await;
    browser.until_text(&column("in_progress"), "running, last heard").await;
    browser.switch(&first).await;
    browser.until_text(&column("in_progress"), "running, last heard").await;
    team.until_barrier(1, "begin");
    assert_eq!(team.task("1")["status"], "in_progress");
    team.release(1, "begin");
    team.release(1, "end");
    browser.until_text(&column("done"), "Add a fourth line").await;
    browser.switch(&second).await;
    browser.until_text(&column("done"), "Add a fourth line").await;
    assert!(is_marked(&browser).await, "the second tab was loaded again");
    browser.switch(&first).await;
    assert!(is_marked(&browser).await, "the first tab was loaded again");
    assert_eq!(team.merged("src/a.txt").as_deref(), Some("one\ntwo\nthree\nfour\n"));

    browser.goto(&format!("{}/p/shop/tasks/1", base(login(&up)))).await;
    browser.until_text(".evidence", "merged as").await;
    browser.until_text(".timeline", "is merged as").await;
    browser.click("h2 a[href$=diff]").await;
    browser.until_text(".diff .added", "+four").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W2, L1, R6: blocking in the browser stops the process, and says so; unblocking lets it go on.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn blocking_stops_the_agent() {
    let team = Team::new(WORKER);
    let task = team.start_task("Long work");
    let up = team.up();
    team.until_barrier(1, "begin");
    let browser = log_in(Options::default(), login(&up)).await;
    browser.goto(&format!("{}/p/shop/tasks/{task}", base(login(&up)))).await;
    browser.until_text(".why", "It is running: solo").await;
    browser.click("[data-move=block]").await;
    browser.until("document.querySelector('#reason').open", "the question for the reason").await;
    browser.type_into("#reason textarea", "wait for legal").await;
    browser.click("#reason .primary").await;
    browser.until_text(".headline .chip", "Blocked").await;
    browser.until_text(".why", "wait for legal").await;
    browser.until_text("aside", "stopped").await;
    let session = team.until_ended(1);
    assert_eq!(session["end_reason"], "stopped");
    assert_eq!(browser.count("[data-move=start]").await, 0, "what is not legal is not offered");
    browser.click("[data-move=unblock]").await;
    browser.until_text(".headline .chip", "In progress").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W2, W5, W6: a log is read while it grows, in its colours, page by page; what it prints stays text.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_log_is_read_while_it_grows() {
    let script = "i=0; while [ $i -lt 6000 ]; do echo \"line $i is one of a great many lines that are printed\"; i=$((i+1)); done; \
                  printf '\\033[31mred\\033[0m <img src=x onerror=alert(1)>\\n'; barrier one; echo after the barrier; barrier two; echo end";
    let team = Team::new(script);
    team.start_task("Print");
    let up = team.up();
    team.until_barrier(1, "one");
    let browser = log_in(Options::default(), login(&up)).await;
    browser.goto(&format!("{}/p/shop/sessions/1", base(login(&up)))).await;
    browser.until_text("#log .c1", "red").await;
    browser.until_text("#log", "<img src=x onerror=alert(1)>").await;
    assert_eq!(browser.count("#log img").await, 0);
    let first = browser.eval("document.querySelector('#log').textContent.length").await;
    assert!(first.as_u64().unwrap() < 100_000, "{first}: it was loaded whole");
    browser
        .until(
            "(l => l.scrollTop + l.clientHeight > l.scrollHeight - 5)(document.querySelector('#log'))",
            "the end is shown",
        )
        .await;
    team.release(1, "one");
    browser.until_text("#log", "after the barrier").await;
    // Who has scrolled up stays there.
    browser.eval("document.querySelector('#log').scrollTop = 0").await;
    browser.until("!document.querySelector('#follow').checked", "following ends").await;
    team.release(1, "two");
    browser.until("document.querySelector('#log').textContent.includes('\\nend\\n')", "the end of the log").await;
    assert!(browser.eval("document.querySelector('#log').scrollTop").await.as_f64().unwrap() < 5.0);
    while browser.eval("document.querySelector('#log-earlier').hidden").await == json!(false) {
        let before = browser.eval("document.querySelector('#log').textContent.length").await;
        browser.click("#log-earlier").await;
        browser
            .until(&format!("document.querySelector('#log').textContent.length > {before}"), "an earlier page")
            .await;
    }
    let text = browser.eval("document.querySelector('#log').textContent").await;
    let lines: Vec<&str> = text.as_str().unwrap().lines().filter(|line| line.starts_with("line ")).collect();
    assert_eq!(lines.len(), 6000, "every line once");
    assert!(lines.iter().enumerate().all(|(index, line)| line.starts_with(&format!("line {index} "))));
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W1, W2: what somebody is writing, where they look and what they have open stays, whatever happens meanwhile.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn changes_leave_focus_scroll_and_half_written_text_alone() {
    let team = Team::new("true");
    for number in 0..40 {
        team.world.ok(&["task", "add", &format!("Idea {number}")]);
    }
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.until_text(&column("backlog"), "Idea 39").await;
    browser.press("n").await;
    browser.type_into("#new-task [name=title]", "half a tho").await;
    browser.type_into("#new-task textarea", "more text").await;
    let cards = "document.querySelector('[data-status=backlog] .cards')";
    browser.eval(&format!("{cards}.scrollTo(0, 500)")).await;
    let scrolled = browser.eval(&format!("{cards}.scrollTop")).await;
    assert_ne!(scrolled, 0, "the column scrolls by itself");
    team.world.ok(&["task", "add", "From the command line"]);
    browser.until_text(&column("backlog"), "From the command line").await;
    assert_eq!(browser.eval("document.querySelector('#new-task').open").await, json!(true));
    assert_eq!(browser.eval("document.querySelector('#new-task [name=title]').value").await, "half a tho");
    assert_eq!(browser.eval("document.activeElement.value").await, "more text");
    assert_eq!(browser.eval(&format!("{cards}.scrollTop")).await, scrolled);
    browser.press("Escape").await;
    browser.eval(&format!("{cards}.scrollTo(0, 0)")).await;
    browser.click(".card .menu summary").await;
    team.world.ok(&["task", "add", "Another one"]);
    browser.until_text(&column("backlog"), "Another one").await;
    assert_eq!(browser.count(".menu[open]").await, 1, "an open menu stays open");
    up.stop();
}

/// W2, L1: a card is dragged to where it may go and nowhere else, and everything is done by keys as well.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn cards_are_moved_by_mouse_and_by_keys() {
    let team = Team::new("barrier begin");
    team.world.ok(&["task", "add", "Drag me", "--assign", "solo"]);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.until_text(&column("todo"), "Drag me").await;
    browser.drag(".card", &column("done")).await;
    browser.drag(".card", &column("backlog")).await;
    browser.until_text(&column("backlog"), "Drag me").await;
    assert_eq!(team.task("1")["status"], "backlog");
    let moves: Vec<Value> = team
        .world
        .json(&["task", "log", "1"])
        .as_array()
        .unwrap()
        .iter()
        .filter(|event| event["type"] == "task_moved")
        .cloned()
        .collect();
    assert_eq!(moves.len(), 1, "to drop it on done did nothing: {moves:?}");
    browser.press("j m").await;
    browser.until("document.activeElement.dataset.move === 'queue'", "the menu of the card").await;
    browser.press("Tab Enter").await;
    browser.until_text(&column("in_progress"), "Drag me").await;
    browser.press("g s").await;
    browser.until_text("table", "solo").await;
    browser.press("?").await;
    browser.until("document.querySelector('#keys').open", "the list of keys").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W2, F91: what the owner changes on a task's page is changed on the board.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_task_is_edited_assigned_and_made_to_wait() {
    let team = Team::new("true");
    for title in ["First", "Second"] {
        team.world.ok(&["task", "add", title]);
    }
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.goto(&format!("{}/p/shop/tasks/2", base(login(&up)))).await;
    browser.click("[data-opens=edit]").await;
    browser.eval("document.querySelector('#edit [name=title]').value = ''").await;
    browser.type_into("#edit [name=title]", "Second thoughts").await;
    browser.type_into("#edit [name=labels]", "slow, and steady").await;
    browser.click("#edit .primary").await;
    browser.until_text("h1", "Second thoughts").await;
    browser.type_into("[name=add]", "tsk_1").await;
    browser.press("Enter").await;
    browser.until_text("aside .list", "tsk_1 First").await;
    browser.eval("(s => { s.value = 'solo'; s.dispatchEvent(new Event('change', { bubbles: true })) })(document.querySelector('[name=agent]'))").await;
    browser.until_text("aside", "solo").await;
    browser.until_text(".headline .chip", "To do").await;
    let task = team.task("2");
    assert_eq!((&task["title"], &task["assignee_id"]), (&json!("Second thoughts"), &json!("solo")));
    assert_eq!((&task["labels"], &task["dependencies"]), (&json!(["slow", "and steady"]), &json!(["tsk_1"])));
    browser.goto(&format!("{}/p/shop", base(login(&up)))).await;
    browser.click("form[data-api$=pause] button").await;
    browser.until_text("header", "Paused").await;
    browser.click("form[data-api$=resume] button").await;
    browser.until("!document.querySelector('header').innerText.includes('Paused')", "the project goes on").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// L2, W2: a task inside a tree is its mover's; the page says so and offers what the owner may do.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_workers_task_is_read_only_with_the_reason() {
    let team = Team::new("true");
    team.agent("boss", "true", &json!({ "hierarchy_type": "manager", "mode": "guided" }));
    team.agent("solo", "true", &json!({ "parent": "boss" }));
    team.commit("a boss");
    team.world.ok(&["agent", "apply"]);
    team.world.ok(&["task", "add", "Whole", "--assign", "boss"]);
    team.world.ok(&["task", "add", "Part", "--parent", "1", "--assign", "solo"]);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.goto(&format!("{}/p/shop/tasks/2", base(login(&up)))).await;
    browser.until_text(".readonly", "boss").await;
    let offered = browser.eval("[...document.querySelectorAll('.actions button')].map(b => b.textContent)").await;
    assert_eq!(offered, json!(["Back to backlog", "Block", "Cancel"]));
    assert_eq!(browser.count("#edit").await, 0);
    up.stop();
}

/// W3, S4: a viewer sees everything and changes nothing, not even by hand.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_viewer_looks_and_is_refused() {
    let team = Team::new("true");
    team.world.ok(&["task", "add", "Secret plan", "--assign", "solo"]);
    let up = team.up();
    let link = link_for(&team, &["--role", "viewer", "--name", "vera"]);
    let browser = log_in(Options::default(), &link).await;
    browser.until_text(&column("todo"), "Secret plan").await;
    browser.until_text(".who", "viewer").await;
    assert_eq!(browser.count("[data-move], [data-opens=new-task], form[data-api]").await, 0);
    let ask = "fetch('/api/v1/projects/shop/tasks/1/start', { method: 'POST', body: '{}', headers: { 'content-type': \
               'application/json', 'x-csrf-token': document.querySelector('meta[name=csrf]').content } }).then(r => r.status)";
    assert_eq!(browser.eval(ask).await, 403);
    assert_eq!(team.task("1")["status"], "todo");
    browser.goto(&format!("{}/p/shop/settings", base(login(&up)))).await;
    browser.until_text(".readonly", "Only the owner").await;
    // The link was good once.
    let other = Browser::start(Options::default()).await;
    other.goto(&link).await;
    other.until_text(".refusal", "This link was used").await;
    assert_eq!(other.eval("document.cookie").await, "");
    up.stop();
}

/// W2, W3: a secret that is shown once stays for as long as its page, and so does a refusal, whatever happens.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn what_is_said_once_stays_to_be_read() {
    let team = Team::new("true");
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.goto(&format!("{}/p/shop/settings", base(login(&up)))).await;
    browser.type_into("form[data-shows=token] [name=name]", "script").await;
    browser.click("form[data-shows=token] button").await;
    browser.until_text(".secret code", "sht_").await;
    browser.until_text("table", "script").await;
    team.world.ok(&["project", "pause"]);
    browser.until_text("header", "Paused").await;
    assert!(browser.text(".secret code").await.starts_with("sht_"));

    browser.press("g b").await;
    browser
        .until("document.querySelector('#new-task') && document.querySelector('#link.live')", "the board is live")
        .await;
    browser.press("n").await;
    browser.type_into("#new-task [name=title]", "Later").await;
    browser.type_into("#new-task [name=dependencies]", "tsk_99").await;
    browser.click("#new-task .primary").await;
    browser.until_text("#new-task .refusal", "tsk_99").await;
    team.world.ok(&["project", "resume"]);
    browser.until("!document.querySelector('header').innerText.includes('Paused')", "the project goes on").await;
    assert!(browser.text("#new-task .refusal").await.contains("tsk_99"));
    assert_eq!(browser.eval("document.querySelector('#new-task [name=title]').value").await, "Later");
    up.stop();
}

/// W2: the owner asks, a real agent is started and answers.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn the_owner_chats_with_an_agent() {
    let team = Team::new("true");
    let command = json!([env!("CARGO_BIN_EXE_saihai"), "demo-agent", "aiko", "0"]);
    team.agent("aiko", "", &json!({ "mode": "guided", "command": command }));
    team.commit("aiko");
    team.world.ok(&["agent", "apply"]);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.goto(&format!("{}/p/shop/chat", base(login(&up)))).await;
    browser.click("nav a[href$='chat/aiko']").await;
    browser.type_into("form[data-enter] textarea", "How far are <b>you</b>?").await;
    browser.press("Enter").await;
    browser.until_text(".messages .own", "How far are <b>you</b>?").await;
    browser.until_text(".messages li:not(.own)", "You said: How far are <b>you</b>?").await;
    assert_eq!(browser.eval("document.querySelector('form[data-enter] textarea').value").await, "");
    up.stop();
}

/// W2: the board as of any event has its own address, and the slider leads there.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn the_slider_shows_earlier_boards() {
    let team = Team::new("true");
    team.world.ok(&["task", "add", "First"]);
    let before = team.world.json(&["log", "tail", "-n", "1"])[0]["seq"].as_u64().unwrap();
    team.world.ok(&["task", "add", "Second"]);
    team.world.ok(&["task", "cancel", "1", "--reason", "no"]);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.press("g h").await;
    browser.until_text(&column("cancelled"), "First").await;
    browser.eval("document.querySelector('#travel').focus()").await;
    browser.press("ArrowLeft ArrowLeft").await;
    browser.until_text(&column("backlog"), "First").await;
    browser
        .until("!document.querySelector('.columns').innerText.includes('Second')", "the second task is not there yet")
        .await;
    assert_eq!(browser.url().await, format!("{}/p/shop/history/{before}", base(login(&up))));
    assert_eq!(browser.count(".card [data-move]").await, 0);
    up.stop();
}

/// W1, W4: the server goes and comes back; the page says so, and then shows what happened meanwhile.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn the_server_goes_and_comes_back() {
    let team = Team::new("true");
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    browser.until_text("#link", "live").await;
    mark(&browser).await;
    up.kill();
    browser.until_text("#link", "reconnecting").await;
    team.world.ok(&["task", "add", "Meanwhile"]);
    let up = team.up();
    browser.until_text(&column("backlog"), "Meanwhile").await;
    browser.until_text("#link", "live").await;
    assert!(is_marked(&browser).await, "the page was loaded again");
    up.stop();
}

/// W1, W3, W5: what others wrote is shown as text, however long and in whatever letters.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn hostile_and_huge_texts_are_shown_as_text() {
    let team = Team::new("true");
    let titles = [
        "<script>window.hurt = 1</script><img src=x onerror='window.hurt = 1'>".to_owned(),
        "長".repeat(300),
        "w".repeat(300),
        "\" onmouseover=\"x".to_owned(),
    ];
    for title in &titles {
        team.world.ok(&["task", "add", title, "--assign", "solo", "--description", title, "--label", "\"><b>"]);
    }
    let up = team.up();
    let browser = log_in(Options { width: 400, ..Options::default() }, login(&up)).await;
    for page in
        ["", "?view=tree", "?view=graph", "/tasks/1", "/tasks/2", "/tasks/3", "/agents", "/agents/solo", "/history/6"]
    {
        browser.goto(&format!("{}/p/shop{page}", base(login(&up)))).await;
        browser.until("document.querySelector('#link.live')", "the page is live").await;
        super::screens::fits(&browser, page).await;
        assert_eq!(
            browser.eval("window.hurt === undefined && !document.querySelector('main img, main b')").await,
            json!(true)
        );
    }
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}
