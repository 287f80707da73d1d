//! Determines the place that a report is about. A report stays with its place when its reconciler moves.
//!
//! A report that names no place is about the place of the latest earlier report that names one. If there is none, it is about the place of the first
//! later report that names one. "Earlier" and "later" compare the timestamps of the reports, not their arrival.
//!
//! A row of the history stores its place only if this differs from the place of its reconciler. The latest rows, up to the first row with a stored
//! place, are about the current place of the reconciler. So a normal report costs nothing extra. A move updates the rows since the previous move. A
//! late report updates the rows since the last earlier report that names a place.
//!
//! Limits: only existing rows count, at most [`CHAIN_MAX`] rows before the latest. A report that retention deleted no longer determines a place. Older
//! versions of the hub did not store whether a report names its place: their rows count as if it did. Rows whose place came from the name of the
//! reconciler, its workload, or its registration keep this place when a later report names another one.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::history::ChainRow;
use super::timeline::{Entry, Origin};
use super::work::{Elsewhere, Work};
use super::{places, submitted::Submitted};
use crate::store::{ColumnType, DatabaseError, DeploymentId, PlaceId, ReconcilerId, Rows, SqlValue, Transaction};

/// The id of the place that a row `d` of the history of a reconciler `r` is about.
pub(crate) const PLACE_ID: &str = "(case when d.manifests_endpoint is null then r.place_id \
    else (select dp.id from place dp where dp.endpoint = d.manifests_endpoint) end)";

/// The same for a row `o` without its reconciler. It is a subquery for each row, so that a database does not scan all reconcilers to find those of a
/// few rows.
pub(crate) const PLACE_ID_OF_ROW: &str = "(case when o.manifests_endpoint is null \
    then (select dr.place_id from reconciler dr where dr.id = o.reconciler_id) \
    else (select dp.id from place dp where dp.endpoint = o.manifests_endpoint) end)";

/// The most rows that a move reads. Retention keeps chains shorter.
const CHAIN_MAX: i64 = 20_000;

/// Whether an entry names its place.
enum Names<'a> {
    It(Option<&'a str>),
    No,
}

impl<'a> Work<'a> {
    /// The place of the reconciler before these reports.
    pub(super) fn endpoint_before(&self) -> Option<&str> {
        match &self.subject.own {
            Some(own) => own.endpoint.as_deref(),
            // The profile did not change, so the reports name the stored place.
            None => self.reports.first().and_then(|(_, report)| report.endpoint.as_deref()),
        }
    }

    /// The place that is named by the latest of its reports with a place.
    pub(super) fn named_endpoint(&self) -> Option<&str> {
        self.timeline.entries().iter().rev().find_map(|entry| match self.names(entry) {
            Names::It(endpoint) => Some(endpoint),
            Names::No => None,
        })?
    }

    fn names(&self, entry: &Entry<&'a Submitted>) -> Names<'_> {
        match entry.origin {
            Origin::New(report) => report.endpoint.as_deref().map_or(Names::No, |named| Names::It(Some(named))),
            Origin::Stored(id) => self.row_names(id),
        }
    }

    fn row_names(&self, id: DeploymentId) -> Names<'_> {
        let row = self.rows.get(&id);
        let is_guessed = self.subject.own.as_ref().is_some_and(|own| own.is_named);
        match row.and_then(|row| row.names_place) {
            Some(false) => Names::No,
            None if is_guessed || self.endpoint_before().is_none() => Names::No,
            _ => Names::It(row.and_then(|row| row.link.endpoint.as_deref()).or(self.endpoint_before())),
        }
    }

    /// The first place that the rows named, before these reports.
    fn first_named(&self) -> Option<&str> {
        let mut rows: Vec<_> = self.rows.iter().collect();
        rows.sort_by_key(|(_, row)| row.link.since);
        rows.into_iter().find_map(|(id, _)| match self.row_names(*id) {
            Names::It(endpoint) => endpoint,
            Names::No => None,
        })
    }

    /// The place of each entry, in order: the place that the entry names, or the one of the latest earlier entry that names a place, or the one of the
    /// first later entry that does.
    fn endpoints(&self) -> Vec<Option<String>> {
        let entries = self.timeline.entries();
        let mut endpoints: Vec<Option<String>> = Vec::with_capacity(entries.len());
        let (mut named, mut leading) = (None, 0);
        for entry in entries {
            if let Names::It(endpoint) = self.names(entry) {
                named = Some(endpoint);
            }
            leading += usize::from(named.is_none());
            endpoints.push(match (named, entry.origin) {
                (Some(endpoint), _) => endpoint.map(str::to_owned),
                (None, Origin::New(_)) => endpoints.last().cloned().flatten(),
                (None, Origin::Stored(id)) => {
                    let stored = self.rows.get(&id).and_then(|row| row.link.endpoint.as_deref());
                    stored.or(self.endpoint_before()).map(str::to_owned)
                }
            });
        }
        self.lead(endpoints.split_at_mut(leading));
        // The latest entries that name no place are about the current place of the reconciler. The earliest ones are about the first known place.
        let names_none = |entry: &&Entry<_>| matches!((self.names(entry), entry.origin), (Names::No, Origin::New(_)));
        let latest = entries.iter().rev().take_while(names_none).count();
        let count = endpoints.len();
        endpoints[count - latest..].fill(self.endpoint.clone());
        let first = endpoints.iter().flatten().next().cloned();
        endpoints.iter_mut().take_while(|endpoint| endpoint.is_none()).for_each(|endpoint| endpoint.clone_from(&first));
        endpoints
    }

    /// Assigns the entries before the first entry that names a place to that place. This includes entries that had been assigned to the place of
    /// another first entry. Entries whose place came from a name or a registration keep it.
    fn lead(&self, (leading, named): (&mut [Option<String>], &mut [Option<String>])) {
        if !self.is_whole() {
            return;
        }
        let (before, first) = (self.first_named(), named.first().cloned().flatten());
        for endpoint in leading.iter_mut().filter(|endpoint| endpoint.is_none() || endpoint.as_deref() == before) {
            endpoint.clone_from(&first);
        }
    }

    /// Whether the entries are the complete history of the reconciler.
    fn is_whole(&self) -> bool {
        self.first_row()
            .map_or_else(|| self.subject.state.deployment_id.is_none(), |(_, row)| row.link.previous_id.is_none())
    }

    /// The earliest of the rows that were read, as it was before these reports.
    pub(super) fn first_row(&self) -> Option<(DeploymentId, &ChainRow)> {
        self.rows.iter().min_by_key(|(_, row)| row.link.since).map(|(id, row)| (*id, row))
    }

    /// Whether all entries are about the place of the reconciler, and this place did not change.
    fn stays(&self) -> bool {
        let is_here = |entry: &Entry<&'a Submitted>| match entry.origin {
            Origin::New(report) => report.endpoint.is_none() || report.endpoint == self.endpoint,
            Origin::Stored(_) => true,
        };
        let before = self.endpoint_before();
        self.rows.is_empty()
            && (before.is_none() || before == self.endpoint.as_deref())
            && self.timeline.entries().iter().all(is_here)
    }
}

/// Determines the places of the entries of reconcilers, and stores the places of earlier rows where these differ from the new place of the reconciler.
pub(super) async fn follow(transaction: &mut Transaction, works: &mut [Work<'_>]) -> Result<(), DatabaseError> {
    let mut left = Vec::new();
    let mut all: Vec<(usize, Vec<Option<String>>)> = Vec::new();
    for (number, work) in works.iter().enumerate().filter(|(_, work)| !work.stays()) {
        let endpoints = work.endpoints();
        left.extend(work.left(&endpoints));
        all.push((number, endpoints));
    }
    let named: BTreeSet<String> = all.iter().flat_map(|(_, endpoints)| endpoints.iter().flatten().cloned()).collect();
    let places = places::by_endpoint(transaction, named).await?;
    for (number, endpoints) in all {
        let work = &mut works[number];
        work.elsewhere = elsewhere(endpoints, work.endpoint.as_ref(), &places);
    }
    leave_from(transaction, left).await
}

/// The entries that need a stored place. The latest entries up to the first one at another place need none, because they are at the place of the
/// reconciler. That entry and all before it need one.
fn elsewhere(
    endpoints: Vec<Option<String>>,
    now: Option<&String>,
    places: &HashMap<String, PlaceId>,
) -> BTreeMap<usize, Elsewhere> {
    let here = endpoints.iter().rev().take_while(|endpoint| endpoint.is_none() || endpoint.as_ref() == now).count();
    let before = endpoints.len() - here;
    let place = |(index, endpoint): (usize, Option<String>)| {
        let endpoint = endpoint?;
        Some((index, Elsewhere { place_id: places.get(&endpoint).copied(), endpoint }))
    };
    endpoints.into_iter().take(before).enumerate().filter_map(place).collect()
}

impl Work<'_> {
    /// If the reconciler left its place: the latest row that was not read, and the place that this row and the rows before it are about.
    fn left(&self, endpoints: &[Option<String>]) -> Option<(DeploymentId, String)> {
        // If the place was not known before, they are about the place that the first report names.
        let before = self.endpoint_before().or(endpoints.first()?.as_deref())?;
        let is_elsewhere = endpoints.iter().any(|endpoint| endpoint.is_some() && *endpoint != self.endpoint);
        if !is_elsewhere && self.endpoint.as_deref() == Some(before) {
            return None;
        }
        let first = match self.first_row() {
            Some((_, row)) => row.link.previous_id,
            None => self.subject.state.deployment_id,
        };
        Some((first?, before.to_owned()))
    }
}

/// Stores the places of rows: for each (row, place), of this row and the rows before it, up to the first one with a stored place.
async fn leave_from(transaction: &mut Transaction, left: Vec<(DeploymentId, String)>) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("head", ColumnType::Int), ("endpoint", ColumnType::Text)]);
    left.into_iter().for_each(|(head, endpoint)| rows.push(vec![SqlValue::from(head), endpoint.into()]));
    let statement = format!(", {}", leaving("source s join deployment d on d.id = s.head", "s.endpoint"));
    transaction.execute_with(rows, &statement).await
}

/// Stores in the rows of these reconcilers which place they are about, before the reconcilers move.
pub(crate) async fn leave(
    transaction: &mut Transaction,
    reconcilers: BTreeSet<ReconcilerId>,
) -> Result<(), DatabaseError> {
    let mut rows = Rows::new(&[("id", ColumnType::Int)]);
    reconcilers.into_iter().for_each(|id| rows.push(vec![id.into()]));
    let from = "source s join reconciler r on r.id = s.id and r.manifests_endpoint is not null \
        join reconciler_state t on t.reconciler_id = r.id join deployment d on d.id = t.deployment_id";
    let statement = format!(", {}", leaving(from, "r.manifests_endpoint"));
    transaction.execute_with(rows, &statement).await
}

fn leaving(from: &str, endpoint: &str) -> String {
    format!(
        "chain(id, previous_id, endpoint, depth) as (\
           select d.id, d.previous_id, {endpoint}, 1 from {from} where d.manifests_endpoint is null \
           union all \
           select d.id, d.previous_id, c.endpoint, c.depth + 1 from chain c join deployment d on d.id = c.previous_id \
           where d.manifests_endpoint is null and c.depth < {CHAIN_MAX}) \
         update deployment set manifests_endpoint = c.endpoint from chain c where deployment.id = c.id"
    )
}
