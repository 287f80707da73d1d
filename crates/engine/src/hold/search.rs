//! The search for the last good state of each assignment that is to be held.
//!
//! Tried first: the publication that the newest one names for the assignment (it was held then), else the newest one itself. If the assignment fails there
//! too, then the one that wrote the folder which the assignment has since.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code};
use model::git_id::GitId;
use model::tree::{Child, OpenError, Tree};

use super::{FLEETS_MAX, HELD_MAX, Held, HeldFolder, History, NotHeld, Pin, Reason, place_folder};
use crate::compile::{Alone, Prepared, with_bytes};
use crate::pin::Manifests;

/// The search for earlier states of some assignments.
#[derive(Debug, Default)]
pub struct Search {
    sought: BTreeMap<AssignmentId, Sought>,
    /// Publications whose fleets were given.
    given: BTreeSet<GitId>,
    held: Held,
}

/// An assignment that is to be held.
#[derive(Clone, Debug)]
struct Sought {
    pins: Vec<Pin>,
    /// What these lay over its manifests.
    over: Manifests,
    /// The publication that is tried next.
    from: GitId,
    /// Whether there is none to try after it.
    is_last: bool,
}

/// Whether a release pin reaches one of the assignments that fail: only then it matters what was published.
pub fn is_asked<I: IntoIterator<Item = AssignmentId>>(prepared: &Prepared, failing: impl FnOnce() -> I) -> bool {
    let is_reached = |id: &AssignmentId| prepared.pins_over(id).is_ok_and(|(pins, _)| !pins.is_empty());
    prepared.has_pins() && failing().into_iter().any(|id| is_reached(&id))
}

impl Search {
    /// Begins the search for the assignments of a fleet that are to be held: of those that fail, the ones that have a folder in the branch, where a pin
    /// reaches them or they were held before.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub fn begin(
        prepared: &Prepared,
        failing: impl IntoIterator<Item = AssignmentId>,
        history: &History<'_>,
    ) -> Result<Self, OpenError> {
        let newest = history.publications.first().copied();
        let before = newest.map(history.held).unwrap_or_default();
        let mut search = Self::default();
        if before.is_empty() && !prepared.has_pins() {
            return Ok(search);
        }
        let mut folders = Folders::of(history.head, history)?;
        for id in failing {
            // Where pins contradict each other, or one exists twice, it is undefined what to lay over.
            let Ok((pins, over)) = prepared.pins_over(&id) else { continue };
            if (pins.is_empty() && !before.contains_key(&id)) || folders.find(&id)?.is_none() {
                continue;
            }
            let pins: Vec<_> = pins.into_iter().map(Arc::clone).collect();
            let recorded = before.get(&id).copied();
            let fails = |reason| NotHeld { pins: pins.clone(), reason };
            match recorded.or(newest) {
                None => drop(search.held.failures.insert(id, fails(Reason::NoPublication))),
                Some(_) if search.sought.len() >= HELD_MAX => {
                    search.held.failures.insert(id, fails(Reason::TooManyAssignments));
                }
                Some(from) => {
                    search.sought.insert(id, Sought { pins, over, from, is_last: recorded.is_some() });
                }
            }
        }
        Ok(search)
    }

    /// The publication whose fleet is needed next: the one that most assignments wait for. None if the search is over.
    pub fn next(&self) -> Option<GitId> {
        let mut counts: BTreeMap<GitId, usize> = BTreeMap::new();
        self.sought.values().for_each(|sought| *counts.entry(sought.from).or_default() += 1);
        let next = counts.into_iter().max_by_key(|(id, count)| (*count, std::cmp::Reverse(*id)))?.0;
        (self.given.len() < FLEETS_MAX).then_some(next)
    }

    /// Takes the fleet of a publication, or why it can't be had.
    ///
    /// # Errors
    /// If the branch can't be read.
    pub fn give(
        &mut self,
        publication: GitId,
        fleet: Result<&Prepared, String>,
        (prepared, history): (&Prepared, &History<'_>),
    ) -> Result<(), OpenError> {
        self.given.insert(publication);
        let waiting: BTreeSet<_> =
            self.sought.iter().filter(|(_, sought)| sought.from == publication).map(|(id, _)| id.clone()).collect();
        let alone = fleet.map(|earlier| (earlier, Alone::new(earlier, waiting.iter())));
        let mut later = BTreeMap::new();
        for id in waiting {
            let Some(sought) = self.sought.get(&id) else { continue };
            let found = match &alone {
                Ok((earlier, alone)) => sought.rendered(&id, (earlier, alone), prepared),
                Err(reason) => Err(Reason::Unreadable(publication, reason.clone())),
            };
            match found {
                Ok(folder) => {
                    self.held.folders.insert(id.clone(), Arc::new(folder));
                    self.sought.remove(&id);
                }
                Err(reason) if !sought.is_last => drop(later.insert(id, reason)),
                Err(reason) => self.fail(&id, reason),
            }
        }
        self.go_back(publication, later, history)
    }

    /// What was found.
    pub fn finish(mut self) -> Held {
        let left: Vec<_> = self.sought.keys().cloned().collect();
        left.iter().for_each(|id| self.fail(id, Reason::TooManyFleets));
        self.held
    }

    fn fail(&mut self, id: &AssignmentId, reason: Reason) {
        if let Some(Sought { pins, .. }) = self.sought.remove(id) {
            self.held.failures.insert(id.clone(), NotHeld { pins, reason });
        }
    }

    /// Where the newest publication does not help: looks for the one that wrote what these assignments have.
    fn go_back(
        &mut self,
        newest: GitId,
        failed: BTreeMap<AssignmentId, Reason>,
        history: &History<'_>,
    ) -> Result<(), OpenError> {
        let writers = writers(&failed.keys().cloned().collect(), history)?;
        let mut records: BTreeMap<GitId, BTreeMap<AssignmentId, GitId>> = BTreeMap::new();
        for (id, reason) in failed {
            let writer = writers.get(&id).copied().unwrap_or(newest);
            let record = records.entry(writer).or_insert_with(|| (history.held)(writer));
            let from = record.get(&id).copied().unwrap_or(writer);
            match self.sought.get_mut(&id) {
                Some(sought) if from != newest => (sought.from, sought.is_last) = (from, true),
                _ => self.fail(&id, reason),
            }
        }
        Ok(())
    }
}

impl Sought {
    fn rendered(
        &self,
        id: &AssignmentId,
        (earlier, alone): (&Prepared, &Alone<'_>),
        now: &Prepared,
    ) -> Result<HeldFolder, Reason> {
        let failing = |codes: BTreeSet<Code>| match earlier.fleet().unavailable.first() {
            // It may be one of what could not be read.
            Some(registration) if codes.is_empty() => {
                Reason::Unreadable(self.from, format!("what registration `{registration}` brought is not known"))
            }
            _ => Reason::Failing(self.from, codes),
        };
        let (files, version) = alone.files(id, &self.over).map_err(failing)?;
        // What was marked then is hidden, and what is marked now.
        let mut sensitive = now.sensitive_paths(id);
        sensitive.extend(earlier.sensitive_paths(id));
        let mut shown = Vec::new();
        if !sensitive.is_empty() {
            shown.extend(earlier.shown_files_over(id, &sensitive, Some(&self.over)));
            shown.extend(earlier.shown_files(id, &sensitive));
            shown.extend(earlier.shown_files_over(id, &sensitive, Some(&Manifests::new())));
        }
        let tree = with_bytes(files);
        Ok(HeldFolder { from: self.from, pins: self.pins.clone(), tree, version, sensitive, shown })
    }
}

/// The publications that wrote what assignments have: the oldest ones since which their folders are as they are.
fn writers(ids: &BTreeSet<AssignmentId>, history: &History<'_>) -> Result<BTreeMap<AssignmentId, GitId>, OpenError> {
    let mut same_since: BTreeMap<AssignmentId, GitId> = BTreeMap::new();
    let mut open: HashMap<&AssignmentId, Option<GitId>> = ids.iter().map(|id| (id, None)).collect();
    for publication in history.publications {
        if open.is_empty() {
            break;
        }
        // What can't be read is as far as one can look back.
        let Ok(tree) = (history.tree)(*publication) else { break };
        let mut folders = Folders::of(&tree, history)?;
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

/// The folders of assignments in one tree; each place is opened once.
struct Folders<'a> {
    inside: Tree,
    history: &'a History<'a>,
    places: HashMap<Arc<str>, Option<Tree>>,
}

impl<'a> Folders<'a> {
    fn of(tree: &Tree, history: &'a History<'a>) -> Result<Self, OpenError> {
        let inside = tree.folder(history.folder.as_str(), history.open)?.unwrap_or_default();
        Ok(Self { inside, history, places: HashMap::new() })
    }

    /// The id of the folder of an assignment.
    fn find(&mut self, id: &AssignmentId) -> Result<Option<GitId>, OpenError> {
        let place = id.place.as_arc();
        if !self.places.contains_key(place) {
            let folder = place_folder(&self.inside, place, self.history.open)?;
            self.places.insert(Arc::clone(place), folder);
        }
        let folder = self.places.get(place).and_then(Option::as_ref);
        let child = folder.and_then(|folder| folder.child(id.target.as_str()));
        Ok(child.filter(|child| child.is_folder()).map(Child::id))
    }
}
