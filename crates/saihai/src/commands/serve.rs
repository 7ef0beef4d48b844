//! `saihai serve`

use std::path::PathBuf;
use std::sync::Arc;

use board::Language;
use clap::Args;
use control::ProcessLifetime;
use server::{HttpServer, Listen, ListenError, ServerState, Tls};
use tokio::signal::unix::{SignalKind, signal};
use tokio_util::sync::CancellationToken;
use web::Web;

use crate::context::{Context, owner, say_in};
use crate::failure::{CliExit, Failure, write_stderr};
use crate::local_files::LocalFilesOnDisk;
use crate::running_servers::ServerRegistration;
use crate::show::Format;
use crate::up_process::open_all_projects;
use crate::up_process::with_routes;

/// How long calls in progress may take to finish at shutdown.
const SHUTDOWN_GRACE: std::time::Duration = std::time::Duration::from_secs(5);

/// Serve the board to agents over MCP
#[derive(Debug, Args)]
#[command(after_help = "\
Agents reach it at http://ADDR/mcp. It starts no agents; it answers the agents of every project of
this installation, and `saihai runner` on other hosts. Clients on other machines must use a name
that --allow-host permits; give them TLS with --tls-cert and --tls-key, or a proxy that has it.

Attach an agent by hand:
  saihai agent passkey coder
  claude mcp add --transport http saihai http://127.0.0.1:4700/mcp \\
    --header \"Authorization: Bearer PASSKEY\"")]
pub(crate) struct Serve {
    /// Where to listen: HOST:PORT (port 0: any free one) or unix:PATH
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:4700")]
    listen: Listen,
    /// Another name under which clients may reach it; can be given several times
    #[arg(long, value_name = "HOST")]
    allow_host: Vec<String>,
    /// Speak TLS with this certificate and its chain (PEM); read again when it changes
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// The certificate's key (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
}

impl Serve {
    pub(crate) async fn run(self, context: &Context) -> Result<(), Failure> {
        let tls = self.tls(context)?;
        let control = context.control(ProcessLifetime::LongLived).await?;
        let failed = |error| Failure::control(error, context.language());
        open_all_projects(&control, context).await?;
        let server = ServerState::open(control, CancellationToken::new()).await.map_err(failed)?;
        let shutdown = server.shutdown().clone();
        let http_server = HttpServer::bind(shutdown.clone(), &self.listen, &self.allow_host).await;
        let web = Web::new(Arc::clone(&server), Arc::new(LocalFilesOnDisk { home: context.home.clone() }));
        let http_server = http_server.map_err(|error| cannot_listen(&error, context.language()))?;
        let http_server = match tls {
            Some(tls) => http_server.with_tls(tls),
            None => http_server,
        };
        let http_server = with_routes(http_server, &server, &web, &context.home);
        let _registration = http_server.web_url().and_then(|url| ServerRegistration::register(&context.home, &url));
        let signal = shutdown_signal();
        let mcp_url = http_server.mcp_url();
        announce(
            context,
            &http_server,
            &web,
            &format!("Saihai serves agents at {mcp_url}\nCtrl-C ends it; agents can continue when it is back."),
            &format!(
                "Saihai は {mcp_url} でエージェントに応答します。\nCtrl-C で終了します。再開すればエージェントは続行できます。"
            ),
        )
        .await?;
        let ending = async {
            signal.await;
            shutdown.cancel();
            tokio::time::sleep(SHUTDOWN_GRACE).await;
        };
        tokio::select! {
            () = http_server.serve() => {}
            () = ending => {}
        }
        server.close().await;
        Ok(())
    }
}

impl Serve {
    fn tls(&self, context: &Context) -> Result<Option<Tls>, Failure> {
        let (Some(certificate), Some(key)) = (&self.tls_cert, &self.tls_key) else { return Ok(None) };
        Tls::read(certificate, key).map(Some).map_err(|error| {
            Failure::bad_argument(
                error.to_string(),
                context.say(
                    "Give --tls-cert the certificate with its chain and --tls-key its key, both as PEM.",
                    "--tls-cert に証明書（中間証明書を含む）、--tls-key にその鍵を PEM 形式で指定してください。",
                ),
            )
        })
    }
}

/// Prints where the server is reached (C6).
pub(crate) async fn announce(
    context: &Context,
    http_server: &HttpServer,
    web: &Web,
    en: &str,
    ja: &str,
) -> Result<(), Failure> {
    let (url, mcp_url) = (http_server.url(), http_server.mcp_url());
    let login_url = login_url(context, http_server, web).await?;
    let json = serde_json::json!({ "url": url, "mcp_url": mcp_url, "login_url": login_url });
    context.format.print(
        &json,
        || vec![mcp_url.clone()],
        || match &login_url {
            Some(link) => context.say(format!("{en}\nOpen the board: {link}"), format!("{ja}\nボードを開く: {link}")),
            None => context.say(en, ja),
        },
    )?;
    if context.format == Format::Text && url.starts_with("http://0.0.0.0") {
        write_stderr(&context.say(
            "note: other machines reach it only by a name that --allow-host permits; anybody on the network can try.",
            "注意: 他のマシンからは --allow-host で許可した名前でのみ使えます。接続はネットワーク上の誰でも試せます。",
        ));
    }
    Ok(())
}

/// A link that logs the owner in once. There is none for a unix socket, which no browser can use.
pub(crate) async fn login_url(
    context: &Context,
    http_server: &HttpServer,
    web: &Web,
) -> Result<Option<String>, Failure> {
    let Some(url) = http_server.web_url() else { return Ok(None) };
    let code = web.offer_login(owner()).await.map_err(|error| Failure::control(error, context.language()))?;
    Ok(Some(format!("{url}/login?code={}", code.reveal())))
}

/// Waits for Ctrl-C or SIGTERM; a second one ends the process at once. The handlers are installed by the call, not by
/// the first poll: a caller that was told that the server is ready may end it at once.
pub(crate) fn shutdown_signal() -> impl Future<Output = ()> {
    let (terminate, interrupt) = (signal(SignalKind::terminate()), signal(SignalKind::interrupt()));
    async {
        match (terminate, interrupt) {
            (Ok(mut terminate), Ok(mut interrupt)) => {
                let mut signalled = async move || {
                    tokio::select! {
                        _ = terminate.recv() => 143,
                        _ = interrupt.recv() => 130,
                    }
                };
                signalled().await;
                // Nothing is lost: agents have their shims, and what was not told yet is on the disk.
                tokio::spawn(async move { std::process::exit(signalled().await) });
            }
            (Err(_), _) | (_, Err(_)) => std::future::pending().await,
        }
    }
}

pub(crate) fn cannot_listen(error: &ListenError, language: Language) -> Failure {
    let message_ja = match error {
        ListenError::Listen { address, error } => format!("{address} で待ち受けできません: {error}"),
        ListenError::Taken(path) => format!("別のサーバーが {} で待ち受けています。", path.display()),
    };
    let (hint, hint_ja) = match error {
        ListenError::Listen { error, .. } if error.kind() == std::io::ErrorKind::AddrInUse => (
            "Perhaps `saihai serve` runs already, and serves every project; or choose another address with --listen.",
            "既に `saihai serve` が全プロジェクトに応答しているかもしれません。または --listen で別のアドレスを指定してください。",
        ),
        ListenError::Listen { .. } => (
            "Choose another address with --listen; port 0 takes any free one.",
            "--listen で別のアドレスを指定してください。ポート 0 なら空いているものを使います。",
        ),
        ListenError::Taken(_) => (
            "Use that server, or choose another path with --listen.",
            "そのサーバーを使うか、--listen で別のパスを指定してください。",
        ),
    };
    let message = say_in(language, error.to_string(), message_ja);
    Failure::new(CliExit::Refused, "cannot_listen", message, say_in(language, hint, hint_ja))
}
