//! How is the help of `saihai runner` said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    (
        "Run agents on this host for servers elsewhere; or list and look after such runners",
        "他のマシンのサーバーのために、このホストでエージェントを実行します。そうしたランナーの一覧と管理も行います",
    ),
    (
        "On the machine of the server, once for each runner:
  saihai token create --role runner --name build-1 --labels gpu,linux
On the other host, with git and the clients that agents use:
  saihai runner --server https://saihai.example.org --token-file token

It needs nothing else there: repositories, definitions and logins of agents' work come from the
servers and the host's own user. Agents go on when it ends, and it takes them over again.",
        "サーバーのマシンで、ランナーごとに一度:
  saihai token create --role runner --name build-1 --labels gpu,linux
もう一方のホストで（git と、エージェントが使うクライアントが必要です）:
  saihai runner --server https://saihai.example.org --token-file token

ほかに必要なものはありません。リポジトリと定義はサーバーから、ログインはそのホストのユーザーから
得ます。終了してもエージェントは続行し、次の起動時に引き継ぎます。",
    ),
    (
        "A server, such as https://saihai.example.org; several, separated by commas, stand in for each other",
        "サーバー（例: https://saihai.example.org）。カンマ区切りで複数指定すると互いに代わりになります",
    ),
    (
        "The runner's token; better in the environment or in a file, where others do not see it",
        "ランナーのトークン。他の人に見えない環境変数かファイルで渡すほうが安全です",
    ),
    ("A file with the runner's token", "ランナーのトークンが入ったファイル"),
    (
        "What this host has for agents that ask for it with `runs_on` [default: all that its token permits]",
        "`runs_on` で求めるエージェントのために、このホストが備えるもの [既定: トークンが許すすべて]",
    ),
    (
        "What a runner may offer to agents that ask for it with `runs_on` [default: whatever it has]",
        "`runs_on` で求めるエージェントに、ランナーが提供してよいもの [既定: ランナーが備えるものすべて]",
    ),
    ("The name under which it is listed [default: the host's]", "一覧に表示する名前 [既定: ホスト名]"),
    (
        "How many agents run at once, of all projects [default: the number of cores]",
        "全プロジェクトを合わせた同時実行数 [既定: コア数]",
    ),
    (
        "A file with the certificates to trust instead of the system's",
        "システムのものの代わりに信頼する証明書のファイル",
    ),
    ("Run one session, and end when its work is judged", "セッションを 1 つだけ実行し、作業が判定されたら終了します"),
    ("List the runners on other hosts", "他のホストのランナーを一覧表示します"),
    (
        "Show one runner on another host: what it offers, and what it runs",
        "他のホストのランナーについて、備えるものと実行中のものを表示します",
    ),
    ("Its id, or the name of its host, from `saihai runner list`", "id またはホスト名（`saihai runner list` で確認）"),
    (
        "Let a runner finish what it has, and begin nothing more",
        "ランナーに、今ある作業を終えさせ、新しい作業を始めさせません",
    ),
    (
        "Its agents go on, and their work is merged. Other runners take what is new. Then it can be ended
without anybody noticing; `saihai runner resume` takes it back.",
        "エージェントは続行し、成果はマージされます。新しい作業は他のランナーが引き受けます。その後は
影響なく終了できます。`saihai runner resume` で元に戻します。",
    ),
    ("Let a runner begin work again after `runner drain`", "`runner drain` の後、再び作業を始めさせます"),
    ("Remove a runner that is not coming back, or shall not", "戻らない、または戻すつもりのないランナーを削除します"),
    (
        "Its token is revoked. If it is there, it ends its agents. What they were doing is started again
elsewhere, and costs no attempt; work that they had finished and handed over is examined by another
runner. `saihai runner drain` first lets it finish instead.",
        "トークンを失効させます。動いていればエージェントを終了します。途中の作業は別の場所でやり直し、試行回数には
数えません。終えて引き渡した成果は別のランナーが検証します。先に `saihai runner drain` を使えば、
終わらせてから止められます。",
    ),
];
