//! A running `saihai serve`.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};
use testkit::mcp::Client;

use crate::world::World;

/// One of several equal servers, killed when it is dropped.
pub(crate) struct Server {
    process: Child,
    pub(crate) port: u16,
}

/// What a request was answered with.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or(Value::Null)
    }
}

impl Server {
    pub(crate) fn start(world: &World) -> Self {
        Self::start_at(world, 0, &[])
    }

    /// On this port, where another may have been before.
    pub(crate) fn start_at(world: &World, port: u16, arguments: &[&str]) -> Self {
        let listen = format!("127.0.0.1:{port}");
        Self::begin(world.command(&[&["serve", "--listen", &listen, "--json"], arguments].concat()))
    }

    /// Another version of the program.
    pub(crate) fn of(world: &World, program: &Path) -> Self {
        Self::begin(world.command_of(program, &["serve", "--listen", "127.0.0.1:0", "--json"]))
    }

    fn begin(mut command: Command) -> Self {
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let ready: Value = serde_json::from_str(&line).unwrap();
        let port = ready["url"].as_str().unwrap().trim_end_matches('/').rsplit_once(':').unwrap().1.parse().unwrap();
        Self { process, port }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// An agent's client with its passkey.
    pub(crate) fn client(&self) -> Client {
        Client::http(&format!("{}/mcp", self.url()), None)
    }

    pub(crate) fn kill(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }

    /// Asks the HTTP API.
    pub(crate) fn ask(&self, token: &str, method: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = if body.is_null() { Vec::new() } else { body.to_string().into_bytes() };
        let answer = self.send(token, method, &format!("/api/v1{path}"), "application/json", &body);
        (answer.status, answer.json())
    }

    /// Asks what runners ask.
    pub(crate) fn ask_as_runner(&self, token: &str, path: &str, body: &Value) -> (u16, Value) {
        let body = body.to_string().into_bytes();
        let answer = self.send(token, "POST", &format!("/runner/v1{path}"), "application/json", &body);
        (answer.status, answer.json())
    }

    /// Sends a request of HTTP/1.0, so that the answer comes in one piece.
    pub(crate) fn send(&self, token: &str, method: &str, path: &str, content_type: &str, body: &[u8]) -> Answer {
        let mut stream = std::net::TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        write!(
            stream,
            "{method} {path} HTTP/1.0\r\nHost: 127.0.0.1:{}\r\nAuthorization: Bearer {token}\r\n\
             Content-Type: {content_type}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        )
        .unwrap();
        stream.write_all(body).unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|four| four == b"\r\n\r\n").unwrap();
        let status = String::from_utf8_lossy(&answer[..head]).split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, body: answer.split_off(head + 4) }
    }

    /// A runner's token, with the id under which the runner is known.
    pub(crate) fn runner_token(world: &World, name: &str, labels: &[&str]) -> (String, String) {
        let labels = labels.join(",");
        let mut arguments = vec!["token", "create", "--role", "runner", "--name", name];
        if !labels.is_empty() {
            arguments.extend(["--labels", &labels]);
        }
        let made = world.json(&arguments);
        let text = |field: &str| made[field].as_str().unwrap().to_owned();
        (text("token"), text("id"))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// An empty request.
pub(crate) fn nothing() -> Value {
    json!({})
}
