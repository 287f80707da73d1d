//! What a page shows instead of its content: not found, not permitted, out of reach, invalid.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use hub_api::client::ClientError;

use crate::respond::respond;

/// Why a page has no content.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) title: &'static str,
    pub(crate) detail: String,
    pub(crate) hint: Option<String>,
    /// The address of the same page without a filter, if it has one.
    pub(crate) wider: Option<String>,
}

impl Refusal {
    /// The page does not exist, or the reader has no permission to see it: the answer is the same.
    pub(crate) fn not_found() -> Self {
        Self {
            status: StatusCode::NOT_FOUND,
            title: "Not found, or not permitted",
            detail: "There is no such page, or you have no permission to read it.".to_owned(),
            hint: Some(
                "Check the address and its spelling. If a colleague can open it, ask for a role with a wider reach."
                    .to_owned(),
            ),
            wider: None,
        }
    }

    /// The address is not valid.
    pub(crate) fn invalid(detail: &str) -> Self {
        let (status, title) = (StatusCode::BAD_REQUEST, "This address is not valid");
        Self { status, title, detail: detail.to_owned(), hint: None, wider: None }
    }
}

impl From<ClientError> for Refusal {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Refused { status: 403 | 404, detail, hint, .. } => {
                let refusal = Self::not_found();
                let hint = hint.or(refusal.hint);
                Self { detail, hint, ..refusal }
            }
            ClientError::Refused { status: 400..=499, detail, hint, .. } => Self { hint, ..Self::invalid(&detail) },
            ClientError::Refused { detail, hint, .. } => Self {
                status: StatusCode::SERVICE_UNAVAILABLE,
                title: "No answer at the moment",
                detail,
                hint: hint.or(Some("Nothing is lost. This page tries again by itself.".to_owned())),
                wider: None,
            },
            error => Self {
                status: StatusCode::BAD_GATEWAY,
                title: "No answer at the moment",
                detail: error.to_string(),
                hint: None,
                wider: None,
            },
        }
    }
}

/// The page that shows a refusal if the reader is not known.
#[derive(Template)]
#[template(path = "refusal.html")]
pub(crate) struct RefusalPage<'a> {
    refusal: &'a Refusal,
}

impl<'a> RefusalPage<'a> {
    pub(crate) fn new(refusal: &'a Refusal) -> Self {
        Self { refusal }
    }

    /// The response with the page.
    pub(crate) fn response(&self) -> Response {
        respond(self.refusal.status, self)
    }
}
