//! W5: how long does the server take for the board of 10,000 tasks, beside one of 100, and what does a change cost?

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::Context as _;

use crate::bench_project::project_id;
use crate::task_list::prepare;
use crate::{Measurement, median, milliseconds};

const MANY: usize = 10_000;
const FEW: usize = 100;
const ROUNDS: usize = 25;

/// The views of the board, by their address.
const VIEWS: [(&str, &str); 3] = [("columns", ""), ("tree", "?view=tree"), ("graph", "?view=graph")];

pub(crate) fn measure() -> anyhow::Result<Vec<Measurement>> {
    let (many, few) = (Server::of(MANY)?, Server::of(FEW)?);
    let mut rows = Vec::new();
    for (name, query) in VIEWS {
        let path = format!("/p/{}{query}", project_id());
        let (mut slow, mut quick) = (Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            slow.push(many.get(&path)?);
            quick.push(few.get(&path)?);
        }
        let (slow, quick) = (median(slow), median(quick));
        rows.push(Measurement {
            id: "W5",
            what: format!("the board of {MANY} tasks as {name}, whole request, beside {FEW} tasks"),
            measured: format!("**{}** (beside {})", milliseconds(slow), milliseconds(quick)),
            budget: "≤ 300 ms",
            within_budget: slow <= Duration::from_millis(300),
        });
        let (page, change) = many.live_change(&path)?;
        rows.push(Measurement {
            id: "W5",
            what: format!("a new task on the board of {MANY} tasks as {name}, sent to a browser that has the page"),
            measured: format!("**{change} bytes** (the page has {page})"),
            budget: "≤ a tenth of the page",
            within_budget: change * 10 <= page,
        });
    }
    Ok(rows)
}

/// A server of its own, with a project of so many tasks.
pub(crate) struct Server {
    _home: tempfile::TempDir,
    child: Child,
    address: String,
    token: String,
}

impl Server {
    fn of(tasks: usize) -> anyhow::Result<Self> {
        let home = tempfile::tempdir_in(".")?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
        runtime.block_on(prepare(home.path(), tasks))?;
        Self::at(home)
    }

    /// On a home that has a project.
    pub(crate) fn at(home: tempfile::TempDir) -> anyhow::Result<Self> {
        let token = saihai(home.path(), &["token", "create", "--role", "owner", "--quiet"])?.output()?.stdout;
        let mut serve = saihai(home.path(), &["serve", "--listen", "127.0.0.1:0", "--json"])?;
        let mut child = serve.stdout(Stdio::piped()).spawn()?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("its output")?).read_line(&mut line)?;
        let announced: serde_json::Value = serde_json::from_str(&line)?;
        let address =
            announced["url"].as_str().and_then(|url| url.strip_prefix("http://")).context("an address")?.to_owned();
        Ok(Self { _home: home, child, address, token: String::from_utf8(token)?.trim().to_owned() })
    }

    /// The number of its process.
    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }

    /// From the request to the last byte of the answer.
    pub(crate) fn get(&self, path: &str) -> anyhow::Result<Duration> {
        let begun = Instant::now();
        self.ask("GET", path, "", "")?;
        Ok(begun.elapsed())
    }

    /// The bytes of a page, and those of what changed when a task was added: what a browser asks for.
    fn live_change(&self, path: &str) -> anyhow::Result<(usize, usize)> {
        let (head, page) = self.ask("GET", path, "X-Have: nothing\r\n", "")?;
        let name = head.lines().find_map(|line| line.strip_prefix("x-page: ")).context("the page's name")?;
        let tasks = format!("/api/v1/projects/{}/tasks", project_id());
        let json = "Content-Type: application/json\r\n";
        self.ask("POST", &tasks, json, r#"{"title": "One more", "priority": "critical"}"#)?;
        let (_, change) = self.ask("GET", path, &format!("X-Have: {name}\r\n"), "")?;
        Ok((page.len(), change.len()))
    }

    /// Head and body of an answer.
    fn ask(&self, method: &str, path: &str, headers: &str, body: &str) -> anyhow::Result<(String, String)> {
        let mut stream = TcpStream::connect(&self.address)?;
        let (host, token, length) = (&self.address, &self.token, body.len());
        write!(
            stream,
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {token}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n{body}"
        )?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer)?;
        anyhow::ensure!(answer.starts_with("HTTP/1.1 20"), "{path}: {}", &answer[..answer.len().min(200)]);
        let (head, body) = answer.split_once("\r\n\r\n").context("a body")?;
        Ok((head.to_owned(), body.to_owned()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn saihai(home: &Path, arguments: &[&str]) -> anyhow::Result<Command> {
    let mut command = Command::new(std::env::current_exe()?.with_file_name("saihai"));
    command.args(arguments).env("SAIHAI_HOME", home);
    Ok(command)
}
