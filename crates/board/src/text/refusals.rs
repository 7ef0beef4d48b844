//! How is a refusal explained?

use super::{Phrase, list, phrase};
use crate::Language;
use crate::obstacle::Obstacle;
use crate::refusal::{Refusal, RefusalReason};

impl Refusal {
    pub fn message(&self, language: Language) -> String {
        message(&self.0, language)
    }
}

fn message(because: &RefusalReason, language: Language) -> String {
    use RefusalReason as B;
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| phrase.say(language, arguments);
    match because {
        B::NoSuchTask(id) => say(phrase("There is no task {0}.", "タスク {0} はありません。"), &[id]),
        B::NoSuchAgent(id) => {
            say(phrase("There is no agent `{0}` on the roster.", "エージェント `{0}` は名簿にありません。"), &[id])
        }
        B::NoSuchSession(id) => say(phrase("There is no session {0}.", "セッション {0} はありません。"), &[id]),
        B::NoSuchProject(name) => {
            say(phrase("There is no project `{0}`.", "プロジェクト `{0}` はありません。"), &[name])
        }
        B::NoSuchToken(name) => say(phrase("There is no token `{0}`.", "トークン `{0}` はありません。"), &[name]),
        B::TokenTaken(id) => say(phrase("There is a token `{0}` already.", "トークン `{0}` は既にあります。"), &[id]),
        B::ProjectTaken(id) => {
            say(phrase("There is a project `{0}` already.", "プロジェクト `{0}` は既にあります。"), &[id])
        }
        B::PathTaken { path, by } => {
            say(phrase("{0} is the project `{1}`.", "{0} はプロジェクト `{1}` です。"), &[path, by])
        }

        B::TextEmpty { field } => say(phrase("`{0}` must not be empty.", "`{0}` は空にできません。"), &[field]),
        B::TextTooLong { field, length, limit } => say(
            phrase("`{0}` has {1} characters; {2} are allowed.", "`{0}` は {1} 文字です。上限は {2} 文字です。"),
            &[field, length, limit],
        ),
        B::TextControls { field } => {
            say(phrase("`{0}` contains control characters.", "`{0}` に制御文字が含まれています。"), &[field])
        }
        B::BatchSize { most } => {
            say(phrase("A batch has 1 to {0} tasks.", "一度に作れるタスクは 1〜{0} 件です。"), &[most])
        }
        B::NotInBatch { index } => say(
            phrase(
                "A dependency names number {0} of the batch, which is not there.",
                "依存先 {0} 番はこの一括作成に含まれていません。",
            ),
            &[index],
        ),
        B::AgentTwice(id) => {
            say(phrase("The agent `{0}` is defined twice.", "エージェント `{0}` が二重に定義されています。"), &[id])
        }
        B::ManagerNotGuided(id) => say(
            phrase(
                "`{0}` is a manager and must be guided: it works through the server.",
                "`{0}` はマネージャーなので、mode は guided でなければなりません。",
            ),
            &[id],
        ),
        B::ManagerMustSplit(id) => say(
            phrase(
                "`{0}` is a manager and cannot have `decompose: never`: to split work is what it does.",
                "`{0}` はマネージャーなので、`decompose: never` にはできません。作業の分割がその役割です。",
            ),
            &[id],
        ),
        B::LimitOutOfRange { name, least, most } => say(
            phrase("The limit `{0}` must be from {1} to {2}.", "上限 `{0}` は {1} から {2} の範囲で指定してください。"),
            &[name, least, most],
        ),
        B::NobodyThere => say(phrase("That message has no recipient.", "そのメッセージには宛先がありません。"), &[]),
        B::CannotHear(agent) => say(
            phrase(
                "`{0}` is one-shot: it reads its prompt and hears nothing after that.",
                "`{0}` は one-shot です。プロンプトだけを読み、その後のメッセージは届きません。",
            ),
            &[agent],
        ),
        B::AgentsDoNotChat(agent) => say(
            phrase(
                "Agents do not send each other messages, and `{0}` would not read it.",
                "エージェント同士はメッセージを送れません。`{0}` には届きません。",
            ),
            &[agent],
        ),
        B::ReasonNeeded(name) => say(phrase("To {0} a task, a reason is needed.", "{0} には理由が必要です。"), &[name]),

        B::NoSuchTool(name) => say(phrase("There is no tool `{0}`.", "ツール `{0}` はありません。"), &[name]),
        B::NotYourTool(tool) => say(phrase("`{0}` is not yours to call.", "`{0}` を呼ぶ権限がありません。"), &[tool]),
        B::BadArguments(detail) => say(phrase("Wrong arguments: {0}.", "引数に誤りがあります: {0}。"), &[detail]),
        B::NotAuthenticated => say(
            phrase(
                "No session was named, or its credential is not known.",
                "セッションが示されていないか、認証情報が不明です。",
            ),
            &[],
        ),
        B::WrongPasskey => say(
            phrase(
                "The project, the agent or the passkey is wrong.",
                "プロジェクト、エージェント、パスキーのいずれかに誤りがあります。",
            ),
            &[],
        ),
        B::TooManyTries { seconds } => say(
            phrase(
                "Too many wrong passkeys. The next try counts in {0} seconds.",
                "パスキーの誤りが続いています。{0} 秒後にもう一度試せます。",
            ),
            &[seconds],
        ),
        B::NeedsWorkspace { task } => say(
            phrase(
                "{0} is done when it is merged, and only a runner can give it a workspace; none serves here.",
                "{0} はマージで完了するタスクで、作業場所を用意するランナーがここでは動いていません。",
            ),
            &[task],
        ),
        B::AgentsOnly => {
            say(phrase("Only an agent's session can do this.", "エージェントのセッションだけが実行できます。"), &[])
        }
        B::OwnersOnly => say(phrase("Only the owner can do this.", "オーナーだけが実行できます。"), &[]),
        B::RunnersOnly => say(
            phrase("Only the session's runner can report this.", "このセッションのランナーだけが報告できます。"),
            &[],
        ),
        B::ManagersOnly => say(phrase("Only a manager can do this.", "マネージャーだけが実行できます。"), &[]),
        B::TaskSessionOnly => say(
            phrase("Only a session that works on a task can do this.", "タスクのセッションだけが実行できます。"),
            &[],
        ),
        B::ChatOnly => say(phrase("Only a chat session can do this.", "チャットのセッションだけが実行できます。"), &[]),
        B::ForceIsTheOwners => {
            say(phrase("Only the owner can force a change.", "強制できるのはオーナーだけです。"), &[])
        }
        B::NotTheMover { task, mover } => say(
            phrase("{0} is moved by {1}, who split the work.", "{0} を動かせるのは、作業を分けた {1} です。"),
            &[task, mover],
        ),
        B::VerdictDecides { task } => say(
            phrase(
                "Whether {0} is done or has failed is decided from facts when its session ends.",
                "{0} の完了・失敗は、セッション終了時に事実から判定されます。",
            ),
            &[task],
        ),
        B::OwnersBlock { task } => say(
            phrase(
                "{0} was blocked by the owner, who alone lifts that.",
                "{0} はオーナーがブロックしました。解除できるのはオーナーだけです。",
            ),
            &[task],
        ),
        B::NotASubordinate { agent, manager } => say(
            phrase("`{0}` does not report to `{1}`.", "`{0}` は `{1}` の直属の部下ではありません。"),
            &[agent, manager],
        ),
        B::NotAssigned { task, agent } => {
            say(phrase("{0} is not assigned to `{1}`.", "{0} は `{1}` に割り当てられていません。"), &[task, agent])
        }
        B::ForeignParent { parent, own } => say(
            phrase(
                "Subtasks belong below this session's own task {1}, not below {0}.",
                "サブタスクはこのセッションのタスク {1} の下に作ります。{0} の下には作れません。",
            ),
            &[parent, own],
        ),
        B::WrongRank { task, agent, rank } => say(
            phrase(
                "{0} cannot be given to `{1}`, a {2}: its depth or its subtasks do not allow it.",
                "{0} は {2} の `{1}` には割り当てられません（深さまたはサブタスクの種類による）。",
            ),
            &[task, agent, rank],
        ),

        B::IllegalMove { task, from, legal, .. } if legal.is_empty() => {
            say(phrase("{0} is {1}, and stays so.", "{0} は {1} で、もう変わりません。"), &[task, from])
        }
        B::IllegalMove { task, from, to, legal } => say(
            phrase(
                "{0} is {1}; it cannot become {2}. It can become: {3}.",
                "{0} は {1} です。{2} にはできません。可能な遷移: {3}。",
            ),
            &[task, from, to, &list(legal)],
        ),
        B::AlreadyThere { task, status } => {
            say(phrase("{0} is {1} already.", "{0} は既に {1} です。"), &[task, status])
        }
        B::NotThatMove { task, name, status } => say(
            phrase("{0} is {2} now: `{1}` does not begin there.", "{0} は現在 {2} です。`{1}` はできません。"),
            &[task, name, status],
        ),
        B::NotReady { task, obstacles } => {
            let reasons: Vec<_> = obstacles.iter().map(|obstacle| say_obstacle(obstacle, language)).collect();
            let joined = reasons.join(match language {
                Language::En => "; ",
                Language::Ja => "、",
            });
            say(phrase("{0} cannot start: {1}.", "{0} は開始できません: {1}。"), &[task, &joined])
        }
        B::NotInProgress { task, status } => {
            say(phrase("{0} is not in progress but {1}.", "{0} は進行中ではなく {1} です。"), &[task, status])
        }
        B::Settled { task, status } => {
            say(phrase("{0} is {1} and no longer changes.", "{0} は {1} のため変更できません。"), &[task, status])
        }
        B::ParentSettled { parent, status } => {
            say(phrase("Its parent {0} is {1}.", "親タスク {0} は {1} です。"), &[parent, status])
        }
        B::UnderJudgement { task } => say(
            phrase(
                "{0} has been reported and is being judged; its subtasks stay as they are.",
                "{0} は報告済みで判定中です。サブタスクは変更できません。",
            ),
            &[task],
        ),
        B::WorkBeingMerged { task } => say(
            phrase("The work of {0} is being merged at this moment.", "{0} の作業は今まさにマージ中です。"),
            &[task],
        ),
        B::WorkMerged { task } => say(
            phrase(
                "The work of {0} is merged already; nobody else has to do it.",
                "{0} の作業は既にマージ済みです。他の担当者が行う必要はありません。",
            ),
            &[task],
        ),
        B::AssignedInProgress { task } => say(
            phrase(
                "{0} is in progress; its assignee does not change meanwhile.",
                "{0} は進行中のため、担当者を変更できません。",
            ),
            &[task],
        ),
        B::DependsInProgress { task } => say(
            phrase(
                "{0} is in progress; it gets no new dependencies meanwhile.",
                "{0} は進行中のため、依存を追加できません。",
            ),
            &[task],
        ),
        B::DependencyCancelled { task, dependency } => say(
            phrase(
                "{1} is cancelled; {0} would wait for ever.",
                "{1} はキャンセル済みのため、{0} は永久に待つことになります。",
            ),
            &[task, dependency],
        ),
        B::NotADependency { task, dependency } => {
            say(phrase("{0} does not depend on {1}.", "{0} は {1} に依存していません。"), &[task, dependency])
        }
        B::StepsCannotSplit { task } => say(
            phrase("{0} is a step; a step is not split further.", "{0} はステップです。これ以上分割できません。"),
            &[task],
        ),
        B::StepsDependOnSiblings { task, dependency } => say(
            phrase(
                "{0} cannot depend on {1}: steps depend only on steps of the same task, and tasks on no step.",
                "{0} は {1} に依存できません。ステップは同じタスクのステップにだけ依存できます。",
            ),
            &[task, dependency],
        ),
        B::StepsFollowTheirTask { task } => say(
            phrase(
                "{0} is a step; it belongs to whoever has its task.",
                "{0} はステップです。担当はそのタスクの担当者です。",
            ),
            &[task],
        ),
        B::AgentInactive(id) => {
            say(phrase("`{0}` is not on the roster any more.", "`{0}` は現在の名簿にありません。"), &[id])
        }
        B::AgentInUse { agent, tasks } => {
            say(phrase("`{0}` still has work: {1}.", "`{0}` にはまだ作業があります: {1}。"), &[agent, &list(tasks)])
        }
        B::AlreadyReported => say(
            phrase(
                "This session has reported; what follows is the verdict.",
                "このセッションは報告済みです。次は判定です。",
            ),
            &[],
        ),
        B::DrivenByHand { session } => say(
            phrase(
                "{0} is driven by hand; whoever drives it ends it.",
                "{0} は手動のセッションです。始めた人が終了させます。",
            ),
            &[session],
        ),
        B::NotDrivenByHand { session } => say(
            phrase(
                "{0} is not driven by hand; its runner reports its end.",
                "{0} は手動のセッションではありません。終了はランナーが報告します。",
            ),
            &[session],
        ),
        B::AlreadyClaimed { task, session } => {
            say(phrase("{0} is held by {1}.", "{0} は {1} が使用中です。"), &[task, session])
        }
        B::NotStaffed { agent, reason } => say(
            phrase("There is no work to start for `{0}` now: {1}.", "`{0}` が今始める作業はありません: {1}。"),
            &[agent, reason],
        ),

        B::ChildrenOpen { task, open } => say(
            phrase("{0} has subtasks that are not settled: {1}.", "{0} には未完了のサブタスクがあります: {1}。"),
            &[task, &list(open)],
        ),
        B::NotFetched { task } => {
            say(phrase("{0} was not read in this session.", "{0} はこのセッションで読まれていません。"), &[task])
        }
        B::UnreadComments { task } => say(
            phrase("There are comments on {0} that you have not read.", "{0} に、まだ読んでいないコメントがあります。"),
            &[task],
        ),
        B::NothingDone { task } => {
            say(phrase("No subtask of {0} is done.", "{0} の完了したサブタスクがありません。"), &[task])
        }
        B::NotMerged { task, branch: None } => say(
            phrase("No work of {0} is in the target branch.", "{0} の作業は対象ブランチに入っていません。"),
            &[task],
        ),
        B::NotMerged { task, branch: Some(branch) } => say(
            phrase(
                "The work of {0} (branch {1}) is not in the target branch.",
                "{0} の作業（ブランチ {1}）は対象ブランチに入っていません。",
            ),
            &[task, branch],
        ),

        B::TooManyChildren { parent, limit, unsettled, more } => say(
            phrase(
                "You asked for {3} more subtasks of {0}, which has {2} unsettled ones; {1} are allowed at once.",
                "{0} のサブタスクをあと {3} 件求めましたが、未完了が {2} 件あり、同時に {1} 件までです。",
            ),
            &[parent, limit, unsettled, more],
        ),
        B::TooManyDependencies { task, limit } => {
            say(phrase("{0} may wait for {1} tasks at most.", "{0} が待てるタスクは {1} 件までです。"), &[task, limit])
        }
        B::BadRoster { agent, parent } => say(
            phrase(
                "`{0}` cannot report to `{1}`: that is no manager on the roster, or they would report to each other.",
                "`{0}` は `{1}` の部下になれません。名簿のマネージャーではないか、循環しています。",
            ),
            &[agent, parent],
        ),
        B::NothingToRevert { task } => say(
            phrase(
                "None of the work of {0} was merged by Saihai.",
                "{0} の作業は Saihai によってマージされていません。",
            ),
            &[task],
        ),
        B::RevertedBy { task, by } => {
            say(phrase("{1} undoes {0} already.", "{0} は既に {1} で取り消されます。"), &[task, by])
        }
        B::TooManyProposals { task, most } => say(
            phrase(
                "{1} proposals of {0} wait for the owner; no more are taken.",
                "{0} からの提案 {1} 件がオーナーの回答を待っています。これ以上は受け付けません。",
            ),
            &[task, most],
        ),
        B::ProposedBefore { proposal } => {
            say(phrase("That was proposed before, as {0}.", "同じ内容が {0} として提案済みです。"), &[proposal])
        }
        B::NoOpenProposal { proposal } => {
            say(phrase("No proposal {0} waits for an answer.", "回答待ちの提案 {0} はありません。"), &[proposal])
        }
        B::TooManyOfMessage { message, most } => say(
            phrase("{1} tasks are made of {0} already.", "{0} からは既に {1} 件のタスクが作られています。"),
            &[message, most],
        ),
        B::TooManyOwnTasks { limit, unsettled } => say(
            phrase(
                "You have proposed {1} tasks that are not settled; {0} are allowed at once.",
                "提案した未完了タスクは {1} 件です。同時に {0} 件までです。",
            ),
            &[limit, unsettled],
        ),
        B::TooManyChildrenEver { parent, limit } => say(
            phrase("{0} has had its {1} subtasks.", "{0} のサブタスクは累計 {1} 件の上限に達しました。"),
            &[parent, limit],
        ),
        B::TooDeep { parent, limit } => say(
            phrase("Below {0} tasks would nest deeper than {1}.", "{0} の下は深さの上限 {1} を超えます。"),
            &[parent, limit],
        ),
        B::TooDeepForManager { task, limit } => say(
            phrase(
                "{0} is at the depth limit {1}, where nothing is given to a manager.",
                "{0} は深さの上限 {1} にあり、マネージャーには割り当てられません。",
            ),
            &[task, limit],
        ),
        B::RetriesSpent { task, limit } => say(
            phrase(
                "Agents have retried {0} {1} times; only the owner can retry it now.",
                "{0} はエージェントによる再試行 {1} 回を使い切りました。再試行できるのはオーナーだけです。",
            ),
            &[task, limit],
        ),
        B::KeyReused { created } => say(
            phrase(
                "This idempotency key has created other tasks: {0}.",
                "この idempotency_key は別のタスクの作成に使われています: {0}。",
            ),
            &[&list(created)],
        ),
        B::Twin { title, sibling } => say(
            phrase(
                "There is an open subtask with the title \"{0}\" already: {1}.",
                "同じ題名「{0}」の未完了サブタスクがあります: {1}。",
            ),
            &[title, sibling],
        ),
        B::Cycle { chain } => {
            let chain = chain.iter().map(ToString::to_string).collect::<Vec<_>>().join(" → ");
            say(phrase("It would wait for itself: {0}.", "自分自身を待つことになります: {0}。"), &[&chain])
        }

        B::WaitCannotHelp => say(
            phrase(
                "Nothing is in progress; waiting would change nothing.",
                "進行中の作業がないため、待っても何も変わりません。",
            ),
            &[],
        ),
        B::StartCannotHelp => say(
            phrase("No subtask can be assigned or started now.", "今、割り当てや開始ができるサブタスクはありません。"),
            &[],
        ),
        B::FuelSpent(fuel) => say(phrase("The allowance `{0}` is spent.", "上限 `{0}` を使い切りました。"), &[fuel]),
        B::Interrupted(interrupt) => say(
            phrase("This session is interrupted: {0}.", "このセッションは中断されました: {0}。"),
            &[&interrupt.as_str()],
        ),
        B::StaleSession(id) => say(phrase("{0} is over.", "{0} は終了しています。"), &[id]),
    }
}

/// What keeps a task from starting, as half a sentence.
pub(crate) fn say_obstacle(obstacle: &Obstacle, language: Language) -> String {
    let say = |phrase: Phrase, arguments: &[&dyn std::fmt::Display]| phrase.say(language, arguments);
    match obstacle {
        Obstacle::ProjectPaused => say(phrase("the project is paused", "プロジェクトが一時停止中"), &[]),
        Obstacle::Unassigned => say(phrase("nobody is assigned", "担当者がいない"), &[]),
        Obstacle::AssigneeInactive(agent) => say(phrase("`{0}` is not on the roster", "`{0}` が名簿にない"), &[agent]),
        Obstacle::Waiting { on, status } => {
            say(phrase("it waits for {0}, which is {1}", "{0}（{1}）を待っている"), &[on, status])
        }
        Obstacle::DependencyCancelled(on) => {
            say(phrase("it depends on {0}, which was cancelled", "依存先 {0} がキャンセルされた"), &[on])
        }
        Obstacle::Held { by } => say(phrase("{0} above it is not in progress", "上位の {0} が進行中でない"), &[by]),
        Obstacle::FuelSpent(fuel) => say(phrase("its allowance `{0}` is spent", "上限 `{0}` を使い切った"), &[fuel]),
    }
}
