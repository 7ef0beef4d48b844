//! Do the examples of the specification mean what they say?

use board::{
    AgentSpec, Check, Client, Completion, Goal, GoalType, Hierarchy, Isolation, Language, Limits, MergeStrategy, Mode,
    Sandbox, SandboxLimits, Scope, Settings, Span, TaskType,
};

use crate::DefinitionsDir;

const CONFIG: &str = r#"# .saihai/config.yaml
name: web
language: ja                 # en | ja
target_branch: release/1.0
completion: reported
sandbox: best_effort
merge: {strategy: squash}
isolation: worktree
dod:
  timeout: 2m
  setup: npm ci
  checks:
    - {type: tests_pass, command: npm test}
    - command: npm run lint
task_types:
  feature: {goals: [{type: files_changed, pattern: "src/**"}]}
  bug: {goals: [{type: test_added, pattern: "**/*.test.*"}]}
limits: {max_children: 20, max_depth: 0, max_attempts: 1, lease: 90, chat_idle: 1h}
workspaces: {keep_failed: 12h}
"#;

const CODER: &str = r#"id: coder
name: Coder
hierarchy_type: worker
role_type: developer
parent: lead
mode: one_shot
client: command
command: [my-agent, "{prompt_file}", 5]
model: 4.10
prompt_file: prompts/coder.md
scope: {read: ["docs/**"], write: ["src/**", "tests/**"], exclude: [".env"], scratch: ["out/"]}
decompose: never
max_sessions: 2
timeout: 1800
stall_timeout: 90s
env: {PORT: 8080, MODE: on, EMPTY: ""}
skills: [rust, sql]
runs_on: [linux, gpu]
"#;

/// R8, R13: the sandbox as a mapping, with what each agent may use of the machine.
#[test]
fn the_limits_of_the_sandbox() {
    let config = "sandbox:\n  read: [../shared]\n  limits: {processes: 100, memory_mib: 512, open_files: 300, \
                  file_size_mib: 1, disk_mib: 16, files: 1000}\n";
    let saihai = DefinitionsDir::new(&[("config.yaml", config)]);
    let settings = saihai.load().settings.into_settings("web".parse().unwrap(), Language::En, "main");
    assert_eq!((settings.sandbox, settings.sandbox_read), (Sandbox::Strict, vec!["../shared".to_owned()]));
    let expected = SandboxLimits {
        processes: 100,
        memory_mib: Some(512),
        open_files: 300,
        file_size_mib: 1,
        disk_mib: 16,
        files: 1000,
    };
    assert_eq!(settings.sandbox_limits, expected);
}

/// R8: every key of the example is read.
#[test]
fn the_configuration_of_the_specification() {
    let saihai = DefinitionsDir::new(&[("config.yaml", CONFIG)]);
    let id = "web-1".parse().unwrap();
    let settings = saihai.load().settings.into_settings(id, Language::En, "main");
    let goal = |kind, pattern: &str| vec![Goal { kind, pattern: pattern.into() }];
    let check = |name: &str, command: &str| Check { name: name.into(), command: command.into() };
    let mut expected = Settings::new("web-1".parse().unwrap());
    expected.name = "web".into();
    expected.language = Language::Ja;
    expected.target_branch = "release/1.0".into();
    expected.completion = Completion::Reported;
    expected.sandbox = Sandbox::BestEffort;
    expected.merge = MergeStrategy::Squash;
    expected.isolation = Isolation::Worktree;
    expected.dod.timeout = 120;
    expected.dod.setup = Some("npm ci".into());
    expected.dod.checks = vec![check("tests_pass", "npm test"), check("npm run lint", "npm run lint")];
    expected.goals = vec![
        (TaskType::Feature, goal(GoalType::FilesChanged, "src/**")),
        (TaskType::Bug, goal(GoalType::TestAdded, "**/*.test.*")),
    ];
    expected.limits = Limits {
        max_children: 20,
        max_depth: 0,
        max_attempts: 1,
        lease: Span::seconds(90),
        chat_idle: Span::minutes(60),
        ..Limits::default()
    };
    expected.keep_failed = 12 * 3600;
    assert_eq!(settings, expected);
}

/// R8: what the file leaves open comes from the caller and from the board.
#[test]
fn a_configuration_that_says_nothing_has_every_default() {
    let saihai = DefinitionsDir::new(&[("config.yaml", "{}\n")]);
    let settings = saihai.load().settings.into_settings("web".parse().unwrap(), Language::Ja, "trunk");
    let mut expected = Settings::new("web".parse().unwrap());
    expected.language = Language::Ja;
    expected.target_branch = "trunk".into();
    assert_eq!(settings, expected);
}

/// R8: every key of the example is read, and numbers stay as they are written where text is meant.
#[test]
fn the_agent_of_the_specification() {
    let saihai = DefinitionsDir::new(&[
        ("agents/a.yml", CODER),
        ("agents/b.yaml", "id: lead\nhierarchy_type: manager\n"),
        ("agents/.#b.yaml", "left by an editor"),
        ("agents/notes.txt", "not a definition"),
        ("prompts/coder.md", "Write code.\n"),
    ]);
    let texts = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>();
    let pairs = [("EMPTY", ""), ("MODE", "on"), ("PORT", "8080")];
    let coder = AgentSpec {
        id: "coder".parse().unwrap(),
        name: "Coder".into(),
        hierarchy: Hierarchy::Worker,
        role: "developer".into(),
        parent: Some("lead".parse().unwrap()),
        mode: Mode::OneShot,
        client: Client::Command,
        command: texts(&["my-agent", "{prompt_file}", "5"]),
        model: Some("4.10".into()),
        system_prompt: "Write code.\n".into(),
        prompt_file: Some("prompts/coder.md".into()),
        scope: Scope {
            read: texts(&["docs/**"]),
            write: texts(&["src/**", "tests/**"]),
            exclude: texts(&[".env"]),
            scratch: texts(&["out/"]),
        },
        decompose: board::Decompose::Never,
        max_sessions: 2,
        timeout: 1800,
        stall_timeout: 90,
        env: board::EnvNames(pairs.iter().map(|(key, _)| (*key).into()).collect()),
        skills: texts(&["rust", "sql"]),
        runs_on: texts(&["linux", "gpu"]),
    };
    let env: board::EnvValues =
        pairs.iter().map(|(key, value)| ((*key).into(), board::EnvValue((*value).into()))).collect();
    assert_eq!(saihai.load().env[&coder.id], env);
    let mut lead = AgentSpec::worker("lead".parse().unwrap());
    lead.hierarchy = Hierarchy::Manager;
    lead.scope = definitions::default_scope(Hierarchy::Manager);
    assert_eq!(saihai.load().agents, [coder, lead]);
}

/// R2: a worker may change everything unless its file says less; builds may write where they do.
#[test]
fn a_worker_that_only_has_an_id_has_every_default() {
    let saihai = DefinitionsDir::new(&[("agents/any-name.yaml", "id: coder\n")]);
    let mut coder = AgentSpec::worker("coder".parse().unwrap());
    coder.scope.read = vec!["**".into()];
    coder.scope.write = vec!["**".into()];
    coder.scope.scratch = vec!["target/".into(), "node_modules/".into()];
    assert_eq!(saihai.load().agents, [coder]);
}

/// R8: anchors, merges, a byte order mark and Windows line ends are YAML too.
#[test]
fn yaml_is_read_as_yaml() {
    let text = "\u{feff}id: coder\r\nname: &n 日本 ✓\r\nrole_type: *n\r\n";
    let saihai = DefinitionsDir::new(&[("agents/coder.yaml", text)]);
    let agents = saihai.load().agents;
    assert_eq!((agents[0].name.as_str(), agents[0].role.as_str()), ("日本 ✓", "日本 ✓"));
}

/// T2: neither depth nor aliases can exhaust the reader.
#[test]
fn bombs_are_refused() {
    let chain = |width: usize, length: usize| -> String {
        let link = |n: usize| format!("a{n}: &a{n} [{}]\n", vec![format!("*a{}", n - 1); width].join(","));
        "a0: &a0 x\n".to_owned() + &(1..length).map(link).collect::<String>()
    };
    let nested = |opening: &str| opening.repeat(100_000);
    let bombs = [nested("["), nested("a: {"), nested("- "), nested("? "), chain(10, 12), chain(1, 1000)];
    for bomb in bombs {
        let saihai = DefinitionsDir::new(&[("agents/x.yaml", &bomb)]);
        let problems = saihai.problems();
        assert!(problems.len() == 1 && problems[0].contains("invalid YAML"), "{problems:?}");
    }
}

proptest::proptest! {
    /// T2: whatever the files hold, there is an answer.
    #[test]
    fn no_text_makes_it_panic(text in "([a-z]{1,3}|id|scope|checks|dod|---|[-:?,#&*!|>'\"%@`{}\\[\\] \n\r\t\\\\]|\\PC){0,60}") {
        let saihai = DefinitionsDir::new(&[("config.yaml", &text), ("agents/x.yaml", &text), ("memory/x.md", &format!("---\n{text}"))]);
        for problem in saihai.problems() {
            proptest::prop_assert!(problem.starts_with(".saihai/"));
        }
        definitions::memory::list(&saihai.path());
    }
}
