//! From a file to the objects in it.

use crate::decode::{Decoder, Header};
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::object::{Address, AnyObject, Kind};
use crate::source::FileId;
use crate::yaml::{self, Document, Node};

/// What a file holds.
#[derive(Clone, Debug, Default)]
pub struct FileObjects {
    /// Its objects, in the order in which they stand.
    pub objects: Vec<AnyObject>,
    /// Everything that is wrong with it.
    pub diagnostics: Vec<Diagnostic>,
}

impl FileObjects {
    /// Whether the file can be used: nothing in it is an error.
    pub fn is_good(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Whether files of this name are read: `*.yaml` and `*.yml`.
pub fn is_read(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "yaml" | "yml"))
}

/// Reads a file.
pub fn read_file(id: FileId, path: &str, content: &[u8]) -> FileObjects {
    read_objects(id, path, content, None)
}

/// Reads the objects of one kind in a file. What else is in it is somebody else's, and nothing is said about it.
pub fn read_kind(id: FileId, content: &[u8], kind: Kind) -> FileObjects {
    read_objects(id, "", content, Some(kind))
}

fn read_objects(id: FileId, path: &str, content: &[u8], only: Option<Kind>) -> FileObjects {
    let mut result = FileObjects::default();
    let name = path.rsplit('/').next().unwrap_or(path);
    let is_kustomization = matches!(name, "kustomization.yaml" | "kustomization.yml");
    let mut documents = 0..;
    let read = |document: Document| {
        let address = Address { file: id, document: documents.next().unwrap_or_default(), item: None };
        if !is_kustomization {
            read_object(&document.root, address, only, &mut result);
        }
    };
    let problems = yaml::read_bytes_each(content, &yaml::Options::OBJECTS, read);
    result.diagnostics.splice(0..0, problems.into_iter().map(|problem| diagnostic(id, problem)));
    if is_kustomization {
        result.diagnostics.push(kustomization(id));
    }
    result
}

/// The node of the object at `address`, among the documents of its file.
pub(crate) fn node_at(documents: &[Document], address: Address) -> Option<&Node> {
    let Document { root } = documents.get(address.document as usize)?;
    match address.item {
        None => Some(root),
        Some(item) => root.get("items")?.index(item as usize),
    }
}

fn diagnostic(id: FileId, problem: yaml::Problem) -> Diagnostic {
    let code = match problem.kind {
        yaml::ProblemKind::Limit => Code::YamlLimit,
        yaml::ProblemKind::Encoding => Code::NotText,
        yaml::ProblemKind::DuplicateKey => Code::DuplicateKey,
        _ => Code::YamlSyntax,
    };
    let make = if problem.kind.is_warning() { Diagnostic::warning } else { Diagnostic::error };
    let mut diagnostic = make(code, problem.message.into_owned());
    diagnostic = diagnostic.at(Origin::Span(id, problem.span), "");
    if let Some((span, text)) = problem.related {
        diagnostic = diagnostic.at(Origin::Span(id, span), text);
    }
    diagnostic.help.extend(problem.hint.map(Into::into));
    diagnostic
}

fn kustomization(id: FileId) -> Diagnostic {
    Diagnostic::error(Code::UnsupportedKustomization, "a `kustomization.yaml` would make something else of this folder")
        .at(Origin::File(id), "")
        .help("write the objects as they should be and remove the file, or name the folder in `.sourceignore`")
}

fn read_object(root: &Node, address: Address, only: Option<Kind>, result: &mut FileObjects) {
    if only.is_some_and(|only| !may_hold(root, only)) {
        return;
    }
    let mut decoder = Decoder::new(address.file, &mut result.diagnostics);
    if root.as_mapping().is_none() {
        decoder.error(Code::WrongType, root.span, "an object is a mapping with `apiVersion`, `kind` and `metadata`");
        return;
    }
    let [api_version, kind] = ["apiVersion", "kind"].map(|key| crate::decode::text(root, &[key]));
    if kind.is_empty() {
        decoder.error(Code::MissingField, root.span, "the object has no `kind`");
        decoder.help(
            "an object has `apiVersion`, `kind` and `metadata`; name files that are no objects in `.sourceignore`",
        );
        return;
    }
    if &*kind == "List" {
        let items = crate::decode::items(root, &["items"]);
        for (item, node) in items.iter().enumerate() {
            read_object(node, Address { item: Some(item as u32), ..address }, only, result);
        }
        return;
    }
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let Some(known) = Kind::find(group, &kind) else {
        let span = root.get("kind").map_or(root.span, |node| node.span);
        decoder.warning(
            Code::UnknownKind,
            span,
            format!("`{api_version}` `{kind}` is not a kind of Kalypso: the object is ignored"),
        );
        if let Some(nearest) = nearest_kind(&kind) {
            decoder.help(format!("did you mean `apiVersion: {}`, `kind: {nearest}`?", nearest.api_version()));
        }
        return;
    };
    let header = Header::decode(root, address, &mut decoder);
    let Some(header) = header else { return };
    decoder.about(known, &header.name);
    result.objects.extend(known.decode(header, root, &mut decoder));
}

/// Whether it is an object of that kind, or a list of objects.
fn may_hold(root: &Node, kind: Kind) -> bool {
    let [api_version, written] = ["apiVersion", "kind"].map(|key| crate::decode::text(root, &[key]));
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    (group == kind.group() && *written == *kind.name()) || &*written == "List"
}

fn nearest_kind(written: &str) -> Option<Kind> {
    let distance = |kind: &Kind| strsim::damerau_levenshtein(kind.name(), written);
    Kind::ALL.iter().copied().filter(|kind| distance(kind) <= 3).min_by_key(distance)
}

#[cfg(test)]
mod tests;
