//! Merges the compiled folders into the tree of a branch. Opens only folders that differ from the desired state.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::AssignmentId;
use model::name::{DeploymentTargetName, PlaceName};
use model::tree::{Child, Entry, Open, OpenError, Tree};

use super::proposed::ProposedFolders;
use super::rings::RingTree;
use super::{BranchTree, Destination, Output, desired, foreign_files, foreign_folders, left_behind};
use crate::compile::renames::Renames;
use crate::compile::{Assignment, Compiled};
use crate::hold::Held;
use crate::layout::own_files::TRACKING_FILE;
use crate::layout::{FolderKind, Layout, Level, is_marked, is_prefix, joined};

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
    let stale = StaleFolders::new(compiled, rings);
    let branch = BranchTree { tree: previous, destination, open };
    let previous = &match proposed {
        Some(proposed) => {
            let stays = |place: &Arc<str>, target: &str| {
                matches!(stale.reason_to_keep(place, target), Some(ReasonToKeep::Unknown))
            };
            proposed.added_to(branch, &stays)?
        }
        None => previous.clone(),
    };
    let branch = BranchTree { tree: previous, ..branch };
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
    output.diagnostics.extend(left_behind(branch)?);
    output.diagnostics.extend(foreign_folders::unknown_names(compiled, &destination.adopt));
    let blocking = foreign_files::problems(branch)?;
    let is_tracked = blocking.is_empty();
    output.diagnostics.extend(blocking);
    let mut assembly = Assembly {
        compiled,
        held,
        stale,
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
        let others = assembly.without_own_folders(&before, &desired, Surroundings::TOP)?;
        let after = assembly.with_desired_folders(&others, &desired, Surroundings::TOP)?;
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
    stale: StaleFolders<'a>,
    destination: &'a Destination,
    open: &'a Open<'a>,
    /// The current folders of places that differ from the desired ones.
    own_folders: BTreeMap<Arc<str>, Tree>,
    /// Places whose folders are foreign, with the paths that are in the way.
    foreign: BTreeMap<Arc<str>, String>,
    output: Output,
}

/// A folder around folders of places: the output's folder, or a prefix folder.
#[derive(Clone, Copy)]
struct Surroundings<'p> {
    level: Level,
    /// The path in the output's folder.
    path: &'p str,
}

impl Surroundings<'_> {
    /// The output's folder.
    const TOP: Self = Self { level: Level::Top, path: "" };
}

impl Assembly<'_> {
    /// Removes Kalypso's folders that differ from the desired ones from a folder.
    fn without_own_folders(
        &mut self,
        before: &Tree,
        desired: &Tree,
        around: Surroundings<'_>,
    ) -> Result<Tree, OpenError> {
        let mut edits = Vec::new();
        for (name, child, desired) in before.changes(desired) {
            let Some(folder) = child.map(|child| child.opened(self.open)).transpose()?.flatten() else { continue };
            match around.level.folder_kind(around.path, name, &folder) {
                // The desired folder of a cluster is unknown while its cluster type does not exist. The folder stays.
                FolderKind::Place if desired.is_none() && self.stale.is_undefined(name) => {
                    self.output.assignments += folder.children().filter(|(_, child)| child.is_folder()).count();
                }
                FolderKind::Place => {
                    let kept = if desired.is_none() { self.kept_of_renamed(name, &folder) } else { None };
                    edits.push((Arc::clone(name), kept));
                    // A place may have folders in both layouts. Use the one in the current layout, which clusters pull.
                    if level_of(self.destination) == around.level || !self.own_folders.contains_key(name) {
                        self.own_folders.insert(Arc::clone(name), folder);
                    }
                }
                FolderKind::Prefix(level) => {
                    let desired = folder_of(desired);
                    let inside = Surroundings { level, path: &joined(around.path, name) };
                    let below = self.without_own_folders(&folder, &desired, inside)?;
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
        around: Surroundings<'_>,
    ) -> Result<Tree, OpenError> {
        let mut edits = Vec::new();
        for (name, other, desired) in others.changes(desired) {
            let Some(desired) = desired else { continue };
            // A file of this name blocks the path like a folder.
            let other = other.or_else(|| others.child(name));
            let path = joined(around.path, name);
            let child = if around.level == level_of(self.destination) {
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
                let level = if around.level == Level::Top { Level::First } else { Level::Second };
                let inside = Surroundings { level, path: &path };
                let below = self.with_desired_folders(&below, &folder_of(Some(desired)), inside)?;
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
        self.stale.renames.place(name)?;
        let stays = |target: &str| matches!(self.stale.reason_to_keep(name, target), Some(ReasonToKeep::Renamed));
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
            match self.stale.reason_to_keep(name, target) {
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

/// Decides which folders stay that no desired one replaces.
struct StaleFolders<'a> {
    compiled: &'a Compiled,
    rings: Option<&'a RingTree>,
    /// Places whose names are unclear: their objects exist more than once, or are missing.
    unclear_places: BTreeSet<Arc<str>>,
    /// The same for targets.
    unclear_targets: BTreeSet<DeploymentTargetName>,
    renames: Renames,
}

impl<'a> StaleFolders<'a> {
    fn new(compiled: &'a Compiled, rings: Option<&'a RingTree>) -> Self {
        let (unclear_places, unclear_targets) = (compiled.unclear_places(), compiled.unclear_targets());
        Self { compiled, rings, unclear_places, unclear_targets, renames: Renames::new(compiled.prepared()) }
    }

    /// Whether the definition of a place is unclear, so that no place has this name.
    fn is_undefined(&self, name: &Arc<str>) -> bool {
        self.unclear_places.contains(name) && !self.compiled.has_place(name)
    }

    /// Why a folder stays. None: it is removed.
    fn reason_to_keep(&self, place: &Arc<str>, target: &str) -> Option<ReasonToKeep> {
        let removed = self.rings.and_then(|rings| rings.removed.get(place));
        if removed.is_some_and(|targets| targets.contains(target)) {
            return None;
        }
        let compiled = self.compiled;
        let id = assignment_id(place, &target.into())?;
        let is_unclear = self.unclear_places.contains(place) || self.unclear_targets.contains(&id.target);
        let fails = |id: &AssignmentId| compiled.get(id).is_some_and(|assignment| !assignment.is_rendered());
        let successor = || {
            let (place, target) = self.renames.successor(place, id.target.as_arc())?;
            assignment_id(&place, &target)
        };
        match compiled.get(&id) {
            Some(_) if fails(&id) => Some(ReasonToKeep::Failing(id)),
            Some(_) => None,
            None if compiled.is_incomplete() || is_unclear => Some(ReasonToKeep::Unknown),
            None => successor().filter(fails).map(|_| ReasonToKeep::Renamed),
        }
    }
}

fn assignment_id(place: &Arc<str>, target: &Arc<str>) -> Option<AssignmentId> {
    let place = PlaceName::new(Arc::clone(place)).ok()?;
    Some(AssignmentId { place, target: DeploymentTargetName::new(Arc::clone(target)).ok()? })
}
