//! Decides in which file of a branch a new object belongs: where objects of its kind are that are like it.
//!
//! A branch has conventions: one object in each file or many, folders for regions or teams, patterns of file names. They are inferred from the objects
//! that exist. Where nothing can be inferred, the folders are those of Kalypso's examples.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::kind::Kind;
use model::yaml::{Node, NodeValue};

use crate::branch_files::{BranchFiles, FoundObject};
use crate::new_object::NewObject;
use crate::value::NewValue;

mod file_name;

use file_name::FileName;

/// The longest text of a field that can decide about a folder, in bytes.
const TRAIT_BYTES_MAX: usize = 100;

/// The conventions of a branch for one kind.
pub(crate) struct Conventions<'b> {
    kind: Kind,
    /// The folder of the branch's files. It may be empty.
    root: &'b str,
    siblings: Vec<Sibling<'b>>,
    /// Whether most objects share a file with others of their kind.
    is_collected: bool,
    /// Fields whose value decides about the group, with the group of each value.
    deciding: BTreeMap<String, BTreeMap<Arc<str>, &'b str>>,
    names: Vec<FileName>,
    extension: &'static str,
}

/// An existing object of the kind.
struct Sibling<'b> {
    object: &'b FoundObject,
    /// The folder of the file, or the file itself if objects are collected.
    group: &'b str,
    traits: BTreeSet<Trait>,
}

/// A field with its value.
type Trait = (String, Arc<str>);

/// Where a new object belongs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Placement {
    /// The path of the file.
    pub(crate) path: Arc<str>,
    /// Whether nothing in the branch shows where the object belongs.
    pub(crate) is_default: bool,
}

impl<'b> Conventions<'b> {
    pub(crate) fn new(files: &'b BranchFiles<'_>, kind: Kind) -> Self {
        let objects: Vec<_> = files.of_kind(kind).collect();
        let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
        objects.iter().for_each(|object| *counts.entry(&object.path).or_default() += 1);
        let is_shared = |object: &&&FoundObject| counts.get(&*object.path).is_some_and(|count| *count > 1);
        let is_collected = objects.iter().filter(is_shared).count() * 2 > objects.len();
        let names: Vec<_> = objects.iter().map(|object| FileName::from_path(&object.path, &object.name)).collect();
        let sibling = |(object, name): (&&'b FoundObject, &FileName)| {
            let group = if is_collected { &*object.path } else { name.group(folder(&object.path)) };
            Sibling { object, group, traits: traits(&object.root) }
        };
        let siblings: Vec<_> = objects.iter().zip(&names).map(sibling).collect();
        let deciding = deciding(&siblings);
        let short = objects.iter().filter(|object| object.path.ends_with(".yml")).count();
        let extension = if short * 2 > objects.len() { "yml" } else { "yaml" };
        Self { kind, root: files.folder(), siblings, is_collected, deciding, names, extension }
    }

    /// Where an object belongs.
    pub(crate) fn place(&self, object: &NewObject) -> Placement {
        let (traits, name) = (traits_of(object), &object.name);
        if self.siblings.is_empty() {
            let path = self.default_path(object);
            return Placement { path, is_default: true };
        }
        let known = self.group(&traits);
        let (folder, is_default) = match (known, self.new_group(&traits)) {
            (Some(group), _) if self.is_collected => return Placement { path: group.into(), is_default: false },
            (Some(group), _) => (group.to_owned(), false),
            (None, Some(group)) if self.is_collected => {
                return Placement { path: group.into(), is_default: false };
            }
            (None, Some(group)) => (group, false),
            (None, None) => (self.common_folder(), self.is_collected),
        };
        let name = self.file_name(&folder, name);
        Placement { path: joined(&folder, &format!("{name}.{}", self.extension)).into(), is_default }
    }

    /// The existing object whose style a new one has: the last one in the same file or folder, else the last of all.
    pub(crate) fn model(&self, path: &str) -> Option<&'b FoundObject> {
        let near = self.siblings.iter().rfind(|sibling| *sibling.object.path == *path);
        let near = near.or_else(|| self.siblings.iter().rfind(|sibling| folder(&sibling.object.path) == folder(path)));
        near.or_else(|| self.siblings.last()).map(|sibling| sibling.object)
    }

    /// The group of the objects that are like the new one.
    fn group(&self, traits: &BTreeSet<Trait>) -> Option<&'b str> {
        let groups: BTreeSet<_> = self.siblings.iter().map(|sibling| sibling.group).collect();
        if groups.len() == 1 {
            return groups.first().copied().filter(|group| !self.is_named_otherwise(group, traits));
        }
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        let decided = traits.iter().filter_map(|(key, value)| Some((self.deciding.get(key)?.get(value)?, key, value)));
        for (group, key, value) in decided {
            let has = |sibling: &&Sibling<'_>| sibling.traits.contains(&(key.clone(), Arc::clone(value)));
            *votes.entry(group).or_default() += self.siblings.iter().filter(has).count();
        }
        let most = votes.values().max().copied()?;
        let mut best = votes.iter().filter(|(_, votes)| **votes == most).map(|(group, _)| *group);
        // Two groups that are equally like the new object say nothing.
        best.next().filter(|_| best.next().is_none())
    }

    /// Whether the only file is named after its objects, and the new object has another name: `boston.yaml` is no place for `hamburg-7`.
    fn is_named_otherwise(&self, group: &str, traits: &BTreeSet<Trait>) -> bool {
        let of_name = |(key, part): &&Trait| key == "name" && stem(group).starts_with(&**part);
        let first = self.siblings.first().and_then(|sibling| sibling.traits.iter().find(of_name));
        let has_all = |part: &&Trait| self.siblings.iter().all(|sibling| sibling.traits.contains(*part));
        self.is_collected && first.filter(has_all).is_some_and(|part| !traits.contains(part))
    }

    /// The group for a new value of a field after whose values the groups are named.
    fn new_group(&self, traits: &BTreeSet<Trait>) -> Option<String> {
        let named = |(key, value): &Trait| {
            let groups = self.deciding.get(key)?;
            let is_named = |(value, group): (&Arc<str>, &&str)| stem(group) == &**value;
            let is_safe = value.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_'));
            (groups.len() > 1 && is_safe && groups.iter().all(is_named)).then_some(())?;
            let folder = common(groups.values().map(|group| folder(group)));
            Some(joined(
                &folder,
                &if self.is_collected { format!("{value}.{}", self.extension) } else { value.to_string() },
            ))
        };
        traits.iter().find_map(named)
    }

    fn common_folder(&self) -> String {
        let folders =
            self.siblings.iter().map(|sibling| if self.is_collected { folder(sibling.group) } else { sibling.group });
        common(folders)
    }

    /// The name of the file without its extension, by the pattern that most files in this folder have, else most of all.
    fn file_name(&self, folder: &str, name: &str) -> String {
        let all = || self.siblings.iter().zip(&self.names);
        let near = FileName::most_frequent(all().filter(|(sibling, _)| sibling.group == folder).map(|(_, name)| name));
        let found = near.or_else(|| FileName::most_frequent(all().map(|(_, name)| name)));
        found.unwrap_or_default().apply(folder, name)
    }

    fn default_path(&self, object: &NewObject) -> Arc<str> {
        let folder = match self.kind {
            Kind::ClusterType => "cluster-types",
            Kind::Cluster => "clusters",
            Kind::SchedulingPolicy => "scheduling",
            Kind::ConfigMap => "configs",
            Kind::ConfigSchema => "schemas",
            Kind::WorkloadRegistration | Kind::DeploymentTarget => "workloads",
            Kind::Template => "templates",
            _ => "",
        };
        joined(self.root, &joined(folder, &format!("{}.{}", object.name, self.extension))).into()
    }
}

/// The fields of which each value occurs in one group only, if they occur in several groups, and most objects have them.
fn deciding<'b>(siblings: &[Sibling<'b>]) -> BTreeMap<String, BTreeMap<Arc<str>, &'b str>> {
    let mut found: BTreeMap<String, BTreeMap<Arc<str>, BTreeSet<&'b str>>> = BTreeMap::new();
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for sibling in siblings {
        let mut keys = BTreeSet::new();
        for (key, value) in &sibling.traits {
            found.entry(key.clone()).or_default().entry(Arc::clone(value)).or_default().insert(sibling.group);
            keys.insert(&**key);
        }
        keys.into_iter().for_each(|key| *counts.entry(key).or_default() += 1);
    }
    let is_deciding = |key: &String, values: &BTreeMap<Arc<str>, BTreeSet<&str>>| {
        let groups: BTreeSet<_> = values.values().flatten().collect();
        let has_one = values.values().all(|groups| groups.len() == 1);
        has_one && groups.len() > 1 && counts.get(&**key).is_some_and(|count| count * 2 >= siblings.len())
    };
    let of_one = |(value, groups): (Arc<str>, BTreeSet<&'b str>)| Some((value, groups.into_iter().next()?));
    found
        .into_iter()
        .filter(|(key, values)| is_deciding(key, values))
        .map(|(key, values)| (key, values.into_iter().filter_map(of_one).collect()))
        .collect()
}

/// The short scalars of an object's labels and `spec`, and the first part of its name.
fn traits(root: &Node) -> BTreeSet<Trait> {
    let mut found = BTreeSet::new();
    let metadata = root.get("metadata");
    if let Some(labels) = metadata.and_then(|metadata| metadata.get("labels")) {
        collect(labels, "labels", &mut found);
    }
    if let Some(spec) = root.get("spec") {
        collect(spec, "spec", &mut found);
    }
    let name = metadata.and_then(|metadata| metadata.get("name")).and_then(Node::as_scalar);
    found.extend(name.map(|name| first_part(&name.text)));
    found
}

fn collect(node: &Node, path: &str, found: &mut BTreeSet<Trait>) {
    match &node.value {
        NodeValue::Scalar(scalar) if scalar.text.len() <= TRAIT_BYTES_MAX => {
            found.insert((path.to_owned(), Arc::clone(&scalar.text)));
        }
        NodeValue::Scalar(_) => {}
        NodeValue::Sequence(items) => items.iter().for_each(|item| collect(item, path, found)),
        NodeValue::Mapping(entries) => {
            for (key, value) in entries.iter() {
                let key = key.as_scalar().map(|key| &*key.text).unwrap_or_default();
                collect(value, &format!("{path}.{key}"), found);
            }
        }
    }
}

fn traits_of(object: &NewObject) -> BTreeSet<Trait> {
    let mut found = BTreeSet::from([first_part(&object.name)]);
    found.extend(object.labels.iter().map(|(key, value)| (format!("labels.{key}"), Arc::clone(value))));
    object.fields.iter().for_each(|(key, value)| collect_value(value, key, &mut found));
    found
}

fn collect_value(value: &NewValue, path: &str, found: &mut BTreeSet<Trait>) {
    match value {
        NewValue::Text(text) => {
            found.insert((path.to_owned(), Arc::clone(text)));
        }
        NewValue::Bool(_) | NewValue::Int(_) => {}
        NewValue::List(items) => items.iter().for_each(|item| collect_value(item, path, found)),
        NewValue::ShortList(items) => found.extend(items.iter().map(|item| (path.to_owned(), Arc::clone(item)))),
        NewValue::Mapping(entries) => {
            entries.iter().for_each(|(key, value)| collect_value(value, &format!("{path}.{key}"), found));
        }
    }
}

/// Objects with the same first part of their name often belong together: `checkout-api` and `checkout-kiosks`.
fn first_part(name: &str) -> Trait {
    ("name".to_owned(), name.split('-').next().unwrap_or_default().into())
}

/// The folder of a file. Empty for the root.
pub(crate) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The last name of a path, without an extension of YAML files.
pub(crate) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.strip_suffix(".yaml").or_else(|| name.strip_suffix(".yml")).unwrap_or(name)
}

pub(crate) fn joined(folder: &str, name: &str) -> String {
    if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") }
}

/// The longest folder that contains all folders.
fn common<'f>(mut folders: impl Iterator<Item = &'f str>) -> String {
    let mut parts: Vec<&str> = folders.next().unwrap_or_default().split('/').collect();
    for folder in folders {
        let same = parts.iter().zip(folder.split('/')).take_while(|(one, other)| **one == *other).count();
        parts.truncate(same);
    }
    parts.join("/")
}

/// The path of a file for an object with another name, if the file is named after its object.
pub(crate) fn renamed_path(path: &str, old: &str, new: &str) -> Option<String> {
    let (_, extension) = path.rsplit_once('.')?;
    let pattern = FileName::from_path(path, old);
    if !pattern.is_of_whole_name() {
        return None;
    }
    let group = pattern.group(folder(path));
    let renamed = joined(group, &format!("{}.{extension}", pattern.apply(group, new)));
    (renamed != path).then_some(renamed)
}

#[cfg(test)]
mod tests;
