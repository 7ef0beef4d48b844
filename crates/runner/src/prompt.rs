//! What is an agent told when it starts (R6)?

use board::{AgentSpec, Completion, JudgedBy, Language, Mode, Settings, say_rejection};
use definitions::memory::MemoryEntry;
use dispatch::TaskBrief;

/// What the prompt is made from.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PromptInput<'a> {
    pub(crate) spec: &'a AgentSpec,
    pub(crate) settings: &'a Settings,
    /// Its task; `None` for a chat.
    pub(crate) task: Option<&'a TaskBrief>,
    /// The entries of the memory bank that it can read.
    pub(crate) memory: &'a [MemoryEntry],
}

/// The whole prompt: for a guided agent the control part and its own; for a one-shot agent everything.
#[must_use]
pub(crate) fn prompt(input: &PromptInput<'_>) -> String {
    match (input.spec.mode, input.task) {
        (Mode::OneShot, Some(task)) => one_shot(input, task),
        (Mode::OneShot | Mode::Guided, _) => guided(input),
    }
}

fn guided(input: &PromptInput<'_>) -> String {
    let AgentSpec { id, name, role, .. } = input.spec;
    let (project, control) = (
        &input.settings.id,
        match input.settings.language {
            Language::En => {
                "You are led by the MCP server `saihai`. Do exactly this:\n\
             1. Call `authenticate`. It needs no arguments.\n\
             2. Call `get_next_action`, do what its instruction says, and call it again. Go on like this until it \
             tells you to log out or to stop; then call `logout` and end.\n\
             Decide nothing that the server decides: it says which task, which step, and when you are finished. \
             A call that does not fit is refused, and the refusal names the next one."
            }
            Language::Ja => {
                "あなたは MCP サーバー `saihai` に導かれます。次のとおりにしてください。\n\
             1. `authenticate` を呼びます。引数は要りません。\n\
             2. `get_next_action` を呼び、その指示に従い、また呼びます。ログアウトまたは停止を指示されるまで続け、\
             そのとき `logout` を呼んで終わります。\n\
             サーバーが決めることを自分で決めないでください。どのタスク、どのステップ、いつ終わりかはサーバーが示します。\
             合わない呼び出しは拒否され、次に呼ぶべきものが示されます。"
            }
        },
    );
    let who = match input.settings.language {
        Language::En => format!("You are {name} (`{id}`{}) in the project `{project}`.", role_of(role)),
        Language::Ja => format!("あなたはプロジェクト `{project}` の {name}（`{id}`{}）です。", role_of(role)),
    };
    let mut text = format!("{who}\n\n{control}\n");
    text.push_str(&memory(input));
    text.push_str("\n---\n\n");
    text.push_str(&input.spec.system_prompt);
    text
}

fn role_of(role: &str) -> String {
    if role.is_empty() { String::new() } else { format!(", {role}") }
}

fn one_shot(input: &PromptInput<'_>, task: &TaskBrief) -> String {
    let language = input.settings.language;
    let judged = JudgedBy::of(input.settings, input.spec, task.task_type, task.completion);
    let say = |en: &'static str, ja: &'static str| match language {
        Language::En => en,
        Language::Ja => ja,
    };
    let list = |patterns: &[String], none: &'static str| match patterns {
        [] => none.to_owned(),
        patterns => patterns.iter().map(|pattern| format!("`{pattern}`")).collect::<Vec<_>>().join(", "),
    };
    let mut text = format!(
        "# {} {}\n\n- {}: {}\n- {}: {}\n",
        task.id,
        one_line(&task.title),
        say("type", "種類"),
        task.task_type,
        say("priority", "優先度"),
        task.priority
    );
    text.push_str(&section(say("Task", "タスク"), &fenced(&task.description)));
    if !input.spec.system_prompt.trim().is_empty() {
        text.push_str(&section(say("Your instructions", "あなたへの指示"), &input.spec.system_prompt));
    }
    let everything = say("everything", "すべて");
    let nothing = say("nothing", "なし");
    let scope = format!(
        "- {}: {}\n- {}: {}\n- {}: {}",
        say("you may change", "変更してよい範囲"),
        list(&judged.may_change, nothing),
        say("you may read", "読んでよい範囲"),
        list(&input.spec.scope.read, everything),
        say("not for you", "対象外"),
        list(&judged.not_for_you, nothing),
    );
    text.push_str(&section(say("Scope", "範囲"), &scope));
    text.push_str(&memory(input));
    if let Some(why) = &task.feedback {
        let told = fenced(&say_rejection(why, language));
        text.push_str(&section(say("What was wrong with the last attempt", "前回の問題点"), &told));
    }
    if !task.comments.is_empty() {
        let told: Vec<_> = task.comments.iter().map(|(by, text)| format!("{by}:\n{}", fenced(text))).collect();
        text.push_str(&section(say("What was written about it since", "その後のコメント"), &told.join("\n\n")));
    }
    let rules = say(
        "1. Look at existing patterns first, and follow them.\n\
         2. No mock data: use the services that exist.\n\
         3. All tests pass.\n\
         4. Commit when you are finished.",
        "1. まず既存のパターンを確認し、それに従ってください。\n\
         2. モックデータは使わず、既存のサービスを使ってください。\n\
         3. すべてのテストを通してください。\n\
         4. 終わったらコミットしてください。",
    );
    text.push_str(&section(say("Rules", "決まり"), rules));
    text.push_str(&section(say("What your work is judged by", "判定の基準"), &judgement(&judged, language)));
    text
}

fn section(title: &str, body: &str) -> String {
    format!("\n## {title}\n\n{}\n", body.trim_end())
}

/// The memory bank by reference: paths and titles, to be read where needed.
fn memory(input: &PromptInput<'_>) -> String {
    match definitions::memory::preview(input.memory, input.settings.language) {
        text if text.is_empty() => text,
        text => format!("\n{text}"),
    }
}

/// Every rule by which an attempt could be lost (N8).
fn judgement(judged: &JudgedBy, language: Language) -> String {
    let say = |en: &str, ja: &str| match language {
        Language::En => en.to_owned(),
        Language::Ja => ja.to_owned(),
    };
    let named = |patterns: &[String]| patterns.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    let mut lines = vec![
        say("- You exit with 0.", "- 終了コードが 0 であること。"),
        say(
            "- Only what you may change is changed; nothing in `.saihai/`, unless it is named there.",
            "- 変更してよい範囲だけが変更されていること（`.saihai/` は明示されていない限り対象外）。",
        ),
    ];
    if judged.completion == Completion::Merged {
        lines.push(say("- Your commits merge with the target branch.", "- コミットが対象ブランチとマージできること。"));
    }
    if let Some(setup) = &judged.setup {
        lines.push(format!("- {}: `{}`", say("the setup succeeds", "準備コマンドの成功"), one_line(setup)));
    }
    for check in &judged.checks {
        let passes = say("this check passes on the merged result", "マージ結果でのチェックの成功");
        lines.push(format!("- {passes}: {} `{}`", check.name, one_line(&check.command)));
    }
    for goal in &judged.goals {
        lines.push(format!("- {}: {goal}", say("this goal is met", "目標の達成")));
    }
    if !judged.protected.is_empty() {
        let taken = say("checks use the target's version of", "チェックは対象ブランチ側のものを使います");
        lines.push(format!("- {taken}: {}", named(&judged.protected)));
    }
    lines.join("\n")
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Text of others, which must not pose as a section: the fence is longer than any in it.
fn fenced(text: &str) -> String {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest.max(2) + 1);
    format!("{fence}text\n{}\n{fence}", text.trim_end())
}
