//! How a program of the user's own is started.

use board::Client;

use super::test_user::{MCP_URL, PROMPT, TestUser, file};

fn test_user(command: &[&str]) -> TestUser {
    let mut test_user = TestUser::new(Client::Command);
    test_user.spec.command = command.iter().map(|&word| word.to_owned()).collect();
    test_user.program("bin/my-agent", "");
    test_user
}

/// R5: the words in braces are filled in, and nothing that was put in is looked through again.
#[test]
fn the_template_is_filled_in() {
    let template = ["my-agent", "{prompt}", "-f={prompt_file}", "{workspace}:{model}", "{mcp_url}", "{agent}"];
    let mut test_user = test_user(&template);
    test_user.spec.model = Some("m-1".into());
    assert_eq!(test_user.arguments(), [PROMPT, "-f=/run/prompt.md", "/workspace:m-1", MCP_URL, "coder"]);
    let launch = test_user.launch();
    assert_eq!((launch.program, launch.stdin), (test_user.path("bin/my-agent"), None));
}

/// R5: what is not known is the program's own.
#[test]
fn unknown_words_in_braces_are_left_alone() {
    let arguments = ["{secret}", "{", "}{", "{{agent}}", "{\"json\": {}}", "{model"];
    let test_user = test_user(&[&["my-agent"], &arguments[..]].concat());
    assert_eq!(test_user.arguments(), ["{secret}", "{", "}{", "{coder}", "{\"json\": {}}", "{model"]);
}

/// R5, F45: a program that does not ask for the prompt reads it.
#[test]
fn without_a_place_for_it_the_prompt_comes_by_stdin() {
    let test_user = test_user(&["my-agent", "--model", "{model}"]);
    let launch = test_user.launch();
    assert_eq!(launch.stdin, Some(test_user.path("run/prompt.md")));
    assert_eq!(file(&launch, &test_user.path("run/prompt.md")), PROMPT);
}

/// F45: no argument is longer than 128 KiB.
#[test]
fn a_prompt_too_long_for_an_argument_is_refused() {
    let mut test_user = test_user(&["my-agent", "{prompt}"]);
    test_user.prompt = "x".repeat(128 * 1024 - 1);
    assert!(test_user.try_launch().is_ok());
    test_user.prompt.push('x');
    assert!(test_user.try_launch().unwrap_err().hint.contains("{prompt_file}"));
}

/// R5: a program of the repository is found in the workspace, any other on the PATH.
#[test]
fn programs_are_found_where_they_are_meant() {
    let found = test_user(&["scripts/agent"]);
    let program = found.program("workspace/scripts/agent", "");
    assert_eq!(found.launch().program, program);
    for (command, named) in
        [(&["scripts/agent"][..], "workspace/scripts/agent"), (&["another"], "`another`"), (&[], "no command")]
    {
        let said = test_user(command).try_launch().unwrap_err().to_string();
        assert!(said.contains(named), "{said}");
    }
    // The agent's own PATH goes before the user's.
    let mut own = test_user(&["my-agent"]);
    let program = own.program("own/my-agent", "");
    let path = own.path("own").display().to_string();
    own.set_for_agent("PATH", &path);
    assert_eq!(own.launch().program, program);
}
