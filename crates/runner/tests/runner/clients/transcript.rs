//! What clients print, as it was recorded, and how it reads as a conversation (W8).

use board::{Client, FileEdit, Span, Timestamp, ToolOutcome, ToolUse, TranscriptEntry, TranscriptEvent, Usage};
use runner::clients::OutputReader;
use serde_json::{Value, json};

const NOW: Timestamp = Timestamp(1_794_795_987_000);

/// All that is said in lines that come a second apart.
fn read(client: Client, lines: &[&str]) -> Vec<TranscriptEntry> {
    let mut reader = OutputReader::new(client);
    let (mut entries, mut position) = (Vec::new(), 0);
    for (number, line) in lines.iter().enumerate() {
        let now = NOW + Span::seconds(i64::try_from(number).unwrap());
        reader.line(format!("{line}\n").as_bytes(), position, now);
        position += line.len() as u64 + 1;
        entries.extend(reader.entries(now));
    }
    entries.extend(reader.last_entries());
    entries
}

fn said(client: Client, lines: &[Value]) -> Vec<TranscriptEvent> {
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    let lines: Vec<_> = lines.iter().map(String::as_str).collect();
    read(client, &lines).into_iter().map(|entry| entry.said).collect()
}

fn recording(client: Client) -> String {
    let path = format!("{}/tests/fixtures/{client}-done.jsonl", env!("CARGO_MANIFEST_DIR"));
    std::fs::read_to_string(path).unwrap()
}

fn tool(call: &str, name: &str, about: &str) -> ToolUse {
    ToolUse { call: call.into(), name: name.into(), about: about.into(), ..ToolUse::default() }
}

fn text(text: &str) -> TranscriptEvent {
    TranscriptEvent::Text { text: text.into(), continues: false }
}

/// W8: each of the four tells which tool it called, with its server apart from its name, and what came of it.
#[test]
fn recorded_sessions_read_alike() {
    for client in [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Opencode] {
        let recording = recording(client);
        let entries = read(client, &recording.lines().collect::<Vec<_>>());
        let first = entries.iter().find_map(|entry| match &entry.said {
            TranscriptEvent::ToolResult { tool, outcome, output, .. } => Some((entry.position, tool, *outcome, output)),
            _ => None,
        });
        let (position, tool, outcome, output) = first.unwrap_or_else(|| panic!("{client}: {entries:#?}"));
        assert_eq!((tool.name.as_str(), tool.server.as_deref()), ("authenticate", Some("saihai")), "{client}");
        assert_eq!(outcome, ToolOutcome::Succeeded, "{client}");
        assert!(output.starts_with(r#"{"success":true"#), "{client}: {output}");
        let line = recording[usize::try_from(position).unwrap()..].lines().next().unwrap();
        let said = serde_json::from_str::<Value>(line).unwrap();
        assert!(said.to_string().contains("agent_name"), "the line that has the answer: {line}");
        let unread = entries.iter().filter(|entry| matches!(entry.said, TranscriptEvent::Output { .. })).count();
        assert_eq!(unread, 0, "{client}: {entries:#?}");
        let finished = entries.iter().any(|entry| match &entry.said {
            TranscriptEvent::Finished { outcome, usage, .. } => {
                *outcome == ToolOutcome::Succeeded && usage.is_some_and(|usage| usage.input_tokens == 2400)
            }
            _ => false,
        });
        assert_eq!(finished, client != Client::Opencode, "one says nothing at its end: {client}");
    }
}

/// W8: Claude Code's text, thoughts, edits as differences, a tool that failed, and how long it took.
#[test]
fn claude_code_reads_as_a_conversation() {
    let message = |content: Value| json!({ "type": "assistant", "message": { "id": "m", "content": [content] } });
    let result = |id: &str, content: Value, failed: bool| json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "tool_use_id": id, "content": content, "is_error": failed }] } });
    let edit = json!({ "file_path": "src/a.rs", "old_string": "one\ntwo\nthree", "new_string": "one\n2\nthree" });
    let lines = [
        json!({ "type": "system", "subtype": "init", "model": "claude-opus-5-5" }),
        message(json!({ "type": "thinking", "thinking": "Which file?" })),
        message(json!({ "type": "text", "text": "I change it." })),
        message(json!({ "type": "tool_use", "id": "1", "name": "Edit", "input": edit })),
        result("1", json!("done"), false),
        message(
            json!({ "type": "tool_use", "id": "2", "name": "Bash", "input": { "command": "npm test", "timeout": 9 } }),
        ),
        result("2", json!([{ "type": "text", "text": "1 failing" }]), true),
        json!({ "type": "result", "is_error": false, "result": "All done.", "duration_ms": 5_000, "total_cost_usd": 0.02,
            "usage": { "input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 2 } }),
    ];
    let diff = "@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n".to_owned();
    let edits = vec![FileEdit { file: "src/a.rs".into(), diff }];
    let result = |tool, outcome, output: &str| TranscriptEvent::ToolResult {
        tool,
        outcome,
        output: output.into(),
        duration_ms: Some(1_000),
    };
    let input = r#"{"command":"npm test","timeout":9}"#.to_owned();
    assert_eq!(
        said(Client::ClaudeCode, &lines),
        [
            TranscriptEvent::Started { model: Some("claude-opus-5-5".into()) },
            TranscriptEvent::Thinking { text: "Which file?".into() },
            text("I change it."),
            TranscriptEvent::ToolCall { tool: ToolUse { edits, ..tool("1", "Edit", "src/a.rs") } },
            result(tool("1", "Edit", "src/a.rs"), ToolOutcome::Succeeded, "done"),
            TranscriptEvent::ToolCall { tool: ToolUse { input, ..tool("2", "Bash", "npm test") } },
            result(tool("2", "Bash", "npm test"), ToolOutcome::Failed, "1 failing"),
            TranscriptEvent::Finished {
                outcome: ToolOutcome::Succeeded,
                text: "All done.".into(),
                usage: Some(Usage { input_tokens: 10, output_tokens: 2, cost_micros: Some(20_000) }),
                duration_ms: Some(5_000),
            },
        ]
    );
}

/// W8: Codex's commands and file changes; Gemini's text, which comes in pieces; opencode's calls, told when they are over.
#[test]
fn the_others_read_as_conversations() {
    let item = |kind: &str, item: Value| json!({ "type": kind, "item": item });
    let command = |status: &str, code: Value| json!({ "id": "i1", "type": "command_execution", "command": "ls", "aggregated_output": "a\n", "exit_code": code, "status": status });
    let codex = [
        item("item.started", command("in_progress", Value::Null)),
        item("item.completed", command("failed", json!(2))),
        item(
            "item.completed",
            json!({ "id": "i2", "type": "file_change", "status": "completed", "changes": [{ "path": "a.rs", "kind": "update" }] }),
        ),
        item("item.completed", json!({ "id": "i3", "type": "agent_message", "text": "Done." })),
    ];
    let edits = vec![FileEdit { file: "a.rs".into(), diff: "@@ update @@".into() }];
    let answered = |tool, outcome, output: &str, duration_ms| TranscriptEvent::ToolResult {
        tool,
        outcome,
        output: output.into(),
        duration_ms,
    };
    assert_eq!(
        said(Client::Codex, &codex),
        [
            TranscriptEvent::ToolCall { tool: tool("i1", "shell", "ls") },
            answered(tool("i1", "shell", "ls"), ToolOutcome::Failed, "a\n", Some(1_000)),
            answered(ToolUse { edits, ..tool("i2", "edit", "") }, ToolOutcome::Succeeded, "", None),
            text("Done."),
        ]
    );
    let piece = |text: &str| json!({ "type": "message", "role": "assistant", "content": text, "delta": true });
    let gemini = [
        json!({ "type": "message", "role": "user", "content": "the whole prompt" }),
        piece("I "),
        piece("look."),
        json!({ "type": "tool_use", "tool_name": "read_file", "tool_id": "1", "parameters": { "file_path": "a" } }),
    ];
    let found = said(Client::Gemini, &gemini);
    let whole: String = found
        .iter()
        .filter_map(|said| match said {
            TranscriptEvent::Text { text, .. } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(
        (whole.as_str(), found.last()),
        ("I look.", Some(&TranscriptEvent::ToolCall { tool: tool("1", "read_file", "a") }))
    );
    let opencode = [
        json!({ "type": "tool_use", "part": { "tool": "write", "callID": "c", "state": { "status": "completed",
        "input": { "filePath": "b", "content": "new\n" }, "output": "ok", "time": { "start": 1_000, "end": 1_250 } } } }),
    ];
    let edits = vec![FileEdit { file: "b".into(), diff: "@@ -0,0 +1 @@\n+new\n".into() }];
    let write = ToolUse { edits, ..tool("c", "write", "b") };
    assert_eq!(said(Client::Opencode, &opencode), [answered(write, ToolOutcome::Succeeded, "ok", Some(250))]);
}

/// W8: what is meant for people, and what no adapter knows, stays readable, in a few entries however many lines it has.
#[test]
fn unknown_lines_stay_as_they_are() {
    let unknown = r#"{"type":"quantum_leap","to":3}"#;
    let found = read(Client::ClaudeCode, &["npm warn old", unknown]);
    let texts: Vec<_> = found.iter().map(TranscriptEntry::summary).collect();
    assert_eq!(texts, ["npm warn old", unknown]);
    let mut reader = OutputReader::new(Client::Command);
    (0..1_000).for_each(|number| reader.line(format!("{number}\n").as_bytes(), number * 4, NOW));
    let found = reader.entries(NOW);
    assert!(found.len() < 5, "{}", found.len());
    let all: String = found
        .iter()
        .map(|entry| match &entry.said {
            TranscriptEvent::Output { text } => format!("{text}\n"),
            _ => String::new(),
        })
        .collect();
    assert_eq!(all.lines().count(), 1_000);
}

/// W8: no entry is long, whatever is said. What is left out is in the output.
#[test]
fn entries_are_bounded() {
    let long = "x".repeat(1 << 20);
    let lines = [
        json!({ "type": "assistant", "message": { "content": [{ "type": "text", "text": long }] } }),
        json!({ "type": "assistant", "message": { "content": [{ "type": "tool_use", "id": "1", "name": "Write", "input": { "file_path": "a", "content": long } }] } }),
        json!({ "type": "user", "message": { "content": [{ "type": "tool_result", "tool_use_id": "1", "content": long }] } }),
        json!({ "type": "nonsense", "text": long }),
    ];
    let lines: Vec<_> = lines.iter().map(Value::to_string).collect();
    for entry in read(Client::ClaudeCode, &lines.iter().map(String::as_str).collect::<Vec<_>>()) {
        let length = serde_json::to_string(&entry).unwrap().len();
        assert!(length < 20_000, "{length}");
    }
}

proptest::proptest! {
    /// T2: no line of anybody's makes it fail.
    #[test]
    fn any_line_is_read(line in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..200), kind in 0..4usize) {
        let client = [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Opencode][kind];
        let mut reader = OutputReader::new(client);
        reader.line(&line, 0, NOW);
        for shape in [r#"{"type":"assistant","message":{"content":[{"type":"tool_use","input":"#, r#"{"type":"item.completed","item":"#, r#"{"type":"tool_use","part":{"state":"#] {
            let text = String::from_utf8_lossy(&line).into_owned();
            let closing = "}".repeat(shape.matches('{').count() - shape.matches('}').count());
            reader.line(format!("{shape}{}{closing}", json!(text)).as_bytes(), 0, NOW);
        }
        reader.last_entries();
    }
}
