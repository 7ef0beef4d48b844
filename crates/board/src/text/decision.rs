//! How is a decision of the trace worded: what was asked, what was answered, by which rule (E6)?

use serde_json::Value;

use super::phrase;
use crate::Language;

/// A decision, in words.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DecisionText {
    pub asked: String,
    pub answered: String,
    /// The row of the table that decided.
    pub row: Option<String>,
    /// How often it was said in a row.
    pub times: Option<u64>,
}

/// `kind` and `body` are as the trace keeps them.
pub fn say_decision(kind: &str, body: &Value, language: Language) -> DecisionText {
    let word = |name: &str| body[name].as_str();
    let asked = match kind {
        "next_action" => "get_next_action".to_owned(),
        "staffing" => "get_agent_action".to_owned(),
        "call" => {
            let arguments = body["arguments"].as_object();
            let told = arguments
                .into_iter()
                .flatten()
                .map(|(_, value)| value.as_str().map_or_else(|| value.to_string(), str::to_owned));
            [vec![word("tool").unwrap_or("?").to_owned()], told.collect()].concat().join(" ")
        }
        kind => kind.to_owned(),
    };
    let answered = match (word("refused"), word("failed"), word("action"), word("verdict")) {
        (Some(code), ..) => phrase("refused: {0}", "拒否: {0}").say(language, &[&code]),
        (_, Some(error), ..) => phrase("failed: {0}", "失敗: {0}").say(language, &[&error]),
        (_, _, Some(action), _) => {
            let reason = word("reason").map(|reason| format!(": {reason}")).unwrap_or_default();
            let of = word("state").or_else(|| body["purpose"]["task"].as_str()).or_else(|| word("purpose"));
            let until = word("until").map(|until| phrase(", until {0}", "、{0} まで").say(language, &[&until]));
            let of = of.map(|of| format!(" ({of})")).unwrap_or_default();
            format!("{action}{reason}{of}{}", until.unwrap_or_default())
        }
        (_, _, _, Some(verdict)) => verdict.to_owned(),
        _ => "ok".to_owned(),
    };
    DecisionText { asked, answered, row: word("row").map(str::to_owned), times: body["times"].as_u64() }
}
