//! Resolves reports that name a workload instead of a folder: those of Workload Orchestration, and of scripts that do not know the GitOps repository.
//!
//! A name resolves to the folder of a deployment target if exactly one target has this name. If several have it, the other reconcilers of the host
//! decide. If these do not decide, the reconciler gets no place: `drift` lists reconcilers without a place, but cannot detect a wrong place.

use std::collections::{BTreeMap, BTreeSet};

use super::naming::{self, Home};
use crate::store::{
    ColumnError, ColumnType, Columns, DatabaseError, EnvironmentId, FromRow, HostId, PlaceId, ReconcilerId, Rows,
    SqlValue, TargetId, Transaction, WorkloadId,
};

/// The most separators at which a name is split. Further separators are part of a name.
const SIGNS_MAX: usize = 8;

/// The name of a workload in a report, with the other values that identify it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct WorkloadQuery {
    pub(crate) name: String,
    pub(crate) environment: Option<String>,
    pub(crate) version: Option<String>,
    pub(crate) host_id: HostId,
}

/// The result of resolving a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resolved {
    /// The folder of one target.
    Home(Home),
    /// No target with known manifests has this name.
    Nothing,
    /// The name matches several targets, written as `environment target`.
    Several(Vec<String>),
}

/// A target that a name may identify.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Candidate {
    target_id: TargetId,
    workload_id: WorkloadId,
    environment_id: EnvironmentId,
    full_name: String,
    home: Home,
}

/// Resolves names to the folders of targets. The results are in the order of the queries.
pub(crate) async fn resolve(
    transaction: &mut Transaction,
    queries: &[WorkloadQuery],
) -> Result<Vec<Resolved>, DatabaseError> {
    let mut candidates = candidates(transaction, queries).await?;
    let open = |candidates: &[Vec<Candidate>]| -> Vec<usize> {
        (0..).zip(candidates).filter(|(_, candidates)| home(candidates).is_none()).map(|(number, _)| number).collect()
    };
    let unclear = open(&candidates);
    let known = with_version(transaction, queries, (&candidates, &unclear)).await?;
    narrow(&mut candidates, &unclear, |number, one| known.contains(&(number, one.workload_id)));
    let unclear = open(&candidates);
    let hosts = Hosts::read(transaction, unclear.iter().filter_map(|number| queries.get(*number))).await?;
    let host = |number: usize| queries.get(number).map(|query| query.host_id);
    let has_environment = |host, one: &Candidate| hosts.environments.contains(&(host, one.environment_id));
    narrow(&mut candidates, &unclear, |number, one| host(number).is_some_and(|host| has_environment(host, one)));
    let has_target = |host, one: &Candidate| hosts.targets.contains(&(host, one.target_id));
    narrow(&mut candidates, &unclear, |number, one| host(number).is_some_and(|host| has_target(host, one)));
    Ok(candidates.into_iter().map(Resolved::from_candidates).collect())
}

/// Keeps only the candidates that meet the condition, if any of them does.
fn narrow(candidates: &mut [Vec<Candidate>], unclear: &[usize], is_so: impl Fn(usize, &Candidate) -> bool) {
    for number in unclear {
        let Some(some) = candidates.get_mut(*number) else { continue };
        if some.iter().any(|one| is_so(*number, one)) {
            some.retain(|one| is_so(*number, one));
        }
    }
}

/// The folder of all these candidates, if they have the same folder.
fn home(candidates: &[Candidate]) -> Option<&Home> {
    let first = &candidates.first()?.home;
    candidates.iter().all(|one| one.home == *first).then_some(first)
}

impl Resolved {
    fn from_candidates(candidates: Vec<Candidate>) -> Self {
        match home(&candidates) {
            Some(home) => Self::Home(home.clone()),
            None if candidates.is_empty() => Self::Nothing,
            None => Self::Several(candidates.into_iter().map(|one| one.full_name).collect()),
        }
    }

    /// An explanation, for people, why a name resolves to no place; none if it resolves.
    pub(crate) fn why_unplaced(&self, query: &WorkloadQuery) -> Option<String> {
        const SHOWN_MAX: usize = 4;
        let name = &query.name;
        match self {
            Self::Home(_) => None,
            Self::Nothing => {
                let of =
                    query.environment.as_ref().map_or_else(String::new, |name| format!(" of environment `{name}`"));
                Some(format!("no deployment target{of} whose manifests are known is called `{name}`"))
            }
            Self::Several(targets) => {
                let first: Vec<_> = targets.iter().take(SHOWN_MAX).map(|one| format!("`{one}`")).collect();
                let more = targets.len().saturating_sub(SHOWN_MAX);
                let more = if more == 0 { String::new() } else { format!(" and {more} more") };
                Some(format!("`{name}` can be several deployment targets: {}{more}", first.join(", ")))
            }
        }
    }
}

/// A workload, a target, or both.
type Reading<'a> = (Option<&'a str>, Option<&'a str>);

/// All ways to read a name. Each prefix up to a `/` may be a parent name, which is ignored.
fn readings(name: &str) -> Vec<Reading<'_>> {
    let behind = name.match_indices('/').take(SIGNS_MAX).filter_map(|(at, _)| name.get(at + 1..));
    let readings = std::iter::once(name).chain(behind).flat_map(readings_of_rest);
    readings.filter(|(workload, target)| *workload != Some("") && *target != Some("")).collect()
}

fn readings_of_rest(rest: &str) -> Vec<Reading<'_>> {
    let pairs = rest.match_indices('-').take(SIGNS_MAX).map(|(at, _)| (rest.get(..at), rest.get(at + 1..)));
    [(Some(rest), None), (None, Some(rest))].into_iter().chain(pairs).collect()
}

/// All names of a target.
pub(crate) fn names([workspace, application, workload, target]: [&str; 4]) -> Vec<String> {
    let rests = [workload.to_owned(), target.to_owned(), format!("{workload}-{target}")];
    let with = |rest: String| {
        let of_application = format!("{application}/{rest}");
        [format!("{workspace}/{of_application}"), of_application, rest]
    };
    rests.into_iter().flat_map(with).collect()
}

/// The targets that each name may identify.
async fn candidates(
    transaction: &mut Transaction,
    queries: &[WorkloadQuery],
) -> Result<Vec<Vec<Candidate>>, DatabaseError> {
    let mut groups: BTreeMap<(&str, Option<&str>), Vec<usize>> = BTreeMap::new();
    for (number, one) in queries.iter().enumerate() {
        groups.entry((one.name.as_str(), one.environment.as_deref())).or_default().push(number);
    }
    let kinds = [
        ("number", ColumnType::Int),
        ("workload", ColumnType::Text),
        ("target", ColumnType::Text),
        ("environment", ColumnType::Text),
    ];
    let (mut by_workload, mut by_target) = (Rows::new(&kinds), Rows::new(&kinds));
    for (number, (name, environment)) in groups.keys().enumerate() {
        for (workload, target) in readings(name) {
            let rows = if workload.is_some() { &mut by_workload } else { &mut by_target };
            rows.push(vec![SqlValue::from(number as i64), workload.into(), target.into(), (*environment).into()]);
        }
    }
    let mut rows = transaction.with::<(usize, CandidateRow)>(by_workload, &statement(OF_WORKLOAD)).await?;
    rows.extend(transaction.with(by_target, &statement(OF_TARGET)).await?);
    let keys: Vec<_> = groups.iter().collect();
    let mut found = vec![BTreeMap::new(); queries.len()];
    for (number, CandidateRow { candidate, path }) in rows {
        let Some(((name, _), numbers)) = keys.get(number) else { continue };
        if names(path.each_ref().map(String::as_str)).iter().any(|known| known == name) {
            for number in *numbers {
                if let Some(found) = found.get_mut(*number) {
                    found.insert(candidate.target_id, candidate.clone());
                }
            }
        }
    }
    Ok(found.into_iter().map(|found| found.into_values().collect()).collect())
}

/// A row of a candidate target, with its names from the workspace on.
struct CandidateRow {
    candidate: Candidate,
    path: [String; 4],
}

impl FromRow for CandidateRow {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (target_id, workload_id, environment_id) = columns.take()?;
        let path = [columns.take()?, columns.take()?, columns.take()?, columns.take()?];
        let full_name = format!("{} {}", columns.take::<String>()?, path.join("/"));
        let home = Home { place_id: columns.take()?, endpoint: columns.take()? };
        Ok(Self { candidate: Candidate { target_id, workload_id, environment_id, full_name, home }, path })
    }
}

fn statement(targets: &str) -> String {
    format!(
        "select s.number, t.id, l.id, e.id, w.name, a.name, l.name, t.name, e.name, p.id, p.endpoint from source s {targets} \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id \
         join environment e on e.id = t.environment_id join place p on p.endpoint = t.manifests_endpoint \
         where s.environment is null or e.name = s.environment"
    )
}

const OF_WORKLOAD: &str = "join workload l on l.name = s.workload \
    join deployment_target t on t.workload_id = l.id and (s.target is null or t.name = s.target)";

const OF_TARGET: &str = "join deployment_target t on t.name = s.target join workload l on l.id = t.workload_id";

/// The workloads among ambiguous candidates that had the reported version at some time: (number, workload).
async fn with_version(
    transaction: &mut Transaction,
    queries: &[WorkloadQuery],
    (candidates, unclear): (&[Vec<Candidate>], &[usize]),
) -> Result<BTreeSet<(usize, WorkloadId)>, DatabaseError> {
    let mut pairs = BTreeSet::new();
    for number in unclear {
        let version = queries.get(*number).and_then(|query| query.version.as_deref());
        for one in candidates.get(*number).into_iter().flatten() {
            pairs.extend(version.map(|version| (*number, one.workload_id, version)));
        }
    }
    let mut rows =
        Rows::new(&[("number", ColumnType::Int), ("workload_id", ColumnType::Int), ("version", ColumnType::Text)]);
    for (number, workload_id, version) in pairs {
        rows.push(vec![SqlValue::from(number as i64), workload_id.into(), version.into()]);
    }
    let statement = "select s.number, s.workload_id from source s \
        join workload_version v on v.workload_id = s.workload_id and v.version = s.version";
    Ok(transaction.with(rows, statement).await?.into_iter().collect())
}

/// Data about hosts that comes from their other reconcilers.
#[derive(Default)]
struct Hosts {
    /// (host, environment) of the places of these reconcilers.
    environments: BTreeSet<(HostId, EnvironmentId)>,
    /// (host, target) of the assignments that the platform made for these hosts.
    targets: BTreeSet<(HostId, TargetId)>,
}

/// A host, the environment of one of its places, and a target of that place.
type FoundAtHost = (HostId, Option<EnvironmentId>, Option<TargetId>);

impl Hosts {
    async fn read(
        transaction: &mut Transaction,
        queries: impl Iterator<Item = &WorkloadQuery>,
    ) -> Result<Self, DatabaseError> {
        let ids: BTreeSet<HostId> = queries.map(|query| query.host_id).collect();
        if ids.is_empty() {
            return Ok(Self::default());
        }
        let sql = format!(
            "select distinct r.host_id, g.environment_id, m.deployment_target_id from reconciler r \
             join place p on p.id = r.place_id join place_group g on g.id = p.place_group_id \
             left join place_group_target m on m.place_group_id = g.id and g.role = 'platform' \
             where {} and r.workload_name is null and r.retired_on is null",
            transaction.dialect().any_int("r.host_id", "$1")
        );
        let mut hosts = Self::default();
        for (host, environment, target) in transaction.query::<FoundAtHost>(&sql, vec![ids.into()]).await? {
            hosts.environments.extend(environment.map(|environment| (host, environment)));
            hosts.targets.extend(target.map(|target| (host, target)));
        }
        Ok(hosts)
    }
}

/// Moves reconcilers whose reports name these targets to the folders of the targets, if their place is not known or no longer right. Returns the moved
/// reconcilers.
pub(crate) async fn bring_home(
    transaction: &mut Transaction,
    targets: impl Iterator<Item = [&str; 4]>,
) -> Result<BTreeSet<ReconcilerId>, DatabaseError> {
    let names: BTreeSet<String> = targets.flat_map(names).collect();
    let mut rows = Rows::new(&[("name", ColumnType::Text)]);
    names.into_iter().for_each(|name| rows.push(vec![name.into()]));
    let statement = "select r.id, r.workload_name, r.workload_environment, d.version, r.host_id, r.place_id from source s \
        join reconciler r on r.workload_name = s.name join reconciler_state x on x.reconciler_id = r.id \
        left join deployment d on d.id = x.deployment_id where r.manifests_endpoint is null or r.is_named = 1 \
        and not exists (select 1 from deployment_target t where t.manifests_endpoint = r.manifests_endpoint)";
    let found = transaction.with(rows, statement).await?;
    let query = |(id, name, environment, version, host_id, place_id): (ReconcilerId, _, _, _, _, Option<PlaceId>)| {
        ((id, place_id), WorkloadQuery { name, environment, version, host_id })
    };
    let (found, query): (Vec<_>, Vec<_>) = found.into_iter().map(query).unzip();
    let resolved = resolve(transaction, &query).await?;
    let home = |((id, place_id), resolved): ((ReconcilerId, Option<PlaceId>), Resolved)| match resolved {
        Resolved::Home(home) if place_id != Some(home.place_id) => Some((id, home)),
        _ => None,
    };
    naming::move_to(transaction, found.into_iter().zip(resolved).filter_map(home).collect()).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_readings_of_a_name_are_found() {
        let check = |name| {
            readings(name)
                .into_iter()
                .map(|(one, other)| format!("{}:{}", one.unwrap_or_default(), other.unwrap_or_default()))
                .collect::<Vec<_>>()
                .join(" ")
        };
        assert_eq!(check("cart"), "cart: :cart");
        assert_eq!(check("a-b-c"), "a-b-c: :a-b-c a:b-c a-b:c");
        assert_eq!(check("shop/cart"), "shop/cart: :shop/cart cart: :cart");
        assert_eq!(check("-a/"), "-a/: :-a/");
    }

    #[test]
    fn target_names_have_a_matching_reading() {
        for name in names(["acme", "shop", "cart-x", "eu-1"]) {
            let ways = [(Some("cart-x"), None), (None, Some("eu-1")), (Some("cart-x"), Some("eu-1"))];
            assert!(readings(&name).iter().any(|reading| ways.contains(reading)), "{name}");
        }
    }
}
