//! C6, S4: tokens are shown once and kept as hashes.

use serde_json::json;

use crate::world::{World, column};

/// C6, S4
#[test]
fn a_token_is_shown_once() {
    let world = World::new();
    let created = world.json(&["token", "create", "--role", "runner", "--name", "build host"]);
    let token = created["token"].as_str().unwrap();
    assert!(token.len() > 32, "{token}");
    let list = world.json(&["token", "list"]);
    assert_eq!(
        [&list[0]["id"], &list[0]["role"], &list[0]["name"]],
        [&created["id"], &json!("runner"), &json!("build host")]
    );
    assert!(!list.to_string().contains(token) && !world.ok(&["token", "list"]).contains(token));
    let store = std::fs::read(world.store()).unwrap();
    assert!(!store.windows(token.len()).any(|window| window == token.as_bytes()));
}

/// C2: revoking is told in the list, and is the same twice.
#[test]
fn a_token_is_revoked() {
    let world = World::new();
    let id = world.json(&["token", "create", "--role", "viewer"])["id"].as_str().unwrap().to_owned();
    assert_eq!(world.json(&["token", "revoke", &id]), json!({"id": id, "revoked": true}));
    assert_eq!(world.json(&["token", "revoke", &id]), json!({"id": id, "revoked": true}));
    assert_eq!(world.json(&["token", "list"])[0]["revoked"], true);
}

/// C6: tokens belong to the installation; no repository is needed.
#[test]
fn a_token_needs_no_project() {
    let world = World::bare();
    let quiet = world.ok(&["token", "create", "--role", "owner", "--quiet"]);
    assert_eq!(quiet.lines().count(), 1);
    assert_eq!(column(&world.json(&["token", "list"]), "role"), ["owner"]);
}
