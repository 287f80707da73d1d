//! One side of a comparison: the targets of an environment, now or at an earlier time.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::compare::{ComparedSide, Holding};
use hub_api::deployments::TargetNames;
use hub_api::filter::Filter;
use hub_api::timestamp::Timestamp;
use model::rollout::Counts;

use super::super::earlier::read_tallies;
use super::super::manifests::is_desired;
use super::super::released::Released;
use super::super::scope::Scope;
use super::super::then::ReleaseThen;
use super::super::{Question, QuestionError, conditions, facts, groups};
use crate::store::{DatabaseError, Parameters, PlaceGroupId, TargetId, Transaction};

/// An environment that is compared, as it is now or as it was.
pub(super) struct Then {
    scope: Scope,
    at: Option<Timestamp>,
    /// When the counts were recorded; none if they are exact.
    pub(super) recorded_on: Option<Timestamp>,
}

impl Then {
    /// Reads what the question selects in an environment.
    pub(super) async fn read(
        transaction: &mut Transaction,
        question: Question<'_>,
        (environment, at): (&str, Option<Timestamp>),
    ) -> Result<Self, QuestionError> {
        let filter = Filter { environment: Some(environment.to_owned()), ..question.filter.clone() };
        let mut scope = Scope::read(transaction, Question { filter: &filter, ..question }).await?;
        let recorded_on = match at {
            None => None,
            Some(at) => read_tallies(transaction, &mut scope, at).await??,
        };
        Ok(Self { scope, at, recorded_on })
    }

    /// The targets of which content is desired.
    pub(super) async fn targets(
        &self,
        transaction: &mut Transaction,
    ) -> Result<BTreeMap<TargetId, TargetNames>, DatabaseError> {
        let mut parameters = Parameters::with(transaction.dialect(), vec![self.scope.environment_id.into()]);
        let then = self.at.map(|at| parameters.instant(at));
        let sql = format!(
            "select t.id, w.name, a.name, l.name, t.name from deployment_target t \
             join workload l on l.id = t.workload_id join application a on a.id = l.application_id \
             join workspace w on w.id = a.workspace_id where t.environment_id = $1 and {}",
            is_desired(then.as_deref())
        );
        let targets = transaction.query::<(TargetId, TargetNames)>(&sql, parameters.into_values()).await?;
        let is_selected = |id: &TargetId| self.scope.targets.as_ref().is_none_or(|targets| targets.contains(id));
        Ok(targets.into_iter().filter(|(id, _)| is_selected(id)).collect())
    }

    /// Targets of it with their content.
    pub(super) async fn sides(
        &self,
        transaction: &mut Transaction,
        (named, released): (BTreeMap<TargetId, TargetNames>, &BTreeMap<TargetId, Released>),
    ) -> Result<BTreeMap<TargetId, Side>, QuestionError> {
        if named.is_empty() {
            return Ok(BTreeMap::new());
        }
        let groups = application_groups(transaction, named.keys().copied().collect()).await?;
        let all: Vec<PlaceGroupId> = groups.values().flatten().copied().collect();
        let desired = groups::desired(transaction, all.clone(), self.at).await?;
        let counts = groups::counts(transaction, &self.scope, all.clone()).await?;
        let held = held(transaction, &self.scope, all).await?;
        let none = Vec::new();
        let of_target = |id: &TargetId| groups.get(id).unwrap_or(&none);
        let keys = named.keys().flat_map(|id| {
            let desired = of_target(id).iter().filter_map(|group| Some(desired.get(group)?.commit.clone()));
            let held = of_target(id).iter().filter_map(|group| held.get(group)).flatten();
            desired.chain(held.filter_map(|(commit, _)| commit.clone())).map(|commit| (*id, commit)).collect::<Vec<_>>()
        });
        let versions = facts::versions(transaction, &keys.collect()).await?;
        let mut configs = configs(transaction, (named.keys().copied().collect(), self.at)).await?;
        let side = |(id, names): (TargetId, TargetNames)| {
            let group = of_target(&id).iter().find(|group| desired.contains_key(group)).copied();
            let desired = group.and_then(|group| desired.get(&group));
            let version = |commit: &str| versions.get(&(id, commit.to_owned())).cloned();
            let holding = of_target(&id).iter().filter_map(|group| held.get(group)).flatten();
            let holding = holding.map(|(commit, reconcilers)| Holding {
                version: commit.as_deref().and_then(version),
                commit: commit.clone(),
                reconcilers: *reconcilers,
            });
            let side = ComparedSide {
                target: names.target.clone(),
                version: desired.and_then(|desired| version(&desired.commit)),
                commit: desired.map(|desired| desired.commit.clone()),
                desired_since: desired.and_then(|desired| desired.since),
                counts: group.and_then(|group| counts.get(&group)).copied().unwrap_or_default(),
                holding: holding.collect(),
            };
            (id, Side { names, content: side, configs: configs.remove(&id).unwrap_or_default() })
        };
        let mut sides: BTreeMap<_, _> = named.into_iter().map(side).collect();
        for (id, side) in &mut sides {
            if let Some(released) = released.get(id) {
                side.content =
                    released_side(transaction, (released, self.at), std::mem::take(&mut side.content)).await?;
            }
        }
        Ok(sides)
    }
}

/// A target in one environment, with its configuration versions by cluster type.
pub(super) struct Side {
    pub(super) names: TargetNames,
    pub(super) content: ComparedSide,
    pub(super) configs: BTreeMap<String, String>,
}

/// A target as its platform folders have it, now or at a timestamp. If its rings or pins have several releases, all of them are named. What reconcilers held is
/// known only for now.
async fn released_side(
    transaction: &mut Transaction,
    (released, at): (&Released, Option<Timestamp>),
    side: ComparedSide,
) -> Result<ComparedSide, QuestionError> {
    let scope = Scope::default();
    let desired = released.desired(transaction, (&scope, at)).await?;
    let versions: BTreeSet<_> = desired.iter().filter_map(|one| Some(one.release.as_ref()?.1.as_str())).collect();
    let versions = versions.into_iter().collect::<Vec<_>>().join(", ");
    let mut counts = Counts::default();
    let mut holding = Vec::new();
    if let Some(at) = at {
        let stands = ReleaseThen { released, version: None, at }.stands(transaction, &scope, 0).await?;
        stands.values().for_each(|then| counts.merge(&then.stand.counts));
    } else {
        released.stands(transaction, &scope).await?.values().for_each(|stand| counts.merge(&stand.counts));
        holding = released.holding(transaction).await?;
    }
    let holding = holding.into_iter().map(|(version, reconcilers)| Holding { version, commit: None, reconcilers });
    Ok(ComparedSide {
        version: Some(versions).filter(|versions| !versions.is_empty()),
        desired_since: desired.iter().map(|one| one.since).max(),
        counts,
        holding: holding.collect(),
        ..side
    })
}

/// The groups of places with the manifests of targets.
async fn application_groups(
    transaction: &mut Transaction,
    targets: Vec<TargetId>,
) -> Result<BTreeMap<TargetId, Vec<PlaceGroupId>>, DatabaseError> {
    let sql = format!(
        "select m.deployment_target_id, g.id from place_group_target m join place_group g on g.id = m.place_group_id \
         where {} and g.role = 'application' order by 1, 2",
        transaction.dialect().any_int("m.deployment_target_id", "$1")
    );
    let mut groups: BTreeMap<TargetId, Vec<PlaceGroupId>> = BTreeMap::new();
    for (target, group) in transaction.query(&sql, vec![targets.into()]).await? {
        groups.entry(target).or_default().push(group);
    }
    Ok(groups)
}

/// The commits that the reconcilers of groups hold, with the number of reconcilers for each.
async fn held(
    transaction: &mut Transaction,
    scope: &Scope,
    groups: Vec<PlaceGroupId>,
) -> Result<BTreeMap<PlaceGroupId, Vec<(Option<String>, i64)>>, DatabaseError> {
    let mut parameters = Parameters::new(transaction.dialect());
    let tallies = scope.tallies(&mut parameters);
    let of_groups = parameters.any_int("t.place_group_id", groups);
    let sql = format!(
        "select t.place_group_id, c.commit_id, {} from {tallies} t left join gitops_commit c on c.id = t.held_commit_id \
         where {of_groups} and t.reconcilers > 0 group by 1, 2 order by 1, 3 desc, 2",
        transaction.dialect().int("sum(t.reconcilers)"),
    );
    let mut held: BTreeMap<PlaceGroupId, Vec<_>> = BTreeMap::new();
    for (group, commit, reconcilers) in transaction.query(&sql, parameters.into_values()).await? {
        held.entry(group).or_default().push((commit, reconcilers));
    }
    Ok(held)
}

/// The desired configuration versions, now or at a timestamp, by target and cluster type.
async fn configs(
    transaction: &mut Transaction,
    (targets, at): (Vec<TargetId>, Option<Timestamp>),
) -> Result<BTreeMap<TargetId, BTreeMap<String, String>>, DatabaseError> {
    let mut parameters = Parameters::new(transaction.dialect());
    let of_targets = parameters.any_int("m.deployment_target_id", targets);
    let then = at.map(|at| parameters.instant(at));
    let revision = conditions::desired_revision("p", then.as_deref());
    let sql = format!(
        "select m.deployment_target_id, g.cluster_type, w.config_version from place_group_target m \
         join place_group g on g.id = m.place_group_id join place p on p.place_group_id = g.id \
         join place_revision w on w.id = {revision} \
         where {of_targets} and g.role = 'platform' and w.config_version is not null order by p.id"
    );
    let mut configs: BTreeMap<TargetId, BTreeMap<String, String>> = BTreeMap::new();
    for (target, cluster_type, version) in
        transaction.query::<(_, Option<String>, _)>(&sql, parameters.into_values()).await?
    {
        configs.entry(target).or_default().insert(cluster_type.unwrap_or_default(), version);
    }
    Ok(configs)
}
