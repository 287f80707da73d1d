//! Where the objects of a branch name another object.

use std::sync::Arc;

use model::field_path::FieldPath;
use model::kind::Kind;
use model::object::config_map::{AZURE_PREFIX, PLATFORM_CONFIG};
use model::object::deployment_target::WORKLOAD_LABEL;
use model::object::scheduling_policy::TARGET_SELECTOR;
use model::yaml::Node;

use crate::branch_files::{BranchFiles, FoundObject};
use crate::edit::Change;
use crate::value::NewValue;

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
            NameChange::Set(path) => Some(Change::Set(path.clone(), NewValue::text(name))),
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

/// What a name is the name of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NamedKind {
    /// A cluster type.
    ClusterType,
    /// A cluster.
    Cluster,
    /// A workload.
    Workload,
    /// A deployment target, by its whole name.
    Target,
}

impl NamedKind {
    /// The label by which values and schemas name it.
    fn label(self) -> &'static str {
        match self {
            Self::ClusterType => "cluster-type",
            Self::Cluster => "cluster",
            Self::Workload => WORKLOAD_LABEL,
            Self::Target => "deployment-target",
        }
    }
}

/// All references to a name: also those of values, schemas and selectors, which may be without it.
pub(crate) fn all<'f>(files: &'f BranchFiles<'_>, named: NamedKind, name: &str) -> Vec<Reference<'f>> {
    let mut found = match named {
        NamedKind::ClusterType => required(files, (Kind::ClusterType, name)),
        NamedKind::Cluster | NamedKind::Workload | NamedKind::Target => Vec::new(),
    };
    let label = named.label();
    for object in files.objects() {
        match object.kind {
            Kind::ConfigMap if object.name.starts_with(AZURE_PREFIX) => found.extend(keys(object, label, name)),
            Kind::ConfigMap if object.text(&["metadata", "labels", PLATFORM_CONFIG]).is_none() => {}
            Kind::ConfigMap | Kind::ConfigSchema => {
                found.extend(Reference::field(object, &["metadata", "labels", label], name));
            }
            _ if named == NamedKind::Workload => found.extend(of_workload(object, name)),
            _ => {}
        }
    }
    found
}

/// The fields of other objects that contain the name of a workload.
fn of_workload<'f>(object: &'f FoundObject, name: &str) -> Vec<Reference<'f>> {
    let field = |keys: &[&str]| Reference::field(object, keys, name);
    match object.kind {
        Kind::SchedulingPolicy | Kind::ReleasePin => {
            let [spec, selector] = TARGET_SELECTOR;
            let labels = [spec, selector, "labelSelector"];
            let of_label = field(&[spec, selector, "labelSelector", "matchLabels", WORKLOAD_LABEL]);
            of_label.into_iter().chain(expressions((object, &labels), WORKLOAD_LABEL, name)).collect()
        }
        Kind::LabelMapping => field(&["spec", "from", WORKLOAD_LABEL]).into_iter().collect(),
        Kind::DeploymentTarget => field(&["metadata", "labels", WORKLOAD_LABEL]).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// The values of a label in the `matchExpressions` of a selector.
fn expressions<'f>((object, selector): (&'f FoundObject, &[&str]), label: &str, name: &str) -> Vec<Reference<'f>> {
    let node = selector.iter().try_fold(&object.root, |node, key| node.get(key));
    let all = node.and_then(|node| node.get("matchExpressions")).and_then(Node::as_sequence).unwrap_or_default();
    let is =
        |node: Option<&Node>, text: &str| node.and_then(Node::as_scalar).is_some_and(|scalar| *scalar.text == *text);
    let mut found = Vec::new();
    for (at, expression) in all.iter().enumerate().filter(|(_, expression)| is(expression.get("key"), label)) {
        let values = expression.get("values").and_then(Node::as_sequence).unwrap_or_default();
        for (position, node) in values.iter().enumerate().filter(|(_, value)| is(Some(value), name)) {
            let path = selector.iter().fold(FieldPath::default(), |path, key| path.key(*key));
            let path = path.key("matchExpressions").index(at).key("values").index(position);
            found.push(Reference { object, node, change: NameChange::Set(path) });
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
