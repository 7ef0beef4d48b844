//! W3, S4: who is let in, by what, and for how long?

use board::{
    Actor, Code, Installation, InstallationCommand, NewToken, Role, SecretHash, Span, Timestamp, Token, TokenUse,
};

use crate::world::{owner, runner};

const NOW: Timestamp = Timestamp(1_000_000);

fn hash(secret: &str) -> SecretHash {
    SecretHash(secret.into())
}

fn with(tokens: &[(&str, Role, TokenUse, Option<Timestamp>)]) -> Installation {
    let mut installation = Installation::default();
    for (id, role, used_as, expires_at) in tokens {
        let new = NewToken {
            id: (*id).into(),
            role: *role,
            name: "n".into(),
            hash: hash(id),
            used_as: *used_as,
            expires_at: *expires_at,
            given_for: None,
            labels: Vec::new(),
        };
        submit(&mut installation, &owner(), &InstallationCommand::CreateToken(new), NOW).unwrap();
    }
    installation
}

fn submit(
    installation: &mut Installation,
    actor: &Actor,
    command: &InstallationCommand,
    now: Timestamp,
) -> Result<(), Code> {
    let events = installation.admit(actor, command, now).map_err(|refusal| refusal.code())?;
    events.iter().for_each(|event| installation.apply(event));
    Ok(())
}

fn log_in(with: &str, id: &str) -> InstallationCommand {
    InstallationCommand::LogIn { with: with.into(), id: id.into(), hash: hash(id), expires_at: NOW + Span::minutes(10) }
}

/// W3: a link is good once; the browser gets a token of the same role, which ends by itself.
#[test]
fn a_link_is_spent_by_its_login() {
    let mut installation = with(&[("link", Role::Viewer, TokenUse::Link, Some(NOW + Span::minutes(1)))]);
    submit(&mut installation, &Actor::System, &log_in("link", "first"), NOW).unwrap();
    assert_eq!(submit(&mut installation, &Actor::System, &log_in("link", "second"), NOW), Err(Code::NotAuthenticated));
    let token = |now| installation.token(&hash("first"), &[TokenUse::Browser], now).map(|token: &Token| token.role);
    assert_eq!(token(NOW), Some(Role::Viewer));
    assert_eq!(token(NOW + Span::minutes(10)), None, "it ends");
    assert!(
        installation.token(&hash("first"), &[TokenUse::Bearer, TokenUse::Link], NOW).is_none(),
        "a cookie is no bearer"
    );
}

/// W3: what is too old, revoked or a browser's own gives no login; a program's token does, and stays.
#[test]
fn only_good_links_and_tokens_give_a_login() {
    let mut installation = with(&[
        ("late", Role::Owner, TokenUse::Link, Some(NOW)),
        ("browser", Role::Owner, TokenUse::Browser, None),
        ("revoked", Role::Owner, TokenUse::Bearer, None),
        ("program", Role::Owner, TokenUse::Bearer, None),
    ]);
    submit(&mut installation, &owner(), &InstallationCommand::RevokeToken { id: "revoked".into() }, NOW).unwrap();
    for bad in ["late", "browser", "revoked"] {
        assert_eq!(
            submit(&mut installation, &Actor::System, &log_in(bad, "x"), NOW),
            Err(Code::NotAuthenticated),
            "{bad}"
        );
    }
    assert_eq!(submit(&mut installation, &Actor::System, &log_in("nobody", "x"), NOW), Err(Code::NotFound));
    assert_eq!(submit(&mut installation, &runner(), &log_in("program", "x"), NOW), Err(Code::NotAllowed));
    for again in ["one", "two"] {
        submit(&mut installation, &Actor::System, &log_in("program", again), NOW).unwrap();
    }
    // Whoever's token is revoked is logged out everywhere.
    assert!(installation.token(&hash("one"), &[TokenUse::Browser], NOW).is_some());
    submit(&mut installation, &owner(), &InstallationCommand::RevokeToken { id: "program".into() }, NOW).unwrap();
    assert!(installation.token(&hash("one"), &[TokenUse::Browser], NOW).is_none());
}

/// E4: tokens that were made before there were logins are read as what they are.
#[test]
fn old_tokens_are_bearers_that_do_not_end() {
    let old = r#"{"at":"2026-01-01T00:00:00Z","by":{"owner":"o"},"what":{"token_created":{"id":"t","role":"owner","name":"","hash":"h"}}}"#;
    let mut installation = Installation::default();
    installation.apply(&serde_json::from_str(old).unwrap());
    let token = &installation.tokens["t"];
    assert_eq!((token.used_as, token.expires_at), (TokenUse::Bearer, None));
}

/// C1: a directory is one project, whatever name it is added under.
#[test]
fn path_is_added_once() {
    let mut installation = Installation::default();
    let add = |id: &str, path: &str| InstallationCommand::AddProject { id: id.parse().unwrap(), path: path.into() };
    submit(&mut installation, &owner(), &add("web", "/src/web"), NOW).unwrap();
    submit(&mut installation, &owner(), &add("other", "/src/web"), NOW).unwrap();
    assert_eq!(installation.projects.keys().map(ToString::to_string).collect::<Vec<_>>(), ["web"]);
    assert_eq!(submit(&mut installation, &owner(), &add("web", "/src/other"), NOW), Err(Code::StateConflict));
}
