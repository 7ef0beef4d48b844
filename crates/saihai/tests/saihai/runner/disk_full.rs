//! What becomes of agents that end while the disk is full?
//!
//! The test starts itself again in a mount namespace of its own, with its scratch directories on a small file system.

use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use serde_json::json;

use super::Team;

/// The directory on which the small file system is.
const DISK: &str = "SAIHAI_TEST_SMALL_DISK";
const SIZE: &str = "size=48m";

/// T4, S2a, F100, B16: agents that end while nothing can be written are not lost and do not run again.
#[test]
fn agents_that_end_on_a_full_disk_are_not_lost() {
    let directory = tempfile::tempdir().unwrap();
    let script = "mount -t tmpfs -o \"$0\" small \"$1\" && shift && exec \"$@\"";
    let test = Command::new("unshare")
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", script, SIZE])
        .arg(directory.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "runner::disk_full::on_a_small_disk", "--ignored", "--nocapture"])
        .env(DISK, directory.path())
        .env("TMPDIR", directory.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&test.stdout);
    assert!(test.status.success() && said.contains("1 passed"), "{said}\n{}", String::from_utf8_lossy(&test.stderr));
}

/// Writes until there is no space left.
fn fill(disk: &Path) -> std::path::PathBuf {
    let path = disk.join("filler");
    let mut file = std::fs::File::create(&path).unwrap();
    for size in [1 << 20, 1 << 12, 1] {
        let block = vec![b'x'; size];
        while file.write_all(&block).is_ok() {}
    }
    path
}

/// T4
#[test]
#[ignore = "runs in the process that the test above starts"]
fn on_a_small_disk() {
    let disk = std::env::var_os(DISK).expect("the test above sets it");
    let script = "echo work > \"src/$(git branch --show-current)\"; git add -A; git commit -qm work; barrier full";
    let team = Team::new(script);
    team.redefine_solo(script, &json!({ "max_sessions": 3 }));
    let tasks: Vec<_> = (1..=3).map(|number| team.start_task(&format!("part {number}"))).collect();
    let mut up = super::Up::start(&team, &["--max-parallel", "3"]);
    for session in 1..=3 {
        team.until_barrier(session, "full");
    }
    // The barrier is opened by a file of no size, for which a full disk has room.
    let shims: Vec<_> = (1..=3).map(|session| super::processes::shim_of(&team, session)).collect();
    let filler = fill(Path::new(&disk));
    (1..=3).for_each(|task| team.release(task, "full"));
    super::wait_for("the shims to end", || shims.iter().all(|shim| !super::processes::is_shim(*shim)).then_some(()));
    // Nothing can be recorded now. It is tried every second.
    std::thread::sleep(Duration::from_secs(3));
    assert!(up.is_running(), "{}", up.errors());
    assert!(
        std::fs::File::create(Path::new(&disk).join("probe"))
            .and_then(|mut probe| probe.write_all(&[0; 8192]))
            .is_err()
    );
    std::fs::remove_file(filler).unwrap();
    for task in &tasks {
        let done = team.until_task(task, "done");
        assert_eq!(done["attempts"], 0);
    }
    let sessions = team.world.json(&["session", "list"]);
    let sessions = sessions.as_array().unwrap();
    assert!(sessions.len() == 3 && sessions.iter().all(|session| session["exit_code"] == 0), "{sessions:#?}");
    team.world.ok(&["log", "verify"]);
    up.stop();
}
