//! Deployments: which version of which workload, with which configuration, is on which host, since when.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::deployments::{Deployment, Deployments, TargetNames};
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;

use super::below::{self, AssignedBelow};
use super::cursor::Cursor;
use super::facts::{self, Below, Fact, ReconcilerPlace};
use super::place_folders::Above;
use super::scope::Scope;
use super::walk::Walk;
use super::{Question, QuestionError, question, released};
use crate::ingest::workloads::{self, WorkloadQuery};
use crate::store::{Database, DatabaseError, HostId, PlaceGroupId, ReconcilerId, TargetId, Transaction};

/// The current deployments; with a timestamp, the deployments at that time.
///
/// # Errors
/// The filter or the page is invalid; the database can't answer.
pub async fn deployments(
    database: &Database,
    question: impl Into<Question<'_>>,
    page: &Page,
    at: Option<Timestamp>,
) -> Result<Deployments, QuestionError> {
    let question = question.into();
    let after = page.cursor.as_deref().map(|cursor| Cursor::read(cursor, LIST)).transpose()?;
    let limit = question::limit(page)?;
    if at.is_some() && question.filter.status.is_some() {
        let message = "is not available for earlier times".to_owned();
        return Err(QuestionError::Wrong { parameter: "status", message });
    }
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::read(&mut transaction, question).await?;
    let (targets, states, hides_messages) = (scope.targets.clone(), scope.states.clone(), scope.hides_messages);
    // All workloads of many clusters would be too many rows.
    let is_by_workload = targets.is_some() || question.filter.host.is_some();
    let found = Search::new(&mut transaction, scope, at).await?;
    let (facts, next) = found.page(&mut transaction, after, limit).await?;
    let selection = RowSelection { only: targets.as_ref(), at, is_by_workload, hides_messages };
    let mut items = of_facts(&mut transaction, facts, selection).await?;
    if let Some(states) = states {
        // The folder of a cluster can have another state than the one of a workload in it.
        items.retain(|row| row.state.is_some_and(|state| states.contains(&state)));
    }
    Ok(Deployments { items, next: next.map(|next| next.write(LIST)) })
}

/// Finds reconcilers page by page: those at the places of a scope and at the folders around them, now or at a timestamp.
pub(super) struct Search {
    walk: Walk,
    /// The groups of places that reconcilers must have been at. None: any.
    groups: Option<Vec<PlaceGroupId>>,
    at: Option<Timestamp>,
}

impl Search {
    pub(super) async fn new(
        transaction: &mut Transaction,
        mut scope: Scope,
        at: Option<Timestamp>,
    ) -> Result<Self, QuestionError> {
        let above = Above::read(transaction, &scope).await?;
        scope.groups.iter_mut().for_each(|groups| groups.extend_from_slice(above.groups()));
        let groups = scope.groups.clone().filter(|_| at.is_some());
        let walk = Walk::of_scope(transaction, scope, above.groups()).await?;
        Ok(Self { walk: if at.is_some() { walk.with_past() } else { walk }, groups, at })
    }

    /// The facts about the next reconcilers, and where the search goes on.
    pub(super) async fn page(
        &self,
        transaction: &mut Transaction,
        after: Option<Cursor<2>>,
        limit: usize,
    ) -> Result<(Vec<Fact>, Option<Cursor<2>>), QuestionError> {
        let found = self.walk.page(transaction, after, limit).await?;
        let mut facts = facts::facts(transaction, &found.reconcilers, self.at).await?;
        if let Some(groups) = &self.groups {
            let lanes: BTreeMap<_, _> = found.reconcilers.iter().copied().zip(found.places.iter().copied()).collect();
            facts.retain(|fact| {
                let lane = lanes.get(&fact.id).copied().flatten();
                let is_there = |place: &ReconcilerPlace| {
                    groups.contains(&place.group_id) && lane.is_none_or(|lane| lane == place.id)
                };
                fact.place.as_ref().is_some_and(is_there)
            });
        }
        Ok((facts, found.next))
    }
}

/// The name of this list in cursors.
const LIST: &str = "deployments";

/// Which rows of reconcilers are selected.
#[derive(Clone, Copy, Default)]
pub(super) struct RowSelection<'a> {
    /// Only rows for these targets. None: for all.
    pub(super) only: Option<&'a BTreeSet<TargetId>>,
    /// The rows at this timestamp. None: now.
    pub(super) at: Option<Timestamp>,
    /// Whether reconcilers of cluster folders have a row for each target in them. Otherwise, they have one row.
    pub(super) is_by_workload: bool,
    /// Whether rows for targets in cluster folders have no messages.
    pub(super) hides_messages: bool,
}

/// The rows for reconcilers: one for each target that a reconciler applies.
pub(super) async fn rows(
    transaction: &mut Transaction,
    reconcilers: &[ReconcilerId],
    selection: RowSelection<'_>,
) -> Result<Vec<Deployment>, QuestionError> {
    let facts = facts::facts(transaction, reconcilers, selection.at).await?;
    of_facts(transaction, facts, selection).await
}

async fn of_facts(
    transaction: &mut Transaction,
    facts: Vec<Fact>,
    RowSelection { only, at, is_by_workload, hides_messages }: RowSelection<'_>,
) -> Result<Vec<Deployment>, QuestionError> {
    let hosts = facts.iter().map(|fact| fact.host_id).collect();
    let platform = facts::platform_reconcilers(transaction, hosts).await?;
    let platform = facts::facts(transaction, &platform, at).await?;
    let groups = facts.iter().chain(&platform).filter_map(|fact| Some(fact.place.as_ref()?.group_id)).collect();
    let targets = facts::targets(transaction, groups).await?;
    let none = BTreeMap::new();
    let targets_of = |fact: &Fact| fact.place.as_ref().and_then(|place| targets.get(&place.group_id)).unwrap_or(&none);
    let config = configurations(transaction, &platform, targets_of).await?;
    let shared = SharedFolders::read(transaction, &targets, &platform).await?;
    let types = platform.iter().filter_map(|fact| Some((fact.host_id, fact.place.as_ref()?.cluster_type.clone()?)));
    let types: BTreeMap<HostId, String> = types.collect();
    let row = |fact: &Fact| {
        let row = row(fact);
        Deployment { cluster_type: row.cluster_type.or_else(|| types.get(&fact.host_id).cloned()), ..row }
    };
    let keys = facts.iter().flat_map(|fact| {
        let commit = fact.commit.clone().unwrap_or_default();
        targets_of(fact).keys().map(move |target| (*target, commit.clone()))
    });
    let versions = facts::versions(transaction, &keys.collect()).await?;
    let mut unplaced = unplaced(transaction, &facts).await?;
    let around = facts.iter().filter(|fact| is_by_workload && targets_of(fact).is_empty());
    let below = below::assigned(transaction, around, (only, at)).await?;
    let own = facts.iter().flat_map(|fact| targets_of(fact).keys().copied());
    let all = own.chain(below.values().flatten().map(|below| below.target_id)).collect();
    let with_manifests = released::with_manifests(transaction, all).await?;
    let mut rows = Vec::new();
    for fact in &facts {
        let targets = targets_of(fact);
        let is_of_host = |id: &TargetId| shared.is_of_host(fact.host_id, *id);
        let has_own = targets.keys().any(is_of_host);
        let chosen = targets.iter().filter(|(id, _)| only.is_none_or(|only| only.contains(*id)));
        let chosen = chosen.filter(|(id, _)| !has_own || is_of_host(id));
        let commit = fact.commit.clone().unwrap_or_default();
        for (id, names) in chosen {
            let row = row(fact);
            rows.push(Deployment {
                environment: shared.environments.get(id).or(row.environment.as_ref()).cloned(),
                target: Some(names.clone()),
                version: versions
                    .get(&(*id, commit.clone()))
                    .or(release(fact).filter(|_| !with_manifests.contains(id)))
                    .or(fact.version.as_ref())
                    .cloned(),
                config_version: config.get(&(fact.host_id, *id)).cloned(),
                ..row
            });
        }
        let below = below.get(&fact.id).map(Vec::as_slice).unwrap_or_default();
        rows.extend(below.iter().map(|below| {
            let found = row_below(fact, below, row(fact));
            let version = found.version.filter(|_| !with_manifests.contains(&below.target_id));
            Deployment { version, message: found.message.filter(|_| !hides_messages), ..found }
        }));
        let is_of_others = is_by_workload && only.is_some() && fact.place.is_some();
        if targets.is_empty() && below.is_empty() && !is_of_others {
            rows.push(Deployment { unplaced: unplaced.remove(&fact.id), ..row(fact) });
        }
    }
    Ok(rows)
}

/// The release of the platform folder that a reconciler holds.
fn release(fact: &Fact) -> Option<&String> {
    fact.held.as_ref()?.release.as_ref()
}

/// The environments of targets whose folder targets of other environments have, too. A host applies those of its own environments.
struct SharedFolders {
    environments: BTreeMap<TargetId, String>,
    /// The environments of the places of the platform at which hosts are.
    hosts: BTreeSet<(HostId, String)>,
}

impl SharedFolders {
    async fn read(
        transaction: &mut Transaction,
        targets: &BTreeMap<PlaceGroupId, BTreeMap<TargetId, TargetNames>>,
        platform: &[Fact],
    ) -> Result<Self, DatabaseError> {
        let several = || targets.values().filter(|targets| targets.len() > 1);
        let all = several().flat_map(BTreeMap::keys).copied().collect();
        let mut environments = facts::environments(transaction, all).await?;
        let is_shared = |targets: &&BTreeMap<TargetId, TargetNames>| {
            targets.keys().map(|id| environments.get(id)).collect::<BTreeSet<_>>().len() > 1
        };
        let shared: BTreeSet<_> = several().filter(is_shared).flat_map(BTreeMap::keys).copied().collect();
        environments.retain(|id, _| shared.contains(id));
        let host = |fact: &Fact| Some((fact.host_id, fact.place.as_ref()?.environment.clone()?));
        Ok(Self { environments, hosts: platform.iter().filter_map(host).collect() })
    }

    /// Whether the folder of a target is shared, and the host is in the environment of the target.
    fn is_of_host(&self, host: HostId, target: TargetId) -> bool {
        let environment = self.environments.get(&target);
        environment.is_some_and(|environment| self.hosts.contains(&(host, environment.clone())))
    }
}

/// The configuration versions that hosts hold, by host and target.
async fn configurations<'a>(
    transaction: &mut Transaction,
    platform: &[Fact],
    targets_of: impl Fn(&Fact) -> &'a BTreeMap<TargetId, TargetNames>,
) -> Result<BTreeMap<(HostId, TargetId), String>, QuestionError> {
    let mut known = BTreeMap::new();
    let mut keys = BTreeMap::new();
    for fact in platform {
        let (Some(place), Some(held)) = (&fact.place, &fact.held) else { continue };
        for target in targets_of(fact).keys() {
            let key = (fact.host_id, *target);
            if let Some(version) = &held.config_version {
                known.insert(key, version.clone());
            } else {
                let (path, sequence) = (place.path.clone(), held.sequence);
                keys.insert(key, Below { branch_id: place.branch_id, path, target_id: *target, sequence });
            }
        }
    }
    let found = facts::config_versions(transaction, keys.values().cloned().collect()).await?;
    for (key, below) in keys {
        if let Some(version) = found.get(&below) {
            known.entry(key).or_insert_with(|| version.clone());
        }
    }
    Ok(known)
}

/// The part of a row that is the same for all targets of a reconciler.
fn row(fact: &Fact) -> Deployment {
    let place = fact.place.as_ref();
    Deployment {
        host: fact.host.clone(),
        reconciler: fact.name.clone(),
        kind: fact.kind.clone(),
        environment: place.and_then(|place| place.environment.clone()),
        cluster_type: place.and_then(|place| place.cluster_type.clone()),
        target: None,
        version: fact.version.clone(),
        config_version: fact.held.as_ref().and_then(|held| held.config_version.clone()),
        commit: fact.commit.clone(),
        desired_commit: place.and_then(|place| Some(place.desired.as_ref()?.commit.clone())),
        state: fact.state(),
        status: fact.status,
        message: fact.message.clone(),
        since: fact.since,
        last_report_on: fact.seen,
        silent: fact.is_silent,
        unplaced: None,
    }
}

/// The row of a reconciler of a cluster's folder for an assignment in it.
fn row_below(fact: &Fact, below: &AssignedBelow, row: Deployment) -> Deployment {
    let tree = |side: &Option<(String, String)>| side.as_ref().map(|(tree, _)| tree.clone());
    let commit = |side: &Option<(String, String)>| side.as_ref().map(|(_, commit)| commit.clone());
    let holds = below.held.is_some() && tree(&below.held) == tree(&below.desired);
    let state = below.desired.as_ref().map(|_| fact.state_if(holds));
    Deployment {
        target: Some(below.target.clone()),
        version: below.release.clone(),
        config_version: below.config_version.clone(),
        commit: commit(&below.held),
        desired_commit: commit(&below.desired),
        state,
        ..row
    }
}

/// For reconcilers whose reports name a workload and no folder: why the hub found no place for them.
async fn unplaced(
    transaction: &mut Transaction,
    facts: &[Fact],
) -> Result<BTreeMap<ReconcilerId, String>, DatabaseError> {
    let nowhere = facts.iter().filter(|fact| fact.place.is_none() && fact.endpoint.is_none());
    let query = |fact: &Fact| {
        let (name, environment) = fact.workload.clone()?;
        Some((fact.id, WorkloadQuery { name, environment, version: fact.version.clone(), host_id: fact.host_id }))
    };
    let (ids, queries): (Vec<_>, Vec<_>) = nowhere.filter_map(query).unzip();
    let resolved = workloads::resolve(transaction, &queries).await?;
    let why = resolved.iter().zip(&queries).map(|(resolved, query)| resolved.why_unplaced(query));
    Ok(ids.into_iter().zip(why).filter_map(|(id, why)| Some((id, why?))).collect())
}
