//! How is a call refused (M4)? With a code, a message, a hint that names the next call, and the
//! calls that are open.

use board::{Answer, Audience, Because, Language, Refusal, Tool, next_action};
use control::ControlError;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::json;

use super::caller::{Caller, InSession};

pub(crate) fn refused(error: &ControlError, caller: &Caller) -> CallToolResult {
    let language = language(caller);
    let body = match error {
        ControlError::Refused(refusal) => json!({
            "code": refusal.code(),
            "message": refusal.message(language),
            "hint": refusal.hint(language, Audience::Agent),
            "tools": open_calls(refusal, caller),
        }),
        ControlError::Store(_) | ControlError::Unreadable { .. } | ControlError::Closed => {
            tracing::error!(%error, "a call failed");
            let hint = match language {
                Language::En => "Nothing was changed. Call again in a moment.",
                Language::Ja => "何も変わっていません。少し待って、もう一度呼んでください。",
            };
            json!({ "code": "store", "message": error.to_string(), "hint": hint, "tools": [] })
        }
    };
    // As text only: some clients hold structured content against the tool's own schema, refusal or
    // not, and would show their agent a complaint about that instead.
    CallToolResult::error(vec![ContentBlock::text(body.to_string())])
}

pub(crate) fn language(caller: &Caller) -> Language {
    match caller {
        Caller::Session(session) => session.board.settings.language,
        Caller::Nobody | Caller::Token(_) => Language::En,
    }
}

fn open_calls(refusal: &Refusal, caller: &Caller) -> Vec<Tool> {
    match (caller, &*refusal.0) {
        (_, Because::StaleSession(_)) => Vec::new(),
        (Caller::Session(session), _) => open_in(session),
        (Caller::Nobody, Because::NotAuthenticated | Because::NoSuchTool(_) | Because::BadArguments(_)) => {
            vec![Tool::Authenticate, Tool::Help]
        }
        (Caller::Nobody, _) => Vec::new(),
        (Caller::Token(_), _) => vec![Tool::GetAgentAction, Tool::ListActiveProjectsWithAgents, Tool::HealthCheck],
    }
}

/// What the session's next step would offer, on the board as it is now.
fn open_in(session: &InSession) -> Vec<Tool> {
    let (board, now) = (session.project.board(), session.project.clock().now());
    let step = next_action(&board, session.id, now);
    let answer = step.and_then(|(step, _)| Answer::of(&board, session.id, step, now));
    let mut open = answer.map(|answer| answer.tools).unwrap_or_default();
    if !open.contains(&Tool::GetNextAction) {
        open.push(Tool::GetNextAction);
    }
    open
}
