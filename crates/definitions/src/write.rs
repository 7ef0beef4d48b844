//! How is an agent written as a definition file?

use board::{AgentSpec, Decompose};
use serde::Serialize;
use serde_saphyr::FlowSeq;

use crate::agent_file::default_scope;

/// The file that defines the agent: loading it gives an equal one, provided that its prompt file is
/// there. Keys that have their default are left out, except those that say who the agent is.
pub fn to_yaml(spec: &AgentSpec) -> String {
    serde_saphyr::to_string(&file(spec)).expect("texts, numbers and lists of them have a YAML form")
}

fn file(spec: &AgentSpec) -> AgentFile<'_> {
    let prompt_file = spec.prompt_file.as_deref();
    let defaults = default_scope(spec.hierarchy);
    let unless = |list, default: &[String]| (list != default).then_some(FlowSeq(list));
    AgentFile {
        id: spec.id.as_str(),
        name: &spec.name,
        hierarchy_type: spec.hierarchy.as_str(),
        role_type: some_text(&spec.role),
        parent: spec.parent.as_ref().map(|parent| parent.as_str()),
        mode: spec.mode.as_str(),
        client: spec.client.as_str(),
        command: unless(&spec.command[..], &[]),
        model: spec.model.as_deref(),
        prompt_file,
        system_prompt: some_text(&spec.system_prompt).filter(|_| prompt_file.is_none()),
        scope: ScopeFile {
            read: unless(&spec.scope.read[..], &defaults.read),
            write: FlowSeq(&spec.scope.write),
            exclude: unless(&spec.scope.exclude[..], &defaults.exclude),
            scratch: unless(&spec.scope.scratch[..], &defaults.scratch),
        },
        decompose: (spec.decompose != Decompose::Auto).then(|| spec.decompose.as_str()),
        max_sessions: (spec.max_sessions != 1).then_some(spec.max_sessions),
        timeout: (spec.timeout != AgentSpec::DEFAULT_TIMEOUT).then_some(spec.timeout),
        stall_timeout: (spec.stall_timeout != AgentSpec::DEFAULT_STALL_TIMEOUT).then_some(spec.stall_timeout),
        skills: unless(&spec.skills[..], &[]),
        runs_on: unless(&spec.runs_on[..], &[]),
        env: (!spec.env.0.is_empty()).then_some(&spec.env),
    }
}

fn some_text(text: &str) -> Option<&str> {
    (!text.is_empty()).then_some(text)
}

/// In the order of the keys in the documentation.
#[derive(Serialize)]
struct AgentFile<'a> {
    id: &'a str,
    name: &'a str,
    hierarchy_type: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    role_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parent: Option<&'a str>,
    mode: &'a str,
    client: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    command: Option<FlowSeq<&'a [String]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    prompt_file: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    system_prompt: Option<&'a str>,
    scope: ScopeFile<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decompose: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_sessions: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    timeout: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stall_timeout: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skills: Option<FlowSeq<&'a [String]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    runs_on: Option<FlowSeq<&'a [String]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    env: Option<&'a board::EnvNames>,
}

#[derive(Serialize)]
struct ScopeFile<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    read: Option<FlowSeq<&'a [String]>>,
    write: FlowSeq<&'a [String]>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exclude: Option<FlowSeq<&'a [String]>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scratch: Option<FlowSeq<&'a [String]>>,
}
