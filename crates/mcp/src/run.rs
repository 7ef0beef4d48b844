//! What happens in one call? Who calls is found out, the tool is run if it is theirs, and the call
//! is counted and remembered.

use std::sync::Arc;
use std::time::Instant;

use board::{Fuel, RefusalReason, Tool, calls_left};
use control::{ControlError, Subject, Traced};
use rmcp::model::{CallToolResult, JsonObject};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::McpState;
use crate::answers::refuse;
use crate::call::Call;
use crate::caller::{Caller, CallingSession, Origin};
use crate::catalogue::CATALOGUE;
use crate::refused::refused;
use crate::tool::{Effect, Entry};

/// Runs a call. Whatever is wrong with it is an answer that its caller can read.
pub(crate) async fn run(
    state: &Arc<McpState>,
    origin: Origin,
    name: &str,
    arguments: JsonObject,
    gone: CancellationToken,
) -> CallToolResult {
    // What is no tool is counted as one: its name is the caller's choice.
    let tool = CATALOGUE.find(name).map_or("unknown", |entry| entry.tool.as_str());
    let begun = Instant::now();
    let answered = answer(state, origin, name, arguments, gone).await;
    let outcome = answered.as_ref().map_or_else(|(error, _)| error.label(), |_| "ok");
    metrics::counter!("saihai_mcp_calls_total", "tool" => tool, "outcome" => outcome).increment(1);
    metrics::histogram!("saihai_mcp_call_seconds", "tool" => tool).record(begun.elapsed().as_secs_f64());
    match answered {
        Ok(result) => result,
        Err((error, caller)) => refused(&error, &caller),
    }
}

/// The answer, or what is wrong and to whom it is to be said.
async fn answer(
    state: &Arc<McpState>,
    origin: Origin,
    name: &str,
    mut arguments: JsonObject,
    gone: CancellationToken,
) -> Result<CallToolResult, (ControlError, Arc<Caller>)> {
    let token = match arguments.remove("session_token") {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(token)) => Ok(Some(token)),
        Some(_) => Err(refuse(RefusalReason::BadArguments("`session_token` is a text".into()))),
    };
    let caller = match &token {
        Ok(token) => state.caller(origin.bearer.as_ref(), token.as_deref()).await,
        Err(_) => Ok(Caller::Nobody),
    };
    let (caller, found) = match caller {
        Ok(caller) => (Arc::new(caller), token.map(drop)),
        Err(error) => (Arc::new(Caller::Nobody), Err(error)),
    };
    caller.keep_connection(&origin);
    let about = about(&arguments);
    let project_id = if caller.is_orchestrator() { arguments.remove("project_id") } else { None };
    let call = Call { state: Arc::clone(state), caller: Arc::clone(&caller), bearer: origin.bearer, project_id, gone };
    let outcome = match found.and_then(|()| admitted(name, &caller)) {
        Ok(entry) => (entry.run)(arguments, call).await,
        Err(error) => Err(error),
    };
    if let Caller::Session(session) = &*caller
        && let Err(error) = remember(session, name, about, &outcome).await
    {
        return Err((error, caller));
    }
    outcome.map_err(|error| (error, caller))
}

/// The tool, if there is one and it is the caller's.
fn admitted(name: &str, caller: &Caller) -> Result<&'static Entry, ControlError> {
    let entry = CATALOGUE.find(name).ok_or_else(|| {
        let shown: String = name.chars().take(80).collect();
        refuse(RefusalReason::NoSuchTool(shown))
    })?;
    if let Caller::Session(session) = caller {
        let known = session.session()?;
        if !known.can_call() {
            return Err(refuse(RefusalReason::StaleSession(known.id)));
        }
        // Other calls are commands, and refused by the board.
        if entry.effect == Effect::Read && calls_left(&session.board, known) == 0 {
            return Err(refuse(RefusalReason::FuelSpent(Fuel::Calls)));
        }
    }
    match (entry.admits(caller), caller) {
        (true, _) => Ok(entry),
        (false, Caller::Nobody) => Err(refuse(RefusalReason::NotAuthenticated)),
        (false, Caller::Session(_) | Caller::Token(_)) => Err(refuse(RefusalReason::NotYourTool(entry.tool))),
    }
}

/// What of the arguments is worth remembering: words and ids, never texts or secrets.
fn about(arguments: &JsonObject) -> JsonObject {
    const WORTH: [&str; 6] = ["task_id", "status", "result", "action", "assignee_id", "to"];
    let short = |value: &&Value| value.as_str().is_some_and(|text| text.len() <= 64) || value.is_u64();
    let worth = WORTH.iter().filter_map(|name| Some(((*name).to_owned(), arguments.get(*name).filter(short)?.clone())));
    worth.collect()
}

/// Counts the call if it left no event of its own, and adds it to the trace.
async fn remember(
    session: &CallingSession,
    name: &str,
    about: JsonObject,
    outcome: &Result<CallToolResult, ControlError>,
) -> Result<(), ControlError> {
    let live = session.session().is_ok_and(board::Session::can_call);
    if live && !session.is_counted() {
        session.project.called(session.id).await?;
    }
    if live {
        let refused = matches!(outcome, Err(ControlError::Refused(_)));
        session.project.call_ended(session.id, refused).await?;
    }
    // A next action that was given is in the trace already, with its reason.
    if name == Tool::GetNextAction.as_str() && session.is_counted() {
        return Ok(());
    }
    let mut body = json!({ "tool": name.chars().take(80).collect::<String>() });
    if !about.is_empty() {
        body["arguments"] = Value::Object(about);
    }
    match outcome {
        Ok(_) => {}
        Err(ControlError::Refused(refusal)) => body["refused"] = json!(refusal.code()),
        Err(error) => body["failed"] = json!(error.to_string()),
    }
    let (at, seq) = (session.project.clock().now(), session.board.seq);
    session
        .project
        .record(Traced { at, seq, kind: "call", subject: Subject::Session(session.id), body: Arc::new(body) })
        .await;
    Ok(())
}
