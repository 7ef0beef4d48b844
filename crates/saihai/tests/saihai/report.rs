//! What does `saihai report` tell of a night (C7)?

use serde_json::json;

use crate::world::World;

/// C7: what was done, what was not and why, by whom and for how long; what is not known is said, not counted as 0.
#[test]
fn a_report_tells_what_was_done_by_whom_at_what_cost() {
    let world = World::new();
    let empty = world.json(&["report"]);
    assert_eq!((&empty["tasks"], &empty["total"]["sessions"]), (&json!([]), &json!(0)));
    let [failed, done, going] = ["Fails", "Reported", "Goes on"].map(|title| world.task(title));
    for (session, task) in [(1, &failed), (2, &done), (3, &going)] {
        world.ok(&["session", "start", task, "--agent", "coder"]);
        if task != &going {
            let exit = if task == &failed { "3" } else { "0" };
            world.ok(&["session", "end", &session.to_string(), "--exit-code", exit]);
        }
    }
    world.ok(&["task", "update", &done, "--status", "done", "--force"]);
    let report = world.json(&["report", "--since", "1h"]);
    let of = |index: usize| (report["tasks"][index]["id"].as_str(), report["tasks"][index]["status"].as_str());
    assert_eq!((of(0), of(1)), ((Some(&*failed), Some("failed")), (Some(&*done), Some("done"))), "{report:#}");
    assert_eq!(report["in_progress"], json!([going]));
    let coder = &report["agents"]["coder"];
    assert_eq!([&coder["sessions"], &coder["unmetered"], &coder["cost_micros"]], [3, 3, 0]);
    assert!(report["tasks"][0]["reason"].as_str().unwrap().contains('3'), "{report:#}");
    let text = world.ok(&["report"]);
    assert!(text.contains("1 done, 1 failed, 0 blocked, 0 cancelled; 1 in progress."), "{text}");
    assert!(text.contains("not told") && text.contains(&format!("saihai task why {failed}")), "{text}");
    assert_eq!(world.ok(&["report", "--quiet"]), format!("{failed}\n{done}"));
    assert_eq!(world.json(&["report", "--since", "2100-01-01"])["tasks"], json!([]));
    assert_eq!(world.refused(2, &["report", "--since", "yesterday"])["code"], "usage");
}
