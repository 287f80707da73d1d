//! `ConfigMap`: values of the platform.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
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
