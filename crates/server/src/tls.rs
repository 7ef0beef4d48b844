//! How does a server speak TLS by itself (R10)? With a certificate from files, which are read again when they change.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime};

use rustls::ServerConfig;
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, ResolvesServerCert};
use rustls::sign::CertifiedKey;

/// How often it is looked whether the files have changed: certificates are renewed while servers run.
const LOOK: Duration = Duration::from_secs(30);

/// The files do not make a server's certificate.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", .file.display())]
pub struct BadCertificate {
    pub file: PathBuf,
    reason: String,
}

/// How a server shows who it is.
#[derive(Clone, Debug)]
pub struct Tls(pub(crate) Arc<ServerConfig>);

/// A request that came over TLS has this among its extensions.
#[derive(Clone, Copy, Debug)]
pub struct OverTls;

impl Tls {
    /// Reads a certificate with its chain, and its key, both as PEM.
    pub fn read(certificate: &Path, key: &Path) -> Result<Self, BadCertificate> {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let files = Files { certificate: certificate.to_owned(), key: key.to_owned() };
        let known = Known { key: files.read(&provider)?, changed: files.changed(), looked: Instant::now() };
        let resolver = Reloading { files, provider: Arc::clone(&provider), known: Mutex::new(known) };
        let bad = |error: rustls::Error| BadCertificate { file: certificate.to_owned(), reason: error.to_string() };
        let config =
            ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().map_err(bad)?;
        let mut config = config.with_no_client_auth().with_cert_resolver(Arc::new(resolver));
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        Ok(Self(Arc::new(config)))
    }
}

#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

impl Files {
    fn read(&self, provider: &CryptoProvider) -> Result<Arc<CertifiedKey>, BadCertificate> {
        let bad = |file: &Path, reason: String| BadCertificate { file: file.to_owned(), reason };
        let chain: Result<Vec<_>, _> = CertificateDer::pem_file_iter(&self.certificate).and_then(Iterator::collect);
        let chain = chain.map_err(|error| bad(&self.certificate, error.to_string()))?;
        if chain.is_empty() {
            return Err(bad(&self.certificate, "there is no certificate in it".into()));
        }
        let key = PrivateKeyDer::from_pem_file(&self.key).map_err(|error| bad(&self.key, error.to_string()))?;
        let certified = CertifiedKey::from_der(chain, key, provider);
        certified.map(Arc::new).map_err(|error| bad(&self.key, error.to_string()))
    }

    fn changed(&self) -> [Option<SystemTime>; 2] {
        [&self.certificate, &self.key].map(|file| std::fs::metadata(file).and_then(|about| about.modified()).ok())
    }
}

/// The certificate, as it is in the files by now. What cannot be read, half-written perhaps, changes nothing.
#[derive(Debug)]
struct Reloading {
    files: Files,
    provider: Arc<CryptoProvider>,
    known: Mutex<Known>,
}

#[derive(Debug)]
struct Known {
    key: Arc<CertifiedKey>,
    changed: [Option<SystemTime>; 2],
    looked: Instant,
}

impl Reloading {
    fn newest(&self, look_after: Duration) -> Arc<CertifiedKey> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if known.looked.elapsed() >= look_after {
            known.looked = Instant::now();
            let changed = self.files.changed();
            if changed != known.changed {
                match self.files.read(&self.provider) {
                    Ok(key) => (known.key, known.changed) = (key, changed),
                    Err(error) => tracing::warn!(%error, "the certificate cannot be read again"),
                }
            }
        }
        Arc::clone(&known.key)
    }
}

impl ResolvesServerCert for Reloading {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.newest(LOOK))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(directory: &Path) -> (PathBuf, PathBuf) {
        let made = rcgen::generate_simple_self_signed(vec!["localhost".into()]).unwrap();
        let (certificate, key) = (directory.join("cert.pem"), directory.join("key.pem"));
        std::fs::write(&certificate, made.cert.pem()).unwrap();
        std::fs::write(&key, made.signing_key.serialize_pem()).unwrap();
        (certificate, key)
    }

    /// R10: a renewed certificate is used without a restart; one that cannot be read changes nothing.
    #[test]
    fn renewed_certificates_are_read() {
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) = write(directory.path());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let files = Files { certificate: certificate.clone(), key };
        // As if it had been read long ago.
        let known = Known { key: files.read(&provider).unwrap(), changed: [None; 2], looked: Instant::now() };
        let first = Arc::clone(&known.key);
        let resolver = Reloading { files, provider, known: Mutex::new(known) };
        write(directory.path());
        let renewed = resolver.newest(Duration::ZERO);
        assert_ne!(renewed.cert, first.cert);
        std::fs::write(&certificate, "half").unwrap();
        assert_eq!(resolver.newest(Duration::ZERO).cert, renewed.cert);
    }

    /// R10: files that cannot work are named with the reason.
    #[test]
    fn bad_files_are_named() {
        let directory = tempfile::tempdir().unwrap();
        let (certificate, key) = write(directory.path());
        assert!(Tls::read(&certificate, &key).is_ok());
        let missing = Tls::read(&directory.path().join("nothing"), &key).unwrap_err();
        assert_eq!(missing.file, directory.path().join("nothing"));
        let swapped = Tls::read(&certificate, &certificate).unwrap_err();
        assert_eq!(swapped.file, certificate);
        let empty = directory.path().join("empty.pem");
        std::fs::write(&empty, "").unwrap();
        assert!(Tls::read(&empty, &key).unwrap_err().to_string().contains("no certificate"));
        let other = tempfile::tempdir().unwrap();
        let (_, foreign) = write(other.path());
        assert_eq!(Tls::read(&certificate, &foreign).unwrap_err().file, foreign, "a key of another certificate");
    }
}
