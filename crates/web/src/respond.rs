//! Responses with pages, and the headers of each of them.

use askama::Template;
use axum::response::{Html, IntoResponse as _, Response};
use data_encoding::HEXLOWER;
use http::{StatusCode, header};
use sha2::{Digest as _, Sha256};

/// The tag of a page. The time of the answer, in the last paragraph, is no change of the page.
fn tag(html: &str) -> String {
    let content = html.split_once(AGE).map_or(html, |(content, _)| content);
    format!("W/\"{}\"", HEXLOWER.encode(Sha256::digest(content).get(..12).unwrap_or_default()))
}

/// What begins the paragraph of a page that says when it was made.
const AGE: &str = "<p id=\"age\">";

/// A response with HTML.
pub(crate) fn respond(status: StatusCode, page: &impl Template) -> Response {
    match page.render() {
        Ok(html) => {
            let headers = [
                (header::CONTENT_SECURITY_POLICY, crate::CONTENT_SECURITY_POLICY),
                (header::CACHE_CONTROL, "private, no-cache"),
            ];
            (status, headers, [(header::ETAG, tag(&html))], Html(html)).into_response()
        }
        Err(error) => {
            tracing::error!(%error, "a page can't be rendered");
            StatusCode::INTERNAL_SERVER_ERROR.into_response()
        }
    }
}
