//! The schemas of Kubernetes' own kinds, which are part of the program.
//!
//! The file beside this module is made from the schemas that Kubernetes publishes (license Apache 2.0), without descriptions and states: `tests/kubernetes_schemas.rs` makes it, and compares it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::sync::LazyLock;

use flate2::read::GzDecoder;
use serde::Deserialize;

use super::field_schema::FieldSchema;

/// The reduced schemas of Kubernetes, compressed.
const FILE: &[u8] = include_bytes!("kubernetes.json.gz");

static SCHEMAS: LazyLock<KubernetesSchemas> = LazyLock::new(KubernetesSchemas::read);

/// The schemas of one version of Kubernetes.
#[derive(Default, Deserialize)]
pub(super) struct KubernetesSchemas {
    /// The version, such as `1.37`.
    pub(super) version: String,
    kinds: Vec<KnownKind>,
    definitions: BTreeMap<Box<str>, FieldSchema>,
}

/// A kind in one version.
#[derive(Deserialize)]
pub(super) struct KnownKind {
    pub(super) group: Box<str>,
    pub(super) version: Box<str>,
    pub(super) kind: Box<str>,
    /// The name of its definition.
    pub(super) definition: Box<str>,
}

/// The schemas that are part of the program. They are read once.
pub(super) fn schemas() -> &'static KubernetesSchemas {
    &SCHEMAS
}

impl KubernetesSchemas {
    /// A broken file would be a mistake of ours, which a test finds.
    fn read() -> Self {
        let mut text = Vec::new();
        let read = GzDecoder::new(FILE).read_to_end(&mut text);
        read.ok().and_then(|_| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }

    /// The definition with this name.
    pub(super) fn definition(&self, name: &str) -> Option<&FieldSchema> {
        self.definitions.get(name)
    }

    /// The versions of a kind.
    pub(super) fn versions<'s>(&'s self, group: &'s str, kind: &'s str) -> impl Iterator<Item = &'s KnownKind> {
        self.kinds.iter().filter(move |known| &*known.group == group && &*known.kind == kind)
    }

    /// The kinds with a name, in all groups: kinds of the group `extensions` moved to others.
    pub(super) fn named<'s>(&'s self, kind: &'s str) -> impl Iterator<Item = &'s KnownKind> {
        self.kinds.iter().filter(move |known| &*known.kind == kind)
    }

    /// The names of the kinds of a group. Empty: it is no group of Kubernetes.
    pub(super) fn kinds_of(&self, group: &str) -> BTreeSet<&str> {
        self.kinds.iter().filter(|known| &*known.group == group).map(|known| &*known.kind).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_is_complete() {
        let schemas = schemas();
        assert_eq!(schemas.version, "1.37");
        assert!(
            schemas.kinds.len() > 80
                && schemas.kinds.iter().all(|known| schemas.definition(&known.definition).is_some())
        );
        assert_eq!(schemas.versions("apps", "Deployment").map(|known| &*known.version).collect::<Vec<_>>(), ["v1"]);
        assert_eq!(schemas.named("Ingress").map(|known| &*known.group).collect::<Vec<_>>(), ["networking.k8s.io"]);
        assert!(schemas.kinds_of("example.com").is_empty() && schemas.kinds_of("").contains("Pod"));
    }

    #[test]
    fn all_references_lead_to_definitions() {
        fn check(schema: &FieldSchema) {
            if let Some(reference) = &schema.reference {
                let name = reference.rsplit('/').next().unwrap();
                assert!(schemas().definition(name).is_some(), "{name}");
            }
            schema.properties.values().for_each(check);
            schema.items.iter().chain(&schema.additional_properties).for_each(|schema| check(schema));
        }
        schemas().definitions.values().for_each(check);
    }
}
