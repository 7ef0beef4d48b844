//! What does the document say that no handler says for itself? How to come in, and how requests are refused.

use axum::routing::get;
use axum::{Json, Router};
use serde_json::Value;
use utoipa::openapi::path::Operation;
use utoipa::openapi::security::{ApiKey, ApiKeyValue, Http, HttpAuthScheme, SecurityRequirement, SecurityScheme};
use utoipa::openapi::{ContentBuilder, OpenApi as Document, Ref, ResponseBuilder, Server};
use utoipa::{Modify, OpenApi};

use super::described::reveal;
use crate::AppState;
use crate::person::Person;
use crate::problem::Problem;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "Saihai",
        description = "The board of a team of coding agents, for people and their programs. Programs send a token \
                       as bearer. Browsers have a cookie, and send `X-CSRF-Token` with every change. Lists come in \
                       pages: send the `next` of one as `after` of the following one."
    ),
    components(schemas(Problem)),
    modifiers(&ComingIn),
)]
struct Described;

struct ComingIn;

impl Modify for ComingIn {
    fn modify(&self, document: &mut Document) {
        let schemes = document.components.get_or_insert_default();
        schemes.add_security_scheme("bearer", SecurityScheme::Http(Http::new(HttpAuthScheme::Bearer)));
        schemes.add_security_scheme("browser", SecurityScheme::ApiKey(ApiKey::Cookie(ApiKeyValue::new("saihai_PORT"))));
        let either = ["bearer", "browser"].map(|name| SecurityRequirement::new(name, Vec::<String>::new()));
        document.security = Some(either.into());
        document.servers = Some(vec![Server::new("/api/v1")]);
    }
}

/// What comes before all handlers.
pub(super) fn head() -> Document {
    Described::openapi()
}

/// Adds what is the same for all of them.
pub(super) fn completed(mut document: Document) -> Value {
    let paths = std::mem::take(&mut document.paths.paths);
    // The rest of a path is `{*path}` for the router and `{path}` for everybody else.
    document.paths.paths = paths.into_iter().map(|(path, item)| (path.replace("{*", "{"), item)).collect();
    for item in document.paths.paths.values_mut() {
        let all =
            [&mut item.get, &mut item.post, &mut item.put, &mut item.patch, &mut item.delete].into_iter().flatten();
        all.for_each(complete);
    }
    let mut document = serde_json::to_value(document).expect("a document has string keys only");
    reveal(&mut document);
    document
}

fn complete(operation: &mut Operation) {
    let refused = |description: &str| {
        let problem = ContentBuilder::new().schema(Some(Ref::from_schema_name("Problem"))).build();
        ResponseBuilder::new().description(description).content("application/problem+json", problem).build().into()
    };
    let responses = &mut operation.responses.responses;
    responses.insert("4XX".into(), refused("It is refused, and nothing was changed."));
    responses.insert("5XX".into(), refused("It failed, and nothing was changed."));
    // Handlers of different nouns have the same names.
    if let (Some(noun), Some(verb)) = (operation.tags.iter().flatten().next(), &operation.operation_id) {
        operation.operation_id = Some(format!("{noun}_{verb}"));
    }
}

/// Serves the document, to those who are logged in as everything else.
pub(crate) fn served(document: Value) -> Router<AppState> {
    Router::new().route("/openapi.json", get(move |_: Person| async move { Json(document) }))
}
