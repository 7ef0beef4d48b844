//! Which tools are there (M1)?

use std::sync::LazyLock;

use crate::tool::{Catalogue, entry};
use crate::tools::{authentication, chat, coordination, managing, own, tasks};

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
    ])
});

#[cfg(test)]
mod tests {
    use board::Tool;
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
