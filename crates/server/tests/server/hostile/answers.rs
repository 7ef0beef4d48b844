//! Is every answer well-formed, silent about secrets and other projects, and true?

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Mutex;

use board::{Board, Code, Hierarchy, SessionId, TaskId, Tool};
use jsonschema::Validator;
use serde_json::Value;

use super::staff::Stolen;
use crate::test_server::{ENV_SECRET, PROJECTS, TestServer};

/// What was seen in the whole run.
#[derive(Debug, Default)]
pub(super) struct Seen {
    pub(super) accepted: BTreeMap<String, u32>,
    pub(super) refused: BTreeMap<String, u32>,
    /// What answers claimed that sessions did, by project, and how often.
    pub(super) claims: BTreeMap<&'static str, BTreeMap<String, u32>>,
    /// What answers claimed to have been created, now or by an earlier call with the same key.
    pub(super) created: BTreeMap<&'static str, BTreeSet<String>>,
}

/// Who made a call, as far as credentials go.
pub(super) struct By<'a> {
    pub(super) session: Option<&'a Stolen>,
    pub(super) board: &'a Board,
    /// It was over before the call.
    pub(super) over: bool,
    pub(super) token: bool,
}

pub(super) struct Answers {
    schemas: BTreeMap<String, Validator>,
    pub(super) seen: Mutex<Seen>,
}

impl Answers {
    pub(super) async fn new(server: &TestServer) -> Self {
        let mut schemas = BTreeMap::new();
        for bearer in [None, Some(server.tokens["coordinator"].as_str())] {
            let list = server.client(bearer).request("tools/list", serde_json::json!({})).await;
            for tool in list["result"]["tools"].as_array().unwrap() {
                let validator = jsonschema::validator_for(&tool["outputSchema"]).unwrap();
                schemas.insert(tool["name"].as_str().unwrap().to_owned(), validator);
            }
        }
        Self { schemas, seen: Mutex::default() }
    }

    /// Checks an answer. The credential that it hands out, if it does.
    pub(super) fn check(&self, by: &By<'_>, tool: &str, arguments: &Value, answer: &Value) -> Option<Stolen> {
        let result = &answer["result"];
        assert!(result.is_object(), "{tool} got a protocol error: {answer}");
        let told = &result["structuredContent"];
        let text = result["content"][0]["text"].as_str().unwrap();
        assert_eq!(serde_json::from_str::<Value>(text).unwrap(), *told, "the two forms differ");
        let refused = result["isError"].as_bool().unwrap_or(false);
        let handed = told["session_token"].as_str().filter(|_| tool == "authenticate" && !refused);
        let text = handed.map_or(text.to_owned(), |secret| text.replace(secret, ""));
        no_secret(&text);
        no_stranger(by, tool, told, &text);
        let mut seen = self.seen.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        if refused {
            let code = check_refusal(by, told);
            *seen.refused.entry(code).or_default() += 1;
            return None;
        }
        if let Err(error) = self.schemas[tool].validate(told) {
            panic!("{tool} answers what its schema does not allow: {error}\n{told}");
        }
        assert!(!by.over, "a session that is over got an answer to {tool}: {told}");
        *seen.accepted.entry(tool.to_owned()).or_default() += 1;
        match by.session {
            Some(stolen) => seen.claimed(stolen, tool, arguments, told),
            None => {
                let open = matches!(tool, "help" | "authenticate") || by.token;
                assert!(open, "{tool} was answered for nobody: {told}");
            }
        }
        let secret = handed?.to_owned();
        let (project, _) = *PROJECTS.iter().find(|(name, _)| told["project_id"] == **name).unwrap();
        let session = told["session_id"].as_str().unwrap().parse().unwrap();
        Some(Stolen { project, session, secret })
    }
}

/// S3, S4: credentials, tokens, passkeys and their fast hashes all contain 64 hexadecimal digits in
/// a row; the slow hash names itself.
pub(super) fn no_secret(text: &str) {
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte.is_ascii_hexdigit() { run + 1 } else { 0 };
        assert!(run < 64, "a secret is in {text}");
    }
    assert!(!text.contains("$argon2") && !text.contains(ENV_SECRET), "a secret is in {text}");
}

/// F36: nothing that the owner wrote in one project is read in the other, or by nobody.
fn no_stranger(by: &By<'_>, tool: &str, told: &Value, text: &str) {
    let home = match by.session {
        Some(stolen) => Some(stolen.project),
        None => told["project_id"].as_str().filter(|_| tool == "authenticate"),
    };
    for (name, mark) in PROJECTS {
        let may = home == Some(name) || (by.token && tool == "list_active_projects_with_agents");
        assert!(may || !text.contains(mark), "{tool} tells {home:?} about {name}: {text}");
    }
}

/// M4, F27
fn check_refusal(by: &By<'_>, told: &Value) -> String {
    let fields: Vec<_> = told.as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(fields, ["code", "message", "hint", "tools"], "{told}");
    let code: Code = told["code"].as_str().unwrap().parse().unwrap_or_else(|error| panic!("{error}: {told}"));
    for field in ["message", "hint"] {
        let text = told[field].as_str().unwrap();
        assert!(!text.trim().is_empty(), "{field} is empty: {told}");
        assert!(text.chars().count() <= 2_000, "{field} is long: {told}");
        for command in ["rm -", "--force", "git ", "saihai ", "delete ", "drop "] {
            // A message may quote what was sent, and digits are innocent.
            let suggested = text.replace("digit ", "").to_lowercase().contains(command);
            assert!(!suggested, "{command} is suggested: {told}");
        }
    }
    // The hint quotes nothing, so that it can be taken at its words.
    let hint = told["hint"].as_str().unwrap().to_lowercase();
    for word in hint.split(|c: char| !(c.is_ascii_alphanumeric() || c == '-')) {
        let destructive = ["rm", "--force", "force", "git", "saihai", "delete", "reset", "drop"];
        assert!(!destructive.contains(&word), "{word} is suggested: {told}");
    }
    for name in told["tools"].as_array().unwrap() {
        let tool: Tool = name.as_str().unwrap().parse().unwrap();
        assert!(is_theirs(by, tool), "{tool} is not theirs: {told}");
    }
    code.as_str().to_owned()
}

/// M2: would the tool be in the caller's list?
fn is_theirs(by: &By<'_>, tool: Tool) -> bool {
    let coordinators = matches!(tool, Tool::GetAgentAction | Tool::ListActiveProjectsWithAgents | Tool::HealthCheck);
    let Some(session) = by.session.and_then(|stolen| by.board.sessions.get(&stolen.session)) else {
        return coordinators == by.token || matches!(tool, Tool::Authenticate | Tool::Help);
    };
    let manager = by.board.agents[&session.agent].spec.hierarchy == Hierarchy::Manager;
    let at_work = session.task().is_some();
    let works = matches!(
        tool,
        Tool::GetMyTask
            | Tool::CreateTasksBatch
            | Tool::UpdateTaskStatus
            | Tool::ReportCompleted
            | Tool::SaveContext
            | Tool::SelectAction
    );
    !coordinators
        && !super::is_for_orchestrators(tool)
        && (manager || !tool.is_managers())
        && (at_work || !works)
        && (!at_work || tool != Tool::GetPendingMessages)
        && (at_work || manager || tool != Tool::CreateTask)
}

impl Seen {
    fn claimed(&mut self, by: &Stolen, tool: &str, arguments: &Value, told: &Value) {
        let Some(claim) = claim(by.session, tool, told) else { return };
        if claim.contains(" created ") {
            self.created.entry(by.project).or_default().extend(ids_in(&claim).map(str::to_owned));
            // The same key creates nothing twice: the answer names what is there.
            if arguments["idempotency_key"].is_string() {
                return;
            }
        }
        *self.claims.entry(by.project).or_default().entry(claim).or_default() += 1;
    }
}

/// The tasks that a claim or deed names.
pub(super) fn ids_in(deed: &str) -> impl Iterator<Item = &str> {
    deed.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| word.starts_with("tsk_"))
}

/// What an answer claims, in the words of the oracle.
fn claim(session: SessionId, tool: &str, told: &Value) -> Option<String> {
    let text = |name: &str| told[name].as_str().unwrap().to_owned();
    let ids = |value: &Value| {
        let read = |id: &Value| id.as_str().unwrap().parse::<TaskId>().unwrap();
        let mut ids: Vec<_> = value.as_array().unwrap().iter().map(read).collect();
        ids.sort();
        ids
    };
    let claim = match tool {
        "update_task_status" | "cancel_task" | "block_task" => {
            format!("moved {} {} {}", text("task_id"), text("previous_status"), text("new_status"))
        }
        "create_task" => format!("created [{}]", told["task"]["id"].as_str().unwrap()),
        "create_tasks_batch" => {
            let ids: Vec<_> = told["tasks"].as_array().unwrap().iter().map(|task| &task["task_id"]).collect();
            let ids: Vec<_> = ids.iter().map(|id| id.as_str().unwrap().parse::<TaskId>().unwrap()).collect();
            format!("created {ids:?}")
        }
        "assign_task" => format!("assigned {} {}", text("task_id"), told["assignee_id"].as_str().unwrap_or("nobody")),
        "update_task" => {
            let fields: Vec<_> =
                told["updated_fields"].as_array().unwrap().iter().map(|f| f.as_str().unwrap()).collect();
            (!fields.is_empty()).then(|| format!("edited {} {fields:?}", text("task_id")))?
        }
        "update_task_dependencies" => {
            let (added, removed) = (ids(&told["added"]), ids(&told["removed"]));
            let changed = !added.is_empty() || !removed.is_empty();
            changed.then(|| format!("depends {} {added:?} {removed:?}", text("task_id")))?
        }
        "comment_task" => format!("commented {}", text("task_id")),
        "send_message" if told["comment_on"].is_string() => format!("commented {}", text("comment_on")),
        "send_message" => format!("said {}", text("message_id")),
        "report_completed" => format!("reported {}", text("result")),
        "select_action" => format!("chose {}", text("selected_action")),
        "save_context" => "noted".into(),
        "report_model" => "is a model".into(),
        "logout" => "left".into(),
        _ => return None,
    };
    Some(format!("{session} {claim}"))
}
