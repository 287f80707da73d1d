//! The values of the platform: those that manifests refer to, and those that the workload asks for in its schemas.
//!
//! The platform writes its values into a `ConfigMap` beside the manifests of each assignment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::object::workload::WorkloadTarget;
use model::object::{Object, Workload};
use model::yaml::{Node, Span};

use crate::manifests::{ManifestObject, ObjectPlace};

/// How the manifests of a target use the `ConfigMap` of the platform.
#[derive(Debug, Default)]
struct UsedValues {
    /// The keys that they name, with the first place of each.
    keys: BTreeMap<Arc<str>, (ObjectPlace, Span)>,
    /// Whether they use the map as a whole: all of its keys.
    is_whole: bool,
}

/// Compares the values that the manifests of a target refer to with those that its schemas name.
pub(crate) fn check(
    objects: &[ManifestObject],
    config_map: &str,
    (workload, target): (&Object<Workload>, Option<&WorkloadTarget>),
) -> Vec<Diagnostic> {
    let mut used = UsedValues::default();
    objects.iter().for_each(|object| used.add(&object.node, config_map, object.place));
    let schemas =
        workload.spec.config_schemas.iter().chain(target.into_iter().flat_map(|target| &target.spec.config_schemas));
    let Some(asked) = schemas.map(|schema| properties(schema)).collect::<Option<Vec<_>>>() else { return Vec::new() };
    let asked: BTreeSet<_> = asked.into_iter().flatten().collect();
    let unknown = used.keys.iter().filter(|(key, _)| !asked.contains(&***key));
    let unknown =
        unknown.map(|(key, (place, span))| not_asked(key, config_map).at(Origin::Span(place.file, *span), ""));
    let unused = asked.iter().filter(|key| !used.is_whole && !used.keys.contains_key(key.as_str()));
    let schemas = Origin::At(workload.address, FieldPath::from(["spec", "configSchemas"]));
    unknown.chain(unused.map(|key| not_used(key, config_map).at(schemas.clone(), ""))).collect()
}

/// The names of the values in a JSON schema. None if it is not JSON, which another check reports.
fn properties(schema: &str) -> Option<Vec<String>> {
    let schema: serde_json::Value = serde_json::from_str(schema).ok()?;
    let parts = schema.get("allOf").and_then(|parts| parts.as_array()).into_iter().flatten();
    let all = std::iter::once(&schema).chain(parts).filter_map(|part| part.get("properties")?.as_object());
    Some(all.flat_map(|properties| properties.keys().cloned()).collect())
}

impl UsedValues {
    fn add(&mut self, node: &Node, config_map: &str, place: ObjectPlace) {
        let is_named =
            |node: &Node| node.get("name").and_then(Node::as_scalar).is_some_and(|name| &*name.text == config_map);
        for item in node.as_sequence().unwrap_or_default() {
            self.add(item, config_map, place);
        }
        for (key, value) in node.as_mapping().unwrap_or_default() {
            let key = key.as_scalar().map_or("", |key| &key.text);
            match key {
                // All keys become variables.
                "configMapRef" if is_named(value) => self.is_whole = true,
                "configMapKeyRef" if is_named(value) => self.add_key(value, place),
                // A volume with all keys as files, or with some of them.
                "configMap" if is_named(value) => match value.get("items").and_then(Node::as_sequence) {
                    Some(items) => items.iter().for_each(|item| self.add_key(item, place)),
                    None => self.is_whole = true,
                },
                _ => self.add(value, config_map, place),
            }
        }
    }

    fn add_key(&mut self, node: &Node, place: ObjectPlace) {
        let Some((key, span)) = node.get("key").and_then(|key| Some((Arc::clone(&key.as_scalar()?.text), key.span)))
        else {
            return;
        };
        self.keys.entry(key).or_insert((place, span));
    }
}

fn not_asked(key: &str, config_map: &str) -> Diagnostic {
    let message = format!(
        "the manifests take `{key}` from the values of the platform, and no schema of the workload asks for it"
    );
    Diagnostic::warning(Code::PlatformValues, message)
        .note(format!("the platform gives its values in ConfigMap `{config_map}`"))
        .help("add it to the `properties` of a schema, so that `kalypso check` of the platform sees that it is missing or wrong")
}

fn not_used(key: &str, config_map: &str) -> Diagnostic {
    let message =
        format!("the workload asks for value `{key}`, and no manifest takes it from ConfigMap `{config_map}`");
    Diagnostic::warning(Code::PlatformValues, message)
        .help(format!("refer to it with `configMapKeyRef`, take all values with `envFrom`, or remove it from the schema; `config-map` in `[platform]` names another ConfigMap than `{config_map}`"))
}

#[cfg(test)]
mod tests {
    use model::kind::Kind;
    use model::object::AnyObject;
    use model::source::FileId;

    use super::*;
    use crate::manifests::parse;

    const WORKLOAD: &str = "\
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: shop}
spec:
  configSchemas: ['{\"properties\": {\"REGION\": {}}, \"allOf\": [{\"properties\": {\"SIZE\": {}}}]}']
  deploymentTargets:
  - {name: eu, environment: dev, manifests: {path: ./eu}, configSchemas: ['{\"properties\": {\"TAX\": {}}}']}
";

    fn messages(pod: &str) -> Vec<String> {
        let read = model::read::read_kind(FileId::default(), WORKLOAD.as_bytes(), Kind::Workload).objects;
        let Some(AnyObject::Workload(workload)) = read.first() else { panic!("no workload") };
        let text = format!("apiVersion: v1\nkind: Pod\nmetadata: {{name: a}}\nspec: {pod}\n");
        let objects = parse(text.as_bytes(), FileId::default()).objects;
        let found = check(&objects, "platform-config", (workload, workload.spec.deployment_targets.first()));
        found.into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn a_whole_config_map_uses_all_values() {
        assert!(messages("{containers: [{envFrom: [{configMapRef: {name: platform-config}}]}]}").is_empty());
        assert!(messages("{volumes: [{name: v, configMap: {name: platform-config}}]}").is_empty());
        assert_eq!(messages("{volumes: [{name: v, configMap: {name: other}}]}").len(), 3);
    }

    #[test]
    fn keys_are_compared_with_the_schemas() {
        let key =
            |key: &str| format!("{{name: E, valueFrom: {{configMapKeyRef: {{name: platform-config, key: {key}}}}}}}");
        let pod = format!("{{containers: [{{env: [{}, {}, {}]}}]}}", key("REGION"), key("REGIO"), key("TAX"));
        let expected = [
            "the manifests take `REGIO` from the values of the platform, and no schema of the workload asks for it",
            "the workload asks for value `SIZE`, and no manifest takes it from ConfigMap `platform-config`",
        ];
        assert_eq!(messages(&pod), expected);
    }
}
