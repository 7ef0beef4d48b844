//! How is the help of `saihai log` said in Japanese?

use super::Texts;

pub(super) const TEXTS: Texts = &[
    ("The event log: follow, verify, replay", "イベントログ: 追従、検証、再生"),
    ("Show the last events, and follow them", "最近のイベントを表示し、追いかけます"),
    (
        "Without -n the last 20 events are shown, or all after --after.
With --follow and --json every event is one line of JSON.",
        "-n がなければ最後の 20 件、--after があればそれ以降のすべてを表示します。
--follow と --json では、イベントごとに 1 行の JSON を出します。",
    ),
    ("How many: the last ones, or with --after the first ones after it", "件数: 最後から、または --after の次から"),
    ("Only events after this one", "このイベントより後のものだけ"),
    ("Keep printing events as they happen, until interrupted", "中断するまで、起きたイベントを表示し続けます"),
    (
        "Check the log: its hash chain, that it can be read, and that replaying it gives the live board",
        "ログを検証します: ハッシュの連鎖、読めること、再生結果が現在のボードと一致すること",
    ),
    (
        "Exit code 4 if anything differs from what was written; the message says what and where.",
        "書かれたものと違う点があれば終了コード 4 です。どこがどう違うかを表示します。",
    ),
    ("Show the board as it was after an event", "あるイベントの直後のボードを表示します"),
    (
        "Example:
  saihai log replay --until 42 --json",
        "例:
  saihai log replay --until 42 --json",
    ),
    ("The last event to replay [default: all]", "再生する最後のイベント [既定: すべて]"),
];
