//! Which tools does the MCP server have?

use crate::words::words;

words! {
    /// The tools of the MCP server, by the names on the wire.
    Tool {
        Authenticate = "authenticate",
        Help = "help",
        GetNextAction = "get_next_action",
        ReportModel = "report_model",
        GetMyProfile = "get_my_profile",
        GetMyTask = "get_my_task",
        ListTasks = "list_tasks",
        GetTask = "get_task",
        CreateTask = "create_task",
        CreateTasksBatch = "create_tasks_batch",
        UpdateTaskStatus = "update_task_status",
        ReportCompleted = "report_completed",
        SaveContext = "save_context",
        Logout = "logout",
        SelectAction = "select_action",
        AssignTask = "assign_task",
        UpdateTask = "update_task",
        CancelTask = "cancel_task",
        BlockTask = "block_task",
        CommentTask = "comment_task",
        UpdateTaskDependencies = "update_task_dependencies",
        GetRecentCompletions = "get_recent_completions",
        ListSubordinates = "list_subordinates",
        GetSubordinateProfile = "get_subordinate_profile",
        GetPendingMessages = "get_pending_messages",
        SendMessage = "send_message",
        GetAgentAction = "get_agent_action",
        ListActiveProjectsWithAgents = "list_active_projects_with_agents",
        HealthCheck = "health_check",
        GetOverview = "get_overview",
        ExplainTask = "explain_task",
        CreateTasks = "create_tasks",
        StartTasks = "start_tasks",
        RetryTask = "retry_task",
        ReviewTask = "review_task",
        GetDiff = "get_diff",
        GetSessionLog = "get_session_log",
        WaitForChanges = "wait_for_changes",
    }
}

impl Tool {
    /// Only managers have it (M4).
    pub fn is_managers(self) -> bool {
        matches!(
            self,
            Self::SelectAction
                | Self::AssignTask
                | Self::UpdateTask
                | Self::CancelTask
                | Self::BlockTask
                | Self::CommentTask
                | Self::UpdateTaskDependencies
                | Self::GetRecentCompletions
                | Self::ListSubordinates
                | Self::GetSubordinateProfile
        )
    }
}
