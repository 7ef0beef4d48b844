//! A user with clients installed, and an agent that is to be started.

use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use board::{AgentSpec, Client, EnvValue, EnvValues};
use runner::clients::{Assignment, CannotLaunch, Launch, User, launch};
use tempfile::TempDir;

pub(crate) const PROMPT: &str = "Call authenticate; then\n'obey' \"{model}\" $HOME";
pub(crate) const MCP_URL: &str = "http://127.0.0.1:7777/mcp";

/// The vendors' clients, and the programs that they are.
pub(crate) const VENDORS: [(Client, &str); 4] = [
    (Client::ClaudeCode, "claude"),
    (Client::Codex, "codex"),
    (Client::Gemini, "gemini"),
    (Client::Opencode, "opencode"),
];

pub(crate) struct TestUser {
    dir: TempDir,
    pub(crate) user: User,
    pub(crate) spec: AgentSpec,
    pub(crate) env: EnvValues,
    pub(crate) prompt: String,
    pub(crate) mcp_url: Option<&'static str>,
}

impl TestUser {
    /// With every client on the PATH, and no login.
    pub(crate) fn new(client: Client) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut spec = AgentSpec::worker("coder".parse().unwrap());
        spec.client = client;
        let user = User { home: dir.path().canonicalize().unwrap().join("user"), ..User::default() };
        let (env, prompt) = (EnvValues::new(), PROMPT.to_owned());
        let mut test_user = Self { dir, user, spec, env, prompt, mcp_url: Some(MCP_URL) };
        for directory in ["user", "workspace", "run/home", "run/tmp"] {
            std::fs::create_dir_all(test_user.path(directory)).unwrap();
        }
        for (_, program) in VENDORS {
            test_user.program(&format!("bin/{program}"), "");
        }
        let path = test_user.path("bin").display().to_string();
        test_user.user.env.insert("PATH".to_owned(), path);
        test_user
    }

    pub(crate) fn path(&self, path: &str) -> PathBuf {
        self.dir.path().canonicalize().unwrap().join(path)
    }

    pub(crate) fn write(&self, path: &str, text: &str) -> PathBuf {
        let path = self.path(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn program(&self, path: &str, text: &str) -> PathBuf {
        let path = self.write(path, text);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
        path
    }

    /// A variable of the user.
    pub(crate) fn set_for_user(&mut self, name: &str, value: &str) {
        self.user.env.insert(name.to_owned(), value.to_owned());
    }

    /// A variable of the agent's own definition.
    pub(crate) fn set_for_agent(&mut self, name: &str, value: &str) {
        self.spec.env.0.insert(name.to_owned());
        self.env.insert(name.to_owned(), EnvValue(value.to_owned()));
    }

    pub(crate) fn try_launch(&self) -> Result<Launch, CannotLaunch> {
        launch(&Assignment {
            spec: &self.spec,
            env: &self.env,
            prompt: &self.prompt,
            mcp_url: self.mcp_url,
            run: &self.path("run"),
            workspace: &self.path("workspace"),
            user: &self.user,
        })
    }

    #[track_caller]
    pub(crate) fn launch(&self) -> Launch {
        self.try_launch().unwrap()
    }

    /// The arguments, with the places of this stage named.
    #[track_caller]
    pub(crate) fn arguments(&self) -> Vec<String> {
        let root = self.path("").display().to_string();
        self.launch().arguments.iter().map(|argument| argument.replace(&root, "/")).collect()
    }
}

/// What a file of the launch holds.
#[track_caller]
pub(crate) fn file(launch: &Launch, path: &Path) -> String {
    let found = launch.files.iter().find(|(known, _)| known == path);
    String::from_utf8(found.unwrap_or_else(|| panic!("no {}: {:?}", path.display(), launch.files)).1.clone()).unwrap()
}

/// Every text that the client can see.
pub(crate) fn texts(launch: &Launch) -> Vec<String> {
    let files = launch.files.iter().map(|(_, contents)| String::from_utf8(contents.clone()).unwrap());
    files.chain(launch.arguments.iter().cloned()).chain(launch.env.values().cloned()).collect()
}
