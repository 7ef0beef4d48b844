//! How are passkeys kept? Only as a hash that is slow to compute, because a person may have chosen them.

use argon2::Argon2;
use argon2::password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash};
use board::SecretHash;

/// The hash of a passkey, which may be typed by a person: slow on purpose.
pub fn passkey_hash(passkey: &str) -> Result<SecretHash, String> {
    let hash = Argon2::default().hash_password(passkey.as_bytes()).map_err(|error| error.to_string())?;
    Ok(SecretHash(hash.to_string()))
}

pub fn passkey_matches(passkey: &str, hash: &SecretHash) -> bool {
    PasswordHash::new(&hash.0)
        .is_ok_and(|parsed| Argon2::default().verify_password(passkey.as_bytes(), &parsed).is_ok())
}

#[cfg(test)]
mod tests {
    use dispatch::NewSecret;

    use super::{passkey_hash, passkey_matches};

    /// S3, S4, F35
    #[test]
    fn passkeys_are_recognised_by_their_hash() {
        let secret = NewSecret::generate("pk").unwrap();
        let hash = passkey_hash(secret.reveal()).unwrap();
        assert!(passkey_matches(secret.reveal(), &hash));
        assert!(!passkey_matches("pk_0", &hash));
        assert!(!hash.0.contains(secret.reveal()));
        assert!(!format!("{hash:?}").contains(&secret.reveal()[3..]));
    }
}
