//! Where is the database, and how is it spoken to?

use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode, TargetSessionAttrs};
use tokio_postgres_rustls::MakeRustlsConnect;
use url::form_urlencoded;

/// What a connection that was cut is noticed by, where the address does not say.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const SILENCE: Duration = Duration::from_secs(15);

/// The address of a PostgreSQL database, such as `postgres://user@host/database`.
#[derive(Clone)]
pub struct PostgresAddress {
    config: Config,
    /// A file with the certificates that are trusted, instead of the system's.
    trusted: Option<String>,
}

/// Why an address cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BadAddress(pub(crate) String);

impl FromStr for PostgresAddress {
    type Err = BadAddress;

    /// The parameters are those of libpq, besides that nothing is encrypted without being verified: `sslmode` is `disable` or
    /// `verify-full` (also called `require`). Without it, only what stays on this machine is not encrypted.
    fn from_str(address: &str) -> Result<Self, BadAddress> {
        let (place, query) = address.split_once('?').unwrap_or((address, ""));
        let (mut mode, mut trusted) = (None, None);
        let mut others = form_urlencoded::Serializer::new(String::new());
        for (name, value) in form_urlencoded::parse(query.as_bytes()) {
            match name.as_ref() {
                "sslmode" => mode = Some(value.into_owned()),
                "sslrootcert" => trusted = Some(value.into_owned()),
                _ => drop(others.append_pair(&name, &value)),
            }
        }
        // libpq does not read `+` as a space.
        let others = others.finish().replace('+', "%20");
        let mut config: Config = format!("{place}?{others}").parse().map_err(|error| BadAddress(said(&error)))?;
        let encrypted = match mode.as_deref() {
            Some("disable") => false,
            Some("require" | "verify-full") => true,
            None => !config.get_hosts().iter().all(is_local),
            Some(other) => {
                return Err(BadAddress(format!(
                    "`sslmode={other}` would not verify the server: use `verify-full`, or `disable` where you trust the network"
                )));
            }
        };
        config.ssl_mode(if encrypted { SslMode::Require } else { SslMode::Disable });
        if config.get_hosts().is_empty() {
            return Err(BadAddress("it names no host".into()));
        }
        if config.get_dbname().is_none() {
            return Err(BadAddress("it names no database, as in `postgres://user@host/database`".into()));
        }
        if config.get_password().is_none()
            && let Ok(password) = std::env::var("PGPASSWORD")
        {
            config.password(password);
        }
        if config.get_application_name().is_none() {
            config.application_name("saihai");
        }
        if config.get_connect_timeout().is_none() {
            config.connect_timeout(CONNECT_TIMEOUT);
        }
        if config.get_tcp_user_timeout().is_none() {
            config.tcp_user_timeout(SILENCE);
            config.keepalives_idle(SILENCE / 3).keepalives_interval(SILENCE / 3).keepalives_retries(2);
        }
        // After a failover the old primary may still answer, and take no writes.
        config.target_session_attrs(TargetSessionAttrs::ReadWrite);
        Ok(Self { config, trusted })
    }
}

impl PostgresAddress {
    pub(crate) fn config(&self) -> &Config {
        &self.config
    }

    /// What encrypts connections. Reads certificates, also where nothing is encrypted: only a few milliseconds.
    pub(super) fn tls(&self) -> Result<MakeRustlsConnect, BadAddress> {
        let mut roots = RootCertStore::empty();
        let encrypted = self.config.get_ssl_mode() == SslMode::Require;
        let trusted = match &self.trusted {
            Some(file) if encrypted => {
                let cannot = |error| BadAddress(format!("`sslrootcert={file}` cannot be read: {error}"));
                let read: Result<Vec<_>, _> = CertificateDer::pem_file_iter(file).map_err(cannot)?.collect();
                read.map_err(cannot)?
            }
            None if encrypted => rustls_native_certs::load_native_certs().certs,
            Some(_) | None => Vec::new(),
        };
        roots.add_parsable_certificates(trusted);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| BadAddress(error.to_string()))?
            .with_root_certificates(roots)
            .with_no_client_auth();
        Ok(MakeRustlsConnect::new(config))
    }
}

/// Does what is said to this host stay on this machine?
fn is_local(host: &Host) -> bool {
    match host {
        Host::Tcp(name) => name == "localhost" || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback()),
        Host::Unix(_) => true,
    }
}

/// An error of the client with what is below it, in one line.
pub(super) fn said(error: &(dyn std::error::Error + 'static)) -> String {
    let mut said = error.to_string();
    let mut cause = error.source();
    while let Some(below) = cause {
        let text = below.to_string();
        if !said.contains(&text) {
            said = format!("{said}: {text}");
        }
        cause = below.source();
    }
    said
}

/// Without the password.
impl fmt::Display for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("postgres://")?;
        if let Some(user) = self.config.get_user() {
            write!(f, "{user}@")?;
        }
        let ports = self.config.get_ports();
        for (at, host) in self.config.get_hosts().iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            match host {
                Host::Tcp(name) => write!(f, "{comma}{name}")?,
                Host::Unix(path) => write!(f, "{comma}{}", path.display())?,
            }
            if let Some(port) = ports.get(at).or(ports.first()).filter(|port| **port != 5432) {
                write!(f, ":{port}")?;
            }
        }
        write!(f, "/{}", self.config.get_dbname().unwrap_or_default())
    }
}

impl fmt::Debug for PostgresAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn address(text: &str) -> Result<PostgresAddress, BadAddress> {
        text.parse()
    }

    /// E3, E8: no password is shown, and what leaves the machine is encrypted and verified.
    #[test]
    fn addresses_are_safe_unless_they_say_otherwise() {
        let mode = |text: &str| address(text).unwrap().config.get_ssl_mode();
        for local in ["postgres://me@localhost/s", "postgres://me@127.0.0.1/s", "postgresql:///s?host=/run/postgresql"]
        {
            assert_eq!(mode(local), SslMode::Disable, "{local}");
        }
        for remote in
            ["postgres://me@db/s", "postgres://me@localhost,db/s", "postgres://me@localhost/s?sslmode=require"]
        {
            assert_eq!(mode(remote), SslMode::Require, "{remote}");
        }
        assert_eq!(mode("postgres://me@db/s?sslmode=disable"), SslMode::Disable);
        let shown = address("postgres://me:secret@db:6432/s?sslmode=verify-full&sslrootcert=/a/b.pem").unwrap();
        assert_eq!((shown.to_string(), format!("{shown:?}")), ("postgres://me@db:6432/s".into(), shown.to_string()));
        assert_eq!(shown.trusted.as_deref(), Some("/a/b.pem"));
    }

    /// E3: an address that cannot work is refused with the reason.
    #[test]
    fn addresses_that_cannot_work_say_why() {
        for (wrong, part) in [
            ("postgres://me@db/s?sslmode=prefer", "verify"),
            ("postgres://me@db", "database"),
            ("postgres://me@db/s?sslroot=x", "sslroot"),
            ("postgres://me@db:x/s", "port"),
            ("postgres:///s", "host"),
        ] {
            let error = address(wrong).unwrap_err().to_string();
            assert!(error.contains(part), "{wrong}: {error}");
        }
        let missing = address("postgres://me@db/s?sslrootcert=/nonexistent/ca.pem").unwrap();
        assert!(missing.tls().err().unwrap().to_string().contains("/nonexistent/ca.pem"));
    }

    /// E3: parameters that are for the server reach it as they were written.
    #[test]
    fn parameters_are_passed_on() {
        let options = address("postgres://me@db/s?options=-csearch_path%3Dteam&application_name=a%20b").unwrap();
        assert_eq!(options.config.get_options(), Some("-csearch_path=team"));
        assert_eq!(options.config.get_application_name(), Some("a b"));
    }
}
