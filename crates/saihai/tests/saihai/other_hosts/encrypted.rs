//! Does a server speak TLS to runners, agents and people, and to nobody else (R10)?

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use super::Host;
use crate::runner::Team;
use crate::server::Server;

/// R10, S4: a host that trusts the certificate does its work over TLS: the port, git, output and agents' calls. One that
/// does not is told why, and so is a server whose files are no certificate.
#[test]
fn hosts_work_over_tls() {
    let team = Team::new("echo encrypted > src/a.txt");
    let place = team.world.path();
    let made = rcgen::generate_simple_self_signed(vec!["localhost".into(), "127.0.0.1".into()]).unwrap();
    let (certificate, key) = (place.join("cert.pem"), place.join("key.pem"));
    fs::write(&certificate, made.cert.pem()).unwrap();
    fs::write(&key, made.signing_key.serialize_pem()).unwrap();
    let (certificate, key) = (certificate.to_str().unwrap(), key.to_str().unwrap());

    let swapped =
        team.world.refused(2, &["serve", "--listen", "127.0.0.1:0", "--tls-cert", key, "--tls-key", certificate]);
    assert!(swapped["message"].as_str().unwrap().contains("key.pem"), "{swapped}");

    let server = Server::start_at(&team.world, 0, &["--tls-cert", certificate, "--tls-key", key]);
    let url = format!("https://127.0.0.1:{}", server.port);
    let (token, _) = Server::runner_token(&team.world, "host", &[]);
    let host = Host::new();
    let mut stranger = host.command(&url, &token, &[]).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    BufReader::new(stranger.stderr.take().unwrap()).read_line(&mut told).unwrap();
    assert!(told.contains("certificate"), "{told}");
    stranger.kill().unwrap();
    stranger.wait().unwrap();

    let mut trusting = host.command(&url, &token, &["--ca", certificate, "--once"]).spawn().unwrap();
    let task = team.start_task("Write");
    team.until_task(&task, "done");
    assert_eq!(team.merged("src/a.txt").as_deref(), Some("encrypted\n"));
    assert!(trusting.wait().unwrap().success());

    // Without TLS there is no answer, and the cookie of a login is for TLS alone.
    let curl =
        |arguments: &[&str]| Command::new("curl").args(["--silent", "--max-time", "20"]).args(arguments).output();
    assert!(!curl(&[&format!("http://127.0.0.1:{}/healthz", server.port)]).unwrap().status.success());
    let healthy = curl(&["--cacert", certificate, &format!("{url}/healthz")]).unwrap();
    assert_eq!(healthy.stdout, b"ok\n");
    let link = team.world.ok(&["login", "--quiet"]);
    let code = link.rsplit_once("code=").unwrap().1;
    let login =
        curl(&["--cacert", certificate, "--include", "--data", &format!("code={code}"), &format!("{url}/login")]);
    let login = String::from_utf8(login.unwrap().stdout).unwrap().to_lowercase();
    assert!(login.contains("set-cookie") && login.contains("; secure"), "{login}");
}
