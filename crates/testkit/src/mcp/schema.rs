//! Does a value match a JSON schema? Knows only the keywords that the server's schemas use.

use serde_json::Value;

/// Where and why a value does not match.
pub(super) fn mismatch(schema: &Value, value: &Value) -> Option<String> {
    if let Some(choices) = schema["anyOf"].as_array() {
        let fits = choices.iter().any(|choice| mismatch(choice, value).is_none());
        return (!fits).then(|| format!("none of the choices: {value}"));
    }
    if schema.get("format").is_some() {
        return Some(format!("clients do not know the format {}", schema["format"]));
    }
    if !is_of_type(&schema["type"], value) {
        return Some(format!("not {}: {value}", schema["type"]));
    }
    match value {
        Value::Object(fields) => {
            let required = schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str);
            let missing = required.filter(|name| !fields.contains_key(*name)).map(|name| format!("no `{name}`"));
            let inner = fields.iter().filter_map(|(name, field)| {
                let known = schema["properties"].get(name).or_else(|| schema.get("additionalProperties"));
                mismatch(known?, field).map(|wrong| format!("{name}: {wrong}"))
            });
            missing.chain(inner).next()
        }
        Value::Array(items) => items.iter().find_map(|item| mismatch(&schema["items"], item)),
        _ => None,
    }
}

fn is_of_type(wanted: &Value, value: &Value) -> bool {
    let is = |name: &Value| match name.as_str() {
        Some("null") => value.is_null(),
        Some("string") => value.is_string(),
        Some("boolean") => value.is_boolean(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("number") => value.is_number(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => true,
    };
    match wanted {
        Value::Array(names) => names.iter().any(is),
        name => is(name),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::mismatch;

    #[test]
    fn what_is_missing_or_of_another_type_is_named() {
        let schema = json!({ "type": "object", "required": ["a"], "properties": {
            "a": { "type": ["string", "null"] },
            "b": { "type": "array", "items": { "type": "integer" } },
            "c": { "anyOf": [{ "type": "boolean" }, { "type": "null" }] },
        } });
        let wrong = |value| mismatch(&schema, &value).is_some();
        assert!(!wrong(json!({ "a": null, "b": [1, 2], "c": true, "more": 1 })));
        assert!(wrong(json!({})));
        assert!(wrong(json!({ "a": 1 })));
        assert!(wrong(json!({ "a": "", "b": [1, "x"] })));
        assert!(wrong(json!({ "a": "", "c": 1 })));
    }
}
