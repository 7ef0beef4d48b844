//! How is Claude Code run, and what does it tell?

use board::{Span, Timestamp, Usage};
use serde_json::{Value, json};

use super::program::{self, VendorProgram};
use super::reader::{OutputState, micros, tokens};
use super::vendor::{VendorFailure, VendorRefusal};
use super::{Assignment, CannotLaunch, Launch, SERVER, reset};

pub(super) const VENDOR: VendorProgram =
    VendorProgram { name: "Claude Code", program: "claude", package: "@anthropic-ai/claude-code" };

const KEYS: [&str; 3] = ["ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN"];

const BEDROCK_KEYS: [&str; 4] =
    ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "AWS_BEARER_TOKEN_BEDROCK"];

pub(super) fn launch(assignment: &Assignment<'_>) -> Result<Launch, CannotLaunch> {
    let mut launch = program::launch(VENDOR.find(assignment)?);
    launch.ends_on_sigint = true;
    launch.stdin = Some(launch.prompt(assignment));
    launch.arguments(["-p", "--output-format", "stream-json", "--verbose"]);
    // The project's settings are copied into the workspace; the user's own are not for agents.
    launch.arguments(["--setting-sources", "project", "--dangerously-skip-permissions", "--strict-mcp-config"]);
    if let Some(url) = assignment.mcp_url {
        let path = assignment.run.join("mcp.json");
        launch.arguments(["--mcp-config", &path.display().to_string()]);
        launch.files.push((path, mcp_config(url).to_string().into()));
    }
    if let Some(model) = &assignment.spec.model {
        launch.arguments(["--model", model]);
    }
    launch.set(&[
        // It refuses to skip permissions as root otherwise.
        ("IS_SANDBOX", "1"),
        // The tools are offered at once, not behind a search for them.
        ("ENABLE_TOOL_SEARCH", "false"),
        // Ten by default, which are three minutes.
        ("CLAUDE_CODE_MAX_RETRIES", "3"),
        ("MCP_TOOL_TIMEOUT", "300000"),
        // On a busy machine it would go on without the board after a few seconds, and end well.
        ("MCP_TIMEOUT", "120000"),
        ("MCP_CONNECT_TIMEOUT_MS", "120000"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
    ]);
    log_in(&mut launch, assignment);
    Ok(launch)
}

fn log_in(launch: &mut Launch, assignment: &Assignment<'_>) {
    let private = assignment.home().join(".claude");
    launch.set_path("CLAUDE_CONFIG_DIR", &private);
    launch.settings(assignment, &["ANTHROPIC_BASE_URL"]);
    if assignment.variable("CLAUDE_CODE_USE_BEDROCK").is_some() {
        launch.settings(assignment, &["CLAUDE_CODE_USE_BEDROCK", "AWS_REGION", "ANTHROPIC_BEDROCK_BASE_URL"]);
        launch.keys(assignment, &BEDROCK_KEYS);
    } else if launch.keys(assignment, &KEYS).is_empty() {
        let file = ".credentials.json";
        let original = assignment.directory("CLAUDE_CONFIG_DIR", ".claude").join(file);
        launch.login(original, private.join(file));
    }
}

fn mcp_config(url: &str) -> Value {
    json!({ "mcpServers": { SERVER: {
        "type": "http",
        "url": url,
        "headers": { "Authorization": "Bearer ${SAIHAI_TOKEN}" },
        "alwaysLoad": true,
    } } })
}

pub(super) fn read(state: &mut OutputState, event: &Value, now: Timestamp) {
    if let Some(session) = event["session_id"].as_str() {
        state.session = Some(session.to_owned());
    }
    match (event["type"].as_str(), event["subtype"].as_str()) {
        (Some("system"), Some("api_retry")) => {
            let delay = event["retry_delay_ms"].as_i64().map(|delay| now + Span(delay));
            state.waiting = failure(state, event, &event["error_status"], delay, now);
        }
        (Some("rate_limit_event"), _) if event["rate_limit_info"]["status"] == "rejected" => {
            state.reset = reset::epoch(&event["rate_limit_info"]["resetsAt"]);
        }
        (Some("assistant"), _) if event["error"].is_string() => {
            state.waiting = failure(state, event, &event["api_error_status"], None, now);
        }
        (Some("assistant"), _) => {
            add_message(state, &event["message"]);
            state.recovered();
        }
        (Some("user"), _) => state.recovered(),
        (Some("result"), _) => {
            state.usage = Some(usage(event));
            match event["is_error"].as_bool() {
                Some(true) => {
                    let last = state.waiting.take();
                    state.failed = failure(state, event, &event["api_error_status"], None, now).or(last);
                }
                Some(false) | None => state.recovered(),
            }
        }
        _ => {}
    }
}

/// By the status of the answer, or by its own word where there was no answer.
fn failure(
    state: &OutputState,
    event: &Value,
    status: &Value,
    delay: Option<Timestamp>,
    now: Timestamp,
) -> Option<VendorFailure> {
    let until = state.reset.or(delay);
    let refusal = status.as_u64().and_then(|status| VendorRefusal::of_status(status, until));
    let refusal = refusal.or_else(|| match event["error"].as_str()? {
        "authentication_failed" => Some(VendorRefusal::LoggedOut),
        "rate_limit" => Some(VendorRefusal::RateLimited(until)),
        "overloaded" | "server_error" => Some(VendorRefusal::Unavailable),
        _ => None,
    });
    let said = event["result"].as_str().or_else(|| event["message"]["content"][0]["text"].as_str());
    Some(VendorFailure::new(refusal?, said.unwrap_or_default(), now))
}

/// Adds what a message used, until the result tells the whole.
fn add_message(state: &mut OutputState, message: &Value) {
    let Some(id) = message["id"].as_str().filter(|id| state.counted_message.as_deref() != Some(*id)) else { return };
    state.counted_message = Some(id.to_owned());
    state.add_usage(usage_of_answer(&message["usage"], None));
}

fn usage_of_answer(usage: &Value, cost_micros: Option<u64>) -> Usage {
    let input = ["input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens"];
    let input_tokens = input.iter().map(|field| tokens(&usage[*field])).sum();
    Usage { input_tokens, output_tokens: tokens(&usage["output_tokens"]), cost_micros }
}

/// Of all models and helpers, where that is told.
fn usage(result: &Value) -> Usage {
    let cost_micros = micros(&result["total_cost_usd"]);
    match result["modelUsage"].as_object().filter(|models| !models.is_empty()) {
        Some(models) => {
            let sum = |fields: &[&str]| -> u64 {
                models.values().flat_map(|model| fields.iter().map(|field| tokens(&model[*field]))).sum()
            };
            let input_tokens = sum(&["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"]);
            Usage { input_tokens, output_tokens: sum(&["outputTokens"]), cost_micros }
        }
        None => usage_of_answer(&result["usage"], cost_micros),
    }
}
