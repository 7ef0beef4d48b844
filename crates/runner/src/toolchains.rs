//! What belongs to the programs on the user's PATH? A program runs in the sandbox as it does outside (R14).
//!
//! Found by following each program, not by names alone: its links, hop by hop; what its script starts; the installation
//! that it lies in. The user's own files are never opened for it: not HOME, nor what lies above it, nor where keys are kept.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use crate::clients::{User, is_executable};
use crate::sandbox::SYSTEM;

/// Variables by which version managers find themselves, and where they are below HOME without them. HOME is another
/// directory in the sandbox, so they are set there.
const MANAGERS: [(&str, Option<&str>); 25] = [
    ("PYENV_ROOT", Some(".pyenv")),
    ("RBENV_ROOT", Some(".rbenv")),
    ("NODENV_ROOT", Some(".nodenv")),
    ("GOENV_ROOT", Some(".goenv")),
    ("NVM_DIR", Some(".nvm")),
    ("FNM_DIR", Some(".local/share/fnm")),
    ("VOLTA_HOME", Some(".volta")),
    ("N_PREFIX", Some("n")),
    ("ASDF_DATA_DIR", Some(".asdf")),
    ("ASDF_DIR", Some(".asdf")),
    ("MISE_DATA_DIR", Some(".local/share/mise")),
    ("SDKMAN_DIR", Some(".sdkman")),
    ("RUSTUP_HOME", Some(".rustup")),
    ("BUN_INSTALL", Some(".bun")),
    ("DENO_INSTALL", Some(".deno")),
    ("PNPM_HOME", Some(".local/share/pnpm")),
    ("UV_PYTHON_INSTALL_DIR", Some(".local/share/uv/python")),
    ("UV_TOOL_DIR", Some(".local/share/uv/tools")),
    ("PIPX_HOME", Some(".local/share/pipx")),
    ("GHCUP_INSTALL_BASE_PREFIX", None),
    ("HOMEBREW_PREFIX", None),
    ("VIRTUAL_ENV", None),
    ("CONDA_PREFIX", None),
    ("JAVA_HOME", None),
    ("GOROOT", None),
];

/// Variables that choose a version; they lead nowhere.
const VERSIONS: [&str; 5] = ["PYENV_VERSION", "RBENV_VERSION", "NODENV_VERSION", "GOENV_VERSION", "RUSTUP_TOOLCHAIN"];

/// Files below HOME that say which version is meant where nothing else does; they are copied.
const VERSION_FILES: [&str; 1] = [".tool-versions"];

/// Directories below HOME that hold more than programs. Something in them may be opened, never the whole.
const MIXED: [&str; 6] = [".local", ".local/share", ".local/lib", ".config", ".cache", ".cargo"];

/// Directories below HOME of which nothing is opened.
const PRIVATE: [&str; 14] = [
    ".ssh",
    ".gnupg",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".password-store",
    ".mozilla",
    ".claude",
    ".codex",
    ".gemini",
    ".config/gcloud",
    ".config/gh",
    ".config/op",
];

/// What tells an installation from a directory that happens to have a `bin` in it.
const PARTS_OF_INSTALLATION: [&str; 8] =
    ["lib", "lib64", "libexec", "share", "pyvenv.cfg", "package.json", "release", "conda-meta"];

/// A script is looked through up to here.
const LONGEST_SCRIPT: u64 = 64 * 1024;

/// Longer ways from one program to the next are not followed.
const DEEPEST: usize = 16;

/// What the programs on a PATH need.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Toolchains {
    /// Directories and files, to be read and executed.
    pub readable: BTreeSet<PathBuf>,
    pub env: BTreeMap<String, String>,
    /// Files to be copied into the private HOME.
    pub home_files: Vec<PathBuf>,
    /// Directories on the PATH that are not opened, because they hold the user's own files.
    pub withheld: BTreeSet<PathBuf>,
}

impl Toolchains {
    /// Follows every program on these PATHs that is not the system's, and one that need not be there.
    pub fn find(user: &User, paths: &[&str], program: Option<&Path>) -> Self {
        let mut search = Search { home: resolved(&user.home), user, found: Self::default(), seen: BTreeSet::new() };
        for directory in paths.iter().flat_map(std::env::split_paths) {
            search.directory(&directory);
        }
        if let Some(program) = program {
            search.program(program, 0);
        }
        search.managers();
        let mut found = search.found;
        found.env.extend(VERSIONS.iter().filter_map(|name| Some(((*name).to_owned(), user.env.get(*name)?.clone()))));
        let of_home = VERSION_FILES.iter().map(|name| user.home.join(name));
        found.home_files = of_home.filter(|path| path.is_file()).collect();
        found
    }
}

struct Search<'a> {
    user: &'a User,
    home: PathBuf,
    found: Toolchains,
    seen: BTreeSet<PathBuf>,
}

impl Search<'_> {
    /// A directory on the PATH, with every program in it. A relative one would mean another in each process.
    fn directory(&mut self, directory: &Path) {
        if !directory.is_absolute() || is_system(directory) || !directory.is_dir() || self.seen.contains(directory) {
            return;
        }
        self.seen.insert(directory.to_owned());
        if self.is_too_wide(&resolved(directory)) {
            self.found.withheld.insert(directory.to_owned());
            return;
        }
        self.found.readable.insert(directory.to_owned());
        let mut programs: Vec<_> =
            fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
        programs.sort();
        for program in programs {
            self.program(&program, 0);
        }
    }

    /// A program: every link that leads to it, what it lies in, and what it starts.
    fn program(&mut self, program: &Path, depth: usize) {
        if depth > DEEPEST || !self.seen.insert(program.to_owned()) || !is_executable(program) {
            return;
        }
        if let Ok(target) = fs::read_link(program) {
            if !is_system(program) {
                self.installation(program);
            }
            let above = program.parent().unwrap_or(Path::new("/"));
            return self.program(&above.join(target), depth + 1);
        }
        let real = resolved(program);
        if is_system(&real) {
            return;
        }
        self.installation(&real);
        if real != program {
            // A directory on the way is a link.
            self.found.readable.insert(program.to_owned());
        }
        for started in self.started_by(&real) {
            self.program(&started, depth + 1);
        }
        if real.file_name().is_some_and(|name| name == "rustup") {
            self.rustup();
        }
    }

    /// Opens what a program lies in.
    fn installation(&mut self, program: &Path) {
        let home = self.home.clone();
        if PRIVATE.iter().any(|name| program.starts_with(home.join(name))) {
            return;
        }
        let modules = program.ancestors().filter(|above| above.file_name().is_some_and(|name| name == "node_modules"));
        let manager = self.roots().map(|(_, root)| root).find(|root| program.starts_with(root));
        let prefix = program.parent().filter(|directory| is_for_programs(directory)).and_then(Path::parent);
        let prefix = prefix.filter(|prefix| PARTS_OF_INSTALLATION.iter().any(|part| prefix.join(part).exists()));
        // The outermost `node_modules`: packages have packages of their own.
        let candidates = [manager, modules.last().map(Path::to_owned), prefix.map(Path::to_owned)];
        let directory = program.parent().map(Path::to_owned);
        let found = candidates.into_iter().chain([directory]).flatten().find(|found| !self.is_too_wide(found));
        let found = found.unwrap_or_else(|| program.to_owned());
        self.virtual_environment(&found);
        self.found.readable.insert(found);
    }

    /// A virtual environment of Python names the one that it was made from.
    fn virtual_environment(&mut self, directory: &Path) {
        let settings = fs::read_to_string(directory.join("pyvenv.cfg")).unwrap_or_default();
        let home = settings.lines().filter_map(|line| line.split_once('=')).find(|(name, _)| name.trim() == "home");
        if let Some((_, home)) = home {
            self.program(&Path::new(home.trim()).join("python3"), 0);
        }
    }

    /// Toolchains may be links to where somebody built them.
    fn rustup(&mut self) {
        let root = self.roots().find(|(name, _)| *name == "RUSTUP_HOME").map(|(_, root)| root);
        let Some(root) = root.filter(|root| root.is_dir()) else { return };
        let toolchains = fs::read_dir(root.join("toolchains")).into_iter().flatten().flatten();
        let linked = toolchains.filter_map(|entry| fs::canonicalize(entry.path()).ok());
        let linked: Vec<_> = linked.filter(|path| !path.starts_with(&root) && !self.is_too_wide(path)).collect();
        self.found.readable.extend(linked);
        // What is missing cannot be installed from the sandbox.
        self.found.env.insert("RUSTUP_AUTO_INSTALL".into(), "0".into());
        self.found.readable.insert(root);
    }

    /// Tells the managers that were met where they are.
    fn managers(&mut self) {
        let roots: Vec<_> = self.roots().collect();
        for (name, root) in roots {
            let is_met = self.found.readable.iter().any(|path| path.starts_with(&root));
            let is_named = self.user.env.contains_key(name);
            if is_met || (is_named && is_system(&root)) {
                self.found.env.insert(name.to_owned(), root.to_string_lossy().into_owned());
            }
        }
    }

    /// Version managers that may be there, by the variable that names them.
    fn roots(&self) -> impl Iterator<Item = (&'static str, PathBuf)> {
        let root = |(name, below_home): (&'static str, Option<&str>)| {
            let named = self.user.env.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
            let root = named.or_else(|| Some(self.user.home.join(below_home?)))?;
            (root.is_dir() && !self.is_too_wide(&resolved(&root))).then_some((name, root))
        };
        MANAGERS.into_iter().filter_map(root)
    }

    /// Would opening it show the user's own files?
    fn is_too_wide(&self, directory: &Path) -> bool {
        const SHARED: [&str; 9] = ["/", "/home", "/tmp", "/var", "/srv", "/mnt", "/media", "/run", "/etc"];
        let below_home = directory.strip_prefix(&self.home).ok();
        self.home.starts_with(directory)
            || SHARED.iter().any(|shared| Path::new(shared) == directory)
            || below_home.is_some_and(|path| {
                MIXED.iter().any(|mixed| Path::new(mixed) == path) || PRIVATE.iter().any(|name| path.starts_with(name))
            })
    }

    /// The programs that a script names: its interpreter, and absolute paths in it.
    fn started_by(&self, script: &Path) -> Vec<PathBuf> {
        let mut start = Vec::new();
        let read = fs::File::open(script).and_then(|file| file.take(LONGEST_SCRIPT).read_to_end(&mut start));
        if read.is_err() || !start.starts_with(b"#!") {
            return Vec::new();
        }
        let text = self.expanded(&String::from_utf8_lossy(&start));
        let mut words = text.lines().next().unwrap_or_default().trim_start_matches("#!").split_whitespace();
        let interpreter = words.next().map(PathBuf::from);
        let by_name = words.find(|word| !word.starts_with('-') && !word.contains('='));
        let by_env = interpreter.as_ref().filter(|path| path.ends_with("env")).and(by_name);
        let by_env = by_env.and_then(|name| self.on_path(name));
        let is_end = |letter: char| letter.is_whitespace() || "\"'`;|&()<>{}=:,".contains(letter);
        let named = text.split(is_end).filter(|word| word.starts_with('/')).map(PathBuf::from);
        interpreter
            .into_iter()
            .chain(by_env)
            .chain(named)
            .filter(|path| !is_system(path) && is_executable(path))
            .collect()
    }

    /// A script with the variables of the user that it may mean: `$HOME`, `${PYENV_ROOT}`, `${ASDF_DIR:-$HOME/.asdf}`.
    fn expanded(&self, text: &str) -> String {
        let home = self.user.home.to_string_lossy();
        let mut text = text.replace("${HOME}", &home).replace("$HOME", &home);
        for (name, root) in self.roots() {
            let root = root.to_string_lossy();
            // With a default: up to the brace that ends it.
            while let Some(start) = text.find(&format!("${{{name}:-")) {
                let Some(length) = text[start..].find('}') else { break };
                text.replace_range(start..=start + length, &root);
            }
            text = text.replace(&format!("${{{name}}}"), &root).replace(&format!("${name}"), &root);
        }
        text
    }

    fn on_path(&self, name: &str) -> Option<PathBuf> {
        let path = self.user.env.get("PATH")?;
        std::env::split_paths(path).map(|directory| directory.join(name)).find(|path| is_executable(path))
    }
}

fn resolved(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn is_system(path: &Path) -> bool {
    SYSTEM.iter().any(|system| path.starts_with(system))
}

fn is_for_programs(directory: &Path) -> bool {
    directory.file_name().is_some_and(|name| ["bin", "sbin", "libexec", "shims"].iter().any(|known| name == *known))
}
