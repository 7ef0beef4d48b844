//! How is a program of the user's own run as an agent?

use std::path::{Path, PathBuf};

use super::program::{self, is_executable, on_path};
use super::{Assignment, CannotLaunch, Launch};

/// Linux takes no longer argument.
const LONGEST_ARGUMENT: usize = 128 * 1024 - 1;

pub(super) fn launch(assignment: &Assignment<'_>) -> Result<Launch, CannotLaunch> {
    let Some((program, arguments)) = assignment.spec.command.split_first() else {
        return Err(CannotLaunch {
            problem: format!("Agent `{}` has the client `command`, but no command", assignment.spec.id),
            hint: "Name the program and its arguments in its definition: command: [my-agent, \"{prompt_file}\"]".into(),
        });
    };
    let mut launch = program::launch(find(assignment, program)?);
    let prompt_file = launch.prompt(assignment);
    launch.arguments = arguments.iter().map(|argument| filled(argument, assignment, &prompt_file)).collect();
    if launch.arguments.iter().any(|argument| argument.len() > LONGEST_ARGUMENT) {
        return Err(CannotLaunch {
            problem: "The prompt is too long for an argument".into(),
            hint: "Use {prompt_file} in the agent's command instead of {prompt}".into(),
        });
    }
    // Programs are looked for; other files of the user's that the command names are opened one by one (R14).
    let named = arguments.iter().map(|argument| assignment.workspace.join(argument));
    launch.readable = named.filter(|path| path.is_file() && !path.starts_with(assignment.workspace)).collect();
    let takes = |name: &str| arguments.iter().any(|argument| argument.contains(name));
    if !takes("{prompt}") && !takes("{prompt_file}") {
        launch.stdin = Some(prompt_file);
    }
    Ok(launch)
}

fn find(assignment: &Assignment<'_>, program: &str) -> Result<PathBuf, CannotLaunch> {
    if !program.contains('/') {
        return on_path(assignment, program).ok_or_else(|| CannotLaunch {
            problem: format!("There is no `{program}` on the PATH"),
            hint: "Install it, or set PATH to where it is".into(),
        });
    }
    let path = assignment.workspace.join(program);
    if is_executable(&path) {
        return Ok(path);
    }
    Err(CannotLaunch {
        problem: format!("There is no program {}", path.display()),
        hint: "The agent's command is found from the top of the repository; is it committed, and executable?".into(),
    })
}

/// What is put in is not looked through again, so nothing in a prompt can stand for something else.
fn filled(argument: &str, assignment: &Assignment<'_>, prompt_file: &Path) -> String {
    let mut filled = String::with_capacity(argument.len());
    let mut rest = argument;
    while let Some(start) = rest.find('{') {
        filled.push_str(&rest[..start]);
        rest = &rest[start..];
        let end = rest.find('}');
        let value = end.and_then(|end| value(&rest[1..end], assignment, prompt_file));
        match (value, end) {
            (Some(value), Some(end)) => {
                filled.push_str(&value);
                rest = &rest[end + 1..];
            }
            (None, _) | (_, None) => {
                filled.push('{');
                rest = &rest[1..];
            }
        }
    }
    filled + rest
}

fn value(name: &str, assignment: &Assignment<'_>, prompt_file: &Path) -> Option<String> {
    match name {
        "prompt_file" => Some(prompt_file.display().to_string()),
        "prompt" => Some(assignment.prompt.to_owned()),
        "workspace" => Some(assignment.workspace.display().to_string()),
        "model" => Some(assignment.spec.model.clone().unwrap_or_default()),
        "mcp_url" => Some(assignment.mcp_url.unwrap_or_default().to_owned()),
        "agent" => Some(assignment.spec.id.to_string()),
        _ => None,
    }
}
