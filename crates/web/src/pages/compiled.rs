//! What the pages about compiled environments have in common.

use axum::response::Response;
use http::StatusCode;
use hub_api::syncs::SyncSource;

use crate::refusal::Refusal;
use crate::text::visible;
use crate::visit::Visit;

/// The response to a reader who asks for an earlier time: what is compiled is known only for the present.
pub(super) fn refuse_past(visit: &Visit) -> Option<Response> {
    visit.at?;
    let detail = "Environments are compiled from their sources as they are now, so this page has no earlier state.";
    let hint = "Remove `at` from the address. The page of each assignment shows its files at earlier publications.";
    let title = "This page shows only the present state";
    let refusal =
        Refusal { status: StatusCode::NOT_FOUND, title, detail: detail.to_owned(), hint: Some(hint.to_owned()) };
    Some(visit.refuse(refusal))
}

/// The commits of an answer, in words: `control-plane@prod 90be4d1`.
pub(super) fn commits(sources: &[SyncSource]) -> Vec<String> {
    let name = |source: &SyncSource| {
        let repository = source.repository.rsplit(['/', ':']).next().unwrap_or_default().trim_end_matches(".git");
        let commit: String = source.commit.chars().take(10).collect();
        visible(&format!("{repository}@{} {commit}", source.revision))
    };
    sources.iter().map(name).collect()
}
