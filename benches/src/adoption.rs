//! P8: how long does it take until 200 sessions are adopted after `kill -9`?

use std::collections::BTreeSet;
use std::io::BufRead as _;
use std::time::{Duration, Instant};

use crate::Measurement;
use crate::sleeping_team::SleepingTeam;

const SESSIONS: usize = 200;

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let mut team = SleepingTeam::new(SESSIONS)?;
    let lines = team.up()?;
    team.wait_for(SESSIONS, lines)?;
    let before: BTreeSet<_> = team.running()?.iter().map(|session| session["id"].to_string()).collect();
    let shims: BTreeSet<_> = team.shims()?.into_iter().collect();
    team.kill()?;
    let began = Instant::now();
    let mut lines = team.up()?;
    let mut adopted = String::new();
    while !adopted.contains("agents at work") {
        adopted.clear();
        anyhow::ensure!(lines.read_line(&mut adopted)? > 0, "up ended");
    }
    let took = began.elapsed();
    anyhow::ensure!(adopted.contains(&format!("found {SESSIONS} agents at work, and 0 that")), "{adopted}");
    team.wait_for(SESSIONS, lines)?;
    let after: BTreeSet<_> = team.running()?.iter().map(|session| session["id"].to_string()).collect();
    anyhow::ensure!(before == after, "sessions were lost or doubled");
    anyhow::ensure!(shims == team.shims()?.into_iter().collect(), "shims were lost or doubled");
    Ok(vec![Measurement {
        id: "P8",
        what: format!(
            "`kill -9` of `up` with {SESSIONS} live sessions, until all are adopted, none lost, none doubled"
        ),
        measured: crate::milliseconds(took),
        budget: "≤ 2 s",
        within_budget: took <= Duration::from_secs(2),
    }])
}
