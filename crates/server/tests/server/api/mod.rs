//! The HTTP API as programs and browsers use it.

mod changes;
mod document;
mod hostile;
mod login;
mod metrics;
mod pages;
mod sample_board;
mod stream;

use serde_json::Value;
use testkit::mcp::{Http, Reply};

use crate::test_server::TestServer;

/// Whoever sends requests, with the headers that come with all of them.
#[derive(Clone, Debug)]
pub(crate) struct Sender {
    base: String,
    bearer: Option<String>,
    headers: Vec<(String, String)>,
}

impl Sender {
    fn of(server: &TestServer, role: &str) -> Self {
        Self { base: server.base.clone(), bearer: Some(server.tokens[role].clone()), headers: Vec::new() }
    }

    fn nobody(server: &TestServer) -> Self {
        Self { base: server.base.clone(), bearer: None, headers: Vec::new() }
    }

    fn with(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    async fn send(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        let mut http = Http::new(&format!("{}{path}", self.base), self.bearer.as_deref());
        for (name, value) in &self.headers {
            http.headers.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
            http.headers.push((name.clone(), value.clone()));
        }
        http.send(method, body).await.unwrap()
    }

    async fn call(&self, method: &str, path: &str, body: Value) -> (u16, Value) {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let reply = self.send(method, &format!("/api/v1{path}"), &body).await;
        let answer = if reply.body.is_empty() { Value::Null } else { json_of(&reply) };
        (reply.status, answer)
    }

    /// What is there.
    async fn get(&self, path: &str) -> Value {
        let (status, answer) = self.call("GET", path, Value::Null).await;
        assert_eq!(status, 200, "{path}: {answer}");
        answer
    }

    /// What is changed, which must be accepted.
    async fn change(&self, method: &str, path: &str, body: Value) -> Value {
        let (status, answer) = self.call(method, path, body).await;
        assert!((200..300).contains(&status), "{method} {path}: {status} {answer}");
        answer
    }

    /// The status and code of what must be refused.
    async fn refused(&self, method: &str, path: &str, body: Value) -> (u16, String) {
        let (status, answer) = self.call(method, path, body).await;
        assert!(status >= 400, "{method} {path}: {status} {answer}");
        (status, answer["code"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned())
    }
}

fn json_of(reply: &Reply) -> Value {
    serde_json::from_slice(&reply.body)
        .unwrap_or_else(|error| panic!("{error}: {} {}", reply.head, String::from_utf8_lossy(&reply.body)))
}

fn header<'a>(reply: &'a Reply, name: &str) -> Option<&'a str> {
    reply.head.lines().find_map(|line| {
        let (key, value) = line.split_once(':')?;
        key.eq_ignore_ascii_case(name).then(|| value.trim())
    })
}

/// A refusal is a problem: the right kind of document, with all its parts.
fn assert_problem(reply: &Reply, what: &str) {
    assert_eq!(header(reply, "content-type"), Some("application/problem+json"), "{what}: {}", reply.head);
    let problem = json_of(reply);
    assert_eq!(problem["status"], reply.status, "{what}");
    for part in ["title", "code", "detail", "hint"] {
        assert!(problem[part].as_str().is_some_and(|text| !text.is_empty()), "{what}: {problem}");
    }
}
