//! P13: 300 sessions on three hosts under two servers, one of which is killed: how soon is the last runner served again?

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use serde_json::Value;
use store::contract::postgres::Server;

use crate::Measurement;
use crate::sleeping_team::SleepingTeam;

const HOSTS: usize = 3;
const SESSIONS: usize = 300;

/// Ends with the bench, whatever happens.
struct Started(Child);

impl Drop for Started {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let place = tempfile::tempdir()?;
    std::fs::set_permissions(place.path(), std::fs::Permissions::from_mode(0o755))?;
    let database = Server::start_durable(&place.path().canonicalize()?);
    let mut team = SleepingTeam::in_store(SESSIONS, Some(database.url()))?;
    let (one, two) = (serve(&team)?, serve(&team)?);
    let servers = format!("{},{}", one.1, two.1);
    let homes: Vec<PathBuf> = (0..HOSTS).map(|n| place.path().join(format!("host-{n}"))).collect();
    let mut runners = Vec::new();
    for home in &homes {
        let token = team.saihai(&["token", "create", "--role", "runner", "--quiet"])?;
        let share = (SESSIONS / HOSTS).to_string();
        let mut command =
            team.command(&["runner", "--server", &servers, "--max-parallel", &share, "--min-free-disk", "0"]);
        command.env_remove("SAIHAI_STORE").env("SAIHAI_HOME", home).env("SAIHAI_RUNNER_TOKEN", token.trim());
        runners.push(Started(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn()?));
        team.also_in(home.clone());
    }
    team.wait_until_running(SESSIONS)?;
    let before = sessions(&team)?;
    let killed_at = heard(&team)?.into_iter().max().context("runners were heard of")?;
    let began = Instant::now();
    drop(one);
    // A server that has not heard of a runner yet notes at once that it was heard of.
    while heard(&team)?.iter().filter(|at| **at > killed_at).count() < HOSTS {
        anyhow::ensure!(began.elapsed() < Duration::from_secs(120), "not every runner has come back");
    }
    let took = began.elapsed();
    anyhow::ensure!(sessions(&team)? == before, "sessions were lost or doubled");
    drop((two, runners));
    Ok(vec![Measurement {
        id: "P13",
        what: format!(
            "{SESSIONS} sessions on {HOSTS} hosts, one of two servers killed, until the last runner is served again"
        ),
        measured: crate::milliseconds(took),
        budget: "≤ 5 s",
        within_budget: took <= Duration::from_secs(5),
    }])
}

fn serve(team: &SleepingTeam) -> anyhow::Result<(Started, String)> {
    let mut command = team.command(&["serve", "--listen", "127.0.0.1:0", "--json"]);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
    let mut line = String::new();
    BufReader::new(child.stdout.take().context("stdout is piped")?).read_line(&mut line)?;
    let ready: Value = serde_json::from_str(&line)?;
    let url = ready["url"].as_str().context("it says where it listens")?.trim_end_matches('/').to_owned();
    Ok((Started(child), url))
}

/// When each runner was heard of last, as the store has it.
fn heard(team: &SleepingTeam) -> anyhow::Result<Vec<String>> {
    let list: Vec<Value> = serde_json::from_str(&team.saihai(&["runner", "list", "--json"])?)?;
    Ok(list.iter().filter_map(|runner| runner["heard_at"].as_str().map(str::to_owned)).collect())
}

fn sessions(team: &SleepingTeam) -> anyhow::Result<BTreeSet<String>> {
    Ok(team.running()?.iter().map(|session| session["id"].to_string()).collect())
}
