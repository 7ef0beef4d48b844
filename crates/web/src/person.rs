//! Who looks? A person, by a token: a browser's in a cookie, or one that a program shows.

use axum::extract::FromRequestParts;
use board::{Actor, Language, Reader, Refusal, Role, Token, TokenId, TokenUse};
use control::{ControlError, token_hash};
use http::request::Parts;
use http::{HeaderMap, StatusCode, header};
use server::Connection;

use super::AppState;
use super::problem::Problem;
use super::remedies::in_words;

/// The browser's token is in a cookie that no script sees. Cookies do not know ports: servers on one machine
/// are told apart by its name.
pub(super) fn cookie_name(headers: &HeaderMap) -> String {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let port =
        host.rsplit_once(':').map(|(_, port)| port).filter(|port| port.bytes().all(|byte| byte.is_ascii_digit()));
    format!("saihai_{}", port.unwrap_or("web"))
}

/// The cookie with the chosen language.
pub(super) const LANGUAGE: &str = "saihai_language";

/// A person who has logged in.
#[derive(Clone, Debug)]
pub(crate) struct Person {
    pub(crate) name: String,
    pub(crate) role: Role,
    pub(crate) language: Language,
    pub(crate) token: TokenId,
    /// The token that connections are counted for: logins that were given for one token share its places.
    counted_as: TokenId,
    pub(crate) used_as: TokenUse,
    /// Its connection cannot be lost to others. It can if this token has too many.
    pub(crate) has_place: bool,
    /// What its pages must send with every change; it cannot be known to other sites.
    pub(crate) csrf: String,
}

impl Person {
    fn new(token: &Token, secret: &str, headers: &HeaderMap) -> Self {
        Self {
            name: if token.name.is_empty() { token.role.to_string() } else { token.name.clone() },
            role: token.role,
            language: language_of(headers),
            token: token.id.clone(),
            counted_as: token.given_for.clone().unwrap_or_else(|| token.id.clone()),
            used_as: token.used_as,
            has_place: true,
            csrf: token_hash(&format!("csrf {secret}")).0,
        }
    }

    pub(crate) fn actor(&self) -> Actor {
        Actor::Owner(self.name.as_str().into())
    }

    pub(crate) fn is_owner(&self) -> bool {
        self.role == Role::Owner
    }

    pub(crate) fn reader(&self) -> Reader {
        if self.is_owner() { Reader::Owner } else { Reader::Other }
    }

    pub(crate) fn problem(&self, error: &ControlError) -> Problem {
        match error {
            ControlError::Refused(refusal) => self.refused(refusal),
            ControlError::Store(_)
            | ControlError::Unreadable { .. }
            | ControlError::Random(_)
            | ControlError::Closed => Problem::control(error, self.language),
        }
    }

    /// A program is told of commands, a page of what is on pages.
    pub(crate) fn refused(&self, refusal: &Refusal) -> Problem {
        let mut problem = Problem::refused(refusal, self.language);
        if self.used_as == TokenUse::Browser {
            problem.hint = in_words(&refusal.tell_hint(self.language), self.language);
        }
        problem
    }

    /// What a viewer is told who wants more than to look: what is wrong, and what to do.
    pub(crate) fn only_looks(&self) -> (&'static str, &'static str) {
        (
            self.say("You may look, not change.", "閲覧のみ可能です。変更はできません。"),
            self.say(
                "Ask the owner for a login link of your own; the settings make one.",
                "オーナーにログイン用リンクを依頼してください（設定ページで作成できます）。",
            ),
        )
    }

    pub(crate) fn say<'a>(&self, en: &'a str, ja: &'a str) -> &'a str {
        match self.language {
            Language::En => en,
            Language::Ja => ja,
        }
    }
}

/// A person who may change things.
#[derive(Clone, Debug)]
pub(crate) struct Owner(pub(crate) Person);

impl FromRequestParts<AppState> for Person {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let mut person = state.person(&parts.headers).await?;
        if let Some(connection) = parts.extensions.get::<Connection>() {
            person.has_place = connection.authenticated(|| person.counted_as.clone()).is_ok();
        }
        let sent = parts.headers.get("x-csrf-token").is_some_and(|sent| sent.as_bytes() == person.csrf.as_bytes());
        if person.used_as == TokenUse::Browser && !parts.method.is_safe() && !sent {
            return Err(Problem::new(
                StatusCode::FORBIDDEN,
                "csrf",
                person.say(
                    "The request did not come from a page of Saihai.",
                    "Saihai のページからの要求ではありません。",
                ),
                person.say("Reload the page and try again.", "ページを再読み込みして、もう一度試してください。"),
            ));
        }
        Ok(person)
    }
}

impl FromRequestParts<AppState> for Owner {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Problem> {
        let person = Person::from_request_parts(parts, state).await?;
        if person.is_owner() {
            return Ok(Self(person));
        }
        let (detail, hint) = person.only_looks();
        Err(Problem::new(StatusCode::FORBIDDEN, board::Code::NotAllowed.as_str(), detail, hint))
    }
}

impl AppState {
    /// The person who sent these headers.
    pub(super) async fn person(&self, headers: &HeaderMap) -> Result<Person, Problem> {
        let language = language_of(headers);
        let installation = self.server.installation().newest().await;
        let installation = installation.map_err(|error| Problem::control(&error, language))?;
        let now = self.server.now();
        let shown = match (bearer(headers), cookie(headers, &cookie_name(headers))) {
            (Some(secret), _) => Some((secret, TokenUse::Bearer)),
            (None, Some(secret)) => Some((secret, TokenUse::Browser)),
            (None, None) => None,
        };
        let known = shown.and_then(|(secret, used_as)| {
            let token = installation.token(&token_hash(secret), &[used_as], now)?;
            Some(Person::new(token, secret, headers))
        });
        match known {
            Some(person) if matches!(person.role, Role::Owner | Role::Viewer) => Ok(person),
            Some(_) => Err(Problem::new(
                StatusCode::FORBIDDEN,
                board::Code::NotAllowed.as_str(),
                "This token is not a person's.",
                "Make one with `saihai token create --role viewer`.",
            )),
            None => Err(not_logged_in(language)),
        }
    }
}

fn not_logged_in(language: Language) -> Problem {
    let (detail, hint) = match language {
        Language::En => {
            ("You are not logged in.", "Open the link that `saihai login` prints, or send a token as bearer.")
        }
        Language::Ja => {
            ("ログインしていません。", "`saihai login` が表示するリンクを開くか、トークンを Bearer で送ってください。")
        }
    };
    Problem::new(StatusCode::UNAUTHORIZED, board::Code::NotAuthenticated.as_str(), detail, hint)
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let (scheme, secret) = headers.get(header::AUTHORIZATION)?.to_str().ok()?.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| secret.trim())
}

pub(super) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let all = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = all.flat_map(|text| text.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(key, _)| *key == name).map(|(_, value)| value)
}

/// The language that was chosen, else the first one of the browser's that is spoken here.
pub(super) fn language_of(headers: &HeaderMap) -> Language {
    if let Some(chosen) = cookie(headers, LANGUAGE).and_then(|word| word.parse().ok()) {
        return chosen;
    }
    let wished = headers.get(header::ACCEPT_LANGUAGE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let spoken = |tag: &str| tag.trim().get(..2).and_then(|tag| tag.to_ascii_lowercase().parse().ok());
    wished.split(',').find_map(spoken).unwrap_or(Language::En)
}

#[cfg(test)]
mod tests {
    use board::Language;
    use http::{HeaderMap, header};

    use super::{cookie, language_of};

    fn headers(name: http::HeaderName, value: &'static str) -> HeaderMap {
        [(name, http::HeaderValue::from_static(value))].into_iter().collect()
    }

    #[test]
    fn cookies_are_found_by_their_whole_name() {
        let headers = headers(header::COOKIE, "xsaihai=1; saihai=2; saihai_language=ja");
        assert_eq!(cookie(&headers, "saihai"), Some("2"));
        assert_eq!(cookie(&headers, "sai"), None);
    }

    #[test]
    fn a_choice_wins_over_the_browsers_wishes() {
        assert_eq!(language_of(&headers(header::ACCEPT_LANGUAGE, "de, ja-JP;q=0.9, en")), Language::Ja);
        assert_eq!(language_of(&headers(header::ACCEPT_LANGUAGE, "de")), Language::En);
        let mut both = headers(header::ACCEPT_LANGUAGE, "ja");
        both.insert(header::COOKIE, http::HeaderValue::from_static("saihai_language=en"));
        assert_eq!(language_of(&both), Language::En);
    }
}
