//! What if the store is removed or emptied while everything runs, and begun anew (R1)?

use std::fs;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use super::{Team, wait_for};

fn remove_store(team: &Team) {
    for ending in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{ending}", team.world.store().display()));
    }
}

/// E3: nobody is told that something is kept which is nowhere, and the command line says what has happened.
#[test]
fn a_store_that_is_removed_or_emptied_under_a_server_is_noticed() {
    for (emptied, removed) in [
        (true, &[][..]),
        (false, &["", "-wal", "-shm"]),
        (false, &["-wal", "-shm"]),
        (false, &["-wal"]),
        (false, &["-shm"]),
    ] {
        let team = Team::new("true");
        let token = team.world.json(&["token", "create", "--role", "owner"])["token"].as_str().unwrap().to_owned();
        let up = team.up();
        let add = || {
            let mut stream =
                TcpStream::connect(up.ready["url"].as_str().unwrap().trim_start_matches("http://")).unwrap();
            let body = r#"{"title":"x"}"#;
            let head = "POST /api/v1/projects/shop/tasks HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json";
            write!(stream, "{head}\r\nAuthorization: Bearer {token}\r\nContent-Length: {}\r\n\r\n{body}", body.len())
                .unwrap();
            let mut answer = String::new();
            stream.read_to_string(&mut answer).unwrap();
            answer
        };
        let kept = add();
        assert!(kept.starts_with("HTTP/1.1 201"), "{kept}");
        if emptied {
            fs::write(team.world.store(), "").unwrap();
        }
        for ending in removed {
            fs::remove_file(format!("{}{ending}", team.world.store().display())).unwrap();
        }
        let refused = add();
        assert!(refused.starts_with("HTTP/1.1 5") && refused.contains("removed or replaced"), "{refused}");
        up.kill();
        remove_store(&team);
        let told = team.world.refused(4, &["task", "list"]);
        assert!(told["message"].as_str().unwrap().contains("is empty or missing"), "{told}");
    }
}

/// R1, V16: two lives of a board never meet: neither in refs, nor in the directories of sessions and workspaces.
#[test]
fn a_board_that_is_begun_anew_is_another_one() {
    let team = Team::new("echo work > src/b.txt");
    let task = team.start_task("The first life");
    let up = team.up();
    team.until_task(&task, "done");
    up.stop();
    let refs = || team.world.git(&["for-each-ref", "--format=%(refname)", "refs/saihai"]);
    let before = refs();
    assert!(before.contains("/shop/merged/tsk_1"), "{before}");
    remove_store(&team);
    team.world.ok(&["init", "--name", "shop"]);
    assert!(team.world.home().join("projects/shop.lost-1/sessions/ses_1").exists(), "what was there is kept");
    assert!(!team.project_directory().join("sessions").exists());
    // The same number, and the same work as was merged for the other: it is nobody's here, and changes nothing.
    let task = team.start_task("The second life");
    let up = team.up();
    let session = wait_for("a verdict", || {
        let session = team.world.json(&["session", "list"])[0].clone();
        (!session["verdict"].is_null()).then_some(session)
    });
    assert_eq!(session["verdict_detail"]["rejected"], "no_change", "{session}");
    team.world.ok(&["task", "cancel", &task, "--reason", "enough"]);
    up.stop();
    let after = refs();
    assert!(before.lines().all(|name| after.contains(name)), "{after}");
    assert!(after.lines().count() > before.lines().count(), "{after}");
}
