//! The answer to a call: bounded, and hostile until parsed.

use std::io::Read;
use std::time::{Duration, Instant};

use reqwest::header::{HeaderMap, LINK};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::error::HostError;
use crate::limits::{ANSWER_BYTES_MAX, ANSWER_TIME_MAX, MESSAGE_CHARACTERS_MAX};
use crate::status::shortened;

/// The number of bytes that are read at a time.
const CHUNK_BYTES: usize = 64 << 10;

/// A complete answer with a status of success.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The call, for messages.
    pub(crate) call: String,
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

/// The limits for reading one body.
#[derive(Clone, Copy)]
struct BodyLimits {
    bytes: usize,
    time: Duration,
}

/// The reason why a body is not complete.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum BodyError {
    /// It is too large.
    TooLarge,
    /// The connection ended, or the time is over.
    Ended(String),
}

impl Answer {
    /// The content as a value.
    pub(crate) fn json<T: DeserializeOwned>(&self) -> Result<T, HostError> {
        serde_json::from_slice(&self.body).map_err(|error| {
            let reason = if is_page(&self.body) {
                "it is a web page: a login or a proxy answers instead".to_owned()
            } else {
                shortened(&error.to_string(), MESSAGE_CHARACTERS_MAX)
            };
            self.unexpected(reason)
        })
    }

    /// Whether the list has another page.
    pub(crate) fn has_next(&self) -> bool {
        let links = self.headers.get_all(LINK).into_iter().filter_map(|link| link.to_str().ok());
        links.flat_map(|links| links.split(',')).any(|link| link.contains("rel=\"next\""))
    }

    pub(crate) fn unexpected(&self, reason: impl Into<String>) -> HostError {
        HostError::Unexpected { call: self.call.clone(), status: self.status, reason: reason.into() }
    }
}

/// Reads a body up to the limits.
pub(super) fn read_body(body: impl Read) -> Result<Vec<u8>, BodyError> {
    read_within(body, BodyLimits { bytes: ANSWER_BYTES_MAX, time: ANSWER_TIME_MAX })
}

fn read_within(mut body: impl Read, limits: BodyLimits) -> Result<Vec<u8>, BodyError> {
    let (started, mut bytes, mut chunk) = (Instant::now(), Vec::new(), vec![0; CHUNK_BYTES]);
    loop {
        let read = body.read(&mut chunk).map_err(|error| BodyError::Ended(root_cause(&error)))?;
        if read == 0 {
            return Ok(bytes);
        }
        bytes.extend_from_slice(chunk.get(..read).unwrap_or_default());
        if bytes.len() > limits.bytes {
            return Err(BodyError::TooLarge);
        }
        if started.elapsed() > limits.time {
            return Err(BodyError::Ended(format!("no complete answer in {} s", limits.time.as_secs())));
        }
    }
}

/// The innermost cause of an error. The outer ones of reqwest repeat the URL.
pub(super) fn root_cause(error: &(dyn std::error::Error + 'static)) -> String {
    shown(&model::network::root_cause(error))
}

/// The host's message in the body of an error. The hosts' formats differ; all are read.
pub(super) fn message(body: &[u8]) -> String {
    let text = match serde_json::from_slice::<Value>(body) {
        Ok(Value::Object(fields)) => {
            let names = ["message", "error_description", "error", "errors"];
            let parts: Vec<String> =
                names.iter().filter_map(|name| fields.get(*name)).map(flat).filter(|part| !part.is_empty()).collect();
            parts.join(": ")
        }
        Ok(other) => flat(&other),
        Err(_) if is_page(body) => "a web page".to_owned(),
        Err(_) => String::from_utf8_lossy(body).into_owned(),
    };
    let text = shown(&text);
    if text.is_empty() { "no message".to_owned() } else { text }
}

/// A value in one line.
fn flat(value: &Value) -> String {
    let joined = |parts: Vec<String>, separator| {
        parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(separator)
    };
    match value {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        Value::Array(items) => joined(items.iter().map(flat).collect(), ", "),
        Value::Object(fields) => match fields.get("message") {
            Some(message) => flat(message),
            None => joined(fields.iter().map(|(name, value)| format!("{name} {}", flat(value))).collect(), ", "),
        },
        other => other.to_string(),
    }
}

/// The begin of a text without characters that change the direction or control a terminal.
pub(crate) fn shown(text: &str) -> String {
    let is_hidden =
        |c: char| matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}');
    let plain = text.chars().map(|c| if c.is_control() { ' ' } else { c }).filter(|c| !is_hidden(*c));
    let plain: String = plain.take(4 * MESSAGE_CHARACTERS_MAX).collect();
    let words: Vec<&str> = plain.split_whitespace().collect();
    shortened(&words.join(" "), MESSAGE_CHARACTERS_MAX)
}

/// Whether a body looks like a page for people.
fn is_page(body: &[u8]) -> bool {
    body.trim_ascii_start().starts_with(b"<")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_messages_of_all_hosts_are_extracted() {
        let messages = [
            (r#"{"message":"Not Found","documentation_url":"https://x"}"#, "Not Found"),
            (
                r#"{"message":"Validation Failed","errors":[{"resource":"PullRequest","message":"exists already"},{"field":"head","code":"invalid"}]}"#,
                "Validation Failed: exists already, field head, code invalid",
            ),
            (
                r#"{"message":["Another open merge request already exists"]}"#,
                "Another open merge request already exists",
            ),
            (r#"{"message":{"title":["is too long"]}}"#, "title is too long"),
            (
                r#"{"error":"invalid_token","error_description":"Token was revoked."}"#,
                "Token was revoked.: invalid_token",
            ),
            ("<html>Bad gateway</html>", "a web page"),
            ("upstream\u{1b}[31m broke\r\n\u{202e}", "upstream [31m broke"),
            ("", "no message"),
        ];
        for (body, expected) in messages {
            assert_eq!(message(body.as_bytes()), expected);
        }
        assert_eq!(message("x".repeat(1000).as_bytes()).chars().count(), MESSAGE_CHARACTERS_MAX);
    }

    #[test]
    fn a_body_has_limits() {
        let limits = BodyLimits { bytes: 10, time: Duration::from_secs(9) };
        assert_eq!(read_within(&b"0123456789"[..], limits), Ok(b"0123456789".to_vec()));
        assert_eq!(read_within(&b"0123456789a"[..], limits), Err(BodyError::TooLarge));
        assert_eq!(read_within(std::io::repeat(0), limits), Err(BodyError::TooLarge));
        let slow = BodyLimits { time: Duration::ZERO, ..limits };
        assert!(matches!(read_within(&b"0"[..], slow), Err(BodyError::Ended(_))));
    }

    #[test]
    fn links_name_the_next_page() {
        let check = |link: &'static str| {
            let mut headers = HeaderMap::new();
            headers.insert(LINK, reqwest::header::HeaderValue::from_static(link));
            Answer { call: String::new(), status: 200, headers, body: Vec::new() }.has_next()
        };
        assert!(check("<https://x?page=1>; rel=\"prev\", <https://x?page=3>; rel=\"next\""));
        assert!(!check("<https://x?page=1>; rel=\"prev\""));
    }
}
