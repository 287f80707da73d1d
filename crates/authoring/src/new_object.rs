//! Writes new objects as YAML.

use std::sync::Arc;

use model::kind::Kind;
use model::yaml::Node;

use crate::emit;
use crate::style::Style;
use crate::value::{MappingEntry, NewValue};

/// The key under which objects have their names, labels and annotations.
const METADATA: &str = "metadata";

/// An object to write.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewObject {
    /// The kind.
    pub kind: Kind,
    /// The name.
    pub name: Arc<str>,
    /// The labels, in the order in which they are written.
    pub labels: Vec<(Arc<str>, Arc<str>)>,
    /// The annotations, in the order in which they are written.
    pub annotations: Vec<(Arc<str>, Arc<str>)>,
    /// The fields beside `apiVersion`, `kind` and `metadata`, such as `spec` or `data`.
    pub fields: Vec<MappingEntry>,
    /// The lines of the comment above the object, without `#`.
    pub comment: Vec<Arc<str>>,
}

impl NewObject {
    /// An object with a `spec`, without labels and annotations.
    pub fn new(kind: Kind, name: impl Into<Arc<str>>, spec: NewValue) -> Self {
        let (labels, annotations, comment) = Default::default();
        Self { kind, name: name.into(), labels, annotations, fields: vec![("spec".into(), spec)], comment }
    }

    /// Sets the labels.
    #[must_use]
    pub fn labelled(mut self, labels: impl IntoIterator<Item = (Arc<str>, Arc<str>)>) -> Self {
        self.labels = labels.into_iter().collect();
        self
    }

    /// Sets the comment above the object.
    #[must_use]
    pub fn commented(mut self, comment: &str) -> Self {
        self.comment = comment.lines().map(Arc::from).collect();
        self
    }

    /// The object as a YAML document, without `---`, with a line end after each line. Fields that `sibling` also has are written in its order.
    pub fn write(&self, style: &Style, sibling: Option<&Node>) -> String {
        let entries = ordered(self.entries(), sibling);
        let comment = self.comment.iter().map(|line| format!("# {line}").trim_end().to_owned() + "\n");
        let text = comment.collect::<String>() + &emit::entries(&entries, 0, style) + "\n";
        style.line_end.applied(text)
    }

    fn entries(&self) -> Vec<MappingEntry> {
        let texts = |pairs: &[(Arc<str>, Arc<str>)]| NewValue::texts(pairs.iter().map(|(key, value)| (key, value)));
        let mut metadata = vec![("name".into(), NewValue::Text(Arc::clone(&self.name)))];
        for (key, pairs) in [("labels", &self.labels), ("annotations", &self.annotations)] {
            if !pairs.is_empty() {
                metadata.push((key.into(), texts(pairs)));
            }
        }
        let header = [
            ("apiVersion".into(), NewValue::text(self.kind.api_version())),
            ("kind".into(), NewValue::text(self.kind.name())),
            (METADATA.into(), NewValue::Mapping(metadata)),
        ];
        header.into_iter().chain(self.fields.iter().cloned()).collect()
    }
}

/// Several objects as one text, with `---` between them.
pub fn write_all(objects: &[NewObject], style: &Style, sibling: Option<&Node>) -> String {
    let separator = format!("---{}", style.line_end.as_str());
    objects.iter().map(|object| object.write(style, sibling)).collect::<Vec<_>>().join(&separator)
}

/// The entries in the order that the same keys have in the sibling. Other entries stay after the one before them.
fn ordered(entries: Vec<MappingEntry>, sibling: Option<&Node>) -> Vec<MappingEntry> {
    let known = sibling.and_then(Node::as_mapping).unwrap_or_default();
    let position =
        |key: &str| known.iter().position(|(known, _)| known.as_scalar().is_some_and(|known| &*known.text == key));
    let mut places = Vec::with_capacity(entries.len());
    let mut last = 0;
    for (key, value) in entries {
        last = position(&key).unwrap_or(last);
        let below = sibling.and_then(|sibling| sibling.get(&key));
        let value = match value {
            NewValue::Mapping(entries) => NewValue::Mapping(ordered(entries, below)),
            value => value,
        };
        places.push((last, (key, value)));
    }
    places.sort_by_key(|(place, _)| *place);
    places.into_iter().map(|(_, entry)| entry).collect()
}

#[cfg(test)]
mod tests {
    use model::yaml::{YamlOptions, read};

    use super::*;

    fn cluster() -> NewObject {
        let spec = NewValue::mapping([("clusterType", NewValue::text("store"))]);
        let labels = [("region", "west-us"), ("line", "7")].map(|(key, value)| (key.into(), value.into()));
        NewObject::new(Kind::Cluster, "store-042", spec).labelled(labels)
    }

    fn check(object: &NewObject, sibling: &str, expected: &str) {
        let reading = read(sibling, &YamlOptions::OBJECTS);
        let sibling_root = reading.documents.first().map(|document| &document.root);
        assert_eq!(object.write(&Style::from_text(sibling), sibling_root), expected);
    }

    #[test]
    fn a_new_object_is_written_like_the_examples() {
        let expected = "# The test store.\napiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata:\n  name: store-042\n  labels:\n    region: west-us\n    line: \"7\"\nspec:\n  clusterType: store\n";
        check(&cluster().commented("The test store."), "", expected);
    }

    #[test]
    fn a_new_object_has_the_style_of_its_sibling() {
        let sibling = "kind: Cluster\r\napiVersion: fleet.kalypso.io/v1alpha1\r\nmetadata:\r\n    labels:\r\n        line: '1'\r\n        region: a\r\n    name: store-001\r\nspec:\r\n    clusterType: store\r\n";
        let expected = "kind: Cluster\r\napiVersion: fleet.kalypso.io/v1alpha1\r\nmetadata:\r\n    labels:\r\n        line: '7'\r\n        region: west-us\r\n    name: store-042\r\nspec:\r\n    clusterType: store\r\n";
        check(&cluster(), sibling, expected);
    }

    #[test]
    fn several_objects_are_documents_of_one_text() {
        let text = write_all(&[cluster(), cluster()], &Style::default(), None);
        assert_eq!(read(&text, &YamlOptions::OBJECTS).documents.len(), 2);
    }
}
