//! What do the settings and agents of a repository look like, taken together?

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use board::{AgentId, AgentSpec, EnvValues};

use crate::agent_file::{self, ParsedAgent};
use crate::config_file::{self, SettingsFile};
use crate::dir::{self, FileError, SaihaiDir};
use crate::problem::{Problem, ProblemReport, Problems};
use crate::roster::{self, RosterFiles};

const CONFIG: &str = "config.yaml";

/// Everything that `config.yaml` and `agents/` define (R8).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definitions {
    pub settings: SettingsFile,
    /// By id.
    pub agents: Vec<AgentSpec>,
    /// What the variables of their `env` are set to.
    pub env: BTreeMap<AgentId, EnvValues>,
}

impl Definitions {
    /// Reads a `.saihai/` directory, or says everything that is wrong with it.
    pub fn load(saihai_dir: &Path) -> Result<Self, Problems> {
        let dir = SaihaiDir::open(saihai_dir).map_err(|error| Problems(vec![cannot_open(error)]))?;
        let mut problems = Vec::new();
        let settings = load_settings(&dir, &mut problems);
        let mut parsed = load_agents(&dir, &mut problems);
        if problems.is_empty() {
            parsed.sort_by(|a, b| a.spec.id.cmp(&b.spec.id));
            let env = parsed.iter().map(|agent| (agent.spec.id.clone(), agent.env.clone())).collect();
            let agents = parsed.into_iter().map(|agent| agent.spec).collect();
            return Ok(Self { settings, agents, env });
        }
        problems.sort();
        Err(Problems(problems))
    }
}

fn cannot_open(error: io::Error) -> Problem {
    let mut report = ProblemReport::new(dir::DIR_NAME.into());
    report_unreadable(&mut report, &error.into());
    report.problems.remove(0)
}

fn report_unreadable(report: &mut ProblemReport, error: &FileError) {
    let hint = matches!(error, FileError::Missing).then(|| "`saihai init` writes it".to_owned());
    error.report(report, hint);
}

fn load_settings(dir: &SaihaiDir, problems: &mut Vec<Problem>) -> SettingsFile {
    let mut report = ProblemReport::new(dir::in_repository(CONFIG));
    let mut settings = SettingsFile::default();
    match dir.read(Path::new(CONFIG)) {
        Ok(source) => settings = config_file::read(&source, &mut report),
        Err(error) => report_unreadable(&mut report, &error),
    }
    problems.append(&mut report.problems);
    settings
}

fn load_agents(dir: &SaihaiDir, problems: &mut Vec<Problem>) -> Vec<ParsedAgent> {
    let files = dir.yaml_files("agents").unwrap_or_else(|error| {
        let mut report = ProblemReport::new(dir::in_repository("agents"));
        report_unreadable(&mut report, &error.into());
        problems.append(&mut report.problems);
        Vec::new()
    });
    let mut parsed_agents = Vec::new();
    let mut roster = RosterFiles::AllRead;
    for file in files {
        let mut report = ProblemReport::new(dir::in_repository(&file));
        let parsed = match dir.read(&file) {
            Ok(source) => agent_file::read(dir, &source, &mut report),
            Err(error) => {
                error.report(&mut report, None);
                None
            }
        };
        match parsed {
            Some(parsed) => parsed_agents.push(parsed),
            None => roster = RosterFiles::SomeUnreadable,
        }
        problems.append(&mut report.problems);
    }
    problems.append(&mut roster::problems(&parsed_agents, roster));
    parsed_agents
}
