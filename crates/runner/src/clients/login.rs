//! Which of the user's logins does a client get? That of its own vendor, and nothing else of their home.

use std::path::PathBuf;

use serde_json::Value;

use super::{Assignment, Launch};

/// The names under which the vendors' login files keep what must not be seen.
const SECRET_FIELDS: [&str; 11] = [
    "accessToken",
    "refreshToken",
    "access_token",
    "refresh_token",
    "id_token",
    "OPENAI_API_KEY",
    "access",
    "refresh",
    "key",
    "token",
    "client_secret",
];

impl Launch {
    /// Hands over the keys among `names`: the agent's own if it has any, else the user's, never a mix of
    /// two accounts. The names of those that there are.
    pub(super) fn keys<'n>(&mut self, assignment: &Assignment<'_>, names: &[&'n str]) -> Vec<&'n str> {
        let own = names.iter().any(|name| assignment.env.contains_key(*name));
        let known = |name: &str| match own {
            true => assignment.env.get(name).map(|value| value.0.clone()),
            false => assignment.user.env.get(name).cloned(),
        };
        let found = names.iter().filter_map(|name| Some((*name, known(name).filter(|value| !value.is_empty())?)));
        found
            .map(|(name, value)| {
                self.secrets.push(value.clone());
                self.env.insert(name.to_owned(), value);
                name
            })
            .collect()
    }

    /// Hands over what says where and how to log in, but is no secret.
    pub(super) fn settings(&mut self, assignment: &Assignment<'_>, names: &[&str]) {
        let known = names.iter().filter_map(|name| Some((*name, assignment.variable(name)?)));
        self.env.extend(known.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    /// Hands over a copy of a login file. Is there one?
    pub(super) fn login(&mut self, original: PathBuf, copy: PathBuf) -> bool {
        let Ok(contents) = std::fs::read(&original) else { return false };
        self.login_part(copy.clone(), contents);
        self.logins.push((copy, original));
        true
    }

    /// Hands over a part of a login file, which can therefore not take the original's place.
    pub(super) fn login_part(&mut self, copy: PathBuf, contents: Vec<u8>) {
        if let Ok(login) = serde_json::from_slice(&contents) {
            self.secrets.extend(secrets(&login));
        }
        self.files.push((copy, contents));
    }
}

fn secrets(login: &Value) -> Vec<String> {
    match login {
        Value::Object(fields) => fields.iter().flat_map(|(name, value)| secrets_of(name, value)).collect(),
        Value::Array(items) => items.iter().flat_map(secrets).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
    }
}

fn secrets_of(name: &str, value: &Value) -> Vec<String> {
    match value.as_str() {
        // Shorter values are no secrets, and to redact them would garble the log.
        Some(text) if SECRET_FIELDS.contains(&name) && text.len() >= 8 => vec![text.to_owned()],
        Some(_) => Vec::new(),
        None => secrets(value),
    }
}
