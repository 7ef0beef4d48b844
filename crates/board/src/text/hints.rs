//! Which next action does a refusal name (M4)?

use super::{Audience, Phrase, phrase};
use crate::Language;
use crate::coordination::Reason;
use crate::refusal::{Refusal, RefusalReason};

impl Refusal {
    /// What to do next. Never a destructive command (F27).
    pub fn hint(&self, language: Language, audience: Audience) -> String {
        match audience {
            Audience::Agent => for_agents(&self.0).say(language, &[]),
            Audience::Orchestrator => for_orchestrators(&self.0).say(language, &[]),
            Audience::Person => for_people(&self.0, language),
        }
    }
}

/// An orchestrator looks first; what its tools do not do is the owner's.
fn for_orchestrators(because: &RefusalReason) -> Phrase {
    use RefusalReason as B;
    match because {
        B::NotAuthenticated | B::StaleSession(_) => phrase(
            "Ask the owner for a new token of role orchestrator.",
            "オーナーに orchestrator ロールの新しいトークンを求めてください。",
        ),
        B::NoSuchTask(_) => {
            phrase("Call list_tasks to see the tasks there are.", "list_tasks でタスクを確認してください。")
        }
        B::NoSuchAgent(_) | B::AgentInactive(_) | B::WrongRank { .. } | B::NoSuchProject(_) => phrase(
            "Call get_overview to see the project and its agents.",
            "get_overview でプロジェクトとエージェントを確認してください。",
        ),
        B::NoSuchTool(_) | B::NotYourTool(_) => phrase(
            "Call one of `tools`; what they do not do, ask the owner for.",
            "`tools` のいずれかを呼んでください。できないことはオーナーに頼んでください。",
        ),
        B::BadArguments(_)
        | B::TextEmpty { .. }
        | B::TextTooLong { .. }
        | B::TextControls { .. }
        | B::ReasonNeeded(_)
        | B::KeyReused { .. }
        | B::BatchSize { .. }
        | B::NotInBatch { .. }
        | B::Cycle { .. } => phrase("Correct the arguments and call again.", "引数を直して、もう一度呼んでください。"),
        _ => phrase(
            "Call explain_task to see what has to happen first; what your tools do not do, ask the owner for.",
            "先に必要なことは explain_task で確認してください。ツールでできないことはオーナーに頼んでください。",
        ),
    }
}

/// An agent's next action is nearly always to ask; here are the exceptions.
fn for_agents(because: &RefusalReason) -> Phrase {
    use RefusalReason as B;
    match because {
        B::NoSuchTask(_) => {
            phrase("Call list_tasks to see the tasks there are.", "list_tasks でタスクを確認してください。")
        }
        B::NoSuchAgent(_) | B::NotASubordinate { .. } | B::AgentInactive(_) | B::WrongRank { .. } => phrase(
            "Call list_subordinates and choose one of them.",
            "list_subordinates を呼び、その中から選んでください。",
        ),
        B::TextEmpty { .. } | B::TextTooLong { .. } | B::TextControls { .. } | B::ReasonNeeded(_) => {
            phrase("Correct the argument and call again.", "引数を直して、もう一度呼んでください。")
        }
        B::KeyReused { .. } => phrase(
            "Use another key for other tasks, or go on with those: call get_next_action.",
            "別のタスクには別のキーを使うか、既にあるものを進めてください: get_next_action を呼んでください。",
        ),
        B::BatchSize { .. } | B::NotInBatch { .. } | B::Cycle { .. } | B::DependencyCancelled { .. } => {
            phrase("Correct the list and call again.", "一覧を直して、もう一度呼んでください。")
        }
        B::AgentsDoNotChat(_) | B::CannotHear(_) => phrase(
            "Write about a subtask with comment_task. If you cannot go on, call report_completed with blocked.",
            "サブタスクについては comment_task で書いてください。進められない場合は report_completed を blocked で呼んでください。",
        ),
        B::TooManyProposals { .. } | B::ProposedBefore { .. } => {
            phrase("Note it under findings, and go on with your task.", "findings に記録し、タスクを続けてください。")
        }
        B::TooManyOfMessage { .. } => phrase(
            "Tell the owner with send_message which tasks there are, and what is left to ask for.",
            "作成済みのタスクと残りの要望を send_message でオーナーに伝えてください。",
        ),
        B::NotFetched { .. } => {
            phrase("Call get_my_task, and do what it says.", "get_my_task を呼び、その内容に従ってください。")
        }
        B::UnreadComments { .. } => phrase(
            "Call get_next_action: it has the comments. Do what they ask, then report.",
            "get_next_action を呼ぶとコメントが読めます。対応してから報告してください。",
        ),
        B::VerdictDecides { .. } => phrase(
            "Call report_completed when the work is finished.",
            "作業が終わったら report_completed を呼んでください。",
        ),
        B::TooManyChildren { limit, unsettled, .. } if unsettled < limit => phrase(
            "Send a shorter list: as many as are allowed now, the most important first.",
            "一覧を短くしてください。今許される件数まで、重要なものから送ってください。",
        ),
        B::ChildrenOpen { .. } | B::Twin { .. } | B::NothingDone { .. } | B::TooManyChildren { .. } => phrase(
            "Go on with the subtasks that exist: call get_next_action.",
            "既にあるサブタスクを進めてください: get_next_action を呼んでください。",
        ),
        B::WaitCannotHelp => {
            phrase("Call select_action with start or adjust.", "select_action で start か adjust を選んでください。")
        }
        B::StartCannotHelp => {
            phrase("Call select_action with wait or adjust.", "select_action で wait か adjust を選んでください。")
        }
        B::WorkBeingMerged { .. } => phrase(
            "Call get_task in a moment: it is done then, or can be assigned.",
            "少し待って get_task を呼んでください。完了しているか、割り当て可能になっています。",
        ),
        B::WorkMerged { .. } => {
            phrase("Start it with update_task_status, and it is done.", "update_task_status で開始すれば完了します。")
        }
        B::AssignedInProgress { .. } => phrase(
            "Set it back with update_task_status to todo first, then assign it.",
            "先に update_task_status で todo に戻してから割り当ててください。",
        ),
        B::NotAuthenticated => phrase(
            "Call authenticate first, and pass its session_token to every call.",
            "先に authenticate を呼び、以後の呼び出しに session_token を付けてください。",
        ),
        B::NotStaffed { reason: Reason::NoInProgressTask, .. } => phrase(
            "End now, and tell the person who attached you: a task that is assigned to this agent must be started first.",
            "終了し、あなたを接続した人に伝えてください。先に、このエージェントが担当するタスクを開始する必要があります。",
        ),
        B::NotStaffed { reason: Reason::AlreadyRunning | Reason::StoppedByOwner, .. } => phrase(
            "End now, and tell the person who attached you: a session of this agent is open. When it has been silent for a minute, a new one takes its place.",
            "終了し、あなたを接続した人に伝えてください。このエージェントのセッションが既に開いています。1 分間呼び出しがなければ、新しいセッションが引き継ぎます。",
        ),
        B::WrongPasskey | B::TooManyTries { .. } | B::NotStaffed { .. } => {
            phrase("End now, and tell the person who attached you.", "終了し、あなたを接続した人に伝えてください。")
        }
        B::NeedsWorkspace { .. } => phrase(
            "End now, and tell the person who attached you: whoever connects over HTTP to the server of a runner gets one; a task with completion `reported` needs none.",
            "終了し、あなたを接続した人に伝えてください。ランナーのサーバーに HTTP で接続すれば作業場所が用意されます。completion が `reported` のタスクなら不要です。",
        ),
        B::NoSuchTool(_) | B::NotYourTool(_) => phrase(
            "Call help to see what you may call, or get_next_action.",
            "help で呼べるものを確認するか、get_next_action を呼んでください。",
        ),
        B::BadArguments(_) => phrase(
            "Correct the arguments and call again; help with tool_name shows them.",
            "引数を直して、もう一度呼んでください。help に tool_name を渡すと引数が分かります。",
        ),
        B::StaleSession(_) => phrase("End now; nothing more can be called.", "終了してください。もう何も呼べません。"),
        B::AlreadyReported => phrase("Call logout and end.", "logout を呼んで終了してください。"),
        _ => phrase("Call get_next_action.", "get_next_action を呼んでください。"),
    }
}

fn for_people(because: &RefusalReason, language: Language) -> String {
    use RefusalReason as B;
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| phrase.say(language, arguments);
    match because {
        B::NoSuchTask(_) => say(
            phrase(
                "See the tasks with `saihai task list --all`.",
                "`saihai task list --all` でタスクを確認してください。",
            ),
            &[],
        ),
        B::NoSuchAgent(_)
        | B::AgentInactive(_)
        | B::NotASubordinate { .. }
        | B::WrongRank { .. }
        | B::NotAssigned { .. } => say(
            phrase(
                "See the roster with `saihai agent list`; define agents in .saihai/agents/ and run `saihai agent apply`.",
                "`saihai agent list` で名簿を確認してください。定義は .saihai/agents/ に書き、`saihai agent apply` で反映します。",
            ),
            &[],
        ),
        B::NoSuchSession(_) | B::StaleSession(_) => say(
            phrase(
                "See the sessions with `saihai session list`.",
                "`saihai session list` でセッションを確認してください。",
            ),
            &[],
        ),
        B::NoSuchProject(_) => say(
            phrase(
                "See the projects with `saihai project list`, or run `saihai init` in a repository.",
                "`saihai project list` で確認するか、リポジトリで `saihai init` を実行してください。",
            ),
            &[],
        ),
        B::TokenTaken(_) => say(phrase("Run the command again.", "もう一度実行してください。"), &[]),
        B::NoSuchToken(_) => {
            say(phrase("See the tokens with `saihai token list`.", "`saihai token list` で確認してください。"), &[])
        }
        B::ProjectTaken(_) => {
            say(phrase("Choose another name with `--name`.", "`--name` で別の名前を選んでください。"), &[])
        }
        B::PathTaken { by, .. } => say(
            phrase(
                "If it is to be another project, run `saihai project remove {0}` first.",
                "別のプロジェクトにする場合は、先に `saihai project remove {0}` を実行してください。",
            ),
            &[by],
        ),
        B::TextEmpty { .. }
        | B::TextTooLong { .. }
        | B::TextControls { .. }
        | B::BatchSize { .. }
        | B::NotInBatch { .. }
        | B::NobodyThere => {
            say(phrase("Correct the text and run the command again.", "文を直して、もう一度実行してください。"), &[])
        }
        B::ManagerNotGuided(_) | B::ManagerMustSplit(_) => say(
            phrase(
                "Correct the agent in .saihai/agents/ and apply again.",
                ".saihai/agents/ のエージェントを直して、もう一度反映してください。",
            ),
            &[],
        ),
        B::LimitOutOfRange { .. } => say(
            phrase(
                "Correct `limits` in .saihai/config.yaml and apply again.",
                ".saihai/config.yaml の `limits` を直して、もう一度反映してください。",
            ),
            &[],
        ),
        B::BadRoster { .. } => say(
            phrase(
                "Correct `parent` in .saihai/agents/ and apply again.",
                ".saihai/agents/ の `parent` を直して、もう一度反映してください。",
            ),
            &[],
        ),
        B::AgentTwice(_) => say(phrase("Give one of them another id.", "どちらかの id を変えてください。"), &[]),
        B::ReasonNeeded(_) => say(phrase("Add `--reason TEXT`.", "`--reason 理由` を付けてください。"), &[]),
        B::NotTheMover { task, .. } => say(
            phrase(
                "Leave it to them, or insist with `--force` (it is recorded). `saihai task why {0}` tells more.",
                "任せるか、`--force` で強制してください（記録されます）。詳しくは `saihai task why {0}`。",
            ),
            &[task],
        ),
        B::NotMerged { task, .. } => say(
            phrase(
                "Merge the branch first; or insist with `saihai task update {0} --status done --force`.",
                "先にブランチをマージしてください。強制する場合は `saihai task update {0} --status done --force`。",
            ),
            &[task],
        ),
        B::NothingToRevert { task } => say(
            phrase(
                "See `saihai task show {0}`; what was merged by hand is undone with `git revert`.",
                "`saihai task show {0}` を確認してください。手動でマージした変更は `git revert` で取り消します。",
            ),
            &[task],
        ),
        B::NoOpenProposal { .. } => {
            say(phrase("See them with `saihai memory proposals`.", "`saihai memory proposals` で確認できます。"), &[])
        }
        B::RevertedBy { by, .. } => say(
            phrase("See how it stands: `saihai task why {0}`.", "状況は `saihai task why {0}` で確認してください。"),
            &[by],
        ),
        B::WorkBeingMerged { task } => say(
            phrase(
                "Try again in a moment; `saihai task why {0}` tells what became of it.",
                "少し待ってやり直してください。結果は `saihai task why {0}` で分かります。",
            ),
            &[task],
        ),
        B::WorkMerged { task } => say(
            phrase(
                "Start it, and it is done: `saihai task start {0}`.",
                "開始すれば完了します: `saihai task start {0}`。",
            ),
            &[task],
        ),
        B::AssignedInProgress { task } | B::DependsInProgress { task } => say(
            phrase(
                "Set it back first: `saihai task update {0} --status todo`.",
                "先に戻してください: `saihai task update {0} --status todo`。",
            ),
            &[task],
        ),
        B::NotReady { task, .. }
        | B::IllegalMove { task, .. }
        | B::AlreadyThere { task, .. }
        | B::NotThatMove { task, .. }
        | B::NotInProgress { task, .. }
        | B::OwnersBlock { task } => say(
            phrase(
                "`saihai task why {0}` tells what must happen and who must do it.",
                "`saihai task why {0}` で、必要なことと担当者が分かります。",
            ),
            &[task],
        ),
        B::Settled { task, .. } => say(
            phrase(
                "Reopen it with `saihai task update {0} --status todo` if it is done, or add a new task.",
                "done なら `saihai task update {0} --status todo` で再開するか、新しいタスクを追加してください。",
            ),
            &[task],
        ),
        B::ParentSettled { parent, .. } => {
            say(phrase("See `saihai task show {0}`.", "`saihai task show {0}` を確認してください。"), &[parent])
        }
        B::CannotHear(_) | B::AgentsDoNotChat(_) => say(
            phrase(
                "Write about its task, `saihai task comment TASK \u{2026}`: that is in its next prompt.",
                "タスクについて書いてください: `saihai task comment TASK \u{2026}`。次のプロンプトに入ります。",
            ),
            &[],
        ),
        B::NotFetched { task } | B::UnreadComments { task } => {
            say(phrase("See `saihai task show {0}`.", "`saihai task show {0}` を確認してください。"), &[task])
        }
        B::ChildrenOpen { task, .. } | B::NothingDone { task } => {
            say(phrase("See them with `saihai task tree {0}`.", "`saihai task tree {0}` で確認してください。"), &[task])
        }
        B::KeyReused { .. } => {
            say(phrase("Use another key for other tasks.", "別のタスクには別のキーを使ってください。"), &[])
        }
        B::Twin { sibling, .. } => say(
            phrase("Use that one: `saihai task show {0}`.", "そちらを使ってください: `saihai task show {0}`。"),
            &[sibling],
        ),
        B::Cycle { .. } | B::DependencyCancelled { .. } | B::NotADependency { .. } => say(
            phrase(
                "See the dependencies with `saihai task show ID`.",
                "`saihai task show ID` で依存関係を確認してください。",
            ),
            &[],
        ),
        B::TooManyChildren { limit, unsettled, .. } if unsettled < limit => say(
            phrase(
                "Add {0} at most, or raise `limits.max_children` in .saihai/config.yaml.",
                "{0} 件までにするか、.saihai/config.yaml の `limits.max_children` を上げてください。",
            ),
            &[&(limit - unsettled)],
        ),
        B::TooManyChildren { .. } => say(
            phrase(
                "Settle one of them first, or raise `limits.max_children` in .saihai/config.yaml.",
                "先にどれかを完了させるか、.saihai/config.yaml の `limits.max_children` を上げてください。",
            ),
            &[],
        ),
        B::TooManyChildrenEver { .. }
        | B::TooManyProposals { .. }
        | B::ProposedBefore { .. }
        | B::TooManyOfMessage { .. }
        | B::TooManyOwnTasks { .. }
        | B::TooManyDependencies { .. }
        | B::TooDeep { .. }
        | B::TooDeepForManager { .. }
        | B::RetriesSpent { .. }
        | B::FuelSpent(_) => say(
            phrase(
                "The limits are in .saihai/config.yaml, under `limits`.",
                "上限は .saihai/config.yaml の `limits` にあります。",
            ),
            &[],
        ),
        B::AlreadyClaimed { session, .. } => {
            say(phrase("See `saihai session show {0}`.", "`saihai session show {0}` を確認してください。"), &[session])
        }
        B::VerdictDecides { task } => say(
            phrase(
                "Give it back with `saihai task update {0} --status todo`, or cancel it; insist with `--force` if you know better.",
                "`saihai task update {0} --status todo` で戻すか、取り消してください。確かな場合は `--force` を使ってください。",
            ),
            &[task],
        ),
        B::DrivenByHand { session } => say(
            phrase(
                "End it with `saihai session end {0} --exit-code N`.",
                "`saihai session end {0} --exit-code N` で終了させてください。",
            ),
            &[session],
        ),
        B::NotDrivenByHand { session } => {
            say(phrase("See `saihai session show {0}`.", "`saihai session show {0}` を確認してください。"), &[session])
        }
        B::AgentInUse { .. } => say(
            phrase(
                "Set its tasks back or give them to somebody else first; nothing was changed.",
                "先にそのタスクを戻すか、他の担当に割り当ててください。何も変更していません。",
            ),
            &[],
        ),
        B::StepsCannotSplit { .. }
        | B::StepsDependOnSiblings { .. }
        | B::StepsFollowTheirTask { .. }
        | B::UnderJudgement { .. } => {
            say(phrase("See the tree with `saihai task tree`.", "`saihai task tree` で確認してください。"), &[])
        }
        B::NoSuchTool(_)
        | B::NotYourTool(_)
        | B::BadArguments(_)
        | B::NotAuthenticated
        | B::WrongPasskey
        | B::TooManyTries { .. }
        | B::NeedsWorkspace { .. }
        | B::AgentsOnly
        | B::OwnersOnly
        | B::RunnersOnly
        | B::ManagersOnly
        | B::TaskSessionOnly
        | B::ChatOnly
        | B::ForceIsTheOwners
        | B::ForeignParent { .. }
        | B::AlreadyReported
        | B::NotStaffed { .. }
        | B::WaitCannotHelp
        | B::StartCannotHelp
        | B::Interrupted(_) => say(
            phrase(
                "See `saihai --help` for what you can do here.",
                "できることは `saihai --help` を確認してください。",
            ),
            &[],
        ),
    }
}
