//! How is the help of `saihai session` said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    (
        "Sessions: runs of agents, started by a runner or by hand",
        "セッション: エージェントの実行（ランナー、または手動）",
    ),
    ("List sessions, newest last", "セッションを古い順に一覧表示します"),
    (
        "Examples:
  saihai session list --agent coder --verdict rejected
  saihai session list --all

Without -n or --all people are shown the newest 20; --json and --quiet give all.",
        "例:
  saihai session list --agent coder --verdict rejected
  saihai session list --all

-n も --all もなければ新しい 20 件を表示します。--json と --quiet では全件を出します。",
    ),
    ("Only those of this task", "このタスクのものだけ"),
    ("Only those that have not ended", "終了していないものだけ"),
    ("Only those of this agent", "このエージェントのものだけ"),
    ("Only those with this verdict", "この判定のものだけ"),
    ("At most this many, the newest [default: 20]", "新しいものから最大でこの件数 [既定: 20]"),
    ("All of them", "すべて表示します"),
    ("Show the facts of one session", "セッションの事実を表示します"),
    ("Its id, such as ses_3 or 3", "セッションの id（ses_3 または 3）"),
    (
        "Claim a task for an agent that you run by hand; runners leave it alone",
        "手動で動かすエージェントのためにタスクを確保します。ランナーは手を出しません",
    ),
    (
        "Moves the task to in_progress and prints the session. Work on the branch that it names, then
record the result with `saihai session end`. With --worktree the branch is checked out in
.worktrees/task-N, with the files that the agent's scope names; without it the commands for that
are printed.

Examples:
  SESSION=$(saihai session start 1 --agent coder --quiet)
  saihai session start 1 --agent coder --branch login --worktree",
        "タスクを in_progress に移し、セッションを表示します。示されたブランチで作業し、`saihai session end`
で結果を記録してください。--worktree を付けると、エージェントの範囲にあるファイルを含めて、ブランチを
.worktrees/task-N にチェックアウトします。付けなければ、そのためのコマンドを表示します。

例:
  SESSION=$(saihai session start 1 --agent coder --quiet)
  saihai session start 1 --agent coder --branch login --worktree",
    ),
    ("The task, such as tsk_12 or 12", "タスクの id（tsk_12 または 12）"),
    ("The branch of the work [default: task-N-TITLE]", "作業ブランチ [既定: task-N-題名]"),
    ("Make a worktree for it in .worktrees/task-N", ".worktrees/task-N にワークツリーを作ります"),
    ("Record how a session that you ran by hand ended", "手動で動かしたセッションの終わり方を記録します"),
    (
        r#"Exit code other than 0, a signal, a timeout or an error: the task failed. `merged`: it is done, if
its branch is in the target. `pending`: it stays in progress.

Example:
  saihai session end 1 --exit-code 0 --dod-result merged --artifacts '["src/auth.ts"]'"#,
        r#"終了コードが 0 以外、シグナル、タイムアウト、エラー: タスクは失敗です。`merged`: ブランチが
対象ブランチに入っていれば完了です。`pending`: 進行中のままです。

例:
  saihai session end 1 --exit-code 0 --dod-result merged --artifacts '["src/auth.ts"]'"#,
    ),
    ("The exit code of its process", "プロセスの終了コード"),
    ("The signal that ended it, such as SIGTERM", "プロセスを終了させたシグナル（SIGTERM など）"),
    ("The result of the checks and the merge", "チェックとマージの結果"),
    ("The files it changed, as a JSON array of paths", "変更したファイル（パスの JSON 配列）"),
    ("What went wrong, as JSON", "何が起きたか（JSON）"),
    (
        "Stop a session and block its task, so that no other starts; nothing is judged",
        "セッションを停止し、再び始まらないようタスクをブロックします。判定はしません",
    ),
    ("Do not block its task: it is started again", "タスクをブロックせず、再び開始させます"),
    ("Show what a session's process has printed", "セッションのプロセスの出力を表示します"),
    (
        "The newest 16 MiB of a session's output are kept. With --json the document says where in the whole
output its text begins and ends. The secrets of the session are left out when the log is written.

With --transcript it reads as a conversation, whatever the client; with --json too it is a list of
entries, each with its time and the position in the output of the line that says it.",
        "出力は新しい 16 MiB を保持します。--json では、テキストが全出力のどこからどこまでかも示します。
セッションの秘密の値は、ログに書くときに取り除かれます。

--transcript では、どのクライアントでも会話として読めます。--json も付けると項目の一覧になり、
それぞれに時刻と、出力内での行の位置が付きます。",
    ),
    (
        "Keep printing as output arrives, until the session is over",
        "セッションが終わるまで、届いた出力を表示し続けます",
    ),
    ("As a conversation: what the agent said, its tools, its edits", "会話として表示します（発言、ツール、編集）"),
    ("Only the last N lines", "最後の N 行だけ表示します"),
    (
        "Show every call of a session, what it was told and why, in order",
        "セッションの呼び出し、伝えた答えと理由を、順に表示します",
    ),
    (
        "Each line is one call: when, on which event of the log, what was asked, what was answered. The last
column names the rule that decided (N2.10 is row 10 of the table N2 in docs/requirements.md).
Repeated calls are one line with their number. The newest 100,000 lines of a project are kept.",
        "1 行が 1 回の呼び出しです: 日時、ログのイベント番号、質問、答え。最後の列は決め手となった規則です
（N2.10 は docs/requirements.md の表 N2 の 10 行目）。繰り返しは回数とともに 1 行にまとめます。
プロジェクトごとに新しい 100,000 行を保持します。",
    ),
];
