//! How is Gemini CLI run, and what does it tell?

use board::{Timestamp, Usage};
use serde_json::{Value, json};

use super::program::{self, VendorProgram};
use super::reader::{OutputState, tokens};
use super::vendor::{VendorFailure, VendorRefusal};
use super::{Assignment, CannotLaunch, Launch, SERVER, reset};

pub(super) const VENDOR: VendorProgram =
    VendorProgram { name: "Gemini CLI", program: "gemini", package: "@google/gemini-cli" };

pub(super) fn launch(assignment: &Assignment<'_>) -> Result<Launch, CannotLaunch> {
    let mut launch = program::launch(VENDOR.find(assignment)?);
    launch.stdin = Some(launch.prompt(assignment));
    launch.arguments(["-o", "stream-json", "--approval-mode", "yolo", "--allowed-mcp-server-names", SERVER]);
    if let Some(model) = &assignment.spec.model {
        launch.arguments(["-m", model]);
    }
    launch.set(&[
        // It would ask, and nobody is there to answer (F47).
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
        // A launcher in between ignores signals.
        ("GEMINI_CLI_NO_RELAUNCH", "true"),
    ]);
    launch.set_path("GEMINI_CLI_HOME", &assignment.home());
    let method = log_in(&mut launch, assignment);
    let settings = settings(assignment.mcp_url, method).to_string();
    launch.files.push((assignment.home().join(".gemini/settings.json"), settings.into()));
    Ok(launch)
}

/// How it is to log in, in its own word for it.
fn log_in(launch: &mut Launch, assignment: &Assignment<'_>) -> &'static str {
    launch.settings(assignment, &["GOOGLE_GEMINI_BASE_URL", "GOOGLE_CLOUD_PROJECT", "GOOGLE_CLOUD_LOCATION"]);
    let vertex = "GOOGLE_GENAI_USE_VERTEXAI";
    if assignment.variable(vertex).is_some_and(|value| value == "true") {
        launch.settings(assignment, &[vertex, "GOOGLE_VERTEX_BASE_URL"]);
        launch.keys(assignment, &["GOOGLE_API_KEY"]);
        return "vertex-ai";
    }
    let keys = launch.keys(assignment, &["GEMINI_API_KEY", "GOOGLE_API_KEY"]);
    match keys.first() {
        Some(&"GEMINI_API_KEY") => "gemini-api-key",
        Some(_) => "vertex-ai",
        None => {
            let [original, private] = [assignment.directory("GEMINI_CLI_HOME", ""), assignment.home()];
            let [original, private] = [original.join(".gemini"), private.join(".gemini")];
            let file = "oauth_creds.json";
            if !launch.login(original.join(file), private.join(file)) {
                return "gemini-api-key";
            }
            // Which of the accounts it is; there is nothing secret in it, and it need not exist.
            let file = "google_accounts.json";
            if let Ok(accounts) = std::fs::read(original.join(file)) {
                launch.files.push((private.join(file), accounts));
            }
            "oauth-personal"
        }
    }
}

fn settings(mcp_url: Option<&str>, method: &str) -> Value {
    let server = |url| json!({ SERVER: { "httpUrl": url, "headers": { "Authorization": "Bearer $SAIHAI_TOKEN" } } });
    json!({
        "mcpServers": mcp_url.map_or_else(|| json!({}), server),
        "security": { "auth": { "selectedType": method } },
        "privacy": { "usageStatisticsEnabled": false },
        "telemetry": { "enabled": false },
        "general": { "enableAutoUpdate": false, "enableAutoUpdateNotification": false, "maxAttempts": 3 },
        // An agent that waits asks the same again and again, and the board counts how often.
        "model": { "disableLoopDetection": true },
    })
}

/// Its own code for a login that is missing.
const NO_LOGIN: i32 = 41;

/// The statuses that mean something. None of them is, modulo 256, one of its own codes.
const STATUSES: [u64; 8] = [401, 403, 429, 500, 502, 503, 504, 529];

pub(super) fn read(state: &mut OutputState, event: &Value, now: Timestamp) {
    match event["type"].as_str() {
        Some("init") => state.session = event["session_id"].as_str().map(str::to_owned),
        Some("result") => {
            let stats = &event["stats"];
            state.usage = Some(Usage {
                input_tokens: tokens(&stats["input_tokens"]),
                output_tokens: tokens(&stats["output_tokens"]),
                cost_micros: None,
            });
            if event["status"] == "error" {
                let said = event["error"]["message"].as_str().unwrap_or_default();
                state.final_message = Some((said.to_owned(), now));
            }
        }
        _ => {}
    }
}

/// Its exit code is the status of the answer, as far as that fits into a byte.
pub(super) fn ended(code: i32, final_message: Option<&(String, Timestamp)>) -> Option<VendorFailure> {
    let (said, at) = final_message.map_or(("", Timestamp::default()), |(said, at)| (said, *at));
    let until = reset::in_words(said, at);
    let status = STATUSES.into_iter().find(|status| status % 256 == u64::try_from(code).unwrap_or(0));
    let refusal = match status.and_then(|status| VendorRefusal::of_status(status, until)) {
        Some(refusal) => refusal,
        None if code == NO_LOGIN || said.contains("API key not valid") => VendorRefusal::LoggedOut,
        None if said.contains("fetch failed") => VendorRefusal::Unavailable,
        None => return None,
    };
    Some(VendorFailure::new(refusal, said, at))
}
