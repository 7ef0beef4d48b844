//! P9: how many durable commands a second do two servers take on one PostgreSQL, beside bare one-statement appends of the
//! same rows, and how soon does one see what the other appended?

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::{Duration, Instant};

use control::{Control, ProcessLifetime, Project};
use store::contract::postgres::Server;
use store::{EventLog as _, PostgresAddress, PostgresStore, StoreLocation, StreamName};

use crate::Measurement;
use crate::bench_project::{owner, project_id};
use crate::commit_rate::{CLIENTS, many_clients, prepare};

const ROUNDS: u32 = 3;
const ROUND_TIME: Duration = Duration::from_secs(4);
const APPENDS_SEEN: usize = 200;

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let home = tempfile::tempdir_in(".")?;
    std::fs::set_permissions(home.path(), std::fs::Permissions::from_mode(0o755))?;
    let server = Server::start_durable(&home.path().canonicalize()?);
    let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    let measured = runtime.block_on(both(&server.url()));
    runtime.shutdown_background();
    measured
}

async fn both(url: &str) -> anyhow::Result<Vec<Measurement>> {
    let servers = [open(url).await?, open(url).await?];
    prepare(&servers[0]).await?;
    let (mut bare, mut ours) = (0.0, 0.0);
    for _ in 0..ROUNDS {
        bare += bare_appends(url).await?;
        ours += many_clients(&[&servers[0], &servers[1]], ROUND_TIME).await?;
    }
    let ratio = ours / bare;
    let seen = seen_after(&servers).await?;
    let (rounds, clients) = (f64::from(ROUNDS), CLIENTS);
    Ok(vec![
        Measurement {
            id: "P9",
            what: format!(
                "durable `update_task_status`, {clients} clients over two servers on PostgreSQL, beside bare one-statement appends"
            ),
            measured: format!("**{:.0} %** ({:.0}/s beside {:.0}/s)", ratio * 100.0, ours / rounds, bare / rounds),
            budget: "≥ 70 %",
            within_budget: ratio >= 0.7,
        },
        Measurement {
            id: "P9",
            what: format!("an append of one server is seen by the other, the slowest of {APPENDS_SEEN}"),
            measured: format!("{:.1} ms", seen.as_secs_f64() * 1000.0),
            budget: "≤ 50 ms",
            within_budget: seen <= Duration::from_millis(50),
        },
    ])
}

async fn open(url: &str) -> anyhow::Result<Project> {
    let location: StoreLocation = url.parse()?;
    Ok(Control::open(&location, ProcessLifetime::LongLived).await?.project(&project_id()).await?)
}

/// As many clients on as many connections, each appending to a stream of its own, so that nobody is in another's way.
async fn bare_appends(url: &str) -> anyhow::Result<f64> {
    let address: PostgresAddress = url.parse()?;
    let stores = [Arc::new(PostgresStore::open(&address).await?), Arc::new(PostgresStore::open(&address).await?)];
    let mut clients = tokio::task::JoinSet::new();
    let start = Instant::now();
    for client in 0..CLIENTS {
        let store = Arc::clone(&stores[client as usize % 2]);
        clients.spawn(async move {
            let stream = StreamName::named(format!("bare/{client}"));
            let mut head = store.head(&stream).await.expect("it answers").seq;
            let mut count = 0_u32;
            while start.elapsed() < ROUND_TIME {
                let event = store::NewEvent {
                    at: 1_700_000_000_000,
                    kind: "task_moved".into(),
                    version: 1,
                    body: "x".repeat(150),
                };
                head = store.append(&stream, head, vec![event]).await.expect("nobody else appends").seq;
                count += 1;
            }
            count
        });
    }
    let total: u32 = clients.join_all().await.into_iter().sum();
    Ok(f64::from(total) / start.elapsed().as_secs_f64())
}

/// The longest time from an acknowledged command of one server until the other publishes the board with it.
async fn seen_after(servers: &[Project; 2]) -> anyhow::Result<Duration> {
    let mut boards = servers[1].writer().watch();
    let mut longest = Duration::ZERO;
    for n in 0..APPENDS_SEEN {
        let task = board::NewTask::titled(format!("seen {n}"));
        let command = board::Command::CreateTasks { parent: None, tasks: vec![task], key: None };
        let seq = servers[0].submit(owner(), command).await?.after.seq;
        let since = Instant::now();
        boards.wait_for(|board| board.seq >= seq).await?;
        longest = longest.max(since.elapsed());
    }
    Ok(longest)
}
