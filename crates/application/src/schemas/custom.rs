//! Custom resource definitions: the schemas of kinds that are not Kubernetes' own.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock};

use model::diagnostic::{Code, Diagnostic, Origin};
use model::yaml::{Node, Resolved, Span};

use super::read::KindSchema;
use crate::manifests::{ManifestObject, ObjectPlace};

/// The kinds that some definitions define.
#[derive(Default)]
pub(super) struct CustomKinds(BTreeMap<GroupKind, BTreeMap<Arc<str>, CustomVersion>>);

/// A group and a kind.
type GroupKind = (Arc<str>, Arc<str>);

/// A version of a kind.
struct CustomVersion {
    /// The schema as it is written.
    node: Option<Node>,
    keeps_unknown: bool,
    /// The place of its definition.
    place: (ObjectPlace, Span),
    /// The schema, after its first use. The error says why it can't be used.
    schema: OnceLock<Result<Arc<KindSchema>, String>>,
}

/// Whether an object is a custom resource definition.
pub(super) fn is_definition(object: &ManifestObject) -> bool {
    (&*object.id.group, &*object.id.kind) == ("apiextensions.k8s.io", "CustomResourceDefinition")
}

impl CustomKinds {
    /// The kinds that objects define. Other objects are left out, and so are versions that a cluster does not serve.
    pub(super) fn new<'o>(objects: impl IntoIterator<Item = &'o ManifestObject>) -> Self {
        let mut kinds = Self::default();
        for object in objects.into_iter().filter(|object| is_definition(object)) {
            let Some(spec) = object.node.get("spec") else { continue };
            let (Some(group), Some(kind)) =
                (text(spec, "group"), spec.get("names").and_then(|names| text(names, "kind")))
            else {
                continue;
            };
            let versions = kinds.0.entry((group, kind)).or_default();
            let keeps_unknown = is_true(spec, "preserveUnknownFields");
            for version in spec.get("versions").and_then(Node::as_sequence).unwrap_or_default() {
                let Some(name) = text(version, "name").filter(|_| !is_false(version, "served")) else { continue };
                let node = version.get("schema").and_then(|schema| schema.get("openAPIV3Schema")).cloned();
                let place = (object.place, version.span);
                let known = CustomVersion { node, keeps_unknown, place, schema: OnceLock::new() };
                versions.entry(name).or_insert(known);
            }
        }
        kinds
    }

    /// The versions of a kind. None: it is not defined here.
    pub(super) fn versions(&self, group: &str, kind: &str) -> Option<Vec<&str>> {
        let versions = self.0.get(&(group.into(), kind.into()))?;
        Some(versions.keys().map(|version| &**version).collect())
    }

    /// The schema of a version of a kind. None: it is not defined here, or its schema can't be used.
    pub(super) fn schema(&self, (group, version, kind): (&str, &str, &str)) -> Option<Arc<KindSchema>> {
        let found = self.0.get(&(group.into(), kind.into()))?.get(version)?;
        let read = || KindSchema::of_custom_resource(found.node.as_ref(), found.keeps_unknown).map(Arc::new);
        found.schema.get_or_init(read).as_ref().ok().map(Arc::clone)
    }

    /// What is wrong with the schemas that were needed.
    pub(super) fn problems(&self) -> impl Iterator<Item = Diagnostic> {
        let versions = self.0.iter().flat_map(|((_, kind), versions)| versions.iter().map(move |one| (kind, one)));
        versions.filter_map(|(kind, (name, version))| {
            let error = version.schema.get()?.as_ref().err()?;
            let message = format!("the schema of version `{name}` of {kind} can't be used: {error}");
            let (place, span) = version.place;
            let found = Diagnostic::warning(Code::ManifestSchema, message).at(Origin::Span(place.file, span), "");
            Some(found.help("correct the definition; until then, objects of this kind are not validated"))
        })
    }
}

fn text(node: &Node, key: &str) -> Option<Arc<str>> {
    node.get(key)?.as_scalar().map(|scalar| Arc::clone(&scalar.text))
}

fn is_true(node: &Node, key: &str) -> bool {
    is(node, key, true)
}

fn is_false(node: &Node, key: &str) -> bool {
    is(node, key, false)
}

fn is(node: &Node, key: &str, expected: bool) -> bool {
    node.get(key).and_then(Node::as_scalar).is_some_and(|scalar| scalar.resolve() == Resolved::Bool(expected))
}
