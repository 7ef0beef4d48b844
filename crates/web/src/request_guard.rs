//! Which requests are let in at all, and what does every answer forbid the browser?

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, Method, StatusCode, header};

use super::problem::Problem;

/// Nothing but what this server itself serves, and no script or style inside of a page.
const POLICY: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
     form-action 'self'; frame-ancestors 'none'; base-uri 'none'";

/// The names under which this server may be called.
pub(super) type Hosts = Arc<[String]>;

/// Lets in who names this server (DNS rebinding), and changes only from its own pages (CSRF, F90).
pub(super) async fn guard_request(State(hosts): State<Hosts>, request: Request, next: Next) -> Response {
    let mut response = match check(&hosts, request.method(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(problem) => problem.into_response(),
    };
    let headers = response.headers_mut();
    let fixed = [
        (header::CONTENT_SECURITY_POLICY, POLICY),
        (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (header::X_FRAME_OPTIONS, "DENY"),
        // With `no-referrer` browsers call the origin of our own forms `null`.
        (header::REFERRER_POLICY, "same-origin"),
    ];
    for (name, value) in fixed {
        headers.insert(name, HeaderValue::from_static(value));
    }
    for name in ["cross-origin-opener-policy", "cross-origin-resource-policy"] {
        headers.insert(name, HeaderValue::from_static("same-origin"));
    }
    if !headers.contains_key(header::CACHE_CONTROL) {
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    }
    response
}

fn check(hosts: &[String], method: &Method, headers: &HeaderMap) -> Result<(), Problem> {
    let text = |name| headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
    let host = text(header::HOST).unwrap_or_default();
    if !hosts.iter().any(|known| known.eq_ignore_ascii_case(name_of(host))) {
        return Err(Problem::new(
            StatusCode::MISDIRECTED_REQUEST,
            "unknown_host",
            format!("This server is not called `{}`.", name_of(host)),
            "Use the address that it printed, or start it with --allow-host NAME.",
        ));
    }
    if method.is_safe() {
        return Ok(());
    }
    let foreign = text(header::ORIGIN).is_some_and(|origin| {
        let (_, authority) = origin.split_once("://").unwrap_or_default();
        !authority.eq_ignore_ascii_case(host)
    });
    let elsewhere = headers.get("sec-fetch-site").is_some_and(|site| site != "same-origin" && site != "none");
    if foreign || elsewhere {
        return Err(Problem::new(
            StatusCode::FORBIDDEN,
            "foreign_origin",
            "Another site asked for this.",
            "Open Saihai itself and do it there.",
        ));
    }
    Ok(())
}

/// The host without its port.
fn name_of(authority: &str) -> &str {
    match authority.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) if rest.is_empty() || rest.starts_with(':') => address,
        Some(_) => "",
        None => authority.rsplit_once(':').map_or(authority, |(name, _)| name),
    }
}

#[cfg(test)]
mod tests {
    use http::{HeaderMap, Method};

    use super::{check, name_of};

    #[test]
    fn ports_and_brackets_are_no_part_of_a_name() {
        for (authority, name) in
            [("a:1", "a"), ("a", "a"), ("[::1]:80", "::1"), ("127.0.0.1:4700", "127.0.0.1"), ("[::1].evil.example", "")]
        {
            assert_eq!(name_of(authority), name);
        }
    }

    /// W3, F90
    #[test]
    fn strangers_and_other_sites_are_refused() {
        let hosts = ["localhost".to_owned()];
        let ask = |method: Method, headers: &[(&'static str, &'static str)]| {
            let headers: HeaderMap =
                headers.iter().map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap())).collect();
            check(&hosts, &method, &headers).map_err(|problem| problem.code)
        };
        let here = ("host", "localhost:47");
        assert_eq!(ask(Method::GET, &[here]), Ok(()));
        assert_eq!(ask(Method::POST, &[here]), Ok(()));
        assert_eq!(ask(Method::POST, &[here, ("origin", "http://localhost:47")]), Ok(()));
        assert_eq!(ask(Method::GET, &[]), Err("unknown_host".into()));
        assert_eq!(ask(Method::GET, &[("host", "evil.example")]), Err("unknown_host".into()));
        for origin in ["http://evil.example", "http://localhost:48", "null"] {
            assert_eq!(ask(Method::POST, &[here, ("origin", origin)]), Err("foreign_origin".into()), "{origin}");
        }
        assert_eq!(ask(Method::DELETE, &[here, ("sec-fetch-site", "cross-site")]), Err("foreign_origin".into()));
        assert_eq!(ask(Method::DELETE, &[here, ("sec-fetch-site", "same-site")]), Err("foreign_origin".into()));
    }
}
