//! What is opened for the programs on a PATH (R14)? Layouts as the version managers make them.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};

use runner::Toolchains;
use runner::clients::User;

/// A user with a home to install things in.
struct Installed {
    directory: tempfile::TempDir,
    env: BTreeMap<String, String>,
}

impl Installed {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let installed = Self { directory, env: BTreeMap::new() };
        for private in [".ssh/id_ed25519", ".aws/credentials", ".config/gh/hosts.yml", "taxes/2026.pdf", ".npmrc"] {
            installed.file(private, "secret");
        }
        installed
    }

    fn home(&self) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join("home")
    }

    fn file(&self, path: &str, content: &str) -> PathBuf {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        path
    }

    fn program(&self, path: &str, content: &str) -> PathBuf {
        let path = self.file(path, content);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    fn link(&self, path: &str, target: impl AsRef<Path>) {
        let path = self.home().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        symlink(target, path).unwrap();
    }

    /// With these directories of the home on the PATH.
    fn find(&mut self, path: &[&str]) -> Toolchains {
        let path: Vec<_> = path.iter().map(|path| self.home().join(path).display().to_string()).collect();
        self.env.insert("PATH".into(), format!("{}:/usr/bin:/bin", path.join(":")));
        let user = User { home: self.home(), env: self.env.clone() };
        let found = Toolchains::find(&user, &[&self.env["PATH"]], None);
        for private in [".ssh", ".aws", ".config/gh", "taxes", ".npmrc"] {
            let private = self.home().join(private);
            assert!(!found.readable.iter().any(|path| private.starts_with(path)), "{private:?}: {found:?}");
        }
        found
    }

    /// What is opened below the home, by its name there.
    fn opened(&mut self, path: &[&str]) -> Vec<String> {
        let home = self.home();
        let found = self.find(path).readable;
        found.iter().map(|path| path.strip_prefix(&home).unwrap().display().to_string()).collect()
    }
}

/// R14: the root of a version manager is opened, and it is told where it is, because HOME is another inside.
#[test]
fn version_managers_are_opened_and_told_where_they_are() {
    let mut user = Installed::new();
    user.program(".pyenv/shims/python3", "#!/usr/bin/env bash\nexec \"/opt/none\" exec \"$program\" \"$@\"\n");
    user.program(".nvm/versions/node/v20.1.0/bin/node", "\x7fELF");
    user.program(".asdf/shims/ruby", "#!/bin/sh\nexec ${ASDF_DIR:-$HOME/.asdf}/bin/asdf exec ruby\n");
    user.program(".asdf/bin/asdf", "");
    let mise = user.program(".local/bin/mise", "\x7fELF");
    user.link(".local/share/mise/shims/go", mise);
    user.program(".volta/bin/yarn", "\x7fELF");
    let paths = [
        ".pyenv/shims",
        ".nvm/versions/node/v20.1.0/bin",
        ".asdf/shims",
        ".local/share/mise/shims",
        ".volta/bin",
        ".local/bin",
    ];
    let found = user.find(&paths);
    let roots = [
        ("PYENV_ROOT", ".pyenv"),
        ("NVM_DIR", ".nvm"),
        ("ASDF_DIR", ".asdf"),
        ("ASDF_DATA_DIR", ".asdf"),
        ("MISE_DATA_DIR", ".local/share/mise"),
        ("VOLTA_HOME", ".volta"),
    ];
    for (name, root) in roots {
        let root = user.home().join(root);
        assert_eq!(found.env.get(name).map(String::as_str), root.to_str(), "{name}");
        assert!(found.readable.contains(&root), "{root:?}: {found:?}");
    }
    assert_eq!(found.env.len(), roots.len(), "{:?}", found.env);
}

/// R14: a manager that is somewhere else is found by its variable; version files of the home are copied.
#[test]
fn a_manager_elsewhere_is_found_by_its_variable() {
    let mut user = Installed::new();
    let root = user.program("tools/py/shims/python3", "").ancestors().nth(2).unwrap().to_owned();
    user.env.insert("PYENV_ROOT".into(), root.display().to_string());
    user.env.insert("PYENV_VERSION".into(), "3.11".into());
    let versions = user.file(".tool-versions", "ruby 3.3.0\n");
    let found = user.find(&["tools/py/shims"]);
    assert!(found.readable.contains(&root));
    assert_eq!((&*found.env["PYENV_ROOT"], &*found.env["PYENV_VERSION"]), (root.to_str().unwrap(), "3.11"));
    assert_eq!(found.home_files, [versions]);
}

/// R14: links are followed hop by hop, and so are a script's interpreter and the programs that it names.
#[test]
fn programs_are_followed_to_what_they_need() {
    let mut user = Installed::new();
    // npm: a link to a script in the outermost node_modules, run by a node with its library beside it.
    user.program("npm/lib/node_modules/a/node_modules/b/cli.js", "#!/usr/bin/env -S node --quiet\n");
    user.link("bin/b", "../npm/lib/node_modules/a/node_modules/b/cli.js");
    user.file("node-20/lib/libnode.so", "");
    user.program("node-20/bin/node", "\x7fELF");
    user.link("bin/node", "../stable/bin/node");
    user.link("stable", "node-20");
    // A script that starts another program, and names a document.
    user.program("bin/start", "#!/bin/sh\nless $HOME/taxes/2026.pdf\nexec \"$HOME/apps/tool/bin/tool\" \"$@\"\n");
    user.program("apps/tool/bin/tool", "");
    user.file("apps/tool/share/data", "");
    // pipx: a link into a virtual environment, which names the Python that it was made from.
    user.program(".local/share/pipx/venvs/cow/bin/cowsay", "#!/bin/sh\n");
    user.file("envs/x/pyvenv.cfg", &format!("home = {}/pythons/3.12/bin\n", user.home().display()));
    user.program("envs/x/bin/tool", "#!/bin/sh\n");
    user.link(".local/bin/tool", user.home().join("envs/x/bin/tool"));
    user.program("pythons/3.12/bin/python3", "\x7fELF");
    user.file("pythons/3.12/lib/python3.12/os.py", "");
    user.link(".local/bin/cowsay", user.home().join(".local/share/pipx/venvs/cow/bin/cowsay"));
    let opened = user.opened(&["bin", ".local/bin"]);
    let expected = [
        ".local/bin",
        ".local/share/pipx",
        "apps/tool",
        "bin",
        "envs/x",
        "node-20",
        "npm/lib/node_modules",
        "pythons/3.12",
        // By the link on the way.
        "bin/../stable/bin/node",
    ];
    for path in expected {
        assert!(opened.iter().any(|opened| opened == path), "{path}: {opened:?}");
    }
    assert!(!opened.iter().any(|path| path.starts_with("taxes")), "{opened:?}");
}

/// R14: of `~/.cargo` only the programs, of rustup all, with toolchains that are links to elsewhere.
#[test]
fn rustup_opens_its_toolchains() {
    let mut user = Installed::new();
    user.program(".cargo/bin/rustup", "\x7fELF");
    user.link(".cargo/bin/cargo", "rustup");
    user.file(".cargo/credentials.toml", "secret");
    user.program(".rustup/toolchains/stable/bin/cargo", "");
    user.program("rust/build/stage1/bin/rustc", "");
    user.link(".rustup/toolchains/mine", user.home().join("rust/build/stage1"));
    let found = user.find(&[".cargo/bin"]);
    let home = user.home();
    let expected = [".cargo/bin", ".rustup", "rust/build/stage1"].map(|path| home.join(path));
    assert_eq!(found.readable, expected.into());
    assert_eq!(
        (&*found.env["RUSTUP_HOME"], &*found.env["RUSTUP_AUTO_INSTALL"]),
        (home.join(".rustup").to_str().unwrap(), "0")
    );
}

/// R14: a PATH never opens the user's own files: not the home, nor what lies above, nor where keys are.
#[test]
fn the_users_own_files_are_never_opened() {
    let mut user = Installed::new();
    user.program("tool", "#!/bin/sh\n");
    user.program(".ssh/run", "#!/bin/sh\n");
    user.program("bin/run", "#!/bin/sh\n$HOME/.ssh/run\n$HOME/tool\n");
    let found = user.find(&["", "..", ".ssh", ".local", "nothing", "bin"]);
    let home = user.home();
    assert_eq!(found.readable, [home.join("bin"), home.join("tool")].into());
    let withheld = ["", "..", ".ssh"].map(|path| home.join(path));
    assert_eq!(found.withheld, withheld.into());
    let user = User { home, env: BTreeMap::from([("PATH".into(), ".:relative".into())]) };
    assert_eq!(Toolchains::find(&user, &[".:relative"], None), Toolchains::default());
    // The system's programs open nothing, whoever asks, and wherever their links lead.
    for program in ["/bin/sh", "/usr/bin/perl", "/bin/true"] {
        let nobody = User { home: PathBuf::new(), env: BTreeMap::new() };
        assert_eq!(Toolchains::find(&nobody, &["/bin"], Some(Path::new(program))), Toolchains::default());
    }
}
