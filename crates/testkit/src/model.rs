//! A model that needs no network: it answers real clients by a script, in the APIs of four vendors.
//!
//! It keeps no state: what it does next follows from the conversation in each request, so any
//! number of clients can use one server at once, and a client that is killed can come back.

mod action;
mod anthropic;
mod chat;
mod conversation;
mod directing;
mod gemini;
mod guided;
mod reply;
mod responses;

use std::net::SocketAddr;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{Request, State};
use axum::response::Response;
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub use self::action::next_turn;
pub use self::conversation::{ClientTool, Conversation, ToolCall, Turn};
use self::reply::{Ids, Reply};

/// Clients send whole conversations.
const MAX_BODY: usize = 64 * 1024 * 1024;

/// How the model behaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Behaviour {
    /// It does what `get_next_action` says, or directs a project where it has the tools for that.
    Guided,
    /// Every request is answered with 429 and `Retry-After: 1`.
    RateLimited,
    /// Every request is answered with 401.
    Unauthorised,
}

impl std::str::FromStr for Behaviour {
    type Err = String;

    fn from_str(word: &str) -> Result<Self, String> {
        match word {
            "guided" => Ok(Self::Guided),
            "429" => Ok(Self::RateLimited),
            "401" => Ok(Self::Unauthorised),
            _ => Err(format!("`{word}` is not one of: guided, 429, 401")),
        }
    }
}

/// A model server that listens. It ends when this is dropped.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    serving: JoinHandle<std::io::Result<()>>,
}

impl ModelServer {
    /// Listens on a free port of this machine.
    pub async fn start(behaviour: Behaviour) -> std::io::Result<Self> {
        Self::listen("127.0.0.1:0", behaviour).await
    }

    pub async fn listen(address: &str, behaviour: Behaviour) -> std::io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        let model = Arc::new(Model { behaviour, ids: Ids::new() });
        let router = Router::new().fallback(answer).with_state(model);
        let serving = tokio::spawn(async move { axum::serve(listener, router).await });
        Ok(Self { address, serving })
    }

    /// Where clients find it. Those of OpenAI's APIs want `/v1` added.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Serves until the process ends.
    pub async fn wait(mut self) -> std::io::Result<()> {
        (&mut self.serving).await.map_err(std::io::Error::other)?
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

#[derive(Debug)]
struct Model {
    behaviour: Behaviour,
    ids: Ids,
}

async fn answer(State(model): State<Arc<Model>>, request: Request) -> Response {
    let (parts, body) = request.into_parts();
    let body = axum::body::to_bytes(body, MAX_BODY).await.unwrap_or_default();
    let reply = model.reply(parts.method.as_str(), parts.uri.path(), &body);
    if std::env::var_os("MODEL_LOG").is_some() {
        eprintln!("{} {} -> {} {}", parts.method, parts.uri, reply.status, reply.body);
    }
    let response = Response::builder().status(reply.status).header("content-type", reply.content_type);
    let response = match reply.status {
        429 => response.header("retry-after", "1"),
        _ => response,
    };
    response.body(Body::from(reply.body)).expect("the parts are ours")
}

impl Model {
    fn reply(&self, method: &str, path: &str, body: &[u8]) -> Reply {
        if method != "POST" {
            // Clients ask first whether the server is up.
            return Reply::json(&json!({}));
        }
        match self.behaviour {
            Behaviour::Guided => {}
            Behaviour::RateLimited => return Reply::error(429, "rate_limit_error", "Slow down."),
            Behaviour::Unauthorised => return Reply::error(401, "authentication_error", "The key is wrong."),
        }
        let Ok(mut request) = serde_json::from_slice::<Value>(body) else {
            return Reply::error(400, "invalid_request_error", "This is no JSON.");
        };
        match path {
            "/v1/messages" => anthropic::reply(&request, &next_turn(&anthropic::read(&request)), &self.ids),
            "/v1/messages/count_tokens" => Reply::json(&json!({ "input_tokens": 100 })),
            "/v1/responses" => responses::reply(&request, &next_turn(&responses::read(&request)), &self.ids),
            "/v1/chat/completions" => chat::reply(&request, &next_turn(&chat::read(&request)), &self.ids),
            _ => match gemini::endpoint(path) {
                Some((model, delivery)) => {
                    request["model"] = json!(model);
                    gemini::reply(&request, &next_turn(&gemini::read(&request)), &self.ids, delivery)
                }
                None => Reply::error(404, "not_found_error", "There is nothing here."),
            },
        }
    }
}
