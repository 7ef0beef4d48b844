//! MCP: the tools by which agents ask and are told.
//!
//! [`tool`] says what a tool is, `tools` holds what each one does, by its subject, and [`catalogue`] lists them;
//! [`caller`] finds out who calls; [`run`] runs one call.

mod answers;
mod arguments;
mod call;
mod caller;
mod catalogue;
mod page;
mod refused;
mod run;
mod tool;
mod tools;

use std::net::Ipv6Addr;
use std::sync::Arc;

use axum::Router;
use board::{AgentId, ProjectId};
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams, CompleteResult,
    ConstString, Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use server::{AttemptLimiter, HttpServer, ServerState};
use tokio::sync::Semaphore;

pub use self::page::tools_page;

use self::answers::RenderedNextActions;
use self::caller::Bearer;
use self::catalogue::CATALOGUE;
use self::tool::Catalogue;

/// A request is text of bounded length; the largest batch of tasks is well below this.
const MAX_BODY: usize = 4 * 1024 * 1024;

const INSTRUCTIONS: &str = "Saihai tells each agent its next step. Call authenticate, then get_next_action; do \
     exactly what it says and call it again, until it tells you to log out.";

/// The MCP server. Cheap to clone; every transport uses the same one.
#[derive(Clone, Debug)]
pub struct Mcp {
    state: Arc<McpState>,
}

/// What every call works with.
#[derive(Debug)]
pub(crate) struct McpState {
    pub(crate) server: Arc<ServerState>,
    /// Passkeys that were tried, by agent. All agents that do not exist count as one: their names are the guesser's
    /// choice.
    pub(crate) attempts: AttemptLimiter<Option<(ProjectId, AgentId)>>,
    /// Checking a passkey is slow on purpose: one at a time, or whoever guesses would have the whole machine.
    pub(crate) passkey_checks: Semaphore,
    /// The credential of the client at the other end of stdio.
    pub(crate) stdio_bearer: Option<Bearer>,
    pub(crate) catalogue: &'static Catalogue,
    pub(crate) next_actions: RenderedNextActions,
}

impl Mcp {
    pub fn new(server: Arc<ServerState>) -> Self {
        Self::with_bearer(server, None)
    }

    fn with_bearer(server: Arc<ServerState>, stdio_bearer: Option<Bearer>) -> Self {
        Self {
            state: Arc::new(McpState {
                server,
                attempts: AttemptLimiter::default(),
                passkey_checks: Semaphore::new(1),
                stdio_bearer,
                catalogue: &CATALOGUE,
                next_actions: RenderedNextActions::default(),
            }),
        }
    }
}

/// The route `/mcp` for a handler: this crate's [`Mcp`], or one that a test puts around it.
pub fn router<H: ServerHandler + Clone>(handler: H, http_server: &HttpServer) -> Router {
    let origins = http_server.hosts().iter().map(|host| match host.parse::<Ipv6Addr>() {
        Ok(_) => format!("http://[{host}]:*"),
        Err(_) => format!("http://{host}:*"),
    });
    // Stateless, with plain answers: a restart costs a connected client nothing (M1).
    let config = StreamableHttpServerConfig::default()
        .with_legacy_session_mode(false)
        .with_json_response(true)
        .with_max_request_body_bytes(MAX_BODY)
        .with_cancellation_token(http_server.shutdown().child_token())
        .with_allowed_origins(origins.collect::<Vec<_>>())
        .with_allowed_hosts(http_server.hosts().to_vec());
    let service =
        StreamableHttpService::new(move || Ok(handler.clone()), NeverSessionManager::default().into(), config);
    Router::new().nest_service("/mcp", service)
}

/// Serves one client over stdin and stdout, until it closes its end or the server shuts down. Its
/// credential, if it has one, comes from its environment.
pub async fn serve_stdio(server: Arc<ServerState>, credential: Option<String>) {
    let mcp = Mcp::with_bearer(Arc::clone(&server), credential.map(Bearer::new));
    match mcp.serve_with_ct(rmcp::transport::io::stdio_pipes(), server.shutdown().clone()).await {
        Ok(running) => drop(running.waiting().await),
        Err(error) => tracing::debug!(%error, "no client"),
    }
    server.close().await;
}

impl ServerHandler for Mcp {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let about = Implementation::new("saihai", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let origin = self.state.origin_of(&context.extensions);
        let caller = self.state.caller(origin.bearer.as_ref(), None).await;
        let caller = caller.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        caller.keep_connection(&origin);
        let mut result = ListToolsResult::with_all_items(self.state.catalogue.listed(&caller));
        // The list differs by role, so a cache must not share it between callers.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let origin = self.state.origin_of(&context.extensions);
        let arguments = request.arguments.unwrap_or_default();
        // On the heap: the SDK moves what it is given several times.
        let result = Box::pin(run::run(&self.state, origin, &request.name, arguments, context.ct)).await;
        Ok(result.into())
    }

    // What is not offered is refused, not answered with nothing.

    async fn complete(
        &self,
        _: CompleteRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CompleteResult, ErrorData> {
        not_here::<CompleteRequestMethod, _>()
    }

    async fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        not_here::<ListPromptsRequestMethod, _>()
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        not_here::<ListResourcesRequestMethod, _>()
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        not_here::<ListResourceTemplatesRequestMethod, _>()
    }
}

fn not_here<M: ConstString, T>() -> Result<T, ErrorData> {
    Err(ErrorData::method_not_found::<M>())
}
