//! Which next action does a refusal name (M4)?

use super::remedy::{Remedy, Said};
use super::{Audience, Phrase, phrase};
use crate::Language;
use crate::coordination::Reason;
use crate::lifecycle::Move;
use crate::refusal::{Refusal, RefusalReason};
use crate::task::Status;

impl Refusal {
    /// What to do next. Never a destructive command (F27).
    pub fn hint(&self, language: Language, audience: Audience) -> String {
        match audience {
            Audience::Agent => for_agents(&self.0).say(language, &[]),
            Audience::Orchestrator => for_orchestrators(&self.0).say(language, &[]),
            Audience::Person => self.tell_hint(language).to_string(),
        }
    }

    /// The same for a person, with what can be done about it.
    pub fn tell_hint(&self, language: Language) -> Said {
        for_people(&self.0, language)
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

/// What a person can do next: with commands in a terminal, with links and buttons on a page.
fn for_people(because: &RefusalReason, language: Language) -> Said {
    use RefusalReason as B;
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| Said::from(phrase.say(language, arguments));
    let see = |phrase: Phrase, remedy: Remedy| phrase.tell(language, &[], &[remedy]);
    match because {
        B::NoSuchTask(_) => see(phrase("See the tasks: {!0}.", "{!0} でタスクを確認してください。"), Remedy::Tasks),
        B::NoSuchAgent(_)
        | B::AgentInactive(_)
        | B::NotASubordinate { .. }
        | B::WrongRank { .. }
        | B::NotAssigned { .. } => see(
            phrase(
                "See the roster: {!0}. Agents are defined in .saihai/agents/, and applied from there.",
                "{!0} で名簿を確認してください。定義は .saihai/agents/ に書き、反映します。",
            ),
            Remedy::Roster,
        ),
        B::NoSuchSession(_) | B::StaleSession(_) => {
            see(phrase("See the sessions: {!0}.", "{!0} でセッションを確認してください。"), Remedy::Sessions)
        }
        B::NoSuchProject(_) => see(
            phrase(
                "See the projects: {!0}. A project is made in a git repository.",
                "{!0} で確認してください。プロジェクトは git リポジトリで作成します。",
            ),
            Remedy::Projects,
        ),
        B::TokenTaken(_) => say(phrase("Try again.", "もう一度実行してください。"), &[]),
        B::NoSuchToken(_) => see(phrase("See the tokens: {!0}.", "{!0} で確認してください。"), Remedy::Tokens),
        B::ProjectTaken(_) => say(phrase("Choose another name.", "別の名前を選んでください。"), &[]),
        B::PathTaken { by, .. } => say(
            phrase(
                "If it is to be another project, remove `{0}` first.",
                "別のプロジェクトにする場合は、先に `{0}` を削除してください。",
            ),
            &[by],
        ),
        B::TextEmpty { .. }
        | B::TextTooLong { .. }
        | B::TextControls { .. }
        | B::BatchSize { .. }
        | B::NotInBatch { .. }
        | B::NobodyThere => say(phrase("Correct the text and try again.", "文を直して、もう一度試してください。"), &[]),
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
        B::ReasonNeeded(_) => say(phrase("Say why, with a reason.", "理由を付けてください。"), &[]),
        B::NotTheMover { task, .. } => phrase(
            "Leave it to them, or insist with {!0} (it is recorded). More: {!1}.",
            "任せるか、{!0} で強制してください（記録されます）。詳しくは {!1}。",
        )
        .tell(language, &[], &[Remedy::Force, Remedy::Explain(*task)]),
        B::NotMerged { .. } => see(
            phrase(
                "Merge the branch first; or insist with {!0}.",
                "先にブランチをマージしてください。強制する場合は {!0}。",
            ),
            Remedy::Force,
        ),
        B::NothingToRevert { task } => see(
            phrase(
                "See {!0}; what was merged by hand is undone with git.",
                "{!0} を確認してください。手動でマージした変更は git で取り消します。",
            ),
            Remedy::Show(*task),
        ),
        B::NoOpenProposal { .. } => see(phrase("See them: {!0}.", "{!0} で確認できます。"), Remedy::Proposals),
        B::RevertedBy { by, .. } => {
            see(phrase("See how it stands: {!0}.", "状況は {!0} で確認してください。"), Remedy::Explain(*by))
        }
        B::WorkBeingMerged { task } => see(
            phrase(
                "Try again in a moment; what became of it: {!0}.",
                "少し待ってやり直してください。結果は {!0} で分かります。",
            ),
            Remedy::Explain(*task),
        ),
        B::WorkMerged { task } => see(
            phrase("Start it, and it is done: {!0}.", "開始すれば完了します: {!0}。"),
            Remedy::Move { name: Move::Start, task: *task },
        ),
        B::AssignedInProgress { task } | B::DependsInProgress { task } => see(
            phrase("Set it back first: {!0}.", "先に戻してください: {!0}。"),
            Remedy::Move { name: Move::Unstart, task: *task },
        ),
        B::NotReady { task, .. }
        | B::IllegalMove { task, .. }
        | B::AlreadyThere { task, .. }
        | B::NotThatMove { task, .. }
        | B::NotInProgress { task, .. }
        | B::OwnersBlock { task } => see(
            phrase("What must happen, and who must do it: {!0}.", "{!0} で、必要なことと担当者が分かります。"),
            Remedy::Explain(*task),
        ),
        B::Settled { task, status: Status::Done } => see(
            phrase("Reopen it ({!0}), or add a new task.", "再開する（{!0}）か、新しいタスクを追加してください。"),
            Remedy::Move { name: Move::Reopen, task: *task },
        ),
        B::Settled { .. } => say(phrase("Add a new task.", "新しいタスクを追加してください。"), &[]),
        B::ParentSettled { parent, .. } => see(phrase("See {!0}.", "{!0} を確認してください。"), Remedy::Show(*parent)),
        B::CannotHear(_) | B::AgentsDoNotChat(_) => see(
            phrase(
                "Write about its task: {!0}. That is in its next prompt.",
                "タスクについて書いてください: {!0}。次のプロンプトに入ります。",
            ),
            Remedy::Comment,
        ),
        B::NotFetched { task } | B::UnreadComments { task } => {
            see(phrase("See {!0}.", "{!0} を確認してください。"), Remedy::Show(*task))
        }
        B::ChildrenOpen { task, .. } | B::NothingDone { task } => {
            see(phrase("See them: {!0}.", "{!0} で確認してください。"), Remedy::ShowParts(*task))
        }
        B::KeyReused { .. } => {
            say(phrase("Use another key for other tasks.", "別のタスクには別のキーを使ってください。"), &[])
        }
        B::Twin { sibling, .. } => {
            see(phrase("Use that one: {!0}.", "そちらを使ってください: {!0}。"), Remedy::Show(*sibling))
        }
        B::Cycle { .. } | B::DependencyCancelled { .. } | B::NotADependency { .. } => {
            see(phrase("See what waits for what: {!0}.", "{!0} で依存関係を確認してください。"), Remedy::Tasks)
        }
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
            see(phrase("See {!0}.", "{!0} を確認してください。"), Remedy::ShowSession(*session))
        }
        B::VerdictDecides { task } => phrase(
            "Give it back ({!0}) or cancel it; insist with {!1} if you know better.",
            "戻す（{!0}）か、取り消してください。確かな場合は {!1} を使ってください。",
        )
        .tell(language, &[], &[Remedy::Move { name: Move::Unstart, task: *task }, Remedy::Force]),
        B::DrivenByHand { session } => see(
            phrase("Whoever drives it ends it: {!0}.", "始めた人が終了させてください: {!0}。"),
            Remedy::EndByHand(*session),
        ),
        B::NotDrivenByHand { session } => {
            see(phrase("See {!0}.", "{!0} を確認してください。"), Remedy::ShowSession(*session))
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
        | B::UnderJudgement { .. } => see(phrase("See the tree: {!0}.", "{!0} で確認してください。"), Remedy::Tree),
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
        | B::Interrupted(_) => {
            see(phrase("See what can be done here: {!0}.", "できることは {!0} を確認してください。"), Remedy::Help)
        }
    }
}
