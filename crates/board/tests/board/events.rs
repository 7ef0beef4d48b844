//! Does every event that was ever written still load (E4)?

use std::collections::BTreeSet;

use board::{BadEvent, Event, Timestamp};
use serde::{Deserialize, Serialize};

use crate::samples::{KINDS, every_event, kinds};

const GOLDEN: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/events-v1.jsonl");

/// A line of the golden file: an event as a store keeps it.
#[derive(Serialize, Deserialize)]
struct Stored {
    version: u16,
    at: Timestamp,
    body: serde_json::Value,
}

/// The golden lines. `SAIHAI_BLESS=1` adds samples that are missing, and never touches what is there.
fn golden() -> Vec<Stored> {
    let mut text = std::fs::read_to_string(GOLDEN).unwrap_or_default();
    if std::env::var_os("SAIHAI_BLESS").is_some() {
        let before: Vec<_> = parse(&text).into_iter().map(|line| line.body).collect();
        for event in every_event() {
            let body = serde_json::from_str(&event.encode()).unwrap();
            if before.contains(&body) {
                continue;
            }
            let line = Stored { version: Event::VERSION, at: event.at, body };
            text.push_str(&(serde_json::to_string(&line).unwrap() + "\n"));
        }
        std::fs::write(GOLDEN, &text).unwrap();
    }
    parse(&text)
}

fn parse(text: &str) -> Vec<Stored> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn load(line: &Stored) -> Event {
    Event::decode(line.version, line.at, &line.body.to_string()).unwrap_or_else(|bad| panic!("{}: {bad}", line.body))
}

/// Is all of what was written there? There may be more: a field that was added has its default.
fn holds(now: &serde_json::Value, then: &serde_json::Value) -> bool {
    use serde_json::Value::{Array, Object};
    match (now, then) {
        (Object(now), Object(then)) => then.iter().all(|(key, then)| now.get(key).is_some_and(|now| holds(now, then))),
        (Array(now), Array(then)) => {
            now.len() == then.len() && now.iter().zip(then).all(|(now, then)| holds(now, then))
        }
        (now, then) => now == then,
    }
}

/// Older logs have the values of `env`, which are dropped on reading (E8).
fn without_env_values(mut body: serde_json::Value) -> serde_json::Value {
    let agents = body.pointer_mut("/what/roster_applied/present").and_then(serde_json::Value::as_array_mut);
    for value in
        agents.into_iter().flatten().filter_map(|agent| agent["env"].as_object_mut()).flat_map(|env| env.values_mut())
    {
        *value = board::EnvNames::HIDDEN.into();
    }
    body
}

/// E4: what was written in any version loads; what is of today's version loses nothing by it.
#[test]
fn every_event_ever_written_still_loads() {
    let lines = golden();
    assert!(lines.len() >= KINDS, "run with SAIHAI_BLESS=1 to add the kinds that are missing");
    for line in lines {
        let event = load(&line);
        if line.version == Event::VERSION {
            let now = serde_json::from_str(&event.encode()).unwrap();
            let then = without_env_values(line.body);
            assert!(holds(&now, &then), "{now}\n{then}");
        }
    }
}

/// E4
#[test]
fn every_kind_of_event_is_in_the_golden_file() {
    let samples: BTreeSet<_> = kinds().into_iter().collect();
    assert_eq!(samples.len(), KINDS, "a kind has no sample in samples.rs");
    let lines = golden();
    let found: BTreeSet<_> = lines.iter().map(|line| load(line).name()).collect();
    assert_eq!(found, samples, "run with SAIHAI_BLESS=1 to add the kinds that are missing");
}

/// E4: the name of an event is the word under which it is stored.
#[test]
fn kind_is_the_word_in_the_log() {
    for event in every_event() {
        let body: serde_json::Value = serde_json::from_str(&event.encode()).unwrap();
        let what = &body["what"];
        let word = what.as_str().or_else(|| what.as_object()?.keys().next().map(String::as_str)).unwrap();
        assert_eq!(word, event.name());
    }
}

/// E4: every sample reads back as it was.
#[test]
fn events_read_back_as_they_were() {
    for event in every_event() {
        assert_eq!(Event::decode(Event::VERSION, event.at, &event.encode()).unwrap(), event);
    }
}

/// E4: an event of a newer binary, or one that is none, is named, not guessed at.
#[test]
fn newer_and_unreadable_events_are_refused() {
    let newer = Event::decode(Event::VERSION + 1, Timestamp(0), "{}");
    assert!(matches!(newer, Err(BadEvent::Newer { .. })));
    for bad in ["", "{}", r#"{"by":"system","what":"unheard_of"}"#] {
        assert!(matches!(Event::decode(Event::VERSION, Timestamp(0), bad), Err(BadEvent::Unreadable(_))), "{bad}");
    }
}
