//! MCP: the tools by which agents ask and are told.
//!
//! [`catalogue`] says which tools there are and who may call them; [`caller`] finds out who calls;
//! [`call`] runs one call; `tools` holds what each tool does, by its subject.

mod arguments;
mod call;
mod caller;
mod catalogue;
mod page;
mod refused;
mod shapes;
mod tools;

use std::collections::HashMap;
use std::sync::{Arc, OnceLock, RwLock};

use board::{AgentId, Installation, ProjectId};
use control::{Control, ControlError, Project, Writer};
use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CacheScope, CallToolRequestParams, CallToolResponse, CompleteRequestMethod, CompleteRequestParams, CompleteResult,
    ConstString, Implementation, ListPromptsRequestMethod, ListPromptsResult, ListResourceTemplatesRequestMethod,
    ListResourceTemplatesResult, ListResourcesRequestMethod, ListResourcesResult, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig,
};
use rmcp::service::{RequestContext, RoleServer, ServiceExt as _};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

pub use self::page::tools_page;

use self::caller::Bearer;
use crate::attempt_limiter::AttemptLimiter;
use crate::web::metrics::Counted;
use crate::workspace_provider::WorkspaceProvider;

const INSTRUCTIONS: &str = "Saihai tells each agent its next step. Call authenticate, then get_next_action; do \
     exactly what it says and call it again, until it tells you to log out.";

/// The MCP server. Cheap to clone; every transport uses the same one.
#[derive(Clone, Debug)]
pub struct Mcp {
    server: Arc<ServerState>,
}

/// What every call works with.
#[derive(Debug)]
pub(crate) struct ServerState {
    pub(crate) control: Control,
    pub(crate) installation: Writer<Installation>,
    /// Projects that were called about.
    projects: RwLock<HashMap<ProjectId, Project>>,
    /// By agent. All that do not exist are one: their names are the guesser's choice.
    attempts: AttemptLimiter<Option<(ProjectId, AgentId)>>,
    /// The credential of whoever is at the other end of stdio.
    bearer: Option<Bearer>,
    pub(crate) shutdown: CancellationToken,
    /// Set once there is a runner.
    workspaces: OnceLock<Arc<dyn WorkspaceProvider>>,
    /// Set once somebody counts events.
    pub(crate) counted: OnceLock<watch::Receiver<Counted>>,
}

impl Mcp {
    pub async fn new(control: Control, shutdown: CancellationToken) -> Result<Self, ControlError> {
        Self::with_bearer(control, shutdown, None).await
    }

    async fn with_bearer(
        control: Control,
        shutdown: CancellationToken,
        bearer: Option<Bearer>,
    ) -> Result<Self, ControlError> {
        let installation = control.installation().await?;
        let (projects, attempts, workspaces) = (RwLock::default(), AttemptLimiter::default(), OnceLock::new());
        let counted = OnceLock::new();
        let server = ServerState { control, installation, projects, attempts, bearer, shutdown, workspaces, counted };
        Ok(Self { server: Arc::new(server) })
    }

    pub(crate) fn server(&self) -> &Arc<ServerState> {
        &self.server
    }

    /// From now on there is somebody who makes workspaces.
    pub fn with_workspaces(&self, workspaces: Arc<dyn WorkspaceProvider>) {
        let _ = self.server.workspaces.set(workspaces);
    }

    /// Cancelled when the server closes.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.server.shutdown
    }

    /// Writes what is still to be remembered. To be called before the process ends.
    pub async fn close(&self) {
        self.server.shutdown.cancel();
        self.server.control.close().await;
    }
}

impl ServerState {
    /// A project that exists. Opening one is no way to make one.
    pub(crate) async fn project(&self, id: &ProjectId) -> Result<Option<Project>, ControlError> {
        let known = self.projects.read().unwrap_or_else(std::sync::PoisonError::into_inner).get(id).cloned();
        if known.is_some() {
            return Ok(known);
        }
        if self.control.store().head(&Project::stream(id)).await?.seq == 0 {
            return Ok(None);
        }
        let project = self.control.project(id).await?;
        let mut projects = self.projects.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        projects.insert(id.clone(), project.clone());
        Ok(Some(project))
    }
}

/// Serves one client over stdin and stdout, until it closes its end or the server closes. Its
/// credential, if it has one, comes from its environment.
pub async fn serve_stdio(
    control: Control,
    shutdown: CancellationToken,
    credential: Option<String>,
) -> Result<(), ControlError> {
    let mcp = Mcp::with_bearer(control, shutdown.clone(), credential.map(Bearer::new)).await?;
    match mcp.clone().serve_with_ct(rmcp::transport::io::stdio_pipes(), shutdown).await {
        Ok(running) => drop(running.waiting().await),
        Err(error) => tracing::debug!(%error, "no client"),
    }
    mcp.close().await;
    Ok(())
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
        let bearer = self.server.bearer_of(&context.extensions);
        let caller = self.server.caller(bearer.as_ref(), None).await;
        let caller = caller.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        let mut result = ListToolsResult::with_all_items(catalogue::listed(&caller));
        // Ours differs by role: nobody may keep it for somebody else.
        result.ttl_ms = Some(0);
        result.cache_scope = Some(CacheScope::Private);
        Ok(result)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let bearer = self.server.bearer_of(&context.extensions);
        let arguments = request.arguments.unwrap_or_default();
        // On the heap: the SDK moves what it is given several times.
        let result = Box::pin(call::run(&self.server, bearer, &request.name, arguments, context.ct)).await;
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
