//! Does a stream of events lose or double anything, whatever happens to its reader?

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use board::{Board, Command, Limits, NewTask, Settings};
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpSocket, TcpStream};

use super::Sender;
use crate::test_server::{TestServer, owner};

/// Longer than anything takes; whoever waits for so long waits in vain.
const PATIENCE: Duration = Duration::from_secs(60);

/// A message of the stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Told {
    pub(super) id: String,
    event: String,
    pub(super) data: String,
}

impl Told {
    /// The project and number of the event that it is about.
    fn what(&self) -> (String, u64) {
        let data: Value = serde_json::from_str(&self.data).unwrap();
        (data["project"].as_str().unwrap().to_owned(), data["seq"].as_u64().unwrap())
    }
}

/// A reader, which reads only when it is asked to.
pub(super) struct Reading {
    stream: BufReader<TcpStream>,
    /// What of the current chunk was not looked at yet.
    chunk: Vec<u8>,
    /// The last id, as a browser keeps it.
    pub(super) last: String,
}

impl Reading {
    /// Begins to read, or says with which status that was refused.
    pub(super) async fn begin(sender: &Sender, path: &str, last: Option<&str>) -> Result<Self, u16> {
        let host = sender.base.strip_prefix("http://").unwrap();
        let socket = TcpSocket::new_v4().unwrap();
        // As little as the system allows waits on the way to a reader that does not read.
        socket.set_recv_buffer_size(4096).unwrap();
        let stream = socket.connect(host.parse().unwrap()).await.unwrap();
        let mut stream = BufReader::new(stream);
        let mut request = format!("GET /api/v1{path} HTTP/1.1\r\nHost: {host}\r\n");
        request.extend(sender.bearer.iter().map(|bearer| format!("Authorization: Bearer {bearer}\r\n")));
        request.extend(sender.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")));
        request.extend(last.map(|last| format!("Last-Event-ID: {last}\r\n")));
        stream.write_all(format!("{request}\r\n").as_bytes()).await.unwrap();
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            assert_ne!(stream.read_line(&mut head).await.unwrap(), 0, "{head}");
        }
        let status: u16 = head.split(' ').nth(1).unwrap().parse().unwrap();
        if status != 200 {
            assert!(head.contains("application/problem+json"), "{head}");
            return Err(status);
        }
        assert!(head.contains("text/event-stream"), "{head}");
        let mut reading = Self { stream, chunk: Vec::new(), last: String::new() };
        let place = reading.message().await.unwrap();
        assert_eq!(place.event, "place");
        Ok(reading)
    }

    /// The next event; `None` when the stream has ended.
    pub(super) async fn next(&mut self) -> Option<Told> {
        tokio::time::timeout(PATIENCE, self.message()).await.expect("an event that never comes")
    }

    async fn message(&mut self) -> Option<Told> {
        let mut told = Told::default();
        loop {
            let line = self.line().await?;
            match line.split_once(':') {
                None if line.is_empty() && !told.id.is_empty() => {
                    self.last.clone_from(&told.id);
                    return Some(told);
                }
                Some(("id", id)) => told.id = id.trim().into(),
                Some(("data", data)) => told.data = data.trim().into(),
                Some(("event", event)) => told.event = event.trim().into(),
                // Only a sign of life.
                Some(_) | None => {}
            }
        }
    }

    async fn line(&mut self) -> Option<String> {
        loop {
            if let Some(end) = self.chunk.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.chunk.drain(..=end).collect();
                return Some(String::from_utf8(line).unwrap().trim_end().to_owned());
            }
            let mut size = String::new();
            if self.stream.read_line(&mut size).await.ok()? == 0 {
                return None;
            }
            let size = usize::from_str_radix(size.trim(), 16).unwrap();
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk).await.ok()?;
            if size == 0 {
                return None;
            }
            self.chunk.extend_from_slice(&chunk[..size]);
        }
    }
}

/// Appends events until told to stop: how many there are then is for the log to say.
async fn write_on(server: &TestServer, name: &str, stop: &AtomicBool) {
    let project = server.project(name).await;
    for number in 0_u64.. {
        if stop.load(Ordering::Relaxed) {
            return;
        }
        let command = match number % 3 {
            0 => Command::CreateTasks { parent: None, tasks: vec![NewTask::titled(format!("{number}"))], key: None },
            1 => Command::Pause { now: false },
            _ => Command::Resume,
        };
        project.submit(owner(), command).await.unwrap();
    }
}

/// W4: a reader that is cut off again and again, while others write, gets every event of two projects once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reader_that_is_cut_off_misses_nothing_and_gets_nothing_twice() {
    let server = Arc::new(TestServer::open(Limits::default()).await);
    let stop = Arc::new(AtomicBool::new(false));
    let writers: Vec<_> = ["web", "api"]
        .into_iter()
        .map(|name| {
            let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
            tokio::spawn(async move { write_on(&server, name, &stop).await })
        })
        .collect();
    let viewer = Sender::of(&server, "viewer");
    let mut random = rand::rngs::ChaCha8Rng::seed_from_u64(7);
    let mut seen: BTreeMap<String, Vec<u64>> = BTreeMap::new();
    let mut last: Option<String> = None;
    for cut in 0..60 {
        // In the header as browsers do, or in the address as those can who open a page anew.
        let mut reading = match &last {
            None => Reading::begin(&viewer, "/events?after=0", None).await,
            Some(last) if cut % 2 == 0 => Reading::begin(&viewer, "/events", Some(last)).await,
            Some(last) => Reading::begin(&viewer, &format!("/events?after={last}"), None).await,
        }
        .unwrap();
        // Sometimes before the first event.
        for _ in 0..random.random_range(0..40) * u32::from(cut > 2) {
            let (project, seq) = reading.next().await.unwrap().what();
            seen.entry(project).or_default().push(seq);
        }
        last = Some(reading.last.clone());
    }
    stop.store(true, Ordering::Relaxed);
    for writer in writers {
        writer.await.unwrap();
    }
    let heads = server.heads().await;
    let mut reading = Reading::begin(&viewer, "/events", last.as_deref()).await.unwrap();
    while seen.values().map(Vec::len).sum::<usize>() < heads.iter().sum::<u64>() as usize {
        let (project, seq) = reading.next().await.unwrap().what();
        seen.entry(project).or_default().push(seq);
    }
    for (name, head) in ["web", "api"].iter().zip(heads) {
        assert_eq!(seen[*name], (1..=head).collect::<Vec<_>>(), "{name}");
    }
}

/// W4: while one project is busy, the other is told of too.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_busy_project_hides_no_other() {
    let server = Arc::new(TestServer::open(Limits::default()).await);
    let stop = Arc::new(AtomicBool::new(false));
    let writer = {
        let (server, stop) = (Arc::clone(&server), Arc::clone(&stop));
        // The first by name.
        tokio::spawn(async move { write_on(&server, "api", &stop).await })
    };
    let mut reading = Reading::begin(&Sender::of(&server, "viewer"), "/events", None).await.unwrap();
    assert_eq!(reading.next().await.unwrap().what().0, "api");
    server.project("web").await.submit(owner(), Command::Pause { now: false }).await.unwrap();
    while reading.next().await.unwrap().what().0 != "web" {}
    stop.store(true, Ordering::Relaxed);
    writer.await.unwrap();
}

/// W4: a reader without a place is told what comes, of one project if it wants, and of projects that come.
#[tokio::test]
async fn a_new_reader_is_told_what_comes() {
    let server = TestServer::open(Limits::default()).await;
    let viewer = Sender::of(&server, "viewer");
    let (web, api) = (server.project("web").await, server.project("api").await);
    let mut all = Reading::begin(&viewer, "/events", None).await.unwrap();
    let mut only = Reading::begin(&viewer, "/events?project=web", None).await.unwrap();
    api.submit(owner(), Command::Pause { now: false }).await.unwrap();
    assert_eq!(all.next().await.unwrap().what(), ("api".into(), api.newest().await.unwrap().seq));
    web.submit(owner(), Command::Pause { now: false }).await.unwrap();
    let head = web.newest().await.unwrap().seq;
    assert_eq!(all.next().await.unwrap().what(), ("web".into(), head));
    assert_eq!(only.next().await.unwrap().what(), ("web".into(), head));

    // A project is registered before anything happens in it.
    let late: board::ProjectId = "late".parse().unwrap();
    let installation = server.control.installation().await.unwrap();
    let add = board::InstallationCommand::AddProject { id: late.clone(), path: "/late".into() };
    installation.submit(owner(), add).await.unwrap();
    api.submit(owner(), Command::Resume).await.unwrap();
    assert_eq!(all.next().await.unwrap().what().0, "api");
    let opened = server.control.project(&late).await.unwrap();
    let settings = Box::new(Settings::new(late));
    opened.submit(owner(), Command::Configure { settings }).await.unwrap();
    assert_eq!(all.next().await.unwrap().what(), ("late".into(), 1));
}

/// W4: an id that was never given is refused, also one that is yet to come.
#[tokio::test]
async fn a_place_that_never_was_is_refused() {
    let server = TestServer::open(Limits::default()).await;
    let viewer = Sender::of(&server, "viewer");
    let head = server.project("web").await.newest().await.unwrap().seq;
    let beyond = format!("web:{}", head + 1);
    let wrong = ["x", "12", "web", "web:", "web:x", "web:-1", "web:1,", "ghost:1", "a b:1", &beyond, "web:99999999999"];
    for id in wrong {
        assert_eq!(Reading::begin(&viewer, "/events", Some(id)).await.err(), Some(400), "{id}");
    }
    assert_eq!(Reading::begin(&viewer, "/events?after=x", None).await.err(), Some(400));
    assert_eq!(Reading::begin(&viewer, "/events?x=1", None).await.err(), Some(400));
    assert_eq!(Reading::begin(&viewer, "/events?project=ghost", None).await.err(), Some(404));
    assert_eq!(Reading::begin(&Sender::nobody(&server), "/events", None).await.err(), Some(401));
    Reading::begin(&viewer, "/events", Some(&format!("web:{head}"))).await.unwrap();
}

/// W3, S4: whoever may not look any more is not shown any more.
#[tokio::test]
async fn a_stream_ends_with_its_token() {
    let server = TestServer::open(Limits::default()).await;
    let by_owner = Sender::of(&server, "owner");
    let mut readings = Vec::new();
    for _ in 0..4 {
        readings.push(Reading::begin(&Sender::of(&server, "viewer"), "/events", None).await.unwrap());
    }
    by_owner.change("POST", "/projects/web/pause", Value::Null).await;
    for reading in &mut readings {
        reading.next().await.unwrap();
    }
    by_owner.change("DELETE", "/tokens/tok_viewer", Value::Null).await;
    by_owner.change("POST", "/projects/web/resume", Value::Null).await;
    for reading in &mut readings {
        assert!(reading.next().await.is_none());
    }
}

/// How much memory this process uses, in bytes.
fn memory() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// W4, W5: a reader that does not read while 50,000 events happen costs next to nothing, and then gets them all.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slow_reader_costs_little_and_gets_everything() {
    const EVENTS: u64 = 50_000;
    const READERS: u64 = 16;
    let server = TestServer::open(Limits::default()).await;
    let viewer = Sender::of(&server, "viewer");
    let stream = control::Project::stream(&"web".parse().unwrap());
    let first = server.project("web").await.newest().await.unwrap().seq;
    let (before, mut slow) = (memory(), Vec::new());
    for _ in 0..READERS {
        slow.push(Reading::begin(&viewer, "/events?project=web", None).await.unwrap());
    }
    // To append them all as commands would take a minute; to the log they are the same.
    let event = |number: u64| board::Event {
        at: board::Timestamp(1_800_000_000_000),
        by: owner(),
        what: board::EventKind::MessageSent {
            message: board::MessageId(number as u32 + 1),
            from: board::Party::Owner,
            to: board::Party::System,
            content: format!("{number} {}", "x".repeat(1000)),
            related_task: None,
        },
        continues: false,
        fact: None,
    };
    let mut head = first;
    for batch in 0..EVENTS / 1000 {
        let events =
            (0..1000).map(|number| <Board as control::Decider>::encode(&event(batch * 1000 + number))).collect();
        head = server.store.append(&stream, head, events).await.unwrap().seq;
    }
    let board = server.project("web").await.newest().await.unwrap();
    assert_eq!((board.seq, head), (first + EVENTS, first + EVENTS));
    let (mut tasks, all) = (Vec::new(), EVENTS * 1000);
    for mut reading in slow {
        tasks.push(async move {
            let mut expected = first;
            while expected < first + EVENTS {
                expected += 1;
                assert_eq!(reading.next().await.unwrap().what().1, expected);
            }
        });
    }
    // One reads; the others still wait, each with all of it before them.
    let reader = tasks.remove(0);
    reader.await;
    let grown = memory().saturating_sub(before);
    // Two boards have all of it, the server's and the fixture's; the readers would have it 16 times.
    println!("{} MB more with {READERS} readers of {} MB", grown / 1_000_000, all / 1_000_000);
    assert!(grown < 6 * all, "{grown} bytes more for {READERS} readers of {all} bytes");
    tasks.remove(0).await;
}

/// W4: what is told is the event, without its secrets, as the log's pages show it.
#[tokio::test]
async fn a_stream_tells_what_the_pages_show() {
    let server = TestServer::open(Limits::default()).await;
    let viewer = Sender::of(&server, "viewer");
    let mut reading = Reading::begin(&viewer, "/events?project=api&after=0", None).await.unwrap();
    let pages = viewer.get("/projects/api/events?limit=500").await;
    for shown in pages["items"].as_array().unwrap() {
        let mut told: Value = serde_json::from_str(&reading.next().await.unwrap().data).unwrap();
        assert_eq!(told.as_object_mut().unwrap().remove("project"), Some(json!("api")));
        assert_eq!(told, *shown);
    }
}
