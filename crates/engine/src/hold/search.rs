//! The search for the last good state of each assignment to hold.
//!
//! If the assignment was held in the newest publication, the search tries the publication that the newest one names for it, and no other.
//! Otherwise it tries the newest publication. If the assignment fails there too, it tries the publication that wrote the current folder of the assignment.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code};
use model::git_id::GitId;
use model::tree::{OpenError, Tree};

use super::{FLEETS_MAX, HELD_MAX, Held, HeldFolder, NotHeld, NotHeldReason, PublicationHistory};
use crate::compile::{Prepared, SingleAssignments, with_bytes};
use crate::layout::assignment_folders::AssignmentFolders;
use crate::promotion::release::released_with;
use crate::schedule::pin::{Manifests, Pin};

/// The search for earlier states of some assignments.
pub struct Search<'a> {
    prepared: &'a Prepared,
    history: &'a PublicationHistory<'a>,
    candidates: BTreeMap<AssignmentId, Candidate>,
    /// Publications whose fleets were passed to [`Self::add_fleet`].
    read_publications: BTreeSet<GitId>,
    held: Held,
}

/// An assignment to hold.
#[derive(Clone, Debug)]
struct Candidate {
    pins: Vec<Pin>,
    /// The manifests that the pins set.
    manifests: Manifests,
    /// The next publication to try.
    from: GitId,
    /// Whether `from` is the last publication to try.
    is_last: bool,
}

/// Whether a release pin holds one of the failing assignments. Only then earlier publications are needed.
pub fn needs_search<I: IntoIterator<Item = AssignmentId>>(prepared: &Prepared, failing: impl FnOnce() -> I) -> bool {
    let is_reached = |id: &AssignmentId| prepared.pins_of(id).is_ok_and(|(pins, _)| !pins.is_empty());
    prepared.has_pins() && failing().into_iter().any(|id| is_reached(&id))
}

impl<'a> Search<'a> {
    /// Begins the search. Of the `failing` assignments, those are held that have a folder in the branch, and that a pin holds or that were held before.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub fn begin(
        prepared: &'a Prepared,
        failing: impl IntoIterator<Item = AssignmentId>,
        history: &'a PublicationHistory<'a>,
    ) -> Result<Self, OpenError> {
        let newest = history.publications.first().copied();
        let before = newest.map(history.held).unwrap_or_default();
        let (candidates, read_publications, held) = Default::default();
        let mut search = Self { prepared, history, candidates, read_publications, held };
        if before.is_empty() && !prepared.has_pins() {
            return Ok(search);
        }
        let mut folders = folders(history.head, history)?;
        for id in failing {
            // The manifests are undefined if pins contradict each other, or if a pin exists more than once.
            let Ok((pins, manifests)) = prepared.pins_of(&id) else { continue };
            if (pins.is_empty() && !before.contains_key(&id)) || folders.find(&id)?.is_none() {
                continue;
            }
            let pins: Vec<_> = pins.into_iter().map(Arc::clone).collect();
            let recorded = before.get(&id).copied();
            let fails = |reason| NotHeld { pins: pins.clone(), reason };
            match recorded.or(newest) {
                None => drop(search.held.failures.insert(id, fails(NotHeldReason::NoPublication))),
                Some(_) if search.candidates.len() >= HELD_MAX => {
                    search.held.failures.insert(id, fails(NotHeldReason::TooManyAssignments));
                }
                Some(from) => {
                    search.candidates.insert(id, Candidate { pins, manifests, from, is_last: recorded.is_some() });
                }
            }
        }
        Ok(search)
    }

    /// The publication whose fleet is needed next: the one that the most assignments need. None if the search is over.
    pub fn next(&self) -> Option<GitId> {
        let mut counts: BTreeMap<GitId, usize> = BTreeMap::new();
        self.candidates.values().for_each(|candidate| *counts.entry(candidate.from).or_default() += 1);
        let next = counts.into_iter().max_by_key(|(id, count)| (*count, std::cmp::Reverse(*id)))?.0;
        (self.read_publications.len() < FLEETS_MAX).then_some(next)
    }

    /// Continues the search with the fleet of a publication, or with the reason why the fleet can't be read.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub fn add_fleet(&mut self, publication: GitId, fleet: Result<&Prepared, String>) -> Result<(), OpenError> {
        self.read_publications.insert(publication);
        let waiting: BTreeSet<_> = self
            .candidates
            .iter()
            .filter(|(_, candidate)| candidate.from == publication)
            .map(|(id, _)| id.clone())
            .collect();
        let earlier = fleet.map(|earlier| SingleAssignments::new(earlier, waiting.iter()));
        let mut later = BTreeMap::new();
        for id in waiting {
            let Some(candidate) = self.candidates.get(&id) else { continue };
            let found = match &earlier {
                Ok(earlier) => candidate.rendered(&id, earlier, self.prepared),
                Err(reason) => Err(NotHeldReason::Unreadable(publication, reason.clone())),
            };
            match found {
                Ok(folder) => {
                    self.held.folders.insert(id.clone(), Arc::new(folder));
                    self.candidates.remove(&id);
                }
                Err(reason) if !candidate.is_last => drop(later.insert(id, reason)),
                Err(reason) => self.fail(&id, reason),
            }
        }
        self.try_writers(publication, later)
    }

    /// Ends the search, and returns the result.
    pub fn finish(mut self) -> Held {
        let left: Vec<_> = self.candidates.keys().cloned().collect();
        left.iter().for_each(|id| self.fail(id, NotHeldReason::TooManyFleets));
        self.held
    }

    fn fail(&mut self, id: &AssignmentId, reason: NotHeldReason) {
        if let Some(Candidate { pins, .. }) = self.candidates.remove(id) {
            self.held.failures.insert(id.clone(), NotHeld { pins, reason });
        }
    }

    /// Selects the next publication for assignments that fail in the newest one: the publication that wrote their current folders.
    fn try_writers(&mut self, newest: GitId, failed: BTreeMap<AssignmentId, NotHeldReason>) -> Result<(), OpenError> {
        let history = self.history;
        let writers = writers(&failed.keys().cloned().collect(), history)?;
        let mut records: BTreeMap<GitId, BTreeMap<AssignmentId, GitId>> = BTreeMap::new();
        for (id, reason) in failed {
            let writer = writers.get(&id).copied().unwrap_or(newest);
            let record = records.entry(writer).or_insert_with(|| (history.held)(writer));
            let from = record.get(&id).copied().unwrap_or(writer);
            match self.candidates.get_mut(&id) {
                Some(candidate) if from != newest => (candidate.from, candidate.is_last) = (from, true),
                _ => self.fail(&id, reason),
            }
        }
        Ok(())
    }
}

impl Candidate {
    fn rendered(
        &self,
        id: &AssignmentId,
        alone: &SingleAssignments<'_>,
        now: &Prepared,
    ) -> Result<HeldFolder, NotHeldReason> {
        let earlier = alone.prepared();
        let failing = |codes: BTreeSet<Code>| match earlier.fleet().unavailable.first() {
            // The assignment may belong to a registration whose repository could not be read.
            Some(registration) if codes.is_empty() => NotHeldReason::Unreadable(
                self.from,
                format!("the workloads of registration `{registration}` are not known"),
            ),
            _ => NotHeldReason::Failing(self.from, codes),
        };
        let (files, version) = alone.files(id, &self.manifests).map_err(failing)?;
        // Values marked in the earlier fleet or in the current fleet are hidden.
        let mut sensitive = now.sensitive_paths(id);
        sensitive.extend(earlier.sensitive_paths(id));
        let mut shown = Vec::new();
        if !sensitive.is_empty() {
            shown.extend(earlier.shown_files_with(id, &sensitive, Some(&self.manifests)));
            shown.extend(earlier.shown_files(id, &sensitive));
            shown.extend(earlier.shown_files_with(id, &sensitive, Some(&Manifests::new())));
        }
        let tree = with_bytes(files);
        let own = earlier.target_id(id.target.as_str()).and_then(|target| earlier.target(target));
        let release = own.and_then(|own| released_with(&self.pins, &own.target.manifests));
        Ok(HeldFolder { from: self.from, pins: self.pins.clone(), tree, version, release, sensitive, shown })
    }
}

/// Finds the publications that wrote the current folders of assignments: the oldest publications since which the folders are unchanged.
fn writers(
    ids: &BTreeSet<AssignmentId>,
    history: &PublicationHistory<'_>,
) -> Result<BTreeMap<AssignmentId, GitId>, OpenError> {
    let mut same_since: BTreeMap<AssignmentId, GitId> = BTreeMap::new();
    let mut open: HashMap<&AssignmentId, Option<GitId>> = ids.iter().map(|id| (id, None)).collect();
    for publication in history.publications {
        if open.is_empty() {
            break;
        }
        // The history ends at a publication that can't be read.
        let Ok(tree) = (history.tree)(*publication) else { break };
        let mut folders = folders(&tree, history)?;
        for id in ids {
            let Some(known) = open.get(id).copied() else { continue };
            let found = folders.find(id)?;
            if found.is_none() || known.is_some_and(|known| found != Some(known)) {
                open.remove(id);
                continue;
            }
            open.insert(id, found);
            same_since.insert(id.clone(), *publication);
        }
    }
    Ok(same_since)
}

fn folders<'a>(tree: &Tree, history: &PublicationHistory<'a>) -> Result<AssignmentFolders<'a>, OpenError> {
    AssignmentFolders::new(tree, history.folder, history.open)
}
