//! Who calls? A session, by its credential; a coordinator or the owner's orchestrator, by its token; or nobody known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use board::{Actor, Board, Command, Installation, Language, RefusalReason, Role, SessionId, TokenUse};
use control::{ControlError, Project, Receipt, session_project, token_hash};
use http::request::Parts;
use rmcp::model::Extensions;
use server::Connection;

use crate::McpState;

/// What a client was configured with: a session's credential, a token, or an agent's passkey.
#[derive(Clone)]
pub(crate) struct Bearer(String);

impl std::fmt::Debug for Bearer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Bearer(…)")
    }
}

impl Bearer {
    pub(crate) fn new(secret: String) -> Self {
        Self(secret)
    }

    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

#[derive(Debug)]
pub(crate) enum Caller {
    Nobody,
    Session(CallingSession),
    Token(CallingToken),
}

/// A call that comes with a token.
#[derive(Debug)]
pub(crate) struct CallingToken {
    pub(crate) role: Role,
    /// Whose it is.
    name: String,
    /// In which its holder is spoken to.
    language: Language,
}

impl CallingToken {
    /// As whom it changes the board: for the owner, and the record says by whom (M6).
    pub(crate) fn actor(&self) -> Actor {
        match self.name.as_str() {
            "" => Actor::Owner("orchestrator".into()),
            name => Actor::Owner(format!("{name} (orchestrator)").into()),
        }
    }
}

/// A call that comes from a session, which may be over.
#[derive(Debug)]
pub(crate) struct CallingSession {
    pub(crate) project: Project,
    pub(crate) id: SessionId,
    /// The board as of the beginning of the call.
    pub(crate) board: Arc<Board>,
    /// This call left an event, which counts it.
    counted: AtomicBool,
}

impl CallingSession {
    pub(crate) fn new(project: Project, board: Arc<Board>, id: SessionId) -> Self {
        Self { project, id, board, counted: AtomicBool::new(false) }
    }

    pub(crate) fn session(&self) -> Result<&board::Session, ControlError> {
        Ok(self.board.session(self.id)?)
    }

    pub(crate) fn agent(&self) -> Result<&board::Agent, ControlError> {
        Ok(self.board.agent(&self.session()?.agent)?)
    }

    /// The session's task; a chat has none.
    pub(crate) fn task(&self) -> Result<&board::Task, ControlError> {
        let id = self.session()?.task().ok_or(RefusalReason::TaskSessionOnly).map_err(board::Refusal::from)?;
        Ok(self.board.task(id)?)
    }

    pub(crate) async fn submit(&self, command: Command) -> Result<Receipt<Board>, ControlError> {
        let receipt = self.project.submit(Actor::Session(self.id), command).await?;
        if !receipt.events.is_empty() {
            self.mark_counted();
        }
        Ok(receipt)
    }

    pub(crate) fn mark_counted(&self) {
        self.counted.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_counted(&self) -> bool {
        self.counted.load(Ordering::Relaxed)
    }
}

impl Caller {
    pub(crate) fn is_orchestrator(&self) -> bool {
        matches!(self, Self::Token(token) if token.role == Role::Orchestrator)
    }

    /// The language of the caller's project; where none is known, English.
    pub(crate) fn language(&self) -> Language {
        match self {
            Self::Nobody => Language::En,
            Self::Session(session) => session.board.settings.language,
            Self::Token(token) => token.language,
        }
    }

    /// The caller's connection cannot be lost to strangers any more.
    pub(crate) fn keep_connection(&self, origin: &Origin) {
        let Origin { bearer, connection: Some(connection) } = origin else { return };
        let kept = match self {
            Self::Nobody => Ok(()),
            Self::Session(session) => {
                connection.authenticated(|| format!("{} {}", session.board.settings.id, session.id))
            }
            Self::Token(_) => connection
                .authenticated(|| bearer.as_ref().map(|bearer| token_hash(bearer.reveal()).0).unwrap_or_default()),
        };
        if kept.is_err() {
            tracing::debug!("a caller has too many connections");
        }
    }
}

/// Where a call comes from.
#[derive(Clone, Debug)]
pub(crate) struct Origin {
    pub(crate) bearer: Option<Bearer>,
    /// None over stdio.
    pub(crate) connection: Option<Connection>,
}

impl McpState {
    pub(super) fn origin_of(&self, extensions: &Extensions) -> Origin {
        let connection = extensions.get::<Parts>().and_then(|parts| parts.extensions.get::<Connection>().cloned());
        Origin { bearer: self.bearer_of(extensions), connection }
    }

    /// What came with the request; over stdio, with the client's environment.
    fn bearer_of(&self, extensions: &Extensions) -> Option<Bearer> {
        let Some(parts) = extensions.get::<Parts>() else { return self.stdio_bearer.clone() };
        let header = parts.headers.get(http::header::AUTHORIZATION)?.to_str().ok()?;
        let (scheme, secret) = header.split_once(' ')?;
        scheme.eq_ignore_ascii_case("bearer").then(|| Bearer::new(secret.trim().to_owned()))
    }

    /// Who has this bearer, or names this session. A bearer that is a session's cannot speak for
    /// another one.
    pub(super) async fn caller(
        &self,
        bearer: Option<&Bearer>,
        session_token: Option<&str>,
    ) -> Result<Caller, ControlError> {
        let by_bearer = match bearer {
            Some(bearer) => self.session_with(bearer.reveal()).await?,
            None => None,
        };
        let named = match session_token {
            Some(token) => self.session_with(token).await?,
            None => None,
        };
        Ok(match (by_bearer, session_token, named) {
            (Some(own), None, _) => Caller::Session(own),
            (Some(own), Some(_), Some(named))
                if own.id == named.id && own.board.settings.id == named.board.settings.id =>
            {
                Caller::Session(own)
            }
            (Some(_), Some(_), _) => Caller::Nobody,
            (None, Some(_), Some(named)) => Caller::Session(named),
            (None, Some(_), None) => Caller::Nobody,
            (None, None, _) => match bearer {
                Some(bearer) => self.token_of(bearer).await?.map_or(Caller::Nobody, Caller::Token),
                None => Caller::Nobody,
            },
        })
    }

    async fn session_with(&self, secret: &str) -> Result<Option<CallingSession>, ControlError> {
        let Some(id) = session_project(secret) else { return Ok(None) };
        let Some(project) = self.server.project(&id).await? else { return Ok(None) };
        let board = project.newest().await?;
        let found = board.session_with(&token_hash(secret)).map(|session| session.id);
        Ok(found.map(|session| CallingSession::new(project, board, session)))
    }

    async fn token_of(&self, bearer: &Bearer) -> Result<Option<CallingToken>, ControlError> {
        let hash = token_hash(bearer.reveal());
        let installation = self.server.installation().newest().await?;
        let known = installation.token(&hash, &[TokenUse::Bearer], self.server.now());
        let Some(token) = known else { return Ok(None) };
        let language = match token.role {
            Role::Orchestrator => self.shared_language(&installation).await?,
            Role::Owner | Role::Viewer | Role::Runner | Role::Coordinator => Language::En,
        };
        Ok(Some(CallingToken { role: token.role, name: token.name.clone(), language }))
    }

    /// The language of all projects; if they have several, English.
    async fn shared_language(&self, installation: &Installation) -> Result<Language, ControlError> {
        let mut shared = None;
        for id in installation.projects.keys() {
            let Some(project) = self.server.project(id).await? else { continue };
            let language = project.board().settings.language;
            if shared.is_some_and(|shared| shared != language) {
                return Ok(Language::En);
            }
            shared = Some(language);
        }
        Ok(shared.unwrap_or(Language::En))
    }
}
