//! Does the board fit the window, whatever is on it, and do its pages send only what changed?

use serde_json::{Value, json};
use testkit::browser::{Browser, Options};

use super::{base, log_in};
use crate::runner::{Team, Up};

fn board(up: &Up<'_>) -> String {
    format!("{}/p/shop", base(up.ready["login_url"].as_str().unwrap()))
}

async fn open(up: &Up<'_>, width: u32, query: &str) -> Browser {
    let options = Options { width, ..Options::default() };
    let browser = log_in(options, up.ready["login_url"].as_str().unwrap()).await;
    browser.goto(&format!("{}{query}", board(up))).await;
    browser.until("document.querySelector('#link.live')", "the page is live").await;
    browser
}

/// A board with each of the seven statuses, too many idle tasks to look at, and a tree.
fn every_status() -> Team {
    let team = Team::new("barrier begin");
    let ok = |arguments: &[&str]| team.world.ok(arguments);
    let add = |title: &str, options: &[&str]| {
        let task = team.world.json(&[&["task", "add", title][..], options].concat());
        task["id"].as_str().unwrap().to_owned()
    };
    let stuck = add("Stuck", &["--assign", "solo"]);
    ok(&["task", "start", &stuck]);
    ok(&["task", "block", &stuck, "--reason", "the contract is not signed"]);
    let failed = add("Broken", &["--assign", "solo", "--priority", "critical"]);
    let session = team.world.ok(&["session", "start", &failed, "--agent", "solo", "--quiet"]);
    ok(&["session", "end", session.trim(), "--exit-code", "1"]);
    let done = add("Finished", &["--assign", "solo"]);
    ok(&["task", "start", &done]);
    ok(&["task", "update", &done, "--status", "done", "--force"]);
    ok(&["task", "cancel", &add("Given up", &[]), "--reason", "no"]);
    add("Queued", &["--assign", "solo"]);
    let whole = add("Speed up the pictures", &[]);
    add("Measure where the time goes", &["--parent", &whole, "--assign", "solo"]);
    ok(&["task", "start", &whole]);
    for number in 0..20 {
        add(&format!("Idea {number}"), &[]);
    }
    team
}

/// What of an element is inside of the window, sideways.
fn in_sight(css: &str) -> String {
    format!(
        "(r => r.width > 0 && r.left >= 0 && r.right <= innerWidth)(document.querySelector({css:?}).getBoundingClientRect())"
    )
}

/// W11: with all seven statuses nothing that is stuck is off screen at 1280 px, idle columns are counts, each column
/// scrolls under its own head, and what was folded or unfolded stays so in this browser.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn every_status_fits_and_idle_columns_fold() {
    let team = every_status();
    let up = team.up();
    let browser = open(&up, 1280, "").await;
    for status in ["in_progress", "blocked", "failed"] {
        browser.until(&in_sight(&format!(".column[data-status={status}]")), status).await;
    }
    assert_eq!(browser.count(".column").await, 7);
    let wide = "(c => c.scrollWidth <= c.clientWidth)(document.querySelector('.columns'))";
    assert_eq!(browser.eval(wide).await, json!(true), "all columns are in the window");
    assert_eq!(browser.text(".column[data-status=backlog] .count").await, "20");
    assert_eq!(browser.count(".column[data-status=backlog] .card").await, 0, "what is folded is not sent");
    browser.click(".column[data-status=backlog] .fold").await;
    browser.until_text(".column[data-status=backlog]", "Idea 19").await;
    let head = "document.querySelector('[data-status=backlog] h2').getBoundingClientRect().top";
    let before = browser.eval(head).await;
    browser.eval("document.querySelector('[data-status=backlog] .cards').scrollTop = 400").await;
    assert_eq!(browser.eval(head).await, before, "the head stays");
    assert_eq!(browser.eval("document.documentElement.scrollHeight <= innerHeight").await, json!(true));
    assert_eq!(browser.count(".column[data-status=failed] .card.critical").await, 1);
    // Who is quick is not undone by the answer to what they did before.
    let click = |status: &str| format!("document.querySelector('[data-status={status}] .fold').click()");
    browser.eval(&["todo", "done", "todo", "cancelled"].map(click).join(",")).await;
    browser.until_text(".column[data-status=cancelled]", "Given up").await;
    browser.until_text(".column[data-status=done]", "Finished").await;
    browser.eval(&["done", "cancelled"].map(click).join(",")).await;
    browser.until("!document.querySelector('[data-status=done] .card')", "they are folded again").await;
    // A change folds and unfolds nothing.
    team.world.ok(&["task", "add", "One more idea"]);
    browser.until_text(".column[data-status=backlog] .count", "21").await;
    assert_eq!(browser.count(".column.folded").await, 3);
    browser.goto(&board(&up)).await;
    browser.until_text(".column[data-status=backlog]", "Idea 19").await;
    browser.eval("document.querySelector('[data-status=backlog] .fold').focus()").await;
    browser.press("z").await;
    browser.until("document.querySelector('.column.folded[data-status=backlog]')", "it is folded by a key").await;
    browser.until("!document.querySelector('[data-status=backlog] .card')", "its cards are gone").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W2, W11: a card is dropped on a folded column as on any other.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_card_is_dropped_on_a_folded_column() {
    let team = every_status();
    let up = team.up();
    let browser = open(&up, 1280, "").await;
    browser.until("document.querySelector('.column.folded[data-status=cancelled]')", "it is folded").await;
    browser.click(".column[data-status=todo] .fold").await;
    browser.until_text(".column[data-status=todo]", "Queued").await;
    browser.drag(".column[data-status=todo] .card[data-task=tsk_5]", ".column[data-status=backlog]").await;
    browser.until_text(".column[data-status=backlog] .count", "21").await;
    assert_eq!(team.task("5")["status"], "backlog");
    up.stop();
}

/// W11: cards are put together by tree or by agent, found by status, put in order; a view is its address and can be kept.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_board_is_grouped_filtered_ordered_and_kept() {
    let team = every_status();
    let up = team.up();
    let browser = open(&up, 1280, "?group=tree&status=unsettled&sort=title").await;
    browser.until_text(".column[data-status=in_progress] h3", "Speed up the pictures").await;
    browser.click(".column[data-status=todo] .fold").await;
    browser.until_text(".column[data-status=todo] h3", "Speed up the pictures").await;
    browser.until_text(".column[data-status=todo] h3", "In no tree").await;
    assert_eq!(browser.count(".column[data-status=done], .column[data-status=cancelled]").await, 0);
    browser.click("#views summary").await;
    browser.type_into("#views [name=name]", "Open trees").await;
    browser.press("Enter").await;
    browser.until_text("#views li", "Open trees").await;
    browser.goto(&format!("{}?group=agent", board(&up))).await;
    browser.click(".column[data-status=backlog] .fold").await;
    browser.until_text(".column[data-status=backlog] h3", "Nobody").await;
    browser.click("#views summary").await;
    browser.click("#views li a").await;
    browser.until("location.search === '?group=tree&status=unsettled&sort=title'", "the view that was kept").await;
    browser.click("[data-key=filter] summary").await;
    browser.eval("(s => { s.value = 'failed'; s.dispatchEvent(new Event('input', { bubbles: true })) })(document.querySelector('[data-key=filter] [name=status]'))").await;
    browser.until("document.querySelectorAll('.column').length === 1", "only what failed").await;
    browser.until_text(".column", "Broken").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W11: on a phone the columns are tabs, and one row has the tools.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn on_a_phone_columns_are_tabs() {
    let team = every_status();
    let up = team.up();
    let browser = open(&up, 400, "").await;
    let shown = "[...document.querySelectorAll('.column')].filter(c => c.offsetWidth).map(c => c.dataset.status)";
    assert_eq!(browser.eval(shown).await, json!(["in_progress"]));
    let top = browser.eval("document.querySelector('.column.current .card').getBoundingClientRect().top").await;
    assert!(top.as_f64().unwrap() < 220.0, "{top}: a card is where one looks first");
    assert!(browser.eval("document.querySelector('.tools').offsetHeight").await.as_f64().unwrap() < 48.0);
    browser.click(".tabs a[href*=failed]").await;
    browser.until_text(".column.current", "Broken").await;
    browser.click(".tabs a[href*=backlog]").await;
    browser.until_text(".column.current", "Idea 3").await;
    super::screens::fits(&browser, "a tab").await;
    up.stop();
}

/// The bytes of the page that were fetched last.
const FETCHED: &str = "performance.getEntriesByType('resource').filter(e => e.initiatorType === 'fetch' && \
                       new URL(e.name).pathname === '/p/shop').map(e => e.encodedBodySize)";

/// W5, W11: after the first change a page is sent what changed, and shows what a new one would; what the server has
/// forgotten it sends again.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn a_change_costs_what_changed() {
    let team = Team::new("true");
    for number in 0..60 {
        team.world.ok(&["task", "add", &format!("Idea {number}")]);
    }
    let up = team.up();
    let browser = open(&up, 1280, "").await;
    for title in ["One", "Two", "Three"] {
        team.world.ok(&["task", "add", title, "--priority", "critical"]);
        browser.until_text(".column[data-status=backlog]", title).await;
    }
    let sizes = browser.eval(FETCHED).await;
    let sizes: Vec<u64> = sizes.as_array().unwrap().iter().filter_map(Value::as_u64).collect();
    let (first, last) = (sizes[0], *sizes.last().unwrap());
    assert!(last * 10 < first, "{sizes:?}: a change of one card costs a tenth of the page or less");
    // Another process has none of the texts that this one has sent.
    up.kill();
    browser.until_text("#link", "reconnecting").await;
    let up = team.up();
    team.world.ok(&["task", "add", "Four", "--priority", "critical"]);
    browser.until_text(".column[data-status=backlog]", "Four").await;
    let titles = "[...document.querySelectorAll('.card .title')].map(a => a.textContent)";
    let live = browser.eval(titles).await;
    browser.goto(&board(&up)).await;
    assert_eq!(live, browser.eval(titles).await);
    up.stop();
}
