//! Is all of it there once, and nobody left working?

use std::collections::BTreeMap;
use std::sync::Arc;

use board::{Driver, EndReason, Session};

use super::site::Site;
use crate::other_hosts::RunningRunner;

impl Site {
    pub(super) fn examine(mut self) {
        println!("{:.1} s: all {} tasks are done", self.age(), self.team.board().tasks.len());
        self.examine_target();
        self.examine_sessions();
        self.examine_output();
        for (host, runner) in self.hosts.iter().zip(&self.runners) {
            host.until_quiet_but(runner);
        }
        self.runners.drain(..).for_each(RunningRunner::stop);
        let verified = self.team.world.ok(&["log", "verify"]);
        assert!(verified.contains("chain intact"), "{verified}");
        println!("{:.1} s: all is well", self.age());
    }

    /// Each task's work is in the target on the remote, by one merge.
    fn examine_target(&self) {
        let world = &self.team.world;
        let remote = world.path().join("origin.git");
        let in_remote = |arguments: &[&str]| world.git(&[&["-C", remote.to_str().unwrap()], arguments].concat());
        let trailers = "--format=%(trailers:key=Task,valueonly,separator=%x2C)";
        let mut merged = BTreeMap::new();
        for task in in_remote(&["log", "--first-parent", trailers, "main"]).lines().filter(|line| !line.is_empty()) {
            *merged.entry(task.to_owned()).or_insert(0) += 1;
        }
        let board = self.team.board();
        let once: BTreeMap<_, _> = board.tasks.keys().map(|task| (task.to_string(), 1)).collect();
        assert_eq!(merged, once, "how often each task was merged");
        let shared = in_remote(&["show", "main:src/a.txt"]);
        for task in board.tasks.keys() {
            let line = format!("task-{}-line", task.0);
            assert_eq!(shared.lines().filter(|found| **found == line).count(), 1, "{line}: {shared}");
            assert_eq!(in_remote(&["show", &format!("main:src/{line}.txt")]), line);
        }
    }

    /// All have ended, for reasons that are known.
    fn examine_sessions(&self) {
        let board = self.team.board();
        let mut reasons = BTreeMap::new();
        for session in board.sessions.values() {
            let Some(end) = &session.end else { panic!("{} has not ended: {session:?}", session.id) };
            *reasons.entry((end.reason.as_str(), end.error.as_deref().unwrap_or_default())).or_insert(0) += 1;
        }
        println!("sessions: {reasons:?}");
        assert!(board.tasks.values().all(|task| task.live.is_none()), "{:?}", board.tasks);
        let listed = self.team.world.json(&["session", "list"]);
        assert_eq!(listed.as_array().unwrap().iter().filter(|session| session["status"] != "ended").count(), 0);
    }

    /// What agents have printed is in the store, byte for byte.
    fn examine_output(&self) {
        let ids: Vec<_> = self.runners.iter().map(|runner| runner.ready["runner"].as_str().unwrap()).collect();
        let board = self.team.board();
        let whole = |session: &&Arc<Session>| session.end.as_ref().is_some_and(|end| end.reason == EndReason::Exited);
        for session in board.sessions.values().filter(whole) {
            let Driver::Runner { runner, .. } = &session.driver else { panic!("{session:?}") };
            let position = ids.iter().position(|id| *id == runner.as_str()).unwrap();
            let host = &self.hosts[position];
            let printed = host.log(session.id.0);
            assert!(printed.ends_with(" is written\n"), "{}: {} bytes", session.id, printed.len());
            host.until_output_is_sent(&self.team.world, session.id.0);
        }
    }
}
