//! What is sent when a browser fetches the page that it shows once more? What changed since (ADR 15).
//!
//! Pages are rendered as always. A browser that keeps up names the text it has; if that is still remembered here, it is
//! answered with the lines that differ, and else with the whole page, which is always right.

use std::collections::VecDeque;
use std::hash::{BuildHasher as _, RandomState};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Json;
use axum::body::{Body, to_bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;

use crate::page_changes::{Part, changes};
use crate::person::{cookie, cookie_name};

/// A browser that keeps up sends this: the name of the text it has, or anything else.
const HAVE: &str = "x-have";
/// The name of the text that it has then.
const PAGE: HeaderName = HeaderName::from_static("x-page");

/// So many texts are remembered, and so many bytes of them.
const TEXTS: usize = 64;
const BYTES: usize = 24 * 1024 * 1024;

/// The texts that were sent last, newest at the end. Nothing is lost with them: who asks for others gets whole pages.
#[derive(Debug, Default)]
pub(super) struct SentPages {
    names: RandomState,
    sent: Mutex<VecDeque<SentPage>>,
}

#[derive(Clone, Debug)]
struct SentPage {
    /// By whom it was read: nobody is told how a page differs from one that others saw.
    reader: u64,
    name: String,
    text: Arc<str>,
}

impl SentPages {
    fn find(&self, reader: u64, name: &str) -> Option<Arc<str>> {
        let sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        let page = sent.iter().rev().find(|page| page.reader == reader && page.name == name)?;
        Some(Arc::clone(&page.text))
    }

    fn remember(&self, page: SentPage) {
        let mut sent = self.sent.lock().unwrap_or_else(PoisonError::into_inner);
        sent.retain(|old| (old.reader, &old.name) != (page.reader, &page.name));
        sent.push_back(page);
        while sent.len() > TEXTS || (sent.len() > 1 && sent.iter().map(|page| page.text.len()).sum::<usize>() > BYTES) {
            sent.pop_front();
        }
    }

    /// Who asks, by what they log in with.
    fn reader(&self, headers: &HeaderMap) -> u64 {
        let bearer = headers.get(header::AUTHORIZATION).map(HeaderValue::as_bytes);
        self.names.hash_one((bearer, cookie(headers, &cookie_name(headers))))
    }
}

/// How a text comes from the one that the browser has.
#[derive(Debug, Serialize)]
struct Changed<'a> {
    parts: Vec<Part<'a>>,
    /// As scripts count letters: a browser that has come to another text asks for the whole.
    length: usize,
}

pub(super) async fn send_what_changed(State(sent): State<Arc<SentPages>>, request: Request, next: Next) -> Response {
    let Some(have) = request.headers().get(HAVE).and_then(|value| value.to_str().ok()).map(str::to_owned) else {
        return next.run(request).await;
    };
    let reader = sent.reader(request.headers());
    let response = next.run(request).await;
    let html =
        response.headers().get(header::CONTENT_TYPE).is_some_and(|kind| kind.as_bytes().starts_with(b"text/html"));
    if response.status() != StatusCode::OK || !html {
        return response;
    }
    let (mut head, body) = response.into_parts();
    let text = match to_bytes(body, usize::MAX).await.map(|bytes| String::from_utf8(bytes.into())) {
        Ok(Ok(text)) => without_ages(text),
        Ok(Err(_)) | Err(_) => return StatusCode::INTERNAL_SERVER_ERROR.into_response(),
    };
    let name = format!("{:016x}", sent.names.hash_one(&text));
    let earlier = sent.find(reader, &have);
    sent.remember(SentPage { reader, name: name.clone(), text: text.as_str().into() });
    let named = [(PAGE, name.clone())];
    let Some(earlier) = earlier else {
        head.headers.extend([(PAGE, HeaderValue::from_str(&name).expect("hexadecimal digits are a header's value"))]);
        head.headers.remove(header::CONTENT_LENGTH);
        return Response::from_parts(head, Body::from(text));
    };
    if have == name {
        return (StatusCode::NO_CONTENT, named).into_response();
    }
    let length = text.encode_utf16().count();
    (named, Json(Changed { parts: changes(&earlier, &text), length })).into_response()
}

/// The browser lets ages go on by itself, so that they need not be told: every line with one would differ. On boards of
/// the past they stand still, and are. Texts of others cannot look like an age: their `>` is escaped.
fn without_ages(page: String) -> String {
    const BEGIN: &str = " data-age>";
    if !page.contains(BEGIN) || page.contains("data-then>") {
        return page;
    }
    let mut pieces = page.split(BEGIN);
    let mut text = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        text.push_str(BEGIN);
        text.push_str(piece.find("</time>").map_or(piece, |end| &piece[end..]));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{SentPage, SentPages, TEXTS, without_ages};

    /// W11: what only grew older did not change.
    #[test]
    fn ages_are_left_to_the_browser() {
        let page = |age: &str| format!(r#"<p><time datetime="2026" data-age>{age}</time> b</p>"#);
        assert_eq!(without_ages(page("4 s")), page(""));
        assert_eq!(without_ages(page("4 s") + &page("5 d")), page("") + &page(""));
        let then = format!("<div data-then>{}</div>", page("4 s"));
        assert_eq!(without_ages(then.clone()), then);
    }

    /// W5: what is remembered is bounded, and each reader's own.
    #[test]
    fn texts_are_forgotten_and_kept_apart() {
        let pages = SentPages::default();
        for number in 0..=TEXTS {
            pages.remember(SentPage { reader: 1, name: number.to_string(), text: "page".into() });
        }
        assert_eq!(pages.find(1, "0"), None, "the oldest went");
        assert_eq!(pages.find(1, "1").as_deref(), Some("page"));
        assert_eq!(pages.find(2, "1"), None, "another reader has not seen it");
    }
}
