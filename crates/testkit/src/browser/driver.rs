//! How is chromedriver started, and how do it and its chromium end with the test?

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use tempfile::TempDir;

/// How long chromedriver may take to listen, and the processes to be gone.
const LIMIT: Duration = Duration::from_secs(30);
const POLL: Duration = Duration::from_millis(10);

/// A running chromedriver with its own home. Dropping it ends chromedriver and every chromium, and removes the home.
///
/// It stays in the process group of the test on purpose: killing that group kills chromedriver as well,
/// and chromium ends when its pipe to chromedriver closes.
#[derive(Debug)]
pub(super) struct Driver {
    child: Child,
    home: TempDir,
    pub(super) address: String,
}

impl Driver {
    pub(super) async fn start() -> Self {
        let home = tempfile::Builder::new().prefix("browser-").tempdir().expect("a temporary directory");
        // A file instead of a pipe: chromium writes to it too, and a pipe that nobody reads would block it.
        let log = File::create(home.path().join("driver.log")).expect("the log of chromedriver");
        let child = Command::new("chromedriver")
            .arg("--port=0")
            .env("HOME", home.path())
            .env_remove("XDG_CONFIG_HOME")
            .env_remove("XDG_CACHE_HOME")
            .stdin(Stdio::null())
            .stdout(log.try_clone().expect("the log of chromedriver, once more"))
            .stderr(log)
            .spawn()
            .unwrap_or_else(|problem| {
                panic!("chromedriver does not start ({problem}): install it with scripts/browser, or run scripts/test")
            });
        let mut driver = Self { child, home, address: String::new() };
        driver.address = format!("http://127.0.0.1:{}", driver.port().await);
        driver
    }

    /// The directory of chromium's profile, which is new.
    pub(super) fn profile(&self) -> PathBuf {
        self.home.path().join("profile")
    }

    /// What chromedriver and chromium wrote.
    pub(super) fn log(&self) -> String {
        fs::read(self.home.path().join("driver.log"))
            .map(|bytes| String::from_utf8_lossy(&bytes).into_owned())
            .unwrap_or_default()
    }

    async fn port(&mut self) -> u16 {
        let end = Instant::now() + LIMIT;
        loop {
            if let Some(port) = listening(&self.log()) {
                return port;
            }
            let ended = self.child.try_wait().expect("the state of chromedriver");
            assert!(ended.is_none() && Instant::now() < end, "chromedriver does not listen:\n{}", self.log());
            tokio::time::sleep(POLL).await;
        }
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        // Listed before chromedriver dies: afterwards its descendants have another parent.
        let below = below(self.child.id(), self.home.path());
        // An error means that it has ended already.
        self.child.kill().ok();
        self.child.wait().ok();
        for process in &below {
            process.kill();
        }
        let end = Instant::now() + LIMIT;
        while below.iter().any(Process::lives) && Instant::now() < end {
            thread::sleep(POLL);
        }
    }
}

/// The port in `ChromeDriver was started successfully on port 37475.`
fn listening(log: &str) -> Option<u16> {
    let (_, rest) = log.split_once("started successfully on port ")?;
    rest.split_once('.')?.0.parse().ok()
}

/// A process as `/proc` shows it. Its start time tells it from a later one with the same pid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Process {
    pid: u32,
    parent: u32,
    started: u64,
    zombie: bool,
}

impl Process {
    fn read(pid: u32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
        // The name is in parentheses and may contain any character, also `)`: count from the last one.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        Some(Self {
            pid,
            parent: fields.get(1)?.parse().ok()?,
            started: fields.get(19)?.parse().ok()?,
            zombie: *fields.first()? == "Z",
        })
    }

    fn names(&self, path: &Path) -> bool {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        path.to_str().is_some_and(|path| String::from_utf8_lossy(&line).contains(path))
    }

    fn lives(&self) -> bool {
        Self::read(self.pid).is_some_and(|now| now.started == self.started && !now.zombie)
    }

    fn kill(&self) {
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid.filter(|_| self.lives()) {
            // It may have ended by itself since.
            kill_process(pid, Signal::KILL).ok();
        }
    }
}

/// The processes below one, however deep, and those that name its home: the crash handlers of chromium
/// leave the tree when they start.
fn below(root: u32, home: &Path) -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return Vec::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let all: Vec<Process> = pids.filter_map(Process::read).collect();
    let mut found: Vec<Process> = all.iter().copied().filter(|process| process.names(home)).collect();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        let children = all.iter().filter(|process| process.parent == parent);
        parents.extend(children.clone().map(|child| child.pid));
        found.extend(children);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::listening;

    #[test]
    fn the_port_is_the_one_that_chromedriver_got() {
        let log = "Starting ChromeDriver 148 on port 0\nChromeDriver was started successfully on port 37475.\n";
        assert_eq!(listening(log), Some(37475));
        assert_eq!(listening("Starting ChromeDriver 148 on port 0\n"), None);
    }
}
