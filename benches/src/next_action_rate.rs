//! P1: how many `get_next_action` over HTTP a second, beside a tool that does nothing on the same SDK?

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use board::{Actor, Command, Driver, NewTask, Purpose, SessionId, Status, TaskId};
use control::{Control, NewSecret, ProcessLifetime, Project, SystemClock, token_hash};
use mcp::Mcp;
use rmcp::model::{CallToolRequestParams, CallToolResponse, CallToolResult, ServerCapabilities, ServerConfig};
use rmcp::service::{RequestContext, RoleServer};
use rmcp::{ErrorData, ServerHandler};
use server::{HttpServer, Listen, ServerState};
use store::SqliteStore;
use testkit::mcp::Http;
use tokio_util::sync::CancellationToken;

use crate::Measurement;
use crate::bench_project::{add_tasks, configure, move_to, owner, project_id, worker};

const CLIENTS: u32 = 8;
const TASKS: usize = 10_000;
/// Many short ones, so that a change in the machine's speed affects both.
const ROUNDS: u32 = 80;
const ROUND_TIME: Duration = Duration::from_millis(200);
/// Every so many answers one is looked at: what the clients do is not what is measured.
const LOOK_AT: u32 = 64;

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let home = tempfile::tempdir_in(".")?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    runtime.block_on(in_rounds(&home.path().join("saihai.db")))
}

async fn in_rounds(path: &Path) -> anyhow::Result<Vec<Measurement>> {
    let control = Control::new(Arc::new(SqliteStore::open(path)?), Arc::new(SystemClock), ProcessLifetime::LongLived);
    let project = control.project(&project_id()).await?;
    let secrets = prepare(&project).await?;
    let shutdown = CancellationToken::new();
    let state = ServerState::open(control, shutdown.clone()).await?;
    let here = Listen::Tcp("127.0.0.1:0".into());
    let asked = HttpServer::bind(shutdown.clone(), &here, &[]).await?;
    let routes = mcp::router(Mcp::new(state), &asked);
    let asked = asked.with(routes);
    let nothing = HttpServer::bind(shutdown.clone(), &here, &[]).await?;
    let routes = mcp::router(NoOpServer, &nothing);
    let nothing = nothing.with(routes);
    let urls = [asked.mcp_url(), nothing.mcp_url()];
    let serving = [tokio::spawn(asked.serve()), tokio::spawn(nothing.serve())];
    let (mut ours, mut theirs) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        ours += calls(&urls[0], "get_next_action", &secrets).await?;
        theirs += calls(&urls[1], "nothing", &secrets).await?;
    }
    shutdown.cancel();
    for server in serving {
        server.await?;
    }
    let ratio = ours / theirs;
    let rounds = f64::from(ROUNDS);
    Ok(vec![Measurement {
        id: "P1",
        what: format!("`get_next_action` over HTTP, {CLIENTS} clients, {TASKS} tasks, beside a no-op tool"),
        measured: format!("**{:.0} %** ({:.0}/s beside {:.0}/s)", ratio * 100.0, ours / rounds, theirs / rounds),
        budget: "≥ 80 %",
        within_budget: ratio >= 0.8,
    }])
}

/// Sessions that are told on every call to split their task.
async fn prepare(project: &Project) -> anyhow::Result<Vec<String>> {
    configure(project).await?;
    let mut secrets = Vec::new();
    for n in 1..=CLIENTS {
        let task = NewTask { assignee: Some(worker()), ..NewTask::titled(format!("task {n}")) };
        project.submit(owner(), Command::CreateTasks { parent: None, tasks: vec![task], key: None }).await?;
        project.submit(owner(), move_to(TaskId(n), Status::InProgress)).await?;
        let secret = NewSecret::for_session(&project_id()).map_err(|error| anyhow::anyhow!("{error}"))?;
        let claim = Command::Claim {
            agent: worker(),
            purpose: Purpose::Task(TaskId(n)),
            driver: Driver::Hand,
            credential: Some(token_hash(secret.reveal())),
            forced: false,
        };
        project.submit(owner(), claim).await?;
        let session = Actor::Session(SessionId(n));
        let model = Command::ReportModel { provider: "none".into(), model_id: "none".into() };
        project.submit(session.clone(), model).await?;
        project.submit(session, Command::FetchTask).await?;
        secrets.push(secret.reveal().to_owned());
    }
    add_tasks(project, TASKS).await?;
    Ok(secrets)
}

/// Calls a second of all clients together.
async fn calls(url: &str, tool: &str, secrets: &[String]) -> anyhow::Result<f64> {
    let request = serde_json::json!({
        "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": tool, "arguments": {} },
    });
    let start = Instant::now();
    let mut clients = tokio::task::JoinSet::new();
    for secret in secrets {
        let (mut http, request) = (Http::new(url, Some(secret)), request.to_string());
        clients.spawn(async move {
            let mut count = 0u32;
            while start.elapsed() < ROUND_TIME {
                let reply = http.post(request.as_bytes()).await?;
                if count.is_multiple_of(LOOK_AT) {
                    let told = String::from_utf8_lossy(&reply.body);
                    anyhow::ensure!(told.contains("\"isError\":false"), "{} {told}", reply.head);
                    anyhow::ensure!(!told.contains("no_progress"), "{told}");
                }
                count += 1;
            }
            Ok(count)
        });
    }
    let mut total = 0;
    for count in clients.join_all().await {
        total += count?;
    }
    Ok(f64::from(total) / start.elapsed().as_secs_f64())
}

/// A server whose only tool does nothing.
#[derive(Clone)]
struct NoOpServer;

impl ServerHandler for NoOpServer {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        Ok(CallToolResult::structured(serde_json::json!({ "success": true })).into())
    }
}
