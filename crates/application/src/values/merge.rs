//! Merges values: maps deep, everything else as a whole. Each value knows where it is written, and what it replaced.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::source::FileId;
use model::yaml::{Node, NodeValue, Resolved, Scalar, ScalarStyle, Span};

use crate::variables::{PACKAGE_DIGEST, UnknownVariable, Variables, is_template};

/// A file with values.
#[derive(Clone, Debug)]
pub struct Layer {
    /// The file.
    pub file: FileId,
    /// Its mapping. None: the file is empty.
    pub root: Option<Node>,
}

/// Where a value is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValuePlace {
    /// The file.
    pub file: FileId,
    /// The value in it.
    pub span: Span,
}

/// A value after the merge.
#[derive(Clone, Debug, PartialEq)]
pub struct MergedValue {
    /// Where it is written. For a map, the last file that writes a part of it.
    pub place: ValuePlace,
    /// The value.
    pub content: ValueContent,
    /// The values that it replaced, the nearest one first.
    pub overridden: Vec<Overridden>,
}

/// A value that another one replaced.
#[derive(Clone, Debug, PartialEq)]
pub struct Overridden {
    /// Where it is written.
    pub place: ValuePlace,
    /// The value.
    pub node: Node,
}

/// The content of a value.
#[derive(Clone, Debug, PartialEq)]
pub enum ValueContent {
    /// A text, number, boolean, or null, which removes what a chart has there.
    Scalar(Scalar),
    /// A list, which replaces another one as a whole.
    List(Vec<MergedValue>),
    /// A map.
    Map(BTreeMap<Arc<str>, MergedValue>),
}

/// Merges files with values. Later ones win. Keys are texts, as in Helm.
pub fn merge<'a>(layers: impl IntoIterator<Item = &'a Layer>) -> BTreeMap<Arc<str>, MergedValue> {
    let mut merged = BTreeMap::new();
    for layer in layers {
        if let Some(entries) = layer.root.as_ref().and_then(Node::as_mapping) {
            merge_entries(&mut merged, entries, layer.file);
        }
    }
    merged
}

fn merge_entries(into: &mut BTreeMap<Arc<str>, MergedValue>, entries: &[(Node, Node)], file: FileId) {
    for (key, node) in entries {
        let Some(key) = key.as_scalar() else { continue };
        match into.get_mut(&key.text) {
            Some(existing) => existing.replace(node, file),
            None => {
                into.insert(Arc::clone(&key.text), MergedValue::new(node, file));
            }
        }
    }
}

impl MergedValue {
    fn new(node: &Node, file: FileId) -> Self {
        let content = match &node.value {
            NodeValue::Scalar(scalar) => ValueContent::Scalar(scalar.clone()),
            NodeValue::Sequence(items) => ValueContent::List(items.iter().map(|item| Self::new(item, file)).collect()),
            NodeValue::Mapping(entries) => {
                let mut map = BTreeMap::new();
                merge_entries(&mut map, entries, file);
                ValueContent::Map(map)
            }
        };
        Self { place: ValuePlace { file, span: node.span }, content, overridden: Vec::new() }
    }

    /// Merges a later value into this one.
    fn replace(&mut self, node: &Node, file: FileId) {
        if let (ValueContent::Map(map), Some(entries)) = (&mut self.content, node.as_mapping()) {
            merge_entries(map, entries, file);
            self.place = ValuePlace { file, span: node.span };
            return;
        }
        let mut new = Self::new(node, file);
        new.overridden = std::mem::take(&mut self.overridden);
        new.overridden.insert(0, Overridden { place: self.place, node: self.to_node() });
        *self = new;
    }

    /// The value as a node.
    pub(crate) fn to_node(&self) -> Node {
        let value = match &self.content {
            ValueContent::Scalar(scalar) => NodeValue::Scalar(scalar.clone()),
            ValueContent::List(items) => NodeValue::Sequence(items.iter().map(Self::to_node).collect()),
            ValueContent::Map(map) => {
                let key = |text: &Arc<str>| Node {
                    span: self.place.span,
                    value: NodeValue::Scalar(Scalar {
                        text: Arc::clone(text),
                        style: ScalarStyle::DoubleQuoted,
                        tag: None,
                    }),
                };
                NodeValue::Mapping(map.iter().map(|(name, value)| (key(name), value.to_node())).collect())
            }
        };
        Node { span: self.place.span, value }
    }

    /// Whether the value is null.
    pub fn is_null(&self) -> bool {
        matches!(&self.content, ValueContent::Scalar(scalar) if scalar.resolve() == Resolved::Null)
    }

    /// Replaces variables in all texts below, except for those of the file `literal`. A text with a variable stays a text, also if its value looks like a number.
    ///
    /// # Errors
    /// The places with variables that are not known.
    pub(crate) fn substitute(
        &mut self,
        variables: &Variables,
        literal: Option<FileId>,
        problems: &mut Vec<Diagnostic>,
    ) {
        match &mut self.content {
            ValueContent::Scalar(_) if literal == Some(self.place.file) => {}
            ValueContent::Scalar(scalar) if is_template(&scalar.text) => match variables.substitute(&scalar.text) {
                Ok(text) => *scalar = Scalar { text: text.into(), style: ScalarStyle::DoubleQuoted, tag: None },
                Err(unknown) => {
                    let origin = Origin::Span(self.place.file, self.place.span);
                    problems.extend(
                        unknown.into_iter().map(|one| unknown_variable(&one, variables).at(origin.clone(), "")),
                    );
                }
            },
            ValueContent::Scalar(_) => {}
            ValueContent::List(items) => {
                items.iter_mut().for_each(|item| item.substitute(variables, literal, problems));
            }
            ValueContent::Map(map) => {
                map.values_mut().for_each(|value| value.substitute(variables, literal, problems));
            }
        }
    }
}

/// The error for a variable that is not known, without a place.
pub(crate) fn unknown_variable(unknown: &UnknownVariable, variables: &Variables) -> Diagnostic {
    let name = &unknown.name;
    let found = Diagnostic::error(Code::UnknownVariable, format!("there is no variable `{name}`"));
    if name == PACKAGE_DIGEST {
        return found.help("name the package of this version: --package FILE, or --package sha256:DIGEST");
    }
    let nearest = model::similar::nearest(name, variables.names());
    let known = nearest.map(|nearest| format!("did you mean `${{{nearest}}}`?"));
    let add = format!(
        "add it to `[variables]` of {}, or write `$${{{name}}}` for the text itself",
        crate::settings::FILE_NAME
    );
    found.help(known.unwrap_or(add))
}

#[cfg(test)]
mod tests {
    use model::yaml::{YamlOptions, read};

    use super::super::json;
    use super::*;

    fn layers(texts: &[&str]) -> Vec<Layer> {
        let root = |text: &&str| read(text, &YamlOptions::OBJECTS).documents.into_iter().next().map(|one| one.root);
        texts.iter().map(|text| Layer { file: FileId::default(), root: root(text) }).collect()
    }

    fn check(texts: &[&str], expected: &str) {
        assert_eq!(json(&merge(&layers(texts))).unwrap().to_string(), expected);
    }

    #[test]
    fn maps_are_merged_deep_and_lists_replaced() {
        check(&["a: {b: 1, c: 2}", "a: {c: 3, d: 4}"], r#"{"a":{"b":1,"c":3,"d":4}}"#);
        check(&["a: [1, 2]", "a: [3]"], r#"{"a":[3]}"#);
        check(&["a: {b: 1}", "a: 2"], r#"{"a":2}"#);
        check(&["a: 2", "a: {b: 1}"], r#"{"a":{"b":1}}"#);
    }

    #[test]
    fn null_removes_and_stays_for_the_chart() {
        check(&["a: {b: 1, c: 2}", "a: {b: null}"], r#"{"a":{"b":null,"c":2}}"#);
        check(&["a: {b: 1}", "a: null", "a: {c: 1}"], r#"{"a":{"c":1}}"#);
        check(&["", "a: 1"], r#"{"a":1}"#);
    }

    #[test]
    fn anchors_are_data() {
        check(&["x: &x {a: 1}\ny: *x", "y: {b: 2}"], r#"{"x":{"a":1},"y":{"a":1,"b":2}}"#);
    }

    #[test]
    fn each_value_knows_what_it_replaced() {
        let merged = merge(&layers(&["a: 1", "a: 2", "a: 3"]));
        let replaced: Vec<_> =
            merged["a"].overridden.iter().map(|one| one.node.as_scalar().unwrap().text.to_string()).collect();
        assert_eq!(replaced, ["2", "1"]);
    }

    #[test]
    fn variables_stay_texts() {
        let variables: Variables = [("VERSION".to_owned(), "1.10".to_owned())].into_iter().collect();
        let mut merged = merge(&layers(&["tag: ${VERSION}\nn: [{m: 'v${VERSION}'}]\nbad: ${VERSON}"]));
        let mut problems = Vec::new();
        merged.values_mut().for_each(|value| value.substitute(&variables, None, &mut problems));
        assert_eq!(json(&merged).unwrap().to_string(), r#"{"bad":"${VERSON}","n":[{"m":"v1.10"}],"tag":"1.10"}"#);
        assert_eq!(problems.len(), 1);
        assert_eq!(problems[0].help, ["did you mean `${VERSION}`?"]);
    }
}
