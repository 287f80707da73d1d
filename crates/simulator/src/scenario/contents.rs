//! The contents of folders: which changes and which release a folder has at some commits.

use std::collections::HashMap;
use std::sync::Arc;

use model::label::Labels;

use super::definition::{FolderScope, PromotionEdit};

/// The number of a content. 0: there is no folder.
pub(super) type ContentId = u32;

/// No folder.
pub(super) const NOTHING: ContentId = 0;

/// The commits that the folders of an environment are rendered from.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Sources {
    /// The number of commits of the main branch.
    pub(super) main: usize,
    /// The number of commits of the environment's branch.
    pub(super) configuration: usize,
    /// The number of versions of the program that renders, up to the admitted one.
    pub(super) renderer: usize,
    /// The number of releases of each workload. 0: it is not published.
    pub(super) releases: Vec<usize>,
}

impl Sources {
    /// The part of a workload's revision that does not come from the environment's own branch.
    pub(super) fn platform(&self, workload: usize) -> Platform {
        Platform { main: self.main, release: self.releases[workload], renderer: self.renderer }
    }
}

/// The part of a workload's revision that does not come from the environment's own branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Platform {
    /// The number of commits of the main branch.
    pub(super) main: usize,
    /// The number of releases.
    pub(super) release: usize,
    /// The number of versions of the program that renders.
    pub(super) renderer: usize,
}

/// The versions of the program that renders, from the second one on, each with the folders that it renders differently from the one before.
#[derive(Debug, Default)]
pub(super) struct Renderers {
    /// The versions.
    pub(super) versions: Vec<Commit>,
    /// The number of versions up to the installed one.
    pub(super) installed: usize,
}

/// A folder of a workload on a cluster.
#[derive(Clone, Copy)]
pub(super) struct WorkloadFolder<'a> {
    /// The name of the workload.
    pub(super) workload: &'a str,
    /// The labels of the cluster.
    pub(super) labels: &'a Labels,
}

/// A commit that affects folders, or a version of the program that renders.
#[derive(Clone, Debug, Default)]
pub(super) struct Commit {
    /// The name.
    pub(super) name: Arc<str>,
    /// The folders that it affects.
    pub(super) scope: FolderScope,
    /// The number of the commit whose effect it removes.
    pub(super) reverts: Option<usize>,
    /// The author's account. None: it is unknown.
    pub(super) author: Option<Arc<str>>,
    /// The release at which it pins the folders that it affects, beside the release of the environment.
    pub(super) pins: Option<Arc<str>>,
    /// The promotion that it writes or deletes.
    pub(super) promotion: Option<PromotionEdit>,
}

impl Commit {
    /// Whether it affects a folder.
    pub(super) fn affects(&self, folder: WorkloadFolder<'_>) -> bool {
        let FolderScope { workload: only, label } = &self.scope;
        only.as_ref().is_none_or(|only| **only == *folder.workload)
            && label.as_ref().is_none_or(|(key, value)| folder.labels.get(key) == Some(value))
    }
}

/// A content: the names of the changes, and the release.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct FolderContent {
    /// The names of the changes, sorted.
    pub(super) changes: Vec<Arc<str>>,
    /// The version of the release.
    pub(super) release: Arc<str>,
}

/// All contents that occurred.
#[derive(Debug, Default)]
pub(super) struct Contents {
    known: Vec<FolderContent>,
    ids: HashMap<FolderContent, ContentId>,
}

impl Contents {
    /// The content with this number. None: there is no folder.
    pub(super) fn get(&self, id: ContentId) -> Option<&FolderContent> {
        self.known.get((id as usize).checked_sub(1)?)
    }

    fn intern(&mut self, content: FolderContent) -> ContentId {
        if let Some(id) = self.ids.get(&content) {
            return *id;
        }
        self.known.push(content.clone());
        let id = self.known.len() as ContentId;
        self.ids.insert(content, id);
        id
    }

    /// The content of a folder: of the changes that affect it, without those that are reverted. A pin of a person has priority over the release.
    pub(super) fn rendered(
        &mut self,
        commits: [&[Commit]; 3],
        mut release: Arc<str>,
        folder: WorkloadFolder<'_>,
    ) -> ContentId {
        let mut changes = Vec::new();
        for commits in commits {
            for commit in effective(commits).filter(|commit| commit.affects(folder)) {
                match &commit.pins {
                    Some(pinned) => release = Arc::clone(pinned),
                    None => changes.push(Arc::clone(&commit.name)),
                }
            }
        }
        changes.sort_unstable();
        self.intern(FolderContent { changes, release })
    }
}

/// The commits that have an effect: those that are not reverted.
pub(super) fn effective(commits: &[Commit]) -> impl Iterator<Item = &Commit> {
    let mut is_effective = vec![true; commits.len()];
    for (number, commit) in commits.iter().enumerate().rev() {
        if let Some(reverted) = commit.reverts.filter(|_| is_effective[number]) {
            is_effective[reverted] = false;
        }
    }
    let all = commits.iter().zip(is_effective);
    all.filter(|(commit, is_effective)| *is_effective && commit.reverts.is_none()).map(|(commit, _)| commit)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commit(name: &str, label: Option<(&str, &str)>, reverts: Option<usize>) -> Commit {
        let label = label.map(|(key, value)| (key.into(), value.into()));
        Commit { name: name.into(), scope: FolderScope { workload: None, label }, reverts, ..Commit::default() }
    }

    #[test]
    fn a_folder_has_the_changes_that_affect_it_and_are_not_reverted() {
        let mut contents = Contents::default();
        let commits =
            [commit("c1", None, None), commit("c2", Some(("region", "west")), None), commit("r", None, Some(0))];
        let (west, east) = (Labels::from_iter([("region", "west")]), Labels::from_iter([("region", "east")]));
        let mut at = |count: usize, labels: &Labels| {
            let folder = WorkloadFolder { workload: "shop", labels };
            let id = contents.rendered([&commits[..count], &[], &[]], "1.0.0".into(), folder);
            contents.get(id).unwrap().changes.join(" ")
        };
        assert_eq!([at(1, &west), at(2, &west), at(2, &east)], ["c1", "c1 c2", "c1"]);
        assert_eq!([at(3, &west), at(3, &east)], ["c2", ""]);
    }

    #[test]
    fn a_pin_has_priority_over_the_release() {
        let mut contents = Contents::default();
        let pin = Commit { pins: Some("1.0.0".into()), ..commit("pin", Some(("printer", "old")), None) };
        let of = |printer: &str| Labels::from_iter([("printer", printer)]);
        let [old, new] = [of("old"), of("new")].map(|labels| {
            let folder = WorkloadFolder { workload: "shop", labels: &labels };
            let id = contents.rendered([&[], &[], std::slice::from_ref(&pin)], "2.0.0".into(), folder);
            contents.get(id).unwrap().clone()
        });
        assert_eq!((&*old.release, &*new.release, old.changes.len()), ("1.0.0", "2.0.0", 0));
    }
}
