//! How are secrets made and recognised? Random, shown once, kept only as a hash.

use board::{ProjectId, SecretHash};

/// A secret that was just made. It is printed once and then forgotten.
pub struct NewSecret {
    text: String,
}

impl std::fmt::Debug for NewSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("NewSecret(…)")
    }
}

impl NewSecret {
    /// 256 bits from the system, in hexadecimal, behind a prefix that tells what it is for.
    pub fn generate(prefix: &str) -> Result<Self, getrandom::Error> {
        let mut bytes = [0u8; 32];
        getrandom::fill(&mut bytes)?;
        let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        Ok(Self { text: format!("{prefix}_{hex}") })
    }

    /// The credential of one session. It names its project, so that no other project has to be searched.
    pub fn for_session(project: &ProjectId) -> Result<Self, getrandom::Error> {
        Self::generate(&format!("{SESSION}{project}"))
    }

    pub fn reveal(&self) -> &str {
        &self.text
    }
}

const SESSION: &str = "ses.";

/// The project that a session's credential names; `None` if it is none.
pub fn session_project(secret: &str) -> Option<ProjectId> {
    let (project, _) = secret.strip_prefix(SESSION)?.rsplit_once('_')?;
    project.parse().ok()
}

/// The hash of a random token. 256 random bits cannot be guessed, so a fast hash is right.
pub fn token_hash(token: &str) -> SecretHash {
    SecretHash(blake3::hash(token.as_bytes()).to_hex().to_string())
}

#[cfg(test)]
mod tests {
    use super::{NewSecret, session_project, token_hash};

    /// S3
    #[test]
    fn a_sessions_credential_names_its_project() {
        for name in ["web", "my_app", "a.b-c"] {
            let Ok(project) = name.parse() else { continue };
            let secret = NewSecret::for_session(&project).unwrap();
            assert_eq!(session_project(secret.reveal()), Some(project));
        }
        for other in ["", "ses.", "ses.web", "pk_12", "ses._12"] {
            assert_eq!(session_project(other), None, "{other}");
        }
    }

    /// S4, F35
    #[test]
    fn secrets_are_never_shown_by_debug() {
        let secret = NewSecret::generate("tok").unwrap();
        assert_ne!(token_hash(secret.reveal()).0, secret.reveal());
        assert!(!format!("{secret:?}").contains(&secret.reveal()[4..]));
    }
}
