//! `ConfigMap`: values of the platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::label::Labels;
use crate::name::ConfigMapName;
use crate::shape::{Field, Shape, optional};
use crate::yaml::Node;

/// The `spec` of a `ConfigMap`: its `data`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct ConfigMap {
    /// The values: texts, which may contain YAML or JSON.
    pub data: BTreeMap<Arc<str>, Arc<str>>,
}

/// The label that makes a `ConfigMap` take part in composition, if its value is `true`.
pub const PLATFORM_CONFIG: &str = "platform-config";
/// The annotation with the priority, an integer. Values of a higher priority override those of a lower one.
pub const PRIORITY: &str = "config.kalypso.io/priority";
/// The annotation that sets how the values are merged: `deep`, `replace` or `append`.
pub const MERGE: &str = "config.kalypso.io/merge";
/// The start of the names of maps whose keys contain labels, as Azure App Configuration writes them.
pub const AZURE_PREFIX: &str = "azure-app-config";

/// Labels that are no conditions: assignments need not have them.
pub const IGNORED_LABELS: [&str; 3] =
    [PLATFORM_CONFIG, "kustomize.toolkit.fluxcd.io/name", "kustomize.toolkit.fluxcd.io/namespace"];

/// A key of an `azure-app-config` map: `label.value.label.value.KEY`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AzureKey<'k> {
    /// The labels that an assignment must have. If a label occurs twice, the last value counts.
    pub labels: Labels,
    /// The key in the composed data.
    pub key: &'k str,
    /// A label without a value. It is ignored.
    pub odd: Option<&'k str>,
}

impl<'k> AzureKey<'k> {
    /// Reads a key of `data`.
    pub fn parse(data_key: &'k str) -> Self {
        let mut parts: Vec<&str> = data_key.split('.').collect();
        let key = parts.pop().unwrap_or_default();
        let pairs = parts.chunks_exact(2);
        let odd = pairs.remainder().first().copied();
        Self { labels: pairs.map(|pair| (pair[0], pair[1])).collect(), key, odd }
    }
}

impl Spec for ConfigMap {
    type Name = ConfigMapName;
    const KIND: Kind = Kind::ConfigMap;
    const FIELDS: &'static [Field] = &[
        optional("data", Shape::TextMap, "The values. A text that is a YAML or JSON mapping or list is read as such."),
        optional("binaryData", Shape::TextMap, "Not used."),
        optional("immutable", Shape::Any, "Not used."),
    ];
    const DOC: &'static str = "Values of the platform for all assignments that its labels match. It takes part if it has the label `platform-config: \"true\"`.";
    const EXAMPLE: &'static str = "\
apiVersion: v1
kind: ConfigMap
metadata:
  name: west-us
  labels:
    platform-config: \"true\"
    region: west-us
data:
  REGION: West US
  DATABASE_URL: mysql://west:8806/mysql2
";

    fn decode(root: &Node, _decoder: &mut Decoder<'_>) -> Self {
        Self { data: decode::text_map(root, &["data"]) }
    }
}
