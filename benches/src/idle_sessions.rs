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
    let busy = |team: &SleepingTeam| -> anyhow::Result<u64> {
        Ok(ticks(team.pid())? + shims.iter().map(|pid| ticks(*pid).unwrap_or(0)).sum::<u64>())
    };
    let before = busy(&team)?;
    std::thread::sleep(OBSERVED);
    // A tick is a hundredth of a second.
    let share = (busy(&team)? - before) as f64 / (OBSERVED.as_secs_f64() * 100.0) * 100.0;
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
            measured: format!("{share:.2} % of a core"),
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

/// Spent in the program and in the kernel for it.
fn ticks(pid: u32) -> anyhow::Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    let (_, rest) = text.rsplit_once(')').context("a name ends")?;
    let fields: Vec<_> = rest.split_whitespace().collect();
    Ok(fields[11].parse::<u64>()? + fields[12].parse::<u64>()?)
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
