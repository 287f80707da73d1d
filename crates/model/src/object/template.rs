//! `Template`: generates manifests.

use std::sync::Arc;

use super::Spec;
use crate::decode;
use crate::decode::Decoder;
use crate::kind::Kind;
use crate::name::TemplateName;
use crate::shape::{Field, Shape, optional, required};
use crate::yaml::Node;

/// The `spec` of a `Template`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Template {
    /// The output: `reconciler`, `namespace` or `config`.
    pub kind: Arc<str>,
    /// The texts of Go templates. Each is rendered separately.
    pub manifests: Vec<Arc<str>>,
    /// The format of a configuration template's output. `sh` writes `platform-config.sh`.
    pub content_type: Arc<str>,
}

/// The annotation that turns off the repeated rendering of `{{` in output: `"true"`.
pub const LITERAL: &str = "template.kalypso.io/literal";
/// The annotation that turns off the checks of the output's structure and of its YAML syntax: `"true"`.
pub const UNCHECKED: &str = "template.kalypso.io/unchecked";
/// The annotation with the file extension of a configuration template's output.
pub const EXTENSION: &str = "template.kalypso.io/extension";
/// The annotation that says what happens if a template looks up a key that a map does not have, as Go's option `missingkey`: `default` or `error`.
pub const MISSING_KEY: &str = "template.kalypso.io/missingkey";
/// The path of the field with the texts.
pub const MANIFESTS: [&str; 2] = ["spec", "manifests"];

impl Spec for Template {
    type Name = TemplateName;
    const KIND: Kind = Kind::Template;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required("type", Shape::OneOf(&["reconciler", "namespace", "config"]), "The output of the template."),
            optional("contentType", Shape::Text, "What a configuration template makes; `sh` makes a shell file."),
            required("manifests", Shape::List(&Shape::Text), "Go templates, each of which makes one manifest."),
        ]),
        "The template.",
    )];
    const DOC: &'static str = "Go templates (with sprig's functions) that make the manifests of an assignment for one kind of reconciler, namespace or configuration.";
    const EXAMPLE: &'static str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata:
  name: configmap
spec:
  type: config
  manifests:
    - |
      apiVersion: v1
      kind: ConfigMap
      metadata:
        name: platform-config
        namespace: {{ .Namespace }}
      data:
      {{ stringify .ConfigData | indent 2 }}
";

    fn decode(root: &Node, _decoder: &mut Decoder<'_>) -> Self {
        Self {
            kind: decode::text(root, &["spec", "type"]),
            manifests: decode::texts(root, &MANIFESTS),
            content_type: decode::text(root, &["spec", "contentType"]),
        }
    }
}
