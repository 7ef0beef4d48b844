//! How is a call refused (M4)? With a code, a message, a hint that names the next call, and the
//! calls that are open.

use board::{Answer, Audience, Language, Refusal, RefusalReason, Tool, next_action};
use control::ControlError;
use rmcp::model::CallToolResult;

use crate::answers::RefusalBody;
use crate::caller::{Caller, CallingSession};
use crate::catalogue::CATALOGUE;
use crate::tool::AllowedCaller;

pub(crate) fn refused(error: &ControlError, caller: &Caller) -> CallToolResult {
    let language = caller.language();
    let body = match error {
        ControlError::Refused(refusal) => RefusalBody {
            code: refusal.code().as_str(),
            message: refusal.message(language),
            hint: refusal.hint(language, audience(caller)),
            tools: open_calls(refusal, caller),
        },
        ControlError::Store(_) | ControlError::Unreadable { .. } | ControlError::Random(_) | ControlError::Closed => {
            tracing::error!(%error, "a call failed");
            let hint = match language {
                Language::En => "Nothing was changed. Call again in a moment.",
                Language::Ja => "何も変わっていません。少し待って、もう一度呼んでください。",
            };
            RefusalBody { code: "store", message: error.to_string(), hint: hint.into(), tools: Vec::new() }
        }
    };
    CallToolResult::structured_error(serde_json::to_value(body).expect("refusals have string keys only"))
}

fn audience(caller: &Caller) -> Audience {
    if caller.is_orchestrator() { Audience::Orchestrator } else { Audience::Agent }
}

fn open_calls(refusal: &Refusal, caller: &Caller) -> Vec<Tool> {
    match (caller, &*refusal.0) {
        (_, RefusalReason::StaleSession(_)) => Vec::new(),
        (Caller::Session(session), _) => open_in(session),
        (
            Caller::Nobody,
            RefusalReason::NotAuthenticated | RefusalReason::NoSuchTool(_) | RefusalReason::BadArguments(_),
        ) => {
            vec![Tool::Authenticate, Tool::Help]
        }
        (Caller::Nobody, _) => Vec::new(),
        (Caller::Token(_), _) => {
            let theirs = CATALOGUE.open_to(caller).filter(|entry| entry.who != AllowedCaller::Anyone);
            theirs.map(|entry| entry.tool).collect()
        }
    }
}

/// What the session's next action would offer, on the board as it is now.
fn open_in(session: &CallingSession) -> Vec<Tool> {
    let (board, now) = (session.project.board(), session.project.clock().now());
    let next = next_action(&board, session.id, now);
    let answer = next.and_then(|(next, _)| Answer::of(&board, session.id, next, now));
    let mut open = answer.map(|answer| answer.tools).unwrap_or_default();
    if !open.contains(&Tool::GetNextAction) {
        open.push(Tool::GetNextAction);
    }
    open
}
