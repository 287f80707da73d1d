//! What reconcilers say of themselves besides their state: their kind, the place that they apply, the heartbeat that they promise.

use std::collections::BTreeSet;

use super::batch::Work;
use super::places;
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
    let mut rows = Rows::new(&[
        ("id", Kind::Int),
        ("kind", Kind::Text),
        ("endpoint", Kind::Text),
        ("place_id", Kind::Int),
        ("heartbeat_seconds", Kind::Int),
        ("updated_on", Kind::Moment),
    ]);
    for work in works {
        let Some(newest) = work.newest else { continue };
        let subject = &work.subject;
        let endpoint = newest.endpoint.as_ref().or(subject.endpoint.as_ref());
        let heartbeat = newest.heartbeat.map(|heartbeat| heartbeat.as_secs() as i64);
        if endpoint != subject.endpoint.as_ref() || subject.place_id.is_none() {
            work.place_id = endpoint.and_then(|endpoint| places.get(endpoint).copied());
        }
        let before = (&subject.kind, subject.endpoint.as_ref(), subject.place_id, subject.heartbeat_seconds);
        if before != (&newest.kind, endpoint, work.place_id, heartbeat) {
            rows.push(vec![
                Value::from(subject.reconciler_id),
                newest.kind.as_str().into(),
                endpoint.map(String::as_str).into(),
                work.place_id.into(),
                heartbeat.into(),
                now.into(),
            ]);
        }
    }
    let statement = "update reconciler set reconciler_type = s.kind, manifests_endpoint = s.endpoint, \
        place_id = s.place_id, heartbeat_seconds = s.heartbeat_seconds, updated_on = s.updated_on \
        from source s where reconciler.id = s.id";
    transaction.with(rows, statement).await.map(drop)
}

/// The endpoint whose place is not known: that of the newest report, unless the reconciler is there already.
fn unplaced(work: &Work<'_>) -> Option<String> {
    let endpoint = work.newest?.endpoint.as_ref().or(work.subject.endpoint.as_ref())?;
    let is_known = work.subject.place_id.is_some() && work.subject.endpoint.as_ref() == Some(endpoint);
    Some(endpoint.clone()).filter(|_| !is_known)
}
