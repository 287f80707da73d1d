//! The progress of a release at an earlier timestamp: the reconcilers of its folders, one by one, with what they had reported by then.
//!
//! The rules are those of [`Released`], for one reconciler. When a reconciler was silent is not known for earlier times.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::timestamp::Timestamp;
use model::rollout::{Liveness, ReconcilerState};

use super::QuestionError;
use super::below;
use super::deployments::Search;
use super::facts::{self, Fact};
use super::released::Released;
use super::scope::Scope;
use super::subject::Stand;
use crate::store::{ReconcilerId, TargetId, Transaction};

/// The number of reconcilers that are read at once.
const PAGE: usize = 1_000;

/// The reconcilers of an environment at a timestamp.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct StandThen {
    pub(super) stand: Stand,
    /// The first ones that had failed, at most as many as are named.
    pub(super) failed: Vec<ReconcilerId>,
}

/// A folder of the workload that a reconciler applied.
struct Applied {
    wants: bool,
    has: bool,
    is_pinned: bool,
}

/// What of a workload is counted, and when.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReleaseThen<'a> {
    pub(super) released: &'a Released,
    /// The release. None: the content that was desired then.
    pub(super) version: Option<&'a str>,
    pub(super) at: Timestamp,
}

impl ReleaseThen<'_> {
    /// The reconcilers by the name of their environment. `named`: the maximum number of failed reconcilers that are named for each environment.
    pub(super) async fn stands(
        self,
        transaction: &mut Transaction,
        scope: &Scope,
        named: usize,
    ) -> Result<BTreeMap<String, StandThen>, QuestionError> {
        let only = self.released.targets(scope);
        let mut scope = scope.clone();
        (scope.groups, scope.targets) = (Some(self.released.groups(&scope)), Some(only.clone()));
        let search = Search::new(transaction, scope, Some(self.at)).await?;
        let mut stands: BTreeMap<_, StandThen> = BTreeMap::new();
        let mut after = None;
        // A reconciler is on the lane of each place where it was: it counts once.
        let mut known = BTreeSet::new();
        loop {
            let (mut facts, next) = search.page(transaction, after, PAGE).await?;
            facts.retain(|fact| known.insert(fact.id));
            let applied = self.applied(transaction, &facts, &only).await?;
            for fact in &facts {
                let Some(folders) = applied.get(&fact.id) else { continue };
                let environment = fact.place.as_ref().and_then(|place| place.environment.clone()).unwrap_or_default();
                let then = stands.entry(environment).or_default();
                if self.add(&mut then.stand, fact, folders) && then.failed.len() < named {
                    then.failed.push(fact.id);
                }
            }
            match next {
                Some(next) => after = Some(next),
                None => return Ok(stands),
            }
        }
    }

    /// The folders of these targets that the reconcilers applied, and in which something was desired.
    async fn applied(
        self,
        transaction: &mut Transaction,
        facts: &[Fact],
        only: &BTreeSet<TargetId>,
    ) -> Result<BTreeMap<ReconcilerId, Vec<Applied>>, QuestionError> {
        let groups = facts.iter().filter_map(|fact| Some(fact.place.as_ref()?.group_id)).collect();
        let targets = facts::targets(transaction, groups).await?;
        let targets_of = |fact: &Fact| targets.get(&fact.place.as_ref()?.group_id);
        let around = facts.iter().filter(|fact| targets_of(fact).is_none());
        let below = below::assigned(transaction, around, (Some(only), Some(self.at))).await?;
        let folder = |desired: (&str, Option<&str>), held: Option<(&str, Option<&str>)>, is_pinned| match self.version {
            None => Applied { wants: true, has: held.is_some_and(|held| held.0 == desired.0), is_pinned },
            version => {
                Applied { wants: desired.1 == version, has: held.is_some_and(|held| held.1 == version), is_pinned }
            }
        };
        let mut applied: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for fact in facts {
            let folders = applied.entry(fact.id).or_default();
            let own = targets_of(fact).filter(|targets| targets.keys().any(|target| only.contains(target)));
            if let (Some(_), Some(desired)) = (own, fact.place.as_ref().and_then(|place| place.desired.as_ref())) {
                let held = fact.held.as_ref().map(|held| (held.tree.as_str(), held.release.as_deref()));
                folders.push(folder((&desired.tree, desired.release.as_deref()), held, desired.is_pinned));
            }
            for below in below.get(&fact.id).into_iter().flatten() {
                let Some((tree, _)) = &below.desired else { continue };
                let held = below.held.as_ref().map(|(tree, _)| (tree.as_str(), below.release.as_deref()));
                folders.push(folder((tree, below.desired_release.as_deref()), held, below.is_pinned));
            }
        }
        applied.retain(|_, folders| !folders.is_empty());
        Ok(applied)
    }

    /// Counts a reconciler in its environment. Returns whether it had failed.
    fn add(self, stand: &mut Stand, fact: &Fact, folders: &[Applied]) -> bool {
        let is_wanted = folders.iter().any(|folder| folder.wants);
        let has_some = folders.iter().any(|folder| folder.has);
        let is_pinned = folders.iter().all(|folder| folder.is_pinned);
        let holds = if is_wanted { folders.iter().all(|folder| folder.has || !folder.wants) } else { has_some };
        let is_expected = is_wanted || (has_some && !is_pinned);
        stand.pinned += i64::from(is_pinned && (!is_expected || self.version.is_none()));
        if !is_expected {
            stand.elsewhere += i64::from(!is_pinned);
            return false;
        }
        stand.superseded += i64::from(!is_wanted);
        let state = fact.state_if(holds);
        stand.counts.add(state, Liveness::Alive, 1);
        state == ReconcilerState::Failed
    }
}
