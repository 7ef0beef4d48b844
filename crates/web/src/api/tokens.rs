//! Tokens and logins: who else may come in?

use axum::Json;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use board::{InstallationCommand, NewToken, Role, Timestamp};
use control::{NewSecret, RandomError, token_hash};
use http::StatusCode;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::described;
use super::page::{self, Page, Paging};
use super::{Body, NoQuery, Path, Query};
use crate::person::Owner;
use crate::problem::Problem;
use crate::{AppState, LINK, offer_login};

pub(super) fn router() -> OpenApiRouter<AppState> {
    OpenApiRouter::new().routes(routes!(list, create)).routes(routes!(revoke)).routes(routes!(invite))
}

/// A token without its secret.
#[derive(Debug, Serialize, ToSchema)]
struct Token {
    id: String,
    #[schema(value_type = described::Role)]
    role: Role,
    name: String,
    #[schema(value_type = described::TokenUse)]
    used_as: board::TokenUse,
    #[schema(value_type = described::Time)]
    created_at: Timestamp,
    #[schema(value_type = Option<described::Time>)]
    expires_at: Option<Timestamp>,
    revoked: bool,
}

impl From<&board::Token> for Token {
    fn from(token: &board::Token) -> Self {
        Self {
            id: token.id.clone(),
            role: token.role,
            name: token.name.clone(),
            used_as: token.used_as,
            created_at: token.created_at,
            expires_at: token.expires_at,
            revoked: token.revoked,
        }
    }
}

/// All tokens, by id; for owners only
#[utoipa::path(
    get, path = "/tokens", tag = "tokens", params(Paging),
    responses((status = 200, body = Page<Token>))
)]
async fn list(
    State(state): State<AppState>,
    Owner(person): Owner,
    Query(paging): Query<Paging>,
) -> Result<Json<Page<Token>>, Problem> {
    let limit = page::limit(paging.limit)?;
    let installation = state.server.installation().newest().await.map_err(|error| person.problem(&error))?;
    let found =
        installation.tokens.values().filter(|token| paging.after.as_ref().is_none_or(|after| token.id > *after));
    Ok(Json(Page::of(found, limit, |token| token.id.clone(), Token::from)))
}

/// For whom.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
struct New {
    #[schema(value_type = described::Role)]
    role: Role,
    /// Whose it is; changes are recorded under this name.
    #[serde(default)]
    name: String,
}

/// A token with its secret, which is shown only now.
#[derive(Debug, Serialize, ToSchema)]
struct Made {
    token: String,
    id: String,
    #[schema(value_type = described::Role)]
    role: Role,
    name: String,
}

/// Make a token for a person, a runner, a coordinator or an orchestrator
#[utoipa::path(
    post, path = "/tokens", tag = "tokens", request_body = New,
    responses((status = 201, body = Made))
)]
async fn create(
    State(state): State<AppState>,
    Owner(person): Owner,
    _: Query<NoQuery>,
    Body(new): Body<New>,
) -> Result<Response, Problem> {
    let failed = |error: RandomError| {
        Problem::new(StatusCode::SERVICE_UNAVAILABLE, "failed", error.to_string(), "Nothing was changed. Try again.")
    };
    let secret = NewSecret::generate("sht").map_err(failed)?;
    let hash = token_hash(secret.reveal());
    let id = format!("tok_{}", &hash.0[..8]);
    let command = InstallationCommand::CreateToken(NewToken::bearer(id.clone(), new.role, new.name.clone(), hash));
    state.server.installation().submit(person.actor(), command).await.map_err(|error| person.problem(&error))?;
    let made = Made { token: secret.reveal().to_owned(), id, role: new.role, name: new.name };
    Ok((StatusCode::CREATED, Json(made)).into_response())
}

/// Make a token useless from now on
#[utoipa::path(
    delete, path = "/tokens/{token}", tag = "tokens", params(("token" = String, Path)),
    responses((status = 204, description = "It is useless."))
)]
async fn revoke(
    State(state): State<AppState>,
    Owner(person): Owner,
    Path(id): Path<String>,
    _: Query<NoQuery>,
) -> Result<StatusCode, Problem> {
    let server = &state.server;
    let revoked = server.control().revoke_token(server.installation(), &person.actor(), &id).await;
    revoked.map_err(|error| person.problem(&error))?;
    Ok(StatusCode::NO_CONTENT)
}

/// A link for one login.
#[derive(Debug, Serialize, ToSchema)]
struct Login {
    /// To be opened on this server.
    login_path: String,
    #[schema(value_type = described::Role)]
    role: Role,
    #[schema(value_type = described::Time)]
    expires_at: Timestamp,
}

/// Make a link that logs a browser in, once
#[utoipa::path(
    post, path = "/logins", tag = "tokens", request_body = New,
    responses((status = 201, body = Login))
)]
async fn invite(
    State(state): State<AppState>,
    Owner(person): Owner,
    _: Query<NoQuery>,
    Body(new): Body<New>,
) -> Result<Response, Problem> {
    match new.role {
        Role::Owner | Role::Viewer => {}
        Role::Runner | Role::Coordinator | Role::Orchestrator => {
            return Err(Problem::bad_argument(
                format!("`{}` is no role for a person.", new.role),
                "It is owner or viewer; programs get a token with POST /tokens.",
            ));
        }
    }
    let now = state.server.now();
    let name = match new.role {
        Role::Owner if new.name.is_empty() => person.name.clone(),
        Role::Owner | Role::Viewer | Role::Runner | Role::Coordinator | Role::Orchestrator => new.name,
    };
    let secret = offer_login(state.server.installation(), person.actor(), new.role, name, now).await;
    let secret = secret.map_err(|error| person.problem(&error))?;
    let login_path = format!("/login?code={}", secret.reveal());
    Ok((StatusCode::CREATED, Json(Login { login_path, role: new.role, expires_at: now + LINK })).into_response())
}
