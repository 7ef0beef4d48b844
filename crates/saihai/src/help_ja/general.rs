//! How is the help said in Japanese of the program, its global options, and the commands that look after it?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    (
        "Saihai runs a team of AI coding agents on a git repository and decides, from facts only, what each of them does next and whether its work is done",
        "Saihai は git リポジトリで AI コーディングエージェントのチームを動かし、
各エージェントが次に何をするか、作業が終わったかを、事実だけから決めます",
    ),
    (
        r#"Examples:
  saihai demo                                watch a team at work in a scratch repository
  saihai init                                make this repository a project
  saihai task add "Add a login page" --assign lead
  saihai task start 1                        let its agent begin
  saihai up                                  run the agents, check their work, merge it
  saihai task why 1                          why it is (not) running, and who must do what

Exit codes: 0 ok, 1 refused or failed, 2 usage, 3 not initialised or bad configuration,
4 store, 5 not found, 6 state conflict, 7 not everything is done (`up --until-idle`)."#,
        r#"例:
  saihai demo                                一時リポジトリで働くチームを見る
  saihai init                                このリポジトリをプロジェクトにする
  saihai task add "ログインページの追加" --assign lead
  saihai task start 1                        エージェントの作業を許可する
  saihai up                                  エージェントを動かし、作業を検査してマージする
  saihai task why 1                          動いている（いない）理由と、誰が何をすべきか

終了コード: 0 成功、1 拒否または失敗、2 使い方の誤り、3 未初期化または設定の誤り、
4 ストア、5 存在しない、6 状態の不一致、7 完了していないものがある（`up --until-idle`）。"#,
    ),
    (
        "Print one JSON document; errors are one line of JSON on stderr",
        "JSON を 1 件出力します。エラーは stderr に 1 行の JSON で出します",
    ),
    ("Global options", "グローバルオプション"),
    ("Print ids only", "id だけを出力します"),
    (
        "The project, by id or path [default: the repository around the current directory]",
        "プロジェクトの id かパス [既定: 現在のディレクトリを含むリポジトリ]",
    ),
    (
        "Language of messages: en or ja [default: the locale's, else the project's]",
        "メッセージの言語: en か ja [既定: ロケール、なければプロジェクト]",
    ),
    (
        "Where logs, workspaces and the store are [default: $SAIHAI_HOME, else $XDG_DATA_HOME/saihai]",
        "ストア、ログ、作業コピーの置き場所
[既定: $SAIHAI_HOME、なければ $XDG_DATA_HOME/saihai]",
    ),
    (
        "The store: sqlite:PATH or postgres://USER@HOST/DATABASE [default: $SAIHAI_STORE, else saihai.db in the home]",
        "ストア: sqlite:パス か postgres://USER@HOST/DATABASE
[既定: $SAIHAI_STORE、なければ上記の場所の saihai.db]",
    ),
    ("The store: copy it elsewhere, back it up", "ストア: 別の場所へのコピー、バックアップ"),
    (
        "Copy everything into another store, and prove that it arrived as it was",
        "すべてを別のストアにコピーし、同じ内容であることを検証します",
    ),
    (
        "Write everything into a new file, beside running servers",
        "サーバーを止めずに、すべてを新しいファイルに書き出します",
    ),
    (
        "Copy everything into another store, and prove that it arrived as it was

Projects, boards, tokens and the values of `env` come along; the trace of decisions stays behind. A copy that was broken off goes on where it was.",
        "すべてを別のストアにコピーし、同じ内容であることを検証します

プロジェクト、ボード、トークン、`env` の値をコピーします。判断の記録はコピーしません。
途中で終わったコピーは続きから再開します。",
    ),
    (
        "Nothing may use the store meanwhile: end `saihai up` and `saihai serve` first. The old store stays
as it is; put it away, so that nobody writes to it by mistake.

Examples:
  saihai store copy sqlite:$HOME/.local/share/saihai/saihai.db postgres://saihai@db/saihai
  saihai store copy postgres://saihai@db/saihai sqlite:saihai.db",
        "コピー中はストアを使わないでください。先に `saihai up` と `saihai serve` を終了します。
元のストアはそのまま残ります。誤って書き込まれないよう、別の場所に移してください。

例:
  saihai store copy sqlite:$HOME/.local/share/saihai/saihai.db postgres://saihai@db/saihai
  saihai store copy postgres://saihai@db/saihai sqlite:saihai.db",
    ),
    ("sqlite:PATH or postgres://USER@HOST/DATABASE", "sqlite:パス か postgres://USER@HOST/DATABASE"),
    (
        "The same; an empty store, or one that an earlier try has begun to fill",
        "コピー先。空のストアか、以前の続き",
    ),
    (
        "Write everything into a new file, beside running servers

The file is a store of its own: `--store sqlite:FILE` opens it, `saihai store copy` puts it back.",
        "サーバーを止めずに、すべてを新しいファイルに書き出します

ファイルは単独のストアです。`--store sqlite:FILE` で開き、`saihai store copy` で戻せます。",
    ),
    (
        "It holds keys and hashes, so only you may read it. Example:
  saihai store backup ~/backups/saihai-$(date +%F).db",
        "鍵やハッシュを含むため、本人だけが読めます。例:
  saihai store backup ~/backups/saihai-$(date +%F).db",
    ),
    ("A file that does not exist", "存在しないファイル"),
    ("Make a link that logs a browser in, once", "ブラウザーで一度だけログインできるリンクを作ります"),
    (
        "The link leads to the server that was started last (`saihai up` or `saihai serve`). It is good for
one login within 30 minutes; the browser stays logged in for 30 days, or until
`saihai token revoke`.

Examples:
  saihai login
  saihai login --role viewer --name alice",
        "リンク先は最後に起動したサーバー（`saihai up` か `saihai serve`）です。30 分以内に一度だけ使えます。
ブラウザーのログインは 30 日間、または `saihai token revoke` まで有効です。

例:
  saihai login
  saihai login --role viewer --name alice",
    ),
    ("owner, or viewer (may look but not change anything)", "owner か viewer（閲覧のみで、変更できません）"),
    ("The person's name; changes are recorded under it", "その人の名前。変更はこの名前で記録されます"),
    ("Tokens for people, runners and coordinators", "人、ランナー、コーディネーターのトークン"),
    (
        "Make a token for a person, a runner, a coordinator or an orchestrator",
        "人、ランナー、コーディネーター、オーケストレーターのトークンを作ります",
    ),
    (
        "It is shown once; only its hash is kept.

Example:
  saihai token create --role viewer --name alice",
        "表示は一度だけです。保存するのはハッシュだけです。

例:
  saihai token create --role viewer --name alice",
    ),
    (
        "owner, viewer, runner, coordinator or orchestrator",
        "owner、viewer、runner、coordinator、orchestrator のいずれか",
    ),
    ("The holder's name, for the list", "持ち主の名前（一覧用）"),
    ("List tokens, without their secrets", "トークンを一覧表示します（秘密の値は表示しません）"),
    ("Revoke a token", "トークンを失効させます"),
    ("Its id, from `saihai token list`", "トークンの id（`saihai token list` で確認）"),
    (
        "Remove workspaces, branches, logs and processes that are not needed any more",
        "不要になった作業コピー、ブランチ、ログ、プロセスを削除します",
    ),
    (
        "A workspace is removed when its task is done, or failed or was cancelled longer ago than
`workspaces.keep_failed`; never while it has work that exists nowhere else. A branch is removed
when its task is done and it is merged. Logs are removed 30 days after the end of their session.
It asks first.",
        "作業コピーは、タスクが完了したか、失敗・中止から `workspaces.keep_failed` が過ぎると削除します。
そこにしかない作業がある間は削除しません。ブランチは、タスクが完了し、マージ済みなら削除します。
ログはセッションの終了から 30 日で削除します。削除の前に確認します。",
    ),
    (
        "Only print what would be removed, and why everything else is kept",
        "削除予定のものと、それ以外を保持する理由を表示するだけにします",
    ),
    ("Do not ask", "確認しません"),
    (
        "Check git, the store, the definitions, and what runs in the sandbox: clients, setup and checks",
        "git、ストア、定義、サンドボックスで動くもの（クライアント、準備、チェック）を調べます",
    ),
    (
        "Runs each client, `workspace.setup`, `dod.setup` and every check in the sandbox, on the target
branch in a copy of its own, and names the files that they could not see. Changes nothing. Exit
code 1 if something does not work.",
        "各クライアント、`workspace.setup`、`dod.setup`、すべてのチェックを、対象ブランチの専用コピー上の
サンドボックスで実行し、見えなかったファイルを挙げます。何も変更しません。動かないものがあれば
終了コードは 1 です。",
    ),
    ("Do not run the setups and the checks, which may take long", "時間のかかる準備とチェックを実行しません"),
    ("Print the script by which a shell completes commands, ids and names", "シェルの補完スクリプトを出力します"),
    (
        "The shell asks `saihai` itself, so what it proposes is what there is: tasks with their titles,
agents, sessions, projects.
Example:
  saihai completions bash > ~/.local/share/bash-completion/completions/saihai",
        "シェルは `saihai` に直接問い合わせるので、実際にあるもの（タイトル付きのタスク、エージェント、
セッション、プロジェクト）が候補になります。
例:
  saihai completions bash > ~/.local/share/bash-completion/completions/saihai",
    ),
    ("The shell to complete for", "補完を使うシェル"),
];
