//! Is there a budget that cannot hold (G5)? Some clients do not tell what they use.

use board::unmetered;

use crate::context::OpenProject;

/// What to tell the owner about it; nothing if every agent is metered.
pub(crate) fn warning(opened: &OpenProject) -> Option<String> {
    let board = opened.board();
    let agents: Vec<_> = unmetered(&board).iter().map(ToString::to_string).collect();
    (!agents.is_empty()).then(|| {
        let agents = agents.join(", ");
        opened.say(
            format!(
                "The budget does not hold {agents}: the client does not tell what it uses, or what it costs. Add `prices` for \
                 its model, or a `timeout`."
            ),
            format!(
                "予算は {agents} には効きません。クライアントが使用量または費用を伝えないためです。モデルの `prices` か `timeout` を設定してください。"
            ),
        )
    })
}
