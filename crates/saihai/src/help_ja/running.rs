//! How is the help of the commands that run or serve agents said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    ("Watch a team at work in a scratch repository", "一時リポジトリで働くチームを見ます"),
    (
        "A manager splits a small feature among three workers. They are real processes that speak real MCP
and make real commits: one reports success without having done anything, one fails its check and
repairs its work, one runs into a conflict and resolves it. Nothing outside of a temporary directory
is touched.

It serves the board until Ctrl-C and then removes everything. With --exit it ends when all work is
merged.",
        "マネージャーが小さな機能を 3 人のワーカーに分けます。本物のプロセスが本物の MCP で話し、
本物のコミットを作ります。1 人は何もせずに成功と報告し、1 人はチェックに落ちて直し、
1 人は競合を解決します。一時ディレクトリの外には何も書きません。

Ctrl-C までボードを提供し、終了時にすべて削除します。--exit を付けると、すべての作業が
マージされた時点で終わります。",
    ),
    ("End when the work is merged", "作業がマージされたら終了します"),
    (
        "Use a real client instead of scripted agents",
        "台本どおりに動くエージェントの代わりに、実際のクライアントを使います",
    ),
    ("Keep the scratch directory", "一時ディレクトリを残します"),
    (
        "Milliseconds that agents pause before each action [default: 300 in a terminal, else 0]",
        "エージェントが行動の前に待つミリ秒数
[既定: 端末では 300、それ以外は 0]",
    ),
    ("Where to listen [default: any free port on this machine]", "待ち受けるアドレス [既定: このマシンの空きポート]"),
    (
        "Run the team: apply the definitions, serve the board, start and watch the agents",
        "チームを動かします: 定義の適用、ボードの提供、エージェントの起動と監視",
    ),
    (
        "Applies .saihai/, then starts an agent for every task that is in progress, examines its work, runs
the checks on the merge candidate and merges what passes. Start tasks with `saihai task start`.

Ctrl-C or SIGTERM ends it. The agents continue under their shims, and the next `saihai up` takes
them over. With --stop-agents they are ended too.

With --until-idle it ends by itself: exit code 0 if all that was started is done, 7 if something is
blocked, failed or cannot go on. With --json the first line says where it listens; then every event
is a line, as in `saihai log tail --follow --json`, and so is every notice of the runner.",
        ".saihai/ を適用し、進行中のタスクごとにエージェントを起動し、作業を検査し、マージ候補で
チェックを実行し、合格したものをマージします。タスクは `saihai task start` で開始します。

Ctrl-C か SIGTERM で終了します。エージェントは動き続け、次の `saihai up` が引き継ぎます。
--stop-agents を付けると、エージェントも終了させます。

--until-idle を付けると自動で終了します。開始したものがすべて完了なら終了コード 0、ブロック、
失敗、続行不能のものがあれば 7 です。--json では最初の行に待ち受けアドレスを、その後は
`saihai log tail --follow --json` と同じくイベントごとに 1 行、ランナーの通知も 1 行ずつ出します。",
    ),
    (
        "Where to listen: HOST:PORT (port 0: any free one) [default: 127.0.0.1:4700, or any free port]",
        "待ち受けるアドレス。HOST:PORT（ポート 0 は空きポート）
[既定: 127.0.0.1:4700、使用中なら空きポート]",
    ),
    (
        "Another name under which clients may reach it; can be given several times",
        "クライアントが使ってよい別のホスト名。複数回指定できます",
    ),
    (
        "How many agents run at once [default: `max_parallel` of the project, else the number of cores]",
        "同時に動かすエージェントの数
[既定: プロジェクトの `max_parallel`、なければコア数]",
    ),
    (
        "Start nothing while less than this many MiB are free on the disk",
        "ディスクの空きがこの MiB 数を下回る間は、何も起動しません",
    ),
    ("Also end the agents when it ends", "終了時にエージェントも終了させます"),
    ("End when nothing runs and nothing can start", "何も動いておらず、何も開始できなくなったら終了します"),
    (
        "Speak TLS with this certificate and its chain (PEM); read again when it changes",
        "この証明書（中間証明書を含む PEM）で TLS を使います。変更されると読み直します",
    ),
    ("The certificate's key (PEM)", "証明書の鍵（PEM）"),
    (
        "What this machine has for agents that ask for it with `runs_on`",
        "`runs_on` で求めるエージェントのために、このマシンが備えるもの",
    ),
    ("Serve the board to agents over MCP", "エージェントに MCP でボードを提供します"),
    (
        r#"Agents reach it at http://ADDR/mcp. It starts no agents; it answers the agents of every project of
this installation, and `saihai runner` on other hosts. Clients on other machines must use a name
that --allow-host permits; give them TLS with --tls-cert and --tls-key, or a proxy that has it.

Attach an agent by hand:
  saihai agent passkey coder
  claude mcp add --transport http saihai http://127.0.0.1:4700/mcp \
    --header "Authorization: Bearer PASSKEY""#,
        r#"エージェントは http://ADDR/mcp に接続します。エージェントは起動せず、このインストールの全プロジェクト
のエージェントと、他のホストの `saihai runner` に応答します。他のマシンのクライアントは --allow-host で
許可した名前を使います。TLS は --tls-cert と --tls-key、または TLS 対応のプロキシーで有効にします。

エージェントを手動で接続するには:
  saihai agent passkey coder
  claude mcp add --transport http saihai http://127.0.0.1:4700/mcp \
    --header "Authorization: Bearer PASSKEY""#,
    ),
    (
        "Where to listen: HOST:PORT (port 0: any free one) or unix:PATH",
        "待ち受けるアドレス。HOST:PORT（ポート 0 は空きポート）か unix:PATH",
    ),
    (
        "Serve one agent, or the owner's orchestrator, over stdin and stdout",
        "1 つのエージェント、またはオーナーのオーケストレーターに、標準入出力で応答します",
    ),
    (
        "For clients that start their MCP servers themselves. It works on the same store as everything else,
with or without `saihai serve`, and ends when the client closes its stdin.

SAIHAI_TOKEN may hold the session's credential, or the passkey of an agent attached by hand:
  claude mcp add saihai --env SAIHAI_TOKEN=PASSKEY -- saihai mcp
With a token of role orchestrator the client directs the whole project for its owner:
  claude mcp add saihai --env SAIHAI_TOKEN=TOKEN -- saihai mcp",
        "MCP サーバーを自分で起動するクライアントのためのものです。他のコマンドと同じストアを使い、
`saihai serve` の有無にかかわらず動作し、クライアントが標準入力を閉じると終了します。

SAIHAI_TOKEN には、セッションの資格情報か、手動接続するエージェントのパスキーを設定します:
  claude mcp add saihai --env SAIHAI_TOKEN=PASSKEY -- saihai mcp
orchestrator のトークンなら、クライアントがオーナーに代わってプロジェクト全体を指揮します:
  claude mcp add saihai --env SAIHAI_TOKEN=TOKEN -- saihai mcp",
    ),
    (
        "One worker on one task: print its prompt, or run it in the foreground",
        "1 人のワーカーと 1 つのタスク: プロンプトの表示、またはこの端末での実行",
    ),
    (
        "Print the whole prompt for a task, for any agent",
        "タスクのプロンプト全文を表示します。どのエージェントにも使えます",
    ),
    (
        "Print the whole prompt for a task, for any agent

It needs no server and no MCP: whoever reads it knows the task, the rules and what the work is judged by.",
        "タスクのプロンプト全文を表示します。どのエージェントにも使えます

サーバーも MCP も不要です。読めば、タスク、決まり、判定の基準が分かります。",
    ),
    (
        "For this agent [default: its assignee, or the only worker]",
        "このエージェント向け [既定: 担当者、または唯一のワーカー]",
    ),
    (
        "Print what a runner gives a guided agent, which is told the rest by the MCP server",
        "誘導型のエージェントにランナーが渡すものを表示します。
残りは MCP サーバーが伝えます",
    ),
    (
        "Run one worker on one task in the foreground, to its verdict",
        "1 人のワーカーを 1 つのタスクで、判定が出るまでこの端末で動かします",
    ),
    (
        "Starts the task if it is not in progress, runs one session of its agent, shows its output, and ends
with the verdict: exit code 0 if the task is done, 1 if not. If `saihai up` is running, it starts
the agent and this command only watches. Ctrl-C stops the agent.",
        "進行中でなければタスクを開始し、エージェントのセッションを 1 回実行して出力を表示し、判定が出たら
終わります。終了コードは、完了なら 0、そうでなければ 1 です。`saihai up` が動いていれば、エージェントは
そちらが起動し、このコマンドは見守るだけです。Ctrl-C でエージェントを停止します。",
    ),
    ("Give the task to this agent first", "先にこのエージェントを担当者にします"),
];
