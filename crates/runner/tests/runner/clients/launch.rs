//! How each vendor's client is started.

use board::Client;

use super::test_user::{MCP_URL, PROMPT, TestUser, VENDORS, file, texts};

/// R5: these arguments were tried with the real clients.
#[test]
fn each_client_is_started_headless_with_its_model() {
    let cases: [(Client, &[&str]); 4] = [
        (
            Client::ClaudeCode,
            &[
                "-p",
                "--output-format",
                "stream-json",
                "--verbose",
                "--setting-sources",
                "project",
                "--dangerously-skip-permissions",
                "--strict-mcp-config",
                "--mcp-config",
                "/run/mcp.json",
                "--model",
                "m-1",
            ],
        ),
        (
            Client::Codex,
            &[
                "exec",
                "--json",
                "--skip-git-repo-check",
                "--dangerously-bypass-approvals-and-sandbox",
                "-C",
                "/workspace",
                "-m",
                "m-1",
                "-c",
                "mcp_servers.saihai={url=\"http://127.0.0.1:7777/mcp\",\
                 bearer_token_env_var=\"SAIHAI_TOKEN\",required=true}",
                "-",
            ],
        ),
        (
            Client::Gemini,
            &["-o", "stream-json", "--approval-mode", "yolo", "--allowed-mcp-server-names", "saihai", "-m", "m-1"],
        ),
        (Client::Opencode, &["run", "--format", "json", "--pure", "--auto"]),
    ];
    for (client, arguments) in cases {
        let mut test_user = TestUser::new(client);
        test_user.spec.model = Some("m-1".into());
        assert_eq!(test_user.arguments(), arguments);
    }
}

/// F45, S3, F35: neither the prompt nor a key nor the credential is where `ps` shows it.
#[test]
fn the_prompt_comes_by_stdin_and_no_secret_is_an_argument() {
    for (client, _) in VENDORS {
        let mut test_user = TestUser::new(client);
        for key in ["ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY"] {
            test_user.set_for_user(key, "a-very-secret-key");
        }
        test_user.set_for_user("OPENAI_BASE_URL", "http://127.0.0.1:7200/v1");
        let launch = test_user.launch();
        let stdin = launch.stdin.clone().unwrap();
        assert_eq!((stdin.clone(), file(&launch, &stdin)), (test_user.path("run/prompt.md"), PROMPT.to_owned()));
        let shown = launch.arguments.join(" ");
        assert!(!shown.contains("obey") && !shown.contains("a-very-secret-key"), "{shown}");
        assert!(launch.secrets.contains(&"a-very-secret-key".to_owned()), "{client:?}");
        assert!(launch.env.values().all(|value| !value.contains("obey")));
    }
}

/// S3: the configuration names the variable that holds the credential.
#[test]
fn the_credential_is_a_variable_in_every_configuration() {
    for (client, named) in [
        (Client::ClaudeCode, "Bearer ${SAIHAI_TOKEN}"),
        (Client::Codex, "bearer_token_env_var=\"SAIHAI_TOKEN\""),
        (Client::Gemini, "Bearer $SAIHAI_TOKEN"),
        (Client::Opencode, "Bearer {env:SAIHAI_TOKEN}"),
    ] {
        let launch = TestUser::new(client).launch();
        let config = texts(&launch).into_iter().find(|text| text.contains(MCP_URL)).unwrap();
        assert!(config.contains(named), "{config}");
    }
}

/// R5: an agent that runs once has no server to talk to, and the project's servers are not for it.
#[test]
fn a_one_shot_agent_gets_no_server() {
    for (client, _) in VENDORS {
        let mut test_user = TestUser::new(client);
        test_user.mcp_url = None;
        let launch = test_user.launch();
        assert!(texts(&launch).iter().all(|text| !text.contains("SAIHAI_TOKEN")), "{launch:?}");
        assert!(client != Client::ClaudeCode || launch.arguments.contains(&"--strict-mcp-config".to_owned()));
    }
}

/// F46: what a client sets for the programs that it starts is not passed on to another client.
#[test]
fn the_marks_of_a_surrounding_client_do_not_leak() {
    let marks = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CODEX_SANDBOX", "CODEX_THREAD_ID", "GEMINI_CLI", "OPENCODE"];
    for (client, _) in VENDORS {
        let mut test_user = TestUser::new(client);
        for mark in marks {
            test_user.set_for_user(mark, "1");
        }
        let launch = test_user.launch();
        assert!(marks.iter().all(|mark| !launch.env.contains_key(*mark)), "{:?}", launch.env);
    }
}

/// R5: what a client keeps, it keeps in the session's own directory; F47: and it is asked nothing.
#[test]
fn everything_a_client_writes_is_private_to_the_session() {
    for (client, variables) in [
        (Client::ClaudeCode, &["CLAUDE_CONFIG_DIR"][..]),
        (Client::Codex, &["CODEX_HOME"]),
        (Client::Gemini, &["GEMINI_CLI_HOME"]),
        (Client::Opencode, &["XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"]),
    ] {
        let mut test_user = TestUser::new(client);
        for variable in variables {
            test_user.set_for_user(variable, "/home/user/elsewhere");
        }
        let (launch, run) = (test_user.launch(), test_user.path("run"));
        for variable in variables {
            assert!(launch.env[*variable].starts_with(run.to_str().unwrap()), "{variable}");
        }
        assert!(launch.files.iter().all(|(path, _)| path.starts_with(&run)), "{:?}", launch.files);
    }
}

/// R5: who has not installed a client is told what to do.
#[test]
fn a_missing_client_is_named_with_its_package() {
    for (client, program) in VENDORS {
        let mut test_user = TestUser::new(client);
        test_user.set_for_user("PATH", "/nonexistent:relative");
        let said = test_user.try_launch().unwrap_err().to_string();
        assert!(said.contains(&format!("no `{program}` on the PATH")) && said.contains("npm install -g"), "{said}");
    }
}

/// R5: signals reach the program itself, not npm's launcher in front of it.
#[cfg(all(target_os = "linux", target_arch = "x86_64"))]
#[test]
fn codex_is_started_without_its_launcher() {
    let native = "codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex";
    for place in ["lib/node_modules/@openai", "lib/node_modules/@openai/codex/node_modules/@openai"] {
        let mut test_user = TestUser::new(Client::Codex);
        let native = test_user.program(&format!("{place}/{native}"), "");
        test_user.program("lib/node_modules/@openai/codex/bin/codex.js", "#!/usr/bin/env node\n");
        let link = test_user.path("npm/codex");
        std::fs::create_dir(link.parent().unwrap()).unwrap();
        std::os::unix::fs::symlink(test_user.path("lib/node_modules/@openai/codex/bin/codex.js"), &link).unwrap();
        let npm = test_user.path("npm").display().to_string();
        test_user.set_for_agent("PATH", &npm);
        let launch = test_user.launch();
        assert_eq!(launch.program, native);
    }
}
