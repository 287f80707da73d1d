//! Which reports of a host's token count: those about places that the host is registered for.
//!
//! A token for the whole platform (role `admin`) may report about every reconciler. A token of a host, or of several hosts, counts for
//!
//! - a reconciler that is known at the place: an operator registered it, or it was known before places were checked;
//! - the places that the token names;
//! - the folders of the `Cluster` with the name of the host, `CLUSTER` or `ENVIRONMENT-CLUSTER`. If several clusters have the name, the token has to name
//!   its environment, or is shared by them;
//! - the manifests of the workloads that the platform assigned to those folders, or to other folders of the host.
//!
//! At each place, a host has one reconciler. Others need an operator. All other reports are kept apart ([`super::apart`]). A reconciler whose place is not
//! known yet is stored without a place, and gets its place only if its host is registered for it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hub_api::hosts::ApartReason;
use hub_api::report::WorkloadName;

use super::assigned::{self, Place, Question};
use super::ids::Ids;
use super::naming;
use super::subjects::{self, Own};
use super::submitted::Submitted;
use super::workloads::{self, Resolved, WorkloadQuery};
use crate::ingest::speaker::Speaker;
use crate::store::{ColumnType, DatabaseError, HostId, ReconcilerId, Rows, SqlValue, Transaction};

/// The place of a report that does not count, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Apart {
    pub(super) reason: ApartReason,
    pub(super) endpoint: String,
}

/// A report of a token of hosts, with the stored reconciler that it names.
struct Spoken<'a> {
    /// Its number in the batch.
    number: usize,
    report: &'a Submitted,
    speaker: &'a Speaker,
    own: Option<Own>,
}

/// The place that a report is about.
#[derive(Clone, Debug)]
struct Claim {
    endpoint: String,
    /// Whether its reconciler is counted there already.
    is_settled: bool,
}

/// Finds the reports that are kept apart. The result is by the number of the report.
pub(super) async fn separate(
    transaction: &mut Transaction,
    ids: &Ids,
    reports: &[&Submitted],
) -> Result<BTreeMap<usize, Apart>, DatabaseError> {
    let spoken = spoken(transaction, ids, reports).await?;
    if spoken.is_empty() {
        return Ok(BTreeMap::new());
    }
    let claims = claims(transaction, &spoken).await?;
    let endpoints = claims.iter().flatten().map(|claim| claim.endpoint.clone()).collect();
    let places = assigned::places(transaction, endpoints).await?;
    let mut questions = Vec::new();
    for (index, (spoken, claim)) in spoken.iter().zip(&claims).enumerate() {
        let Some(place) = claim.as_ref().and_then(|claim| places.get(&claim.endpoint)) else { continue };
        let Spoken { report, speaker, .. } = *spoken;
        questions.push(Question { number: index, host: &report.host, place, speaker: Some(speaker) });
    }
    let registered = assigned::answer(transaction, &questions).await?;
    let mut apart = BTreeMap::new();
    let mut new = Vec::new();
    for (index, (spoken, claim)) in spoken.iter().zip(claims).enumerate() {
        let Some(claim) = claim else { continue };
        let answer = registered.get(&index).copied();
        match judge(spoken.speaker, &claim, (places.get(&claim.endpoint), answer)) {
            Some(reason) => {
                apart.insert(spoken.number, Apart { reason, endpoint: claim.endpoint });
            }
            None if claim.is_settled => {}
            None => new.push((spoken, claim.endpoint)),
        }
    }
    for (number, endpoint) in occupied(transaction, &new).await? {
        apart.insert(number, Apart { reason: ApartReason::Occupied, endpoint });
    }
    Ok(apart)
}

/// Why a report about a place does not count; none if it counts, or if its place is not known yet.
fn judge(
    speaker: &Speaker,
    claim: &Claim,
    (place, answer): (Option<&Place>, Option<Result<(), ApartReason>>),
) -> Option<ApartReason> {
    let environment = place.and_then(|place| place.environment.as_deref());
    let is_outside = !speaker.places.is_empty() && !speaker.has_place(&claim.endpoint);
    if is_outside || !speaker.has_environment(environment) {
        return Some(ApartReason::Token);
    }
    if claim.is_settled || !speaker.places.is_empty() {
        return None;
    }
    answer.and_then(Result::err)
}

/// The reports of tokens of hosts that may be about another place than the one where their reconciler is counted.
async fn spoken<'a>(
    transaction: &mut Transaction,
    known: &Ids,
    reports: &[&'a Submitted],
) -> Result<Vec<Spoken<'a>>, DatabaseError> {
    let spoken: Vec<(usize, &'a Submitted, &'a Speaker)> =
        reports.iter().enumerate().filter_map(|(number, report)| Some((number, *report, report.speaker()?))).collect();
    if spoken.is_empty() {
        return Ok(Vec::new());
    }
    let of_tokens: Vec<&Submitted> = spoken.iter().map(|(_, report, _)| *report).collect();
    let mut ids = known.get_all(of_tokens.iter().map(|report| report.subject()));
    let found = subjects::look_up(transaction, &of_tokens, &ids).await?;
    known.remember(found.iter().map(|(index, id)| (of_tokens[*index].subject(), *id)));
    found.into_iter().for_each(|(index, id)| ids[index] = Some(id));
    let profiles = profiles(transaction, ids.iter().flatten().copied().collect()).await?;
    let is_as_before = |(_, report, speaker): &(usize, &Submitted, &Speaker), id: Option<ReconcilerId>| {
        let profile = id.and_then(|id| profiles.get(&id).copied());
        profile.is_some() && profile == report.profile && speaker.is_unlimited()
    };
    let open: Vec<_> = spoken.into_iter().zip(ids).filter(|(spoken, id)| !is_as_before(spoken, *id)).collect();
    let owns = subjects::owns(transaction, open.iter().filter_map(|(_, id)| *id).collect()).await?;
    let with_own = |((number, report, speaker), id): ((usize, &'a Submitted, &'a Speaker), Option<ReconcilerId>)| {
        Spoken { number, report, speaker, own: id.and_then(|id| owns.get(&id).cloned()) }
    };
    Ok(open.into_iter().map(with_own).collect())
}

/// The profiles of reconcilers that are in service at a known place.
async fn profiles(
    transaction: &mut Transaction,
    ids: BTreeSet<ReconcilerId>,
) -> Result<HashMap<ReconcilerId, i64>, DatabaseError> {
    if ids.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!(
        "select reconciler_id, profile from reconciler_state where {} and profile is not null",
        transaction.dialect().any_int("reconciler_id", "$1")
    );
    Ok(transaction.query(&sql, vec![ids.into()]).await?.into_iter().collect())
}

/// The place of each report; none if it is about no place that is known by a name.
async fn claims(transaction: &mut Transaction, spoken: &[Spoken<'_>]) -> Result<Vec<Option<Claim>>, DatabaseError> {
    let names = spoken.iter().filter(|spoken| spoken.is_nameless()).map(|spoken| spoken.report.reconciler.as_str());
    let homes = naming::homes(transaction, names.collect()).await?;
    let of_workloads = of_workloads(transaction, spoken).await?;
    let claim = |(index, spoken): (usize, &Spoken<'_>)| {
        let by_name = || homes.get(&spoken.report.reconciler).filter(|_| spoken.is_nameless());
        let named = by_name().map(|home| home.endpoint.clone()).or_else(|| of_workloads.get(&index).cloned());
        spoken.claim(named)
    };
    Ok(spoken.iter().enumerate().map(claim).collect())
}

impl Spoken<'_> {
    /// Whether neither the report nor an earlier one gives a place, so that the name of the reconciler may.
    fn is_nameless(&self) -> bool {
        self.report.endpoint.is_none() && self.place_before().is_none()
    }

    /// The place of its reconciler before this report.
    fn place_before(&self) -> Option<&str> {
        self.own.as_ref().and_then(|own| own.endpoint.as_deref())
    }

    /// The workload of the report, if it may give the place.
    fn workload(&self) -> Option<&WorkloadName> {
        let workload = self.report.workload.as_ref().filter(|_| self.report.endpoint.is_none())?;
        let is_known = |own: &Own| own.endpoint.is_some() && !(own.is_named && own.workload.as_ref() != Some(workload));
        (!self.own.as_ref().is_some_and(is_known)).then_some(workload)
    }

    /// The place that the report names, or the one that a name gives, or the one of the reconciler.
    fn claim(&self, named: Option<String>) -> Option<Claim> {
        let before = self.place_before();
        let endpoint = self.report.endpoint.clone().or(named).or_else(|| before.map(str::to_owned))?;
        let is_placed = self.own.as_ref().is_some_and(|own| own.place_id.is_some());
        let is_settled = is_placed && before == Some(endpoint.as_str());
        Some(Claim { endpoint, is_settled })
    }
}

/// The folders of the workloads that reports name instead of a place, by index.
async fn of_workloads(
    transaction: &mut Transaction,
    spoken: &[Spoken<'_>],
) -> Result<BTreeMap<usize, String>, DatabaseError> {
    let open: Vec<_> =
        spoken.iter().enumerate().filter_map(|(index, one)| Some((index, one, one.workload()?))).collect();
    if open.is_empty() {
        return Ok(BTreeMap::new());
    }
    let hosts: BTreeSet<&str> = open.iter().map(|(_, one, _)| one.report.host.as_str()).collect();
    let sql = format!("select name, id from host where {}", transaction.dialect().any_text("name", "$1"));
    let hosts = hosts.into_iter().map(str::to_owned).collect::<Vec<_>>();
    let hosts: HashMap<String, HostId> = transaction.query(&sql, vec![hosts.into()]).await?.into_iter().collect();
    let query = |(_, one, workload): &(usize, &Spoken<'_>, &WorkloadName)| {
        let WorkloadName { name, environment } = (*workload).clone();
        // No host has the id 0. A host without other reconcilers gives no answer either.
        let host_id = hosts.get(&one.report.host).copied().unwrap_or(HostId::new(0));
        WorkloadQuery { name, environment, version: one.report.version.clone(), host_id }
    };
    let queries: Vec<_> = open.iter().map(query).collect();
    let resolved = workloads::resolve(transaction, &queries).await?;
    let home = |((index, _, _), resolved): ((usize, _, _), Resolved)| match resolved {
        Resolved::Home(home) => Some((index, home.endpoint)),
        Resolved::Nothing | Resolved::Several(_) => None,
    };
    Ok(open.into_iter().zip(resolved).filter_map(home).collect())
}

/// The reports of new reconcilers at places where their host has another one already, by the number of the report.
async fn occupied(
    transaction: &mut Transaction,
    new: &[(&Spoken<'_>, String)],
) -> Result<Vec<(usize, String)>, DatabaseError> {
    let mut rows = Rows::new(&[
        ("number", ColumnType::Int),
        ("host", ColumnType::Text),
        ("reconciler", ColumnType::Text),
        ("endpoint", ColumnType::Text),
    ]);
    for (index, (spoken, endpoint)) in new.iter().enumerate() {
        let (host, reconciler) = spoken.report.subject();
        rows.push(vec![SqlValue::from(index as i64), host.into(), reconciler.into(), endpoint.as_str().into()]);
    }
    let statement = "select distinct s.number from source s join host h on h.name = s.host \
        join reconciler r on r.host_id = h.id where r.manifests_endpoint = s.endpoint and r.name <> s.reconciler \
        and r.retired_on is null";
    let occupied: BTreeSet<usize> = transaction.with(rows, statement).await?.into_iter().collect();
    let mut first: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    let mut apart = Vec::new();
    for (index, (spoken, endpoint)) in new.iter().enumerate() {
        let (host, reconciler) = spoken.report.subject();
        if occupied.contains(&index) || *first.entry((host, endpoint)).or_insert(reconciler) != reconciler {
            apart.push((spoken.number, endpoint.clone()));
        }
    }
    Ok(apart)
}
