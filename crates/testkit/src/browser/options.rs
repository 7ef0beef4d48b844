//! With which settings does a browser start?

use std::path::Path;

use serde_json::{Map, Value, json};

/// The language that the browser asks pages for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Language {
    #[default]
    English,
    Japanese,
}

/// The value of `prefers-color-scheme`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Scheme {
    #[default]
    Light,
    Dark,
}

impl Scheme {
    /// The value of `prefers-color-scheme`.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    pub language: Language,
    pub scheme: Scheme,
    pub width: u32,
    pub height: u32,
}

impl Default for Options {
    fn default() -> Self {
        Self { language: Language::default(), scheme: Scheme::default(), width: 1280, height: 800 }
    }
}

/// Besides these chromedriver adds its own, of which `--disable-background-networking` is one.
const ARGUMENTS: [&str; 14] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    // Chromium ends when the pipe closes, so it cannot outlive a chromedriver that was killed.
    "--remote-debugging-pipe",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-extensions",
    "--no-first-run",
    "--no-proxy-server",
    "--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1 , EXCLUDE *.localhost",
    "--hide-scrollbars",
    "--force-color-profile=srgb",
];

/// What a new session asks chromedriver for.
pub(super) fn capabilities(options: Options, profile: &Path) -> Map<String, Value> {
    let language = match options.language {
        Language::English => "en",
        Language::Japanese => "ja",
    };
    let mut arguments: Vec<String> = ARGUMENTS.map(String::from).into();
    arguments.push(format!("--user-data-dir={}", profile.display()));
    arguments.push(format!("--accept-lang={language}"));
    Map::from_iter([
        ("browserName".into(), json!("chrome")),
        (
            "goog:chromeOptions".into(),
            json!({
                "args": arguments,
                // Else the page for new tabs, which may load after the first page that a test opens, and hide it.
            "prefs": {"session": {"restore_on_startup": 4, "startup_urls": ["about:blank"]}},
            "perfLoggingPrefs": {"enableNetwork": true, "enablePage": false},
            }),
        ),
        ("goog:loggingPrefs".into(), json!({"browser": "ALL", "performance": "ALL"})),
    ])
}
