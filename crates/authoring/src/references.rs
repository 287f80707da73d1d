//! Where the objects of a branch name another object.

use std::sync::Arc;

use model::field_path::FieldPath;
use model::kind::Kind;
use model::object::config_map::{AZURE_PREFIX, PLATFORM_CONFIG};
use model::yaml::Node;

use crate::branch_files::{BranchFiles, FoundObject};
use crate::edit::Change;
use crate::value::Value;

/// A field that contains the name of another object.
pub(crate) struct Reference<'f> {
    /// The object with the field.
    pub(crate) object: &'f FoundObject,
    /// The field, or the key that contains the name.
    pub(crate) node: &'f Node,
    /// The change that replaces the name.
    change: NameChange,
}

/// How the name in a field is replaced.
enum NameChange {
    /// The field is the name.
    Set(FieldPath),
    /// The key of the entry has the name between these texts.
    Key(FieldPath, String, String),
}

impl<'f> Reference<'f> {
    /// The change after which the field contains `name`. None: a dot in the name would end it in this key.
    pub(crate) fn renamed(&self, name: &str) -> Option<Change> {
        match &self.change {
            NameChange::Set(path) => Some(Change::Set(path.clone(), Value::text(name))),
            NameChange::Key(..) if name.contains('.') => None,
            NameChange::Key(path, before, after) => {
                Some(Change::RenameKey(path.clone(), format!("{before}{name}{after}").into()))
            }
        }
    }

    /// The field `keys` of an object, if it is `name`.
    fn field(object: &'f FoundObject, keys: &[&str], name: &str) -> Option<Self> {
        let node = keys.iter().try_fold(&object.root, |node, key| node.get(key))?;
        let is_name = node.as_scalar().is_some_and(|scalar| *scalar.text == *name);
        let path = || keys.iter().fold(FieldPath::default(), |path, key| path.key(*key));
        is_name.then(|| Self { object, node, change: NameChange::Set(path()) })
    }
}

/// The objects that can't be without an object of this kind and name. Each has one reference.
pub(crate) fn required<'f>(files: &'f BranchFiles<'_>, (kind, name): (Kind, &str)) -> Vec<Reference<'f>> {
    let (user, fields): (Kind, &[&str]) = match kind {
        Kind::ClusterType => (Kind::Cluster, &["clusterType"]),
        Kind::Template => (Kind::ClusterType, &["reconciler", "namespaceService", "configType"]),
        _ => return Vec::new(),
    };
    let reference = |object| fields.iter().find_map(|field| Reference::field(object, &["spec", field], name));
    files.of_kind(user).filter_map(reference).collect()
}

/// All references to a cluster type or a cluster of this name: also those of values and schemas, which may be without it.
pub(crate) fn all<'f>(files: &'f BranchFiles<'_>, (kind, name): (Kind, &str)) -> Vec<Reference<'f>> {
    let label = match kind {
        Kind::ClusterType => "cluster-type",
        Kind::Cluster => "cluster",
        _ => return required(files, (kind, name)),
    };
    let mut found = required(files, (kind, name));
    for object in files.objects() {
        match object.kind {
            Kind::ConfigMap if object.name.starts_with(AZURE_PREFIX) => found.extend(keys(object, label, name)),
            Kind::ConfigMap if object.text(&["metadata", "labels", PLATFORM_CONFIG]).is_none() => {}
            Kind::ConfigMap | Kind::ConfigSchema => {
                found.extend(Reference::field(object, &["metadata", "labels", label], name));
            }
            _ => {}
        }
    }
    found
}

/// The keys of an `azure-app-config` map that have the condition `label.name`: `cluster-type.large.REGION`.
fn keys<'f>(object: &'f FoundObject, label: &str, name: &str) -> Vec<Reference<'f>> {
    let entries = object.root.get("data").and_then(Node::as_mapping).unwrap_or_default();
    let reference = |(key, _): &'f (Node, Node)| {
        let text: &Arc<str> = &key.as_scalar()?.text;
        let mut parts: Vec<&str> = text.split('.').collect();
        let at = parts.chunks_exact(2).position(|pair| pair == [label, name])? * 2;
        let after = parts.split_off(at + 2);
        let before = format!("{}.", parts.get(..=at)?.join("."));
        let after = after.iter().map(|part| format!(".{part}")).collect::<String>();
        let path = FieldPath::from(["data"]).key(Arc::clone(text));
        // The last part is the key of the value.
        (!after.is_empty()).then_some(Reference { object, node: key, change: NameChange::Key(path, before, after) })
    };
    entries.iter().filter_map(reference).collect()
}
