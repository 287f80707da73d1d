//! What the pages about compiled environments have in common.

use hub_api::syncs::SyncSource;

use crate::text::{short, visible};

/// The commits of an answer, in words: `control-plane@prod 90be4d1`.
pub(super) fn commits(sources: &[SyncSource]) -> Vec<String> {
    let name = |source: &SyncSource| {
        let repository = source.repository.rsplit(['/', ':']).next().unwrap_or_default().trim_end_matches(".git");
        visible(format!("{repository}@{} {}", source.revision, short(&source.commit)))
    };
    sources.iter().map(name).collect()
}
