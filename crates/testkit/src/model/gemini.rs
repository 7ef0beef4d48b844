//! The generateContent API of Gemini, as Gemini CLI uses it.

use std::collections::VecDeque;

use serde_json::{Value, json};

use super::conversation::{ClientTool, Conversation, Entry, ToolCall, Turn};
use super::reply::{Ids, Reply, lines};

pub(super) fn read(request: &Value) -> Conversation {
    let contents = request["contents"].as_array().into_iter().flatten();
    let parts: Vec<_> = contents
        .flat_map(|content| {
            let role = content["role"].as_str().unwrap_or("user");
            content["parts"].as_array().into_iter().flatten().map(move |part| (role, part))
        })
        .collect();
    // Results name their tool, not always their call: they come in the order of the calls.
    let responses = parts.iter().filter_map(|(_, part)| part.get("functionResponse"));
    let mut responses: VecDeque<_> = responses.collect();
    let mut entries = Vec::new();
    for (role, part) in &parts {
        if let Some(call) = part.get("functionCall") {
            let at = responses.iter().position(|response| response["name"] == call["name"]);
            entries.push(Entry::Call(tool_call(call, at.and_then(|at| responses.remove(at)))));
        } else if let (&"user", Some(text)) = (role, part["text"].as_str()) {
            entries.push(Entry::User(text.to_owned()));
        }
    }
    let declared = request["tools"].as_array().into_iter().flatten();
    let declared = declared.flat_map(|tool| tool["functionDeclarations"].as_array().into_iter().flatten());
    let tools = declared.filter_map(|tool| tool["name"].as_str().map(ClientTool::named)).collect();
    Conversation::new("google", request, entries, tools)
}

fn tool_call(call: &Value, response: Option<&Value>) -> ToolCall {
    let response = response.map_or(&Value::Null, |response| &response["response"]);
    let told = ["output", "error"].iter().find_map(|name| response[*name].as_str());
    ToolCall {
        tool: ClientTool::named(call["name"].as_str().unwrap_or("")),
        arguments: call["args"].clone(),
        result: told.map_or_else(|| response.to_string(), str::to_owned),
        failed: response.get("error").is_some(),
    }
}

pub(super) fn reply(request: &Value, next: &Turn, ids: &Ids, delivery: Delivery) -> Reply {
    let part = match next {
        Turn::Say(text) => json!({ "text": text }),
        Turn::Call { tool, arguments } => {
            json!({ "functionCall": { "id": ids.next("call"), "name": tool.full(), "args": arguments } })
        }
    };
    let chunk = json!({
        "candidates": [{ "content": { "role": "model", "parts": [part] }, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 100, "candidatesTokenCount": 20, "totalTokenCount": 120 },
        "modelVersion": request["model"], "responseId": ids.next("resp"),
    });
    match delivery {
        Delivery::Events => Reply::stream(lines(&[chunk])),
        Delivery::Whole => Reply::json(&chunk),
    }
}

/// Which of the two endpoints was called.
#[derive(Clone, Copy, Debug)]
pub(super) enum Delivery {
    Events,
    Whole,
}

/// The model and the endpoint in `/v1beta/models/MODEL:streamGenerateContent`.
pub(super) fn endpoint(path: &str) -> Option<(&str, Delivery)> {
    let (model, what) = path.strip_prefix("/v1beta/models/")?.rsplit_once(':')?;
    match what {
        "streamGenerateContent" => Some((model, Delivery::Events)),
        "generateContent" => Some((model, Delivery::Whole)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_matched_to_calls_of_the_same_tool_in_order() {
        let call = |name: &str| json!({ "role": "model", "parts": [{ "functionCall": { "name": name, "args": {} } }] });
        let told = |name: &str, text: &str| {
            let response = json!({ "name": name, "response": { "output": text } });
            json!({ "role": "user", "parts": [{ "functionResponse": response }] })
        };
        let request = json!({
            "contents": [
                { "role": "user", "parts": [{ "text": "agent a" }] },
                call("mcp_s_help"), told("mcp_s_help", "{\"n\":1}"),
                call("mcp_s_help"), told("mcp_s_help", "<untrusted_context>\n{\"n\":2}\n</untrusted_context>"),
            ],
            "tools": [{ "functionDeclarations": [{ "name": "mcp_s_get_next_action" }] }],
        });
        let conversation = read(&request);
        let answers: Vec<_> = conversation.calls.iter().map(ToolCall::answer).collect();
        assert_eq!(answers, [json!({ "n": 1 }), json!({ "n": 2 })]);
        assert_eq!(conversation.prefix().as_deref(), Some("mcp_s_"));
    }

    #[test]
    fn the_endpoint_names_the_model() {
        let path = "/v1beta/models/gemini-2.5-flash:streamGenerateContent";
        assert!(matches!(endpoint(path), Some(("gemini-2.5-flash", Delivery::Events))));
        assert!(endpoint("/v1/messages").is_none());
    }
}
