//! Do honest programs work in the sandbox, and does it hold those that fill the machine?

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};

use serde_json::json;

use super::Team;

/// R13: where the system gives no namespaces, `up` says so and starts nothing; `best_effort` goes on, and says what is
/// missing; `doctor` names it.
#[test]
fn a_system_that_cannot_confine_is_named() {
    let team = Team::new("echo work > src/b.txt");
    let task = team.start_task("Work");
    let without_namespaces = |arguments: &[&str]| {
        let saihai = team.world.command(arguments);
        let mut command = Command::new("unshare");
        let prepare = "echo 0 > /proc/sys/user/max_user_namespaces; exec setpriv --bounding-set -sys_admin \"$@\"";
        command.args(["--user", "--map-root-user", "sh", "-c", prepare, "sh"]);
        command.arg(saihai.get_program()).args(saihai.get_args()).current_dir(saihai.get_current_dir().unwrap());
        command.env_clear().envs(saihai.get_envs().filter_map(|(name, value)| Some((name, value?))));
        command
    };
    let said = |output: std::process::Output| String::from_utf8(output.stderr).unwrap();
    let refused = without_namespaces(&["up", "--listen", "127.0.0.1:0"]).output().unwrap();
    assert!(!refused.status.success());
    let refused = said(refused);
    assert!(refused.contains("cannot be confined here: a process gets no root of its own"), "{refused}");
    assert!(refused.contains("sandbox: best_effort"), "{refused}");
    assert_eq!(team.until_board("the board", |board| Some(board.sessions.len())), 0);
    let doctor = without_namespaces(&["doctor"]).output().unwrap();
    let doctor = String::from_utf8(doctor.stdout).unwrap();
    assert!(doctor.contains("a process gets no root of its own"), "{doctor}");

    team.world.write(".saihai/config.yaml", json!({ "sandbox": "best_effort" }).to_string());
    team.commit("best effort");
    let mut up = without_namespaces(&["up", "--listen", "127.0.0.1:0", "--stop-agents"]);
    let up = up.stderr(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap();
    team.until_task(&task, "done");
    rustix::process::kill_process(rustix::process::Pid::from_child(&up), rustix::process::Signal::TERM).unwrap();
    let partly = said(up.wait_with_output().unwrap());
    assert!(partly.contains("confined only in part here: a process gets no root"), "{partly}");
}

/// R14: what is on the user's PATH runs in agents and in checks as it does outside, with a version manager's shim, a link
/// into a virtual environment, and a library beside the program; and files that the agent's command or a variable for certificates names are read.
#[test]
fn toolchains_run_as_outside() {
    let check = "python-like && node-like && tool-like";
    let team = Team::configured("true", &json!({ "dod": { "checks": [{ "type": "tools", "command": check }] } }));
    let home = team.world.path();
    let install = |path: &str, script: &str| {
        let path = home.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    };
    // As pyenv does it: a shim that asks the manager, which finds itself by its variable or in HOME.
    let manager = "#!/bin/sh\nexec \"${PYENV_ROOT:-$HOME/.pyenv}/versions/3/bin/$2\" \"$@\"\n";
    install(
        ".pyenv/shims/python-like",
        &format!("#!/bin/sh\nexec {}/.pyenv/libexec/pyenv exec python-like\n", home.display()),
    );
    install(".pyenv/libexec/pyenv", manager);
    install(".pyenv/versions/3/bin/python-like", "#!/bin/sh\n. \"${0%/*}/../lib/library.sh\"; loaded python\n");
    install(".pyenv/versions/3/lib/library.sh", "loaded() { echo \"loaded $1\"; }\n");
    install(".nvm/versions/node/v20/bin/node-like", "#!/bin/sh\n. \"${0%/*}/../lib/library.sh\"; loaded node\n");
    install(".nvm/versions/node/v20/lib/library.sh", "loaded() { echo \"loaded $1\"; }\n");
    install("envs/x/bin/tool-like", "#!/bin/sh\necho loaded tool\n");
    fs::create_dir_all(home.join(".local/bin")).unwrap();
    std::os::unix::fs::symlink(home.join("envs/x/bin/tool-like"), home.join(".local/bin/tool-like")).unwrap();
    fs::write(home.join("rules.txt"), "rules of the house\n").unwrap();
    fs::write(home.join("authority.pem"), "authority\n").unwrap();
    fs::write(home.join("packages.pem"), "packages\n").unwrap();
    let command = [
        "sh",
        "-c",
        &format!("{check} && cat \"$1\" \"$SSL_CERT_FILE\" \"$PIP_CERT\" && echo work > src/b.txt"),
        "sh",
        home.join("rules.txt").to_str().unwrap(),
    ]
    .map(str::to_owned);
    team.redefine_solo("true", &json!({ "command": command }));
    let task = team.start_task("Use the tools");
    let bin =
        [".pyenv/shims", ".nvm/versions/node/v20/bin", ".local/bin"].map(|path| home.join(path).display().to_string());
    let path = format!("{}:{}", bin.join(":"), std::env::var("PATH").unwrap());
    let mut up = team.world.command(&["up", "--listen", "127.0.0.1:0", "--stop-agents"]);
    let up = up
        .env("PATH", path)
        .env("SSL_CERT_FILE", home.join("authority.pem"))
        .env("PIP_CERT", home.join("packages.pem"))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    team.until_task(&task, "done");
    rustix::process::kill_process(rustix::process::Pid::from_child(&up), rustix::process::Signal::TERM).unwrap();
    up.wait_with_output().unwrap();
    assert_eq!(team.log(1), "loaded python\nloaded node\nloaded tool\nrules of the house\nauthority\npackages\n");
}

/// R13, W3 of the hostile test: whoever uses too much of the machine is ended, with a reason of its own. The first time
/// costs no attempt; its work is still there, and the next session goes on with it.
#[test]
fn whoever_fills_the_machine_is_ended() {
    let limits = json!({ "processes": 64, "memory_mib": 256, "disk_mib": 16, "files": 1000, "file_size_mib": 4 });
    let cases = [
        ("for i in $(seq 100); do sleep 600 & done; wait", "sandbox.limits.processes"),
        (
            "for i in 1 2 3 4; do perl -e '$x = \"a\" x (100 << 20); sleep 600' & done; wait",
            "sandbox.limits.memory_mib",
        ),
        ("for i in $(seq 8); do head -c 3000000 /dev/zero > $HOME/$i; done; sleep 600", "sandbox.limits.disk_mib"),
        ("mkdir src/many; cd src/many; seq 1200 | xargs touch; sleep 600", "sandbox.limits.files"),
        ("exec head -c 9000000 /dev/zero > $HOME/large", "sandbox.limits.file_size_mib"),
    ];
    for (fill, limit) in cases {
        let script = format!(
            "if [ ! -e target/filled ]; then mkdir -p target; touch target/filled; {fill}; fi\n\
                              rm -rf src/many; echo work > src/b.txt"
        );
        let team = Team::configured("true", &json!({ "sandbox": { "limits": limits } }));
        team.redefine_solo(&script, &json!({ "scope": { "write": ["src/**"], "scratch": ["target/"] } }));
        let task = team.start_task("Fill the machine");
        let up = team.up();
        let done = team.until_task(&task, "done");
        let session = team.session(1);
        assert_eq!((&session["end_reason"], &done["attempts"]), (&json!("limit_reached"), &json!(0)), "{session:#}");
        assert!(session["error"].to_string().contains(limit), "{limit}: {session:#}");
        assert_eq!(session["verdict_detail"]["rejected"]["limit_reached"]["reason"], session["error"], "{session:#}");
        up.stop();
    }
}
