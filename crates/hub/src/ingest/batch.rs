//! Stores the reports of one transaction. Only the rows that they change are written.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::hosts::ApartReason;
use hub_api::timestamp::Timestamp;
use serde::{Deserialize, Serialize};

use super::history::{self, Chain, Late, Link, NewRow, RowContent};
use super::ids::Ids;
use super::places::{self, Content, Contents, CountedPlace, Meaning, Revision};
use super::registered;
use super::report_places;
use super::retally::recount;
use super::subjects::{self, Own, ReconcilerChange, State, Subject};
use super::submitted::{Group, Submitted};
use super::tally::{self, Transition};
use super::timeline::{Added, Arrival, Entry, Origin, Statement, Timeline};
use super::waiting::{self, Waiting};
use super::work::Work;
use super::{apart, labels, registry, silences};
use crate::store::{DatabaseError, DeploymentId, PlaceId, ReconcilerId, RevisionId, Transaction};

/// The outcome of a report that was accepted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ReportOutcome {
    /// The report is a new entry of the history.
    Stored,
    /// The report has the same content as a neighbouring one, at another timestamp. So the reconciler is alive.
    Confirmed,
    /// The report had arrived before.
    Repeated,
    /// The report is kept apart: the host of the token is not registered for its place.
    Apart(ApartReason),
}

/// Caches that are kept from one transaction to the next.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    pub(crate) contents: Contents,
    pub(crate) ids: Ids,
}

/// Stores reports, and returns the outcome of each, in their order. Reports that do not count are kept apart. The caller commits the transaction.
pub(crate) async fn store(
    transaction: &mut Transaction,
    memory: &mut Memory,
    reports: &[&Submitted],
    now: Timestamp,
) -> Result<Vec<ReportOutcome>, DatabaseError> {
    let apart = registered::separate(transaction, &memory.ids, reports).await?;
    if apart.is_empty() {
        return store_counted(transaction, memory, reports, now).await;
    }
    let of_apart = apart.iter().filter_map(|(number, apart)| Some((*reports.get(*number)?, apart)));
    apart::write(transaction, of_apart, now).await?;
    let counted = reports.iter().enumerate().filter(|(number, _)| !apart.contains_key(number));
    let counted: Vec<&Submitted> = counted.map(|(_, report)| *report).collect();
    let mut outcomes = store_counted(transaction, memory, &counted, now).await?.into_iter();
    let outcome = |number| match apart.get(&number) {
        Some(apart) => ReportOutcome::Apart(apart.reason),
        None => outcomes.next().unwrap_or(ReportOutcome::Repeated),
    };
    Ok((0..reports.len()).map(outcome).collect())
}

/// Stores reports that count, and returns the outcome of each, in their order.
async fn store_counted(
    transaction: &mut Transaction,
    Memory { contents, ids }: &mut Memory,
    reports: &[&Submitted],
    now: Timestamp,
) -> Result<Vec<ReportOutcome>, DatabaseError> {
    let groups = groups(reports);
    let subjects = subjects::find(transaction, ids, &groups).await?;
    let mut works: Vec<_> =
        groups.into_iter().zip(subjects).filter_map(|(group, subject)| work(group, subject?)).collect();
    read_chains(transaction, &mut works).await?;
    let mut outcomes = vec![ReportOutcome::Repeated; reports.len()];
    let waiting = waiting::read(transaction, contents, &works).await?;
    for work in &mut works {
        work.enter(&mut outcomes, &waiting);
    }
    registry::follow(transaction, &mut works, now).await?;
    report_places::follow(transaction, &mut works).await?;
    labels::follow(transaction, &works).await?;
    let mut states: Vec<State> = works.iter().map(|work| work.state_after(now)).collect();
    let places = locate(transaction, contents, &works).await?;
    let located = Located { places: &places, contents };
    let moved = history_changes(transaction, &works, &mut states, &located).await?.write(transaction, now).await?;
    count(transaction, &located, &works, &mut states).await?;
    name_commits(transaction, contents, (&places, moved)).await?;
    let replaced: BTreeSet<ReconcilerId> = works.iter().filter_map(Work::replaced).collect();
    let changes = works.iter().zip(states).map(|(work, after)| ReconcilerChange {
        reconciler_id: work.subject.reconciler_id,
        before: &work.subject.state,
        after,
    });
    let changes: Vec<_> = changes.filter(|change| change.after != *change.before).collect();
    silences::record(transaction, &changes, now).await?;
    subjects::write_states(transaction, changes).await?;
    recount(transaction, contents, replaced, |_| ()).await?;
    Ok(outcomes)
}

/// Groups reports by reconciler.
fn groups<'a>(reports: &[&'a Submitted]) -> Vec<Group<'a>> {
    let mut numbered: Vec<_> = reports.iter().copied().enumerate().collect();
    numbered.sort_by(|(_, a), (_, b)| a.order().cmp(&b.order()));
    numbered.chunk_by(|(_, a), (_, b)| a.subject() == b.subject()).map(<[_]>::to_vec).collect()
}

fn work(reports: Group<'_>, subject: Subject) -> Option<Work<'_>> {
    reports.last()?;
    let (timeline, place_id) = (head(&subject.state), subject.place_id);
    let (rows, elsewhere) = (BTreeMap::new(), BTreeMap::new());
    let mut work = Work { subject, reports, timeline, rows, newest: None, endpoint: None, place_id, elsewhere };
    work.endpoint = work.endpoint_before().map(str::to_owned);
    Some(work)
}

/// The timeline with only the last entry, which is stored in the state of the reconciler.
fn head<R: Copy>(state: &State) -> Timeline<R> {
    let seen_on = state.seen_on.unwrap_or_default();
    let statement = Statement { status: state.status, digest: state.digest };
    let entry = |id| Entry::new(Origin::Stored(id), state.reported_on.unwrap_or_default(), statement).until(seen_on);
    Timeline::new(state.deployment_id.map(entry).into_iter().collect(), seen_on)
}

/// Reads earlier entries for reconcilers with a report that is not newer than all stored ones.
async fn read_chains(transaction: &mut Transaction, works: &mut [Work<'_>]) -> Result<(), DatabaseError> {
    let late = |(number, work): (usize, &Work<'_>)| {
        let first = work.reports.first()?.1.observed_on;
        let seen_on = work.subject.state.seen_on.filter(|seen| first <= *seen)?;
        // An entry that names no place is about the place of the latest earlier entry that names one. That entry is read, too, if it may exist or
        // these reports may add one.
        let has_endpoint = |own: &Own| own.endpoint.is_some() && !own.is_named;
        let is_named = work.reports.iter().any(|(_, report)| report.endpoint.is_some());
        let to_name = is_named || work.subject.own.as_ref().is_none_or(has_endpoint);
        Some(Late { number, head: work.subject.state.deployment_id?, seen_on, first, to_name })
    };
    let late: Vec<_> = works.iter().enumerate().filter_map(late).collect();
    for (number, Chain { entries, rows }) in history::chains(transaction, &late).await? {
        let work = &mut works[number];
        work.timeline = Timeline::new(entries, work.timeline.seen_on());
        work.rows = rows;
    }
    Ok(())
}

impl<'a> Work<'a> {
    /// The reports of a reconciler that only waits.
    pub(super) fn waiting(&self) -> impl Iterator<Item = &'a Submitted> {
        self.reports.iter().map(|(_, report)| *report).filter(|report| report.is_waiting)
    }

    fn enter(&mut self, outcomes: &mut [ReportOutcome], waiting: &Waiting) {
        let seen_on = self.subject.state.seen_on;
        for (number, report) in self.reports.clone() {
            let statement = waiting.statement(self, report);
            let (at, is_present_state) = (report.observed_on, report.is_present_state);
            outcomes[number] = match self.timeline.add(Arrival { report, at, statement, is_present_state }) {
                Added::Entered => ReportOutcome::Stored,
                Added::Confirmed => ReportOutcome::Confirmed,
                Added::Repeated => ReportOutcome::Repeated,
            };
            // A report that is delivered again after another one of the same timestamp says nothing about now.
            let is_latest = self.timeline.entries().last().is_some_and(|entry| entry.statement == statement);
            if is_latest && seen_on.is_none_or(|seen| at >= seen) {
                self.newest = Some(report);
            }
        }
        self.timeline.order_rows();
    }

    /// The state after the reports: last contact, heartbeat, profile and place. The other fields are set later.
    fn state_after(&self, now: Timestamp) -> State {
        let mut state = self.subject.state.clone();
        state.seen_on = Some(self.timeline.seen_on());
        if let Some(newest) = self.newest {
            let promised = newest.heartbeat.map(|heartbeat| heartbeat.saturating_add(heartbeat / 2));
            state.silent_after = promised.map(|promised| newest.observed_on.min(now).after(promised));
            state.is_silent = state.silent_after.is_some_and(|silent_after| silent_after < now);
            let is_here = newest.endpoint == self.endpoint && self.place_id.is_some();
            state.profile = newest.profile.filter(|_| is_here && !self.subject.is_retired);
            state.place_id = self.place_id.filter(|_| state.profile.is_some());
        } else if self.place_id != self.subject.place_id {
            state.forget_profile();
        }
        state
    }

    /// The id of the reconciler if its last entry is now another stored row, or was moved. The revision of this entry then has to be looked up.
    fn replaced(&self) -> Option<ReconcilerId> {
        let last = self.timeline.entries().last()?;
        let is_other = match last.origin {
            Origin::Stored(id) => self.subject.state.deployment_id.is_some_and(|before| before != id),
            Origin::New(_) => false,
        };
        (is_other || self.head_report().is_none() && self.place_id != self.subject.place_id)
            .then_some(self.subject.reconciler_id)
    }

    /// The place that an entry is about.
    fn place_of(&self, index: usize) -> Option<PlaceId> {
        self.elsewhere.get(&index).map_or(self.place_id, |elsewhere| elsewhere.place_id)
    }

    /// The report with the content of the last entry, if it is one of these reports.
    fn head_report(&self) -> Option<&'a Submitted> {
        match self.timeline.entries().last()?.origin {
            Origin::New(report) => Some(report),
            Origin::Stored(_) => None,
        }
    }

    /// The content of the row of an entry.
    fn content(&self, (index, entry): (usize, &Entry<&'a Submitted>), located: &Located<'_>) -> RowContent<'a> {
        match entry.origin {
            Origin::New(report) => {
                let held = located.held(self.place_of(index), report);
                let commit = held.map_or(report.commit.as_str(), |held| held.commit.as_str());
                RowContent::Now { report, commit: commit.to_owned() }
            }
            Origin::Stored(id) => RowContent::Before(id),
        }
    }

    /// The row of an entry whose place changed.
    fn moved(&self, (index, entry): (usize, &Entry<&'a Submitted>), id: DeploymentId) -> Option<Moved> {
        let Origin::Stored(of) = entry.origin else { return None };
        let before = self.rows.get(&of)?.link.endpoint.as_deref().or(self.endpoint_before());
        let here = self.endpoint.as_deref();
        let now = self.elsewhere.get(&index).map_or(here, |elsewhere| Some(elsewhere.endpoint.as_str()));
        (before != now).then(|| Moved { id, place_id: self.place_of(index) })
    }

    /// The rows that are no longer entries.
    fn taken_out(&self) -> impl Iterator<Item = DeploymentId> {
        let kept: BTreeSet<DeploymentId> = self.timeline.entries().iter().filter_map(Entry::row).collect();
        self.rows.keys().copied().filter(move |id| !kept.contains(id))
    }

    /// The link of an entry, after the entry `before`.
    fn link(&self, index: usize, before: Option<(DeploymentId, &Entry<&'a Submitted>)>) -> Link {
        let entry = &self.timeline.entries()[index];
        let endpoint = self.elsewhere.get(&index).map(|elsewhere| elsewhere.endpoint.clone());
        match before {
            None => {
                // The first row may be deleted: its link to the previous row is kept.
                let known = self.first_row().map(|(_, row)| row.link.clone());
                Link { since: entry.since, endpoint, ..known.unwrap_or_default() }
            }
            Some((id, before)) => Link {
                since: entry.since,
                previous_id: Some(id),
                previous_seen_on: Some(before.until).filter(|until| *until > before.since),
                endpoint,
            },
        }
    }
}

/// The changes of the history: new entries, and updates of their neighbours.
#[derive(Default)]
struct HistoryChanges<'a> {
    rows: Vec<(DeploymentId, NewRow<'a>)>,
    links: Vec<(DeploymentId, Link)>,
    taken_out: Vec<DeploymentId>,
    moved: Vec<Moved>,
}

impl HistoryChanges<'_> {
    /// Writes the changes. Returns the rows whose place changed.
    async fn write(self, transaction: &mut Transaction, now: Timestamp) -> Result<Vec<Moved>, DatabaseError> {
        history::add(transaction, self.rows, now).await?;
        history::relink(transaction, self.links).await?;
        history::take_out(transaction, self.taken_out).await?;
        Ok(self.moved)
    }
}

/// Computes the changes of the history, with reserved ids for new entries. Updates the latest entries in the states.
async fn history_changes<'a>(
    transaction: &mut Transaction,
    works: &[Work<'a>],
    states: &mut [State],
    located: &Located<'_>,
) -> Result<HistoryChanges<'a>, DatabaseError> {
    let mut changes = HistoryChanges::default();
    let entries = works.iter().flat_map(|work| work.timeline.entries());
    let count = entries.filter(|entry| entry.row().is_none()).count();
    if count == 0 && works.iter().all(|work| work.rows.is_empty()) {
        return Ok(changes);
    }
    let reserved = if count == 0 { Vec::new() } else { history::reserve(transaction, count).await? };
    let mut reserved = reserved.into_iter();
    for (work, state) in works.iter().zip(states) {
        let mut before = None;
        for (index, entry) in work.timeline.entries().iter().enumerate() {
            let row = entry.row();
            let Some(id) = row.or_else(|| reserved.next()) else { break };
            let link = work.link(index, before);
            if row.is_none() {
                let (reconciler_id, content) = (work.subject.reconciler_id, work.content((index, entry), located));
                changes.rows.push((id, NewRow { reconciler_id, statement: entry.statement, content, link }));
            } else if work.rows.get(&id).is_some_and(|known| known.link != link) {
                changes.links.push((id, link));
            }
            changes.moved.extend(work.moved((index, entry), id));
            before = Some((id, entry));
        }
        changes.taken_out.extend(work.taken_out());
        if let Some((id, last)) = before {
            (state.deployment_id, state.reported_on) = (Some(id), Some(last.since));
            (state.status, state.digest) = (last.statement.status, last.statement.digest);
        }
    }
    Ok(changes)
}

/// A row whose place changed.
struct Moved {
    id: DeploymentId,
    place_id: Option<PlaceId>,
}

/// Stores the commits that moved rows identify at their new places.
async fn name_commits(
    transaction: &mut Transaction,
    contents: &mut Contents,
    (places, moved): (&BTreeMap<PlaceId, CountedPlace>, Vec<Moved>),
) -> Result<(), DatabaseError> {
    if moved.is_empty() {
        return Ok(());
    }
    let revisions = history::reported(transaction, moved.iter().map(|moved| moved.id).collect()).await?;
    let reported_content = |Moved { id, place_id }: Moved| {
        let reported = revisions.get(&id)?;
        let meaning = Meaning::new(&reported.commit, reported.tree.as_deref(), reported.version.as_deref());
        let place = place_id.and_then(|place_id| places.get(&place_id));
        Some((id, &reported.commit, place.map(|place| place.content(meaning))))
    };
    let contents_of_rows: Vec<_> = moved.into_iter().filter_map(reported_content).collect();
    contents
        .look_up(transaction, contents_of_rows.iter().filter_map(|(_, _, content)| content.clone()).collect())
        .await?;
    let named = contents_of_rows.into_iter().map(|(id, commit, content)| {
        let held = content.and_then(|content| contents.get(&content));
        (id, held.map_or(commit, |held| &held.commit).clone())
    });
    history::name_commits(transaction, named.collect()).await
}

/// The places of reconcilers, and the revisions that their reports identify there.
struct Located<'a> {
    places: &'a BTreeMap<PlaceId, CountedPlace>,
    contents: &'a Contents,
}

impl Located<'_> {
    /// The revision of a place that a report identifies; none if it is not known there.
    fn held(&self, place_id: Option<PlaceId>, report: &Submitted) -> Option<&Revision> {
        self.contents.get(&content(self.places, place_id, report)?)
    }
}

/// The content of a place that a report identifies.
fn content(places: &BTreeMap<PlaceId, CountedPlace>, place_id: Option<PlaceId>, report: &Submitted) -> Option<Content> {
    let place = places.get(&place_id?)?;
    Some(place.content(Meaning::new(&report.commit, report.tree.as_deref(), report.version.as_deref())))
}

/// Finds the places of the reconcilers before and after their reports, and the revisions that the new reports identify.
async fn locate(
    transaction: &mut Transaction,
    contents: &mut Contents,
    works: &[Work<'_>],
) -> Result<BTreeMap<PlaceId, CountedPlace>, DatabaseError> {
    let elsewhere = works.iter().flat_map(|work| work.elsewhere.values().map(|elsewhere| elsewhere.place_id));
    let ids = works.iter().flat_map(|work| [work.subject.place_id, work.place_id]).chain(elsewhere);
    let places = places::places(transaction, ids.flatten().collect()).await?;
    let of_work = |work: &Work<'_>| {
        let reported_content = |(index, report)| content(&places, work.place_of(index), report);
        new_reports(work).filter_map(reported_content).collect::<Vec<_>>()
    };
    contents.look_up(transaction, works.iter().flat_map(of_work).collect()).await?;
    Ok(places)
}

/// The reports of a work that became entries, with the numbers of these entries.
fn new_reports<'a>(work: &Work<'a>) -> impl Iterator<Item = (usize, &'a Submitted)> {
    work.timeline.entries().iter().enumerate().filter_map(|(index, entry)| match entry.origin {
        Origin::New(report) => Some((index, report)),
        Origin::Stored(_) => None,
    })
}

/// Moves the reconcilers to their new tallies.
async fn count(
    transaction: &mut Transaction,
    located: &Located<'_>,
    works: &[Work<'_>],
    states: &mut [State],
) -> Result<(), DatabaseError> {
    let known = held(transaction, works, states).await?;
    let mut transitions = Vec::with_capacity(works.len());
    for (work, state) in works.iter().zip(states.iter_mut()) {
        let held = match work.head_report() {
            Some(report) => {
                state.status = report.status.number();
                located.held(work.place_id, report)
            }
            None => state.held_revision_id.and_then(|id| known.get(&id)),
        };
        let place = work.place_id.and_then(|id| located.places.get(&id)).filter(|_| !work.subject.is_retired);
        transitions.push(Transition { state, place, held });
    }
    tally::apply(transaction, transitions).await
}

/// The held revisions of reconcilers whose latest entry did not change.
async fn held(
    transaction: &mut Transaction,
    works: &[Work<'_>],
    states: &[State],
) -> Result<BTreeMap<RevisionId, Revision>, DatabaseError> {
    let unchanged = works.iter().zip(states).filter(|(work, _)| work.head_report().is_none());
    let ids: BTreeSet<RevisionId> = unchanged.filter_map(|(_, state)| state.held_revision_id).collect();
    places::revisions(transaction, ids).await
}
