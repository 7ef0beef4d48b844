//! How is the help of what is remembered and said (`saihai memory`, `message` and `chat`) said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    ("The memory bank: what the project has decided", "メモリーバンク: プロジェクトで決めたこと"),
    ("List the memory bank", "メモリーバンクを一覧表示します"),
    ("Add a decision to the memory bank", "決めたことをメモリーバンクに追加します"),
    (
        r#"Examples:
  saihai memory add "Use PostgreSQL" --category architecture -d "All services share one cluster."
  saihai memory add "API rules" --body - < rules.md"#,
        r#"例:
  saihai memory add "PostgreSQL を使う" --category architecture -d "全サービスで共有する。"
  saihai memory add "API の規則" --body - < rules.md"#,
    ),
    ("What it is about; the file is named after it", "題名。ファイル名のもとになります"),
    ("The folder it goes to", "入れるフォルダー"),
    ("One line for lists", "一覧用の 1 行の要約"),
    ("Show one entry of the memory bank", "メモリーバンクの項目を 1 つ表示します"),
    ("Its path or its file name", "パスかファイル名"),
    ("Show the memory bank as a prompt lists it", "プロンプトに載る形でメモリーバンクを表示します"),
    ("What agents propose for the memory bank", "エージェントからメモリーバンクへの提案を表示します"),
    ("Write what an agent proposed into the memory bank", "エージェントの提案をメモリーバンクに書きます"),
    (
        "Its first line becomes the title. The file is yours to edit and to commit; agents see it then.

Examples:
  saihai memory proposals
  saihai memory accept 345 --category architecture",
        "1 行目が題名になります。ファイルは自由に編集し、コミットしてください。エージェントにはその後で見えます。

例:
  saihai memory proposals
  saihai memory accept 345 --category architecture",
    ),
    ("Its number, from `saihai memory proposals`", "番号（`saihai memory proposals` で表示）"),
    ("A title instead of its first line", "1 行目の代わりの題名"),
    ("Leave what an agent proposed out of the memory bank", "エージェントの提案を見送ります"),
    ("Messages between you and the agents", "オーナーとエージェントの間のメッセージ"),
    (
        "Write to an agent; a runner starts it for a chat",
        "エージェントにメッセージを送ります。ランナーがチャットのために起動します",
    ),
    (
        r#"Examples:
  saihai message send lead "Please look at tsk_3 first" --task 3
  saihai message send lead - < notes.txt"#,
        r#"例:
  saihai message send lead "先に tsk_3 を見てください" --task 3
  saihai message send lead - < notes.txt"#,
    ),
    ("The agent's id", "エージェントの id"),
    (
        "The task it is about; for the agent's own task this is a comment on it",
        "関係するタスク。エージェント自身のタスクなら、そのコメントになります",
    ),
    ("List messages, oldest first", "メッセージを古い順に一覧表示します"),
    ("Only those to or from this agent", "このエージェントとのものだけ"),
    ("At most this many, the newest", "新しいものから最大でこの件数"),
    ("Talk with an agent", "エージェントと話します"),
    (
        r#"Every line you type is a message; the agent's answers appear as they arrive. Ctrl-D ends the
chat. A runner starts the agent for it, or you attach the agent by hand. Without a terminal the
lines of stdin are sent, and the command ends when the agent has answered:
  echo "How far are you?" | saihai chat lead

With --json every message is one line of JSON."#,
        r#"入力した各行がメッセージになり、エージェントの返事は届くたびに表示されます。Ctrl-D で終わります。
エージェントはランナーが起動するか、手動で接続します。端末でない場合は標準入力の各行を送り、
エージェントが返事をすると終わります:
  echo "進み具合はどうですか?" | saihai chat lead

--json では、メッセージごとに 1 行の JSON を出します。"#,
    ),
    ("How many earlier messages to show", "表示する過去のメッセージの数"),
];
