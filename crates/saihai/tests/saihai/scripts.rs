//! Do the scripts set up what they may, and otherwise say what to do? Run with stub programs in a PATH of
//! their own: nothing is really installed.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

const REPOSITORY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

/// Says that it is root, or sudo works: what apt-get needs.
const ROOT: (&str, &str) = ("id", "echo 0");
const NOT_ROOT: (&str, &str) = ("id", "echo 1000");
const NO_SUDO: (&str, &str) = ("sudo", "exit 1");
const SUDO: (&str, &str) = ("sudo", "[ \"$1\" != -n ] || shift; exec \"$@\"");
const OLD_CARGO: (&str, &str) = ("cargo", "echo 'cargo 1.70.0 (ec8a8a0ca 2023-04-25)'");
const NEW_CARGO: (&str, &str) = ("cargo", "echo 'cargo 1.100.1 (0123456789 2027-01-01)'");

/// Has 1.70 by default, and 1.95 once it is installed: the cargo that rustup puts into the PATH.
const RUSTUP_CARGO: (&str, &str) = (
    "cargo",
    "if [ \"${RUSTUP_TOOLCHAIN:-}\" = 1.95 ] && [ -e \"$STUBS/1.95\" ]; then echo cargo 1.95.0; else echo cargo 1.70.0; fi",
);
const RUSTUP: (&str, &str) = (
    "rustup",
    "case \"$1 $2\" in 'toolchain list') [ ! -e \"$STUBS/1.95\" ] || echo 1.95-x86_64-unknown-linux-gnu ;; \
     'toolchain install') echo \"rustup $*\" >>\"$STUBS/calls\"; touch \"$STUBS/1.95\" ;; *) exit 1 ;; esac",
);

/// Notes what it is asked to install, and puts a program of that name into the PATH.
const APT_GET: (&str, &str) = (
    "apt-get",
    "for last; do :; done; echo \"apt-get $last\" >>\"$STUBS/calls\"; \
     case $last in rustup) cp \"$STUBS/later-rustup\" \"$STUBS/bin/rustup\"; cp \"$STUBS/later-cargo\" \"$STUBS/bin/cargo\" ;; esac",
);

struct Machine {
    directory: TempDir,
}

#[derive(Debug)]
struct Outcome {
    ok: bool,
    stdout: String,
    stderr: String,
    /// What was asked of apt-get and rustup.
    calls: String,
}

impl Machine {
    fn with(stubs: &[(&str, &str)]) -> Self {
        let machine = Self { directory: tempfile::tempdir().unwrap() };
        let bin = machine.path().join("bin");
        fs::create_dir(&bin).unwrap();
        for tool in ["bash", "sed", "grep", "env", "cp", "touch", "true"] {
            symlink(find(tool), bin.join(tool)).unwrap();
        }
        for (name, script) in stubs {
            write_stub(&bin.join(name), script);
        }
        // What installing the package rustup would bring.
        write_stub(&machine.path().join("later-rustup"), RUSTUP.1);
        write_stub(&machine.path().join("later-cargo"), RUSTUP_CARGO.1);
        machine
    }

    fn path(&self) -> &Path {
        self.directory.path()
    }

    /// Runs functions of `scripts/lib/setup`, without a terminal.
    fn run(&self, script: &str) -> Outcome {
        let bin = self.path().join("bin");
        let output = Command::new(bin.join("bash"))
            .args(["-c", &format!("set -euo pipefail; source scripts/lib/setup; {script}")])
            .current_dir(REPOSITORY)
            .env_clear()
            .env("PATH", &bin)
            .env("HOME", self.path())
            .env("STUBS", self.path())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        Outcome {
            ok: output.status.success(),
            stdout: String::from_utf8(output.stdout).unwrap().trim().to_owned(),
            stderr: String::from_utf8(output.stderr).unwrap().trim().to_owned(),
            calls: fs::read_to_string(self.path().join("calls")).unwrap_or_default().trim().to_owned(),
        }
    }
}

fn find(program: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|directory| directory.join(program)).find(|file| file.is_file()).unwrap()
}

fn write_stub(path: &Path, script: &str) {
    fs::write(path, format!("#!/usr/bin/env bash\n{script}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

const INSTALLED: &str = "rustup toolchain install 1.95 --profile minimal --no-self-update";

/// C1: a cargo that is new enough is used as it is.
#[test]
fn a_new_enough_rust_is_left_alone() {
    let outcome = Machine::with(&[NEW_CARGO, RUSTUP]).run("need_rust; echo ${RUSTUP_TOOLCHAIN:-default}");
    assert!(outcome.ok, "{outcome:?}");
    assert_eq!((outcome.stdout.as_str(), outcome.calls.as_str()), ("default", ""));
}

/// C1: without a terminal nobody can be asked, so Rust is installed only if that was said beforehand.
#[test]
fn rust_is_not_installed_without_consent() {
    for stubs in [&[ROOT, APT_GET][..], &[OLD_CARGO, ROOT, APT_GET], &[RUSTUP_CARGO, RUSTUP]] {
        let outcome = Machine::with(stubs).run("need_rust");
        assert!(!outcome.ok && outcome.calls.is_empty(), "{outcome:?}");
        assert!(outcome.stderr.contains("Rust 1.95 or newer is needed"), "{outcome:?}");
        assert!(outcome.stderr.contains("--yes"), "{outcome:?}");
    }
}

/// C1: rustup installs the toolchain beside the user's default, and only this script uses it.
#[test]
fn rustup_installs_a_toolchain_and_keeps_the_default() {
    for consent in ["assume_yes=yes", "CI=true"] {
        let machine = Machine::with(&[RUSTUP_CARGO, RUSTUP]);
        let outcome =
            machine.run(&format!("{consent}; need_rust rustfmt clippy; echo $RUSTUP_TOOLCHAIN; cargo --version"));
        assert!(outcome.ok, "{outcome:?}");
        assert_eq!(outcome.stdout, "1.95\ncargo 1.95.0");
        assert_eq!(outcome.calls, format!("{INSTALLED} --component rustfmt --component clippy"));
        // The next run finds it, without a question.
        let again = machine.run("need_rust; echo $RUSTUP_TOOLCHAIN");
        assert_eq!((again.stdout.as_str(), again.calls), ("1.95", outcome.calls));
    }
}

/// C1: where there is no rustup, it comes from the system's packages, as root or through sudo.
#[test]
fn rustup_is_installed_as_a_package() {
    for stubs in [&[ROOT, APT_GET][..], &[NOT_ROOT, SUDO, APT_GET]] {
        let outcome = Machine::with(stubs).run("assume_yes=yes; need_rust; cargo --version");
        assert!(outcome.ok, "{outcome:?}");
        assert_eq!(outcome.calls, format!("apt-get update\napt-get rustup\n{INSTALLED}"));
    }
}

/// C1: where nothing can be installed, the error says what to do.
#[test]
fn without_rustup_and_packages_the_next_step_is_named() {
    for stubs in [&[ROOT][..], &[NOT_ROOT, APT_GET], &[NOT_ROOT, NO_SUDO, APT_GET]] {
        let outcome = Machine::with(stubs).run("assume_yes=yes; need_rust");
        assert!(!outcome.ok && outcome.calls.is_empty(), "{outcome:?}");
        assert!(outcome.stderr.contains("rustup toolchain install 1.95"), "{outcome:?}");
    }
}

/// C1: a too old cargo that stands before rustup's in the PATH is not mistaken for the new one.
#[test]
fn an_old_cargo_in_front_of_rustup_is_noticed() {
    let outcome = Machine::with(&[OLD_CARGO, RUSTUP]).run("assume_yes=yes; need_rust");
    assert!(!outcome.ok, "{outcome:?}");
    assert!(outcome.stderr.contains("put rustup's cargo first in PATH"), "{outcome:?}");
}

/// C1: programs that are missing are installed together, or named together.
#[test]
fn missing_programs_are_installed_or_named_at_once() {
    let need = "need git:git cc:gcc sed:sed";
    let outcome = Machine::with(&[ROOT, APT_GET, ("git", "")]).run(need);
    assert!(outcome.ok, "{outcome:?}");
    assert_eq!(outcome.calls, "apt-get update\napt-get gcc");

    let outcome = Machine::with(&[NOT_ROOT, APT_GET]).run(need);
    assert!(!outcome.ok, "{outcome:?}");
    assert_eq!(
        outcome.stderr,
        "error: missing: git cc.\nnext: run `apt-get install git gcc` as root, then run this again."
    );

    let outcome = Machine::with(&[ROOT]).run(need);
    assert_eq!(
        outcome.stderr,
        "error: missing: git cc.\nnext: install git cc with your system's package manager, then run this again."
    );
}

/// C1: versions are compared as numbers.
#[test]
fn versions_are_compared_as_numbers() {
    let machine = Machine::with(&[]);
    for (found, wanted, enough) in
        [("1.95.0", "1.95", true), ("1.100.0", "1.95", true), ("2.0.0", "1.95", true), ("1.9.9", "1.95", false)]
    {
        assert_eq!(machine.run(&format!("version_at_least {found} {wanted}")).ok, enough, "{found} {wanted}");
    }
}
