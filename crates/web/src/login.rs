//! How does a person log in? By a link that is good once, or with a token (W3).

use askama::Template;
use axum::extract::{Query, State};
use axum::response::{Html, IntoResponse, Redirect, Response};
use axum::{Extension, Form};
use board::{Actor, InstallationCommand, Language, Role, Span, TokenUse};
use control::{ControlError, NewSecret, token_hash};
use http::{HeaderMap, StatusCode, header};
use serde::Deserialize;
use server::OverTls;

use super::AppState;
use super::assets::VERSION;
use super::person::{Person, cookie_name, language_of};
use super::problem::Problem;

/// How long a browser stays logged in.
const LOGIN: Span = Span::minutes(30 * 24 * 60);

#[derive(Debug, Template)]
#[template(path = "login.html")]
struct LoginPage<'a> {
    language: Language,
    version: &'a str,
    code: Option<&'a str>,
    problem: Option<&'a str>,
}

impl LoginPage<'_> {
    fn t<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        match self.language {
            Language::En => en,
            Language::Ja => ja,
        }
    }

    fn respond(&self, status: StatusCode) -> Response {
        match self.render() {
            Ok(page) => (status, Html(page)).into_response(),
            Err(error) => (StatusCode::INTERNAL_SERVER_ERROR, error.to_string()).into_response(),
        }
    }
}

#[derive(Debug, Deserialize)]
pub(super) struct Shown {
    code: Option<String>,
}

/// The link leads here. It is not spent by being looked at: programs preview links.
pub(super) async fn page(headers: HeaderMap, Query(shown): Query<Shown>) -> Response {
    let page =
        LoginPage { language: language_of(&headers), version: &VERSION, code: shown.code.as_deref(), problem: None };
    page.respond(StatusCode::OK)
}

/// Gives the browser a token of its own for a link or a token.
pub(super) async fn log_in(
    State(state): State<AppState>,
    over_tls: Option<Extension<OverTls>>,
    headers: HeaderMap,
    Form(shown): Form<Shown>,
) -> Response {
    let language = language_of(&headers);
    let (status, problem) = match state.log_in(shown.code.as_deref().unwrap_or_default().trim(), language).await {
        Ok(secret) => {
            let age = LOGIN.0 / 1000;
            let name = cookie_name(&headers);
            let secure = if over_tls.is_some() { "; Secure" } else { "" };
            let secret = secret.reveal();
            let cookie = format!("{name}={secret}; Path=/; HttpOnly; SameSite=Strict; Max-Age={age}{secure}");
            return ([(header::SET_COOKIE, cookie)], Redirect::to("/")).into_response();
        }
        Err(problem) => (problem.http, format!("{} {}", problem.detail, problem.hint)),
    };
    LoginPage { language, version: &VERSION, code: None, problem: Some(&problem) }.respond(status)
}

impl AppState {
    async fn log_in(&self, code: &str, language: Language) -> Result<NewSecret, Problem> {
        let failed = |error| Problem::control(&error, language);
        let now = self.server.now();
        let installation = self.server.installation().newest().await.map_err(failed)?;
        let shown = installation.token(&token_hash(code), &[TokenUse::Link, TokenUse::Bearer], now);
        let shown = shown.filter(|token| matches!(token.role, Role::Owner | Role::Viewer));
        let shown = shown.ok_or_else(|| self.wrong_code(language))?;
        let failed_to_make = |error: control::RandomError| {
            Problem::new(StatusCode::SERVICE_UNAVAILABLE, "failed", error.to_string(), "Try again.")
        };
        let secret = NewSecret::generate("shb").map_err(failed_to_make)?;
        let hash = token_hash(secret.reveal());
        let id = format!("tok_{}", &hash.0[..8]);
        let command = InstallationCommand::LogIn { with: shown.id.clone(), id, hash, expires_at: now + LOGIN };
        self.server.installation().submit(Actor::System, command).await.map_err(|error| match error {
            // The same link was used a moment earlier.
            ControlError::Refused(_) => self.wrong_code(language),
            error => failed(error),
        })?;
        Ok(secret)
    }

    /// A right code is never slowed down: 256 random bits cannot be guessed.
    fn wrong_code(&self, language: Language) -> Problem {
        let tried = self.attempts.attempt(&(), self.server.now());
        let (status, detail) = match (tried, language) {
            (Ok(()), Language::En) => (StatusCode::UNAUTHORIZED, "This link was used, or is too old.".into()),
            (Ok(()), Language::Ja) => (StatusCode::UNAUTHORIZED, "このリンクは使用済みか、期限切れです。".into()),
            (Err(left), Language::En) => (StatusCode::TOO_MANY_REQUESTS, format!("Too many tries; wait {left} s.")),
            (Err(left), Language::Ja) => {
                (StatusCode::TOO_MANY_REQUESTS, format!("試行が多すぎます。{left} 秒待ってください。"))
            }
        };
        let hint = match language {
            Language::En => "Ask for a new one: the settings of whoever is logged in make it.",
            Language::Ja => "ログイン中のユーザーの設定ページで新しいリンクを作れます。",
        };
        Problem::new(status, board::Code::NotAuthenticated.as_str(), detail, hint)
    }
}

/// Makes the browser's token useless.
pub(super) async fn log_out(
    State(state): State<AppState>,
    person: Person,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    if person.used_as == TokenUse::Browser {
        let revoke = InstallationCommand::RevokeToken { id: person.token.clone() };
        let revoked = state.server.installation().submit(Actor::System, revoke).await;
        revoked.map_err(|error| person.problem(&error))?;
    }
    let gone = format!("{}=; Path=/; HttpOnly; SameSite=Strict; Max-Age=0", cookie_name(&headers));
    Ok((StatusCode::NO_CONTENT, [(header::SET_COOKIE, gone)]).into_response())
}
