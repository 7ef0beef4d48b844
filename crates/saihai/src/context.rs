//! Which home, project, language and store does a command work with?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use board::{Actor, Board, Code, Installation, Language, ProjectId};
use control::{Control, ControlError, NewDefinitions, ProcessLifetime, Project, Receipt, StoreLocation, Writer};

use crate::cli::Global;
use crate::failure::{CliExit, Failure};
use crate::project_marker;
use crate::show::Format;

/// Where a command runs.
#[derive(Clone, Debug)]
pub(crate) struct Context {
    pub(crate) home: PathBuf,
    pub(crate) store: StoreLocation,
    pub(crate) format: Format,
    project: Option<String>,
    chosen_language: Option<Language>,
}

/// A project that was found and opened.
#[derive(Debug)]
pub(crate) struct OpenProject {
    pub(crate) control: Control,
    pub(crate) project: Project,
    pub(crate) id: ProjectId,
    /// Its repository.
    pub(crate) path: PathBuf,
    pub(crate) language: Language,
}

impl Context {
    pub(crate) fn new(global: Global) -> Result<Self, Failure> {
        let format = Format::of(&global);
        let language = global.lang.or_else(locale_language).unwrap_or(Language::En);
        let home = global.home.filter(|home| !home.as_os_str().is_empty()).or_else(default_home).ok_or_else(|| {
            Failure::new(
                CliExit::Configuration,
                "not_initialised",
                say_in(
                    language,
                    "There is no home directory to keep the store in.",
                    "ストアを置くホームディレクトリがありません。",
                ),
                say_in(
                    language,
                    "Set SAIHAI_HOME to a directory you can write to.",
                    "SAIHAI_HOME に書き込み可能なディレクトリを設定してください。",
                ),
            )
        })?;
        let store = match global.store {
            Some(store) => store,
            None => store_from_environment(language)?.unwrap_or_else(|| store_in(&home)),
        };
        Ok(Self { home, store, format, project: global.project, chosen_language: global.lang })
    }

    /// The same context for the named project, if one is named.
    pub(crate) fn with_project(&self, named: Option<String>) -> Self {
        Self { project: named.or_else(|| self.project.clone()), ..self.clone() }
    }

    /// The same context with another home and a repository there.
    pub(crate) fn at_home(&self, home: PathBuf, repository: &Path) -> Self {
        Self { store: store_in(&home), home, project: Some(repository.to_string_lossy().into_owned()), ..self.clone() }
    }

    /// Is there a store? A database that others share is always there, though perhaps with nothing in it.
    pub(crate) fn has_store(&self) -> bool {
        match &self.store {
            StoreLocation::Sqlite(path) => path.exists(),
            StoreLocation::Postgres(_) => true,
        }
    }

    /// The language where no project sets one.
    pub(crate) fn language(&self) -> Language {
        self.persons_language().unwrap_or(Language::En)
    }

    /// The person's language; if nothing says what that is, the project's.
    pub(crate) fn language_of(&self, board: &Board) -> Language {
        self.persons_language().unwrap_or(board.settings.language)
    }

    fn persons_language(&self) -> Option<Language> {
        self.chosen_language.or_else(locale_language)
    }

    /// The same context, in the language in which a project was opened.
    pub(crate) fn speaking(&self, language: Language) -> Self {
        Self { chosen_language: Some(language), ..self.clone() }
    }

    /// The English or the Japanese text, where no project sets the language.
    pub(crate) fn say(&self, en: impl Into<String>, ja: impl Into<String>) -> String {
        say_in(self.language(), en, ja)
    }

    pub(crate) fn try_again(&self) -> String {
        self.say("Try again.", "もう一度実行してください。")
    }

    /// Opens the store; creates it if there is none.
    pub(crate) async fn control(&self, lifetime: ProcessLifetime) -> Result<Control, Failure> {
        self.make_home()?;
        let control = Control::open(&self.store, lifetime).await;
        control.map_err(|error| Failure::control(error, self.language()))
    }

    /// The home holds the agents' output and every hash, so only its owner may read it.
    pub(crate) fn make_home(&self) -> Result<(), Failure> {
        use std::os::unix::fs::DirBuilderExt as _;
        std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.home).map_err(|error| {
            let home = self.home.display();
            Failure::new(
                CliExit::Store,
                "store",
                self.say(
                    format!("cannot make the directory {home}: {error}"),
                    format!("ディレクトリ {home} を作成できません: {error}"),
                ),
                self.say(
                    "Check its permissions, or set SAIHAI_HOME to a directory you can write to.",
                    "権限を確認するか、SAIHAI_HOME に書き込み可能なディレクトリを設定してください。",
                ),
            )
        })
    }

    pub(crate) async fn installation(&self, control: &Control) -> Result<Writer<Installation>, Failure> {
        control.installation().await.map_err(|error| Failure::control(error, self.language()))
    }

    pub(crate) async fn open(&self) -> Result<OpenProject, Failure> {
        self.open_for(ProcessLifetime::ShortLived).await
    }

    /// Finds and opens the project: the one that was named, or the one around the current directory.
    pub(crate) async fn open_for(&self, lifetime: ProcessLifetime) -> Result<OpenProject, Failure> {
        if !self.has_store() {
            return Err(self.not_initialised(&Installation::default()));
        }
        let control = self.control(lifetime).await?;
        let installation = self.installation(&control).await?.state();
        let (id, path) = self.find_project(&installation)?;
        self.open_project(control, id, path).await
    }

    pub(crate) async fn open_project(
        &self,
        control: Control,
        id: ProjectId,
        path: PathBuf,
    ) -> Result<OpenProject, Failure> {
        let failed = |error| Failure::control(error, self.language());
        let project = control.project(&id).await.map_err(failed)?;
        project.sweep_overdue().await.map_err(failed)?;
        let language = self.language_of(&project.board());
        Ok(OpenProject { control, project, id, path, language })
    }

    fn find_project(&self, installation: &Installation) -> Result<(ProjectId, PathBuf), Failure> {
        let found = match &self.project {
            Some(named) => {
                let by_id = named.parse::<ProjectId>().ok().and_then(|id| installation.projects.get(&id));
                by_id.or_else(|| project_containing(installation, Path::new(named))).ok_or_else(|| {
                    Failure::new(
                        CliExit::NotFound,
                        Code::NotFound.as_str(),
                        self.say(
                            format!("There is no project `{named}`."),
                            format!("プロジェクト `{named}` はありません。"),
                        ),
                        self.say(
                            "See the projects with `saihai project list`, or run `saihai init` in a repository.",
                            "`saihai project list` で確認するか、リポジトリで `saihai init` を実行してください。",
                        ),
                    )
                })?
            }
            None => {
                let here = std::env::current_dir().unwrap_or_default();
                let moved = || self.moved(installation, &here);
                let unknown = || moved().unwrap_or_else(|| self.not_initialised(installation));
                project_containing(installation, &here).ok_or_else(unknown)?
            }
        };
        Ok((found.id.clone(), PathBuf::from(&found.path)))
    }

    /// This repository was moved, or its project removed: what brings the board back.
    pub(crate) fn moved(&self, installation: &Installation, directory: &Path) -> Option<Failure> {
        let project = project_marker::moved_here(installation, directory)?;
        let (id, path) = (&project.id, &project.path);
        Some(Failure::new(
            CliExit::Configuration,
            "not_initialised",
            self.say(
                format!("This is the project `{id}`, which was in {path}."),
                format!("これは {path} にあったプロジェクト `{id}` です。"),
            ),
            self.say(
                format!("Run `saihai project move {id} .`: its board comes along."),
                format!("`saihai project move {id} .` を実行してください。ボードも引き継がれます。"),
            ),
        ))
    }

    pub(crate) fn not_initialised(&self, installation: &Installation) -> Failure {
        // Projects have left their files, and the store knows of none of them.
        let left = std::fs::read_dir(self.home.join("projects")).is_ok_and(|mut projects| projects.next().is_some());
        if left && installation.projects.is_empty() {
            let store = &self.store;
            return Failure::new(
                CliExit::Store,
                "store",
                self.say(
                    format!("The store {store} is empty or missing, though projects have worked here."),
                    format!("ストア {store} が空か存在しませんが、プロジェクトのファイルは残っています。"),
                ),
                self.say(
                    "Put it back from a backup; or begin anew with `saihai init`, which leaves these files alone.",
                    "バックアップから復元してください。新しく始める場合は `saihai init`（残ったファイルはそのままです）。",
                ),
            );
        }
        Failure::new(
            CliExit::Configuration,
            "not_initialised",
            self.say(
                "This directory is not in a Saihai project.",
                "このディレクトリは Saihai のプロジェクトではありません。",
            ),
            self.say(
                "Run `saihai init` in your git repository, or name a project with `--project`.",
                "git リポジトリで `saihai init` を実行するか、`--project` でプロジェクトを指定してください。",
            ),
        )
    }
}

impl OpenProject {
    pub(crate) fn board(&self) -> Arc<Board> {
        self.project.board()
    }

    pub(crate) fn now(&self) -> board::Timestamp {
        self.project.clock().now()
    }

    pub(crate) fn saihai_dir(&self) -> PathBuf {
        self.path.join(".saihai")
    }

    /// Submits a command as the owner.
    pub(crate) async fn submit(&self, command: board::Command) -> Result<Receipt<Board>, Failure> {
        self.project.submit(owner(), command).await.map_err(|error| self.failure(error))
    }

    /// Makes the project match its definitions, as the owner.
    pub(crate) async fn define(&self, new: &NewDefinitions) -> Result<Receipt<Board>, Failure> {
        self.project.define(owner(), new).await.map_err(|error| self.failure(error))
    }

    pub(crate) fn failure(&self, error: ControlError) -> Failure {
        Failure::control(error, self.language)
    }

    pub(crate) fn refusal(&self, refusal: board::Refusal) -> Failure {
        Failure::refused(&refusal, self.language)
    }

    /// The English or the Japanese text, by the person's language, else the project's.
    pub(crate) fn say(&self, en: impl Into<String>, ja: impl Into<String>) -> String {
        say_in(self.language, en, ja)
    }
}

/// The English or the Japanese text.
pub(crate) fn say_in(language: Language, en: impl Into<String>, ja: impl Into<String>) -> String {
    match language {
        Language::En => en.into(),
        Language::Ja => ja.into(),
    }
}

/// The user at this terminal.
pub(crate) fn owner() -> Actor {
    let name = std::env::var("USER").ok().filter(|name| !name.is_empty()).unwrap_or_else(|| "owner".into());
    Actor::Owner(name.into())
}

/// The registered project whose repository is the nearest one around a directory.
fn project_containing<'a>(installation: &'a Installation, directory: &Path) -> Option<&'a board::Project> {
    // A repository that is gone may still be named by the path under which it was registered.
    let directory = std::fs::canonicalize(directory).unwrap_or_else(|_| directory.to_owned());
    for ancestor in directory.ancestors() {
        if let Some(project) = ancestor.to_str().and_then(|path| installation.project_at(path)) {
            return Some(project);
        }
        // Another repository inside of a project is not part of it; a worktree of it (`.git` is a file) is.
        if ancestor.join(".git").is_dir() {
            return None;
        }
    }
    None
}

fn store_in(home: &Path) -> StoreLocation {
    StoreLocation::Sqlite(home.join("saihai.db"))
}

fn store_from_environment(language: Language) -> Result<Option<StoreLocation>, Failure> {
    let Some(set) = std::env::var("SAIHAI_STORE").ok().filter(|set| !set.is_empty()) else { return Ok(None) };
    set.parse().map(Some).map_err(|error| {
        Failure::new(
            CliExit::Configuration,
            "not_initialised",
            say_in(
                language,
                format!("SAIHAI_STORE is no store: {error}"),
                format!("SAIHAI_STORE がストアを示していません: {error}"),
            ),
            say_in(
                language,
                "Set it to `sqlite:PATH` or `postgres://USER@HOST/DATABASE`, or unset it.",
                "`sqlite:パス` か `postgres://USER@HOST/DATABASE` を設定するか、設定を外してください。",
            ),
        )
    })
}

fn default_home() -> Option<PathBuf> {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = || set("XDG_DATA_HOME").or_else(|| set("HOME").map(|home| home.join(".local/share")));
    set("SAIHAI_HOME").or_else(|| data().map(|data| data.join("saihai")))
}

/// The language that the person's locale names. `C`, `POSIX` and other languages than ours name none.
pub(crate) fn locale_language() -> Option<Language> {
    let set = |name| std::env::var(name).ok().filter(|value| !value.is_empty());
    let locale = set("LC_ALL").or_else(|| set("LC_MESSAGES")).or_else(|| set("LANG"))?;
    locale.split(['_', '.', '@']).next()?.parse().ok()
}
