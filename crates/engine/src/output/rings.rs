//! The desired folders of an environment with rings: each place has the content that the stored state of each rollout gives it.
//!
//! A workload changes only where its move says so. All other folders stay as the branch has them, also those of workloads without a move, and those of places
//! and targets that no longer exist. The same states give the same tree, whatever was published between.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use model::git_id::GitId;
use model::tree::{Child, Entry, Open, OpenError, Tree};
use rayon::prelude::*;

use super::place_folders::PlaceFolders;
use crate::compile::{Compiled, Failing};
use crate::layout::own_files::MARKER;
use crate::promotion::rings::membership::Membership;
use crate::promotion::state::{Content, MoveStage, RolloutState};

/// The moves of an environment's workloads, with the folders that they bring.
pub struct RingContents<'a> {
    /// The rings of the places.
    pub membership: &'a Membership,
    /// The workloads that move.
    pub moves: Vec<MoveContents<'a>>,
}

/// The move of a workload.
pub struct MoveContents<'a> {
    /// The workload.
    pub workload: Arc<str>,
    /// The state of its rollout.
    pub state: &'a RolloutState,
    /// The names of all its targets, also of those that were removed.
    pub targets: &'a BTreeSet<Arc<str>>,
    /// The folders of the moving revision.
    pub moving: Folders<'a>,
    /// The folders at the beginning of the move.
    pub base: Folders<'a>,
    /// The folders of the stable revision.
    pub stable: Folders<'a>,
    /// The folders of the places that the interrupted move has not reached, where the moving revision goes ahead of it.
    pub rest: Folders<'a>,
}

/// Where folders come from.
#[derive(Clone, Copy)]
pub enum Folders<'a> {
    /// The environment as it is compiled now. Its assignments with errors stay as without rings: they keep their folder, or are held.
    Latest,
    /// An earlier state of the environment.
    Earlier(&'a Compiled),
    /// A commit of the branch.
    Published(&'a PlaceFolders),
    /// They can't be read, so the folders stay as they are.
    Unknown,
}

/// How far a move is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MoveProgress {
    /// The workload.
    pub workload: Arc<str>,
    /// The index of the ring that moves.
    pub ring: usize,
    /// The number of rings.
    pub rings: usize,
    /// The number of places that have the workload.
    pub places: usize,
    /// The number of these places that get the moving revision.
    pub released: usize,
    /// Whether all places return to the stable revision.
    pub is_rolling_back: bool,
}

/// The result of applying moves.
#[derive(Clone, Debug, Default)]
pub struct RingTree {
    /// The folders of all places.
    pub places: Tree,
    /// The targets of folders that a move removes, by place: they are removed also if their assignment fails.
    pub removed: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// How far each move is.
    pub progress: Vec<MoveProgress>,
}

impl<'a> MoveContents<'a> {
    /// The folders of a content. None: they stay as they are.
    fn folders(&self, content: Content) -> Option<Folders<'a>> {
        let folders = match content {
            Content::Published => return None,
            Content::Base => self.base,
            Content::Stable => self.stable,
            Content::Moving => self.moving,
            Content::Rest => self.rest,
        };
        (!matches!(folders, Folders::Unknown)).then_some(folders)
    }

    /// Whether the workload has a target that the sources do not have any more.
    pub fn has_removed_target(&self, compiled: &Compiled) -> bool {
        self.targets.iter().any(|target| !compiled.has_target(target))
    }

    fn progress(&self, membership: &Membership) -> MoveProgress {
        let current = self.state.current.as_ref();
        MoveProgress {
            workload: Arc::clone(&self.workload),
            ring: current.map_or(0, |current| current.ring),
            rings: membership.rings.len(),
            places: 0,
            released: 0,
            is_rolling_back: current.is_some_and(|current| matches!(current.phase, MoveStage::RollingBack { .. })),
        }
    }
}

/// Applies the moves to the folders of a branch.
///
/// # Errors
/// If a folder can't be opened.
pub fn apply(
    contents: &RingContents<'_>,
    compiled: &Compiled,
    published: &PlaceFolders,
    open: &Open<'_>,
) -> Result<RingTree, OpenError> {
    let mut application = Application::new(contents, compiled, published, open);
    let mut names: Vec<&Arc<str>> = published.names().chain(compiled.tree().children().map(|(name, _)| name)).collect();
    for folders in contents.moves.iter().flat_map(|each| [each.base, each.stable]) {
        if let Folders::Published(folders) = folders {
            names.extend(folders.names());
        }
    }
    names.sort_unstable();
    names.dedup();
    let mut children = Vec::with_capacity(names.len());
    for name in names {
        if let Some(child) = application.place(name)? {
            children.push((Arc::clone(name), child));
        }
    }
    let Application { removed, progress, .. } = application;
    Ok(RingTree { places: Tree::from_children(children), removed, progress })
}

/// The targets of a workload, and where a place gets their folders from.
#[derive(Clone, Copy)]
struct MovedFolders<'a> {
    targets: &'a BTreeSet<Arc<str>>,
    folders: Folders<'a>,
}

struct Application<'a> {
    contents: &'a RingContents<'a>,
    compiled: &'a Compiled,
    published: &'a PlaceFolders,
    open: &'a Open<'a>,
    /// The position in `contents.moves`, by the id of a compiled target.
    move_of: HashMap<u32, usize>,
    ids: HashMap<&'a str, u32>,
    removed: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    progress: Vec<MoveProgress>,
}

impl<'a> Application<'a> {
    fn new(
        contents: &'a RingContents<'a>,
        compiled: &'a Compiled,
        published: &'a PlaceFolders,
        open: &'a Open<'a>,
    ) -> Self {
        let moves = contents.moves.iter().enumerate();
        let by_target: HashMap<&str, usize> =
            moves.flat_map(|(index, each)| each.targets.iter().map(move |target| (&**target, index))).collect();
        let of =
            |(id, target): (u32, &crate::schedule::target::Target)| Some((id, *by_target.get(target.name.as_str())?));
        let progress = contents.moves.iter().map(|each| each.progress(contents.membership)).collect();
        Self {
            contents,
            compiled,
            published,
            open,
            move_of: compiled.targets_by_id().filter_map(of).collect(),
            ids: compiled.place_ids().into_iter().map(|(id, name)| (&**name, id)).collect(),
            removed: BTreeMap::new(),
            progress,
        }
    }

    /// The folder of a place. None: it has none.
    fn place(&mut self, name: &Arc<str>) -> Result<Option<Child>, OpenError> {
        let location = self.contents.membership.locate(name);
        let content = |each: &MoveContents<'_>| each.state.content(location.ring, &location.domain, location.hash);
        let contents: Vec<_> = self.contents.moves.iter().map(content).collect();
        self.count(name, &contents);
        let moves = self.contents.moves.iter().zip(contents);
        let moved = |(each, content): (&'a MoveContents<'a>, _)| {
            Some(MovedFolders { targets: each.targets, folders: each.folders(content)? })
        };
        let moves: Vec<_> = moves.filter_map(moved).collect();
        let before = self.published.get(name);
        if moves.iter().all(|moved| self.is_as_published(name, before, moved.folders)) {
            return Ok(before.cloned());
        }
        let mut folder = match before {
            Some(child) => child.opened(self.open)?.unwrap_or_default(),
            None => Tree::from_children([("README.md".into(), Child::File(Entry::file(MARKER.as_bytes())))]),
        };
        for moved in moves {
            self.set(name, &mut folder, moved)?;
        }
        let is_empty = !folder.children().any(|(_, child)| child.is_folder());
        let is_gone = is_empty && (before.is_none() || self.compiled.tree().child(name).is_none());
        Ok((!is_gone).then_some(Child::Tree(folder)))
    }

    /// Whether the folder of a whole place is surely the one that the branch has.
    fn is_as_published(&self, name: &str, before: Option<&Child>, folders: Folders<'_>) -> bool {
        let id = |child: Option<&Child>| child.map(Child::id);
        match folders {
            Folders::Published(folders) => id(folders.get(name)) == id(before),
            Folders::Latest => before.is_some() && id(self.compiled.tree().child(name)) == id(before),
            Folders::Earlier(earlier) => before.is_some() && id(earlier.tree().child(name)) == id(before),
            Folders::Unknown => true,
        }
    }

    fn count(&mut self, name: &str, contents: &[Content]) {
        let Some(id) = self.ids.get(name) else { return };
        let here = self.compiled.folder_ids(*id).filter_map(|(target, _)| self.move_of.get(&target));
        for index in here.copied().collect::<BTreeSet<_>>() {
            if let (Some(progress), Some(content)) = (self.progress.get_mut(index), contents.get(index)) {
                progress.places += 1;
                progress.released += usize::from(content.is_moving());
            }
        }
    }

    /// Sets the folders of a workload in the folder of a place.
    fn set(&mut self, name: &Arc<str>, folder: &mut Tree, moved: MovedFolders<'_>) -> Result<(), OpenError> {
        let MovedFolders { targets, folders } = moved;
        let earlier = match folders {
            Folders::Published(folders) => {
                folders.get(name).map(|child| child.opened(self.open)).transpose()?.flatten()
            }
            _ => None,
        };
        for target in targets {
            let child = match folders {
                Folders::Latest => self.compiled.folder_child(name, target),
                Folders::Earlier(compiled) => compiled.folder_child(name, target),
                Folders::Published(_) => Ok(earlier
                    .as_ref()
                    .and_then(|folder| folder.child(target))
                    .filter(|child| child.is_folder())
                    .cloned()),
                Folders::Unknown => continue,
            };
            match (child, folders) {
                (Ok(Some(child)), _) => drop(folder.set(Arc::clone(target), child)),
                // The folder of an assignment with errors stays. Of the latest state, the assembly decides about it.
                (Err(Failing), Folders::Earlier(_)) => {}
                (Err(Failing), _) => drop(folder.take(target)),
                (Ok(None), _) => {
                    if folder.take(target).is_some() && !matches!(folders, Folders::Latest) {
                        self.removed.entry(Arc::clone(name)).or_default().insert(Arc::clone(target));
                    }
                }
            }
        }
        Ok(())
    }
}

/// The folders of a workload at single places, for the evidence of its rollout.
#[derive(Clone, Copy)]
pub struct PlaceContents<'a> {
    /// The move of the workload.
    pub movement: &'a MoveContents<'a>,
    /// The environment as it is compiled now.
    pub compiled: &'a Compiled,
    /// The folders of the branch.
    pub published: &'a PlaceFolders,
    /// Opens the folders.
    pub open: &'a Open<'a>,
}

impl PlaceContents<'_> {
    /// The ids of the folders of a workload's targets at a place: what reconcilers are to have there.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn folders(&self, place: &str, content: Content) -> Result<BTreeMap<Arc<str>, GitId>, OpenError> {
        let compiled = match self.movement.folders(content) {
            None | Some(Folders::Unknown) => return self.published(self.published, place),
            Some(Folders::Published(folders)) => return self.published(folders, place),
            Some(Folders::Latest) => self.compiled,
            Some(Folders::Earlier(earlier)) => earlier,
        };
        let (mut found, mut failing) = (BTreeMap::new(), Vec::new());
        for target in self.movement.targets {
            match compiled.folder_child(place, target) {
                Ok(child) => found.extend(child.map(|child| (Arc::clone(target), child.id()))),
                Err(Failing) => failing.push(target),
            }
        }
        if !failing.is_empty() {
            let mut kept = self.published(self.published, place)?;
            found.extend(failing.into_iter().filter_map(|target| kept.remove_entry(target)));
        }
        Ok(found)
    }

    fn published(&self, folders: &PlaceFolders, place: &str) -> Result<BTreeMap<Arc<str>, GitId>, OpenError> {
        let folder = folders.get(place).map(|child| child.opened(self.open)).transpose()?.flatten();
        let of = |target: &Arc<str>| {
            let child = folder.as_ref()?.child(target).filter(|child| child.is_folder())?;
            Some((Arc::clone(target), child.id()))
        };
        Ok(self.movement.targets.iter().filter_map(of).collect())
    }

    /// Whether the revision that a place gets has an assignment of the workload with errors there.
    pub fn fails(&self, place: &str, released: Content) -> bool {
        let compiled = match self.movement.folders(released) {
            Some(Folders::Latest) => self.compiled,
            Some(Folders::Earlier(earlier)) => earlier,
            Some(Folders::Published(_) | Folders::Unknown) | None => return false,
        };
        self.movement.targets.iter().any(|target| compiled.folder_child(place, target).is_err())
    }

    /// Whether the folders of a workload at a place differ between what the place gets and the beginning of its move, or the stable revision. What goes ahead of
    /// another move is only compared with the beginning: the other one proves the rest. Assignments with errors do not count. What can't be read differs, except where a
    /// place has nothing and gets nothing. A place that loses the workload differs, too.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn is_changed(&self, place: &str, released: Content) -> Result<bool, OpenError> {
        let MoveContents { state, base, stable, .. } = self.movement;
        let Folders::Published(base) = *base else { return Ok(true) };
        if self.differs(place, released, base)? {
            return Ok(true);
        }
        let id = |folders: &PlaceFolders| folders.get(place).map(Child::id);
        match *stable {
            _ if state.interrupted.is_some() => Ok(false),
            Folders::Published(stable) => Ok(id(base) != id(stable) && self.differs(place, released, stable)?),
            Folders::Unknown => Ok(!self.folders(place, released)?.is_empty()),
            // No commit of the branch has the stable revision.
            _ => Ok(self.folders(place, Content::Stable)? != self.folders(place, released)?),
        }
    }

    /// Whether all places that the move has not reached have what the stable revision has there.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn is_stable_below<'p>(&self, mut places: impl Iterator<Item = &'p Arc<str>>) -> Result<bool, OpenError> {
        let each = self.movement;
        let content = if each.state.current.is_some() { Content::Base } else { Content::Published };
        let base = each.folders(content).unwrap_or(Folders::Published(self.published));
        let id = |folders: Folders<'_>, place: &str| match folders {
            Folders::Published(folders) => Some(folders.get(place).map(Child::id)),
            _ => None,
        };
        let is_stable = |place: &Arc<str>| {
            let (before, stable) = (id(base, place), id(each.stable, place));
            let is_same = before.is_some() && before == stable;
            Ok(is_same || self.folders(place, content)? == self.folders(place, Content::Stable)?)
        };
        places.try_fold(true, |all, place| Ok(all && is_stable(place)?))
    }

    /// Whether the folders that a place gets differ from published ones.
    fn differs(&self, place: &str, released: Content, published: &PlaceFolders) -> Result<bool, OpenError> {
        let compiled = match self.movement.folders(released) {
            Some(Folders::Latest) => self.compiled,
            Some(Folders::Earlier(earlier)) => earlier,
            Some(Folders::Published(moving)) => {
                return Ok(self.published(published, place)? != self.published(moving, place)?);
            }
            Some(Folders::Unknown) | None => return Ok(true),
        };
        let (before, after) = (published.get(place).map(Child::id), compiled.tree().child(place).map(Child::id));
        if before.is_some() && before == after {
            return Ok(false);
        }
        let before = self.published(published, place)?;
        let differs = |target: &Arc<str>| match compiled.folder_child(place, target) {
            Ok(child) => child.map(|child| child.id()) != before.get(target).copied(),
            Err(Failing) => false,
        };
        Ok(self.movement.targets.iter().any(differs))
    }

    /// The places whose folder on the branch, or in what the workload moves from or to, is another one than the sources give: they may have a folder of the
    /// workload that the sources do not give. All others do not, and are not opened.
    pub fn other_places(&self, places: &[Arc<str>]) -> Vec<Arc<str>> {
        let each = self.movement;
        let is_other = |place: &&Arc<str>| {
            let latest = self.compiled.tree().child(place).map(Child::id);
            let id = |folders: Folders<'_>| match folders {
                Folders::Published(folders) => folders.get(place).map(Child::id),
                Folders::Earlier(earlier) => earlier.tree().child(place).map(Child::id),
                Folders::Latest | Folders::Unknown => latest,
            };
            let all = [Folders::Published(self.published), each.base, each.moving, each.stable, each.rest];
            all.into_iter().any(|folders| id(folders) != latest)
        };
        places.par_iter().filter(is_other).cloned().collect()
    }

    /// Whether the branch, or what the workload moves from or to, has a folder of the workload at a place.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub fn has_workload(&self, place: &str) -> Result<bool, OpenError> {
        let mut targets = self.movement.targets.iter();
        if targets.any(|target| !matches!(self.compiled.folder_child(place, target), Ok(None))) {
            return Ok(true);
        }
        for content in [Content::Published, Content::Base, Content::Moving, Content::Stable, Content::Rest] {
            if !self.folders(place, content)?.is_empty() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
