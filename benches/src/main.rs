//! What does it cost? Ratios within one run, because machines are noisy and differ.
//!
//! `./scripts/bench` runs it.

mod adoption;
mod bench_project;
mod board_pages;
mod commit_rate;
mod idle_sessions;
mod large_project;
mod launch_latency;
mod many_hosts;
mod next_action_rate;
mod open_project;
mod running_project;
mod shared_commit_rate;
mod sleeping_team;
mod staffing_cost;
mod task_list;
mod whole_tasks;

use std::fmt::Write as _;
use std::time::Duration;

use clap::Parser;

/// The one of the program that is measured.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Measure what Saihai costs
#[derive(Parser)]
struct Arguments {
    /// Write the results to docs/performance.md
    #[arg(long)]
    write: bool,
    /// Only these: P1, P2, P3, P4, P5, P6, P7, P8, P9, P10, P11, P12, P13, W5
    only: Vec<String>,
}

/// One row of the page.
struct Measurement {
    id: &'static str,
    what: String,
    measured: String,
    budget: &'static str,
    within_budget: bool,
}

type Benchmark = fn() -> anyhow::Result<Vec<Measurement>>;

fn main() -> anyhow::Result<std::process::ExitCode> {
    // The runner starts itself as a shim, and this one as a client.
    let words: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<_> = words.iter().map(String::as_str).collect();
    if let Some(exit) = runner::shim::internal_command(&words) {
        return Ok(exit);
    }
    if let ["stamp", file] = words.as_slice() {
        return Ok(launch_latency::write_start_time(file));
    }
    measure_all().map(|()| std::process::ExitCode::SUCCESS)
}

fn measure_all() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let wanted = |id: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == id);
    let mut rows = Vec::new();
    let all: [(&str, Benchmark); 14] = [
        ("P1", next_action_rate::measure),
        ("P2", commit_rate::measure),
        ("P3", task_list::measure),
        ("P4", launch_latency::measure),
        ("P5", open_project::measure),
        ("P6", idle_sessions::measure),
        ("P7", staffing_cost::measure),
        ("P8", adoption::measure),
        ("P9", shared_commit_rate::measure),
        ("P11", whole_tasks::measure_end_to_done),
        ("P10", whole_tasks::measure_all_at_once),
        ("P12", large_project::measure),
        ("P13", many_hosts::measure),
        ("W5", board_pages::measure),
    ];
    for (id, measure) in all {
        if wanted(id) {
            eprintln!("measuring {id} …");
            rows.extend(measure()?);
        }
    }
    let page = page(&rows);
    println!("{page}");
    if arguments.write {
        std::fs::write("docs/performance.md", &page)?;
    }
    let missed = rows.iter().filter(|row| !row.within_budget).count();
    anyhow::ensure!(missed == 0, "{missed} budgets were missed");
    Ok(())
}

fn page(rows: &[Measurement]) -> String {
    let mut page = String::from(
        "# What it costs\n\n\
         Printed by `./scripts/bench`. Ratios are\n\
         between two measurements of the same run; absolute figures are those of the machine named here.\n\n",
    );
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let kernel = std::fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d");
    writeln!(page, "Machine: {cores} cores, Linux {}, {today}.\n", kernel.trim()).expect("a string takes all text");
    page.push_str("| id | what | measured | budget | kept |\n|---|---|---|---|---|\n");
    for Measurement { id, what, measured, budget, within_budget } in rows {
        let within_budget = if *within_budget { "yes" } else { "**no**" };
        writeln!(page, "| {id} | {what} | {measured} | {budget} | {within_budget} |").expect("a string takes all text");
    }
    page
}

/// The middle of several measurements.
fn median(mut times: Vec<Duration>) -> Duration {
    times.sort();
    times[times.len() / 2]
}

fn milliseconds(time: Duration) -> String {
    format!("{:.1} ms", time.as_secs_f64() * 1000.0)
}
