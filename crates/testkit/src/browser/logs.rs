//! What did the pages complain about, and what did they ask the network for?

use fantoccini::error::CmdError;
use serde_json::Value;

use super::Browser;
use super::extension::Extension;

impl Browser {
    /// Errors in the console and exceptions that nobody caught, in any tab, since the last call.
    ///
    /// Chromium counts answers of 400 and above and violations of the content policy among them.
    pub async fn console_errors(&self) -> Vec<String> {
        self.must("tell its console errors", self.severe().await).await
    }

    /// Every address asked for, by any tab and in this order, since the last call.
    pub async fn requests(&self) -> Vec<String> {
        let entries = self.must("tell its requests", self.log("performance").await).await;
        entries.iter().filter_map(requested).collect()
    }

    pub(super) async fn severe(&self) -> Result<Vec<String>, CmdError> {
        let entries = self.log("browser").await?;
        let severe = entries.iter().filter(|entry| entry["level"] == "SEVERE");
        Ok(severe.map(|entry| text_of(&entry["message"])).collect())
    }

    async fn log(&self, kind: &str) -> Result<Vec<Value>, CmdError> {
        let answer = self.client.issue_cmd(Extension::log(kind)).await?;
        Ok(answer.as_array().cloned().unwrap_or_default())
    }
}

/// The address in an entry of the performance log, if it tells of a request.
fn requested(entry: &Value) -> Option<String> {
    let event: Value = serde_json::from_str(entry["message"].as_str()?).ok()?;
    let event = &event["message"];
    let address = match event["method"].as_str()? {
        "Network.requestWillBeSent" => &event["params"]["request"]["url"],
        "Network.webSocketCreated" => &event["params"]["url"],
        _ => return None,
    };
    Some(text_of(address))
}

/// A string without its quotation marks.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), String::from)
}
