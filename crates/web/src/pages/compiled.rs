//! What the pages about compiled environments have in common.

use hub_api::syncs::SyncSource;

use crate::text::visible;

/// The commits of an answer, in words: `control-plane@prod 90be4d1`.
pub(super) fn commits(sources: &[SyncSource]) -> Vec<String> {
    let name = |source: &SyncSource| {
        let repository = source.repository.rsplit(['/', ':']).next().unwrap_or_default().trim_end_matches(".git");
        let commit: String = source.commit.chars().take(10).collect();
        visible(format!("{repository}@{} {commit}", source.revision))
    };
    sources.iter().map(name).collect()
}
