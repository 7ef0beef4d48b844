//! Do forms help: a new task is found again, what is searched appears as one types, what is wrong is said in words?

use serde_json::json;
use testkit::browser::{Browser, Options};

use super::{base, log_in};
use crate::runner::{Team, Up};

async fn open(browser: &Browser, up: &Up<'_>, page: &str) {
    browser.goto(&format!("{}/p/shop{page}", base(up.ready["login_url"].as_str().unwrap()))).await;
    browser.until("document.querySelector('#link.live')", "the page is live").await;
}

async fn board_of(up: &Up<'_>) -> Browser {
    let browser = log_in(Options::default(), up.ready["login_url"].as_str().unwrap()).await;
    browser.until("document.querySelector('#link.live')", "the page is live").await;
    browser
}

/// W12, W13: a task that was made is told of and has the focus; it can be started with it; what it waits for is chosen by
/// title.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_new_task_is_shown_started_and_made_to_wait() {
    let team = Team::new("barrier begin");
    team.world.ok(&["task", "add", "Water the plants"]);
    let up = team.up();
    let browser = board_of(&up).await;
    browser.press("n").await;
    browser.type_into("#new-task [name=title]", "Cut the grass").await;
    browser.type_into("#new-task [name=dependencies]", "water").await;
    browser.until_text("#offers-new [role=option]", "Water the plants").await;
    browser.press("ArrowDown Enter").await;
    assert_eq!(browser.eval("document.querySelector('#new-task [name=dependencies]').value").await, "tsk_1, ");
    browser.click("#new-task .primary").await;
    browser.until_text("#notice a[href='/p/shop/tasks/tsk_2']", "Cut the grass").await;
    browser
        .until("document.activeElement.closest('.card')?.dataset.task === 'tsk_2'", "the new card has the focus")
        .await;
    assert_eq!(team.task("2")["dependencies"], json!(["tsk_1"]));

    browser.press("n").await;
    browser.type_into("#new-task [name=title]", "At once").await;
    browser.eval("document.querySelector('#new-task [name=assignee]').value = 'solo'").await;
    browser.click("#new-task [name=start]").await;
    browser.until_text("#notice", "Created and started").await;
    browser.until_text(".column[data-status=in_progress]", "At once").await;
    // Enter makes it, and starts nothing.
    browser.press("n").await;
    browser.eval("document.querySelector('#new-task [name=assignee]').value = 'solo'").await;
    browser.type_into("#new-task [name=title]", "By Enter").await;
    browser.press("Enter").await;
    browser.until_text(".column[data-status=todo]", "By Enter").await;
    // What cannot start is made all the same, and it is said why.
    browser.press("n").await;
    browser.type_into("#new-task [name=title]", "For nobody").await;
    browser.click("#new-task [name=start]").await;
    browser.until_text("#notice", "nobody is assigned").await;
    browser.until_text(".column[data-status=backlog]", "For nobody").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W12: a form says in words which of its fields is wrong.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn what_is_wrong_is_said_of_the_field() {
    let team = Team::new("true");
    team.world.ok(&["task", "add", "First"]);
    let up = team.up();
    let browser = board_of(&up).await;
    open(&browser, &up, "/tasks/1").await;
    browser.type_into("[name=add]", "banana").await;
    browser.press("Enter").await;
    browser.until_text("aside .refusal", "Waits for: `banana` is not").await;
    let said = browser.text("aside .refusal:not([hidden])").await;
    for word in ["JSON", "line 1", "openapi", "add["] {
        assert!(!said.contains(word), "{said}");
    }
    up.stop();
}

/// W11, W13: what is searched appears as one types; the page is not loaded again, and the field keeps the focus.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_search_answers_as_one_types() {
    let team = Team::new("true");
    for title in ["Apples", "Pears"] {
        team.world.ok(&["task", "add", title]);
    }
    let up = team.up();
    let browser = board_of(&up).await;
    browser.eval("(window.marked = true)").await;
    browser.press("/").await;
    browser.type_into("input[type=search]", "pea").await;
    browser.until("!document.querySelector('.columns').innerText.includes('Apples')", "only what is found").await;
    browser.until_text(".columns", "Pears").await;
    assert_eq!(browser.eval("window.marked === true && document.activeElement.type").await, "search");
    assert!(browser.url().await.ends_with("/p/shop?q=pea") || browser.url().await.ends_with("view=columns&q=pea"));
    assert_eq!(browser.eval("document.activeElement.value").await, "pea");
    up.stop();
}

/// W1, W13: the list of keys has what works on its page, and arrows walk through a menu.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn keys_are_listed_where_they_work() {
    let team = Team::new("true");
    team.world.ok(&["task", "add", "First", "--assign", "solo"]);
    let up = team.up();
    let browser = board_of(&up).await;
    browser.press("j m").await;
    browser.until("document.activeElement.dataset.move", "the first move").await;
    let first = browser.eval("document.activeElement.dataset.move").await;
    browser.press("ArrowDown").await;
    assert_ne!(browser.eval("document.activeElement.dataset.move").await, first);
    browser.press("ArrowUp").await;
    assert_eq!(browser.eval("document.activeElement.dataset.move").await, first);
    browser.press("Escape ?").await;
    browser.until_text("#keys", "new task").await;
    open(&browser, &up, "/settings").await;
    browser.press("?").await;
    browser.until_text("#keys", "this list").await;
    let listed = browser.text("#keys").await;
    assert!(!listed.contains("new task") && !listed.contains("search"), "{listed}");
    up.stop();
}

/// W12, R9: a message is Markdown without anything that could do harm; tasks that it names say how they stand; who hears
/// nothing is not offered.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn messages_are_markdown_with_live_tasks() {
    let team = Team::new("true");
    let command = json!([env!("CARGO_BIN_EXE_saihai"), "demo-agent", "aiko", "0"]);
    team.agent("aiko", "", &json!({ "mode": "guided", "command": command, "hierarchy_type": "manager" }));
    team.commit("aiko");
    team.world.ok(&["agent", "apply"]);
    let up = team.up();
    let browser = board_of(&up).await;
    // An empty project says who is there, and whom to ask.
    browser.until_text(".empty .team", "solo").await;
    browser.click(".empty a.primary").await;
    browser.until("document.querySelector('#link.live')", "the chat is live").await;
    assert_eq!(browser.count(".talk nav a").await, 1, "solo hears nothing");
    team.world.ok(&["task", "add", "Named", "--description", "See **tsk_1** and [x](javascript:alert(1)) <img src=x>"]);
    let field = "form[data-enter] textarea";
    browser.type_into(field, "Look at tsk_1, not tsk_99: `tsk_1` **now**, https [a](https://example.org) [b](javascript:alert(1)) ![c](https://example.org/c.png) <script>window.hurt = 1</script>").await;
    browser.press("Enter").await;
    browser.until_text(".messages .own .ref", "tsk_1").await;
    browser.until_text(".messages .own strong", "now").await;
    let links = "[...document.querySelectorAll('.messages .own .md a')].map(a => a.getAttribute('href'))";
    assert_eq!(browser.eval(links).await, json!(["/p/shop/tasks/tsk_1", "https://example.org"]));
    assert_eq!(browser.eval("document.querySelectorAll('.messages img, .messages script').length").await, 0);
    browser.until_text(".messages .own", "<script>window.hurt = 1</script>").await;
    browser.until_text(".messages .own .ref", "Backlog").await;
    team.world.ok(&["task", "cancel", "1", "--reason", "no"]);
    browser.until_text(".messages .own .ref", "Cancelled").await;
    open(&browser, &up, "/tasks/1").await;
    browser.until_text("section .md strong", "tsk_1").await;
    assert_eq!(browser.count("section .md a[href^=javascript], section .md img").await, 0);
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}
