//! How does a test use the pages in a real browser, as a person would?
//!
//! Chromium runs without a window below chromedriver; `scripts/browser` installs both. Whatever
//! cannot be done within [`LIMIT`] ends the test, with what the page showed and complained about.

mod axe;
mod driver;
mod emulation;
mod extension;
mod input;
mod logs;
mod options;

use std::sync::Mutex;
use std::time::Duration;

use fantoccini::elements::Element;
use fantoccini::error::{CmdError, ErrorStatus};
use fantoccini::wd::WindowHandle;
use fantoccini::{Client, ClientBuilder, Locator};
use hyper_util::client::legacy::connect::HttpConnector;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use driver::Driver;
pub use emulation::Network;
use extension::Extension;
use logs::text_of;
pub use options::{Language, Options, Scheme};

/// How long a condition may take: generous, because a busy machine is no failure.
pub const LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(50);
/// So much of the page is shown when a test fails.
const EXCERPT: usize = 2000;

/// A tab of the browser; all of them share one profile, and so their cookies.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tab(WindowHandle);

/// A browser of its own, gone when it is dropped.
#[derive(Debug)]
pub struct Browser {
    client: Client,
    settings: Mutex<Options>,
    driver: Driver,
}

impl Browser {
    pub async fn start(options: Options) -> Self {
        let driver = Driver::start().await;
        let capabilities = options::capabilities(options, &driver.profile());
        let mut builder = ClientBuilder::new(HttpConnector::new());
        let client = builder.capabilities(capabilities).connect(&driver.address).await;
        let client = client.unwrap_or_else(|problem| panic!("chromium does not start: {problem}\n{}", driver.log()));
        let browser = Self { client, settings: Mutex::new(options), driver };
        browser.emulate().await;
        browser
    }

    /// Opens an address and waits until it is loaded.
    pub async fn goto(&self, url: &str) {
        self.must(&format!("open {url}"), self.client.goto(url).await).await;
    }

    pub async fn url(&self) -> String {
        self.must("tell the address", self.client.current_url().await).await.into()
    }

    /// The visible text of the first element that matches, as soon as there is one.
    pub async fn text(&self, css: &str) -> String {
        self.act(css, "be read", async |element| element.text().await).await
    }

    /// How many elements match now.
    pub async fn count(&self, css: &str) -> usize {
        self.must(&format!("count {css}"), self.client.find_all(Locator::Css(css)).await).await.len()
    }

    pub async fn attribute(&self, css: &str, name: &str) -> Option<String> {
        self.act(css, "be read", async |element| element.attr(name).await).await
    }

    /// The value of a JavaScript expression; that of a promise is awaited.
    pub async fn eval(&self, expression: &str) -> Value {
        let script = format!("return (\n{expression}\n)");
        self.must(&format!("evaluate {expression}"), self.client.execute(&script, Vec::new()).await).await
    }

    /// Waits until a JavaScript expression, or what it promises, is truthy. What it throws counts as not yet.
    pub async fn until(&self, condition: &str, what: &str) {
        let script = format!("return (async () => Boolean(await (\n{condition}\n)))().catch(String)");
        self.wait(&script, Vec::new(), what).await;
    }

    /// Waits until an element that matches has visible text with the needle in it.
    pub async fn until_text(&self, css: &str, needle: &str) {
        const FOUND: &str = "return [...document.querySelectorAll(arguments[0])]
            .some(element => element.innerText.includes(arguments[1]))";
        self.wait(FOUND, vec![json!(css), json!(needle)], &format!("{needle:?} in {css}")).await;
    }

    /// The tab that is looked at.
    pub async fn tab(&self) -> Tab {
        Tab(self.must("tell the tab", self.client.window().await).await)
    }

    /// Opens another tab and looks at it.
    pub async fn second_tab(&self) -> Tab {
        let opened = self.must("open a tab", self.client.new_window(true).await).await;
        let tab = Tab(opened.handle);
        self.switch(&tab).await;
        self.emulate().await;
        tab
    }

    /// Looks at another tab, and brings it to the front.
    pub async fn switch(&self, tab: &Tab) {
        self.must("switch tabs", self.client.switch_to_window(tab.0.clone()).await).await;
        self.devtools("Page.bringToFront", json!({})).await;
    }

    async fn wait(&self, script: &str, arguments: Vec<Value>, what: &str) {
        let end = Instant::now() + LIMIT;
        loop {
            let last = match self.client.execute(script, arguments.clone()).await {
                Ok(Value::Bool(true)) => return,
                Ok(other) => text_of(&other),
                // A page that is being left answers with an error; the next one may fulfil the condition.
                Err(problem @ CmdError::Standard(_)) => problem.to_string(),
                Err(problem) => panic!("{what}: chromedriver is lost: {problem}\n{}", self.driver.log()),
            };
            if Instant::now() >= end {
                self.fail(&format!("waited {LIMIT:?} for {what} (last: {last})")).await;
            }
            sleep(POLL).await;
        }
    }

    /// Does something to an element, as soon as it is there and lets it be done.
    async fn act<T>(&self, css: &str, purpose: &str, act: impl AsyncFn(Element) -> Result<T, CmdError>) -> T {
        let end = Instant::now() + LIMIT;
        loop {
            let outcome = match self.find(css).await {
                Ok(element) => act(element).await,
                Err(problem) => Err(problem),
            };
            match outcome {
                Ok(value) => return value,
                Err(problem) if may_still_succeed(&problem) && Instant::now() < end => sleep(POLL).await,
                Err(problem) => self.fail(&format!("{css} cannot {purpose}: {problem}")).await,
            }
        }
    }

    async fn until_present(&self, css: &str) {
        self.act(css, "be found", async |_| Ok(())).await;
    }

    async fn find(&self, css: &str) -> Result<Element, CmdError> {
        self.client.find(Locator::Css(css)).await
    }

    /// Sends a command of the DevTools protocol to the tab that is looked at.
    async fn devtools(&self, method: &str, parameters: Value) -> Value {
        let answer = self.client.issue_cmd(Extension::devtools(method, &parameters)).await;
        self.must(method, answer).await
    }

    async fn must<T>(&self, what: &str, outcome: Result<T, CmdError>) -> T {
        match outcome {
            Ok(value) => value,
            Err(problem) => self.fail(&format!("the browser could not {what}: {problem}")).await,
        }
    }

    /// Ends the test with what a reader needs in order to see why.
    async fn fail(&self, what: &str) -> ! {
        let url = self.client.current_url().await.map_or_else(|problem| problem.to_string(), String::from);
        let text = self.client.execute("return document.body.innerText", Vec::new()).await;
        let text = text.map_or_else(|problem| problem.to_string(), |text| text_of(&text));
        let excerpt: String = text.chars().take(EXCERPT).collect();
        let errors = self.severe().await.map_or_else(|problem| problem.to_string(), |errors| errors.join("\n"));
        panic!("{what}\n--- at\n{url}\n--- errors in the console\n{errors}\n--- on the page\n{excerpt}");
    }

    fn settings(&self) -> Options {
        *self.settings.lock().expect("no test panics while it changes the settings")
    }

    fn set(&self, change: impl FnOnce(&mut Options)) {
        change(&mut self.settings.lock().expect("no test panics while it changes the settings"));
    }
}

/// Whether the page may still come to the state that is needed, and nothing has happened yet.
fn may_still_succeed(problem: &CmdError) -> bool {
    let CmdError::Standard(problem) = problem else { return false };
    matches!(
        problem.error,
        ErrorStatus::NoSuchElement
            | ErrorStatus::StaleElementReference
            | ErrorStatus::ElementNotInteractable
            | ErrorStatus::ElementClickIntercepted
            | ErrorStatus::MoveTargetOutOfBounds
    )
}
