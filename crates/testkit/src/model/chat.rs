//! The chat completions API of OpenAI, as opencode uses it.

use serde_json::{Value, json};

use super::conversation::{ClientTool, Conversation, Entry, ToolCall, Turn, arguments, texts};
use super::reply::{Ids, Reply, lines};

pub(super) fn read(request: &Value) -> Conversation {
    let messages = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let mut entries = Vec::new();
    for message in messages {
        match message["role"].as_str() {
            Some("user") => entries.extend(texts(&message["content"]).into_iter().map(Entry::User)),
            Some("assistant") => {
                for call in message["tool_calls"].as_array().into_iter().flatten() {
                    let answered = messages.iter().find(|other| other["tool_call_id"] == call["id"]);
                    entries.push(Entry::Call(tool_call(call, answered)));
                }
            }
            _ => {}
        }
    }
    let tools = request["tools"].as_array().into_iter().flatten();
    let tools = tools.filter_map(|tool| tool["function"]["name"].as_str().map(ClientTool::named)).collect();
    Conversation::new("openai", request, entries, tools)
}

fn tool_call(call: &Value, answered: Option<&Value>) -> ToolCall {
    let result = answered.map_or_else(String::new, |message| texts(&message["content"]).join("\n"));
    ToolCall {
        tool: ClientTool::named(call["function"]["name"].as_str().unwrap_or("")),
        arguments: arguments(&call["function"]["arguments"]),
        failed: result.starts_with("Error"),
        result,
    }
}

pub(super) fn reply(request: &Value, next: &Turn, ids: &Ids) -> Reply {
    let (message, reason) = match next {
        Turn::Say(text) => (json!({ "role": "assistant", "content": text }), "stop"),
        Turn::Call { tool, arguments } => {
            let function = json!({ "name": tool.full(), "arguments": arguments.to_string() });
            let call = json!({ "index": 0, "id": ids.next("call"), "type": "function", "function": function });
            (json!({ "role": "assistant", "content": null, "tool_calls": [call] }), "tool_calls")
        }
    };
    let usage = json!({ "prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120 });
    let id = ids.next("chatcmpl");
    let head = |object: &str, choices: Value, usage: Value| {
        json!({ "id": id, "object": object, "created": 0, "model": request["model"],
                "choices": choices, "usage": usage })
    };
    if request["stream"] != true {
        let choices = json!([{ "index": 0, "message": message, "finish_reason": reason }]);
        return Reply::json(&head("chat.completion", choices, usage));
    }
    let chunk = |delta: Value, reason: Value, usage: Value| {
        let choices = json!([{ "index": 0, "delta": delta, "finish_reason": reason }]);
        head("chat.completion.chunk", choices, usage)
    };
    let chunks = [chunk(message, Value::Null, Value::Null), chunk(json!({}), json!(reason), usage)];
    Reply::stream(lines(&chunks) + "data: [DONE]\n\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_and_results_are_read_and_a_call_is_streamed() {
        let request = json!({
            "model": "m", "stream": true,
            "messages": [
                { "role": "user", "content": "agent a" },
                { "role": "assistant", "tool_calls": [
                    { "id": "c", "function": { "name": "s_authenticate", "arguments": "{\"agent_id\":\"a\"}" } }] },
                { "role": "tool", "tool_call_id": "c", "content": "{\"success\":true}" },
            ],
            "tools": [{ "type": "function", "function": { "name": "s_get_next_action" } }],
        });
        let conversation = read(&request);
        assert_eq!(conversation.calls[0].arguments, json!({ "agent_id": "a" }));
        assert_eq!(conversation.calls[0].answer(), json!({ "success": true }));
        let next = Turn::Call { tool: ClientTool::named("s_get_next_action"), arguments: json!({}) };
        let reply = reply(&request, &next, &Ids::new());
        assert!(reply.body.contains(r#""finish_reason":"tool_calls""#), "{}", reply.body);
        assert!(reply.body.ends_with("data: [DONE]\n\n"));
    }
}
