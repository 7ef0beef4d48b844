//! Can the owner rely on the pages: that a press does what it says, that nothing written is lost, that it can be undone?

use serde_json::json;
use testkit::browser::{Browser, Options};

use super::{base, log_in};
use crate::runner::{Team, Up};

/// An agent that waits for the test.
const WORKER: &str = "barrier begin; echo four >> src/a.txt; git add -A; git commit -qm work; barrier end";

fn login<'a>(up: &'a Up<'_>) -> &'a str {
    up.ready["login_url"].as_str().unwrap()
}

async fn open(browser: &Browser, up: &Up<'_>, page: &str) {
    browser.goto(&format!("{}/p/shop{page}", base(login(up)))).await;
    browser.until("document.querySelector('#link.live')", "the page is live").await;
}

/// A task that has failed, without a runner having been there.
fn failed_task(team: &Team) {
    team.world.ok(&["task", "add", "Fails", "--assign", "solo"]);
    team.world.ok(&["session", "start", "1", "--agent", "solo"]);
    team.world.ok(&["session", "end", "1", "--exit-code", "3"]);
    assert_eq!(team.task("1")["status"], "failed");
}

/// Presses whatever is at the place of the pointer, without moving it; tells what became of the task.
const PRESS_AGAIN: &str = "(async () => { \
    const press = new PointerEvent('click', { bubbles: true, cancelable: true, pointerId: 1 }); \
    document.elementFromPoint(...window.at).dispatchEvent(press); \
    return (await (await fetch('/api/v1/projects/shop/tasks/1')).json()).status })()";

async fn remember_place(browser: &Browser, css: &str) {
    let place = format!(
        "(box => {{ window.at = [box.x + box.width / 2, box.y + box.height / 2] }})(document.querySelector('{css}').getBoundingClientRect())"
    );
    browser.eval(&place).await;
}

/// W13, F123, L12: to press "Retry" twice retries once. What stands in its place then is not what was meant.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_second_press_does_not_hit_another_control() {
    let team = Team::new(WORKER);
    failed_task(&team);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    open(&browser, &up, "/tasks/1").await;
    remember_place(&browser, "[data-move=retry]").await;
    browser.eval("(window.pressed = document.querySelector('[data-move=retry]')) && true").await;
    browser.click("[data-move=retry]").await;
    browser.until_text(".headline .chip", "In progress").await;
    assert_eq!(browser.eval("window.pressed.isConnected").await, json!(false), "the button became another");
    assert_eq!(browser.eval(PRESS_AGAIN).await, "in_progress");
    // Later it is meant.
    browser.click("[data-move=unstart]").await;
    browser.until_text(".headline .chip", "To do").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W13, F123: what is being written to an agent survives the first message, the end of its session, and going away.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_draft_outlives_the_session_and_the_page() {
    let team = Team::new("true");
    let command = json!([env!("CARGO_BIN_EXE_saihai"), "demo-agent", "aiko", "0"]);
    team.agent("aiko", "", &json!({ "mode": "guided", "command": command }));
    team.commit("aiko");
    team.world.ok(&["agent", "apply"]);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    open(&browser, &up, "/chat/aiko").await;
    let field = "form[data-enter] textarea";
    browser.type_into(field, "How far are you?").await;
    browser.press("Enter").await;
    browser.until_text(".messages .own", "How far are you?").await;
    assert_eq!(
        browser.eval("document.activeElement.name").await,
        "content",
        "the focus is lost with the first message"
    );
    browser.until_text(".messages li:not(.own)", "You said").await;
    browser.until("document.querySelector('.said a[href*=sessions]')", "its session").await;
    browser.type_into(field, "And what about").await;
    team.world.ok(&["session", "stop", "1"]);
    team.until_ended(1);
    browser.until("!document.querySelector('.said a[href*=sessions]')", "the session is over").await;
    assert_eq!(browser.eval("document.activeElement.value").await, "And what about");
    open(&browser, &up, "").await;
    open(&browser, &up, "/chat/aiko").await;
    assert_eq!(browser.eval(&format!("document.querySelector('{field}').value")).await, "And what about");
    browser.type_into(field, " the rest?").await;
    browser.press("Enter").await;
    browser.until_text(".messages .own", "And what about the rest?").await;
    browser.until(&format!("document.querySelector('{field}').value === ''"), "it is sent").await;
    open(&browser, &up, "/chat/aiko").await;
    assert_eq!(browser.eval(&format!("document.querySelector('{field}').value")).await, "", "it was sent");
    up.stop();
}

/// W13: every move is told of, and can be undone while the board would admit it.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_move_is_told_and_undone() {
    let team = Team::new(WORKER);
    team.world.ok(&["task", "add", "Water the plants", "--assign", "solo"]);
    let up = team.up();
    let browser = log_in(Options::default(), login(&up)).await;
    open(&browser, &up, "").await;
    browser.click(".card .menu summary").await;
    browser.click(".card [data-move=start]").await;
    browser.until_text("#notice[role=status]", "Water the plants").await;
    browser.until_text("#notice a[href='/p/shop/tasks/tsk_1']", "tsk_1").await;
    assert_eq!(browser.eval("document.activeElement.closest('#notice')").await, json!(null), "it takes the focus");
    browser.click("#notice [data-key=undo]").await;
    browser.until_text(".column[data-status=todo]", "Water the plants").await;
    assert_eq!(team.task("1")["status"], "todo");
    // What was undone can be done again, and by keys.
    browser.until_text("#notice", "Put back").await;
    browser.press("u").await;
    browser.until_text(".column[data-status=in_progress]", "Water the plants").await;
    open(&browser, &up, "/tasks/1").await;
    browser.click("[data-move=cancel]").await;
    browser.type_into("#reason textarea", "no plants").await;
    browser.click("#reason .primary").await;
    browser.until_text("#notice", "Cancelled").await;
    assert_eq!(browser.count("#notice [data-key=undo]:not([hidden])").await, 0, "nothing leads back from there");
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W13, L11: to pause lets go on what runs; to stop it is another choice, which says how many agents it ends.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn pausing_drains_and_stopping_asks() {
    let team = Team::new(WORKER);
    team.start_task("Long work");
    let up = team.up();
    team.until_barrier(1, "begin");
    let browser = log_in(Options::default(), login(&up)).await;
    open(&browser, &up, "").await;
    browser.click("form[data-api$=pause] button").await;
    browser.until_text("header", "Paused").await;
    browser.until_text("#notice", "Paused").await;
    assert_eq!(team.session(1)["status"], "running");
    browser.click("form[data-api$='now=true'] button").await;
    browser.until_text("#confirm", "1 agent").await;
    browser.click("#confirm button:not(.primary)").await;
    assert_eq!(team.session(1)["status"], "running", "it was only asked");
    browser.click("#notice [data-key=undo]").await;
    browser.until("!document.querySelector('header').innerText.includes('Paused')", "the project goes on").await;
    browser.click("form[data-api$=pause] button").await;
    browser.click("form[data-api$='now=true'] button").await;
    browser.click("#confirm .primary").await;
    assert_eq!(team.until_ended(1)["end_reason"], "stopped");
    up.stop();
}
