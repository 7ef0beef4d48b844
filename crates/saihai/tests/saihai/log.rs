//! E5: the log can be read, followed, replayed and proved; damage is found and named.

use std::io::{BufRead as _, BufReader};
use std::process::Child;
use std::sync::mpsc;
use std::time::Duration;

use serde_json::{Value, json};

use crate::world::{World, column};

/// A program that is ended with the test.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Far more than it takes; only a failure waits this long.
const LIMIT: Duration = Duration::from_secs(60);

/// C2
#[test]
fn the_tail_is_the_end_of_the_log() {
    let world = World::new();
    for title in ["one", "two", "three"] {
        world.task(title);
    }
    let events = world.json(&["project", "show"])["events"].as_u64().unwrap();
    let tail = world.json(&["log", "tail", "--lines", "2"]);
    assert_eq!(column(&tail, "type"), ["tasks_created", "tasks_created"]);
    assert_eq!([&tail[0]["seq"], &tail[1]["seq"]], [events - 1, events]);
    assert_eq!(world.json(&["log", "tail", "--after", &(events - 1).to_string()])[0], tail[1]);
    assert_eq!(world.json(&["log", "tail", "--lines", "0"]), json!([]));
    // D18: a number is kept also with --after.
    let page = world.json(&["log", "tail", "--after", "1", "-n", "2"]);
    assert_eq!(page.as_array().unwrap().iter().map(|event| event["seq"].as_u64().unwrap()).collect::<Vec<_>>(), [2, 3]);
    assert_eq!(world.json(&["log", "tail", "--lines", "1000"]).as_array().unwrap().len() as u64, events);
}

/// C4, E7: a running `log tail --follow` sees what another process appends, as one line of JSON.
#[test]
fn following_sees_another_process() {
    let world = World::new();
    let mut child = world.spawn(&["log", "tail", "--follow", "--lines", "1", "--json"]);
    let stdout = child.stdout.take().unwrap();
    let _running = Running(child);
    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        BufReader::new(stdout).lines().map_while(Result::ok).try_for_each(|line| send.send(line)).ok();
    });
    let next = || serde_json::from_str::<Value>(&lines.recv_timeout(LIMIT).unwrap()).unwrap();
    assert_eq!(next()["type"], "roster_applied", "it follows from here on");
    for title in ["from another shell", "and once more"] {
        world.task(title);
        let event = next();
        assert_eq!([&event["type"], &event["data"]["tasks"][0]["title"]], ["tasks_created", title]);
    }
}

/// C2, E5: the board as it was.
#[test]
fn replay_shows_an_earlier_board() {
    let world = World::new();
    world.task("one");
    let then = world.json(&["project", "show"])["events"].as_u64().unwrap();
    world.ok(&["task", "start", "1"]);
    world.task("two");
    let before = world.json(&["log", "replay", "--until", &then.to_string()]);
    assert_eq!((&before["seq"], column(&before["tasks"], "status")), (&json!(then), vec!["todo"]));
    assert_eq!(world.json(&["log", "replay", "--until", "0"])["tasks"], json!([]));
    let now = world.json(&["log", "replay"]);
    assert_eq!(now["tasks"], world.json(&["task", "list", "--all"]));
    assert_eq!(world.ok(&["log", "replay", "--quiet"]), "tsk_1\ntsk_2");
}

/// E5
#[test]
fn a_sound_log_is_proved() {
    let world = World::new();
    world.task("one");
    let report = world.json(&["log", "verify"]);
    assert_eq!(column(&report, "stream"), ["installation", "project/shop"]);
    assert!(report.as_array().unwrap().iter().all(|stream| stream["sound"] == true), "{report}");
    assert_eq!(report[1]["events"], world.json(&["project", "show"])["events"]);
}

/// A project with some events, one of which is then damaged.
fn damaged(statement: &str) -> World {
    let world = World::new();
    for title in ["one", "two", "three"] {
        world.task(title);
    }
    world.sql(&statement.replace("SHOP", "(SELECT id FROM streams WHERE name = 'project/shop')"));
    world
}

#[track_caller]
fn found(world: &World, event: &str) {
    let error = world.refused(4, &["log", "verify"]);
    assert_eq!(error["code"], "store");
    let message = error["message"].as_str().unwrap();
    assert!(message.contains("project/shop") && message.contains(event), "{message}");
    let people = world.run(&["log", "verify"]);
    assert_eq!((people.code, people.stdout.as_str()), (4, ""));
    assert!(people.stderr.contains(event), "{people:?}");
    let hint = error["hint"].as_str().unwrap();
    assert!(hint.contains("backup") && !hint.contains("saihai log verify"), "{hint}");
}

/// E5: one letter of one event.
#[test]
fn an_altered_event_is_found() {
    found(&damaged("UPDATE events SET body = replace(body, 'two', 'owt') WHERE stream = SHOP AND seq = 4"), "event 4");
}

/// E5
#[test]
fn an_altered_time_or_kind_is_found() {
    found(&damaged("UPDATE events SET at = at + 1 WHERE stream = SHOP AND seq = 3"), "event 3");
    found(&damaged("UPDATE events SET kind = 'task_moved' WHERE stream = SHOP AND seq = 3"), "event 3");
}

/// E5
#[test]
fn a_deleted_event_is_found() {
    found(&damaged("DELETE FROM events WHERE stream = SHOP AND seq = 4"), "event 4");
    found(&damaged("DELETE FROM events WHERE stream = SHOP AND seq = 5"), "event 5");
    found(&damaged("DELETE FROM events WHERE stream = SHOP AND seq = 1"), "event 1");
}

/// E5: two events that changed places.
#[test]
fn reordered_events_are_found() {
    let swap = "UPDATE events SET seq = 1000 WHERE stream = SHOP AND seq = 3;
        UPDATE events SET seq = 3 WHERE stream = SHOP AND seq = 4;
        UPDATE events SET seq = 4 WHERE stream = SHOP AND seq = 1000";
    found(&damaged(swap), "event 3");
}

/// E5: a flipped byte in the file itself.
#[test]
fn a_flipped_byte_is_found() {
    let world = World::new();
    world.task("a title that is easily found");
    world.sql("PRAGMA wal_checkpoint(TRUNCATE)");
    let mut bytes = std::fs::read(world.store()).unwrap();
    let title = b"a title that is easily found";
    let places: Vec<_> = bytes.windows(title.len()).enumerate().filter(|(_, window)| window == title).collect();
    let places: Vec<_> = places.iter().map(|(place, _)| *place).collect();
    assert!(!places.is_empty());
    for place in places {
        bytes[place] ^= 0x20;
    }
    std::fs::write(world.store(), bytes).unwrap();
    found(&world, "event 3");
}
