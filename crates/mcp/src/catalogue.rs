//! Which tools are there (M1)?

use std::sync::LazyLock;

use crate::tool::{Catalogue, entry};
use crate::tools::{authentication, chat, coordination, directing, following, managing, own, tasks};

pub(crate) static CATALOGUE: LazyLock<Catalogue> = LazyLock::new(|| {
    Catalogue::new(vec![
        entry::<authentication::Authenticate>(),
        entry::<authentication::Help>(),
        entry::<own::GetNextAction>(),
        entry::<own::ReportModel>(),
        entry::<own::GetMyProfile>(),
        entry::<own::GetMyTask>(),
        entry::<tasks::ListTasks>(),
        entry::<tasks::GetTask>(),
        entry::<tasks::CreateTask>(),
        entry::<tasks::CreateTasksBatch>(),
        entry::<tasks::UpdateTaskStatus>(),
        entry::<own::ReportCompleted>(),
        entry::<own::SaveContext>(),
        entry::<own::Logout>(),
        entry::<managing::SelectAction>(),
        entry::<managing::AssignTask>(),
        entry::<managing::UpdateTask>(),
        entry::<managing::CancelTask>(),
        entry::<managing::BlockTask>(),
        entry::<managing::CommentTask>(),
        entry::<managing::UpdateTaskDependencies>(),
        entry::<managing::GetRecentCompletions>(),
        entry::<managing::ListSubordinates>(),
        entry::<managing::GetSubordinateProfile>(),
        entry::<chat::GetPendingMessages>(),
        entry::<chat::SendMessage>(),
        entry::<coordination::GetAgentAction>(),
        entry::<coordination::ListActiveProjectsWithAgents>(),
        entry::<coordination::HealthCheck>(),
        entry::<directing::GetOverview>(),
        entry::<directing::ExplainTask>(),
        entry::<directing::CreateTasks>(),
        entry::<directing::StartTasks>(),
        entry::<directing::RetryTask>(),
        entry::<directing::ReviewTask>(),
        entry::<following::GetDiff>(),
        entry::<following::GetSessionLog>(),
        entry::<following::WaitForChanges>(),
    ])
});

#[cfg(test)]
mod tests {
    use board::{Language, Tool};
    use serde_json::Value;

    use super::CATALOGUE;

    /// M1: every tool of the specification is there, once.
    #[test]
    fn every_tool_is_in_the_catalogue() {
        let found: Vec<_> = CATALOGUE.all().iter().map(|entry| entry.tool).collect();
        assert_eq!(found, Tool::ALL);
    }

    /// M2: clients check arguments by the schema before they send them, so only what is needed is
    /// required there.
    #[test]
    fn what_may_be_left_out_is_not_required() {
        let required = |schema: &Value| -> Vec<String> {
            let names = schema["required"].as_array().into_iter().flatten();
            names.filter_map(|name| name.as_str().map(str::to_owned)).collect()
        };
        let schema = |tool: Tool| {
            let entry = CATALOGUE.all().iter().find(|entry| entry.tool == tool).expect("every tool is there");
            entry.shown_with_credential().schema_as_json_value()
        };
        for (tool, needed) in [
            (Tool::Authenticate, &[][..]),
            (Tool::ListTasks, &[]),
            (Tool::CreateTask, &["title", "description"]),
            (Tool::CreateTasksBatch, &["tasks"]),
            (Tool::UpdateTask, &["task_id"]),
            (Tool::UpdateTaskStatus, &["task_id", "status"]),
            (Tool::ReportCompleted, &["result", "summary"]),
            (Tool::GetRecentCompletions, &[]),
        ] {
            assert_eq!(required(&schema(tool)), needed, "{}", tool.as_str());
        }
        let item = &schema(Tool::CreateTasksBatch)["properties"]["tasks"]["items"];
        assert_eq!(required(item), ["local_id", "title", "description"]);
    }

    fn is_japanese(text: &str) -> bool {
        text.chars().any(|c| matches!(c, '\u{3040}'..='\u{30ff}' | '\u{4e00}'..='\u{9fff}'))
    }

    /// What a schema says of its arguments.
    fn descriptions(schema: &Value, found: &mut Vec<String>) {
        match schema {
            Value::Object(fields) => {
                found.extend(fields.get("description").and_then(Value::as_str).map(str::to_owned));
                fields.values().for_each(|inner| descriptions(inner, found));
            }
            Value::Array(items) => items.iter().for_each(|inner| descriptions(inner, found)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }

    /// M2, C5: tools and their arguments are described in both languages.
    #[test]
    fn every_tool_and_argument_has_japanese() {
        for entry in CATALOGUE.all() {
            for language in [Language::En, Language::Ja] {
                let tool = entry.shown_with_credential_in(language);
                let mut said = vec![tool.description.as_ref().expect("it is described").to_string()];
                descriptions(&tool.schema_as_json_value(), &mut said);
                let wrong: Vec<_> =
                    said.iter().filter(|text| is_japanese(text) != (language == Language::Ja)).collect();
                assert!(wrong.is_empty(), "{} in {language}: {wrong:#?}", entry.tool.as_str());
            }
        }
    }

    /// M2: what a manager may choose is described in both languages.
    #[test]
    fn every_choice_of_a_manager_is_described() {
        let entry = CATALOGUE.find(Tool::SelectAction.as_str()).expect("it is there");
        for language in [Language::En, Language::Ja] {
            let about = entry.about.say(language);
            assert!(board::Choice::ALL.iter().all(|choice| about.contains(choice.as_str())), "{about}");
        }
    }

    /// M5: what is left out of an answer when it is empty is not required of it.
    #[test]
    fn what_an_answer_may_leave_out_is_not_required() {
        let entry = CATALOGUE.all().iter().find(|entry| entry.tool == Tool::GetNextAction).expect("it is there");
        let schema = entry.shown_with_credential().output_schema.as_ref().expect("it has one");
        let [answer, refusal] = schema["anyOf"].as_array().expect("two choices").as_slice() else {
            panic!("{schema:?}")
        };
        assert_eq!(answer["required"], serde_json::json!(["action", "state", "instruction", "tools"]));
        assert_eq!(refusal["required"], serde_json::json!(["code", "message", "hint", "tools"]));
        for entry in CATALOGUE.all().iter() {
            let schema = entry.shown_with_credential().output_schema.as_ref().expect("it has one");
            let text = serde_json::to_string(schema).expect("it is JSON");
            assert!(!text.contains("\"format\":\"uint"), "{}: {text}", entry.tool.as_str());
        }
    }
}
