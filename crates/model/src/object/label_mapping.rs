//! `LabelMapping`: adds labels of the platform team to targets with certain labels of application teams.

use super::Spec;
use super::deployment_target::{WORKLOAD_LABEL, WORKSPACE_LABEL};
use crate::decode;
use crate::decode::Decoder;
use crate::diagnostic::Code;
use crate::kind::Kind;
use crate::label::Labels;
use crate::name::LabelMappingName;
use crate::shape::{Field, Shape, required};
use crate::yaml::Node;

/// The `spec` of a `LabelMapping`: a deployment target with all labels in `from` gets the labels in `add`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LabelMapping {
    /// The labels that a target must have. If there are none, the mapping applies to every target.
    pub from: Labels,
    /// The labels that the target gets, except those whose key it already has.
    pub add: Labels,
}

/// The path of the field with the labels that a target must have.
const FROM: [&str; 2] = ["spec", "from"];
/// The path of the field with the added labels.
pub const ADD: [&str; 2] = ["spec", "add"];

impl Spec for LabelMapping {
    type Name = LabelMappingName;
    const KIND: Kind = Kind::LabelMapping;
    const FIELDS: &'static [Field] = &[required(
        "spec",
        Shape::Fields(&[
            required(
                "from",
                Shape::TextMap,
                "The labels that a deployment target must have, all of them; `{}` is every target.",
            ),
            required(
                "add",
                Shape::PlainTextMap,
                "The labels that it gets, except those it has already; never `workload` or `workspace`.",
            ),
        ]),
        "The mapping.",
    )];
    const DOC: &'static str = "Adds labels of the platform to deployment targets that have certain labels of their teams, before policies and values are matched. \
        So applications keep their own labels. All mappings match the labels that targets have without any mapping, and no mapping overwrites a label.";
    const EXAMPLE: &'static str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: LabelMapping
metadata:
  name: storefront
spec:
  from:
    tier: storefront
  add:
    exposure: public
    size: large
";

    fn decode(root: &Node, decoder: &mut Decoder<'_>) -> Self {
        let labels = |keys: [&str; 2]| decode::labels(root, &keys);
        for (key, _) in decode::node(root, &ADD).and_then(Node::as_mapping).unwrap_or_default() {
            let reserved = key.as_scalar().filter(|scalar| matches!(&*scalar.text, WORKLOAD_LABEL | WORKSPACE_LABEL));
            if let Some(label) = reserved.map(|scalar| &scalar.text) {
                decoder.error(Code::ReservedLabel, key.span, format!("a label mapping can't add the label `{label}`"));
                decoder.help(
                    "`workload` and `workspace` say whose a target is: only its workload and registration do that",
                );
            }
        }
        decoder.check_label_rules(root, &FROM);
        decoder.check_label_rules(root, &ADD);
        Self { from: labels(FROM), add: labels(ADD) }
    }
}
