//! The Responses API of OpenAI, as codex uses it.

use serde_json::{Value, json};

use super::conversation::{ClientTool, Conversation, Entry, ToolCall, Turn, arguments, texts};
use super::reply::{Ids, Reply, events};

pub(super) fn read(request: &Value) -> Conversation {
    let items = request["input"].as_array().map_or(&[][..], Vec::as_slice);
    let mut entries = Vec::new();
    for item in items {
        // Messages may leave their type out.
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("message") | None, Some("user")) => {
                entries.extend(texts(&item["content"]).into_iter().map(Entry::User));
            }
            (Some("function_call"), _) => {
                let answered =
                    |other: &&Value| other["type"] == "function_call_output" && other["call_id"] == item["call_id"];
                entries.push(Entry::Call(tool_call(item, items.iter().find(answered))));
            }
            _ => {}
        }
    }
    Conversation::new("openai", request, entries, tools(request))
}

fn tool_call(call: &Value, output: Option<&Value>) -> ToolCall {
    let output = output.map_or(&Value::Null, |output| &output["output"]);
    let result = match output {
        Value::Object(_) => output.to_string(),
        _ => texts(output).join("\n"),
    };
    ToolCall {
        tool: ClientTool {
            name: call["name"].as_str().unwrap_or("").to_owned(),
            namespace: call["namespace"].as_str().map(str::to_owned),
        },
        arguments: arguments(&call["arguments"]),
        failed: result.contains("Process exited with code ") && !result.contains("Process exited with code 0"),
        result,
    }
}

fn tools(request: &Value) -> Vec<ClientTool> {
    let listed = request["tools"].as_array().into_iter().flatten();
    listed
        .flat_map(|tool| {
            let name = tool["name"].as_str().unwrap_or("").to_owned();
            match tool["type"].as_str() {
                Some("function") => vec![ClientTool { name, namespace: None }],
                Some("namespace") => {
                    let inner = tool["tools"].as_array().into_iter().flatten();
                    let inner = inner.filter_map(|tool| tool["name"].as_str());
                    inner.map(|tool| ClientTool { name: tool.to_owned(), namespace: Some(name.clone()) }).collect()
                }
                _ => Vec::new(),
            }
        })
        .collect()
}

pub(super) fn reply(request: &Value, next: &Turn, ids: &Ids) -> Reply {
    let item = match next {
        Turn::Say(text) => json!({
            "type": "message", "id": ids.next("msg"), "role": "assistant", "status": "completed",
            "content": [{ "type": "output_text", "text": text, "annotations": [] }],
        }),
        Turn::Call { tool, arguments } => {
            let mut call = json!({
                "type": "function_call", "id": ids.next("fc"), "call_id": ids.next("call"), "status": "completed",
                "name": tool.name, "arguments": arguments.to_string(),
            });
            if let Some(namespace) = &tool.namespace {
                call["namespace"] = json!(namespace);
            }
            call
        }
    };
    let response = |status: &str, output: Value, usage: Value| {
        json!({ "id": ids.next("resp"), "object": "response", "created_at": 0, "status": status,
                "model": request["model"], "output": output, "usage": usage })
    };
    let usage = json!({
        "input_tokens": 100, "input_tokens_details": { "cached_tokens": 0 },
        "output_tokens": 20, "output_tokens_details": { "reasoning_tokens": 0 }, "total_tokens": 120,
    });
    let mut finished = response("completed", json!([item]), usage);
    if request["stream"] != true {
        return Reply::json(&finished);
    }
    let mut begun = response("in_progress", json!([]), Value::Null);
    begun["id"] = finished["id"].clone();
    finished["output"] = json!([item]);
    let mut list = vec![json!({ "type": "response.created", "response": begun })];
    list.extend(item_events(next, &item));
    list.push(json!({ "type": "response.completed", "response": finished }));
    for (number, event) in list.iter_mut().enumerate() {
        event["sequence_number"] = json!(number);
    }
    Reply::stream(events(&list))
}

/// The item as it grows.
fn item_events(next: &Turn, item: &Value) -> Vec<Value> {
    let mut begun = item.clone();
    begun["status"] = json!("in_progress");
    let at = |kind: &str, mut event: Value| {
        event["type"] = json!(kind);
        event["output_index"] = json!(0);
        event
    };
    let id = &item["id"];
    let middle = match next {
        Turn::Say(text) => {
            begun["content"] = json!([]);
            vec![
                at(
                    "response.content_part.added",
                    json!({ "item_id": id, "content_index": 0,
                    "part": { "type": "output_text", "text": "", "annotations": [] } }),
                ),
                at("response.output_text.delta", json!({ "item_id": id, "content_index": 0, "delta": text })),
                at("response.output_text.done", json!({ "item_id": id, "content_index": 0, "text": text })),
                at(
                    "response.content_part.done",
                    json!({ "item_id": id, "content_index": 0,
                    "part": item["content"][0] }),
                ),
            ]
        }
        Turn::Call { .. } => {
            begun["arguments"] = json!("");
            let whole = &item["arguments"];
            vec![
                at("response.function_call_arguments.delta", json!({ "item_id": id, "delta": whole })),
                at("response.function_call_arguments.done", json!({ "item_id": id, "arguments": whole })),
            ]
        }
    };
    let mut list = vec![at("response.output_item.added", json!({ "item": begun }))];
    list.extend(middle);
    list.push(at("response.output_item.done", json!({ "item": item })));
    list
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_servers_tools_are_found_in_their_namespace_and_called_there() {
        let request = json!({
            "model": "m", "stream": true,
            "input": [
                { "type": "message", "role": "user", "content": [{ "type": "input_text", "text": "agent a" }] },
                { "type": "function_call", "call_id": "c", "namespace": "mcp__s", "name": "authenticate",
                  "arguments": "{}" },
                { "type": "function_call_output", "call_id": "c", "output": "Wall time: 1\nOutput:\n{\"success\":true}" },
            ],
            "tools": [
                { "type": "function", "name": "exec_command" },
                { "type": "namespace", "name": "mcp__s", "tools": [{ "type": "function", "name": "get_next_action" }] },
            ],
        });
        let conversation = read(&request);
        assert_eq!(conversation.calls[0].answer(), json!({ "success": true }));
        let offered = conversation.tool_named(board::Tool::GetNextAction).expect("it is there").clone();
        assert_eq!(offered, ClientTool { name: "get_next_action".into(), namespace: Some("mcp__s".into()) });
        let reply = reply(&request, &Turn::Call { tool: offered, arguments: json!({}) }, &Ids::new());
        assert!(reply.body.contains(r#""namespace":"mcp__s""#), "{}", reply.body);
    }
}
