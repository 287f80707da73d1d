//! What reconcilers say of themselves besides their state: their kind, the place that they apply, the heartbeat that they promise.

use std::collections::BTreeSet;

use super::batch::Work;
use super::{naming, places};
use crate::moment::Moment;
use crate::store::{DatabaseError, Kind, Rows, Transaction, Value};

/// Writes what is different from before, and finds the places that reconcilers are at now.
pub(super) async fn follow(
    transaction: &mut Transaction,
    works: &mut [Work<'_>],
    now: Moment,
) -> Result<(), DatabaseError> {
    let endpoints: BTreeSet<String> = works.iter().filter_map(|work| unplaced(work)).collect();
    let places = places::by_endpoint(transaction, endpoints).await?;
    let names = works.iter().filter_map(nameable).collect();
    let homes = naming::homes(transaction, names).await?;
    let mut rows = Rows::new(&[
        ("id", Kind::Int),
        ("kind", Kind::Text),
        ("endpoint", Kind::Text),
        ("place_id", Kind::Int),
        ("is_named", Kind::Int),
        ("heartbeat_seconds", Kind::Int),
        ("updated_on", Kind::Moment),
    ]);
    for work in works {
        let (Some(newest), Some(own)) = (work.newest, &work.subject.own) else { continue };
        let subject = &work.subject;
        let mut endpoint = newest.endpoint.as_ref().or(own.endpoint.as_ref());
        // What a report says counts, even if the name says the same.
        let mut is_named = own.is_named && newest.endpoint.is_none();
        let heartbeat = newest.heartbeat.map(|heartbeat| heartbeat.as_secs() as i64);
        if endpoint != own.endpoint.as_ref() || subject.place_id.is_none() {
            work.place_id = endpoint.and_then(|endpoint| places.get(endpoint).copied());
        }
        if let Some(home) = nameable(work).and_then(|name| homes.get(name)) {
            (endpoint, work.place_id, is_named) = (Some(&home.endpoint), Some(home.place_id), true);
        }
        let before = (&own.kind, own.endpoint.as_ref(), subject.place_id, own.is_named, own.heartbeat_seconds);
        if before != (&newest.kind, endpoint, work.place_id, is_named, heartbeat) {
            rows.push(vec![
                Value::from(subject.reconciler_id),
                newest.kind.as_str().into(),
                endpoint.map(String::as_str).into(),
                work.place_id.into(),
                is_named.into(),
                heartbeat.into(),
                now.into(),
            ]);
        }
    }
    let statement = "update reconciler set reconciler_type = s.kind, manifests_endpoint = s.endpoint, \
        place_id = s.place_id, is_named = s.is_named, heartbeat_seconds = s.heartbeat_seconds, updated_on = s.updated_on \
        from source s where reconciler.id = s.id";
    transaction.with(rows, statement).await.map(drop)
}

/// The endpoint whose place is not known: that of the newest report, unless the reconciler is there already.
fn unplaced(work: &Work<'_>) -> Option<String> {
    let own = work.subject.own.as_ref()?;
    let endpoint = work.newest?.endpoint.as_ref().or(own.endpoint.as_ref())?;
    let is_known = work.subject.place_id.is_some() && own.endpoint.as_ref() == Some(endpoint);
    Some(endpoint.clone()).filter(|_| !is_known)
}

/// The name of a reconciler that may say what no report of it says: which folder it applies.
fn nameable<'a>(work: &Work<'a>) -> Option<&'a str> {
    let (newest, own) = (work.newest?, work.subject.own.as_ref()?);
    let is_told = newest.endpoint.is_some() || own.endpoint.is_some() || work.subject.place_id.is_some();
    Some(newest.reconciler.as_str()).filter(|_| !is_told)
}
