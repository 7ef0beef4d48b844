//! The reference of the tools, printed from the catalogue (M5).

use std::fmt::Write as _;

use board::Language;
use rmcp::model::JsonObject;
use serde_json::Value;

use crate::catalogue::CATALOGUE;
use crate::tool::AllowedCaller;

/// `docs/tools.md`.
pub fn tools_page() -> String {
    let mut page = String::from(
        "# The tools\n\nPrinted from the catalogue of the MCP server. `*` marks what is required. Without a session's \
         credential every tool but `authenticate` and `help` also takes `session_token`. An \
         orchestrator's calls also take `project_id`, which is needed if there are several projects. A refusal is a result with \
         `isError` and `{code, message, hint, tools[]}`.\n",
    );
    for entry in CATALOGUE.all() {
        let also = if entry.for_orchestrator { ", and the owner's orchestrator" } else { "" };
        let who = format!("{}{also}", who(entry.who));
        let tool = entry.shown_with_credential();
        let output = tool.output_schema.as_deref();
        let line = |page: &mut String, text: String| writeln!(page, "{text}").expect("a string takes all text");
        line(&mut page, format!("\n## {}\n\n{} For {who}.\n", entry.tool, entry.about.say(Language::En)));
        line(&mut page, format!("- arguments: {}", fields(&tool.input_schema)));
        line(&mut page, format!("- result: {}", output.and_then(answer).map_or_else(String::new, fields)));
    }
    page
}

fn who(who: AllowedCaller) -> &'static str {
    match who {
        AllowedCaller::Anyone => "anyone",
        AllowedCaller::Session => "every session",
        AllowedCaller::TaskSession => "task sessions",
        AllowedCaller::Creator => "task sessions, and the chat of a manager",
        AllowedCaller::Manager => "managers",
        AllowedCaller::ManagerAtWork => "managers, in the session of their task",
        AllowedCaller::Chat => "chat sessions",
        AllowedCaller::Coordinator => "coordinators, runners and owners, by token",
        AllowedCaller::Orchestrator => "the owner's orchestrator, by token",
    }
}

/// The part of a result's schema that is not the refusal.
fn answer(schema: &JsonObject) -> Option<&JsonObject> {
    schema.get("anyOf")?.as_array()?.first()?.as_object()
}

/// `name*` text, … of an object.
fn fields(schema: &JsonObject) -> String {
    let required = |name: &str| {
        schema.get("required").and_then(Value::as_array).is_some_and(|names| names.iter().any(|known| known == name))
    };
    let properties = schema.get("properties").and_then(Value::as_object);
    let field = |(name, schema): (&String, &Value)| {
        let star = if required(name) { "*" } else { "" };
        format!("`{name}`{star} {}", shape(schema))
    };
    let fields: Vec<_> = properties.into_iter().flatten().map(field).collect();
    if fields.is_empty() { "none".into() } else { fields.join(", ") }
}

fn shape(schema: &Value) -> String {
    if let Some(words) = schema["enum"].as_array() {
        let words: Vec<_> = words.iter().filter_map(Value::as_str).collect();
        return format!("({})", words.join(", "));
    }
    let kinds = match &schema["type"] {
        Value::Array(kinds) => kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null").collect(),
        Value::String(kind) => vec![kind.as_str()],
        _ => Vec::new(),
    };
    match kinds.first().copied() {
        Some("array") => format!("list of {}", shape(&schema["items"])),
        Some("object") if schema["properties"].is_object() => {
            schema.as_object().map_or_else(String::new, |schema| format!("{{{}}}", fields(schema)))
        }
        Some("string") => "text".into(),
        Some("boolean") => "yes or no".into(),
        Some("integer") => "number".into(),
        Some("object") => "map".into(),
        Some(other) => other.into(),
        None => "anything".into(),
    }
}

#[cfg(test)]
mod tests {
    use super::tools_page;

    /// M5: names of tools, arguments and results are a contract; a change of one is seen here.
    #[test]
    fn the_page_is_what_the_catalogue_says() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/tools.md");
        let page = tools_page();
        if std::env::var_os("SAIHAI_BLESS").is_some() {
            std::fs::write(path, &page).unwrap();
        }
        let written = std::fs::read_to_string(path).unwrap_or_default();
        assert!(written == page, "docs/tools.md is not what the catalogue says: run this test with SAIHAI_BLESS=1");
    }
}
