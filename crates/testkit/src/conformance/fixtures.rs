//! Which tools does the suite call, and what must they answer?

use rmcp::ErrorData;
use rmcp::model::{
    CallToolResult, ClientCapabilities, ContentBlock, JsonObject, ProgressNotificationParam, ResourceContents,
    SamplingCapability, Tool,
};
use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Value, json};

/// One red pixel.
const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";

/// No sound at all.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA=";

const NAMES: [&str; 10] = [
    "test_simple_text",
    "test_image_content",
    "test_audio_content",
    "test_embedded_resource",
    "test_multiple_content_types",
    "test_error_handling",
    "test_tool_with_progress",
    "test_missing_capability",
    "test_mirrored_header",
    "json_schema_2020_12_tool",
];

pub(super) fn tools() -> impl Iterator<Item = Tool> {
    NAMES.into_iter().map(|name| Tool::new(name, "Answers the conformance suite.", input_of(name)))
}

/// The answer of a tool of the suite; `None` for other tools.
pub(super) async fn call(
    name: &str,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResult, ErrorData>> {
    let content = match name {
        "test_simple_text" => vec![ContentBlock::text("This is a simple text response for testing.")],
        "test_image_content" => vec![ContentBlock::image(PNG, "image/png")],
        "test_audio_content" => vec![ContentBlock::audio(WAV, "audio/wav")],
        "test_embedded_resource" => vec![resource("test://embedded-resource", "text/plain", "Embedded.")],
        "test_multiple_content_types" => vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            resource("test://mixed-content-resource", "application/json", r#"{"test":"data","value":123}"#),
        ],
        "test_error_handling" => {
            let content = ContentBlock::text("This tool intentionally returns an error for testing");
            return Some(Ok(CallToolResult::error(vec![content])));
        }
        "test_tool_with_progress" => {
            report_progress(context).await;
            vec![ContentBlock::text("Reported.")]
        }
        "test_missing_capability" => match may_sample(context) {
            Ok(()) => vec![ContentBlock::text("Declared.")],
            Err(error) => return Some(Err(error)),
        },
        "test_mirrored_header" | "json_schema_2020_12_tool" => vec![ContentBlock::text("Taken.")],
        _ => return None,
    };
    Some(Ok(CallToolResult::success(content)))
}

fn resource(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::text(text, uri).with_mime_type(mime_type))
}

async fn report_progress(context: &RequestContext<RoleServer>) {
    let Some(token) = context.meta.get_progress_token() else { return };
    for done in [0.0, 50.0, 100.0] {
        let progress = ProgressNotificationParam::new(token.clone(), done).with_total(100.0);
        // The client may have disconnected.
        let _ = context.peer.notify_progress(progress).await;
    }
}

/// Refuses a client that does not let servers use its model.
fn may_sample(context: &RequestContext<RoleServer>) -> Result<(), ErrorData> {
    if context.client_capabilities().is_some_and(|declared| declared.sampling.is_some()) {
        return Ok(());
    }
    let mut required = ClientCapabilities::default();
    required.sampling = Some(SamplingCapability::default());
    Err(ErrorData::missing_required_client_capability(required))
}

fn input_of(name: &str) -> JsonObject {
    let schema = match name {
        "test_mirrored_header" => json!({
            "type": "object",
            "properties": { "region": { "type": "string", "x-mcp-header": "Region" } },
        }),
        "json_schema_2020_12_tool" => every_keyword(),
        _ => json!({ "type": "object", "properties": {} }),
    };
    match schema {
        Value::Object(schema) => schema,
        other => unreachable!("{other} is no schema"),
    }
}

/// The suite checks that none of these keywords is lost.
fn every_keyword() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": { "street": { "type": "string" }, "city": { "type": "string" } },
            },
        },
        "properties": {
            "name": { "type": "string" },
            "address": { "$ref": "#/$defs/address" },
            "contactMethod": { "type": "string", "enum": ["phone", "email"] },
            "phone": { "type": "string" },
            "email": { "type": "string" },
        },
        "allOf": [{ "anyOf": [{ "required": ["phone"] }, { "required": ["email"] }] }],
        "if": { "properties": { "contactMethod": { "const": "phone" } }, "required": ["contactMethod"] },
        "then": { "required": ["phone"] },
        "else": { "required": ["email"] },
        "additionalProperties": false,
    })
}
