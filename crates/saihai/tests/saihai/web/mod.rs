//! Does the owner's window show what is, and do what it says? In a real browser, with real agents.
//!
//! `SAIHAI_AXE` names axe-core's script, which `scripts/browser` installs with the browser; without it
//! these tests end at once.

mod owner;
mod screens;

use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

use serde_json::Value;
use testkit::browser::{Browser, Options};

use crate::world::World;

/// Where axe-core is, if a browser is to be used.
fn axe() -> Option<PathBuf> {
    std::env::var_os("SAIHAI_AXE").filter(|path| !path.is_empty()).map(PathBuf::from)
}

/// A demo that has played to its end and is still served.
struct Demo {
    child: Child,
    world: World,
    login: String,
}

impl Demo {
    fn play() -> Self {
        let world = World::bare();
        let mut child = world
            .command(&["demo", "--json"])
            .env("TMPDIR", world.path())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let summary: Value = serde_json::from_str(&line).unwrap();
        assert_eq!(summary["tasks"], summary["done"], "{summary}");
        Self { child, world, login: summary["login_url"].as_str().unwrap().to_owned() }
    }

    /// A further link, as `saihai login` makes it.
    fn another_link(&self) -> String {
        let home = self.scratch().join("home");
        let output = self.world.command(&["login", "--json"]).env("SAIHAI_HOME", home).output().unwrap();
        let answer: Value =
            serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {output:?}"));
        answer["login_url"].as_str().unwrap().to_owned()
    }

    /// The demo's own directory: its temporary files are the world's.
    fn scratch(&self) -> PathBuf {
        let mut entries = std::fs::read_dir(self.world.path()).unwrap().flatten().map(|entry| entry.path());
        entries.find(|path| path.file_name().unwrap().to_string_lossy().starts_with("saihai-demo-")).unwrap()
    }

    fn base(&self) -> &str {
        self.login.split_once("/login").unwrap().0
    }
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
    browser
}
