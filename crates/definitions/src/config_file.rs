//! What does `.saihai/config.yaml` set?

use board::{
    Allowance, Budget, ChatRequests, Check, Completion, Dod, Goal, GoalType, Isolation, Language, LimitValue, Limits,
    MergeStrategy, Price, ProjectId, Sandbox, SandboxLimits, Settings, Span, TaskType, WorkspaceSetup,
};

use crate::fields::Fields;
use crate::problem::ProblemReport;
use crate::values;
use crate::yaml::{self, Node};

const KEYS: &[&str] = &[
    "name",
    "language",
    "target_branch",
    "remote",
    "completion",
    "sandbox",
    "max_parallel",
    "merge",
    "isolation",
    "dod",
    "task_types",
    "limits",
    "workspace",
    "workspaces",
    "chat_requests",
    "budget",
    "prices",
];

/// Seconds for `workspace.setup`: packages may have to be fetched and built.
const SETUP_TIMEOUT: u32 = 900;

/// The settings that the file gives. The rest has its default, or is for the caller to know.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SettingsFile {
    pub name: Option<String>,
    pub language: Option<Language>,
    pub target_branch: Option<String>,
    remote: Option<String>,
    completion: Option<Completion>,
    sandbox: Option<Sandbox>,
    merge: Option<MergeStrategy>,
    isolation: Option<Isolation>,
    check_timeout: Option<u32>,
    setup: Option<String>,
    checks: Vec<Check>,
    pub protect: Vec<String>,
    goals: Vec<(TaskType, Vec<Goal>)>,
    limits: Limits,
    keep_failed: Option<u64>,
    sandbox_read: Vec<String>,
    sandbox_connect: Option<Vec<u16>>,
    sandbox_limits: SandboxLimits,
    max_parallel: Option<u32>,
    chat_requests: Option<ChatRequests>,
    workspace_setup: Option<WorkspaceSetup>,
    budget: Budget,
    prices: Vec<Price>,
}

impl SettingsFile {
    /// The settings of a project; `language` and `target_branch` count if the file has none.
    pub fn into_settings(self, id: ProjectId, language: Language, target_branch: &str) -> Settings {
        let default = Settings::new(id);
        Settings {
            name: self.name.unwrap_or(default.name),
            id: default.id,
            language: self.language.unwrap_or(language),
            target_branch: self.target_branch.unwrap_or_else(|| target_branch.to_owned()),
            completion: self.completion.unwrap_or(default.completion),
            sandbox: self.sandbox.unwrap_or(default.sandbox),
            merge: self.merge.unwrap_or(default.merge),
            isolation: self.isolation.unwrap_or(default.isolation),
            dod: Dod {
                timeout: self.check_timeout.unwrap_or(default.dod.timeout),
                setup: self.setup,
                checks: self.checks,
                protect: self.protect,
            },
            goals: self.goals,
            limits: self.limits,
            keep_failed: self.keep_failed.unwrap_or(default.keep_failed),
            sandbox_read: self.sandbox_read,
            sandbox_connect: self.sandbox_connect,
            sandbox_limits: self.sandbox_limits,
            max_parallel: self.max_parallel,
            chat_requests: self.chat_requests.unwrap_or(default.chat_requests),
            workspace_setup: self.workspace_setup,
            remote: self.remote,
            budget: self.budget,
            prices: self.prices,
        }
    }
}

/// Reads the file; what is wrong is reported and left out.
pub(crate) fn read(source: &str, report: &mut ProblemReport) -> SettingsFile {
    let mut settings = SettingsFile::default();
    let Some(node) = yaml::parse(source, report) else {
        return settings;
    };
    let Some(mut fields) = Fields::open("the configuration", node, KEYS, report) else {
        return settings;
    };
    settings.name = fields.text("name", values::line);
    settings.language = fields.parsed("language");
    settings.target_branch = fields.text("target_branch", values::branch);
    settings.remote = fields.text("remote", values::remote);
    settings.completion = fields.parsed("completion");
    read_sandbox(&mut settings, &mut fields);
    settings.max_parallel = fields.count("max_parallel", 1..=10_000);
    settings.isolation = fields.parsed("isolation");
    settings.chat_requests = fields.parsed("chat_requests");
    if let Some(mut merge) = fields.fields("merge", &["strategy"]) {
        settings.merge = merge.parsed("strategy");
    }
    if let Some(mut workspace) = fields.fields("workspace", &["setup", "timeout", "inputs"]) {
        let command = workspace.text("setup", values::non_blank);
        let timeout = workspace.seconds("timeout", 1).and_then(|seconds| u32::try_from(seconds).ok());
        let timeout = timeout.unwrap_or(SETUP_TIMEOUT);
        let inputs = workspace.texts("inputs", values::pattern).unwrap_or_default();
        settings.workspace_setup = command.map(|command| WorkspaceSetup { command, timeout, inputs });
    }
    if let Some(mut budget) = fields.fields("budget", &BUDGET) {
        settings.budget = read_budget(&mut budget);
    }
    if let Some(mut prices) = fields.fields_any("prices") {
        settings.prices = read_prices(&mut prices);
    }
    if let Some(mut workspaces) = fields.fields("workspaces", &["keep_failed"]) {
        settings.keep_failed = workspaces.seconds("keep_failed", 0);
    }
    if let Some(mut dod) = fields.fields("dod", &["timeout", "setup", "checks", "protect"]) {
        settings.check_timeout = dod.seconds("timeout", 1).and_then(|seconds| u32::try_from(seconds).ok());
        settings.setup = dod.text("setup", values::non_blank);
        for node in dod.items("checks").unwrap_or_default() {
            settings.checks.extend(check(node, dod.report));
        }
        settings.protect = dod.texts("protect", values::pattern).unwrap_or_default();
    }
    if let Some(mut types) = fields.fields_any("task_types") {
        settings.goals = goals(&mut types);
    }
    let known = Limits::default().each().map(|(name, _)| name);
    if let Some(mut limits) = fields.fields("limits", &known) {
        read_limits(&mut settings.limits, &mut limits);
    }
    settings
}

const BUDGET: [&str; 6] = ["session_usd", "session_tokens", "task_usd", "task_tokens", "day_usd", "day_tokens"];

fn read_budget(fields: &mut Fields<'_>) -> Budget {
    let [session_usd, session_tokens, task_usd, task_tokens, day_usd, day_tokens] = BUDGET;
    let mut allowance =
        |usd: &str, tokens: &str| Allowance { tokens: fields.tokens(tokens), cost_micros: fields.dollars(usd, 1) };
    Budget {
        session: allowance(session_usd, session_tokens),
        task: allowance(task_usd, task_tokens),
        day: allowance(day_usd, day_tokens),
    }
}

/// By model: what a million tokens cost that are given and made.
fn read_prices(fields: &mut Fields<'_>) -> Vec<Price> {
    let models: Vec<_> = fields.keys().into_iter().map(|(model, _)| model).collect();
    let price = |model: String| {
        let mut price = fields.fields(&model, &["input_usd", "output_usd"])?;
        price.require("input_usd");
        price.require("output_usd");
        let input_micros = price.dollars("input_usd", 0)?;
        let output_micros = price.dollars("output_usd", 0)?;
        Some(Price { model, input_micros, output_micros })
    };
    models.into_iter().filter_map(price).collect()
}

/// One word, or a mapping with more to say.
fn read_sandbox(settings: &mut SettingsFile, fields: &mut Fields<'_>) {
    if !fields.is_mapping("sandbox") {
        settings.sandbox = fields.parsed("sandbox");
        return;
    }
    let Some(mut sandbox) = fields.fields("sandbox", &["mode", "read", "connect", "limits"]) else { return };
    settings.sandbox = sandbox.parsed("mode");
    settings.sandbox_read = sandbox.texts("read", values::non_blank).unwrap_or_default();
    let ports = sandbox.texts("connect", |port| values::count(port, 1..=65535).map(drop));
    settings.sandbox_connect = ports.map(|ports| ports.iter().filter_map(|port| port.parse().ok()).collect());
    if let Some(mut limits) = sandbox.fields("limits", &SANDBOX_LIMITS) {
        read_sandbox_limits(&mut settings.sandbox_limits, &mut limits);
    }
}

const SANDBOX_LIMITS: [&str; 6] = ["processes", "memory_mib", "open_files", "file_size_mib", "disk_mib", "files"];

/// None below what a client needs to start.
fn read_sandbox_limits(limits: &mut SandboxLimits, fields: &mut Fields<'_>) {
    set(&mut limits.processes, fields.count("processes", 64..=4_000_000));
    limits.memory_mib = fields.count("memory_mib", 256..=u32::MAX);
    set(&mut limits.open_files, fields.count("open_files", 256..=1_048_576));
    set(&mut limits.file_size_mib, fields.count("file_size_mib", 1..=u32::MAX));
    set(&mut limits.disk_mib, fields.count("disk_mib", 16..=u32::MAX));
    set(&mut limits.files, fields.count("files", 1_000..=u32::MAX));
}

/// A check without a command would pass without having run (V5).
fn check(node: Node, report: &mut ProblemReport) -> Option<Check> {
    let mut fields = Fields::open("a check", node, &["type", "command"], report)?;
    fields.require("command");
    let name = fields.text("type", values::line);
    let command = fields.text("command", values::non_blank)?;
    Some(Check { name: name.unwrap_or_else(|| command.clone()), command })
}

fn goals(fields: &mut Fields<'_>) -> Vec<(TaskType, Vec<Goal>)> {
    let mut all = Vec::new();
    for (key, location) in fields.keys() {
        let task_type = key.parse::<TaskType>().map_err(|error| fields.report.at(location, error.to_string()));
        let Some(mut fields) = fields.fields(&key, &["goals"]) else {
            continue;
        };
        let mut goals = Vec::new();
        for node in fields.items("goals").unwrap_or_default() {
            goals.extend(goal(node, fields.report));
        }
        if let Ok(task_type) = task_type
            && !goals.is_empty()
        {
            all.push((task_type, goals));
        }
    }
    all.sort_by_key(|(task_type, _)| *task_type);
    all
}

fn goal(node: Node, report: &mut ProblemReport) -> Option<Goal> {
    let mut fields = Fields::open("a goal", node, &["type", "pattern"], report)?;
    fields.require("type");
    fields.require("pattern");
    let kind = fields.parsed::<GoalType>("type");
    let pattern = fields.text("pattern", values::pattern);
    Some(Goal { kind: kind?, pattern: pattern? })
}

fn read_limits(limits: &mut Limits, fields: &mut Fields<'_>) {
    for (name, value) in limits.each() {
        match value {
            LimitValue::Number(value, range) => set(value, fields.count(name, range)),
            LimitValue::Time(value) => set(value, span(name, fields)),
        }
    }
}

fn set<T>(setting: &mut T, given: Option<T>) {
    if let Some(given) = given {
        *setting = given;
    }
}

fn span(key: &str, fields: &mut Fields<'_>) -> Option<Span> {
    let seconds = fields.seconds(key, 1)?;
    i64::try_from(seconds).ok().map(Span::seconds)
}
