//! What do the pages load? Style and scripts that are part of the binary, and nothing else.

use std::sync::LazyLock;

use axum::extract::Path;
use axum::response::{IntoResponse, Response};
use http::{StatusCode, header};

macro_rules! asset {
    ($name:literal) => {
        ($name, include_bytes!(concat!("../assets/", $name)).as_slice())
    };
}

const ASSETS: &[(&str, &[u8])] = &[
    asset!("app.css"),
    asset!("app.js"),
    asset!("columns.js"),
    asset!("complete.js"),
    asset!("drafts.js"),
    asset!("drag.js"),
    asset!("forms.js"),
    asset!("graph.js"),
    asset!("guard.js"),
    asset!("history.js"),
    asset!("icon.svg"),
    asset!("keys.js"),
    asset!("live.js"),
    asset!("log.js"),
    asset!("login.js"),
    asset!("morph.js"),
    asset!("notice.js"),
    asset!("now.css"),
    asset!("palette.js"),
    asset!("selection.js"),
    asset!("session.css"),
    asset!("time.js"),
    asset!("tree.js"),
];

/// Changes with every asset, so that browsers may keep them for ever.
pub(super) static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all: String = ASSETS.iter().map(|(name, bytes)| format!("{name}{}", String::from_utf8_lossy(bytes))).collect();
    control::token_hash(&all).0[..12].to_owned()
});

pub(super) async fn asset(Path((version, name)): Path<(String, String)>) -> Response {
    let Some((name, bytes)) = ASSETS.iter().find(|(known, _)| *known == name) else {
        return StatusCode::NOT_FOUND.into_response();
    };
    let kind = match name.rsplit_once('.') {
        Some((_, "css")) => "text/css; charset=utf-8",
        Some((_, "svg")) => "image/svg+xml",
        Some(_) | None => "text/javascript; charset=utf-8",
    };
    let keep = if version == *VERSION { "public, max-age=31536000, immutable" } else { "no-cache" };
    ([(header::CONTENT_TYPE, kind), (header::CACHE_CONTROL, keep)], *bytes).into_response()
}
