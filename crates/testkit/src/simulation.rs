//! Does a whole team keep every promise, whatever its agents, clocks, stores and servers do (T1)?
//!
//! One *schedule* is a world made from a seed: a project, a roster, agents of every behaviour, two
//! servers on one store, a runner that is killed, a user who edits files, a clock that jumps. It runs the
//! real `board`, the real `control` and the runner's real `reconcile`; only processes and git are pretended. All
//! invariants are checked after every step. Then the faults end and the agents obey, and all work must
//! finish or wait for somebody who is named: a state that nothing can leave is a failure too.

mod agents;
mod clock;
mod flaky;
mod invariants;
mod network;
mod repository;
mod runner;
mod world;

use std::fmt;

use invariants::Invariants;
use world::World;

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// Steps with faults, before the faults end.
    pub steps: u32,
}

impl Default for Plan {
    fn default() -> Self {
        Self { steps: 120 }
    }
}

/// What one schedule did, so that a test can see that something was tested.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stats {
    pub events: u64,
    pub sessions: u32,
    pub done: u32,
    pub refused: u32,
    pub restarts: u32,
    pub conflicts: u32,
}

impl std::ops::AddAssign for Stats {
    fn add_assign(&mut self, other: Self) {
        self.events += other.events;
        self.sessions += other.sessions;
        self.done += other.done;
        self.refused += other.refused;
        self.restarts += other.restarts;
        self.conflicts += other.conflicts;
    }
}

/// An invariant that did not hold, with what is needed to repeat it.
#[derive(Clone, Debug)]
pub struct Violation {
    pub seed: u64,
    pub step: u32,
    pub invariant: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seed, step, invariant } = self;
        write!(
            f,
            "seed {seed}, step {step}: {invariant}\nreproduce with: cargo run --release -p testkit --bin simulate -- --seed {seed} --schedules 1"
        )
    }
}

/// Runs one schedule. The same seed and plan always do the same.
pub fn run(seed: u64, plan: Plan) -> Result<Stats, Violation> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without IO can always be built");
    runtime.block_on(schedule(seed, plan))
}

/// Many one-shot agents change the same file and resolve every conflict: all must land, each with at most three
/// conflicts (V11). The order in which they act is random.
pub fn run_collision(seed: u64, tasks: u32) -> Result<Stats, Violation> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime without IO can always be built");
    runtime.block_on(collision(seed, tasks))
}

async fn collision(seed: u64, tasks: u32) -> Result<Stats, Violation> {
    let violation = |step| move |invariant| Violation { seed, step, invariant };
    let mut world = World::colliding(seed, tasks).await;
    let mut invariants = Invariants::new(&world);
    for step in 0..tasks * 2_000 {
        let moved = if step % 5 == 4 {
            world.step_without_faults().await
        } else {
            world.one_acts().await;
            true
        };
        invariants.check(&world).await.map_err(violation(step))?;
        if !moved {
            invariants.all_landed(&world, 3).map_err(violation(step))?;
            return Ok(world.stats());
        }
    }
    Err(violation(tasks * 2_000)(format!("not all landed\n{}", invariants.describe(&world))))
}

async fn schedule(seed: u64, plan: Plan) -> Result<Stats, Violation> {
    let violation = |step| move |invariant| Violation { seed, step, invariant };
    let mut world = World::new(seed).await;
    let mut invariants = Invariants::new(&world);
    for step in 0..plan.steps {
        world.step().await;
        invariants.check(&world).await.map_err(violation(step))?;
    }
    world.end_faults().await;
    // Enough steps to use up every limit.
    for step in plan.steps..plan.steps + 4_000 {
        let moved = world.step_without_faults().await;
        invariants.check(&world).await.map_err(violation(step))?;
        if !moved {
            invariants.at_rest(&world).map_err(violation(step))?;
            return Ok(world.stats());
        }
    }
    let what = format!("work never stops changing the board\n{}", invariants.describe(&world));
    Err(violation(plan.steps + 4_000)(what))
}
