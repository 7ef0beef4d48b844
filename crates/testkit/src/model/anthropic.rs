//! The Messages API of Anthropic, as Claude Code uses it.

use serde_json::{Value, json};

use super::conversation::{ClientTool, Conversation, Entry, ToolCall, Turn, texts};
use super::reply::{Ids, Reply, events};

pub(super) fn read(request: &Value) -> Conversation {
    let messages = request["messages"].as_array().map_or(&[][..], Vec::as_slice);
    let results: Vec<_> = blocks(messages).filter(|(_, block)| block["type"] == "tool_result").collect();
    let mut entries = Vec::new();
    for message in messages {
        if let (Some("user"), Value::String(text)) = (message["role"].as_str(), &message["content"]) {
            entries.push(Entry::User(text.clone()));
        }
        // Text beside results is a remark of the client ("Tool loaded."), not of the user.
        let remarks = blocks(std::slice::from_ref(message)).any(|(_, block)| block["type"] == "tool_result");
        for (role, block) in blocks(std::slice::from_ref(message)) {
            match (role, block["type"].as_str()) {
                ("user", Some("text")) if !remarks => {
                    entries.push(Entry::User(block["text"].as_str().unwrap_or("").to_owned()));
                }
                ("assistant", Some("tool_use")) => {
                    let answered = results.iter().find(|(_, result)| result["tool_use_id"] == block["id"]);
                    entries.push(Entry::Call(tool_call(block, answered.map(|(_, result)| *result))));
                }
                _ => {}
            }
        }
    }
    let tools = request["tools"].as_array().into_iter().flatten();
    let tools = tools.filter_map(|tool| tool["name"].as_str().map(ClientTool::named)).collect();
    Conversation::new("anthropic", request, entries, tools)
}

fn blocks(messages: &[Value]) -> impl Iterator<Item = (&str, &Value)> {
    messages.iter().flat_map(|message| {
        let role = message["role"].as_str().unwrap_or("");
        message["content"].as_array().into_iter().flatten().map(move |block| (role, block))
    })
}

fn tool_call(call: &Value, result: Option<&Value>) -> ToolCall {
    ToolCall {
        tool: ClientTool::named(call["name"].as_str().unwrap_or("")),
        arguments: call["input"].clone(),
        result: result.map_or_else(String::new, |result| texts(&result["content"]).join("\n")),
        failed: result.is_some_and(|result| result["is_error"] == true),
    }
}

pub(super) fn reply(request: &Value, next: &Turn, ids: &Ids) -> Reply {
    let block = match next {
        Turn::Say(text) => json!({ "type": "text", "text": text }),
        Turn::Call { tool, arguments } => {
            json!({ "type": "tool_use", "id": ids.next("toolu"), "name": tool.full(), "input": arguments })
        }
    };
    let reason = match next {
        Turn::Say(_) => "end_turn",
        Turn::Call { .. } => "tool_use",
    };
    let mut message = json!({
        "id": ids.next("msg"), "type": "message", "role": "assistant", "model": request["model"],
        "content": [block], "stop_reason": reason, "stop_sequence": null,
        "usage": { "input_tokens": 100, "output_tokens": 20,
                   "cache_creation_input_tokens": 0, "cache_read_input_tokens": 0 },
    });
    if request["stream"] != true {
        return Reply::json(&message);
    }
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    streamed(message, next, block, reason)
}

fn streamed(message: Value, next: &Turn, mut block: Value, reason: &str) -> Reply {
    let delta = match next {
        Turn::Say(text) => {
            block["text"] = json!("");
            json!({ "type": "text_delta", "text": text })
        }
        Turn::Call { arguments, .. } => {
            block["input"] = json!({});
            json!({ "type": "input_json_delta", "partial_json": arguments.to_string() })
        }
    };
    let ended = json!({ "stop_reason": reason, "stop_sequence": null });
    Reply::stream(events(&[
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": ended, "usage": { "output_tokens": 20 } }),
        json!({ "type": "message_stop" }),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_conversation_is_read_with_its_results_and_without_the_clients_remarks() {
        let request = json!({
            "model": "claude-x",
            "messages": [
                { "role": "user", "content": [
                    { "type": "text", "text": "<system-reminder>be kind</system-reminder>" },
                    { "type": "text", "text": "You are agent coder in project web." } ] },
                { "role": "assistant", "content": [
                    { "type": "tool_use", "id": "t1", "name": "mcp__s__authenticate", "input": {} } ] },
                { "role": "user", "content": [
                    { "type": "tool_result", "tool_use_id": "t1", "is_error": true,
                      "content": [{ "type": "text", "text": "{\"code\":\"x\"}" }] },
                    { "type": "text", "text": "Tool loaded." } ] },
            ],
            "tools": [{ "name": "mcp__s__authenticate" }, { "name": "mcp__s__get_next_action" }],
        });
        let conversation = read(&request);
        assert_eq!(
            (conversation.word_after("agent"), conversation.word_after("project")),
            (Some("coder".into()), Some("web".into()))
        );
        assert_eq!(conversation.calls.len(), 1);
        assert_eq!((conversation.calls[0].answer(), conversation.calls[0].failed), (json!({ "code": "x" }), true));
        assert_eq!(conversation.saihai_tool(&conversation.calls[0]), Some(board::Tool::Authenticate));
    }

    #[test]
    fn a_call_is_streamed_in_the_order_of_the_api() {
        let next = Turn::Call { tool: ClientTool::named("Bash"), arguments: json!({ "command": "ls" }) };
        let reply = reply(&json!({ "model": "m", "stream": true }), &next, &Ids::new());
        let names: Vec<_> = reply.body.lines().filter_map(|line| line.strip_prefix("event: ")).collect();
        let order = ["message_start", "content_block_start", "content_block_delta", "content_block_stop"];
        assert_eq!(names[..4], order);
        assert_eq!(names[4..], ["message_delta", "message_stop"]);
        assert!(reply.body.contains(r#""partial_json":"{\"command\":\"ls\"}""#), "{}", reply.body);
    }
}
