//! Positions of rollouts: a commit of each GitOps branch of an environment, as text.

use std::sync::Arc;

use engine::promotion::state::BranchPosition;
use model::git_id::GitId;

/// The position with these commits of the branches of `GitOpsRepo` objects: `prod=<commit> prod-eu=<commit>`, sorted by name.
pub fn from_heads<'n>(heads: impl IntoIterator<Item = (&'n str, GitId)>) -> BranchPosition {
    let mut heads: Vec<_> = heads.into_iter().collect();
    heads.sort_unstable();
    let pairs: Vec<_> = heads.into_iter().map(|(name, commit)| format!("{name}={commit}")).collect();
    BranchPosition(Arc::from(pairs.join(" ")))
}

/// The commit of the branch of a `GitOpsRepo` at a position. None: the position has no such branch.
pub fn commit(position: &BranchPosition, gitops_repo: &str) -> Option<GitId> {
    let mut pairs = position.0.split(' ').filter_map(|pair| pair.split_once('='));
    pairs.find(|(name, _)| *name == gitops_repo).and_then(|(_, commit)| GitId::from_hex(commit))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_has_a_commit_of_each_branch() {
        let [one, two] = ["1", "2"].map(|text| GitId::of_blob(text.as_bytes()));
        let position = from_heads([("prod-eu", two), ("prod", one)]);
        assert_eq!(&*position.0, format!("prod={one} prod-eu={two}"));
        assert_eq!((commit(&position, "prod"), commit(&position, "prod-eu")), (Some(one), Some(two)));
        assert_eq!(commit(&position, "other"), None);
        assert_eq!(commit(&BranchPosition::default(), "prod"), None);
    }
}
