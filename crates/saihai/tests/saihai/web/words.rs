//! Do the pages speak to whoever reads them: no commands, no codes, and "you" only to whom it is true of?

use serde_json::json;
use testkit::browser::{Browser, Language, Options};

use super::{base, link_for, log_in};
use crate::runner::{Team, Up};

/// Text of the page that no person or program has written.
const TEXT: &str = "(() => { const main = document.querySelector('main').cloneNode(true); \
    main.querySelectorAll('pre, code, .mono, .id').forEach(e => e.remove()); \
    return main.textContent + [...main.querySelectorAll('[title]')].map(e => ' ' + e.title).join(' ') })()";

const PAGES: &[&str] = &[
    "",
    "?view=tree",
    "?view=graph",
    "/tasks/1",
    "/tasks/2",
    "/tasks/3",
    "/tasks/4",
    "/tasks/5",
    "/tasks/6",
    "/agents",
    "/agents/solo",
    "/sessions",
    "/sessions/1",
    "/sessions/2",
    "/queue",
    "/chat",
    "/chat/solo",
    "/memory",
    "/history",
    "/settings",
];

/// Tasks in every state that explains itself, one of them after attempts that were sent back.
fn team_in_trouble() -> Team {
    let team = Team::new("echo out >> README.md; git add -A; git commit -qm outside");
    for (title, agent) in [("Blocked", "solo"), ("Failed", "solo"), ("Ready", "solo"), ("Waits", "solo")] {
        team.world.ok(&["task", "add", title, "--assign", agent]);
    }
    team.world.ok(&["task", "add", "Nobody's"]);
    team.world.ok(&["task", "depend", "4", "--on", "5"]);
    team.world.ok(&["session", "start", "2", "--agent", "solo"]);
    team.world.ok(&["session", "end", "1", "--exit-code", "3"]);
    team.world.ok(&["task", "block", "1", "--reason", "wait for legal"]);
    team.start_task("Out of scope");
    team
}

async fn each_page(browser: &Browser, up: &Up<'_>, mut look: impl FnMut(&str, &str)) {
    let base = base(up.ready["login_url"].as_str().unwrap());
    for page in PAGES {
        browser.goto(&format!("{base}/p/shop{page}")).await;
        look(page, browser.eval(TEXT).await.as_str().unwrap());
    }
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '-' || c == '`'))
}

/// W12: no page tells its reader to type a command, and no reason is shown as a code, in either language.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn pages_have_no_commands_and_no_codes() {
    let team = team_in_trouble();
    let up = team.up();
    team.until_task("6", "failed");
    for language in [Language::English, Language::Japanese] {
        let browser = log_in(Options { language, ..Options::default() }, &link_for(&team, &[])).await;
        let mut faults = Vec::new();
        each_page(&browser, &up, |page, text| {
            let bad = |word: &&str| {
                word.starts_with("--") || (word.contains('_') && !word.contains("sk_") && !word.contains("es_"))
            };
            faults.extend(words(text).filter(bad).map(|word| format!("{page}: {word}")));
            faults.extend(
                text.match_indices("saihai ")
                    .map(|(at, _)| format!("{page}: {}", text[at..].chars().take(60).collect::<String>())),
            );
        })
        .await;
        assert!(faults.is_empty(), "{language:?}\n{}", faults.join("\n"));
    }
    up.stop();
}

/// W12: what a page names can be done there; a viewer is told who does it, and is nobody's "you".
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn the_owner_is_you_and_a_viewer_is_not() {
    let team = team_in_trouble();
    let up = team.up();
    team.until_task("6", "failed");
    let viewer = log_in(Options::default(), &link_for(&team, &["--role", "viewer", "--name", "vera"])).await;
    let mut faults = Vec::new();
    each_page(&viewer, &up, |page, text| {
        // There a section is about whoever reads.
        let text = if page == "/settings" { "" } else { text };
        let told = words(text).filter(|word| ["you", "your"].contains(&word.to_lowercase().as_str()));
        faults.extend(told.map(|word| format!("{page}: {word}")));
    })
    .await;
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    let base = base(up.ready["login_url"].as_str().unwrap());
    viewer.goto(&format!("{base}/p/shop/tasks/3")).await;
    viewer.until_text(".why", "waiting for the owner to start it").await;
    assert_eq!(viewer.count(".why button").await, 0);

    let owner = log_in(Options::default(), &link_for(&team, &[])).await;
    owner.goto(&format!("{base}/p/shop/tasks/2")).await;
    owner.until_text(".why", "Failed: it ended with exit code 3.").await;
    owner.until_text(".why", "You may retry it").await;
    owner.goto(&format!("{base}/p/shop/tasks/1")).await;
    owner.until("document.querySelector('#link.live')", "the page is live").await;
    owner.until_text(".why", "Blocked by you: wait for legal").await;
    owner.click(".why [data-move=unblock]").await;
    owner.until_text(".headline .chip", "To do").await;
    assert_eq!(owner.eval("document.querySelector('.why').innerText.includes('Blocked')").await, json!(false));
    up.stop();
}
