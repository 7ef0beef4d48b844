//! Which login a client is given.

use board::Client;
use serde_json::{Value, json};

use super::test_user::{TestUser, file, texts};

/// R5: the login of the client's vendor is copied, and its secrets are known for the log's sake (S4).
#[test]
fn the_users_own_login_is_handed_over() {
    let token = "a-token-of-the-user";
    for (client, original, copy, login) in [
        (
            Client::ClaudeCode,
            "user/.claude/.credentials.json",
            "run/home/.claude/.credentials.json",
            json!({ "claudeAiOauth": { "accessToken": token, "expiresAt": 1, "subscriptionType": "max-of-all" } }),
        ),
        (
            Client::Codex,
            "user/.codex/auth.json",
            "run/home/.codex/auth.json",
            json!({ "tokens": { "access_token": token }, "last_refresh": "2026-11-16T02:26:18Z" }),
        ),
        (
            Client::Gemini,
            "user/.gemini/oauth_creds.json",
            "run/home/.gemini/oauth_creds.json",
            json!({ "refresh_token": token, "scope": "https://www.googleapis.com/auth/cloud-platform" }),
        ),
        (
            Client::Opencode,
            "user/.local/share/opencode/auth.json",
            "run/home/.local/share/opencode/auth.json",
            json!({ "anthropic": { "type": "oauth", "refresh": token, "expires": 1 } }),
        ),
    ] {
        let test_user = TestUser::new(client);
        let original = test_user.write(original, &login.to_string());
        let launch = test_user.launch();
        assert_eq!(file(&launch, &test_user.path(copy)), login.to_string());
        assert_eq!((launch.secrets, launch.logins), (vec![token.to_owned()], vec![(test_user.path(copy), original)]));
    }
}

/// R5: the agent's own key is used alone: neither the user's login nor another of the user's keys
/// comes with it.
#[test]
fn an_agent_with_a_key_of_its_own_gets_no_other_login() {
    let mut test_user = TestUser::new(Client::ClaudeCode);
    test_user.write("user/.claude/.credentials.json", "{}");
    test_user.set_for_user("ANTHROPIC_AUTH_TOKEN", "the-users");
    test_user.set_for_user("ANTHROPIC_BASE_URL", "http://proxy");
    test_user.set_for_agent("ANTHROPIC_API_KEY", "the-agents");
    let launch = test_user.launch();
    assert_eq!((launch.secrets, launch.logins), (vec!["the-agents".to_owned()], vec![]));
    assert_eq!(launch.env.get("ANTHROPIC_AUTH_TOKEN"), None);
    assert_eq!(launch.env["ANTHROPIC_BASE_URL"], "http://proxy");
    // Set to nothing, it hides the user's, so that the login counts again.
    test_user.set_for_agent("ANTHROPIC_API_KEY", "");
    assert_eq!(test_user.launch().logins.len(), 1);
}

/// R5: a login is found where the user has moved it.
#[test]
fn a_moved_login_is_found() {
    let mut test_user = TestUser::new(Client::ClaudeCode);
    let moved = test_user.write("elsewhere/.credentials.json", "{}");
    let elsewhere = test_user.path("elsewhere").display().to_string();
    test_user.set_for_user("CLAUDE_CONFIG_DIR", &elsewhere);
    assert_eq!(test_user.launch().logins, [(test_user.path("run/home/.claude/.credentials.json"), moved)]);
}

/// R5: opencode keeps the logins of all vendors in one file, and an agent needs one of them.
#[test]
fn opencode_gets_the_login_of_the_models_vendor_alone() {
    let mut test_user = TestUser::new(Client::Opencode);
    test_user.spec.model = Some("anthropic/claude-sonnet-4-5".into());
    test_user.set_for_user("OPENAI_API_KEY", "of-another-vendor");
    test_user.set_for_user("OPENAI_BASE_URL", "http://of-another-vendor");
    let logins = json!({ "anthropic": { "key": "of-this-vendor" }, "openai": { "key": "of-another-vendor" } });
    test_user.write("user/.local/share/opencode/auth.json", &logins.to_string());
    let launch = test_user.launch();
    assert!(texts(&launch).iter().all(|text| !text.contains("of-another-vendor")));
    // A part cannot take the place of the whole.
    assert_eq!((launch.secrets, launch.logins), (vec!["of-this-vendor".to_owned()], vec![]));
    let config: Value = serde_json::from_str(&launch.env["OPENCODE_CONFIG_CONTENT"]).unwrap();
    assert_eq!(config["model"], "anthropic/claude-sonnet-4-5");
}

/// R5: `codex exec` reads its key from a variable of its own.
#[test]
fn codex_gets_a_key_under_the_name_that_it_reads() {
    let mut test_user = TestUser::new(Client::Codex);
    test_user.set_for_user("OPENAI_API_KEY", "the-users");
    assert_eq!(test_user.launch().env["CODEX_API_KEY"], "the-users");
    test_user.set_for_user("CODEX_API_KEY", "the-better");
    assert_eq!(test_user.launch().env["CODEX_API_KEY"], "the-better");
}

/// S4: whatever is printed about a launch that failed, it is no secret.
#[test]
fn nothing_secret_is_in_debug_output() {
    let mut test_user = TestUser::new(Client::ClaudeCode);
    test_user.set_for_user("ANTHROPIC_API_KEY", "the-users");
    let shown = format!("{:?} {:?}", test_user.user, test_user.launch());
    assert!(shown.contains("ANTHROPIC_API_KEY") && !shown.contains("the-users") && !shown.contains("obey"), "{shown}");
}

/// R5: whoever asks a model through a server of their own can do so with every client.
#[test]
fn a_server_of_the_users_own_is_asked_instead_of_the_vendor() {
    let mut codex = TestUser::new(Client::Codex);
    let mut opencode = TestUser::new(Client::Opencode);
    for test_user in [&mut codex, &mut opencode] {
        test_user.set_for_user("OPENAI_API_KEY", "the-users");
        test_user.set_for_user("OPENAI_BASE_URL", "http://proxy/v1");
        test_user.spec.model = Some("openai/gpt-x".into());
    }
    let arguments = codex.arguments();
    let provider = "model_providers.proxy={name=\"proxy\",base_url=\"http://proxy/v1\",wire_api=\"responses\",\
                    env_key=\"OPENAI_API_KEY\"}";
    assert!(arguments.windows(2).any(|pair| pair == ["-c", provider]), "{arguments:?}");
    let config: Value = serde_json::from_str(&opencode.launch().env["OPENCODE_CONFIG_CONTENT"]).unwrap();
    assert_eq!(config["model"], "proxy/gpt-x");
    assert_eq!(
        config["provider"]["proxy"]["options"],
        json!({ "baseURL": "http://proxy/v1", "apiKey": "{env:OPENAI_API_KEY}" })
    );
}

/// R5: Gemini is told how to log in, or it would ask (F47).
#[test]
fn gemini_is_told_how_to_log_in() {
    let method = |variables: &[(&str, &str)], login: Option<&str>| {
        let mut test_user = TestUser::new(Client::Gemini);
        for (name, value) in variables {
            test_user.set_for_user(name, value);
        }
        login.map(|login| test_user.write(login, "{}"));
        let settings = file(&test_user.launch(), &test_user.path("run/home/.gemini/settings.json"));
        let settings: Value = serde_json::from_str(&settings).unwrap();
        settings["security"]["auth"]["selectedType"].as_str().unwrap().to_owned()
    };
    let login = Some("user/.gemini/oauth_creds.json");
    assert_eq!(method(&[("GEMINI_API_KEY", "k")], login), "gemini-api-key");
    assert_eq!(method(&[("GOOGLE_API_KEY", "k"), ("GOOGLE_GENAI_USE_VERTEXAI", "true")], login), "vertex-ai");
    assert_eq!(method(&[], login), "oauth-personal");
    assert_eq!(method(&[], None), "gemini-api-key");
}
