//! A PostgreSQL server for tests: started as another user where this one is root, in a directory that goes away with it.

use std::ffi::OsStr;
use std::net::TcpListener;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};
use std::{env, fs};

use rustix::process::{Pid, Signal, kill_process};

use super::Storage;
use crate::{PostgresAddress, PostgresStore, Store};

const WAIT_LIMIT: Duration = Duration::from_secs(60);

/// A server of its own, for tests that stop it. It listens on a socket in its directory only.
#[derive(Debug)]
pub struct Server {
    directory: PathBuf,
    child: Option<Child>,
    user: Option<(u32, u32)>,
    options: Vec<String>,
}

impl Server {
    /// Makes a database cluster below `directory`, which another user must be able to enter, and starts its server.
    ///
    /// # Panics
    ///
    /// If there is no PostgreSQL, or it does not start.
    pub fn start(directory: &Path) -> Self {
        Self::start_with(directory, vec!["listen_addresses=".into(), "fsync=off".into()])
    }

    /// The same, with the durability of a real one, to measure it.
    ///
    /// # Panics
    ///
    /// As [`Server::start`].
    pub fn start_durable(directory: &Path) -> Self {
        Self::start_with(directory, vec!["listen_addresses=".into()])
    }

    fn start_with(directory: &Path, options: Vec<String>) -> Self {
        let directory = directory.join("postgres");
        fs::create_dir(&directory).unwrap();
        // The server refuses to run as root.
        let user = rustix::process::geteuid().is_root().then(other_user);
        if let Some((uid, gid)) = user {
            chown(&directory, Some(uid), Some(gid)).unwrap();
        }
        let mut server = Self { directory, child: None, user, options };
        let made = server
            .command("initdb")
            .args(["--no-sync", "--auth=trust", "--username=saihai", "--encoding=UTF8", "--locale=C", "-D"])
            .arg(server.data())
            .output()
            .unwrap();
        assert!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr));
        server.restart();
        server
    }

    /// The address of its one database.
    pub fn url(&self) -> String {
        format!("postgres:///postgres?user=saihai&host={}", self.directory.display())
    }

    /// Also listens on a port of the loopback interface, with TLS only, as the host `localhost`. Returns the port, and a file
    /// with the certificate of who vouches for it.
    ///
    /// # Panics
    ///
    /// If there is no openssl, or the server does not start again.
    pub fn listen_with_tls(&mut self) -> (u16, PathBuf) {
        let at = |name: &str| self.directory.join(name).into_os_string();
        let openssl = |arguments: &[&OsStr]| {
            let mut command = Command::new("openssl");
            command.args(["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2"]).args(arguments);
            let made = command.output().unwrap();
            assert!(made.status.success(), "openssl: {}", String::from_utf8_lossy(&made.stderr));
        };
        let [authority, authority_key, certificate, key] =
            ["authority.pem", "authority-key.pem", "certificate.pem", "key.pem"].map(at);
        let word = OsStr::new;
        openssl(&[word("-subj"), word("/CN=tests"), word("-keyout"), &authority_key, word("-out"), &authority]);
        openssl(&[
            word("-subj"),
            word("/CN=localhost"),
            word("-addext"),
            word("subjectAltName=DNS:localhost"),
            word("-addext"),
            word("basicConstraints=critical,CA:FALSE"),
            word("-CA"),
            &authority,
            word("-CAkey"),
            &authority_key,
            word("-keyout"),
            &key,
            word("-out"),
            &certificate,
        ]);
        let (key, certificate) = (PathBuf::from(key), PathBuf::from(certificate));
        fs::set_permissions(&key, fs::Permissions::from_mode(0o600)).unwrap();
        if let Some((uid, gid)) = self.user {
            chown(&key, Some(uid), Some(gid)).unwrap();
        }
        let rules = "local all all trust\nhostssl all all 127.0.0.1/32 trust\n";
        fs::write(self.data().join("pg_hba.conf"), rules).unwrap();
        // The server cannot choose a port itself. Another process may take this one first; then it does not start.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        self.options = vec![
            "fsync=off".into(),
            "listen_addresses=127.0.0.1".into(),
            format!("port={port}"),
            "ssl=on".into(),
            format!("ssl_key_file={}", key.display()),
            format!("ssl_cert_file={}", certificate.display()),
        ];
        self.restart();
        (port, authority.into())
    }

    /// Ends it as a loss of power would, children included.
    pub fn kill(&mut self) {
        self.signal(Signal::KILL);
        if let Some(mut child) = self.child.take() {
            child.wait().unwrap();
        }
    }

    /// Starts it, and waits until it answers.
    pub fn restart(&mut self) {
        self.kill();
        let _ = fs::remove_file(self.data().join("postmaster.pid"));
        let log = fs::File::create(self.directory.join("log")).unwrap();
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.data()).arg("-k").arg(&self.directory);
        for option in &self.options {
            command.args(["-c", option]);
        }
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log);
        self.child = Some(command.spawn().unwrap());
        let since = Instant::now();
        while !self.answers() {
            let log = || fs::read_to_string(self.directory.join("log")).unwrap_or_default();
            assert!(since.elapsed() < WAIT_LIMIT, "PostgreSQL does not start: {}", log());
            thread::sleep(Duration::from_millis(20));
        }
    }

    /// Signals all of its processes. Each has a session of its own.
    pub fn signal(&self, signal: Signal) {
        let Some(server) = &self.child else { return };
        let mut all = vec![Pid::from_child(server)];
        all.extend(children(server.id()));
        for process in all {
            // One that connects at this moment may end by itself.
            let _ = kill_process(process, signal);
        }
    }

    fn answers(&self) -> bool {
        let mut ready = self.command("pg_isready");
        ready.arg("--quiet").arg("--host").arg(&self.directory);
        if let Some(port) = self.options.iter().find_map(|option| option.strip_prefix("port=")) {
            ready.args(["--port", port]);
        }
        ready.status().is_ok_and(|status| status.success())
    }

    fn data(&self) -> PathBuf {
        self.directory.join("data")
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(binaries().join(program));
        if let Some((uid, gid)) = self.user {
            command.uid(uid).gid(gid);
        }
        command.current_dir(&self.directory).env_clear();
        command
    }
}

fn children(parent: u32) -> Vec<Pid> {
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    let child = |entry: fs::DirEntry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        // After the name, which may hold anything: the state, and the parent.
        let of = stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse::<u32>().ok()?;
        let pid = entry.file_name().to_str()?.parse().ok()?;
        (of == parent).then(|| Pid::from_raw(pid)).flatten()
    };
    processes.filter_map(child).collect()
}

impl Drop for Server {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Where the programs of the newest installed version are. Debian keeps them off the PATH.
fn binaries() -> PathBuf {
    let versions = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<_> =
        versions.filter_map(|entry| Some((entry.file_name().to_str()?.parse::<u32>().ok()?, entry.path()))).collect();
    found.sort();
    let newest = found.pop().map(|(_, path)| path.join("bin"));
    let on_path = || {
        let path = env::var_os("PATH").unwrap_or_default();
        env::split_paths(&path).find(|directory| directory.join("initdb").exists())
    };
    newest.or_else(on_path).expect("PostgreSQL is installed: initdb is neither on the PATH nor in /usr/lib/postgresql")
}

/// The user and group that the system's package made.
fn other_user() -> (u32, u32) {
    let users = fs::read_to_string("/etc/passwd").unwrap();
    let of = |name: &str| {
        let line = users.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        let mut fields = line.split(':').skip(1);
        Some((fields.next()?.parse().ok()?, fields.next()?.parse().ok()?))
    };
    of("postgres").or_else(|| of("nobody")).expect("there is another user")
}

/// A schema of its own in the server that `SAIHAI_TEST_POSTGRES` names.
#[derive(Debug)]
pub struct Schema {
    server: String,
    name: String,
}

impl Schema {
    pub async fn fresh() -> Self {
        let server = env::var("SAIHAI_TEST_POSTGRES").expect("SAIHAI_TEST_POSTGRES names a server");
        let name = format!("test_{:016x}", getrandom::u64().unwrap());
        let schema = Self { server, name };
        schema.run(&format!("CREATE SCHEMA {}", schema.name)).await;
        schema
    }

    /// The address of a store in it.
    pub fn url(&self) -> String {
        let joined = if self.server.contains('?') { '&' } else { '?' };
        format!("{0}{joined}options=-csearch_path%3D{1}&application_name={1}", self.server, self.name)
    }

    pub async fn open(&self) -> PostgresStore {
        PostgresStore::open(&self.address()).await.unwrap()
    }

    fn address(&self) -> PostgresAddress {
        self.url().parse().unwrap()
    }

    /// Runs statements as whoever owns the server, in this schema.
    pub async fn run(&self, sql: &str) {
        let mut config = self.address().config().clone();
        config.application_name("test");
        let (client, connection) = config.connect(tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client.batch_execute(sql).await.unwrap();
    }
}

impl Storage for Schema {
    async fn handle(&self) -> Arc<dyn Store> {
        Arc::new(self.open().await)
    }

    async fn interrupt(&self) {
        let name = &self.name;
        self.run(&format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = '{name}'"))
            .await;
    }
}
