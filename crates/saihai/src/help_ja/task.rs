//! How is the help of `saihai task`, its commands and options, said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    ("Tasks: add, move, explain", "タスク: 追加、操作、理由の説明"),
    ("Add a task", "タスクを追加します"),
    ("What should be done, in one line", "何をするかを 1 行で"),
    (
        "Add a task for each item of a Markdown list, or each line; - reads stdin. All are added, or none",
        "Markdown のリストの項目ごと、または行ごとにタスクを追加します
（- は標準入力）。すべて追加するか、1 件も追加しません",
    ),
    (
        "Undo the merged work of a task, through the same checks and queue",
        "マージ済みのタスクの変更を、同じチェックとキューを通して取り消します",
    ),
    (
        "Undo the merged work of a task, through the same checks and queue

A new task undoes it. Where git can do that alone, no agent is started; where it cannot, whoever did the work resolves the conflicts.",
        "マージ済みのタスクの変更を、同じチェックとキューを通して取り消します

新しいタスクが取り消します。git だけで取り消せる場合、エージェントは起動しません。
できない場合は、その作業をした担当者が競合を解決します。",
    ),
    (
        "What somebody merged by hand is not known to the queue: undo that with `git revert`.

Examples:
  saihai task revert 7
  saihai task revert 7 --reason \"It doubles the start-up time\"",
        "手動でマージした変更はキューでは分かりません。`git revert` で取り消してください。

例:
  saihai task revert 7
  saihai task revert 7 --reason \"起動時間が倍になった\"",
    ),
    (
        "Why, or - for stdin; whoever has to resolve conflicts reads it",
        "理由。- なら標準入力から読みます（競合を解決する担当者が読みます）",
    ),
    ("Start it at once", "すぐに開始します"),
    ("A longer description, or - to read it from stdin", "詳しい説明。- なら標準入力から読みます"),
    (
        "task, feature, bug, refactor, docs, test or research",
        "task、feature、bug、refactor、docs、test、research のいずれか",
    ),
    ("low, medium, high or critical", "low、medium、high、critical のいずれか"),
    ("The task it is part of", "親タスク"),
    ("Who does it", "担当するエージェント"),
    ("Tasks that must be done first", "先に完了している必要があるタスク"),
    ("Labels to find it by", "探すときに使うラベル"),
    (
        "When is it done: merged or reported [default: the project's]",
        "完了の条件: merged か reported [既定: プロジェクトの設定]",
    ),
    ("Accept it as done without a change", "変更がなくても完了と認めます"),
    (
        "It mends what fails in the target: it is merged although a check fails there",
        "対象ブランチの失敗を直すタスクです。
対象ブランチでチェックが失敗していてもマージします",
    ),
    ("Adding again with the same key returns the first task", "同じキーで再び追加すると、最初のタスクを返します"),
    ("List tasks, most urgent first", "タスクを優先度の高い順に一覧表示します"),
    (
        "Only these statuses; `open` is all that is neither settled nor in progress",
        "この状態のものだけ。`open` は完了・中止済みでも進行中でもないもの",
    ),
    ("Only tasks of this agent", "このエージェントのタスクだけ"),
    ("Only children of this task", "このタスクのサブタスクだけ"),
    ("Only those with all of these labels", "これらのラベルをすべて持つものだけ"),
    (
        "Only those with all of these words in title or description, in any case",
        "題名か説明にこれらの語をすべて含むものだけ（大文字と小文字は区別しません）",
    ),
    ("Also done and cancelled ones", "完了・中止済みのものも表示します"),
    ("Show everything about one task", "タスクのすべてを表示します"),
    ("Its id, such as tsk_12 or 12", "タスクの id（tsk_12 または 12）"),
    ("Show tasks as a tree", "タスクをツリーで表示します"),
    ("Only this task and what is below it", "このタスクとその下位だけ"),
    ("Also trees that are done or cancelled", "完了・中止済みのツリーも表示します"),
    ("Change a task's content or status", "タスクの内容か状態を変更します"),
    ("The text, or - to read it from stdin", "本文。- なら標準入力から読みます"),
    ("The labels it should have; an empty one removes all", "付けるラベル。空にするとすべて外します"),
    ("Move it; `open` means todo", "状態を移します。`open` は todo と同じです"),
    ("Why, where the move needs a reason", "理由（理由が必要な移動の場合）"),
    (
        "Do it even if the task is another's to move; this is recorded",
        "動かす権限が他にあるタスクでも実行します。その旨が記録されます",
    ),
    ("Tell whoever works on a task something", "タスクの担当者に伝えます"),
    ("Give a task to an agent, or to nobody", "タスクの担当者を決めます、または外します"),
    ("Take it away from its assignee", "担当者を外します"),
    ("Start tasks: their agents may begin", "タスクを開始します。エージェントが作業できるようになります"),
    ("Their ids, such as tsk_12 or 12", "タスクの id（tsk_12 または 12）。複数指定できます"),
    (
        "Block tasks; their sessions are stopped, and what has ended waits",
        "タスクをブロックします。セッションは停止し、終わった作業は待機します",
    ),
    ("Why", "理由"),
    ("Lift blocks; each task goes back to what it was", "ブロックを解除します。タスクは元の状態に戻ります"),
    (
        "Your answer to what it was blocked for; a comment for the agent, or - for stdin [also: --answer]",
        "ブロックの理由への回答。エージェントへのコメントになります
（- は標準入力）[別名: --answer]",
    ),
    ("Cancel tasks and everything below them", "タスクとその下位をすべて中止します"),
    ("Try failed tasks again, with all their attempts", "失敗したタスクを、試みの回数を戻して再試行します"),
    (
        "What to do differently; a comment for the agent, or - for stdin",
        "次に変えること。エージェントへのコメントになります（- は標準入力）",
    ),
    ("Only put them back to todo, and do not start them", "todo に戻すだけで、開始しません"),
    ("Make a task wait for another, or no longer", "タスクの依存先を追加、または解除します"),
    ("It starts after these are done", "これらの完了後に始まるようにします"),
    ("It does not wait for these any more", "これらを待たないようにします"),
    (
        "Explain why a task is (not) running, what must happen, and who must do it",
        "動いている（いない）理由、必要なこと、誰がすべきかを説明します",
    ),
    ("Show everything that has happened to a task", "タスクに起きたことをすべて表示します"),
    (
        "Show what a task has changed: its branch against the target, or its merge",
        "タスクの変更を表示します: 対象ブランチとの差分、またはマージの内容",
    ),
    ("Only the files and how much has changed in each", "ファイル名と変更量だけを表示します"),
    ("Print where a task's workspace is, or enter it", "タスクの作業コピーの場所を表示します、またはそこに入ります"),
    ("Start $SHELL there; it ends when you leave the shell", "そこで $SHELL を起動します。シェルを終了すると戻ります"),
    ("Change title and description in your editor", "題名と説明をエディターで変更します"),
];
