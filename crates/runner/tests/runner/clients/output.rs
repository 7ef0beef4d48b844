//! What clients print, as it was recorded, and what it is taken for.

use board::{Client, Span, Timestamp, Usage, VendorTrouble};
use runner::clients::{OutputReader, OutputSummary};

/// When all of it was heard: 2026-11-16T02:26:27Z.
const NOW: Timestamp = Timestamp(1_794_795_987_000);

/// The client with its end and the recording of its output.
fn summary_of(client: Client, recording: &str, exit_code: Option<i32>) -> OutputSummary {
    let path = format!("{}/tests/fixtures/{client}-{recording}.jsonl", env!("CARGO_MANIFEST_DIR"));
    let output = std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
    read(client, output.split(|byte| *byte == b'\n'), exit_code)
}

fn read<'a>(client: Client, lines: impl IntoIterator<Item = &'a [u8]>, exit_code: Option<i32>) -> OutputSummary {
    let mut reader = OutputReader::new(client);
    for line in lines {
        reader.line(line, 0, NOW);
    }
    reader.finish(exit_code)
}

fn limited(seconds: i64) -> Option<VendorTrouble> {
    Some(VendorTrouble::RateLimited { until: NOW + Span::seconds(seconds) })
}

/// R5, S5: usage, cost and the vendor's id of a session that went well.
#[test]
fn a_session_that_went_well_tells_what_it_used() {
    let told = |input_tokens, output_tokens, cost_micros, session: &str| OutputSummary {
        usage: Some(Usage { input_tokens, output_tokens, cost_micros }),
        vendor_session: Some(session.to_owned()),
        ..OutputSummary::default()
    };
    for (client, expected) in [
        (Client::ClaudeCode, told(2400, 480, Some(19_200), "0554c6f6-2be9-4423-b433-3ba9e0ef13b6")),
        (Client::Codex, told(2400, 480, None, "01a1e238-c6e0-7542-a51a-e0f5443b823b")),
        (Client::Gemini, told(2400, 480, None, "2f996ea7-43da-43f5-9aed-ac437e072017")),
        // The recording has two of its steps.
        (Client::Opencode, told(200, 40, None, "ses_e1dc709d9ffe3s0HtumFXIGa2u")),
    ] {
        assert_eq!(summary_of(client, "done", Some(0)), expected);
    }
}

/// R5, R12, G5: what was used is known before the end where the client tells, and a message that is told in two
/// events counts once.
#[test]
fn usage_is_known_before_the_end() {
    for client in [Client::ClaudeCode, Client::Opencode] {
        let path = format!("{}/tests/fixtures/{client}-done.jsonl", env!("CARGO_MANIFEST_DIR"));
        let recording = std::fs::read_to_string(path).unwrap();
        let mut reader = OutputReader::new(client);
        for line in recording.lines().filter(|line| !line.contains(r#""type":"result""#)) {
            reader.line(line.as_bytes(), 0, NOW);
            if client == Client::ClaudeCode {
                reader.line(line.as_bytes(), 0, NOW);
            }
        }
        let usage = Usage { input_tokens: 200, output_tokens: 40, cost_micros: None };
        assert_eq!(reader.usage(), Some(usage), "{client}");
    }
}

/// A3, V2.1, F34: a refused session parks the account until the time that the vendor named.
#[test]
fn a_vendors_refusal_is_recognised() {
    let unavailable = Some(VendorTrouble::Unavailable);
    for (client, recording, exit_code, expected) in [
        (Client::ClaudeCode, "429", 1, limited(60)),
        (Client::ClaudeCode, "five-hour-limit", 1, limited(3600)),
        (Client::ClaudeCode, "529", 1, unavailable),
        (Client::ClaudeCode, "unreachable", 1, unavailable),
        (Client::Codex, "429", 1, limited(60)),
        (Client::Codex, "500", 1, unavailable),
        (Client::Gemini, "429", 173, Some(VendorTrouble::RateLimited { until: NOW + Span(38_200) })),
        (Client::Gemini, "500", 244, unavailable),
        (Client::Gemini, "unreachable", 1, unavailable),
        // One second, by its headers, and it has waited that long six times.
        (Client::Opencode, "429", 1, limited(10)),
    ] {
        let summary = summary_of(client, recording, Some(exit_code));
        assert_eq!((summary.trouble, summary.login), (expected, None), "{client} {recording}");
    }
}

/// R5: who is not logged in is told what to do.
#[test]
fn a_refused_login_says_what_to_do() {
    for (client, recording, exit_code, said) in [
        (Client::ClaudeCode, "401", 1, "run `claude` and /login, or set ANTHROPIC_API_KEY"),
        (Client::ClaudeCode, "no-login", 1, "It said: Not logged in"),
        (Client::Codex, "401", 1, "run `codex login`"),
        (Client::Codex, "no-key", 1, "Missing environment variable: `OPENAI_API_KEY`"),
        (Client::Gemini, "401", 145, "GEMINI_API_KEY"),
        (Client::Opencode, "401", 1, "run `opencode auth login`"),
    ] {
        let OutputSummary { trouble, login, .. } = summary_of(client, recording, Some(exit_code));
        assert!(login.as_ref().is_some_and(|login| login.contains(said)), "{client} {recording}: {login:?}");
        assert_eq!(trouble, None);
    }
    // It says so on stderr alone.
    assert!(read(Client::Gemini, [], Some(41)).login.unwrap().contains("not logged in"));
}

/// A3, F33: a client that waits in silence is ended by the runner, and it was the vendor all the same.
#[test]
fn a_client_that_was_ended_while_it_waited_was_refused() {
    for exit_code in [None, Some(1)] {
        assert_eq!(summary_of(Client::Codex, "waits-for-429", exit_code).trouble, limited(60));
        let network = summary_of(Client::Codex, "waits-for-network", exit_code).trouble;
        assert_eq!(network, Some(VendorTrouble::Unavailable));
    }
}

/// V2.1: only what a client ended over is trouble.
#[test]
fn trouble_that_a_client_got_over_is_none() {
    let retry =
        br#"{"type":"system","subtype":"api_retry","error_status":429,"error":"rate_limit","retry_delay_ms":9}"#;
    let answer = br#"{"type":"assistant","message":{"content":[]}}"#;
    let max_turns = br#"{"type":"result","subtype":"error_max_turns","is_error":true}"#;
    let bad = br#"{"type":"result","is_error":true,"api_error_status":400,"result":"prompt is too long"}"#;
    for lines in [[&retry[..], answer, max_turns], [retry, answer, bad], [retry, answer, b"killed"]] {
        assert_eq!(read(Client::ClaudeCode, lines, Some(1)).trouble, None);
    }
    let retry = br#"{"type":"error","message":"Reconnecting... 1/5 (unexpected status 503 Service Unavailable)"}"#;
    let answer = br#"{"type":"item.completed","item":{"type":"agent_message","text":"status 429"}}"#;
    assert_eq!(read(Client::Codex, [&retry[..], answer], Some(1)), OutputSummary::default());
    let refused = br#"{"type":"error","error":{"name":"APIError","data":{"statusCode":401}}}"#;
    let answer = br#"{"type":"step_finish","part":{}}"#;
    assert_eq!(read(Client::Opencode, [&refused[..], answer], Some(1)).login, None);
    // Its own end is none of the vendor's.
    for code in [42, 53, 55, 130] {
        assert_eq!(read(Client::Gemini, [&br#"{"type":"init"}"#[..]], Some(code)), OutputSummary::default());
    }
    for (client, recording) in [(Client::ClaudeCode, "429"), (Client::Codex, "401"), (Client::Opencode, "429")] {
        let OutputSummary { trouble, login, .. } = summary_of(client, recording, Some(0));
        assert_eq!((trouble, login), (None, None));
    }
}

/// F33, F34: the vendors name the end of a limit in many ways, and of some it has only just begun.
#[test]
fn the_end_of_a_limit_is_read_from_words_and_headers() {
    let said = |message: &str| {
        let line = serde_json::json!({ "type": "turn.failed", "error": { "message": message } }).to_string();
        read(Client::Codex, [line.as_bytes()], Some(1)).trouble
    };
    assert_eq!(said("Rate limit reached for gpt-x. Please try again in 41.898s. Visit …"), Some(until(41_898)));
    assert_eq!(said("Rate limit reached for gpt-x. Please try again in 1.898s. Visit …"), limited(10));
    assert_eq!(said("You've hit your usage limit. Upgrade to Pro or try again in 3 days 2 hours 5 minutes."), {
        limited(((3 * 24 + 2) * 60 + 5) * 60)
    });
    assert_eq!(said("You've hit your usage limit. Try again later."), limited(60));
    // What no vendor means.
    assert_eq!(said("usage limit, try again in 400 days"), limited(60));
    assert_eq!(said("usage limit, try again in 99999999999999999999999 days"), limited(60));
    let local = jiff::Timestamp::from_millisecond(NOW.0 + 26 * 3_600_000).unwrap();
    let local = local.to_zoned(jiff::tz::TimeZone::system()).strftime("%b %-dth, %Y %-I:%M %p").to_string();
    assert_eq!(
        said(&format!("You've hit your usage limit. Try again or try again at {local}.")),
        limited(26 * 3600 - 27)
    );

    let headers = |headers: serde_json::Value| {
        let data = serde_json::json!({ "message": "", "statusCode": 429, "responseHeaders": headers });
        let line = serde_json::json!({ "type": "error", "error": { "name": "APIError", "data": data } }).to_string();
        read(Client::Opencode, [line.as_bytes()], Some(1)).trouble
    };
    for (given, expected) in [
        (serde_json::json!({ "retry-after": "90" }), limited(90)),
        (serde_json::json!({ "retry-after-ms": "10500", "retry-after": "11" }), Some(until(10_500))),
        (serde_json::json!({ "retry-after-ms": "1500", "retry-after": "2" }), limited(10)),
        (serde_json::json!({ "retry-after": "Mon, 16 Nov 2026 02:36:27 GMT" }), limited(600)),
        (serde_json::json!({ "anthropic-ratelimit-unified-reset": "1794799587" }), limited(3600)),
        (serde_json::json!({ "retry-after": "soon" }), limited(60)),
        (serde_json::json!({ "retry-after": "-5" }), limited(60)),
        (serde_json::json!(null), limited(60)),
    ] {
        assert_eq!(headers(given.clone()), expected, "{given}");
    }
}

fn until(milliseconds: i64) -> VendorTrouble {
    VendorTrouble::RateLimited { until: NOW + Span(milliseconds) }
}

/// R5: what is no event changes nothing, whatever it looks like.
#[test]
fn garbage_is_harmless() {
    let deep = "[".repeat(100_000);
    let huge = format!(r#"{{"type":"result","is_error":true,"result":"{}"}}"#, "x".repeat(17 * 1024 * 1024));
    let lines: [&[u8]; 10] = [
        b"",
        b"null",
        b"[1]",
        b"\xff\xfe",
        b"{\"type\":",
        b"{\"type\":7,\"usage\":[]}",
        b"{\"type\":\"result\",\"is_error\":\"yes\",\"total_cost_usd\":-1e400}",
        br#"{"type":"turn.failed","error":"429"}"#,
        deep.as_bytes(),
        huge.as_bytes(),
    ];
    for client in [Client::ClaudeCode, Client::Codex, Client::Gemini, Client::Opencode, Client::Command] {
        let OutputSummary { vendor_session, trouble, login, .. } = read(client, lines, Some(1));
        assert_eq!((vendor_session, trouble, login), (None, None, None), "{client}");
    }
    assert_eq!(summary_of_command(), OutputSummary::default());
}

/// A program of the user's own says nothing that is understood.
fn summary_of_command() -> OutputSummary {
    read(Client::Command, [&br#"{"type":"result","usage":{"input_tokens":1}}"#[..]], Some(1))
}
