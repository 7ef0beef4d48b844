//! How is opencode run, and what does it tell?

use board::{Timestamp, Usage};
use serde_json::{Map, Value, json};

use super::program::{self, VendorProgram};
use super::reader::{OutputState, micros, tokens};
use super::vendor::{VendorFailure, VendorRefusal};
use super::{Assignment, CannotLaunch, Launch, SERVER, reset};

pub(super) const VENDOR: VendorProgram =
    VendorProgram { name: "opencode", program: "opencode", package: "opencode-ai" };

/// The vendors that it knows, and where it looks for their keys.
const VENDORS: [(&str, &[&str]); 9] = [
    ("anthropic", &["ANTHROPIC_API_KEY"]),
    ("openai", &["OPENAI_API_KEY"]),
    ("google", &["GOOGLE_GENERATIVE_AI_API_KEY", "GEMINI_API_KEY", "GOOGLE_API_KEY"]),
    ("openrouter", &["OPENROUTER_API_KEY"]),
    ("groq", &["GROQ_API_KEY"]),
    ("mistral", &["MISTRAL_API_KEY"]),
    ("deepseek", &["DEEPSEEK_API_KEY"]),
    ("xai", &["XAI_API_KEY"]),
    ("opencode", &["OPENCODE_API_KEY"]),
];

/// What a server that speaks as OpenAI does is called in its configuration.
const PROXY: &str = "proxy";

pub(super) fn launch(assignment: &Assignment<'_>) -> Result<Launch, CannotLaunch> {
    let mut launch = program::launch(VENDOR.find(assignment)?);
    launch.stdin = Some(launch.prompt(assignment));
    launch.arguments(["run", "--format", "json", "--pure", "--auto"]);
    launch.set(&[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
    ]);
    let home = assignment.home();
    for (variable, usual) in [
        ("XDG_DATA_HOME", ".local/share"),
        ("XDG_CONFIG_HOME", ".config"),
        ("XDG_CACHE_HOME", ".cache"),
        ("XDG_STATE_HOME", ".local/state"),
    ] {
        launch.set_path(variable, &home.join(usual));
    }
    let mut config = base_config(assignment);
    match proxy(assignment) {
        Some((base_url, model)) => {
            launch.keys(assignment, &["OPENAI_API_KEY"]);
            config.extend(proxy_config(base_url, model));
        }
        None => {
            log_in(&mut launch, assignment);
            config.extend(assignment.spec.model.iter().map(|model| ("model".to_owned(), json!(model))));
        }
    }
    launch.env.insert("OPENCODE_CONFIG_CONTENT".to_owned(), Value::Object(config).to_string());
    Ok(launch)
}

/// The vendor of a model that is named in full: `anthropic/claude-sonnet-4-5`.
fn vendor(model: &str) -> Option<&str> {
    model.split_once('/').map(|(vendor, _)| vendor)
}

/// Where else the model is asked, and its name there; not if it is another vendor's.
fn proxy<'a>(assignment: &Assignment<'a>) -> Option<(&'a str, &'a str)> {
    let base_url = assignment.variable("OPENAI_BASE_URL")?;
    let model = assignment.spec.model.as_deref().unwrap_or("default");
    match vendor(model) {
        Some("openai") => Some((base_url, model.trim_start_matches("openai/"))),
        Some(other) if VENDORS.iter().any(|(known, _)| *known == other) => None,
        Some(_) | None => Some((base_url, model)),
    }
}

fn log_in(launch: &mut Launch, assignment: &Assignment<'_>) {
    let wanted = assignment.spec.model.as_deref().and_then(vendor);
    for (vendor, names) in VENDORS {
        if wanted.is_none_or(|wanted| wanted == vendor) {
            launch.keys(assignment, names);
        }
    }
    let file = "opencode/auth.json";
    let original = assignment.directory("XDG_DATA_HOME", ".local/share").join(file);
    let copy = assignment.home().join(".local/share").join(file);
    let logins = std::fs::read(&original).ok().and_then(|contents| serde_json::from_slice(&contents).ok());
    let Some(mut logins): Option<Map<String, Value>> = logins else { return };
    let all = logins.len();
    logins.retain(|vendor, _| wanted.is_none_or(|wanted| wanted == vendor));
    if logins.len() == all {
        launch.login(original, copy);
    } else {
        launch.login_part(copy, Value::Object(logins).to_string().into());
    }
}

fn base_config(assignment: &Assignment<'_>) -> Map<String, Value> {
    let server = |url| {
        json!({ SERVER: {
            "type": "remote",
            "url": url,
            "oauth": false,
            "headers": { "Authorization": "Bearer {env:SAIHAI_TOKEN}" },
            "enabled": true,
        } })
    };
    let mut config = Map::new();
    config.insert("autoupdate".to_owned(), json!(false));
    config.insert("share".to_owned(), json!("disabled"));
    // It rejects by itself what it would have to ask for (F47).
    config.insert("permission".to_owned(), json!({ "*": "allow" }));
    config.extend(assignment.mcp_url.map(|url| ("mcp".to_owned(), server(url))));
    config
}

fn proxy_config(base_url: &str, model: &str) -> Map<String, Value> {
    let full = format!("{PROXY}/{model}");
    let provider = json!({ PROXY: {
        "npm": "@ai-sdk/openai-compatible",
        "options": { "baseURL": base_url, "apiKey": "{env:OPENAI_API_KEY}" },
        "models": { model: { "limit": { "context": 128_000, "output": 16_000 }, "tool_call": true } },
    } });
    let mut config = Map::new();
    config.insert("model".to_owned(), json!(full));
    config.insert("small_model".to_owned(), json!(full));
    config.insert("enabled_providers".to_owned(), json!([PROXY]));
    config.insert("provider".to_owned(), provider);
    config
}

pub(super) fn read(state: &mut OutputState, event: &Value, now: Timestamp) {
    if let Some(session) = event["sessionID"].as_str() {
        state.session = Some(session.to_owned());
    }
    match event["type"].as_str() {
        Some("step_finish") => {
            let (part, spent) = (&event["part"], &event["part"]["tokens"]);
            let cached = tokens(&spent["cache"]["read"]) + tokens(&spent["cache"]["write"]);
            state.add_usage(Usage {
                input_tokens: tokens(&spent["input"]) + cached,
                output_tokens: tokens(&spent["output"]) + tokens(&spent["reasoning"]),
                cost_micros: micros(&part["cost"]),
            });
            state.recovered();
        }
        Some("step_start" | "text" | "tool_use") => state.recovered(),
        Some("error") => state.failed = failure(&event["error"], now),
        _ => {}
    }
}

fn failure(error: &Value, now: Timestamp) -> Option<VendorFailure> {
    let data = &error["data"];
    let said = data["message"].as_str().unwrap_or_default();
    let until = || reset::in_headers(&data["responseHeaders"], now).or_else(|| reset::in_words(said, now));
    let refusal = match (error["name"].as_str()?, data["statusCode"].as_u64()) {
        ("ProviderAuthError", _) => VendorRefusal::LoggedOut,
        (_, Some(status)) => VendorRefusal::of_status(status, until())?,
        // There was no answer at all.
        ("APIError", None) if data["isRetryable"] == true => VendorRefusal::Unavailable,
        _ => return None,
    };
    Some(VendorFailure::new(refusal, said, now))
}
