//! A small MCP client over HTTP or stdio: what agents send, without a library's opinions.

mod schema;

use std::process::Stdio;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// The answer to an HTTP request.
#[derive(Clone, Debug)]
pub struct Reply {
    pub status: u16,
    /// The head as it came, status line first.
    pub head: String,
    pub body: Vec<u8>,
}

/// One connection to a server, kept open between requests.
#[derive(Debug)]
pub struct Http {
    host: String,
    path: String,
    stream: Option<BufReader<TcpStream>>,
    /// Added to every request.
    pub headers: Vec<(String, String)>,
}

impl Http {
    /// For an address such as `http://127.0.0.1:4700/mcp`.
    pub fn new(url: &str, bearer: Option<&str>) -> Self {
        let rest = url.strip_prefix("http://").expect("an http address");
        let (host, path) = rest.split_once('/').unwrap_or((rest, ""));
        let mut headers = vec![
            ("Content-Type".into(), "application/json".into()),
            ("Accept".into(), "application/json, text/event-stream".into()),
        ];
        headers.extend(bearer.map(|bearer| ("Authorization".into(), format!("Bearer {bearer}"))));
        Self { host: host.into(), path: format!("/{path}"), stream: None, headers }
    }

    pub async fn post(&mut self, body: &[u8]) -> std::io::Result<Reply> {
        self.send("POST", body).await
    }

    /// Sends a request; once more if the connection was closed meanwhile.
    pub async fn send(&mut self, method: &str, body: &[u8]) -> std::io::Result<Reply> {
        let fresh = self.stream.is_none();
        match self.exchange(method, body).await {
            Err(_) if !fresh => {
                self.stream = None;
                self.exchange(method, body).await
            }
            answer => answer,
        }
    }

    async fn exchange(&mut self, method: &str, body: &[u8]) -> std::io::Result<Reply> {
        let mut stream = match self.stream.take() {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.host).await?;
                stream.set_nodelay(true)?;
                BufReader::new(stream)
            }
        };
        let mut request = format!("{method} {} HTTP/1.1\r\n", self.path);
        if !self.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
            request.push_str(&format!("Host: {}\r\n", self.host));
        }
        for (name, value) in &self.headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str(&format!("Content-Length: {}\r\n\r\n", body.len()));
        let mut bytes = request.into_bytes();
        bytes.extend_from_slice(body);
        stream.write_all(&bytes).await?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if stream.read_line(&mut head).await? == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
        }
        let field = |name: &str| {
            head.lines().find_map(|line| {
                let (key, value) = line.split_once(':')?;
                key.eq_ignore_ascii_case(name).then(|| value.trim().to_owned())
            })
        };
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok()).unwrap_or(0);
        let mut body = Vec::new();
        if field("transfer-encoding").is_some_and(|coding| coding.contains("chunked")) {
            loop {
                let mut size = String::new();
                stream.read_line(&mut size).await?;
                let size = usize::from_str_radix(size.trim(), 16).map_err(std::io::Error::other)?;
                let mut chunk = vec![0; size + 2];
                stream.read_exact(&mut chunk).await?;
                if size == 0 {
                    break;
                }
                body.extend_from_slice(&chunk[..size]);
            }
        } else {
            let length = field("content-length").and_then(|length| length.parse().ok()).unwrap_or(0);
            body.resize(length, 0);
            stream.read_exact(&mut body).await?;
        }
        if !field("connection").is_some_and(|value| value.eq_ignore_ascii_case("close")) {
            self.stream = Some(stream);
        }
        Ok(Reply { status, head, body })
    }
}

/// A server that was started for one client, over its stdin and stdout.
#[derive(Debug)]
pub struct StdioTransport {
    child: Child,
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

/// A client, over either transport.
#[derive(Debug)]
pub enum Client {
    Http { http: Http, last: u64, listed: Value },
    Stdio { stdio: StdioTransport, last: u64, listed: Value },
}

impl Client {
    pub fn http(url: &str, bearer: Option<&str>) -> Self {
        Self::Http { http: Http::new(url, bearer), last: 0, listed: Value::Null }
    }

    /// Starts a server and says hello as clients do.
    pub async fn stdio(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{command:?}: {error}"));
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("piped"));
        let mut client = Self::Stdio { stdio: StdioTransport { child, input, output }, last: 0, listed: Value::Null };
        client.initialize("2025-06-18").await;
        client
    }

    /// The handshake of the older revisions.
    pub async fn initialize(&mut self, version: &str) -> Value {
        let hello = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": { "name": "testkit", "version": "0" },
        });
        let answer = self.request("initialize", hello).await;
        self.notify("notifications/initialized").await;
        answer
    }

    /// One JSON-RPC request: the whole answer, result or error.
    pub async fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.next_id();
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        let answer = match self {
            Self::Http { http, .. } => {
                let reply = http.post(request.to_string().as_bytes()).await;
                let reply = reply.unwrap_or_else(|error| panic!("{method}: {error}"));
                let text = String::from_utf8_lossy(&reply.body).into_owned();
                serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {} {text}", reply.head))
            }
            Self::Stdio { stdio, .. } => stdio.exchange(&request).await,
        };
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub async fn notify(&mut self, method: &str) {
        let note = json!({ "jsonrpc": "2.0", "method": method });
        match self {
            Self::Http { http, .. } => {
                let reply = http.post(note.to_string().as_bytes()).await.expect("a notification is taken");
                assert_eq!(reply.status, 202, "{}", reply.head);
            }
            Self::Stdio { stdio, .. } => stdio.send(&note).await,
        }
    }

    /// Calls a tool: its answer, or the refusal.
    pub async fn call(&mut self, tool: &str, arguments: Value) -> Result<Value, Value> {
        let answer = self.request("tools/call", json!({ "name": tool, "arguments": arguments })).await;
        let result = &answer["result"];
        assert!(result.is_object(), "{tool}: {answer}");
        let text = result["content"][0]["text"].as_str().unwrap_or("");
        let content: Value = serde_json::from_str(text).unwrap_or_else(|error| panic!("{tool}: {error}: {answer}"));
        assert_eq!(result["structuredContent"], content);
        self.check_shape(tool, &content).await;
        match result["isError"].as_bool() {
            Some(true) => Err(content),
            Some(false) | None => Ok(content),
        }
    }

    /// Clients refuse a result that does not fit the schema that was listed for it; so do we.
    async fn check_shape(&mut self, tool: &str, content: &Value) {
        if self.listed().is_null() {
            let answer = self.request("tools/list", json!({})).await;
            *self.listed() = answer["result"]["tools"].clone();
        }
        let listed = self.listed().as_array().into_iter().flatten().find(|listed| listed["name"] == tool);
        if let Some(wrong) = listed.and_then(|listed| schema::mismatch(&listed["outputSchema"], content)) {
            panic!("the answer of {tool} does not fit its schema: {wrong}\n{content}");
        }
    }

    fn listed(&mut self) -> &mut Value {
        let (Self::Http { listed, .. } | Self::Stdio { listed, .. }) = self;
        listed
    }

    /// Calls a tool that must be accepted.
    #[track_caller]
    pub fn must(&mut self, tool: &str, arguments: Value) -> impl Future<Output = Value> {
        let called = format!("{tool} {arguments}");
        let tool = tool.to_owned();
        async move { self.call(&tool, arguments).await.unwrap_or_else(|refused| panic!("{called}: {refused}")) }
    }

    /// Asks for the next step.
    pub async fn next(&mut self) -> Value {
        self.must("get_next_action", json!({})).await
    }

    /// Closes the connection. A server over stdio ends by itself then; its exit code.
    pub async fn close(self) -> Option<i32> {
        match self {
            Self::Http { .. } => None,
            Self::Stdio { mut stdio, .. } => {
                stdio.input = None;
                stdio.child.wait().await.expect("it ends").code()
            }
        }
    }

    fn next_id(&mut self) -> u64 {
        let (Self::Http { last, .. } | Self::Stdio { last, .. }) = self;
        *last += 1;
        *last
    }
}

impl StdioTransport {
    async fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().expect("still open");
        input.write_all(format!("{message}\n").as_bytes()).await.expect("the server reads");
        input.flush().await.expect("the server reads");
    }

    async fn exchange(&mut self, request: &Value) -> Value {
        self.send(request).await;
        loop {
            let mut line = String::new();
            let read = self.output.read_line(&mut line).await.expect("the server answers");
            assert!(read > 0, "the server ended before it answered {request}");
            let answer: Value = serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line}"));
            if answer["id"] == request["id"] {
                return answer;
            }
        }
    }
}
