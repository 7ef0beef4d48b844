//! MCP: the tools by which agents ask and are told.
//!
//! [`tool`] says what a tool is, `tools` holds what each one does, by its subject, and [`catalogue`] lists them;
//! [`caller`] finds out who calls; [`run`] runs one call. [`resources`] is what an orchestrator can read besides.

mod answers;
mod arguments;
mod call;
mod caller;
mod catalogue;
mod page;
mod phrase;
mod refused;
mod resources;
mod run;
mod tool;
mod tools;

use std::net::Ipv6Addr;
use std::sync::Arc;

use axum::Router;
use board::{AgentId, Language, ProjectId};
use control::ControlError;
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams, CompleteResult,
    ConstString, DiscoverResult, Extensions, Implementation, InitializeRequestParams, InitializeResult,
    ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod, ListResourceTemplatesResult,
    ListResourcesRequestMethod, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestMethod, ReadResourceRequestParams, ReadResourceResponse, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use rmcp::transport::streamable_http_server::session::never::NeverSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use server::{AttemptLimiter, HttpServer, ServerState};
use tokio::sync::Semaphore;

pub use self::page::tools_page;

use self::answers::RenderedNextActions;
use self::caller::{Bearer, Caller};
use self::catalogue::CATALOGUE;
use self::phrase::{Phrase, phrase};
use self::tool::Catalogue;

/// A request is text of bounded length; the largest batch of tasks is well below this.
const MAX_BODY: usize = 4 * 1024 * 1024;

const INSTRUCTIONS: Phrase = phrase(
    "Saihai tells each agent its next step. Call authenticate, then get_next_action; do exactly what it says and call it \
     again, until it tells you to log out.",
    "Saihai は各エージェントに次の行動を伝えます。authenticate、続いて get_next_action を呼び、指示のとおりに実行して\
     再び呼んでください。ログアウトを指示されるまで繰り返します。",
);

const INSTRUCTIONS_TO_ORCHESTRATORS: Phrase = phrase(
    "You direct agents for the owner of this board; they do the work. Look with \
     get_overview. Give work with create_tasks and start_tasks, each task assigned to an agent. Follow it with \
     wait_for_changes; explain_task says why a task stands still. Judge with get_diff and review_task. A task is done \
     when its work has passed the checks and is merged: believe the board, not what an agent says of itself.",
    "あなたはこのボードのオーナーに代わってエージェントを指揮します。作業はエージェントが行います。get_overview で状況を確認し、\
     create_tasks と start_tasks で、エージェントに割り当てたタスクを渡してください。進み具合は wait_for_changes で追い、\
     進まない理由は explain_task で調べます。get_diff と review_task で判断してください。タスクは、作業がチェックに合格して\
     マージされたときに完了です。エージェントの自己申告ではなく、ボードを信じてください。",
);

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
        ServerConfig::new(capabilities).with_server_info(about).with_instructions(INSTRUCTIONS.say(Language::En))
    }

    async fn initialize(
        &self,
        request: InitializeRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<InitializeResult, ErrorData> {
        context.peer.set_peer_info(request.clone());
        let mut result = self.negotiate_initialize(&request)?;
        let info = self.info_for(&context.extensions).await?;
        (result.capabilities, result.instructions) = (info.capabilities, info.instructions);
        Ok(result)
    }

    async fn discover(&self, context: RequestContext<RoleServer>) -> Result<DiscoverResult, ErrorData> {
        let info = self.info_for(&context.extensions).await?;
        Ok(DiscoverResult::from_server_info(self.supported_protocol_versions().into_owned(), info))
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let caller = self.known_caller(&context.extensions).await?;
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
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        if !self.known_caller(&context.extensions).await?.is_orchestrator() {
            return not_here::<ListResourcesRequestMethod, _>();
        }
        let mut result =
            ListResourcesResult::with_all_items(resources::list(&self.state.server).await.map_err(broken)?);
        (result.ttl_ms, result.cache_scope) = (Some(0), Some(CacheScope::Private));
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        if !self.known_caller(&context.extensions).await?.is_orchestrator() {
            return not_here::<ListResourceTemplatesRequestMethod, _>();
        }
        let mut result = ListResourceTemplatesResult::with_all_items(resources::templates());
        (result.ttl_ms, result.cache_scope) = (Some(0), Some(CacheScope::Private));
        Ok(result)
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        if !self.known_caller(&context.extensions).await?.is_orchestrator() {
            return not_here::<ReadResourceRequestMethod, _>();
        }
        let mut result = resources::read(&self.state.server, &request.uri).await?;
        (result.ttl_ms, result.cache_scope) = (Some(0), Some(CacheScope::Private));
        Ok(result.into())
    }
}

impl Mcp {
    /// Who calls, by what came with the request.
    async fn known_caller(&self, extensions: &Extensions) -> Result<Caller, ErrorData> {
        let origin = self.state.origin_of(extensions);
        let caller = self.state.caller(origin.bearer.as_ref(), None).await.map_err(broken)?;
        caller.keep_connection(&origin);
        Ok(caller)
    }

    /// What this caller is told of the server.
    async fn info_for(&self, extensions: &Extensions) -> Result<ServerConfig, ErrorData> {
        let mut info = self.get_info();
        let caller = self.known_caller(extensions).await?;
        let mut instructions = INSTRUCTIONS;
        if caller.is_orchestrator() {
            info.capabilities = ServerCapabilities::builder().enable_tools().enable_resources().build();
            instructions = INSTRUCTIONS_TO_ORCHESTRATORS;
        }
        info.instructions = Some(instructions.say(caller.language()).into());
        Ok(info)
    }
}

fn broken(error: ControlError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn not_here<M: ConstString, T>() -> Result<T, ErrorData> {
    Err(ErrorData::method_not_found::<M>())
}
