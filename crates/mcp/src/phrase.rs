//! How is a tool described, in English and in Japanese?

use board::Language;
use rmcp::model::JsonObject;
use serde_json::Value;

/// A text in both languages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Phrase {
    en: &'static str,
    ja: &'static str,
}

pub(crate) const fn phrase(en: &'static str, ja: &'static str) -> Phrase {
    Phrase { en, ja }
}

impl Phrase {
    pub(crate) fn say(self, language: Language) -> &'static str {
        match language {
            Language::En => self.en,
            Language::Ja => self.ja,
        }
    }
}

/// What is said of arguments. The English stands beside the arguments.
const ARGUMENTS: &[Phrase] = &[
    phrase("how long to wait for a message, at most 45", "メッセージを待つ秒数。最大 45"),
    phrase("`owner` or an agent's id", "`owner` またはエージェントの id"),
    phrase(
        "what the project should remember, for the owner to accept",
        "プロジェクトとして覚えておくべきこと。オーナーが採否を決めます",
    ),
    phrase("omit to unassign", "省略すると担当者を外します"),
    phrase("RFC 3339; default: since your last session", "RFC 3339。既定: 前回のセッション以降"),
    phrase("the same key creates nothing twice", "同じキーでは二重に作成しません"),
    phrase("local ids it needs done first", "先に完了が必要なものの local_id"),
    phrase(
        "the local_id of a task earlier in the list, or a task id",
        "リストで前にあるタスクの local_id、またはタスクの id",
    ),
    phrase("local ids of tasks with the same parent, or task ids", "同じ親のタスクの local_id、またはタスクの id"),
    phrase(
        "for tasks that are blocked: the answer that their agents are told",
        "ブロック中のタスクの場合、エージェントに伝える回答",
    ),
    phrase("what to do differently; its agent is told", "次に変えること。エージェントに伝えます"),
    phrase("what is wrong; needed to send it back", "問題点。差し戻しに必要です"),
    phrase("such as `ses_3`", "例: `ses_3`"),
    phrase("instead: the last session of this task", "代わりに、このタスクの最後のセッション"),
    phrase("the last bytes of it; default 8192, at most 65536", "末尾のバイト数。既定 8192、最大 65536"),
    phrase("`events` of the last answer; default: now", "前回の答えの `events`。既定: 現在"),
    phrase("at most 50; default 25", "最大 50、既定 25"),
];

/// Says in Japanese what a schema says of its arguments.
pub(crate) fn describe_in_japanese(schema: &mut JsonObject) {
    for (name, value) in schema {
        match value {
            Value::String(text) if name == "description" => {
                if let Some(known) = ARGUMENTS.iter().find(|known| known.en == text) {
                    known.ja.clone_into(text);
                }
            }
            Value::Object(inner) => describe_in_japanese(inner),
            Value::Array(items) => items.iter_mut().filter_map(Value::as_object_mut).for_each(describe_in_japanese),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
    }
}
