//! Merges the compiled folders into the tree of a branch. Opens only folders that differ from the desired state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, PlaceName};
use model::tree::{Child, Entry, Open, OpenError, Tree};

use super::proposed::ProposedFolders;
use super::rings::RingTree;
use super::{Destination, Output, desired, foreign_files, foreign_folders, left_behind};
use crate::compile::{Assignment, Compiled};
use crate::hold::Held;
use crate::layout::{FolderKind, Layout, Level, is_marked, is_prefix, joined};
use crate::own_files::TRACKING_FILE;
use crate::renames::Renames;

/// Merges the compiled folders into the tree of the branch.
///
/// # Errors
/// If a folder that differs can't be opened.
pub fn assemble(
    compiled: &Compiled,
    previous: &Tree,
    destination: &Destination,
    open: &Open<'_>,
) -> Result<Output, OpenError> {
    let contents = Contents { compiled, held: &Held::default(), rings: None, proposed: None };
    assemble_contents(&contents, previous, destination, open)
}

/// The content of a branch.
#[derive(Clone, Copy)]
pub struct Contents<'a> {
    /// The compiled environment.
    pub compiled: &'a Compiled,
    /// The folders of assignments that are held.
    pub held: &'a Held,
    /// The folders of an environment with rings, or of one that keeps published folders. None: all places have the compiled folders.
    pub rings: Option<&'a RingTree>,
    /// The folders of an open proposal. Those of targets that are not known now stay. None: there is no proposal, or all targets are known.
    pub proposed: Option<&'a ProposedFolders>,
}

/// Like [`assemble`], with the folders of held assignments, those of rings, and those of a proposal.
///
/// # Errors
/// As [`assemble`].
pub fn assemble_contents(
    &Contents { compiled, held, rings, proposed }: &Contents<'_>,
    previous: &Tree,
    destination: &Destination,
    open: &Open<'_>,
) -> Result<Output, OpenError> {
    let unclear = Unclear::of(compiled);
    let previous = &match proposed {
        Some(proposed) => {
            let stays = |place: &Arc<str>, target: &str| {
                matches!(reason_to_keep((compiled, rings, &unclear), place, target), Some(ReasonToKeep::Unknown))
            };
            proposed.added_to(previous, (destination, open), &stays)?
        }
        None => previous.clone(),
    };
    let desired = desired::in_layout(rings.map_or(compiled.tree(), |rings| &rings.places), destination.layout);
    let folder = destination.folder.as_str();
    let mut output = Output {
        tree: previous.clone(),
        assignments: 0,
        kept: BTreeSet::new(),
        refused: BTreeSet::new(),
        held: BTreeMap::new(),
        diagnostics: held.diagnostics(),
    };
    output.diagnostics.extend(left_behind(previous, destination, open)?);
    output.diagnostics.extend(foreign_folders::unknown_names(compiled, &destination.adopt));
    let blocking = foreign_files::problems(previous, destination, open)?;
    let is_tracked = blocking.is_empty();
    output.diagnostics.extend(blocking);
    let mut assembly = Assembly {
        compiled,
        held,
        rings,
        unclear,
        destination,
        open,
        own_folders: BTreeMap::new(),
        foreign: BTreeMap::new(),
        output,
    };
    if is_blocked(previous, folder, open)? {
        compiled.tree().children().for_each(|(name, _)| assembly.refuse(name, folder));
    } else {
        let before = previous.folder(folder, open)?.unwrap_or_default();
        let others = assembly.without_own_folders(&before, &desired, (Level::Top, ""))?;
        let after = assembly.with_desired_folders(&others, &desired, (Level::Top, ""))?;
        assembly.output.put(folder, after, open)?;
    }
    let mut output = assembly.finish();
    if let Some(commit) = destination.promoted_commit.as_ref().filter(|_| is_tracked) {
        output.tree.put(TRACKING_FILE, Child::File(Entry::file(commit.as_bytes())), open)?;
    }
    Ok(output)
}

/// Whether there is a file at the path of the folder, or at the path of a folder around it.
pub(super) fn is_blocked(tree: &Tree, folder: &str, open: &Open<'_>) -> Result<bool, OpenError> {
    for (end, _) in folder.match_indices('/').chain([(folder.len(), "")]) {
        if tree.find(folder.get(..end).unwrap_or_default(), open)?.is_some_and(|child| !child.is_folder()) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Output {
    fn put(&mut self, folder: &str, after: Tree, open: &Open<'_>) -> Result<(), OpenError> {
        if folder.is_empty() {
            self.tree = after;
        } else if after.is_empty() {
            self.tree.remove(folder, open)?;
        } else {
            self.tree.put(folder, Child::Tree(after), open)?;
        }
        Ok(())
    }
}

struct Assembly<'a> {
    compiled: &'a Compiled,
    held: &'a Held,
    rings: Option<&'a RingTree>,
    unclear: Unclear,
    destination: &'a Destination,
    open: &'a Open<'a>,
    /// The current folders of places that differ from the desired ones.
    own_folders: BTreeMap<Arc<str>, Tree>,
    /// Places whose folders are foreign, with the paths that are in the way.
    foreign: BTreeMap<Arc<str>, String>,
    output: Output,
}

impl Assembly<'_> {
    /// Removes Kalypso's folders that differ from the desired ones from a folder.
    fn without_own_folders(
        &mut self,
        before: &Tree,
        desired: &Tree,
        (level, around): (Level, &str),
    ) -> Result<Tree, OpenError> {
        let mut edits = Vec::new();
        for (name, child, desired) in before.changes(desired) {
            let Some(folder) = child.map(|child| child.opened(self.open)).transpose()?.flatten() else { continue };
            match level.folder_kind(around, name, &folder) {
                // The desired folder of a cluster is unknown while its cluster type does not exist. The folder stays.
                FolderKind::Place if desired.is_none() && self.is_undefined(name) => {
                    self.output.assignments += folder.children().filter(|(_, child)| child.is_folder()).count();
                }
                FolderKind::Place => {
                    let kept = if desired.is_none() { self.kept_of_renamed(name, &folder) } else { None };
                    edits.push((Arc::clone(name), kept));
                    // A place may have folders in both layouts. Use the one in the current layout, which clusters pull.
                    if level_of(self.destination) == level || !self.own_folders.contains_key(name) {
                        self.own_folders.insert(Arc::clone(name), folder);
                    }
                }
                FolderKind::Prefix(next) => {
                    let desired = folder_of(desired);
                    let below = self.without_own_folders(&folder, &desired, (next, &joined(around, name)))?;
                    let is_empty = below.is_empty();
                    edits.push((Arc::clone(name), (!is_empty).then_some(Child::Tree(below))));
                }
                FolderKind::Foreign => {}
            }
        }
        let mut rest = before.clone();
        rest.edit(edits);
        Ok(rest)
    }

    /// Adds the desired folders of places to a folder.
    fn with_desired_folders(
        &mut self,
        others: &Tree,
        desired: &Tree,
        (level, around): (Level, &str),
    ) -> Result<Tree, OpenError> {
        let mut edits = Vec::new();
        for (name, other, desired) in others.changes(desired) {
            let Some(desired) = desired else { continue };
            // A file of this name blocks the path like a folder.
            let other = other.or_else(|| others.child(name));
            let path = joined(around, name);
            let child = if level == level_of(self.destination) {
                match other {
                    Some(_) if !self.destination.adopt.includes(name) => {
                        self.refuse(name, &self.destination.folder.join(&path));
                        continue;
                    }
                    Some(other) => {
                        let other = other.opened(self.open)?.unwrap_or_default();
                        self.own_folders.insert(Arc::clone(name), other);
                    }
                    None => {}
                }
                self.place(name, desired)?
            } else {
                let Some(below) = other.map_or(Ok(Some(Tree::default())), |other| other.opened(self.open))? else {
                    self.refuse_all(&folder_of(Some(desired)), &self.destination.folder.join(&path));
                    continue;
                };
                let next = if level == Level::Top { Level::First } else { Level::Second };
                let below = self.with_desired_folders(&below, &folder_of(Some(desired)), (next, &path))?;
                if below.is_empty() {
                    continue;
                }
                Child::Tree(below)
            };
            edits.push((Arc::clone(name), Some(child)));
        }
        let mut folder = others.clone();
        folder.edit(edits);
        Ok(folder)
    }

    /// What stays of the folder of a renamed place: the folders of assignments that fail under the present name. None: nothing.
    fn kept_of_renamed(&mut self, name: &Arc<str>, folder: &Tree) -> Option<Child> {
        self.unclear.renames.place(name)?;
        let stays = |target: &str| matches!(self.reason_to_keep(name, target), Some(ReasonToKeep::Renamed));
        let children = folder.children().filter(|(target, child)| !child.is_folder() || stays(target));
        let kept = Tree::from_children(children.map(|(name, child)| (Arc::clone(name), child.clone())));
        let count = kept.children().filter(|(_, child)| child.is_folder()).count();
        self.output.assignments += count;
        (count > 0).then_some(Child::Tree(kept))
    }

    /// The new folder of a place: the desired content, and the folders that must stay.
    fn place(&mut self, name: &Arc<str>, desired: &Child) -> Result<Child, OpenError> {
        let Some(before) = self.own_folders.get(name) else { return Ok(desired.clone()) };
        let Some(mut folder) = desired.opened(self.open)? else { return Ok(desired.clone()) };
        let mut has_kept = false;
        for (target, child, desired) in before.changes(&folder.clone()) {
            let Some(child) = child.filter(|child| child.is_folder() && desired.is_none()) else { continue };
            let mut child = child.clone();
            match self.reason_to_keep(name, target) {
                Some(ReasonToKeep::Failing(id)) => match self.held.folders.get(&id) {
                    Some(held) => {
                        child = Child::Tree(held.tree.clone());
                        self.output.held.insert(id, Arc::clone(held));
                    }
                    None => drop(self.output.kept.insert(id)),
                },
                Some(ReasonToKeep::Renamed | ReasonToKeep::Unknown) => {}
                None => continue,
            }
            has_kept = true;
            self.output.assignments += 1;
            folder.set(Arc::clone(target), child);
        }
        Ok(if has_kept { Child::Tree(folder) } else { desired.clone() })
    }

    /// Reports the places in a folder, because a file has the folder's path. They are not written.
    fn refuse_all(&mut self, desired: &Tree, path: &str) {
        for (name, child) in desired.children() {
            // Prefix folders are open trees. Folders of places may be sealed.
            match child {
                Child::Tree(below) if is_prefix(name) && !is_marked(below) => {
                    below.children().for_each(|(name, _)| self.refuse(name, path));
                }
                _ => self.refuse(name, path),
            }
        }
    }

    /// Notes a place, because its folder is foreign. The place is not written.
    fn refuse(&mut self, name: &Arc<str>, path: &str) {
        self.foreign.insert(Arc::clone(name), path.to_owned());
    }

    fn finish(mut self) -> Output {
        let good = |place: &Arc<str>| self.compiled.assignments_on(place).filter(Assignment::is_rendered).count();
        let refused: usize = self.foreign.keys().map(good).sum();
        self.output.diagnostics.extend(foreign_folders::problems(self.compiled, &self.foreign));
        self.output.refused = self.foreign.into_keys().collect();
        self.output.assignments += self.compiled.rendered_count() - refused;
        self.output
    }
}

/// The level of the folders of places.
fn level_of(destination: &Destination) -> Level {
    match destination.layout {
        Layout::Plain => Level::Top,
        Layout::FanOut => Level::Second,
    }
}

/// The desired content of a prefix folder.
fn folder_of(desired: Option<&Child>) -> Tree {
    match desired {
        Some(Child::Tree(tree)) => tree.clone(),
        _ => Tree::default(),
    }
}

/// The reason why a folder stays.
enum ReasonToKeep {
    /// Its assignment fails.
    Failing(AssignmentId),
    /// It is the folder of an assignment that fails under its present name.
    Renamed,
    /// The assignment may belong to a workload that could not be read, or to an object that exists more than once.
    Unknown,
}

/// Names with another meaning than their objects alone have: objects exist more than once, are missing, or have another name now.
struct Unclear {
    places: BTreeSet<Arc<str>>,
    targets: BTreeSet<DeploymentTargetName>,
    renames: Renames,
}

impl Unclear {
    fn of(compiled: &Compiled) -> Self {
        let renames = Renames::of(compiled.prepared());
        Self { places: compiled.unclear_places(), targets: compiled.unclear_targets(), renames }
    }
}

impl Assembly<'_> {
    /// Whether the definition of a place is unclear, so that no place has this name.
    fn is_undefined(&self, name: &Arc<str>) -> bool {
        self.unclear.places.contains(name) && !self.compiled.has_place(name)
    }

    fn reason_to_keep(&self, place: &Arc<str>, target: &str) -> Option<ReasonToKeep> {
        reason_to_keep((self.compiled, self.rings, &self.unclear), place, target)
    }
}

/// Why a folder stays that no desired one replaces. None: it is removed.
fn reason_to_keep(
    (compiled, rings, unclear): (&Compiled, Option<&RingTree>, &Unclear),
    place: &Arc<str>,
    target: &str,
) -> Option<ReasonToKeep> {
    let removed = rings.and_then(|rings| rings.removed.get(place));
    if removed.is_some_and(|targets| targets.contains(target)) {
        return None;
    }
    let id = assignment_id(place, &target.into())?;
    let is_unclear = unclear.places.contains(place) || unclear.targets.contains(&id.target);
    let fails = |id: &AssignmentId| compiled.get(id).is_some_and(|assignment| !assignment.is_rendered());
    let successor = || {
        let (place, target) = unclear.renames.successor(place, id.target.as_arc())?;
        assignment_id(&place, &target)
    };
    match compiled.get(&id) {
        Some(_) if fails(&id) => Some(ReasonToKeep::Failing(id)),
        Some(_) => None,
        None if compiled.is_incomplete() || is_unclear => Some(ReasonToKeep::Unknown),
        None => successor().filter(fails).map(|_| ReasonToKeep::Renamed),
    }
}

fn assignment_id(place: &Arc<str>, target: &Arc<str>) -> Option<AssignmentId> {
    let place = PlaceName::new(Arc::clone(place)).ok()?;
    Some(AssignmentId { place, target: DeploymentTargetName::new(Arc::clone(target)).ok()? })
}
