//! What do the scripted agents of the demo do? They are real processes that speak real MCP and make
//! real commits; only their ideas are written down beforehand.

use std::process::{Command, ExitCode};
use std::time::Duration;

use serde_json::{Value, json};

use super::mcp::{CallError, Client};
use super::scene::{PARTS, Part};

#[derive(Debug, thiserror::Error)]
enum Stuck {
    #[error(transparent)]
    Call(#[from] CallError),
    #[error("{0}")]
    Io(#[from] std::io::Error),
    #[error("there is no script for `{0}`")]
    NoScript(String),
}

/// Plays an agent until it is told to log out. It thinks for so many milliseconds before it acts, so
/// that people can follow.
pub(crate) fn play(name: &str, thinking: &str) -> ExitCode {
    let thinking = Duration::from_millis(thinking.parse().unwrap_or(0));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let played = runtime.map_err(Stuck::from).and_then(|runtime| runtime.block_on(obey(name, thinking)));
    match played {
        Ok(()) => ExitCode::SUCCESS,
        Err(stuck) => {
            eprintln!("{name}: {stuck}");
            ExitCode::FAILURE
        }
    }
}

/// The whole control part of a guided agent's prompt: ask, do what you are told, ask again.
async fn obey(name: &str, thinking: Duration) -> Result<(), Stuck> {
    let mut client = Client::from_environment()?;
    client.call("authenticate", json!({})).await?;
    let mut sent_back = false;
    loop {
        let answer = client.call("get_next_action", json!({})).await?;
        let action = answer["action"].as_str().unwrap_or_default();
        println!("{name}: told to {action}: {}", answer["instruction"].as_str().unwrap_or_default());
        tokio::time::sleep(thinking).await;
        match action {
            "report_model" => {
                client.call("report_model", json!({ "provider": "saihai", "model_id": "scripted" })).await?;
            }
            "get_task" => {
                let mine = client.call("get_my_task", json!({})).await?;
                sent_back = mine["task"]["feedback"].is_string();
            }
            "get_pending_messages" => chat(&mut client, name).await?,
            // The question itself waits for one.
            "wait_for_messages" => {}
            "logout" | "stop" | "wait" => {
                client.call("logout", json!({})).await?;
                return Ok(());
            }
            _ if name == "lead" => lead(&mut client, action).await?,
            _ => {
                let part = PARTS.iter().find(|part| part.agent == name);
                let part = part.ok_or_else(|| Stuck::NoScript(name.to_owned()))?;
                work(&mut client, part, action, &answer, sent_back).await?;
            }
        }
    }
}

/// Answers what the owner says, as well as somebody can who only has a script.
async fn chat(client: &mut Client, name: &str) -> Result<(), Stuck> {
    let pending = client.call("get_pending_messages", json!({})).await?;
    for message in pending["pending_messages"].as_array().cloned().unwrap_or_default() {
        let said = message["content"].as_str().unwrap_or_default();
        let content = format!("You said: {said}\nI am {name}, a scripted agent of the demo: I can answer, not think.");
        client.call("send_message", json!({ "to": "owner", "content": content })).await?;
    }
    Ok(())
}

/// The manager splits, hands out, and waits.
async fn lead(client: &mut Client, action: &str) -> Result<(), Stuck> {
    match action {
        "create_subtasks" => {
            let tasks: Vec<_> = PARTS
                .iter()
                .map(|part| json!({ "local_id": part.agent, "title": part.title, "description": part.description }))
                .collect();
            client.call("create_tasks_batch", json!({ "tasks": tasks })).await?;
        }
        "situational_awareness" => {
            let waiting = unstarted(client).await?.is_empty();
            let choice = if waiting { "wait" } else { "start" };
            client.call("select_action", json!({ "action": choice })).await?;
        }
        "start" => {
            for (task, title) in unstarted(client).await? {
                let part = PARTS.iter().find(|part| part.title == title);
                let assignee = part.map(|part| part.agent);
                client.call("assign_task", json!({ "task_id": task, "assignee_id": assignee })).await?;
                client.call("update_task_status", json!({ "task_id": task, "status": "in_progress" })).await?;
            }
        }
        "report_completion" => report(client, "greet speaks four languages.").await?,
        other => return Err(Stuck::NoScript(other.to_owned())),
    }
    Ok(())
}

async fn unstarted(client: &mut Client) -> Result<Vec<(String, String)>, Stuck> {
    let listed = client.call("list_tasks", json!({})).await?;
    let tasks = listed["tasks"].as_array().cloned().unwrap_or_default();
    let open = tasks.iter().filter(|task| matches!(task["status"].as_str(), Some("backlog" | "todo")));
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Ok(open.map(|task| (text(&task["id"]), text(&task["title"]))).collect())
}

async fn work(client: &mut Client, part: &Part, action: &str, answer: &Value, again: bool) -> Result<(), Stuck> {
    let step = &answer["subtask"]["id"];
    match action {
        "create_subtasks" => {
            let step = |id: &str, title: &str| json!({ "local_id": id, "title": title, "description": title });
            let tasks = [step("find", "Find the word"), step("write", "Write it down")];
            client.call("create_tasks_batch", json!({ "tasks": tasks })).await?;
        }
        "start_subtask" => {
            client.call("update_task_status", json!({ "task_id": step, "status": "in_progress" })).await?;
        }
        "execute_subtask" => {
            if answer["subtask"]["title"] == "Write it down" {
                write(part, false)?;
            }
            client.call("update_task_status", json!({ "task_id": step, "status": "done" })).await?;
        }
        "work" => {
            match part.agent {
                // She says that she is finished, and has done nothing.
                "aiko" if !again => {}
                "chloe" if !again => {
                    // Her line in the README is written beside aiko's, which she has not seen.
                    wait_for(client, PARTS[0].title).await?;
                    write(part, false)?;
                }
                // It may also have been sent back with nothing of hers left.
                "chloe" => {
                    resolve()?;
                    write(part, again)?;
                }
                _ => write(part, again)?,
            }
            report(client, &format!("{}: done, it works.", part.title)).await?;
        }
        "report_completion" => report(client, &format!("{}: every step is done.", part.title)).await?,
        other => return Err(Stuck::NoScript(other.to_owned())),
    }
    Ok(())
}

async fn report(client: &mut Client, summary: &str) -> Result<(), Stuck> {
    client.call("report_completed", json!({ "result": "success", "summary": summary })).await?;
    Ok(())
}

/// Writes the greeting and commits it. Bernd forgets the exclamation mark at first.
fn write(part: &Part, again: bool) -> Result<(), Stuck> {
    let greeting = match part.agent {
        "bernd" if !again => part.greeting.trim_end_matches('!'),
        _ => part.greeting,
    };
    std::fs::write(part.file, format!("{greeting}\n"))?;
    if !part.listed.is_empty() {
        let readme = std::fs::read_to_string("README.md")?;
        if !readme.contains(part.listed) {
            std::fs::write("README.md", format!("{readme}{}\n", part.listed))?;
        }
    }
    commit(part.title)
}

/// Keeps both sides of every conflict that the merge of the target has left.
fn resolve() -> Result<(), Stuck> {
    let readme = std::fs::read_to_string("README.md")?;
    let marker = |line: &&str| !["<<<<<<<", "=======", ">>>>>>>"].iter().any(|mark| line.starts_with(mark));
    let kept: Vec<_> = readme.lines().filter(marker).collect();
    std::fs::write("README.md", kept.join("\n") + "\n")?;
    commit("Both languages are listed")
}

fn commit(message: &str) -> Result<(), Stuck> {
    for arguments in [&["add", "--all"][..], &["commit", "--quiet", "--message", message]] {
        Command::new("git").args(arguments).status()?;
    }
    Ok(())
}

/// Waits until a task of a colleague is done, as long as that may take.
async fn wait_for(client: &mut Client, title: &str) -> Result<(), Stuck> {
    loop {
        let listed = client.call("list_tasks", json!({ "status": "done" })).await?;
        let done = listed["tasks"].as_array().is_some_and(|tasks| tasks.iter().any(|task| task["title"] == title));
        if done {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(250)).await;
    }
}
