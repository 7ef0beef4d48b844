//! `saihai project pause` and `resume`

use serde_json::json;

use crate::context::Context;
use crate::failure::Failure;

pub(super) async fn run(context: &Context, command: board::Command) -> Result<(), Failure> {
    let opened = context.open().await?;
    let receipt = opened.submit(command).await?;
    let paused = receipt.after.paused;
    let changed = !receipt.events.is_empty();
    context.format.print(&json!({ "id": opened.id, "paused": paused, "changed": changed }), || vec![opened.id.to_string()], || {
        let id = &opened.id;
        match (paused, changed) {
            (true, true) => opened.say(
                format!("`{id}` is paused: nothing starts; what runs goes on and is merged, unless --now stopped it. Next: `saihai project resume`."),
                format!("`{id}` を一時停止しました。新しく開始しません。実行中のものは（--now で止めない限り）続きます。再開は `saihai project resume`。"),
            ),
            (true, false) => opened.say(format!("`{id}` was paused already."), format!("`{id}` は既に一時停止中です。")),
            (false, true) => opened.say(format!("`{id}` is resumed."), format!("`{id}` を再開しました。")),
            (false, false) => opened.say(format!("`{id}` was not paused."), format!("`{id}` は一時停止していません。")),
        }
    })
}
