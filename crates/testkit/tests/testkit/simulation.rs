//! Do thousands of schedules keep every promise?

use testkit::simulation::{Plan, Stats, run};

const SCHEDULES: u64 = 2_000;

fn schedules(range: std::ops::Range<u64>) -> Stats {
    let mut total = Stats::default();
    for seed in range {
        match run(seed, Plan::default()) {
            Ok(stats) => total += stats,
            Err(violation) => panic!("{violation}"),
        }
    }
    total
}

/// T1, N6, E1, E2, S1, L8, G3, F40: no double claim, no `done` without evidence, every task has a
/// mover or a reason, fuel is bounded, replay equals live, and everything comes to rest.
#[test]
fn two_thousand_schedules_keep_every_promise() {
    let half = SCHEDULES / 2;
    let total = std::thread::scope(|scope| {
        let other = scope.spawn(move || schedules(half..SCHEDULES));
        let mut total = schedules(0..half);
        total += other.join().expect("the other half holds too");
        total
    });
    // It would prove nothing if nothing happened.
    assert!(total.done > 1_000 && total.sessions > 5_000, "{total:?}");
    assert!(total.refused > 5_000 && total.restarts > 2_000 && total.conflicts > 5_000, "{total:?}");
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
