//! Does an agent that is written back load as the same agent?

use board::{AgentSpec, Client, Decompose, Hierarchy, Mode, Scope};
use definitions::to_yaml;
use proptest::collection::vec;
use proptest::option;
use proptest::prelude::{BoxedStrategy, Just, Strategy, any, prop_oneof};
use proptest::sample::select;

use crate::DefinitionsDir;

const PROMPT: &str = "Write code.\n";

fn line() -> BoxedStrategy<String> {
    prop_oneof![
        "\\PC{1,100}",
        select(vec!["true", "~", "1e3", "- x", "a: b", "{A}", "*x", "&x", "'", "\"", "# x", "0x1F", "no", "|", ">-"])
            .prop_map(str::to_owned),
    ]
    .prop_filter("not blank", |text| !text.trim().is_empty() && !text.chars().any(char::is_control))
    .boxed()
}

fn text() -> BoxedStrategy<String> {
    prop_oneof![
        line(),
        vec(prop_oneof![line(), Just(String::new()), Just("  x ".into())], 1..6).prop_map(|l| l.join("\n"))
    ]
    .prop_filter("not blank", |text| !text.trim().is_empty())
    .boxed()
}

fn patterns() -> BoxedStrategy<Vec<String>> {
    let known = select(vec!["**", "src/**", "!a", "*.rs", "a b", "[a-z]", "{a,b}", "\\#x", "日本/**", ".env"]);
    vec(known.prop_map(str::to_owned), 0..4).boxed()
}

/// The client, and the command if it is one.
fn client() -> BoxedStrategy<(Client, Vec<String>)> {
    let command = (line(), vec(prop_oneof![text(), Just(String::new())], 0..3))
        .prop_map(|(program, rest)| (Client::Command, [vec![program], rest].concat()));
    prop_oneof![Just((Client::ClaudeCode, Vec::new())), Just((Client::Codex, Vec::new())), command].boxed()
}

fn rank() -> BoxedStrategy<(Hierarchy, Mode, Decompose)> {
    let worker = (select(Mode::ALL), select(Decompose::ALL)).prop_map(|(m, d)| (Hierarchy::Worker, m, d));
    prop_oneof![Just((Hierarchy::Manager, Mode::Guided, Decompose::Auto)), worker].boxed()
}

fn prompt() -> BoxedStrategy<(Option<String>, String)> {
    let file = Just((Some("prompts/coder.md".to_owned()), PROMPT.to_owned()));
    prop_oneof![file, text().prop_map(|text| (None, text)), Just((None, String::new()))].boxed()
}

fn scope() -> BoxedStrategy<Scope> {
    (patterns(), patterns(), patterns(), patterns())
        .prop_map(|(read, write, exclude, scratch)| Scope { read, write, exclude, scratch })
        .boxed()
}

fn spec() -> BoxedStrategy<AgentSpec> {
    let words = (line(), option::of(line()), option::of(line()), any::<bool>(), vec(line(), 0..3), vec(line(), 0..3));
    let numbers = (1u32..=1000, 1u32..=1_000_000, 1u32..=1_000_000);
    (rank(), client(), prompt(), scope(), words, numbers).prop_map(build).boxed()
}

type Parts = (
    (Hierarchy, Mode, Decompose),
    (Client, Vec<String>),
    (Option<String>, String),
    Scope,
    (String, Option<String>, Option<String>, bool, Vec<String>, Vec<String>),
    (u32, u32, u32),
);

fn build((rank, client, prompt, scope, words, numbers): Parts) -> AgentSpec {
    AgentSpec {
        id: "coder".parse().unwrap(),
        name: words.0,
        hierarchy: rank.0,
        role: words.1.unwrap_or_default(),
        parent: words.3.then(|| "lead".parse().unwrap()),
        mode: rank.1,
        client: client.0,
        command: client.1,
        model: words.2,
        system_prompt: prompt.1,
        prompt_file: prompt.0,
        scope,
        decompose: rank.2,
        max_sessions: numbers.0,
        timeout: numbers.1,
        stall_timeout: numbers.2,
        env: board::EnvNames::default(),
        skills: words.4,
        runs_on: words.5,
    }
}

proptest::proptest! {
    /// R8, F82: what `agent show --format yaml` writes is the definition.
    #[test]
    fn an_agent_written_back_loads_as_the_same_agent(spec in spec()) {
        let yaml = to_yaml(&spec);
        let saihai = DefinitionsDir::new(&[
            ("agents/coder.yaml", &yaml),
            ("agents/lead.yaml", "id: lead\nhierarchy_type: manager\n"),
            ("prompts/coder.md", PROMPT),
        ]);
        proptest::prop_assert_eq!(saihai.problems(), Vec::<String>::new(), "{}", yaml);
        proptest::prop_assert_eq!(&saihai.load().agents[0], &spec, "{}", yaml);
    }
}

/// R8: keys with their default are left out, and the others stand in the order of the documentation.
#[test]
fn a_definition_is_written_as_a_person_would() {
    let mut spec = AgentSpec::worker("coder".parse().unwrap());
    spec.scope = definitions::default_scope(Hierarchy::Worker);
    let plain = "id: coder\nname: coder\nhierarchy_type: worker\nmode: guided\nclient: claude-code\nscope:\n  write: \
                 [\"**\"]\n";
    assert_eq!(to_yaml(&spec), plain);

    spec.parent = Some("lead".parse().unwrap());
    spec.client = Client::Command;
    spec.command = vec!["my-agent".into(), "{prompt_file}".into()];
    spec.system_prompt = "Write code.\nTest it.\n".into();
    spec.scope.write = vec!["src/**".into(), "tests/**".into()];
    spec.decompose = Decompose::Never;
    spec.timeout = 60;
    spec.env.0.insert("PORT".into());
    let full = r#"id: coder
name: coder
hierarchy_type: worker
parent: lead
mode: guided
client: command
command: [my-agent, "{prompt_file}"]
system_prompt: |
  Write code.
  Test it.
scope:
  write: [src/**, tests/**]
decompose: never
timeout: 60
env:
  PORT: (hidden)
"#;
    assert_eq!(to_yaml(&spec), full);
}

/// E8, R8: values are not written back, and what stands in their place is not taken for one.
#[test]
fn a_value_that_was_left_out_has_to_be_put_in_again() {
    let mut spec = AgentSpec::worker("coder".parse().unwrap());
    spec.env.0.insert("KEY".into());
    let saihai = DefinitionsDir::new(&[("agents/coder.yaml", &to_yaml(&spec))]);
    let problems = saihai.problems();
    assert!(problems.iter().any(|problem| problem.contains("put it in again")), "{problems:?}");
}
