//! How are the examples and explanations of `saihai task` said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    (
        r#"Examples:
  saihai task add "Add a login page" --assign lead --type feature --priority high
  saihai task add "Write its tests" --parent 1 --depends 2,3
  saihai task add "Import" --description - < brief.md
  saihai task add "Fix the typo" --assign coder --start
  saihai task add --file tasks.md --assign coder --label sprint-3

A task with an assignee waits in `todo`, one without in `backlog`; nothing runs before
`saihai task start`."#,
        r#"例:
  saihai task add "ログインページの追加" --assign lead --type feature --priority high
  saihai task add "そのテストを書く" --parent 1 --depends 2,3
  saihai task add "インポート" --description - < brief.md
  saihai task add "誤字の修正" --assign coder --start
  saihai task add --file tasks.md --assign coder --label sprint-3

担当者のいるタスクは `todo`、いないタスクは `backlog` で待ちます。`saihai task start` までは
何も動きません。"#,
    ),
    (
        r#"Examples:
  saihai task list --status in_progress,blocked
  saihai task list --assignee coder --all --json
  saihai task list --label ui --text "login page""#,
        r#"例:
  saihai task list --status in_progress,blocked
  saihai task list --assignee coder --all --json
  saihai task list --label ui --text "ログインページ""#,
    ),
    (
        r#"Examples:
  saihai task update 3 --title "Better title" --priority high
  saihai task update 3 --status todo          set it back, or reopen it
  saihai task update 3 --status done          if its branch is in the target
  saihai task update 3 --status done --force  in any case; this is recorded"#,
        r#"例:
  saihai task update 3 --title "よりよい題名" --priority high
  saihai task update 3 --status todo          元に戻す、または再開する
  saihai task update 3 --status done          ブランチが対象ブランチに入っていれば完了にする
  saihai task update 3 --status done --force  入っていなくても完了にする（記録されます）"#,
    ),
    (
        "Tell whoever works on a task something

A running agent reads it with its next call, and cannot finish before. A one-shot agent, and one that is not running, reads it when it is next started.",
        "タスクの担当者に伝えます

実行中のエージェントは次の呼び出しで読み、読むまで完了できません。
一括型のエージェントと、実行中でないエージェントは、次の起動時に読みます。",
    ),
    (
        r#"Examples:
  saihai task comment 12 "Use the name want_integer"
  saihai task comment 12 - < notes.txt"#,
        r#"例:
  saihai task comment 12 "名前は want_integer にしてください"
  saihai task comment 12 - < notes.txt"#,
    ),
    (
        "Examples:
  saihai task assign 3 coder
  saihai task assign 3 --nobody",
        "例:
  saihai task assign 3 coder
  saihai task assign 3 --nobody",
    ),
    (
        "Examples:
  saihai task depend 3 --on 2      3 starts after 2 is done
  saihai task depend 3 --off 2",
        "例:
  saihai task depend 3 --on 2      3 は 2 の完了後に始まる
  saihai task depend 3 --off 2",
    ),
    (
        "Work of a session that still runs is in its workspace only: see `saihai task open`.

Examples:
  saihai task diff 7
  saihai task diff 7 --stat",
        "実行中のセッションの作業は作業コピーにしかありません: `saihai task open` を見てください。

例:
  saihai task diff 7
  saihai task diff 7 --stat",
    ),
    (
        r#"Examples:
  cd "$(saihai task open 7)"
  saihai task open 7 --shell

An agent has written what is there, the configuration of git included: hooks and monitors are off in
the shell of --shell. What you change there while its agent works is part of its work."#,
        r#"例:
  cd "$(saihai task open 7)"
  saihai task open 7 --shell

そこにあるものは、git の設定も含めてエージェントが書いたものです。--shell のシェルでは
フックとモニターを無効にします。エージェントの作業中にそこで行った変更は、その作業の
一部になります。"#,
    ),
    (
        "Opens $VISUAL, else $EDITOR. The first line is the title, the rest is the description. If the text
cannot be taken, the file is kept and its name is told.",
        "$VISUAL、なければ $EDITOR を開きます。1 行目が題名、残りが説明です。受け付けられない場合は
ファイルを残し、その名前を表示します。",
    ),
];
