//! What does it cost? Ratios within one run, because machines are noisy and differ.
//!
//! `./scripts/bench` runs it.

mod asking;
mod durable;
mod idle;
mod launch;
mod list;
mod open;
mod pages;
mod project;
mod recovery;
mod team;

use std::fmt::Write as _;
use std::time::Duration;

use clap::Parser;

/// Measure what Saihai costs
#[derive(Parser)]
struct Arguments {
    /// Write the results to docs/performance.md
    #[arg(long)]
    write: bool,
    /// Only these: P1, P2, P3, P4, P5, P6, P8, W5
    only: Vec<String>,
}

/// One row of the page.
struct Row {
    id: &'static str,
    what: String,
    measured: String,
    budget: &'static str,
    kept: bool,
}

type Measure = fn() -> anyhow::Result<Vec<Row>>;

fn main() -> anyhow::Result<std::process::ExitCode> {
    // The runner starts itself as a shim, and this one as a client.
    let words: Vec<_> = std::env::args().skip(1).collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
        ["shim"] => return Ok(runner::shim::supervise()),
        ["shim", "--init"] => return Ok(runner::shim::init()),
        ["workspace-git"] => return Ok(runner::run_workspace_request()),
        ["stamp", file] => return Ok(launch::stamp(file)),
        _ => {}
    }
    measure_all().map(|()| std::process::ExitCode::SUCCESS)
}

fn measure_all() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    let wanted = |id: &str| arguments.only.is_empty() || arguments.only.iter().any(|only| only == id);
    let mut rows = Vec::new();
    let all: [(&str, Measure); 8] = [
        ("P1", asking::measure),
        ("P2", durable::measure),
        ("P3", list::measure),
        ("P4", launch::measure),
        ("P5", open::measure),
        ("P6", idle::measure),
        ("P8", recovery::measure),
        ("W5", pages::measure),
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
    let missed = rows.iter().filter(|row| !row.kept).count();
    anyhow::ensure!(missed == 0, "{missed} budgets were missed");
    Ok(())
}

fn page(rows: &[Row]) -> String {
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
    for Row { id, what, measured, budget, kept } in rows {
        let kept = if *kept { "yes" } else { "**no**" };
        writeln!(page, "| {id} | {what} | {measured} | {budget} | {kept} |").expect("a string takes all text");
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
