//! One transaction's reports: what they change, and nothing else.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::history::{self, Chain, NewRow, Said};
use super::ids::Ids;
use super::places::{self, Content, Contents, Meaning, Place, Revision};
use super::subjects::{self, Change, State, Subject};
use super::submitted::Submitted;
use super::tally::{self, Deltas, TallyKey};
use super::timeline::{Added, Entry, Origin, Timeline};
use super::{labels, registry};
use crate::moment::Moment;
use crate::silence;
use crate::store::{DatabaseError, Transaction};

/// What became of a report that was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// It is in the history.
    Stored,
    /// It said what was so already, a little later: the reconciler was heard of.
    Confirmed,
    /// It had arrived before.
    Repeated,
}

/// What is remembered from one transaction to the next.
#[derive(Debug, Default)]
pub(super) struct Memory {
    pub(super) contents: Contents,
    pub(super) ids: Ids,
}

/// The reports of one reconciler, and what is known of it.
pub(super) struct Work<'a> {
    pub(super) subject: Subject,
    reports: Group<'a>,
    timeline: Timeline<&'a Submitted>,
    previous_id: Option<i64>,
    /// The newest report, if it is newer than all that is known.
    pub(super) newest: Option<&'a Submitted>,
    /// Where the reconciler is now.
    pub(super) place_id: Option<i64>,
}

/// Stores reports; what became of each, in their order. Nothing is kept until the transaction is committed.
pub(super) async fn store(
    transaction: &mut Transaction,
    Memory { contents, ids }: &mut Memory,
    reports: &[&Submitted],
    now: Moment,
) -> Result<Vec<Outcome>, DatabaseError> {
    let groups = groups(reports);
    let latest: Vec<_> = groups.iter().filter_map(|group| Some(group.last()?.1)).collect();
    let subjects = subjects::find(transaction, ids, &latest).await?;
    let mut works: Vec<_> =
        groups.into_iter().zip(subjects).filter_map(|(group, subject)| work(group, subject?)).collect();
    read_chains(transaction, &mut works).await?;
    let mut outcomes = vec![Outcome::Repeated; reports.len()];
    for work in &mut works {
        work.enter(&mut outcomes);
    }
    registry::follow(transaction, &mut works, now).await?;
    labels::follow(transaction, &works).await?;
    let mut states: Vec<State> = works.iter().map(|work| work.heard_of(now)).collect();
    let places = locate(transaction, contents, &works).await?;
    let located = Located { places: &places, contents };
    write_history(transaction, &works, &mut states, (&located, now)).await?;
    count(transaction, &located, &works, &mut states).await?;
    let changes = works.iter().zip(states).map(|(work, after)| Change {
        reconciler_id: work.subject.reconciler_id,
        before: &work.subject.state,
        after,
    });
    let changes: Vec<_> = changes.filter(|change| change.after != *change.before).collect();
    silence::note(transaction, &changes, now).await?;
    subjects::write_states(transaction, changes).await?;
    Ok(outcomes)
}

/// The reports of one reconciler, in the order of their moments, with their numbers.
type Group<'a> = Vec<(usize, &'a Submitted)>;

/// The reports by reconciler.
fn groups<'a>(reports: &[&'a Submitted]) -> Vec<Group<'a>> {
    let mut numbered: Vec<_> = reports.iter().copied().enumerate().collect();
    numbered.sort_by(|(_, a), (_, b)| a.order().cmp(&b.order()));
    numbered.chunk_by(|(_, a), (_, b)| a.subject() == b.subject()).map(<[_]>::to_vec).collect()
}

fn work(reports: Group<'_>, subject: Subject) -> Option<Work<'_>> {
    let (_, last) = *reports.last()?;
    let newest = Some(last).filter(|report| subject.state.seen_on.is_none_or(|seen| report.observed_on >= seen));
    let (timeline, place_id) = (head(&subject.state), subject.place_id);
    Some(Work { subject, reports, timeline, previous_id: None, newest, place_id })
}

/// The timeline as far as a reconciler's state knows it: its last entry.
fn head<R: Copy>(state: &State) -> Timeline<R> {
    let entry = |id| Entry::new(Origin::Stored(id), state.reported_on.unwrap_or_default(), state.digest);
    Timeline::new(state.deployment_id.map(entry).into_iter().collect(), state.seen_on.unwrap_or_default())
}

/// Reads earlier entries for those of whom there is a report that is not newer than all others.
async fn read_chains(transaction: &mut Transaction, works: &mut [Work<'_>]) -> Result<(), DatabaseError> {
    let late = |(number, work): (usize, &Work<'_>)| {
        let first = work.reports.first()?.1.observed_on;
        let is_late = work.subject.state.seen_on.is_some_and(|seen| first <= seen);
        Some((number, work.subject.state.deployment_id?, first)).filter(|_| is_late)
    };
    let wanted: Vec<_> = works.iter().enumerate().filter_map(late).collect();
    for (number, Chain { entries, previous_id }) in history::chains(transaction, &wanted).await? {
        let work = &mut works[number];
        work.timeline = Timeline::new(entries, work.timeline.seen_on());
        work.previous_id = previous_id;
    }
    Ok(())
}

impl<'a> Work<'a> {
    fn enter(&mut self, outcomes: &mut [Outcome]) {
        for (number, report) in &self.reports {
            outcomes[*number] = match self.timeline.add(*report, report.observed_on, report.digest) {
                Added::Entered => Outcome::Stored,
                Added::Confirmed => Outcome::Confirmed,
                Added::Repeated => Outcome::Repeated,
            };
        }
    }

    /// Its state with what the reports say of itself, and of when it was heard of.
    fn heard_of(&self, now: Moment) -> State {
        let mut state = self.subject.state.clone();
        state.seen_on = Some(self.timeline.seen_on());
        if let Some(newest) = self.newest {
            let promised = newest.heartbeat.map(|heartbeat| heartbeat.saturating_add(heartbeat / 2));
            state.silent_after = promised.map(|promised| newest.observed_on.min(now).after(promised));
            state.is_silent = state.silent_after.is_some_and(|silent_after| silent_after < now);
            state.profile = newest.profile.filter(|_| self.place_id.is_some() && !self.subject.is_retired);
            state.place_id = self.place_id.filter(|_| state.profile.is_some());
        }
        state
    }

    /// The report that says what the last entry says, if it arrived now.
    fn head_report(&self) -> Option<&'a Submitted> {
        match self.timeline.entries().last()?.origin {
            Origin::New(report) => Some(report),
            Origin::Stored(_) => None,
        }
    }

    /// What an entry says.
    fn said(&self, entry: &Entry<&'a Submitted>, located: &Located<'_>) -> Said<'a> {
        match entry.origin {
            Origin::New(report) => {
                let commit = located.held(self, report).map_or(report.commit.as_str(), |held| held.commit.as_str());
                Said::Now { report, commit: commit.to_owned() }
            }
            Origin::Stored(id) => Said::Before(id),
        }
    }
}

/// Writes the new entries, and links their neighbours to them.
async fn write_history(
    transaction: &mut Transaction,
    works: &[Work<'_>],
    states: &mut [State],
    (located, now): (&Located<'_>, Moment),
) -> Result<(), DatabaseError> {
    let entries = works.iter().flat_map(|work| work.timeline.entries());
    let count = entries.filter(|entry| entry.row().is_none()).count();
    if count == 0 {
        return Ok(());
    }
    let mut reserved = history::reserve(transaction, count).await?.into_iter();
    let (mut rows, mut links) = (Vec::with_capacity(count), Vec::new());
    for (work, state) in works.iter().zip(states) {
        let mut previous_id = work.previous_id;
        let mut is_previous_new = false;
        for entry in work.timeline.entries() {
            let row = entry.row();
            let Some(id) = row.or_else(|| reserved.next()) else { break };
            if row.is_none() {
                let (reconciler_id, said) = (work.subject.reconciler_id, work.said(entry, located));
                rows.push((id, NewRow { reconciler_id, since: entry.since, digest: entry.digest, said, previous_id }));
            } else if is_previous_new && let Some(previous_id) = previous_id {
                links.push((id, previous_id));
            }
            is_previous_new = row.is_none();
            previous_id = Some(id);
        }
        if let Some(last) = work.timeline.entries().last() {
            (state.deployment_id, state.reported_on, state.digest) = (previous_id, Some(last.since), last.digest);
        }
    }
    history::add(transaction, rows, now).await?;
    history::relink(transaction, links).await
}

/// Where reconcilers are, and what their reports mean there.
struct Located<'a> {
    places: &'a BTreeMap<i64, Place>,
    contents: &'a Contents,
}

impl Located<'_> {
    /// What a report says that its reconciler holds; none if nobody knows that commit there.
    fn held(&self, work: &Work<'_>, report: &Submitted) -> Option<&Revision> {
        self.contents.get(&content(self.places, work, report)?)
    }
}

/// Which content a report means.
fn content(places: &BTreeMap<i64, Place>, work: &Work<'_>, report: &Submitted) -> Option<Content> {
    let place = places.get(&work.place_id?)?;
    Some(place.content(Meaning::of(&report.commit, report.tree.as_deref(), report.version.as_deref())))
}

/// Finds the places of the reconcilers, before and after their reports, and what new reports mean there.
async fn locate(
    transaction: &mut Transaction,
    contents: &mut Contents,
    works: &[Work<'_>],
) -> Result<BTreeMap<i64, Place>, DatabaseError> {
    let ids = works.iter().flat_map(|work| [work.subject.place_id, work.place_id]).flatten().collect();
    let places = places::places(transaction, ids).await?;
    let of_work = |work| new_reports(work).filter_map(|report| content(&places, work, report)).collect::<Vec<_>>();
    contents.look_up(transaction, works.iter().flat_map(of_work).collect()).await?;
    Ok(places)
}

/// The reports of a work that became entries.
fn new_reports<'a>(work: &Work<'a>) -> impl Iterator<Item = &'a Submitted> {
    work.timeline.entries().iter().filter_map(|entry| match entry.origin {
        Origin::New(report) => Some(report),
        Origin::Stored(_) => None,
    })
}

/// Counts the reconcilers where they belong now.
async fn count(
    transaction: &mut Transaction,
    located: &Located<'_>,
    works: &[Work<'_>],
    states: &mut [State],
) -> Result<(), DatabaseError> {
    let tallies: BTreeSet<i64> = states.iter().filter_map(|state| state.tally_id).collect();
    let old = tally::keys(transaction, tallies).await?;
    let known = held(transaction, works, states).await?;
    let (mut deltas, mut keys) = (Deltas::default(), Vec::new());
    for (work, state) in works.iter().zip(states.iter_mut()) {
        let revision = match work.head_report() {
            Some(report) => {
                state.status = report.status.number();
                located.held(work, report)
            }
            None => state.held_revision_id.and_then(|id| known.get(&id)),
        };
        state.held_revision_id = revision.map(|revision| revision.id);
        let place = work.place_id.and_then(|id| located.places.get(&id)).filter(|_| !work.subject.is_retired);
        let key = place.map(|place| place.key(revision, state.status, state.is_silent));
        deltas.moves(state.tally_id.and_then(|id| old.get(&id).copied()), key);
        keys.push(key);
    }
    let tallies = deltas.write(transaction).await?;
    for (state, key) in states.iter_mut().zip(keys) {
        state.tally_id = key.and_then(|key: TallyKey| tallies.get(&key).copied());
    }
    Ok(())
}

/// The revisions that reconcilers hold of whom there is nothing new.
async fn held(
    transaction: &mut Transaction,
    works: &[Work<'_>],
    states: &[State],
) -> Result<BTreeMap<i64, Revision>, DatabaseError> {
    let unchanged = works.iter().zip(states).filter(|(work, _)| work.head_report().is_none());
    let ids: BTreeSet<i64> = unchanged.filter_map(|(_, state)| state.held_revision_id).collect();
    places::revisions(transaction, ids).await
}
