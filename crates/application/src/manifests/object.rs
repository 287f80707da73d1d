//! The objects in a text.

use std::fmt;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::git_id::GitId;
use model::read::yaml_diagnostic;
use model::source::FileId;
use model::yaml::{self, Node, NodeValue, Scalar, ScalarStyle, Span, YamlOptions};

/// The identity of an object: what a cluster stores once.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectId {
    /// The API group, without the version. Empty for the core group.
    pub group: Arc<str>,
    /// The kind.
    pub kind: Arc<str>,
    /// The namespace. Empty: that of the reconciler, or none.
    pub namespace: Arc<str>,
    /// The name.
    pub name: Arc<str>,
}

/// Writes `Deployment shop`, with the namespace if there is one.
impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.namespace {
            "" => write!(f, "{} {}", self.kind, self.name),
            namespace => write!(f, "{} {namespace}/{}", self.kind, self.name),
        }
    }
}

/// An object of a text.
#[derive(Clone, Debug)]
pub struct ManifestObject {
    /// Its identity.
    pub id: ObjectId,
    /// Its content.
    pub node: Node,
    /// Where it is written.
    pub place: ObjectPlace,
}

/// Where an object is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObjectPlace {
    /// The file that contains it.
    pub file: FileId,
    /// The document that contains it, from 0. Empty documents do not count.
    pub document: usize,
    /// Its place in the `items` of a list.
    pub item: Option<usize>,
}

/// The objects of a text, with its problems.
#[derive(Clone, Debug, Default)]
pub struct Parsed {
    /// The objects, in the order of the text.
    pub objects: Vec<ManifestObject>,
    /// Errors of the text.
    pub problems: Vec<Diagnostic>,
}

/// Reads the objects in a text.
pub fn parse(content: &[u8], file: FileId) -> Parsed {
    let reading = yaml::read_bytes(content, &YamlOptions::OBJECTS);
    let mut parsed = Parsed::default();
    parsed.problems.extend(reading.problems.into_iter().map(|problem| yaml_diagnostic(file, problem)));
    for (document, content) in reading.documents.into_iter().enumerate() {
        parsed.add_document(content.root, document, file);
    }
    parsed
}

/// The kind of a file that contains no objects, as an object.
const FILE_KIND: &str = "File";

impl ObjectId {
    /// Whether it is a file that contains no objects.
    pub(crate) fn is_file(&self) -> bool {
        self.group.is_empty() && &*self.kind == FILE_KIND
    }
}

/// Whether a file of this name contains objects.
pub(crate) fn is_manifest(name: &str) -> bool {
    crate::settings::is_yaml_name(name)
        || std::path::Path::new(name).extension().is_some_and(|extension| extension == "json")
}

/// The objects in a file of a target. A file that contains none is one by itself: its name, and its text.
pub(crate) fn contents(name: &str, content: &[u8], file: FileId) -> Vec<ManifestObject> {
    let parsed = parse(content, file);
    if crate::settings::is_yaml_name(name) && parsed.problems.is_empty() && !parsed.objects.is_empty() {
        return parsed.objects;
    }
    let id = ObjectId { group: "".into(), kind: FILE_KIND.into(), namespace: "".into(), name: name.into() };
    let text = std::str::from_utf8(content).map_or_else(|_| GitId::of_blob(content).to_string(), str::to_owned);
    let scalar = Scalar { text: text.into(), style: ScalarStyle::Literal, tag: None };
    let node = Node { span: Span::new(0, content.len()), value: NodeValue::Scalar(scalar) };
    vec![ManifestObject { id, node, place: ObjectPlace { file, document: 0, item: None } }]
}

impl Parsed {
    fn add_document(&mut self, root: Node, document: usize, file: FileId) {
        let is_list = text(&root, "kind").is_some_and(|kind| kind.ends_with("List"));
        match root.get("items").and_then(Node::as_sequence).filter(|_| is_list) {
            Some(items) => {
                for (item, node) in items.iter().enumerate() {
                    self.add(node.clone(), ObjectPlace { file, document, item: Some(item) });
                }
            }
            // A document with comments only, or `null`.
            None if root.as_scalar().is_some_and(|scalar| scalar.resolve() == yaml::Resolved::Null) => {}
            None => self.add(root, ObjectPlace { file, document, item: None }),
        }
    }

    fn add(&mut self, node: Node, place: ObjectPlace) {
        match id(&node) {
            Ok(id) => self.objects.push(ManifestObject { id, node, place }),
            Err(missing) => {
                let message = format!("this is no object of Kubernetes: it has no `{missing}`");
                let found =
                    Diagnostic::error(Code::InvalidManifest, message).at(Origin::Span(place.file, node.span), "");
                self.problems.push(found.help("each document needs `apiVersion`, `kind` and `metadata.name`"));
            }
        }
    }
}

fn text<'n>(node: &'n Node, key: &str) -> Option<&'n Arc<str>> {
    let scalar = node.get(key)?.as_scalar()?;
    matches!(scalar.resolve(), yaml::Resolved::Text(_)).then_some(&scalar.text).filter(|text| !text.is_empty())
}

/// The identity of an object, or the field that is missing.
fn id(node: &Node) -> Result<ObjectId, &'static str> {
    let api_version = text(node, "apiVersion").ok_or("apiVersion")?;
    let kind = text(node, "kind").ok_or("kind")?;
    let metadata = node.get("metadata").ok_or("metadata.name")?;
    let name = text(metadata, "name").ok_or("metadata.name")?;
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let namespace = text(metadata, "namespace").cloned().unwrap_or_default();
    Ok(ObjectId { group: group.into(), kind: Arc::clone(kind), namespace, name: Arc::clone(name) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(content: &str, objects: &[&str], problems: &[&str]) {
        let parsed = parse(content.as_bytes(), FileId::default());
        let found: Vec<_> = parsed.objects.iter().map(|object| object.id.to_string()).collect();
        let messages: Vec<_> = parsed.problems.iter().map(|problem| problem.message.as_str()).collect();
        assert_eq!((found, messages), (objects.iter().map(|text| (*text).to_owned()).collect(), problems.to_vec()));
    }

    #[test]
    fn objects_have_an_identity() {
        check("apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: a, namespace: b}\n", &["Deployment b/a"], &[]);
        check(
            "---\n# Source: x\n---\napiVersion: v1\nkind: Service\nmetadata: {name: a}\n---\nnull\n",
            &["Service a"],
            &[],
        );
    }

    #[test]
    fn items_of_lists_are_objects() {
        let list =
            "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Service, metadata: {name: a}}\n- {kind: x}\n";
        check(list, &["Service a"], &["this is no object of Kubernetes: it has no `apiVersion`"]);
    }

    #[test]
    fn other_documents_are_problems() {
        check("just text\n", &[], &["this is no object of Kubernetes: it has no `apiVersion`"]);
        check(
            "apiVersion: v1\nkind: Pod\nmetadata: {generateName: a}\n",
            &[],
            &["this is no object of Kubernetes: it has no `metadata.name`"],
        );
        check("", &[], &[]);
    }
}
