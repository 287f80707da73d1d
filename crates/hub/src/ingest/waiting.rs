//! Reports of reconcilers that only wait, for example for a dependency.
//!
//! Such a report applies nothing. If its reconciler has applied the content that the report names, or the report names none, it confirms that. Otherwise
//! the reconciler is on its way to that content.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::report::Status;

use super::history::{self, Reported};
use super::places::{self, Content, Contents, CountedPlace, Meaning};
use super::submitted::Submitted;
use super::timeline::{Entry, Origin, Statement};
use super::work::Work;
use crate::store::{DatabaseError, DeploymentId, PlaceId, Transaction};

/// The data that show what waiting reconcilers have applied.
#[derive(Default)]
pub(super) struct Waiting {
    /// The content of stored entries.
    rows: BTreeMap<DeploymentId, Reported>,
    places: BTreeMap<PlaceId, CountedPlace>,
    /// The trees of contents.
    trees: BTreeMap<Content, String>,
}

/// The values that identify the content of a report.
#[derive(Clone, Copy)]
struct Named<'a> {
    commit: &'a str,
    tree: Option<&'a str>,
    version: Option<&'a str>,
    endpoint: Option<&'a str>,
}

/// Reads what the reconcilers of waiting reports have applied.
pub(super) async fn read(
    transaction: &mut Transaction,
    contents: &mut Contents,
    works: &[Work<'_>],
) -> Result<Waiting, DatabaseError> {
    let works: Vec<&Work<'_>> = works.iter().filter(|work| work.waiting().next().is_some()).collect();
    if works.is_empty() {
        return Ok(Waiting::default());
    }
    let stored = |work: &&Work<'_>| {
        let entries: Vec<_> = work.waiting().filter_map(|report| work.timeline.at(report.observed_on)).collect();
        entries.into_iter().filter_map(Entry::stored).collect::<Vec<_>>()
    };
    let ids: BTreeSet<DeploymentId> = works.iter().flat_map(stored).collect();
    let mut waiting = Waiting {
        rows: history::reported(transaction, ids.into_iter().collect()).await?,
        places: places::places(transaction, works.iter().filter_map(|work| work.place_id).collect()).await?,
        trees: BTreeMap::new(),
    };
    let named = |work: &&Work<'_>| {
        let of_reports = work.reports.iter().map(|(_, report)| Named::from_report(report));
        let entries = work.timeline.entries().iter().filter_map(|entry| waiting.rows.get(&entry.stored()?));
        let all = of_reports.chain(entries.map(|row| Named::from_row(row, work)));
        all.filter_map(|named| waiting.content(work, named)).collect::<Vec<_>>()
    };
    let asked: BTreeSet<Content> = works.iter().flat_map(named).collect();
    contents.look_up(transaction, asked.clone()).await?;
    let tree = |content: Content| Some((contents.get(&content)?.tree.clone(), content));
    waiting.trees = asked.into_iter().filter_map(tree).map(|(tree, content)| (content, tree)).collect();
    Ok(waiting)
}

impl Waiting {
    /// What a report states. A report that waits states what its reconciler has applied, if it names nothing else.
    pub(super) fn statement(&self, work: &Work<'_>, report: &Submitted) -> Statement {
        let own = Statement { status: report.status.number(), digest: report.digest };
        let in_effect = work.timeline.at(report.observed_on).filter(|_| report.is_waiting);
        match in_effect.filter(|entry| self.has_applied(work, report, entry)) {
            Some(entry) => entry.statement,
            None => own,
        }
    }

    /// Whether an entry states that the content is applied that a report names.
    fn has_applied(&self, work: &Work<'_>, report: &Submitted, entry: &Entry<&Submitted>) -> bool {
        if entry.statement.status != Status::Success.number() {
            return false;
        }
        let applied = match entry.origin {
            Origin::New(before) => Some(Named::from_report(before)),
            Origin::Stored(id) => self.rows.get(&id).map(|row| Named::from_row(row, work)),
        };
        applied.is_some_and(|applied| {
            let named = Named::from_report(report);
            let tree = |named| self.trees.get(&self.content(work, named)?);
            let is_same_tree = || tree(named).is_some_and(|tree_named| tree(applied) == Some(tree_named));
            named.is_at_place_of(applied) && (named.is_part_of(applied) || is_same_tree())
        })
    }

    /// The content that values identify at the place of a reconciler.
    fn content(&self, work: &Work<'_>, named: Named<'_>) -> Option<Content> {
        let place = self.places.get(&work.place_id?)?;
        let is_here = named.endpoint.is_none() || named.endpoint == work.endpoint.as_deref();
        is_here.then(|| place.content(Meaning::new(named.commit, named.tree, named.version)))
    }
}

impl<'a> Named<'a> {
    fn from_report(report: &'a Submitted) -> Self {
        let Submitted { commit, endpoint, .. } = report;
        let (tree, version) = (report.tree.as_deref(), report.version.as_deref());
        Self { commit, tree, version, endpoint: endpoint.as_deref() }
    }

    fn from_row(row: &'a Reported, work: &'a Work<'_>) -> Self {
        let Reported { commit, tree, version } = row;
        Self { commit, tree: tree.as_deref(), version: version.as_deref(), endpoint: work.endpoint.as_deref() }
    }

    fn is_at_place_of(self, applied: Self) -> bool {
        self.endpoint.is_none() || self.endpoint == applied.endpoint
    }

    /// Whether all values of this content are values of the other.
    fn is_part_of(self, applied: Self) -> bool {
        (self.commit.is_empty() || self.commit == applied.commit)
            && (self.tree.is_none() || self.tree == applied.tree)
            && (self.version.is_none() || self.version == applied.version)
    }
}
