//! The files of a branch with the objects in them.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::git_id::GitId;
use model::kind::Kind;
use model::similar;
use model::source::{File, FileId, Files, Source};
use model::yaml::{self, Node, YamlOptions};

use crate::edit::{EditError, ObjectPosition};

/// The files of a branch, or of an application's folder.
pub struct BranchFiles<'b> {
    contents: &'b BTreeMap<Arc<str>, Arc<[u8]>>,
    folder: &'b str,
    source: Arc<Source>,
    objects: Vec<FoundObject>,
}

/// An object in a file.
#[derive(Clone, Debug)]
pub struct FoundObject {
    /// The path of the file.
    pub path: Arc<str>,
    /// The position in the file.
    pub at: ObjectPosition,
    /// The kind.
    pub kind: Kind,
    /// The name. Empty if the object has none.
    pub name: Arc<str>,
    /// The object as it is written.
    pub root: Node,
}

impl FoundObject {
    /// A scalar of the object. None if there is no such field, or if it is a list or a mapping.
    pub fn text(&self, keys: &[&str]) -> Option<&Arc<str>> {
        let node = keys.iter().try_fold(&self.root, |node, key| node.get(key))?;
        node.as_scalar().map(|scalar| &scalar.text)
    }

    /// The labels.
    pub fn labels(&self) -> BTreeMap<Arc<str>, Arc<str>> {
        let labels = self.root.get("metadata").and_then(|metadata| metadata.get("labels"));
        let entries = labels.and_then(Node::as_mapping).unwrap_or_default();
        let texts = entries.iter().filter_map(|(key, value)| Some((key.as_scalar()?, value.as_scalar()?)));
        texts.map(|(key, value)| (Arc::clone(&key.text), Arc::clone(&value.text))).collect()
    }
}

impl<'b> BranchFiles<'b> {
    /// Reads the objects in files. `folder` is the folder of new files, relative to the root of the branch; it may be empty. Files with errors contribute
    /// the documents that can be read.
    pub fn new(source: Source, contents: &'b BTreeMap<Arc<str>, Arc<[u8]>>, folder: &'b str) -> Self {
        let objects = contents.iter().flat_map(|(path, content)| objects(path, content)).collect();
        Self { contents, folder, source: Arc::new(source), objects }
    }

    /// The same branch with other contents.
    pub(crate) fn with_contents<'c>(&self, contents: &'c BTreeMap<Arc<str>, Arc<[u8]>>) -> BranchFiles<'c>
    where
        'b: 'c,
    {
        let objects = contents.iter().flat_map(|(path, content)| objects(path, content)).collect();
        BranchFiles { contents, folder: self.folder, source: Arc::clone(&self.source), objects }
    }

    /// The contents of all files.
    pub(crate) fn contents(&self) -> &'b BTreeMap<Arc<str>, Arc<[u8]>> {
        self.contents
    }

    /// The content of a file.
    pub fn content(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.contents.get(path)
    }

    /// The folder of new files. It may be empty.
    pub fn folder(&self) -> &str {
        self.folder
    }

    /// All objects, in the order of paths and positions.
    pub fn objects(&self) -> &[FoundObject] {
        &self.objects
    }

    /// The objects of a kind.
    pub fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &FoundObject> + Clone {
        self.objects.iter().filter(move |object| object.kind == kind)
    }

    /// The object with this kind and name.
    pub fn find(&self, kind: Kind, name: &str) -> Option<&FoundObject> {
        self.of_kind(kind).find(|object| *object.name == *name)
    }

    /// The text of a file. Empty if it is not UTF-8.
    pub(crate) fn text(&self, path: &str) -> &'b str {
        self.contents.get(path).and_then(|content| std::str::from_utf8(content).ok()).unwrap_or_default()
    }

    /// The files with the places of diagnostics.
    pub(crate) fn places(&self) -> Places {
        Places { source: Arc::clone(&self.source), files: Files::default(), known: BTreeMap::new() }
    }

    /// The problem if there is no object with this name.
    pub(crate) fn missing(&self, kind: Kind, name: &str) -> Diagnostic {
        let names = || self.of_kind(kind).map(|object| &*object.name);
        let place = if self.source.label.is_empty() { String::new() } else { format!(" in {}", self.source) };
        let diagnostic = Diagnostic::error(Code::ObjectNotInBranch, format!("there is no {kind} `{name}`{place}"));
        match similar::nearest(name, names()) {
            Some(nearest) => diagnostic.help(format!("did you mean `{nearest}`?")),
            None => match names().take(NAMES_MAX).map(|name| format!("`{name}`")).collect::<Vec<_>>() {
                names if names.is_empty() => diagnostic,
                names => diagnostic.help(format!("there are {}", names.join(", "))),
            },
        }
    }

    /// The problem of an edit that was refused.
    pub(crate) fn not_editable(&self, path: &str, error: &EditError) -> EditRefusal {
        let mut places = self.places();
        let message = format!("`{path}` can't be edited: {error}");
        let file = places.file(self, path);
        let origin = error.at.map_or(Origin::File(file), |span| Origin::Span(file, span));
        places.refusal(vec![Diagnostic::error(Code::NotEditable, message).at(origin, "")])
    }
}

/// How many names a message lists.
const NAMES_MAX: usize = 5;

fn objects(path: &Arc<str>, content: &[u8]) -> Vec<FoundObject> {
    let mut found = Vec::new();
    for (document, read) in yaml::read_bytes(content, &YamlOptions::OBJECTS).documents.into_iter().enumerate() {
        let root = read.root;
        match root.get("items").and_then(Node::as_sequence) {
            Some(items) if text_of(&root, "kind") == "List" => {
                let position = |item| ObjectPosition { document, item: Some(item) };
                let items = items.iter().enumerate();
                found.extend(items.filter_map(|(item, root)| object(path, position(item), root.clone())));
            }
            _ => found.extend(object(path, ObjectPosition { document, item: None }, root)),
        }
    }
    found
}

fn object(path: &Arc<str>, at: ObjectPosition, root: Node) -> Option<FoundObject> {
    let api_version = text_of(&root, "apiVersion");
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let kind = Kind::find(group, text_of(&root, "kind"))?;
    let name = root.get("metadata").and_then(|metadata| metadata.get("name")).and_then(Node::as_scalar);
    let name = name.map(|name| Arc::clone(&name.text)).unwrap_or_default();
    Some(FoundObject { path: Arc::clone(path), at, kind, name, root })
}

fn text_of<'n>(node: &'n Node, key: &str) -> &'n str {
    node.get(key).and_then(Node::as_scalar).map(|scalar| &*scalar.text).unwrap_or_default()
}

/// Files that diagnostics refer to.
pub(crate) struct Places {
    source: Arc<Source>,
    files: Files,
    known: BTreeMap<Arc<str>, FileId>,
}

/// Why a request is refused, with the files that the diagnostics refer to. Nothing has changed.
#[derive(Clone, Debug, Default)]
pub struct EditRefusal {
    /// The reasons.
    pub diagnostics: Vec<Diagnostic>,
    /// The files in which they are.
    pub files: Files,
}

impl Places {
    /// A file of the branch.
    pub(crate) fn file(&mut self, files: &BranchFiles<'_>, path: &str) -> FileId {
        let content = files.content(path).cloned().unwrap_or_default();
        self.add(path.into(), content)
    }

    /// Another file.
    pub(crate) fn add(&mut self, path: Arc<str>, content: Arc<[u8]>) -> FileId {
        if let Some(id) = self.known.get(&path) {
            return *id;
        }
        let file =
            File { source: Arc::clone(&self.source), path: Arc::clone(&path), id: GitId::of_blob(&content), content };
        let id = self.files.add(file);
        self.known.insert(path, id);
        id
    }

    /// The place of an object's name.
    pub(crate) fn name(&mut self, files: &BranchFiles<'_>, object: &FoundObject) -> Origin {
        let name = object.root.get("metadata").and_then(|metadata| metadata.get("name"));
        Origin::Span(self.file(files, &object.path), name.unwrap_or(&object.root).span)
    }

    pub(crate) fn refusal(self, diagnostics: Vec<Diagnostic>) -> EditRefusal {
        EditRefusal { diagnostics, files: self.files }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn objects_are_found_in_documents_and_lists() {
        let cluster = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {name: a, labels: {x: y}}\n";
        let list = format!("---\napiVersion: v1\nkind: List\nitems:\n  - {}", cluster.trim().replace('\n', "\n    "));
        let text = format!("{cluster}---\nkind: Other\n{list}\n");
        let contents = BTreeMap::from([("c.yaml".into(), Arc::from(text.as_bytes()))]);
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let found: Vec<_> = files.of_kind(Kind::Cluster).map(|object| (object.at.document, object.at.item)).collect();
        assert_eq!(found, [(0, None), (2, Some(0))]);
        assert_eq!(files.find(Kind::Cluster, "a").unwrap().labels().get("x").map(|value| &**value), Some("y"));
        let missing = files.missing(Kind::Cluster, "b");
        assert_eq!((&*missing.message, &*missing.help[0]), ("there is no Cluster `b`", "did you mean `a`?"));
    }
}
