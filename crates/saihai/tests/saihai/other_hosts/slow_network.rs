//! Does a network that is slow and breaks off cost work on other hosts anything but time?

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::json;
use testkit::seed::Seed;

use super::Host;
use crate::chaos::Lcg;
use crate::runner::Team;
use crate::server::Server;

/// How long everything takes, in each direction.
const DELAY: Duration = Duration::from_millis(80);
/// What is read at once, and how long that keeps the line busy: 1 MiB a second.
const PIECE: usize = 16 << 10;
const PIECE_TIME: Duration = Duration::from_millis(15);
/// A connection breaks off after less than so many pieces in one direction.
const MOST_PIECES: usize = 60;

const WORK: &str = r#"
name=$(basename "$(git rev-parse --abbrev-ref HEAD)")
seq 1 20000
echo "$name" > "src/$name.txt"
"#;

/// R10, E9: a runner behind a network that is slow, narrow and breaks connections at random: its work is done once, and its
/// output arrives whole.
#[test]
fn a_slow_network_that_breaks_costs_nothing_but_time() {
    let seed = Seed::for_test("saihai", "other_hosts::slow_network::a_slow_network_that_breaks_costs_nothing_but_time");
    let team = Team::new(WORK);
    team.redefine_solo(WORK, &json!({ "max_sessions": 3 }));
    let server = Server::start(&team.world);
    let proxy = slow_proxy(server.port, Lcg(seed.value()));
    let host = Host::new();
    let (token, _) = Server::runner_token(&team.world, "far", &[]);
    let tasks: Vec<_> = (0..3).map(|_| team.start_task("Part")).collect();
    let runner = host.runner(&format!("http://127.0.0.1:{proxy}"), &token, &["--max-parallel", "3"]);
    for (number, task) in tasks.iter().enumerate() {
        team.until_task(task, "done");
        let name = format!("task-{}-part", number + 1);
        assert_eq!(team.merged(&format!("src/{name}.txt")), Some(format!("{name}\n")));
    }
    let sessions: Vec<_> = team.board().sessions.keys().copied().collect();
    assert_eq!(sessions.len(), 3, "none was started again");
    for session in sessions {
        let printed = host.log(session.0).into_bytes();
        assert!(printed.ends_with(b"\n20000\n"), "{} bytes", printed.len());
        host.until_output_is_sent(&team.world, session.0);
    }
    host.until_quiet_but(&runner);
    runner.stop();
}

/// Passes on what it gets to a port of this machine, late and not for long. It ends with the test.
fn slow_proxy(port: u16, rng: Lcg) -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let own = listener.local_addr().unwrap().port();
    let rng = Arc::new(Mutex::new(rng));
    thread::spawn(move || {
        for near in listener.incoming().map_while(Result::ok) {
            let Ok(far) = TcpStream::connect(("127.0.0.1", port)) else { continue };
            for (from, to) in [(&near, &far), (&far, &near)] {
                let (from, to) = (from.try_clone().unwrap(), to.try_clone().unwrap());
                let pieces = 1 + rng.lock().unwrap().below(MOST_PIECES);
                thread::spawn(move || pass_on(from, to, pieces));
            }
        }
    });
    own
}

/// Passes on so many pieces, and then breaks the connection in both directions.
fn pass_on(mut from: TcpStream, mut to: TcpStream, pieces: usize) {
    let (sender, late) = mpsc::channel::<(Instant, Vec<u8>)>();
    let broken = (from.try_clone().unwrap(), to.try_clone().unwrap());
    let passing = thread::spawn(move || {
        for (due, bytes) in late {
            thread::sleep(due.saturating_duration_since(Instant::now()));
            if to.write_all(&bytes).is_err() {
                return;
            }
        }
    });
    let mut buffer = vec![0; PIECE];
    for _ in 0..pieces {
        let Ok(read @ 1..) = from.read(&mut buffer) else { break };
        let _ = sender.send((Instant::now() + DELAY, buffer[..read].to_vec()));
        thread::sleep(PIECE_TIME);
    }
    drop(sender);
    let _ = passing.join();
    let _ = broken.0.shutdown(Shutdown::Both);
    let _ = broken.1.shutdown(Shutdown::Both);
}
