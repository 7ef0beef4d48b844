//! Do the pages show the board, and do their controls work? In a real browser, with real agents.
//!
//! These tests are ignored unless they are asked for: `scripts/test` installs the browser where it may
//! (`scripts/browser`), and runs them then. `SAIHAI_AXE` names axe-core's script.

mod fits;
mod forms;
mod graph_and_tree;
mod now;
mod owner;
mod palette;
mod screens;
mod trust;
mod words;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, ChildStdout, Stdio};

use serde_json::Value;
use testkit::browser::{Browser, Options};

use crate::runner::wait_for;
use crate::world::World;

/// Where axe-core is.
fn axe() -> PathBuf {
    let path = std::env::var_os("SAIHAI_AXE").filter(|path| !path.is_empty());
    path.map(PathBuf::from).expect("SAIHAI_AXE is not set: run scripts/test, or set it to what scripts/browser prints")
}

/// A running demo, or one that has ended and is still served.
struct Demo {
    child: Child,
    stdout: BufReader<ChildStdout>,
    world: World,
}

impl Demo {
    fn begin(pace: &str) -> Self {
        let world = World::bare();
        let mut command = world.command(&["demo", "--json", "--pace", pace]);
        command.env("TMPDIR", world.path()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        Self { child, stdout, world }
    }

    /// Waits until everything is merged.
    fn finish(&mut self) {
        let mut line = String::new();
        self.stdout.read_line(&mut line).unwrap();
        let summary: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(summary["tasks"], summary["done"], "{summary}");
    }

    /// A link, as `saihai login` makes it, as soon as the demo is served.
    fn link(&self) -> String {
        wait_for("a link", || {
            // Its temporary files are below this directory.
            let mut entries = std::fs::read_dir(self.world.path()).unwrap().flatten().map(|entry| entry.path());
            let scratch = entries.find(|path| path.to_string_lossy().contains("saihai-demo-"))?;
            let mut login = self.world.command(&["login", "--json"]);
            let output = login.env("SAIHAI_HOME", scratch.join("home")).output().unwrap();
            let answer: Value = serde_json::from_slice(&output.stdout).ok()?;
            Some(answer["login_url"].as_str()?.to_owned())
        })
    }
}

/// The server of a link.
fn base(link: &str) -> &str {
    link.split_once("/login").unwrap().0
}

impl Drop for Demo {
    fn drop(&mut self) {
        crate::runner::signal(self.child.id(), rustix::process::Signal::TERM);
        let _ = self.child.wait();
    }
}

/// A link for somebody, as `saihai login` makes it.
fn link_for(team: &crate::runner::Team, arguments: &[&str]) -> String {
    team.world.json(&[&["login"], arguments].concat())["login_url"].as_str().unwrap().to_owned()
}

/// Logs in with a link, and waits for the board.
async fn log_in(options: Options, link: &str) -> Browser {
    let browser = Browser::start(options).await;
    browser.goto(link).await;
    browser.until("document.querySelector('header.bar')", "a page after the login").await;
    // What a login shows first is `now`; these tests are about the board.
    let first = browser.eval("location.href").await;
    if let Some(board) = first.as_str().and_then(|first| first.strip_suffix("/now")) {
        browser.goto(board).await;
    }
    browser
}
