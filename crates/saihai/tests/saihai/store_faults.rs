//! C3, E3: a store that is damaged, foreign, full or out of reach.

use std::process::Command;

use crate::world::{Output, World};

/// C3: every kind of wrong file is told as that, and left as it is.
#[test]
fn a_file_that_is_no_store_is_left_alone() {
    let foreign = {
        let world = World::new();
        let path = world.path().join("foreign.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch("CREATE TABLE theirs (x)").unwrap();
        std::fs::read(path).unwrap()
    };
    for content in [vec![b'x'; 8192], b"SQLite format 3\0 and then nothing".to_vec(), foreign] {
        let world = World::new();
        std::fs::remove_dir_all(world.home()).unwrap();
        std::fs::create_dir(world.home()).unwrap();
        std::fs::write(world.store(), &content).unwrap();
        for arguments in [&["task", "list"][..], &["task", "add", "x"], &["init"], &["log", "verify"]] {
            assert_eq!(world.refused(4, arguments)["code"], "store");
        }
        let doctor = world.run(&["doctor", "--json"]);
        assert!(doctor.code == 1 && doctor.stdout.contains(r#""what":"store","state":"problem""#), "{doctor:?}");
        assert_eq!(std::fs::read(world.store()).unwrap(), content);
    }
}

/// C3, E3: a full disk refuses the command, and loses nothing that was acknowledged.
#[test]
fn a_full_disk_loses_nothing() {
    let world = World::new();
    world.task("kept");
    // A limit on the size of files stands for the disk; ignoring the signal makes it an error.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" task add x -d - --json";
    let mut shell = Command::new("sh");
    let like = world.command(&[]);
    shell.arg("-c").arg(script).arg(env!("CARGO_BIN_EXE_saihai")).env_clear();
    shell.envs(like.get_envs().filter_map(|(name, value)| Some((name, value?)))).current_dir(&world.repository);
    let text = world.path().join("long.txt");
    std::fs::write(&text, "x".repeat(90_000)).unwrap();
    let output = Output::of(shell.stdin(std::fs::File::open(text).unwrap()).output().unwrap());
    assert_eq!(output.code, 4, "{output:?}");
    assert_eq!(output.error()["code"], "store");
    assert_eq!(world.ok(&["task", "list", "--quiet"]), "tsk_1");
    assert_eq!(world.task("and on"), "tsk_2");
    world.json(&["log", "verify"]);
}

/// C6: the home is made, with its parents, for its owner alone.
#[test]
fn the_home_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::repository();
    let home = world.path().join("deep/er/home");
    let output = world.command(&["init", "--json"]).env("SAIHAI_HOME", &home).output().unwrap();
    Output::of(output).json();
    assert_eq!(std::fs::metadata(&home).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(home.join("saihai.db").exists() && !world.home().exists());
}

/// E8, S4: the store is its owner's alone, also in a home that was there before, and one that was open to others.
#[test]
fn the_store_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    let world = World::repository();
    std::fs::create_dir(world.home()).unwrap();
    std::fs::set_permissions(world.home(), std::fs::Permissions::from_mode(0o755)).unwrap();
    world.ok(&["init"]);
    assert_eq!(mode(&world.store()), 0o600);
    std::fs::set_permissions(world.store(), std::fs::Permissions::from_mode(0o644)).unwrap();
    world.task("x");
    assert_eq!(mode(&world.store()), 0o600);
}

/// C6: `--home`, `SAIHAI_HOME`, `XDG_DATA_HOME` and `HOME`, in this order; what is empty is not set.
#[test]
fn the_home_is_found() {
    let world = World::repository();
    let [chosen, data, user] = ["chosen", "data", "user"].map(|name| world.path().join(name));
    let run = |arguments: &[&str], set: &[(&str, &std::path::Path)]| {
        let mut command = world.command(arguments);
        command.envs(set.iter().copied()).args(["project", "list", "--json"]);
        Output::of(command.output().unwrap()).json();
    };
    let (empty, home) = (std::path::Path::new(""), chosen.to_str().unwrap());
    run(&["--home", home], &[("XDG_DATA_HOME", &data), ("HOME", &user)]);
    assert!(chosen.join("saihai.db").exists() && !data.exists() && !world.home().exists());
    run(&[], &[("SAIHAI_HOME", empty), ("XDG_DATA_HOME", &data), ("HOME", &user)]);
    assert!(data.join("saihai/saihai.db").exists() && !user.exists());
    run(&[], &[("SAIHAI_HOME", empty), ("XDG_DATA_HOME", empty), ("HOME", &user)]);
    assert!(user.join(".local/share/saihai/saihai.db").exists());
}
