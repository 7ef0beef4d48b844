//! How does a test make hosts that only a network connects, and cut them off?
//!
//! Each host is a network namespace with one cable, a veth pair, to a switch, which is a namespace too. Nothing is made in the
//! machine's own network. Files and processes are those of the machine. It takes root, and iproute2.

use std::process::{Command, Stdio};

use rustix::process::Signal;

use crate::runner::signal;

const SWITCH: &str = "switch";

/// Hosts that reach each other, taken apart when it is dropped.
pub(super) struct Network {
    hosts: Vec<&'static str>,
}

impl Network {
    /// Names have at most 15 letters: a host's port at the switch is called like it.
    pub(super) fn of(hosts: &[&'static str]) -> Self {
        let mut network = Self { hosts: Vec::new() };
        let switch = namespace(SWITCH);
        ip(&["netns", "add", &switch]);
        let bridge = ["link", "add", "bridge", "type", "bridge", "forward_delay", "0", "stp_state", "0"];
        ip(&[&["-n", &switch], &bridge[..]].concat());
        ip(&["-n", &switch, "link", "set", "bridge", "up"]);
        for host in hosts {
            let there = namespace(host);
            ip(&["netns", "add", &there]);
            network.hosts.push(host);
            ip(&["-n", &switch, "link", "add", host, "type", "veth", "peer", "name", "cable", "netns", &there]);
            ip(&["-n", &switch, "link", "set", host, "master", "bridge", "up"]);
            ip(&["-n", &there, "address", "add", &format!("{}/24", network.address(host)), "dev", "cable"]);
            ip(&["-n", &there, "link", "set", "lo", "up"]);
            ip(&["-n", &there, "link", "set", "cable", "up"]);
        }
        network
    }

    pub(super) fn address(&self, host: &str) -> String {
        let position = self.hosts.iter().position(|known| *known == host).unwrap();
        format!("10.77.0.{}", position + 1)
    }

    /// The same command on a host. Its process becomes that of the program: what is killed is the program.
    pub(super) fn command_on(host: &str, command: &Command) -> Command {
        let mut there = Command::new("ip");
        there.args(["netns", "exec", &namespace(host)]).arg(command.get_program()).args(command.get_args());
        there.env_clear().envs(command.get_envs().filter_map(|(name, value)| Some((name, value?))));
        there.current_dir(command.get_current_dir().unwrap()).stdin(Stdio::null());
        there
    }

    /// Pulls a host's cable. Nobody is told: what is sent is lost.
    pub(super) fn cut(host: &str) {
        ip(&["-n", &namespace(SWITCH), "link", "set", host, "down"]);
    }

    pub(super) fn mend(host: &str) {
        ip(&["-n", &namespace(SWITCH), "link", "set", host, "up"]);
    }
}

impl Drop for Network {
    /// Also kills what a test left there.
    fn drop(&mut self) {
        for host in &self.hosts {
            let listed = Command::new("ip").args(["netns", "pids", &namespace(host)]).output();
            let listed = listed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned()).unwrap_or_default();
            listed.lines().filter_map(|pid| pid.parse().ok()).for_each(|pid| signal(pid, Signal::KILL));
        }
        for host in self.hosts.iter().chain(&[SWITCH]) {
            let _ = Command::new("ip").args(["netns", "del", &namespace(host)]).status();
        }
    }
}

fn namespace(host: &str) -> String {
    format!("sh-{}-{host}", std::process::id())
}

#[track_caller]
fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().unwrap_or_else(|error| panic!("ip, of iproute2: {error}"));
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "ip {}: {said}", arguments.join(" "));
}
