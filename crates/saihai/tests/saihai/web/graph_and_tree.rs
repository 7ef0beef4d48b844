//! Can one read what waits for what, and what belongs to what, on a board with many trees?

use serde_json::{Value, json};
use testkit::browser::Options;

use super::{base, log_in};
use crate::runner::Team;

/// Trees of so many parts, each after the one before it; the first of each also after the last of the tree before.
fn forest(trees: usize, parts: usize) -> Team {
    let team = Team::configured("true", &json!({ "limits": { "max_children": 20 } }));
    let add = |arguments: &[&str]| {
        let task = team.world.json(&[&["task", "add"], arguments].concat());
        task["id"].as_str().unwrap().to_owned()
    };
    let mut last: Option<String> = None;
    for tree in 0..trees {
        let top = add(&[&format!("Tree {tree}")]);
        for part in 0..parts {
            let title = format!("Part {part} of tree {tree}, and what else there is to say of it in one long line");
            let before = last.take();
            let waits = before.iter().flat_map(|id| ["--depends", id.as_str()]);
            let options: Vec<&str> = [title.as_str(), "--parent", &top].into_iter().chain(waits).collect();
            last = Some(add(&options));
        }
    }
    team
}

/// W11: trees are boxes, lines are only what waits, the longest chain is bold; the picture is made larger, smaller and
/// whole by keys, and keeps its size when something changes.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn the_graph_is_zoomed_and_keeps_its_size() {
    let team = forest(3, 4);
    let up = team.up();
    let login = up.ready["login_url"].as_str().unwrap();
    let browser = log_in(Options::default(), login).await;
    browser.goto(&format!("{}/p/shop?view=graph", base(login))).await;
    browser.until("document.querySelector('#link.live')", "the page is live").await;
    assert_eq!(browser.count(".tree-box").await, 3);
    assert_eq!(browser.count(".node").await, 12, "tops are boxes around their parts");
    assert_eq!(browser.count(".edge").await, 11);
    assert_eq!(browser.count(".edge.chain").await, 11, "it is one chain");
    let width = "document.querySelector('.graph').getBoundingClientRect().width";
    let before = browser.eval(width).await.as_f64().unwrap();
    browser.eval("document.querySelector('.picture').focus()").await;
    browser.press("+").await;
    browser.until(&format!("{width} > {before} * 1.2"), "it is larger").await;
    let larger = browser.eval(width).await;
    team.world.ok(&["task", "add", "Alone"]);
    browser.until("document.querySelectorAll('.node').length === 13", "a new task is drawn").await;
    assert!((browser.eval(width).await.as_f64().unwrap() - larger.as_f64().unwrap()).abs() < 1.0, "it keeps its size");
    let pulled = "(frame => {
        const send = (type, x, y) => frame.querySelector('svg').dispatchEvent(
            new PointerEvent(type, { bubbles: true, clientX: x, clientY: y, pointerType: 'mouse' }));
        frame.scrollTo(0, 0);
        send('pointerdown', 300, 300); send('pointermove', 260, 300); send('pointerup', 260, 300);
        send('pointermove', 100, 300);
        return frame.scrollLeft;
    })(document.querySelector('.picture'))";
    assert_eq!(browser.eval(pulled).await, 40, "the ground is pulled by the mouse, until it is let go");
    browser.press("0").await;
    let whole =
        "(p => p.scrollWidth <= p.clientWidth && p.scrollHeight <= p.clientHeight)(document.querySelector('.picture'))";
    browser.until(whole, "all of it is in sight").await;
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W11: parts are folded by click and key, what is folded is not sent, it stays so, and long titles stay on their line.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn the_tree_folds_and_remembers() {
    let team = forest(2, 3);
    let up = team.up();
    let login = up.ready["login_url"].as_str().unwrap();
    let browser = log_in(Options { width: 800, ..Options::default() }, login).await;
    browser.goto(&format!("{}/p/shop?view=tree", base(login))).await;
    browser.until("document.querySelector('#link.live')", "the page is live").await;
    assert_eq!(browser.count(".tree li").await, 8);
    let lines = "Math.max(...[...document.querySelectorAll('.tree li')].map(li => li.offsetHeight))";
    assert!(browser.eval(lines).await.as_f64().unwrap() < 45.0, "a row is one line");
    super::screens::fits(&browser, "the tree").await;
    browser.click("[data-branch=tsk_1]").await;
    browser.until("document.querySelectorAll('.tree li').length === 5", "the first tree is folded").await;
    browser.eval("document.querySelector('[data-key=tsk_5] a').focus()").await;
    browser.press("ArrowLeft").await;
    browser.until("document.querySelectorAll('.tree li').length === 2", "the second is folded by a key").await;
    browser.press("ArrowRight").await;
    browser.until("document.querySelectorAll('.tree li').length === 5", "and unfolded").await;
    team.world.ok(&["task", "cancel", "2", "--reason", "no"]);
    browser.until("document.querySelector('[data-key=tsk_1] progress').value === 1", "its bar goes on").await;
    browser.goto(&format!("{}/p/shop?view=tree", base(login))).await;
    assert_eq!(browser.count(".tree li").await, 5, "it is remembered");
    browser.goto(&format!("{}/p/shop?view=tree&q=0", base(login))).await;
    assert_eq!(browser.count(".tree li").await, 6, "what is looked for is seen, folded or not");
    assert_eq!(browser.console_errors().await, Vec::<String>::new());
    up.stop();
}

/// W11: on a phone agents and sessions are lists of cards: nothing of them is off to the right.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn tables_are_cards_on_a_phone() {
    let team = Team::new("true");
    team.start_task("Something that is done at once");
    let up = team.up();
    team.until_ended(1);
    let login = up.ready["login_url"].as_str().unwrap();
    let browser = log_in(Options { width: 400, ..Options::default() }, login).await;
    for page in ["agents", "sessions"] {
        browser.goto(&format!("{}/p/shop/{page}", base(login))).await;
        browser.until("document.querySelector('#link.live')", "the page is live").await;
        let right =
            "Math.max(...[...document.querySelectorAll('tbody td')].map(td => td.getBoundingClientRect().right))";
        let right = browser.eval(right).await;
        assert!(right.as_f64().unwrap() <= 400.0, "{page}: {right}");
        assert_ne!(browser.eval("document.querySelector('td[data-says]') === null").await, Value::Bool(true));
    }
    up.stop();
}
