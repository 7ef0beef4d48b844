//! How is the help of `saihai init` and `saihai project` said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    (
        "Make the repository around the current directory a project",
        "現在のディレクトリを含むリポジトリをプロジェクトにします",
    ),
    (
        "Writes .saihai/config.yaml, a first manager and a first worker where they are missing, never over
what is there, and registers the project. Running it again changes nothing.

Examples:
  saihai init
  saihai init --name web --base-branch develop",
        ".saihai/config.yaml と最初のマネージャー、ワーカーを、まだなければ作成し（既にあるものは
上書きしません）、プロジェクトを登録します。もう一度実行しても何も変わりません。

例:
  saihai init
  saihai init --name web --base-branch develop",
    ),
    ("The project's name [default: the directory's]", "プロジェクトの名前 [既定: ディレクトリ名]"),
    (
        "The branch that work is merged into [default: the branch that is checked out]",
        "作業のマージ先ブランチ [既定: チェックアウト中のブランチ]",
    ),
    ("Projects of this installation", "このインストールのプロジェクト"),
    ("List the projects", "プロジェクトを一覧表示します"),
    (
        "Make another repository a project, as `saihai init` does in it",
        "別のリポジトリを、そこでの `saihai init` と同様にプロジェクトにします",
    ),
    (
        "Example:
  saihai project add ../api --name api",
        "例:
  saihai project add ../api --name api",
    ),
    ("A directory in the repository", "リポジトリの中のディレクトリ"),
    ("Show a project: settings, counts, limits", "プロジェクトの設定、件数、上限を表示します"),
    (
        "Its id or path [default: the repository around the current directory]",
        "id かパス [既定: 現在のディレクトリを含むリポジトリ]",
    ),
    (
        "Start no more task work; what runs goes on, and is judged and merged",
        "タスクの作業を新しく開始しません。実行中のものは続き、判定とマージも行われます",
    ),
    (
        "Also stop what runs; its tasks go on when the project is resumed",
        "実行中のものも停止します。そのタスクは再開後に続行します",
    ),
    ("Resume task work", "タスクの作業を再開します"),
    ("Say where a project's repository is now", "プロジェクトのリポジトリの新しい場所を伝えます"),
    (
        "The board, its history and the agents' working copies stay as they are. A project that was removed
comes back with its board. Example: mv web site && saihai project move web site",
        "ボードと履歴、エージェントの作業コピーはそのままです。外したプロジェクトはボードとともに戻ります。
例: mv web site && saihai project move web site",
    ),
    ("Its id, from `saihai project list`", "`saihai project list` にある id"),
    ("Where its repository is", "リポジトリの場所"),
    ("Change the name that people see", "表示される名前を変更します"),
    (
        "Writes `name` in .saihai/config.yaml and applies the definitions. The id stays as it is.
Example: saihai project rename \"Web shop\"",
        ".saihai/config.yaml の `name` を書き換えて反映します。id は変わりません。
例: saihai project rename \"Web shop\"",
    ),
    ("One line of text", "1 行のテキスト"),
    (
        "Forget a project; its board and history stay in the store",
        "プロジェクトを外します。ボードと履歴はストアに残ります",
    ),
    (
        "Nothing in the repository is changed, and nothing is deleted: `saihai project move ID PATH` brings
the project back with its board. `saihai gc` removes what agents have left before.",
        "リポジトリは変更されず、何も削除されません。`saihai project move ID PATH` でボードごと元に戻せます。
エージェントが残したものは、先に `saihai gc` で削除できます。",
    ),
    (
        "What was done since a time, by whom, and at what cost",
        "ある時点以降に、何が誰によって、いくらで行われたかを表示します",
    ),
    (
        "Examples:
  saihai report                        # the last 24 hours
  saihai report --since 12h            # also 30m, 7d
  saihai report --since 2026-11-17     # also with a time: '2026-11-17 18:00'
A task's time and cost are of all its sessions. What a client does not tell is said, not guessed.",
        "例:
  saihai report                        # 直近 24 時間
  saihai report --since 12h            # 30m や 7d も可
  saihai report --since 2026-11-17     # 時刻も可: '2026-11-17 18:00'
タスクの時間と費用は全セッションの合計です。クライアントが使用量を伝えない場合は「不明」と表示します。",
    ),
    ("How long ago, or when in your time zone", "どれだけ前か、またはお使いのタイムゾーンでの日時"),
];
