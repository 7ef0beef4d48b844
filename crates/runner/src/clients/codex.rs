//! How is Codex run, and what does it tell?

use std::path::{Path, PathBuf};

use board::{Timestamp, Usage};
use serde_json::Value;

use super::program::{self, VendorProgram};
use super::reader::{OutputState, tokens};
use super::vendor::{VendorFailure, VendorRefusal};
use super::{Assignment, CannotLaunch, Launch, SERVER, reset};

pub(super) const VENDOR: VendorProgram = VendorProgram { name: "Codex", program: "codex", package: "@openai/codex" };

pub(super) fn launch(assignment: &Assignment<'_>) -> Result<Launch, CannotLaunch> {
    let found = VENDOR.find(assignment)?;
    let mut launch = program::launch(native(&found).unwrap_or(found));
    launch.ends_on_sigint = true;
    launch.stdin = Some(launch.prompt(assignment));
    // Its own sandbox does not nest in ours.
    launch.arguments(["exec", "--json", "--skip-git-repo-check", "--dangerously-bypass-approvals-and-sandbox"]);
    launch.arguments(["-C", &assignment.workspace.display().to_string()]);
    if let Some(model) = &assignment.spec.model {
        launch.arguments(["-m", model]);
    }
    if let Some(url) = assignment.mcp_url {
        let url = quoted(url);
        // If it is not required, Codex goes on without it and ends well.
        launch.arguments([
            "-c",
            &format!("mcp_servers.{SERVER}={{url={url},bearer_token_env_var=\"SAIHAI_TOKEN\",required=true}}"),
        ]);
    }
    log_in(&mut launch, assignment);
    launch.arguments(["-"]);
    Ok(launch)
}

fn log_in(launch: &mut Launch, assignment: &Assignment<'_>) {
    let private = assignment.home().join(".codex");
    launch.set_path("CODEX_HOME", &private);
    // Neither is anything that it needs, and both call servers of the vendor.
    let config = "[analytics]\nenabled = false\n\n[features]\nplugins = false\n";
    launch.files.push((private.join("config.toml"), config.into()));
    let keys = launch.keys(assignment, &["OPENAI_API_KEY", "CODEX_API_KEY"]);
    if let Some(base_url) = assignment.variable("OPENAI_BASE_URL") {
        launch.arguments(["-c", "model_provider=\"proxy\"", "-c", &provider(base_url, keys.first().copied())]);
    } else if let Some(key) = keys.first().and_then(|name| launch.env.get(*name)).cloned() {
        // The only one that `exec` reads.
        launch.env.entry("CODEX_API_KEY".to_owned()).or_insert(key);
    } else {
        let file = "auth.json";
        launch.login(assignment.directory("CODEX_HOME", ".codex").join(file), private.join(file));
    }
}

/// A server that speaks as OpenAI does.
fn provider(base_url: &str, key: Option<&str>) -> String {
    let base_url = quoted(base_url);
    let key = key.map_or(String::new(), |name| format!(",env_key=\"{name}\""));
    format!("model_providers.proxy={{name=\"proxy\",base_url={base_url},wire_api=\"responses\"{key}}}")
}

/// As TOML writes a string, which is as JSON does.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// The program itself, where npm's launcher was found: one process fewer, and signals reach it.
fn native(launcher: &Path) -> Option<PathBuf> {
    let launcher = launcher.canonicalize().ok()?;
    let (package, triple) = match (std::env::consts::OS, std::env::consts::ARCH) {
        ("linux", "x86_64") => ("codex-linux-x64", "x86_64-unknown-linux-musl"),
        ("linux", "aarch64") => ("codex-linux-arm64", "aarch64-unknown-linux-musl"),
        ("macos", "x86_64") => ("codex-darwin-x64", "x86_64-apple-darwin"),
        ("macos", "aarch64") => ("codex-darwin-arm64", "aarch64-apple-darwin"),
        _ => return None,
    };
    // PACKAGE/bin/codex.js; its dependency lies inside or beside it.
    let launchers = launcher.ancestors().nth(2)?;
    let inside = launchers.join("node_modules/@openai").join(package);
    let beside = launchers.parent()?.join(package);
    let program = |package: PathBuf| package.join("vendor").join(triple).join("bin/codex");
    [inside, beside].into_iter().map(program).find(|path| program::is_executable(path))
}

pub(super) fn read(state: &mut OutputState, event: &Value, now: Timestamp) {
    match event["type"].as_str() {
        Some("thread.started") => state.session = event["thread_id"].as_str().map(str::to_owned),
        Some("error") => state.waiting = failure(&event["message"], now),
        Some("turn.failed") => state.failed = failure(&event["error"]["message"], now),
        Some("turn.completed") => {
            let usage = &event["usage"];
            // Of the whole thread.
            state.usage = Some(Usage {
                input_tokens: tokens(&usage["input_tokens"]),
                output_tokens: tokens(&usage["output_tokens"]),
                cost_micros: None,
            });
            state.recovered();
        }
        Some("item.started" | "item.updated" | "item.completed") if event["item"]["type"] != "error" => {
            state.recovered()
        }
        _ => {}
    }
}

/// It tells the vendor's answer in words alone.
fn failure(message: &Value, now: Timestamp) -> Option<VendorFailure> {
    let message = message.as_str()?;
    let until = reset::in_words(message, now);
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| message.contains(phrase));
    let refusal = match status(message).and_then(|status| VendorRefusal::of_status(status, until)) {
        Some(refusal) => refusal,
        None if says(&["usage limit", "rate limit", "Rate limit"]) => VendorRefusal::RateLimited(until),
        None if says(&["high demand", "at capacity", "Connection failed", "stream disconnected"]) => {
            VendorRefusal::Unavailable
        }
        None if says(&["Missing environment variable", "sign in again", "log in again", "codex login"]) => {
            VendorRefusal::LoggedOut
        }
        None => return None,
    };
    Some(VendorFailure::new(refusal, message, now))
}

/// `unexpected status 401 Unauthorized`, `last status: 429 Too Many Requests`.
fn status(message: &str) -> Option<u64> {
    message.split("status").skip(1).find_map(|after| {
        let number = after.trim_start_matches([':', ' ']).get(..3)?;
        number.parse().ok()
    })
}
