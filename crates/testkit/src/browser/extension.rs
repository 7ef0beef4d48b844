//! Which commands does chromedriver know beyond the WebDriver standard, and how are they sent?

use fantoccini::wd::WebDriverCompatibleCommand;
use http::Method;
use serde_json::{Value, json};
use url::{ParseError, Url};

/// A command that only chromedriver knows.
#[derive(Debug)]
pub(super) struct Extension {
    path: &'static str,
    body: Value,
}

impl Extension {
    /// A command of the DevTools protocol, to the tab that is looked at.
    pub(super) fn devtools(method: &str, parameters: &Value) -> Self {
        Self { path: "goog/cdp/execute", body: json!({"cmd": method, "params": parameters}) }
    }

    /// What a log gathered since it was last asked for: `browser` or `performance`.
    pub(super) fn log(kind: &str) -> Self {
        Self { path: "se/log", body: json!({"type": kind}) }
    }
}

impl WebDriverCompatibleCommand for Extension {
    fn endpoint(&self, base: &Url, session: Option<&str>) -> Result<Url, ParseError> {
        base.join(&format!("session/{}/{}", session.unwrap_or_default(), self.path))
    }

    fn method_and_body(&self, _: &Url) -> (Method, Option<String>) {
        (Method::POST, Some(self.body.to_string()))
    }
}
