//! What a page shows instead of its content: not found, not permitted, out of reach, invalid.

use askama::Template;
use axum::response::Response;
use http::StatusCode;
use hub_api::client::ClientError;

use crate::visit::{Visit, respond};

/// Why a page has no content.
#[derive(Clone, Debug)]
pub(crate) struct Refusal {
    pub(crate) status: StatusCode,
    pub(crate) title: &'static str,
    pub(crate) detail: String,
    pub(crate) hint: Option<String>,
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
        }
    }

    /// The address is not valid.
    pub(crate) fn invalid(detail: &str) -> Self {
        let (status, title) = (StatusCode::BAD_REQUEST, "This address is not valid");
        Self { status, title, detail: detail.to_owned(), hint: None }
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
            },
            error => Self {
                status: StatusCode::BAD_GATEWAY,
                title: "No answer at the moment",
                detail: error.to_string(),
                hint: None,
            },
        }
    }
}

/// The page that shows a refusal.
#[derive(Template)]
#[template(path = "refusal.html")]
pub(crate) struct RefusalPage<'a> {
    pub(crate) visit: Option<&'a Visit>,
    pub(crate) refusal: &'a Refusal,
}

impl RefusalPage<'_> {
    /// The response if the reader is not known.
    pub(crate) fn without_reader(refusal: &Refusal) -> Response {
        respond(refusal.status, &RefusalPage { visit: None, refusal })
    }
}
