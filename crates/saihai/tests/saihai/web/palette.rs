//! Can one go anywhere and do anything by keys, also with several tasks at once?

use serde_json::json;
use testkit::browser::{Browser, Options};

use super::{axe, base, log_in};
use crate::runner::{Team, Up};

async fn open(up: &Up<'_>) -> Browser {
    let login = up.ready["login_url"].as_str().unwrap();
    let browser = log_in(Options::default(), login).await;
    browser.goto(&format!("{}/p/shop", base(login))).await;
    browser.until("document.querySelector('#link.live')", "the page is live").await;
    browser
}

/// W11: the palette finds tasks by title and id, pages, agents and sessions, says what is pointed at, and does the legal
/// moves of the card that has the focus.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn the_palette_goes_anywhere_and_moves_the_card() {
    let team = Team::new("barrier begin");
    team.world.ok(&["task", "add", "Mend the basket", "--assign", "solo"]);
    team.world.ok(&["task", "add", "Another thing"]);
    let up = team.up();
    let browser = open(&up).await;
    browser.press("j Control+k").await;
    browser.until_text("#palette li[aria-selected=true]", "Mend the basket").await;
    let pointed = "document.getElementById(document.activeElement.getAttribute('aria-activedescendant')).textContent";
    browser.until(&format!("{pointed}.includes('Mend the basket')"), "what is pointed at is named").await;
    let faults = browser.axe(&axe()).await;
    assert!(faults.is_empty(), "{faults:?}");
    browser.type_into("#palette input", "start mend").await;
    browser.until_text("#palette li[aria-selected=true]", "Start: Mend the basket").await;
    browser.press("Enter").await;
    browser.until_text(".column[data-status=in_progress]", "Mend the basket").await;
    for (words, found, path) in [
        ("another", "Another thing", "/p/shop/tasks/tsk_2"),
        ("tsk_1", "Mend the basket", "/p/shop/tasks/tsk_1"),
        ("merge q", "Merge queue", "/p/shop/queue"),
        ("solo", "solo", "/p/shop/agents/solo"),
        ("ses_1", "ses_1", "/p/shop/sessions/ses_1"),
    ] {
        browser.press("Control+k").await;
        browser.type_into("#palette input", words).await;
        browser.until_text("#palette li[aria-selected=true]", found).await;
        browser.press("Enter").await;
        browser.until(&format!("location.pathname === '{path}' && document.querySelector('#link.live')"), path).await;
    }
    browser.press("Control+k").await;
    browser.type_into("#palette input", "no such thing").await;
    browser.until_text("#palette li", "Nothing is called that").await;
    browser.press("Escape").await;
    browser.until("!document.querySelector('#palette').open", "it is closed").await;
    up.stop();
}

/// W11: several cards are picked by keys and moved at once; one notice says how many went and why others did not.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn several_tasks_at_once_with_one_notice() {
    let team = Team::new("barrier begin");
    for title in ["One", "Two", "Three"] {
        team.world.ok(&["task", "add", title]);
    }
    let up = team.up();
    let browser = open(&up).await;
    assert_eq!(browser.eval("document.querySelector('#picked').hidden").await, json!(true));
    browser.press("j x j j X").await;
    browser.until_text("#picked", "3 picked").await;
    team.world.ok(&["task", "add", "Four"]);
    browser.until_text(".column[data-status=backlog]", "Four").await;
    browser.until_text("#picked", "3 picked").await;
    browser.type_into("#picked [name=label]", "later").await;
    browser.press("Enter").await;
    browser.until_text("#notice", "Done for 3 of 3.").await;
    for id in ["1", "2", "3"] {
        assert_eq!(team.task(id)["labels"], json!(["later"]));
    }
    team.world.ok(&["task", "assign", "1", "solo"]);
    browser.until_text(".column[data-status=todo]", "One").await;
    for box_of in ["tsk_1", "tsk_2"] {
        browser.eval(&format!("document.querySelector('[data-pick][value={box_of}]').click()")).await;
    }
    browser.until_text("#picked", "2 picked").await;
    browser.click("[data-bulk=start]").await;
    browser.until_text("#notice", "Done for 1 of 2.").await;
    browser.until_text("#notice", "tsk_2").await;
    browser.until_text(".column[data-status=in_progress]", "One").await;
    assert_eq!(team.task("2")["status"], "backlog");
    browser.eval("document.querySelector('[data-pick][value=tsk_3]').click()").await;
    browser.click("[data-bulk=cancel]").await;
    browser.until("document.querySelector('#reason').open", "the question for the reason").await;
    browser.type_into("#reason textarea", "not needed").await;
    browser.click("#reason .primary").await;
    browser.until_text(".column[data-status=cancelled]", "Three").await;
    assert_eq!(browser.eval("document.querySelector('#picked').hidden").await, json!(true));
    up.stop();
}
