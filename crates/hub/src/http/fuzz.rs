//! Properties of the texts in a request's URL and headers: the body of the fuzz target, which also runs with fixed seeds.

use http::{HeaderName, HeaderValue, Request, header};
use hub_api::endpoint::{Endpoint, repository};
use hub_api::filter::Filter;
use hub_api::page::Page;
use hub_api::report::names::TargetName;
use hub_api::revision;
use hub_api::timestamp::Timestamp;
use hub_api::token::{SecretDigest, TokenText};

use super::caller::{credentials, names_this_machine};
use super::layers::is_readable;
use super::question_request::read;
use crate::questions;

/// Reads lines: the query of a question, then two headers, then a word that may be a token, a cursor, a timestamp or a name. It checks that reading does
/// not panic, and that a value that is accepted has the text that was read.
pub fn fuzz(input: &[u8]) {
    let mut lines = input.splitn(4, |byte| *byte == b'\n');
    let mut next = || lines.next().unwrap_or_default();
    let query = String::from_utf8_lossy(next()).into_owned();
    let mut request = Request::builder().uri(format!("/api/v1/deployments?{query}"));
    for name in [header::AUTHORIZATION, header::HOST] {
        request = request.header::<HeaderName, HeaderValue>(
            name,
            HeaderValue::from_bytes(next()).unwrap_or(HeaderValue::from_static("")),
        );
    }
    if let Ok(request) = request.body(()) {
        let parts = request.into_parts().0;
        let _ = (credentials(&parts.headers), names_this_machine(&parts));
        if is_readable(&parts.uri)
            && let Ok(filter) = read::<Filter>(&parts)
        {
            let texts = [&filter.host, &filter.environment, &filter.workload, &filter.selector, &filter.status];
            assert!(texts.into_iter().flatten().all(|text| !text.contains('\0')));
            questions::fuzz(&filter, &read::<Page>(&parts).unwrap_or_default());
        }
    }
    word(&String::from_utf8_lossy(next()));
}

fn word(text: &str) {
    if let Ok(token) = text.parse::<TokenText>() {
        assert_eq!(token.reveal(), text);
        assert!(!format!("{token:?}").contains(&text[text.len() / 2..]));
    }
    if let Some(digest) = SecretDigest::from_hex(text) {
        assert_eq!(digest.to_hex(), text.to_ascii_lowercase());
    }
    if let Ok(timestamp) = text.parse::<Timestamp>() {
        assert_eq!(timestamp.to_string().parse(), Ok(timestamp));
    }
    if let Ok(position) = text.parse::<questions::FeedPosition>() {
        assert_eq!(position.to_string().parse::<questions::FeedPosition>().ok(), Some(position));
    }
    let _ = TargetName::parse(text);
    let commit = revision::commit(text);
    assert!(text.contains(commit) && revision::commit(commit).len() <= commit.len());
    let normal = repository(text);
    assert_eq!(repository(&normal), normal, "{text}");
    if let Ok(endpoint) = Endpoint::new(text, "main", text) {
        let again = Endpoint::new(endpoint.repository(), endpoint.branch(), endpoint.path());
        assert_eq!(again.as_ref(), Ok(&endpoint), "{text}");
    }
}
