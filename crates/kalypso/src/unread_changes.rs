//! Changes that were not read, because they are only in a working tree of the control plane: not committed, not pushed, or not merged.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use git::checkout::{distance, working_state};
use git::{Commit, Repositories};
use model::count::{count, named};
use model::progress::Progress;
use workbench::working_trees::{WorkingBranch, WorkingTrees};

use crate::arguments::CurrentBranches;
use crate::{loading, terminal};

/// Runs a command. If it reads the branches of the control plane of a configuration file, says afterwards which changes in working trees it did not read:
/// also if the command fails, because they can be the reason. What can't be found out is left out: the notes only help.
pub(crate) fn noted<R>((reads_branches, config): CurrentBranches<'_>, command: impl FnOnce() -> R) -> R {
    let result = command();
    if reads_branches {
        note(config);
    }
    result
}

fn note(config: Option<&Path>) {
    let Ok(access) = loading::access(config, &Progress::default()) else { return };
    let Ok(trees) = WorkingTrees::open(&access, None) else { return };
    let found = trees.branches().iter();
    let found: Vec<_> =
        found.filter_map(|branch| UnreadChanges::find(branch, (&trees, &*access.repositories))).collect();
    texts(&found).iter().for_each(|text| terminal::note(text));
}

/// The changes in one working tree that the branch does not have.
struct UnreadChanges {
    folder: String,
    branch: Arc<str>,
    /// The topic branch that is checked out instead.
    topic: Option<Arc<str>>,
    /// The number of commits that the branch does not have. If there is none, the changes are not committed.
    commits: usize,
    /// The number of files that differ.
    files: usize,
}

impl UnreadChanges {
    /// None if there are none, or if the working tree can't be compared.
    fn find(branch: &WorkingBranch, (trees, repositories): (&WorkingTrees, &dyn Repositories)) -> Option<Self> {
        let (head, checkout) = (&branch.head, &branch.checkout);
        let mut differing: BTreeSet<_> = branch.state.changed.iter().cloned().collect();
        let mut commits = 0;
        if checkout.commit() != Some(head.id) {
            let name = head.revision.name();
            let far = distance(trees.settings(), checkout, (&name, head.id))?;
            // Files that differ only because the branch has newer commits are no changes of the working tree.
            let base = Commit { id: far.base, ..head.clone() };
            let since = working_state(trees.settings(), checkout, (repositories, &base)).ok()?.changed;
            differing = since.into_iter().filter(|path| differing.contains(path)).collect();
            commits = far.ahead;
        }
        let folder = trees.settings().shown(checkout.root()).display().to_string();
        let files = differing.len();
        (files > 0).then(|| Self { folder, branch: head.revision.name(), topic: branch.topic.clone(), commits, files })
    }

    /// The text about commits that the branch does not have.
    fn of_commits(&self) -> String {
        let Self { folder, branch, topic, commits, .. } = self;
        let (number, verb) = (count(*commits, "commit"), if *commits == 1 { "is" } else { "are" });
        let missing = match topic {
            Some(topic) => format!("{number} of branch `{topic}` in {folder} {verb} not merged into `{branch}`"),
            None => format!("{number} of `{branch}` in {folder} {verb} not pushed"),
        };
        let verb = if *commits == 1 { "was" } else { "were" };
        format!("note: {missing}, and {verb} not read: {ADVICE}")
    }
}

/// How to read the changes.
const ADVICE: &str = "`kalypso check --working-tree` reads them";

fn texts(found: &[UnreadChanges]) -> Vec<String> {
    let (committed, uncommitted): (Vec<_>, Vec<_>) = found.iter().partition(|changes| changes.commits > 0);
    let mut texts = Vec::new();
    if !uncommitted.is_empty() {
        let files = uncommitted.iter().map(|changes| changes.files).sum();
        let folders: Vec<_> = uncommitted.iter().map(|changes| changes.folder.clone()).collect();
        let verb = if files == 1 { "has" } else { "have" };
        texts.push(format!(
            "note: {} in {} {verb} changes that are not committed, and were not read: {ADVICE}",
            count(files, "file"),
            named(&folders),
        ));
    }
    texts.extend(committed.into_iter().map(UnreadChanges::of_commits));
    texts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_not_committed_not_pushed_or_not_merged() {
        let changes = |folder: &str, topic: Option<&str>, commits| UnreadChanges {
            folder: folder.to_owned(),
            branch: "main".into(),
            topic: topic.map(Into::into),
            commits,
            files: 2,
        };
        let found = [
            changes("here", None, 0),
            changes("there", Some("faster"), 0),
            changes("clone", None, 1),
            changes("other", Some("faster"), 3),
        ];
        let advice = "`kalypso check --working-tree` reads them";
        assert_eq!(
            texts(&found),
            [
                format!(
                    "note: 4 files in here, there have changes that are not committed, and were not read: {advice}"
                ),
                format!("note: 1 commit of `main` in clone is not pushed, and was not read: {advice}"),
                format!(
                    "note: 3 commits of branch `faster` in other are not merged into `main`, and were not read: {advice}"
                ),
            ]
        );
        assert!(texts(&[]).is_empty());
    }
}
