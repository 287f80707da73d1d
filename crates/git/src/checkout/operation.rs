//! Operations of git that a person began in a working tree and did not finish.

use std::fs;
use std::path::Path;
use std::sync::Arc;

/// An operation that is not finished.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operation {
    /// The kind.
    pub kind: OperationKind,
    /// The branch that is being rebased. None for other operations.
    pub(super) branch: Option<Arc<str>>,
}

/// A kind of operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationKind {
    /// `git merge`
    Merge,
    /// `git rebase`
    Rebase,
    /// `git am`
    Patches,
    /// `git cherry-pick`
    CherryPick,
    /// `git revert`
    Revert,
}

impl OperationKind {
    /// The command of git, without `git`.
    pub fn command(self) -> &'static str {
        match self {
            Self::Merge => "merge",
            Self::Rebase => "rebase",
            Self::Patches => "am",
            Self::CherryPick => "cherry-pick",
            Self::Revert => "revert",
        }
    }
}

impl Operation {
    /// The operation in the git folder of a working tree.
    pub(super) fn from_git_dir(git_dir: &Path) -> Option<Self> {
        let is_there = |name: &str| git_dir.join(name).exists();
        let (kind, folder) = match () {
            () if is_there("rebase-merge") => (OperationKind::Rebase, Some("rebase-merge")),
            () if is_there("rebase-apply/applying") => (OperationKind::Patches, None),
            () if is_there("rebase-apply") => (OperationKind::Rebase, Some("rebase-apply")),
            () if is_there("MERGE_HEAD") => (OperationKind::Merge, None),
            () if is_there("CHERRY_PICK_HEAD") => (OperationKind::CherryPick, None),
            () if is_there("REVERT_HEAD") => (OperationKind::Revert, None),
            // Between two commits of a series, only the list of the rest is there.
            () => (series(git_dir)?, None),
        };
        let branch = folder.and_then(|folder| fs::read_to_string(git_dir.join(folder).join("head-name")).ok());
        let branch = branch.and_then(|name| Some(Arc::from(name.trim().strip_prefix("refs/heads/")?)));
        Some(Self { kind, branch })
    }
}

fn series(git_dir: &Path) -> Option<OperationKind> {
    let list = fs::read_to_string(git_dir.join("sequencer/todo")).ok()?;
    let is_revert = list.lines().find(|line| !line.starts_with('#')).is_some_and(|line| line.starts_with("revert"));
    Some(if is_revert { OperationKind::Revert } else { OperationKind::CherryPick })
}
