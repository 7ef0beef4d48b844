//! What is sent with a request: is it what is expected? A form is told in plain words which of its fields is not.

use axum::Json;
use axum::extract::rejection::JsonRejection;
use axum::extract::{FromRequest, Request};
use board::Language;
use http::{HeaderMap, StatusCode};
use serde::de::DeserializeOwned;

use super::SEE;
use crate::person::language_of;
use crate::problem::Problem;

/// A body, with a problem that says what is wrong with it.
pub(crate) struct Body<T>(pub(crate) T);

impl<S: Send + Sync, T: DeserializeOwned> FromRequest<S> for Body<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let language = form_language(request.headers());
        match Json::<T>::from_request(request, state).await {
            Ok(Json(body)) => Ok(Self(body)),
            Err(rejection) => Err(problem(&rejection, language)),
        }
    }
}

/// The language of the page that sends it; programs send no such header, and are told of the document.
fn form_language(headers: &HeaderMap) -> Option<Language> {
    headers.contains_key("x-csrf-token").then(|| language_of(headers))
}

fn problem(rejection: &JsonRejection, form: Option<Language>) -> Problem {
    let text = rejection.body_text();
    match (rejection.status(), form) {
        // It is JSON, but not what is expected.
        (StatusCode::UNPROCESSABLE_ENTITY, Some(language)) => {
            let (detail, hint) = in_words(&text, language);
            Problem::bad_argument(detail, hint)
        }
        (StatusCode::UNPROCESSABLE_ENTITY, None) => Problem::bad_argument(text, SEE),
        (status, _) => Problem::new(status, board::Code::InvalidArgument.as_str(), text, SEE),
    }
}

/// `…: add[0]: "banana" is no id of a task at line 1 column 17`, as the form names its field.
fn in_words(text: &str, language: Language) -> (String, &'static str) {
    let said = text.split_once("target type: ").map_or(text, |(_, said)| said);
    let said = said.rsplit_once(" at line ").map_or(said, |(said, _)| said);
    let (path, wrong) = said.split_once(": ").unwrap_or(("", said));
    let field = path.split(['[', '.']).next().unwrap_or_default();
    let (name, hint) = match language {
        Language::En => (field_name(field).0, "Correct it, and try again."),
        Language::Ja => (field_name(field).1, "直して、もう一度試してください。"),
    };
    match (name, language) {
        ("", _) => (wrong.to_owned(), hint),
        (name, Language::En) => (format!("{name}: {wrong}."), hint),
        (name, Language::Ja) => (format!("{name}: {wrong}"), hint),
    }
}

/// A field of a form, as its label says it.
fn field_name(field: &str) -> (&'static str, &'static str) {
    match field {
        "add" | "remove" | "dependencies" => ("Waits for", "依存先"),
        "agent" | "assignee" => ("Assignee", "担当者"),
        "content" => ("Message", "メッセージ"),
        "description" => ("Description", "説明"),
        "labels" => ("Labels", "ラベル"),
        "name" => ("Name", "名前"),
        "parent" => ("Part of", "親タスク"),
        "priority" => ("Priority", "優先度"),
        "reason" => ("Reason", "理由"),
        "role" => ("Role", "権限"),
        "text" => ("Comment", "コメント"),
        "title" => ("Title", "タイトル"),
        "to" => ("To", "宛先"),
        "type" => ("Type", "種類"),
        _ => ("", ""),
    }
}

#[cfg(test)]
mod tests {
    use board::Language;

    use super::in_words;

    /// W12: a form is told which field is wrong, not where in the JSON.
    #[test]
    fn the_field_is_named_as_the_form_does() {
        let text = "Failed to deserialize the JSON body into the target type: add[0]: `banana` is no task id at line 1 column 17";
        assert_eq!(in_words(text, Language::En).0, "Waits for: `banana` is no task id.");
        assert_eq!(in_words(text, Language::Ja).0, "依存先: `banana` is no task id");
        let unknown = "Failed to deserialize the JSON body into the target type: missing field `x` at line 1 column 2";
        assert_eq!(in_words(unknown, Language::En).0, "missing field `x`");
    }
}
