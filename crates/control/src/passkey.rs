//! How are passkeys kept? Only as a hash that is slow to compute, because a person may have chosen them.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use board::SecretHash;
use dispatch::token_hash;

/// The hash of a passkey, which may be typed by a person: slow on purpose. Two bytes of a fast one stand before it: almost
/// every guess is refused by these, so that whoever guesses does not keep the right one waiting.
pub fn passkey_hash(passkey: &str) -> Result<SecretHash, String> {
    let hash = Argon2::default().hash_password(passkey.as_bytes()).map_err(|error| error.to_string())?;
    Ok(SecretHash(format!("{}{hash}", fast_part(passkey))))
}

/// Is it worth computing the slow hash? Costs nothing.
pub fn passkey_may_match(passkey: &str, hash: &SecretHash) -> bool {
    // Older ones have no fast part.
    hash.0.starts_with('$') || hash.0.starts_with(&fast_part(passkey))
}

pub fn passkey_matches(passkey: &str, hash: &SecretHash) -> bool {
    let slow = hash.0.find('$').map_or("", |start| &hash.0[start..]);
    passkey_may_match(passkey, hash)
        && PasswordHash::new(slow)
            .is_ok_and(|parsed| Argon2::default().verify_password(passkey.as_bytes(), &parsed).is_ok())
}

fn fast_part(passkey: &str) -> String {
    token_hash(passkey).0.chars().take(4).collect()
}

#[cfg(test)]
mod tests {
    use dispatch::NewSecret;

    use super::{passkey_hash, passkey_matches, passkey_may_match};

    /// S3, S4, F35
    #[test]
    fn passkeys_are_recognised_by_their_hash() {
        let secret = NewSecret::generate("pk").unwrap();
        let hash = passkey_hash(secret.reveal()).unwrap();
        assert!(passkey_matches(secret.reveal(), &hash));
        assert!(!passkey_matches("pk_0", &hash) && !passkey_may_match("pk_0", &hash));
        let older = board::SecretHash(hash.0[4..].to_owned());
        assert!(passkey_matches(secret.reveal(), &older) && !passkey_matches("pk_0", &older));
        assert!(!hash.0.contains(secret.reveal()));
        assert!(!format!("{hash:?}").contains(&secret.reveal()[3..]));
    }
}
