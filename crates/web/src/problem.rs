//! How is a request refused? As problem details (RFC 9457) with a code, a message and a hint.

use axum::Json;
use axum::response::{IntoResponse, Response};
use board::{Audience, Code, Language, Refusal};
use control::ControlError;
use http::{HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

/// Why a request was refused. Nothing was changed.
#[derive(Clone, Debug, Serialize, ToSchema)]
pub(crate) struct Problem {
    #[serde(skip)]
    pub(super) http: StatusCode,
    /// The HTTP status.
    status: u16,
    /// A short name of the status.
    title: &'static str,
    /// What kind of refusal it is; the same word as in MCP and on the command line.
    pub(super) code: String,
    /// What is wrong.
    pub(super) detail: String,
    /// What to do next.
    pub(super) hint: String,
}

impl Problem {
    pub(super) fn new(http: StatusCode, code: &str, detail: impl Into<String>, hint: impl Into<String>) -> Self {
        let title = http.canonical_reason().unwrap_or("Error");
        Self { http, status: http.as_u16(), title, code: code.into(), detail: detail.into(), hint: hint.into() }
    }

    /// For what has no more words to it than that it is not there.
    pub(super) fn not_found(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, Code::NotFound.as_str(), what, hint)
    }

    pub(super) fn bad_argument(detail: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, Code::InvalidArgument.as_str(), detail, hint)
    }

    pub(super) fn refused(refusal: &Refusal, language: Language) -> Self {
        let code = refusal.code();
        let hint = refusal.hint(language, Audience::Person);
        Self::new(status(code), code.as_str(), refusal.message(language), hint)
    }

    pub(super) fn control(error: &ControlError, language: Language) -> Self {
        match error {
            ControlError::Refused(refusal) => Self::refused(refusal, language),
            ControlError::Store(_)
            | ControlError::Unreadable { .. }
            | ControlError::Random(_)
            | ControlError::Closed => {
                tracing::error!(%error, "a request failed");
                let hint = match language {
                    Language::En => {
                        "Nothing was changed. Try again in a moment; where the server runs, its doctor examines the store."
                    }
                    Language::Ja => {
                        "何も変わっていません。少し待ってやり直してください。サーバー側で保存先を診断できます。"
                    }
                };
                Self::new(StatusCode::SERVICE_UNAVAILABLE, "store", error.to_string(), hint)
            }
        }
    }
}

fn status(code: Code) -> StatusCode {
    match code {
        Code::NotAuthenticated => StatusCode::UNAUTHORIZED,
        Code::NotFound => StatusCode::NOT_FOUND,
        Code::InvalidArgument => StatusCode::BAD_REQUEST,
        Code::NotAllowed => StatusCode::FORBIDDEN,
        Code::IllegalTransition
        | Code::NotReady
        | Code::StateConflict
        | Code::AlreadyClaimed
        | Code::ChildrenUnsettled
        | Code::NotMerged
        | Code::LimitReached
        | Code::Duplicate
        | Code::Cycle
        | Code::CannotHelp
        | Code::FuelSpent
        | Code::Interrupted
        | Code::StaleSession => StatusCode::CONFLICT,
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = (self.http, Json(&self)).into_response();
        response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static("application/problem+json"));
        response
    }
}
