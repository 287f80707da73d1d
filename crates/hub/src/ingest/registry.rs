//! The data of reconcilers apart from their state: kind, the place that they apply, and the interval of their heartbeats.

use std::collections::{BTreeSet, HashMap};

use hub_api::hosts::RegisteredBy;
use hub_api::report::WorkloadName;
use hub_api::timestamp::Timestamp;

use super::naming::Home;
use super::work::Work;
use super::workloads::{Resolved, WorkloadQuery};
use super::{naming, places, workloads};
use crate::store::{ColumnType, DatabaseError, PlaceId, ReconcilerId, Rows, SqlValue, Transaction};

/// Writes the data that changed, and finds the places where the reconcilers are now.
pub(super) async fn follow(
    transaction: &mut Transaction,
    works: &mut [Work<'_>],
    now: Timestamp,
) -> Result<(), DatabaseError> {
    let endpoints: BTreeSet<String> = works.iter().filter_map(|work| unplaced(work)).collect();
    let places = places::by_endpoint(transaction, endpoints).await?;
    let names = works.iter().filter_map(nameable).collect();
    let homes = naming::homes(transaction, names).await?;
    let of_workloads = of_workloads(transaction, works).await?;
    let mut rows = Rows::new(&[
        ("id", ColumnType::Int),
        ("kind", ColumnType::Text),
        ("endpoint", ColumnType::Text),
        ("place_id", ColumnType::Int),
        ("is_named", ColumnType::Int),
        ("workload_name", ColumnType::Text),
        ("workload_environment", ColumnType::Text),
        ("is_by_version", ColumnType::Int),
        ("heartbeat_seconds", ColumnType::Int),
        ("registered_by", ColumnType::Int),
        ("updated_on", ColumnType::Timestamp),
    ]);
    for work in works {
        let home = nameable(work).and_then(|name| homes.get(name));
        let home = home.or_else(|| of_workloads.get(&work.subject.reconciler_id));
        if let Some(row) = row(work, &places, (home, now)) {
            rows.push(row);
        }
    }
    let statement = "update reconciler set reconciler_type = s.kind, manifests_endpoint = s.endpoint, \
        place_id = s.place_id, is_named = s.is_named, heartbeat_seconds = s.heartbeat_seconds, workload_name = s.workload_name, \
        workload_environment = s.workload_environment, is_by_version = s.is_by_version, registered_by = s.registered_by, updated_on = s.updated_on \
        from source s where reconciler.id = s.id";
    transaction.execute_with(rows, statement).await
}

/// Sets the place of the reconciler of a work. Returns its new row if the place or any other data of it changed.
fn row(
    work: &mut Work<'_>,
    places: &HashMap<String, PlaceId>,
    (home, now): (Option<&Home>, Timestamp),
) -> Option<Vec<SqlValue>> {
    let own = work.subject.own.as_ref()?;
    let named = work.named_endpoint().map(str::to_owned);
    // The place that a report names has precedence over the name of the reconciler, even if both give the same place.
    let mut is_named = own.is_named && named.is_none();
    let mut endpoint = named.or_else(|| own.endpoint.clone());
    let mut place_id = work.place_id;
    if endpoint != own.endpoint || work.subject.place_id.is_none() {
        place_id = endpoint.as_ref().and_then(|endpoint| places.get(endpoint).copied());
    }
    if let Some(home) = home {
        (endpoint, place_id, is_named) = (Some(home.endpoint.clone()), Some(home.place_id), true);
    }
    let (kind, heartbeat, is_by_version) = match work.newest {
        Some(newest) => {
            let heartbeat = newest.heartbeat.map(|heartbeat| heartbeat.as_secs() as i64);
            // A report that waits names no content that it has applied.
            let is_by_version = if newest.is_waiting { own.is_by_version } else { newest.is_by_version() };
            (newest.kind.as_str(), heartbeat, is_by_version)
        }
        None => (own.kind.as_str(), own.heartbeat_seconds, own.is_by_version),
    };
    let workload = work.newest.and_then(|newest| newest.workload.as_ref()).or(own.workload.as_ref());
    let before = (own.kind.as_str(), &own.endpoint, work.subject.place_id, own.is_named, own.heartbeat_seconds);
    let is_same = before == (kind, &endpoint, place_id, is_named, heartbeat)
        && (own.workload.as_ref(), own.is_by_version) == (workload, is_by_version);
    let registered_by = if endpoint == own.endpoint { own.registered_by } else { work.registered_by() };
    let row = (!is_same).then(|| {
        vec![
            SqlValue::from(work.subject.reconciler_id),
            kind.into(),
            endpoint.as_deref().into(),
            place_id.into(),
            is_named.into(),
            workload.map(|workload| workload.name.as_str()).into(),
            workload.and_then(|workload| workload.environment.as_deref()).into(),
            is_by_version.into(),
            heartbeat.into(),
            registered_by.number().into(),
            now.into(),
        ]
    });
    (work.endpoint, work.place_id) = (endpoint, place_id);
    row
}

impl Work<'_> {
    /// Who registers the reconciler for the place that these reports give.
    fn registered_by(&self) -> RegisteredBy {
        let is_of_token = self.reports.iter().any(|(_, report)| report.registered_by() == RegisteredBy::Token);
        if is_of_token { RegisteredBy::Token } else { RegisteredBy::Operator }
    }
}

/// The endpoint whose place has to be looked up: the one that its reports name, unless the reconciler is there already.
fn unplaced(work: &Work<'_>) -> Option<String> {
    let own = work.subject.own.as_ref()?;
    let endpoint = work.named_endpoint().or(own.endpoint.as_deref())?;
    let is_known = work.subject.place_id.is_some() && own.endpoint.as_deref() == Some(endpoint);
    Some(endpoint.to_owned()).filter(|_| !is_known)
}

/// The folders of workloads for reports that name a workload but no place, by reconciler. A reconciler with a known place is skipped, unless this
/// place was derived from a name and the reported workload changed.
async fn of_workloads(
    transaction: &mut Transaction,
    works: &[Work<'_>],
) -> Result<HashMap<ReconcilerId, Home>, DatabaseError> {
    let query = |work: &Work<'_>| {
        let (newest, own) = (work.newest?, work.subject.own.as_ref()?);
        let workload = newest.workload.as_ref().filter(|_| newest.endpoint.is_none())?;
        let is_named_now = work.named_endpoint().is_some();
        let has_place = own.endpoint.is_some() || work.subject.place_id.is_some();
        let is_settled = is_named_now || has_place && (!own.is_named || own.workload.as_ref() == Some(workload));
        let WorkloadName { name, environment } = workload.clone();
        let query = WorkloadQuery { name, environment, version: newest.version.clone(), host_id: own.host_id };
        (!is_settled).then_some((work.subject.reconciler_id, query))
    };
    let (ids, queries): (Vec<_>, Vec<_>) = works.iter().filter_map(query).unzip();
    let resolved = workloads::resolve(transaction, &queries).await?;
    let home = |(id, resolved): (ReconcilerId, Resolved)| match resolved {
        Resolved::Home(home) => Some((id, home)),
        Resolved::Nothing | Resolved::Several(_) => None,
    };
    Ok(ids.into_iter().zip(resolved).filter_map(home).collect())
}

/// The name of a reconciler, if no report names its folder, so that the folder may be derived from the name.
fn nameable<'a>(work: &Work<'a>) -> Option<&'a str> {
    let (newest, own) = (work.newest?, work.subject.own.as_ref()?);
    let has_place = work.named_endpoint().is_some() || own.endpoint.is_some() || work.subject.place_id.is_some();
    Some(newest.reconciler.as_str()).filter(|_| !has_place)
}
