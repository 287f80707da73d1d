//! The commits that the heads of branches with states must contain, as far as this process knows them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;

/// The anchors of all environments. Clones share them.
#[derive(Clone, Default)]
pub struct StateAnchors(Arc<Mutex<BTreeMap<EnvironmentName, Anchors>>>);

impl fmt::Debug for StateAnchors {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("StateAnchors")
    }
}

/// The anchors of one environment.
#[derive(Default)]
struct Anchors {
    /// The commit of the states that the newest publication on each GitOps branch names. None: it names none.
    published: BTreeMap<RepositoryPlace, Option<GitId>>,
    /// The last head that counted.
    last: Option<Verified>,
}

/// A head, with the anchors that it contains.
struct Verified {
    /// None: the branch did not exist.
    head: Option<GitId>,
    anchors: BTreeSet<GitId>,
}

impl StateAnchors {
    fn all(&self) -> MutexGuard<'_, BTreeMap<EnvironmentName, Anchors>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a head is the last one that counted.
    pub(crate) fn is_last(&self, environment: &EnvironmentName, head: Option<GitId>) -> bool {
        let all = self.all();
        all.get(environment).and_then(|anchors| anchors.last.as_ref()).is_some_and(|last| last.head == head)
    }

    /// The anchors that a head is not known to contain, each with whether a publication names it. The last head that counted comes first.
    pub(crate) fn unverified(&self, environment: &EnvironmentName, head: Option<GitId>) -> Vec<(GitId, bool)> {
        let all = self.all();
        let Some(anchors) = all.get(environment) else { return Vec::new() };
        let last = anchors.last.as_ref();
        let known = last.filter(|last| last.head == head).map(|last| &last.anchors);
        let before = last.and_then(|last| last.head).filter(|before| Some(*before) != head);
        let before = before.map(|before| (before, false));
        let published = anchors.published.values().flatten().map(|commit| (*commit, true));
        let is_unknown = |(commit, _): &(GitId, bool)| known.is_none_or(|known| !known.contains(commit));
        before.into_iter().chain(published).filter(is_unknown).collect()
    }

    /// Notes that a head counts, which contains these anchors.
    pub(crate) fn verify(
        &self,
        environment: &EnvironmentName,
        head: Option<GitId>,
        contained: impl Iterator<Item = GitId>,
    ) {
        let mut all = self.all();
        let anchors = all.entry(environment.clone()).or_default();
        let known = anchors.last.take().filter(|last| last.head == head).map(|last| last.anchors);
        let contained = known.into_iter().flatten().chain(contained).collect();
        anchors.last = Some(Verified { head, anchors: contained });
    }

    /// Notes a commit that this process stored after a head.
    pub(crate) fn advance(&self, environment: &EnvironmentName, before: Option<GitId>, head: GitId) {
        let mut all = self.all();
        let last = all.get_mut(environment).and_then(|anchors| anchors.last.as_mut());
        if let Some(last) = last.filter(|last| last.head == before) {
            last.head = Some(head);
        }
    }

    /// The GitOps branches whose publications are known. None: they were never read.
    pub(crate) fn destinations(&self, environment: &EnvironmentName) -> Option<Vec<RepositoryPlace>> {
        let all = self.all();
        let found: Vec<_> = all.get(environment)?.published.keys().cloned().collect();
        (!found.is_empty()).then_some(found)
    }

    /// Notes the commit that the newest publication on a GitOps branch names.
    pub(crate) fn note(&self, environment: &EnvironmentName, place: &RepositoryPlace, states: Option<GitId>) {
        self.all().entry(environment.clone()).or_default().published.insert(place.clone(), states);
    }
}
