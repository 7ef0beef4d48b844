//! Do the pages fit every screen, and are they accessible?

use std::path::PathBuf;

use testkit::browser::{Browser, Language, Options, Scheme};

use super::{Demo, axe, base, log_in};

/// The pages of the demo, by the name of their screenshot.
const PAGES: &[(&str, &str)] = &[
    ("now", "/p/greet/now"),
    ("board", "/p/greet"),
    ("tree", "/p/greet?view=tree"),
    ("graph", "/p/greet?view=graph&status=done"),
    ("task", "/p/greet/tasks/tsk_1"),
    ("task-worker", "/p/greet/tasks/tsk_3"),
    ("diff", "/p/greet/tasks/tsk_3/diff"),
    ("agents", "/p/greet/agents"),
    ("agent", "/p/greet/agents/aiko"),
    ("sessions", "/p/greet/sessions"),
    ("session", "/p/greet/sessions/ses_2"),
    ("decisions", "/p/greet/sessions/ses_2?tab=decisions"),
    ("queue", "/p/greet/queue"),
    ("chat", "/p/greet/chat/aiko"),
    ("memory", "/p/greet/memory"),
    ("history", "/p/greet/history/40"),
    ("settings", "/p/greet/settings"),
    ("projects", "/projects"),
    ("runners", "/runners"),
];

/// W1, W6: every page, narrow and wide, light and dark, in both languages: nothing runs out of the
/// page, nothing is asked of anybody else, nothing is complained about, and axe finds no fault.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn every_page_in_every_size_scheme_and_language() {
    let axe = axe();
    let mut demo = Demo::begin("0");
    demo.finish();
    let mut faults = Vec::new();
    let screenshots = std::env::var_os("SAIHAI_SCREENS").map(PathBuf::from);
    for language in [Language::English, Language::Japanese] {
        let link = demo.link();
        let browser = log_in(Options { language, ..Options::default() }, &link).await;
        for (name, path) in PAGES {
            browser.goto(&format!("{}{path}", base(&link))).await;
            browser.until_text("#link", if language == Language::English { "live" } else { "接続中" }).await;
            for scheme in [Scheme::Light, Scheme::Dark] {
                browser.scheme(scheme).await;
                for width in [1600, 400] {
                    browser.resize(width, 900).await;
                    let variant = format!("{name}-{language:?}-{scheme:?}-{width}").to_lowercase();
                    fits(&browser, &variant).await;
                    if let Some(screenshots) = &screenshots {
                        browser.screenshot(&screenshots.join(format!("{variant}.png"))).await;
                    }
                }
                // Colours are the same in every language.
                if language == Language::Japanese && scheme == Scheme::Dark {
                    continue;
                }
                let found = browser.axe(&axe).await;
                faults.extend(found.into_iter().map(|fault| format!("{name} {scheme:?}: {fault}")));
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
        assert_eq!(browser.console_errors().await, Vec::<String>::new());
        let foreign: Vec<_> =
            browser.requests().await.into_iter().filter(|url| !url.starts_with(base(&link))).collect();
        assert!(foreign.is_empty(), "{foreign:?}");
    }
}

/// Nothing makes the page itself wider than the window.
pub(super) async fn fits(browser: &Browser, variant: &str) {
    let wide = browser.eval("document.documentElement.scrollWidth - document.documentElement.clientWidth").await;
    assert_eq!(wide, 0, "{variant}: the page can be scrolled sideways");
}

/// W6: the pictures in the documentation, of a team at work. With `SAIHAI_BLESS=1` they are put there.
#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a browser: scripts/test"]
async fn screenshots_for_the_documentation() {
    let place = match std::env::var_os("SAIHAI_BLESS") {
        Some(_) => PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../docs/images"),
        None => PathBuf::from(env!("CARGO_TARGET_TMPDIR")),
    };
    let mut demo = Demo::begin("400");
    let link = demo.link();
    let browser = log_in(Options { width: 1280, height: 560, ..Options::default() }, &link).await;
    // At least one was sent back, and works on; others are done.
    let busy =
        "document.querySelectorAll('.note.running').length > 1 && document.querySelector('[data-status=done] .card')";
    browser.until(busy, "a team at work").await;
    browser.screenshot(place.join("board.png")).await;
    demo.finish();
    browser.resize(1280, 800).await;
    for (name, path, scheme) in [
        ("task", "/p/greet/tasks/3", Scheme::Dark),
        ("history", "/p/greet/history/60", Scheme::Light),
        ("session", "/p/greet/sessions/3", Scheme::Dark),
    ] {
        browser.scheme(scheme).await;
        browser.goto(&format!("{}{path}", base(&link))).await;
        browser.until("document.querySelector('#link.live')", "the page is live").await;
        browser.screenshot(place.join(format!("{name}.png"))).await;
    }
}
