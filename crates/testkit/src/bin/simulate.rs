//! Do the schedules of many seeds keep the invariants? Runs them on all cores, and stops at the first that does not.

use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use clap::Parser;
use testkit::simulation::{Plan, Stats, run};

/// Simulate whole teams and check every invariant after every step
#[derive(Parser)]
struct Arguments {
    /// How many schedules
    #[arg(long, default_value_t = 1_000_000)]
    schedules: u64,
    /// The first seed
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Steps with faults in each schedule
    #[arg(long, default_value_t = Plan::default().steps)]
    steps: u32,
}

fn main() -> ExitCode {
    let Arguments { schedules, seed, steps } = Arguments::parse();
    let (next, stop) = (AtomicU64::new(0), AtomicBool::new(false));
    let work = || {
        let mut stats = Stats::default();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= schedules || stop.load(Ordering::Relaxed) {
                return stats;
            }
            match run(seed + number, Plan { steps }) {
                Ok(more) => stats += more,
                Err(violation) => {
                    stop.store(true, Ordering::Relaxed);
                    println!("{violation}");
                }
            }
            if number % 10_000 == 9_999 {
                eprintln!("{} of {schedules} schedules", number + 1);
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let total = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(work)).collect();
        threads.into_iter().fold(Stats::default(), |mut total, thread| {
            total += thread.join().expect("a schedule does not panic");
            total
        })
    });
    println!("{schedules} schedules from seed {seed}: {total:?}");
    if stop.load(Ordering::Relaxed) { ExitCode::FAILURE } else { ExitCode::SUCCESS }
}
