//! Can an agent reach anything that it was not given, while it works or by what it leaves?

use std::fs;
use std::os::unix::fs::MetadataExt as _;

use board::{AgentSpec, Isolation, Scope};
use runner::scope::Patterns;
use runner::{Workspace, WorkspaceSpec};
use serde_json::json;

use crate::world::World;

use super::{Team, Up, assert_unchanged, snapshot, wait_for};

/// Lets `solo` try what must not succeed, and gives what it said to each attempt. Whatever it does,
/// the user's repository and home are the same byte for byte when it has tried.
#[track_caller]
fn attempts(team: &Team, expected: &[&str]) {
    let task = team.start_task("Escape");
    let up = team.up();
    team.until_barrier(1, "begin");
    let before = (snapshot(&team.world.repository), snapshot(&team.world.path().join("user")));
    team.release(1, "begin");
    team.until_barrier(1, "end");
    let after = (snapshot(&team.world.repository), snapshot(&team.world.path().join("user")));
    assert_unchanged(&before.0, &after.0);
    assert_unchanged(&before.1, &after.1);
    let log = team.log(1);
    let said: Vec<_> =
        log.lines().filter(|line| line.starts_with("ESCAPED ") || line.starts_with("refused ")).collect();
    let refused: Vec<_> = expected.iter().map(|name| format!("refused {name}")).collect();
    assert_eq!(said, refused, "{log}");
    team.release(1, "end");
    team.until_task(&task, "done");
    assert_eq!(team.merged("src/b.txt").as_deref(), Some("work\n"), "what it may do, it did");
    up.stop();
}

/// The script that makes the attempts, then its work. It knows `$MAIN`, `$USERS` and `$SAIHAI`.
fn tries(team: &Team, attempts: &str) -> String {
    let (main, root, home) = (team.world.repository.display(), team.world.path().display(), team.world.home());
    format!(
        "MAIN='{main}'; USERS='{root}/user'; SAIHAI='{}'\nbarrier begin\n{attempts}\nbarrier end\necho work > src/b.txt\n",
        home.display()
    )
}

fn a_users_files(team: &Team) {
    let ssh = team.world.path().join("user/.ssh");
    fs::create_dir_all(&ssh).unwrap();
    fs::write(ssh.join("id_ed25519"), "private key\n").unwrap();
    fs::write(team.world.path().join("user/notes.txt"), "notes\n").unwrap();
}

/// R16: the memory bank is there whatever the scope says, and the prompt names what is there and nothing else.
#[test]
fn files_that_the_prompt_names_are_there() {
    let team = Team::new("");
    team.world.write(".saihai/memory/style.md", "# Style\n\nTabs.\n");
    team.redefine_solo(
        "cat .saihai/memory/style.md > src/seen.txt; ls .saihai/memory >> src/seen.txt; cat >> src/seen.txt",
        &json!({ "scope": { "read": ["src/**"], "write": ["src/**"], "exclude": [".saihai/**"] } }),
    );
    team.world.write(".saihai/memory/secret-plan.md", "# Not committed\n");
    for told in [team.world.ok(&["init"]), team.world.ok(&["doctor", "--skip-checks"])] {
        assert!(told.contains("secret-plan.md"), "{told}");
    }
    let task = team.start_task("Look");
    let _up = team.up();
    team.until_task(&task, "done");
    let seen = team.merged("src/seen.txt").unwrap();
    assert!(seen.contains("Tabs.") && seen.contains(".saihai/memory/style.md"), "{seen}");
    assert!(!seen.contains("secret-plan"), "{seen}");
}

/// R2, F64: files elsewhere are neither written, replaced, removed nor read: by name, by `..`,
/// through a link, under another name.
#[test]
fn nothing_outside_of_the_scope_can_be_touched() {
    let team = Team::new("true");
    a_users_files(&team);
    team.world.write("README.md", "read me\n");
    fs::create_dir_all(team.world.home().join("projects/shop/workspaces/task-9/work")).unwrap();
    fs::write(team.world.home().join("projects/shop/workspaces/task-9/work/a.txt"), "of another\n").unwrap();
    let script = tries(
        &team,
        r#"
        write() { echo changed > "$1"; }
        try write_root write outside.txt
        try write_readme write README.md
        try append_definitions write .saihai/config.yaml
        try remove_readme rm -f README.md
        try rename_over_readme mv -f src/a.txt README.md
        try dotdot write ../outside.txt
        try dotdot_far write src/../../../../outside.txt
        try git_link write .git
        ln -s "$USERS/notes.txt" src/link; try through_link write src/link; rm -f src/link
        ln -s "$USERS" src/dir; try through_directory write src/dir/new.txt; try list_directory ls src/dir/; rm -f src/dir
        ln -s "$USERS/.ssh/id_ed25519" src/key; try read_through_link cat src/key; rm -f src/key
        try read_key cat "$USERS/.ssh/id_ed25519"
        try hard_link_key ln "$USERS/.ssh/id_ed25519" src/key
        try hard_link_object sh -c 'for o in "$1"/.git/objects/??/*; do ln "$o" src/object && exit 0; done; exit 1' sh "$MAIN"
        try rename_over_notes sh -c 'echo x > src/x; mv -f src/x "$1/notes.txt"' sh "$USERS"; rm -f src/x
        try rename_away sh -c 'mv "$1/notes.txt" src/notes.txt' sh "$USERS"
        try truncate truncate -s 0 "$USERS/notes.txt"
        try write_main write "$MAIN/src/a.txt"
        try read_main cat "$MAIN/src/a.txt"
        try remove_main rm -r "$MAIN/src"
        try other_workspace write "$SAIHAI/projects/shop/workspaces/task-9/work/a.txt"
        try read_other_workspace cat "$SAIHAI/projects/shop/workspaces/task-9/work/a.txt"
        try read_store cat "$SAIHAI/saihai.db"
        try write_store write "$SAIHAI/saihai.db"
        try own_record write "$SAIHAI/projects/shop/sessions/ses_1/exit.json"
        try stop_file write "$SAIHAI/projects/shop/sessions/ses_1/stop.json"
        try ready_file rm "$SAIHAI/projects/shop/workspaces/task-1/ready"
        try swap_git_directory mv "$SAIHAI/projects/shop/workspaces/task-1/git" "$SAIHAI/projects/shop/workspaces/task-1/git2"
        write /tmp/saihai-escape
        try etc write /etc/saihai-escape
        try mount mount -t tmpfs none src
        try device mknod src/sda b 8 0
        "#,
    );
    team.redefine_solo(&script, &json!({}));
    attempts(
        &team,
        &[
            "write_root",
            "write_readme",
            "append_definitions",
            "remove_readme",
            "rename_over_readme",
            "dotdot",
            "dotdot_far",
            "git_link",
            "through_link",
            "through_directory",
            "list_directory",
            "read_through_link",
            "read_key",
            "hard_link_key",
            "hard_link_object",
            "rename_over_notes",
            "rename_away",
            "truncate",
            "write_main",
            "read_main",
            "remove_main",
            "other_workspace",
            "read_other_workspace",
            "read_store",
            "write_store",
            "own_record",
            "stop_file",
            "ready_file",
            "swap_git_directory",
            "etc",
            "mount",
            "device",
        ],
    );
    assert!(!fs::exists("/tmp/saihai-escape").unwrap(), "its /tmp is its own");
}

/// R13, F112: what is outside is not there at all: it can be neither seen, changed in mode or time, watched nor
/// connected to, and the kernel's other ways around files are closed. The same for root and for ordinary users.
#[test]
fn nothing_outside_is_there() {
    let team = Team::new("true");
    a_users_files(&team);
    let _listener = std::os::unix::net::UnixListener::bind(team.world.path().join("user/agent.sock")).unwrap();
    let script = tries(
        &team,
        r#"
        # Refused only with this very error: the kernel would not like the arguments either.
        call() { perl -e 'my ($e, $n, @a) = map { 0 + $_ } @ARGV; syscall($n, @a); exit($! == $e)' "$@"; }
        socket() { perl -MSocket -e 'socket(my $s, $ARGV[0], SOCK_STREAM, 0); exit($! == 97)' "$1"; }
        try stat_file stat "$USERS/notes.txt"
        try stat_home stat "$USERS"
        try list_root_home ls /root
        try list_homes ls /home
        try list_var ls /var/lib
        try list_run ls /run
        try chmod_notes chmod 777 "$USERS/notes.txt"
        try touch_notes touch -d 1970-01-01 "$USERS/notes.txt"
        try chmod_readme chmod 777 README.md
        try chmod_object sh -c 'chmod 777 "$1"/.git/objects/??' sh "$MAIN"
        try watch_main perl -e 'exit(syscall(254, syscall(253), $ARGV[0], 0xfff) < 0)' "$MAIN/.git/HEAD"
        try connect perl -MIO::Socket::UNIX -e 'IO::Socket::UNIX->new(Peer => $ARGV[0]) or exit 1' "$USERS/agent.sock"
        try shadow cat /etc/shadow
        try ssh_keys ls /etc/ssh
        try private_keys ls /etc/ssl/private
        try core_pattern sh -c 'cat /proc/sys/kernel/core_pattern > /proc/sys/kernel/core_pattern'
        try swappiness sh -c 'cat /proc/sys/vm/swappiness > /proc/sys/vm/swappiness'
        try null_mode chmod 600 /dev/null
        try null_time touch -d 1970-01-01 /dev/null
        try new_root_file sh -c 'echo x > /new'
        try new_etc_file sh -c 'echo x > /etc/new'
        try new_device sh -c 'echo x > /dev/new'
        try user_namespace unshare -U true
        try mount_namespace unshare -m true
        try remount mount -o remount,rw /
        try unmount umount "$HOME"
        try chroot chroot / true
        try keyring call 1 250 0 -3 1
        try add_key call 1 248 0 0 0 0 -3
        try io_uring call 38 425 1 0
        try userfaultfd call 1 323 1
        try vsock socket 40
        try packet socket 17
        try bpf call 1 321 0 0 0
        try handle call 1 304 -100 0 0
        perl -e 'my $id = shmget(0x5a1a1a, 1024, 01666); print "shared memory ", defined $id ? "made" : "refused", "\n"'
        grep -H . /proc/self/comm /proc/1/comm; ls /proc | grep -c '^[0-9]' | sed 's/^/processes /'
        id -un | sed 's/^/name /'; [ "$(perl -e 'print((getpwuid $<)[7])')" = "$HOME" ] && echo "home is known"
        [ -c /dev/ptmx ] && : > /dev/null && : > /dev/shm/x && : > /tmp/x && head -c 1 /dev/urandom | wc -c | sed 's/^/random /'
        "#,
    );
    team.redefine_solo(&script, &json!({}));
    attempts(
        &team,
        &[
            "stat_file",
            "stat_home",
            "list_root_home",
            "list_homes",
            "list_var",
            "list_run",
            "chmod_notes",
            "touch_notes",
            "chmod_readme",
            "chmod_object",
            "watch_main",
            "connect",
            "shadow",
            "ssh_keys",
            "private_keys",
            "core_pattern",
            "swappiness",
            "null_mode",
            "null_time",
            "new_root_file",
            "new_etc_file",
            "new_device",
            "user_namespace",
            "mount_namespace",
            "remount",
            "unmount",
            "chroot",
            "keyring",
            "add_key",
            "io_uring",
            "userfaultfd",
            "vsock",
            "packet",
            "bpf",
            "handle",
        ],
    );
    let log = team.log(1);
    for line in ["shared memory made", "home is known", "random 1"] {
        assert!(log.contains(line), "{line}: {log}");
    }
    let shared = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    assert!(!shared.contains("5904922"), "0x5a1a1a has outlived it: {shared}");
}

/// R1, R2, F64: neither refs nor objects, configuration or hooks of the user's repository.
#[test]
fn nothing_of_the_main_repository_can_be_changed() {
    let team = Team::new("true");
    a_users_files(&team);
    let script = tries(
        &team,
        r#"
        main() { git --git-dir="$MAIN/.git" "$@"; }
        echo mine > src/mine.txt; git add src/mine.txt; git commit -qm mine
        try update_ref main update-ref refs/heads/main HEAD~1
        try update_ref_by_environment env GIT_DIR="$MAIN/.git" git update-ref refs/heads/main HEAD
        try branch main branch evil
        try config main config core.hooksPath /tmp
        try hook sh -c 'mkdir -p "$1/.git/hooks"; echo "touch x" > "$1/.git/hooks/post-merge"' sh "$MAIN"
        try push git push "$MAIN" HEAD:refs/heads/main
        try push_file git push "file://$MAIN" HEAD:refs/heads/evil
        try fetch_into main fetch "$PWD" HEAD:refs/heads/evil
        try delete_object sh -c 'rm -f "$1"/.git/objects/??/*' sh "$MAIN"
        try write_object sh -c 'echo x > "$1/.git/objects/info/alternates"' sh "$MAIN"
        try gc main gc --prune=now
        try chmod_object sh -c 'for o in "$1"/.git/objects/??/*; do echo x > "$o" && exit 0; done; exit 1' sh "$MAIN"
        try head sh -c 'echo "ref: refs/heads/evil" > "$1/.git/HEAD"' sh "$MAIN"
        try index rm "$MAIN/.git/index"
        "#,
    );
    team.redefine_solo(&script, &json!({}));
    attempts(
        &team,
        &[
            "update_ref",
            "update_ref_by_environment",
            "branch",
            "config",
            "hook",
            "push",
            "push_file",
            "fetch_into",
            "delete_object",
            "write_object",
            "gc",
            "chmod_object",
            "head",
            "index",
        ],
    );
    assert_eq!(team.world.git(&["fsck", "--no-progress"]), "");
}

/// R2, F46, S3: nothing of the user's environment but what is named, no other process's
/// secrets, no signals to anybody else.
#[test]
fn an_agent_inherits_nothing() {
    let script = r#"
        env | cut -d= -f1 | sort | sed 's/^/variable /'
        cat /proc/[0-9]*/environ 2>/dev/null | tr '\0' '\n' | sed 's/^/environ /'
        try signal_others sh -c 'kill -0 "$1"' sh PID
        kill -9 1 "$PPID"
        echo work > src/b.txt
    "#;
    let script = script.replace(" PID\n", &format!(" {}\n", std::process::id()));
    let team = Team::new("true");
    team.redefine_solo(&script, &json!({ "env": { "GIVEN": "yes" } }));
    let task = team.start_task("Look around");
    let secret =
        [("AWS_SECRET_ACCESS_KEY", "sesame"), ("CLAUDECODE", "1"), ("SSH_AUTH_SOCK", "/tmp/agent"), ("LD_PRELOAD", "")];
    let up = Up::start_with(&team, &[], &secret);
    team.until_task(&task, "done");
    let log = team.log(1);
    let variables: Vec<_> = log.lines().filter_map(|line| line.strip_prefix("variable ")).collect();
    let allowed = [
        "GIVEN",
        "HOME",
        "LANG",
        "OLDPWD",
        "PATH",
        "PWD",
        "RUSTUP_HOME",
        "SAIHAI_SPAWN",
        "SHLVL",
        "TERM",
        "TMPDIR",
        "_",
    ];
    let more: Vec<_> = variables.iter().filter(|name| !allowed.contains(name)).collect();
    assert!(more.is_empty(), "{more:?}");
    assert!(["GIVEN", "HOME", "PATH", "SAIHAI_SPAWN", "TMPDIR"].iter().all(|name| variables.contains(name)), "{log}");
    assert!(!log.contains("sesame") && !log.contains("ESCAPED"), "{log}");
    assert!(up.ready["mcp_url"].as_str().unwrap().starts_with("http://127.0.0.1:"));
    up.stop();
}

/// R2: a descriptor that was open when `up` was started would be a way out that no path rule closes.
#[test]
fn open_descriptors_are_not_handed_on() {
    let team = Team::new("echo escaped >&9; echo work > src/b.txt");
    let task = team.start_task("Write to what is open");
    let file = team.world.path().join("open.txt");
    let up = Up::start_holding(&team, &file);
    team.until_task(&task, "done");
    assert_eq!(fs::read_to_string(&file).unwrap(), "");
    up.stop();
}

/// R2: HOME and TMPDIR are the session's own, and gone when it is.
#[test]
fn home_and_temporary_files_are_private_and_go_with_the_session() {
    let team = Team::new(
        r#"
        echo mine > "$HOME/.profile"; mkdir -p "$HOME/a/b"; chmod 0 "$HOME/a"; echo x > "$TMPDIR/x"
        echo "home $HOME"; echo work > src/b.txt
        "#,
    );
    let task = team.start_task("Leave files");
    let up = team.up();
    team.until_task(&task, "done");
    let home = team.run_directory(1).join("home");
    assert!(team.log(1).contains(&format!("home {}", home.display())));
    wait_for("its own files to go", || (!home.exists() && !team.run_directory(1).join("tmp").exists()).then_some(()));
    assert!(!team.world.path().join(".profile").exists());
    up.stop();
}

/// R2, F60: what is excluded is not there, at any depth, while files beside it in the root are; what
/// is not to be read is not there either.
#[test]
fn what_is_excluded_is_not_in_the_workspace() {
    let team = Team::new("true");
    for path in [".env", "src/.env", "package.json", "secrets/key", "src/secrets/key", "docs/guide.md", "other/x.txt"] {
        team.world.write(path, "content\n");
    }
    let look = "find . -name .git -prune -o -type f -print | sort | sed 's/^/file /'; echo work > src/b.txt";
    let scope = json!({ "read": ["src/**", "package.json"], "write": ["src/**", "docs/"], "exclude": [".env", "secrets/"], "scratch": [] });
    team.redefine_solo(look, &json!({ "scope": scope }));
    let task = team.start_task("Look");
    let up = team.up();
    team.until_task(&task, "done");
    let log = team.log(1);
    let files: Vec<_> = log.lines().filter_map(|line| line.strip_prefix("file ./")).collect();
    // The prompt names the memory bank (R16).
    assert_eq!(files, [".saihai/memory/project.md", "docs/guide.md", "package.json", "src/a.txt"]);
    // What it did not see is still there.
    for path in [".env", "src/.env", "secrets/key", "src/secrets/key", "other/x.txt"] {
        assert_eq!(team.merged(path).as_deref(), Some("content\n"), "{path}");
    }
    up.stop();
}

/// R2, F63: whatever is written as a pattern, the files that are checked out are those that it means
/// when changes are judged.
#[test]
fn one_dialect_for_the_checkout_and_the_difference() {
    const FILES: [&str; 24] = [
        ".env",
        "a.md",
        "b.txt",
        "build/out.txt",
        "docs/a.md",
        "docs/deep/er/b.md",
        "docs/deep/er/c.txt",
        "key",
        "src/.env",
        "src/a.rs",
        "src/b.rs",
        "src/build/x.rs",
        "src/gen/a.rs",
        "src/gen/keep.rs",
        "src/key/id",
        "src/secrets/a",
        "secrets/a",
        "secrets/deep/b",
        "with space/a b.txt",
        "#hash.txt",
        "!bang.txt",
        "[x].txt",
        "quote\".txt",
        "$(touch x).txt",
    ];
    let lists: &[&[&str]] = &[
        &["**/.env"],
        &[".env"],
        &["/.env"],
        &["secrets/"],
        &["/secrets/"],
        &["secrets"],
        &["secrets/**"],
        &["/secrets/**"],
        &["**/secrets/**"],
        &["*.md"],
        &["/*.md"],
        &["docs/*.md"],
        &["docs/**/*.md"],
        &["docs/**"],
        &["docs"],
        &["docs/"],
        &["docs/*"],
        &["/docs/deep"],
        &["deep"],
        &["deep/"],
        &["**/deep/er/**"],
        &["src/*.rs"],
        &["src/**/*.rs"],
        &["src/[ab].rs"],
        &["src/?.rs"],
        &["key"],
        &["key/"],
        &["build"],
        &["/build"],
        &["src/**", "!src/gen/**"],
        &["src/*", "!src/gen"],
        &["*.rs", "!keep.rs"],
        &["src/gen/*", "!src/gen/keep.rs"],
        &["with space/"],
        &["with space/a b.txt"],
        &["\\#hash.txt"],
        &["\\!bang.txt"],
        &["\\[x\\].txt"],
        &["quote\".txt"],
        &["$(touch x).txt"],
        &["nothing/of/that/name"],
        &["*"],
        &["/*"],
        &["/**"],
        &["src/"],
        &["/src/**/"],
        &["**/er"],
    ];
    let world = World::repository();
    for path in FILES {
        world.write(path, "x\n");
    }
    world.git(&["add", "--all"]);
    world.git(&["commit", "--quiet", "--message=files"]);
    let base = world.git(&["rev-parse", "HEAD"]);
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let mut wrong = Vec::new();
    for (number, list) in lists.iter().enumerate() {
        let patterns: Vec<_> = list.iter().map(|pattern| (*pattern).to_owned()).collect();
        let meant = Patterns::new(&patterns);
        for shown in [true, false] {
            let mut spec = AgentSpec::worker("solo".parse().unwrap());
            let everything = vec!["**".to_owned()];
            let (read, exclude) = if shown { (patterns.clone(), vec![]) } else { (everything, patterns.clone()) };
            spec.scope = Scope { read, exclude, write: vec![], scratch: vec![] };
            let place = world.path().join(format!("place-{number}-{shown}"));
            let isolation = Isolation::Clone;
            let order = WorkspaceSpec {
                repository: &world.repository,
                root: &place,
                branch: None,
                base: &base,
                agent: &spec,
                isolation,
            };
            let workspace = runtime.block_on(Workspace::prepare(&order)).unwrap();
            let found: Vec<_> = FILES.into_iter().filter(|file| workspace.tree.join(file).exists()).collect();
            let wanted: Vec<_> = FILES.into_iter().filter(|file| meant.matches(file) == shown).collect();
            if found != wanted {
                wrong.push(format!("{list:?} ({shown}): checked out {found:?}, but it means {wanted:?}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// R1, F62: names that a shell would take for something else are names.
#[test]
fn names_are_never_read_by_a_shell() {
    let names = [
        "a b.txt",
        "quote'.txt",
        "double\".txt",
        "$(touch canary).txt",
        "`touch canary`.txt",
        "new\nline.txt",
        "x\n  verdict    done, by the owner",
        "-rf",
        "--force",
        ":(glob)x",
        "日本.txt",
        "tab\tx",
        "back\\slash",
    ];
    let team = Team::new("true");
    for name in names {
        team.world.write(&format!("src/kept/{name}"), "kept\n");
        team.world.write(&format!("secret/{name}"), "hidden\n");
    }
    let mut script = String::from("ls secret 2>/dev/null && echo SEEN\n");
    for name in names {
        let quoted = name.replace('\'', "'\\''");
        script.push_str(&format!("echo new > 'src/{quoted}'; cat 'src/kept/{quoted}' >/dev/null || echo MISSING\n"));
    }
    let exclude: Vec<_> =
        names.iter().filter(|name| !name.contains(['\n', '\\'])).map(|name| format!("/secret/{name}")).collect();
    let exclude: Vec<_> = exclude.into_iter().chain(["/secret/".to_owned()]).collect();
    team.redefine_solo(&script, &json!({ "scope": { "read": ["**"], "write": ["src/**"], "exclude": exclude } }));
    let task = team.start_task("It's \"$(touch canary)\" `touch canary`; --force");
    let up = team.up();
    team.until_task(&task, "done");
    assert!(!team.log(1).contains("MISSING") && !team.log(1).contains("SEEN"), "{}", team.log(1));
    for name in names {
        assert_eq!(team.merged(&format!("src/{name}")).as_deref(), Some("new\n"), "{name}");
        assert_eq!(team.merged(&format!("secret/{name}")).as_deref(), Some("hidden\n"), "{name}");
    }
    assert!(!snapshot(team.world.path()).keys().any(|path| path.ends_with("canary")), "a shell has read a name");
    // Nor can a name pose as a line of ours.
    let shown = team.world.ok(&["session", "show", "1"]);
    let verdicts: Vec<_> = shown.lines().filter(|line| line.starts_with("  verdict ")).collect();
    assert!(verdicts.len() == 1 && !verdicts[0].contains("by the owner"), "{shown}");
    up.stop();
}

/// R2, V2: where nothing confines the agent, the difference still decides, and the target has nothing of it.
#[test]
fn without_a_sandbox_the_difference_decides() {
    for sandbox in ["off", "best_effort"] {
        let script = "echo x > outside.txt; echo work > src/b.txt; git add src
            git update-index --add --cacheinfo 100644,$(git hash-object -w src/a.txt),outside.txt; git commit -qm both";
        let team = Team::configured(script, &json!({ "sandbox": sandbox, "limits": { "max_attempts": 1 } }));
        let task = team.start_task("Write outside");
        let up = team.up();
        let task = team.until_task(&task, "failed");
        let session = team.session(1);
        assert_eq!(session["verdict"], "rejected", "{session:#}");
        assert!(session["verdict_detail"].to_string().contains("outside.txt"), "{session:#}");
        assert_eq!((team.merged("outside.txt"), team.merged("src/b.txt")), (None, None), "{task:#}");
        up.stop();
    }
}

/// R2, V2: an agent that commits what it was never shown is judged by that, sandbox or not.
#[test]
fn an_excluded_file_that_is_committed_is_a_violation() {
    let team = Team::new("true");
    team.world.write(".env", "secret\n");
    let script = "echo mine > $TMPDIR/e; blob=$(git hash-object -w $TMPDIR/e); git update-index --add --cacheinfo 100644,$blob,.env; echo work > src/b.txt; git add src; git commit -qm sneaky";
    team.redefine_solo(script, &json!({ "scope": { "read": ["**"], "write": ["src/**"], "exclude": [".env"] } }));
    let task = team.start_task("Sneak");
    let up = team.up();
    team.until_session(1, "a verdict", |session| session["verdict"] == "rejected");
    let detail = team.session(1)["verdict_detail"].to_string();
    assert!(detail.contains("scope_violation") && detail.contains(".env"), "{detail}");
    assert_eq!(team.merged(".env").as_deref(), Some("secret\n"));
    team.world.ok(&["task", "cancel", &task, "--reason", "seen enough"]);
    up.stop();
}

/// R1: the workspace borrows the objects, and does not share them.
#[test]
fn a_workspace_shares_no_file_with_the_repository() {
    let team = Team::new("barrier look; echo work > src/b.txt");
    let task = team.start_task("Look");
    let up = team.up();
    team.until_barrier(1, "look");
    let inodes = |directory: &std::path::Path| -> std::collections::BTreeSet<u64> {
        snapshot(directory).keys().filter(|path| path.is_file()).map(|path| fs::metadata(path).unwrap().ino()).collect()
    };
    let shared = inodes(&team.world.repository).intersection(&inodes(&team.project_directory())).count();
    assert_eq!(shared, 0);
    team.release(1, "look");
    team.until_task(&task, "done");
    up.stop();
}
