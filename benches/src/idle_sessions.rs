//! P6: what do 500 sessions cost that do nothing?

use std::time::Duration;

use anyhow::Context as _;

use crate::Measurement;
use crate::sleeping_team::SleepingTeam;

const SESSIONS: usize = 500;
const OBSERVED: Duration = Duration::from_secs(20);

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let mut team = SleepingTeam::new(SESSIONS)?;
    let lines = team.up()?;
    team.wait_for(SESSIONS, lines)?;
    // Work that is left over from starting them is not what idling costs.
    std::thread::sleep(Duration::from_secs(5));
    let shims = team.shims()?;
    anyhow::ensure!(shims.len() == SESSIONS, "{} shims", shims.len());
    let mut own = 0;
    for shim in &shims {
        // The shim, its init, and the client.
        own += memory(*shim, "Pss:")?
            + descendants(*shim)?.iter().map(|pid| memory(*pid, "Pss:").unwrap_or(0)).sum::<u64>();
    }
    let each = own as f64 / 1024.0 / SESSIONS as f64;
    let server = memory(team.pid(), "Rss:")? as f64 / 1024.0;
    let before = (run_time(team.pid())?, total_run_time(&shims));
    std::thread::sleep(OBSERVED);
    let after = (run_time(team.pid())?, total_run_time(&shims));
    let percent = |spent: Duration| spent.as_secs_f64() / OBSERVED.as_secs_f64() * 100.0;
    let (of_server, of_shims) = (percent(after.0.saturating_sub(before.0)), percent(after.1.saturating_sub(before.1)));
    let share = of_server + of_shims;
    Ok(vec![
        Measurement {
            id: "P6",
            what: format!(
                "{SESSIONS} idle sessions: memory of each, its shim and client together (proportional set size)"
            ),
            measured: format!("{each:.2} MiB"),
            budget: "≤ 3 MiB",
            within_budget: each <= 3.0,
        },
        Measurement {
            id: "P6",
            what: "memory of the server and runner (resident set size)".into(),
            measured: format!("{server:.0} MiB"),
            budget: "≤ 150 MiB",
            within_budget: server <= 150.0,
        },
        Measurement {
            id: "P6",
            what: format!("processor time of the server and all shims, over {} s", OBSERVED.as_secs()),
            measured: format!("{share:.2} % of a core (server {of_server:.2}, shims {of_shims:.2})"),
            budget: "≤ 0.5 %",
            within_budget: share <= 0.5,
        },
    ])
}

/// In KiB.
fn memory(pid: u32, kind: &str) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = text.lines().find_map(|line| line.strip_prefix(kind)).context("no such line")?;
    Ok(line.trim().trim_end_matches(" kB").parse()?)
}

/// How long a process has run, threads that are over included, in steps of a hundredth of a second.
fn run_time(pid: u32) -> anyhow::Result<Duration> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = text.rsplit_once(')').context("a name ends")?;
    let fields: Vec<_> = rest.split_whitespace().collect();
    Ok(Duration::from_millis(10 * (fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)))
}

/// How long processes of one thread have run. Each runs for so short a time that hundredths of a second would not do.
fn total_run_time(pids: &[u32]) -> Duration {
    let of = |pid: &u32| -> Option<u64> {
        let text = std::fs::read_to_string(format!("/proc/{pid}/schedstat")).ok()?;
        text.split_whitespace().next()?.parse().ok()
    };
    pids.iter().filter_map(of).map(Duration::from_nanos).sum()
}

fn descendants(pid: u32) -> anyhow::Result<Vec<u32>> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
    let mut found = Vec::new();
    for child in text.split_whitespace() {
        let child = child.parse()?;
        found.push(child);
        found.extend(descendants(child)?);
    }
    Ok(found)
}
