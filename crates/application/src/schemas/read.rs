//! Reads schemas from YAML and JSON.

use std::collections::BTreeMap;

use model::yaml::{Node, NodeValue, Resolved};
use serde::Deserialize;
use serde_json::{Map, Value};

use super::field_schema::{FieldSchema, FieldTypes};

/// The name of the definition of `metadata` in the schemas of Kubernetes.
const METADATA: &str = "#/$defs/io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta";

/// The schema of a kind in one version.
#[derive(Debug, Default)]
pub(super) struct KindSchema {
    /// The schema of the object.
    pub(super) root: FieldSchema,
    /// The definitions that references of this schema name. Other references lead to the definitions of Kubernetes.
    pub(super) definitions: BTreeMap<Box<str>, FieldSchema>,
    /// Whether an empty text counts as no value, as in Kubernetes' own kinds.
    pub(super) ignores_empty: bool,
}

/// The definitions of a JSON schema.
#[derive(Default, Deserialize)]
#[serde(default)]
struct OwnDefinitions {
    definitions: BTreeMap<Box<str>, FieldSchema>,
    #[serde(rename = "$defs")]
    defs: BTreeMap<Box<str>, FieldSchema>,
}

impl KindSchema {
    /// A definition of Kubernetes.
    pub(super) fn of_kubernetes(definition: &str) -> Self {
        let root = FieldSchema::referring(&format!("#/$defs/{definition}"));
        Self { root, definitions: BTreeMap::new(), ignores_empty: true }
    }

    /// A JSON schema.
    ///
    /// # Errors
    /// If a keyword has a wrong type.
    pub(super) fn of_json_schema(node: &Node) -> Result<Self, String> {
        let value = json(node);
        let root = FieldSchema::deserialize_value(&value)?;
        let OwnDefinitions { mut definitions, defs } =
            OwnDefinitions::deserialize(&value).map_err(|error| error.to_string())?;
        definitions.extend(defs);
        Ok(Self { root, definitions, ignores_empty: false })
    }

    /// The schema of a version of a custom resource definition. Fields that it does not name are unknown, unless `keeps_unknown`. None: it allows everything.
    ///
    /// # Errors
    /// If a keyword has a wrong type.
    pub(super) fn of_custom_resource(schema: Option<&Node>, keeps_unknown: bool) -> Result<Self, String> {
        let mut root = match schema {
            Some(node) => FieldSchema::deserialize_value(&json(node))?,
            None => FieldSchema { keeps_unknown: true, ..FieldSchema::default() },
        };
        root.keeps_unknown |= keeps_unknown;
        root.is_object = true;
        root.properties.remove("status");
        root.properties.insert("status".into(), FieldSchema::default());
        root.close(keeps_unknown);
        Ok(Self { root, definitions: BTreeMap::new(), ignores_empty: false })
    }
}

impl FieldSchema {
    fn deserialize_value(value: &Value) -> Result<Self, String> {
        <Self as Deserialize>::deserialize(value).map_err(|error| error.to_string())
    }

    /// Makes fields unknown that the schema of a custom resource does not name. Kubernetes drops or refuses them. The depth is that of the text, which is limited.
    fn close(&mut self, keeps_unknown: bool) {
        if self.is_object {
            let text = || FieldSchema::of(FieldTypes::TEXT);
            self.properties.entry("apiVersion".into()).or_insert_with(text);
            self.properties.entry("kind".into()).or_insert_with(text);
            // A definition can add rules for the name.
            let own = self.properties.remove("metadata");
            let metadata = FieldSchema { all_of: own.into_iter().collect(), ..FieldSchema::referring(METADATA) };
            self.properties.insert("metadata".into(), metadata);
        }
        for (name, schema) in &mut self.properties {
            if !(self.is_object && &**name == "metadata") {
                schema.close(keeps_unknown);
            }
        }
        self.items.iter_mut().for_each(|schema| schema.close(keeps_unknown));
        match &mut self.additional_properties {
            Some(schema) => schema.close(keeps_unknown),
            None if self.keeps_unknown || keeps_unknown => {}
            None if self.types == FieldTypes::MAP || !self.properties.is_empty() => {
                self.additional_properties = Some(Box::new(FieldSchema::never()));
            }
            None => {}
        }
    }
}

/// A node as JSON, without fields that are null. The depth of nodes is limited.
fn json(node: &Node) -> Value {
    match &node.value {
        NodeValue::Sequence(items) => items.iter().map(json).collect(),
        NodeValue::Mapping(entries) => {
            let entries = entries.iter().filter(|(_, value)| !is_null(value));
            let entry = |(key, value): &(Node, Node)| Some((key.as_scalar()?.text.to_string(), json(value)));
            Value::Object(entries.filter_map(entry).collect::<Map<_, _>>())
        }
        NodeValue::Scalar(scalar) => match scalar.resolve() {
            Resolved::Null => Value::Null,
            Resolved::Bool(bool) => bool.into(),
            Resolved::Int(int) => int.into(),
            Resolved::Uint(int) => int.into(),
            Resolved::Float(float) => whole(float).map_or_else(|| float.into(), Value::from),
            Resolved::Text(text) => text.into(),
        },
    }
}

/// A number without a fraction as an integer.
pub(super) fn whole(float: f64) -> Option<i64> {
    // The largest number below which each integer is exact.
    const EXACT_MAX: f64 = 9_007_199_254_740_992.0;
    (float.fract() == 0.0 && float.abs() <= EXACT_MAX).then_some(float as i64)
}

/// Whether a node is null.
pub(super) fn is_null(node: &Node) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == Resolved::Null)
}
