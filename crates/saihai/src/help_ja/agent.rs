//! How is the help of `saihai agent` said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    ("Agents: list, show, apply their definitions", "エージェント: 一覧、詳細、定義の適用"),
    ("List the roster and what each agent is doing", "名簿と、各エージェントの状況を一覧表示します"),
    ("Also agents that have left the roster", "名簿を離れたエージェントも表示します"),
    (
        "Show one agent: its definition, and whether it should be running",
        "エージェントの定義と、起動すべきかどうかを表示します",
    ),
    (
        "Examples:
  saihai agent show coder
  saihai agent show coder --format yaml > .saihai/agents/coder.yaml",
        "例:
  saihai agent show coder
  saihai agent show coder --format yaml > .saihai/agents/coder.yaml",
    ),
    ("Its id, from `saihai agent list`", "エージェントの id（`saihai agent list` で確認）"),
    ("As text, or as the definition file it came from", "テキスト、または元になった定義ファイルの形式"),
    (
        "Apply .saihai/config.yaml and .saihai/agents/ to the board",
        ".saihai/config.yaml と .saihai/agents/ をボードに適用します",
    ),
    (
        "Shows the difference: + joined, ~ changed, - left. Applying it twice changes nothing.",
        "差分を表示します: + 参加、~ 変更、- 離脱。二度適用しても何も変わりません。",
    ),
    (
        "When `remote` was removed: go on with the target as it is here, without what was merged there",
        "`remote` を外したとき、そこにマージされた成果なしで、ここの対象ブランチから続けます",
    ),
    ("Only show what would change", "何が変わるかを表示するだけにします"),
    (
        "Make a new passkey, with which you attach this agent by hand",
        "エージェントを手動で接続するための新しいパスキーを作ります",
    ),
    ("It is shown once and replaces the one before.", "表示は一度だけで、以前のパスキーは使えなくなります。"),
    (
        "Show what a coordinator or runner was told about an agent, and why, in order",
        "エージェントについてコーディネーターやランナーに伝えた答えと理由を、順に表示します",
    ),
    (
        "Each line is one answer: when, on which event of the log, start, hold or stop, and for which reason
(table A1 in docs/requirements.md). Equal answers in a row are one line with their number. A runner
of `saihai up` records why it starts a session; a coordinator of your own, every answer. What would
be answered now: `saihai agent show`.",
        "1 行が 1 つの答えです: 日時、ログのイベント番号、start・hold・stop、理由（docs/requirements.md の
表 A1）。続けて同じ答えは回数とともに 1 行にまとめます。`saihai up` のランナーはセッションを
起動した理由を、独自のコーディネーターはすべての答えを記録します。現在の答えは
`saihai agent show` で確認できます。",
    ),
    ("Only the newest N", "新しいものから N 件だけ表示します"),
];
