//! Where the values of a target come from.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::credential::{HIDDEN, likely};
use model::source::{Files, Positions};
use model::yaml::{Node, NodeValue, Resolved};
use serde::Serialize;
use utoipa::ToSchema;

use crate::values::{MergedValue, ValueContent, ValuePlace};

/// The values of a target, with their places.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ExplainedTarget {
    /// The environment.
    pub environment: String,
    /// The target.
    pub target: String,
    /// The values, by key.
    pub values: Vec<SourcedValue>,
}

/// A value, with its place and what it replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct SourcedValue {
    /// The key, with dots between its parts: `image.tag`.
    pub key: String,
    /// The value as YAML writes it. Values that look like credentials are hidden.
    pub value: String,
    /// The file and line that set it.
    pub place: String,
    /// The values that it replaced, the nearest one first.
    pub overrides: Vec<OverriddenValue>,
}

/// A value that another one replaced.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct OverriddenValue {
    /// The value.
    pub value: String,
    /// The file and line.
    pub place: String,
}

/// The values at and below a key, which is empty for all of them. Maps are listed by their entries. None: there is no such key.
pub fn explain(values: &BTreeMap<Arc<str>, MergedValue>, key: &str, files: &Files) -> Option<Vec<SourcedValue>> {
    let mut found = Vec::new();
    let explaining = Explaining { files };
    if key.is_empty() {
        values.iter().for_each(|(name, value)| explaining.add(name, value, &mut found));
        return Some(found);
    }
    explaining.add(key, find(values, key)?, &mut found);
    Some(found)
}

/// All keys, for advice about misspelled ones.
pub fn keys(values: &BTreeMap<Arc<str>, MergedValue>) -> Vec<String> {
    fn add(prefix: &str, values: &BTreeMap<Arc<str>, MergedValue>, keys: &mut Vec<String>) {
        for (name, value) in values {
            let key = if prefix.is_empty() { name.to_string() } else { format!("{prefix}.{name}") };
            if let ValueContent::Map(map) = &value.content {
                add(&key, map, keys);
            }
            keys.push(key);
        }
    }
    let mut keys = Vec::new();
    add("", values, &mut keys);
    keys
}

/// The value at a key. Keys that contain dots themselves are found too.
fn find<'v>(values: &'v BTreeMap<Arc<str>, MergedValue>, key: &str) -> Option<&'v MergedValue> {
    if let Some(value) = values.get(key) {
        return Some(value);
    }
    key.match_indices('.').find_map(|(at, _)| {
        let ValueContent::Map(map) = &values.get(key.get(..at)?)?.content else { return None };
        find(map, key.get(at + 1..)?)
    })
}

struct Explaining<'f> {
    files: &'f Files,
}

impl Explaining<'_> {
    fn add(&self, key: &str, value: &MergedValue, found: &mut Vec<SourcedValue>) {
        if let ValueContent::Map(map) = &value.content
            && !map.is_empty()
        {
            map.iter().for_each(|(name, value)| self.add(&format!("{key}.{name}"), value, found));
            return;
        }
        let overrides = value
            .overridden
            .iter()
            .map(|one| OverriddenValue { value: shown(key, &one.node), place: self.place(one.place) });
        found.push(SourcedValue {
            key: key.to_owned(),
            value: shown(key, &value.to_node()),
            place: self.place(value.place),
            overrides: overrides.collect(),
        });
    }

    fn place(&self, place: ValuePlace) -> String {
        let file = self.files.get(place.file);
        let line = Positions::new(&file.content).position(place.span.start as usize).line;
        format!("{}:{line}", file.place_name())
    }
}

/// A value on one line.
fn shown(key: &str, node: &Node) -> String {
    let name = key.rsplit('.').next().unwrap_or(key);
    match &node.value {
        NodeValue::Scalar(scalar) => match scalar.resolve() {
            Resolved::Text(text) if likely(name, &text).is_some() => HIDDEN.to_owned(),
            Resolved::Text(text) => serde_json::Value::from(text).to_string(),
            Resolved::Null => "null".to_owned(),
            _ => scalar.text.to_string(),
        },
        NodeValue::Sequence(items) => {
            format!("[{}]", items.iter().map(|item| shown(key, item)).collect::<Vec<_>>().join(", "))
        }
        NodeValue::Mapping(entries) => {
            let entry = |(name, value): &(Node, Node)| {
                let name = name.as_scalar().map_or("", |name| &name.text);
                format!("{name}: {}", shown(name, value))
            };
            format!("{{{}}}", entries.iter().map(entry).collect::<Vec<_>>().join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use model::diagnostic::Diagnostic;
    use model::source::Source;

    use super::*;
    use crate::files::FileSet;
    use crate::values::{TargetPath, ValuesTree, merge};

    fn check(key: &str, expected: Option<&[&str]>) {
        let texts = [
            ("values.yaml", "image:\n  tag: '1'\n  name: shop\nlist: [1, {a: b}]\nPASSWORD: hunter2\n"),
            ("eu/values.yaml", "image:\n  tag: 2\na.b: null\n"),
        ];
        let set = FileSet::of_texts(&Arc::new(Source::directory()), texts);
        let (mut files, mut problems) = (Files::default(), Vec::<Diagnostic>::new());
        let tree = ValuesTree::read(&set, &mut files, &mut problems);
        let values = merge(tree.layers(&TargetPath::new("eu")).unwrap());
        let found = explain(&values, key, &files);
        let line = |value: SourcedValue| {
            let overrides = value.overrides.iter().map(|one| format!(" over {} {}", one.value, one.place));
            format!("{}={} {}{}", value.key, value.value, value.place, overrides.collect::<String>())
        };
        let found = found.map(|found| found.into_iter().map(line).collect::<Vec<_>>());
        assert_eq!(found, expected.map(|lines| lines.iter().map(|line| (*line).to_owned()).collect()), "{key}");
    }

    #[test]
    fn values_have_their_lines_and_what_they_replaced() {
        check("image.tag", Some(&["image.tag=2 eu/values.yaml:2 over \"1\" values.yaml:2"]));
        check(
            "image",
            Some(&["image.name=\"shop\" values.yaml:3", "image.tag=2 eu/values.yaml:2 over \"1\" values.yaml:2"]),
        );
        check("a.b", Some(&["a.b=null eu/values.yaml:3"]));
        check("list", Some(&["list=[1, {a: \"b\"}] values.yaml:4"]));
        check("image.tags", None);
    }

    #[test]
    fn values_that_look_like_secrets_are_hidden() {
        check("PASSWORD", Some(&["PASSWORD=… values.yaml:5"]));
    }
}
