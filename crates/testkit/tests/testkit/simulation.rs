//! Do thousands of schedules keep every invariant?
//!
//! 500 schedules are the same in every run; 2,000 are fresh ones. `SAIHAI_SEED` repeats those.

use testkit::seed::Seed;
use testkit::simulation::{Plan, Stats, run, run_collision};

/// Schedules of each test. Four tests of one thread each, so that the runner of the tests can spread them.
const SCHEDULES: u64 = 500;

/// Runs the schedules of consecutive seeds.
fn keep_every_promise(first: u64) {
    let mut total = Stats::default();
    for seed in first..first + SCHEDULES {
        match run(seed, Plan::default()) {
            Ok(stats) => total += stats,
            Err(violation) => panic!("{violation}"),
        }
    }
    // It would prove nothing if nothing happened.
    assert!(total.done > 250 && total.sessions > 1_250, "{total:?}");
    assert!(total.refused > 1_250 && total.restarts > 500 && total.conflicts > 1_250, "{total:?}");
}

/// The `part`th 500 of the fresh schedules.
fn fresh_schedules_keep_every_promise(part: u64, test: &str) {
    let seed = Seed::for_test("testkit", test);
    keep_every_promise(seed.value() + part * SCHEDULES);
}

/// T1, T5, N6, E1, E2, S1, L8, R12, V10, V12, G3, F40, F125: no double claim, no `done` without evidence, every task has a
/// mover or a reason, fuel is bounded, replay equals live, and everything comes to rest.
#[test]
fn the_same_five_hundred_schedules_keep_every_promise() {
    keep_every_promise(0);
}

/// T1
#[test]
fn fresh_schedules_keep_every_promise_1() {
    fresh_schedules_keep_every_promise(0, "simulation::fresh_schedules_keep_every_promise_1");
}

/// T1
#[test]
fn fresh_schedules_keep_every_promise_2() {
    fresh_schedules_keep_every_promise(1, "simulation::fresh_schedules_keep_every_promise_2");
}

/// T1
#[test]
fn fresh_schedules_keep_every_promise_3() {
    fresh_schedules_keep_every_promise(2, "simulation::fresh_schedules_keep_every_promise_3");
}

/// T1
#[test]
fn fresh_schedules_keep_every_promise_4() {
    fresh_schedules_keep_every_promise(3, "simulation::fresh_schedules_keep_every_promise_4");
}

/// V11, A5, F101: agents that change the same file and resolve every conflict all land, each with at most three
/// conflicts, in whatever order they act.
#[test]
fn work_that_collides_all_lands() {
    let seed = Seed::for_test("testkit", "simulation::work_that_collides_all_lands");
    for number in 0..150 {
        for tasks in [2, 5, 12] {
            let stats = run_collision(seed.value() + number, tasks).unwrap_or_else(|violation| panic!("{violation}"));
            assert!(stats.done >= tasks, "{stats:?}");
        }
    }
}

/// T1: a failure prints its seed, and that seed reproduces it, because a seed is the whole schedule.
#[test]
fn the_same_seed_does_the_same() {
    for seed in [7, 4_242] {
        let first = run(seed, Plan::default()).expect("this schedule holds");
        assert_eq!(first, run(seed, Plan::default()).expect("and again"));
    }
    let stats = |seed| run(seed, Plan::default()).expect("these schedules hold").events;
    assert_ne!(stats(7), stats(4_242));
}
