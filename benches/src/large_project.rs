//! P12: how much memory does a server take for a large project, and how long does its first task page take?

use std::time::Duration;

use anyhow::Context as _;

use crate::bench_project::project_id;
use crate::board_pages::Server;
use crate::open_project::write_log;
use crate::task_list::prepare;
use crate::{Measurement, milliseconds};

const TASKS: usize = 100_000;
const EVENTS: u64 = 1_000_000;
const MEMORY: u64 = 300;

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let home = tempfile::tempdir_in(".")?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
    runtime.block_on(prepare(home.path(), 0))?;
    runtime.block_on(write_log(&home.path().join("saihai.db"), TASKS, EVENTS))?;
    let server = Server::at(home)?;
    let page = format!("/p/{}/tasks/tsk_1", project_id());
    // The project is opened by the first request for it; the page itself is what is measured.
    server.get(&format!("/p/{}/settings", project_id()))?;
    let first = server.get(&page)?;
    server.get(&format!("/p/{}", project_id()))?;
    let resident = resident_mebibytes(server.id())?;
    Ok(vec![
        Measurement {
            id: "P12",
            what: format!("memory of a server with {TASKS} tasks and {EVENTS} events (resident set size)"),
            measured: format!("{resident} MiB"),
            budget: "≤ 300 MiB",
            within_budget: resident <= MEMORY,
        },
        Measurement {
            id: "P12",
            what: "the first task page after its start".into(),
            measured: format!("**{}**", milliseconds(first)),
            budget: "≤ 100 ms",
            within_budget: first <= Duration::from_millis(100),
        },
    ])
}

fn resident_mebibytes(process: u32) -> anyhow::Result<u64> {
    let status = std::fs::read_to_string(format!("/proc/{process}/status"))?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).context("no resident set size")?;
    let kibibytes: u64 = line.trim().trim_end_matches(" kB").trim().parse()?;
    Ok(kibibytes / 1024)
}
