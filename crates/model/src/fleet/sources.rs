//! The files of an environment with their content. An update costs only as much as the change itself.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{AuthorRole, FileScope, Fleet, FleetFile, FleetInput, Limits, UnreadPart, build, is_plain};
use crate::diagnostic::Diagnostic;
use crate::git_id::GitId;
use crate::kind::Kind;
use crate::object::AnyObject;
use crate::object_key::ObjectKey;
use crate::read::FileObjects;
use crate::source::{Address, File, FileId, Source};

/// The files of an environment, and the fleet that is built from them.
///
/// [`Sources::update`] gives the same result as [`Fleet::build`] for the same files, except for the ids of files: a file keeps its id while it exists.
#[derive(Clone, Debug)]
pub struct Sources {
    fleet: Arc<Fleet>,
    contents: BTreeMap<FileId, FleetFile>,
    places: BTreeMap<FileKey, FileId>,
    /// Files with diagnostics.
    flawed: BTreeSet<FileId>,
    /// Files with limits.
    limited: BTreeSet<FileId>,
    /// Diagnostics about objects that do not fit together.
    found: Vec<Diagnostic>,
}

/// The identity of a file across commits: its author, the URL and revision of its repository, and its path.
type FileKey = (AuthorRole, Arc<str>, Arc<str>, Arc<str>);

/// A change of one file.
#[derive(Clone, Debug)]
pub enum SourceFileChange {
    /// The file is new, has different content, or comes from a different commit.
    Written {
        /// The team that wrote it.
        role: AuthorRole,
        /// Which of its objects are part of the fleet.
        scope: FileScope,
        /// What the file may bring.
        limits: Limits,
        /// The new version of the file.
        file: File,
    },
    /// The file was removed.
    Removed {
        /// The team that wrote it.
        role: AuthorRole,
        /// Its repository. The commit has no effect.
        source: Arc<Source>,
        /// Its path.
        path: Arc<str>,
    },
}

/// The result of changes.
#[derive(Clone, Debug)]
pub struct FleetUpdate {
    /// The fleet after the changes.
    pub fleet: Arc<Fleet>,
    /// All diagnostics, as [`Fleet::build`] returns them.
    pub diagnostics: Vec<Diagnostic>,
    /// How many files were parsed.
    pub parsed: usize,
    /// Whether the fleet was built again as a whole, because a change affects other objects.
    pub is_rebuilt: bool,
}

/// The objects of a file before and after a change.
struct Exchange {
    role: AuthorRole,
    old: Vec<AnyObject>,
    new: Vec<AnyObject>,
    /// Whether the file has or had limits.
    is_limited: bool,
}

impl Sources {
    /// Builds the fleet of these files.
    pub fn new(input: FleetInput) -> Self {
        let FleetInput { environment, files, contents, unavailable } = input;
        let place = |file: &FleetFile| {
            let found = files.get(file.file);
            (place(&file.role, &found.source, &found.path), file.file)
        };
        let places = contents.iter().map(place).collect();
        let is_flawed = |file: &&FleetFile| !file.objects.diagnostics.is_empty();
        let flawed = contents.iter().filter(is_flawed).map(|file| file.file).collect();
        let limited = contents.iter().filter(|file| !file.limits.is_unlimited()).map(|file| file.file).collect();
        let contents: BTreeMap<_, _> = contents.into_iter().map(|file| (file.file, file)).collect();
        let fleet = Arc::new(Fleet::empty(environment, files, unavailable));
        let mut sources = Self { fleet, contents, places, flawed, limited, found: Vec::new() };
        sources.rebuild();
        sources
    }

    /// The present fleet.
    pub fn fleet(&self) -> &Arc<Fleet> {
        &self.fleet
    }

    /// All diagnostics, of single files and of objects that do not fit together.
    pub fn diagnostics(&self) -> Vec<Diagnostic> {
        let of_files = self.flawed.iter().filter_map(|id| self.contents.get(id));
        of_files.flat_map(|file| &file.objects.diagnostics).chain(&self.found).cloned().collect()
    }

    /// Applies changes in order.
    ///
    /// A file whose content is the same is not parsed again. If an object has the same meaning and the same address as before, its value in memory
    /// stays the same.
    pub fn update(&mut self, changes: impl IntoIterator<Item = SourceFileChange>) -> FleetUpdate {
        let (mut parsed, mut exchanges) = (0, Vec::new());
        for change in changes {
            exchanges.extend(self.apply(change, &mut parsed));
        }
        let has_limits = !self.limited.is_empty();
        let fleet = Arc::make_mut(&mut self.fleet);
        // Objects of limited files, and objects that have the names of such, affect each other.
        let is_alone = |exchange: &Exchange| !exchange.is_limited && (exchange.is_empty() || !has_limits);
        let is_rebuilt = !exchanges.iter().all(|exchange| is_alone(exchange) && exchange.patch(fleet).is_some());
        fleet.unread = unread(&self.flawed, &self.contents);
        if is_rebuilt {
            self.rebuild();
        }
        FleetUpdate { fleet: Arc::clone(&self.fleet), diagnostics: self.diagnostics(), parsed, is_rebuilt }
    }

    /// Applies a change of a file, and counts whether the file was parsed. None if nothing is different.
    fn apply(&mut self, change: SourceFileChange, parsed: &mut usize) -> Option<Exchange> {
        let (role, scope, limits, file) = match change {
            SourceFileChange::Written { role, scope, limits, file } => (role, scope, limits, file),
            SourceFileChange::Removed { role, source, path } => return self.remove(role, &source, &path),
        };
        let place = place(&role, &file.source, &file.path);
        let files = Arc::make_mut(&mut Arc::make_mut(&mut self.fleet).files);
        let id = *self.places.entry(place).or_insert_with(|| files.add(file.clone()));
        let old = self.contents.get(&id);
        let is_same = old.is_some() && files.get(id).id == file.id;
        files.set(id, file);
        let was_limited = self.limited.remove(&id);
        if !limits.is_unlimited() {
            self.limited.insert(id);
        }
        let is_limited = was_limited || !limits.is_unlimited();
        if is_same {
            let old = self.contents.get_mut(&id)?;
            let is_limited_otherwise = old.limits != limits;
            old.limits = limits;
            let same = || Exchange { is_limited, ..Exchange::new(role, Vec::new(), Vec::new()) };
            return is_limited_otherwise.then(same);
        }
        *parsed += 1;
        let mut file = FleetFile::read(role.clone(), id, files);
        file.keep(scope);
        file.limits = limits;
        let FileObjects { objects, diagnostics, .. } = &mut file.objects;
        if let Some(old) = old {
            keep_same(&old.objects.objects, objects);
        }
        if diagnostics.is_empty() {
            self.flawed.remove(&id)
        } else {
            self.flawed.insert(id)
        };
        let new = file.objects.objects.clone();
        let old = self.contents.insert(id, file);
        let old = old.map(|old| old.objects.objects).unwrap_or_default();
        Some(Exchange { is_limited, ..Exchange::new(role, old, new) })
    }

    fn remove(&mut self, role: AuthorRole, source: &Source, path: &Arc<str>) -> Option<Exchange> {
        let id = *self.places.get(&place(&role, source, path))?;
        let old = self.contents.remove(&id)?;
        self.flawed.remove(&id);
        // The id stays reserved in case the file comes back.
        let files = Arc::make_mut(&mut Arc::make_mut(&mut self.fleet).files);
        let nothing = File { content: Arc::default(), id: GitId::of_blob(b""), ..files.get(id).clone() };
        files.set(id, nothing);
        let is_limited = self.limited.remove(&id);
        Some(Exchange { is_limited, ..Exchange::new(role, old.objects.objects, Vec::new()) })
    }

    /// Builds the fleet again as a whole.
    fn rebuild(&mut self) {
        let Fleet { environment, files, unavailable, .. } = &*self.fleet;
        let empty = Fleet::empty(environment.clone(), Arc::clone(files), unavailable.clone());
        let objects =
            self.contents.values().map(|file| (file.role.clone(), file.limits.clone(), file.objects.objects.clone()));
        let objects = objects.collect();
        let (mut fleet, found) = build::fleet(empty, objects);
        fleet.unread = unread(&self.flawed, &self.contents);
        (self.fleet, self.found) = (Arc::new(fleet), found);
    }
}

impl Exchange {
    fn new(role: AuthorRole, mut old: Vec<AnyObject>, mut new: Vec<AnyObject>) -> Self {
        let stays = |object: &&AnyObject| object_at(&old, object.address()).is_some_and(|old| old.is_same(object));
        let same: BTreeSet<_> = new.iter().filter(stays).map(AnyObject::address).collect();
        for objects in [&mut old, &mut new] {
            objects.retain(|object| !same.contains(&object.address()));
        }
        Self { role, old, new, is_limited: false }
    }

    fn is_empty(&self) -> bool {
        self.old.is_empty() && self.new.is_empty()
    }

    /// Applies the change to a fleet. None if the change affects other objects, so that the fleet must be built again.
    fn patch(&self, fleet: &mut Fleet) -> Option<()> {
        let mut old = by_key(&self.role, &self.old)?;
        for (key, new) in by_key(&self.role, &self.new)? {
            let old = old.remove(&key);
            self.is_alone(fleet, old, Some(new)).then_some(())?;
            replace(fleet, &key, new)?;
        }
        for (key, old) in old {
            self.is_alone(fleet, Some(old), None).then_some(())?;
            fleet.take(&key);
        }
        Some(())
    }

    /// Whether a change of an object affects no other object, and is affected by none.
    fn is_alone(&self, fleet: &Fleet, old: Option<&AnyObject>, new: Option<&AnyObject>) -> bool {
        let Some(key) = old.or(new).map(|object| self.role.key_of(object)) else { return true };
        if fleet.duplicates.contains_key(&key) || fleet.address(&key) != old.map(AnyObject::address) {
            return false;
        }
        let (old, new) = match (old, new) {
            (Some(old), Some(new)) => (old, new),
            (None, None) => return true,
            (Some(object), None) | (None, Some(object)) => return self.is_unconnected(fleet, object),
        };
        match (old, new) {
            _ if !is_plain(old.kind()) && old.kind() != Kind::Workload => false,
            _ if old.digest() == new.digest() => true,
            // The labels decide which registration a workload belongs to.
            (AnyObject::Workload(old), AnyObject::Workload(new)) => old.labels == new.labels,
            // In application repositories, the labels decide whether a schema is allowed.
            (AnyObject::ConfigSchema(old), AnyObject::ConfigSchema(new)) if self.role != AuthorRole::Platform => {
                old.labels == new.labels
            }
            (AnyObject::ClusterType(_), AnyObject::ClusterType(_)) => true,
            _ => self.is_unconnected(fleet, old) && self.is_unconnected(fleet, new),
        }
    }

    /// Whether an object can be added or removed without an effect on other objects.
    fn is_unconnected(&self, fleet: &Fleet, object: &AnyObject) -> bool {
        self.role == AuthorRole::Platform
            && match object {
                AnyObject::Cluster(cluster) => fleet.type_of(cluster).is_some(),
                AnyObject::ClusterType(_) | AnyObject::WorkloadRegistration(_) => false,
                other => is_plain(other.kind()),
            }
    }
}

fn replace(fleet: &mut Fleet, key: &ObjectKey, object: &AnyObject) -> Option<()> {
    if let (Some(registration), AnyObject::ConfigSchema(schema)) = (&key.of, object) {
        fleet.put_schema(registration.clone(), Arc::clone(schema));
        return Some(());
    }
    match fleet.put(object.clone()) {
        None => {}
        Some(AnyObject::Workload(object)) => {
            let workload = Arc::make_mut(&mut fleet.workloads).get_mut(object.name.as_str())?;
            workload.object = object;
        }
        Some(_) => return None,
    }
    Some(())
}

/// The parts of these files that could not be read.
fn unread(flawed: &BTreeSet<FileId>, contents: &BTreeMap<FileId, FleetFile>) -> Arc<[UnreadPart]> {
    flawed.iter().filter_map(|id| contents.get(id)).flat_map(FleetFile::unread).collect()
}

/// The objects of one author by kind and name. None if two have the same key.
fn by_key<'o>(role: &AuthorRole, objects: &'o [AnyObject]) -> Option<BTreeMap<ObjectKey, &'o AnyObject>> {
    let by_key: BTreeMap<_, _> = objects.iter().map(|object| (role.key_of(object), object)).collect();
    (by_key.len() == objects.len()).then_some(by_key)
}

/// Keeps the old value in memory of every object that has the same address and meaning.
fn keep_same(old: &[AnyObject], new: &mut [AnyObject]) {
    for object in new {
        let same = object_at(old, object.address());
        let same = same.filter(|old| old.kind() == object.kind() && old.digest() == object.digest());
        if let Some(same) = same {
            *object = AnyObject::clone(same);
        }
    }
}

/// The object of a file at this address.
fn object_at(objects: &[AnyObject], address: Address) -> Option<&AnyObject> {
    let at = objects.binary_search_by_key(&address, AnyObject::address).ok()?;
    objects.get(at)
}

fn place(role: &AuthorRole, source: &Source, path: &Arc<str>) -> FileKey {
    (role.clone(), Arc::clone(&source.url), Arc::clone(&source.revision), Arc::clone(path))
}

#[cfg(test)]
mod tests;
