//! Reads the objects in a file.

mod conflict;
mod kustomized;
mod likeness;
mod other_content;

use crate::decode::{Decoder, Header, cut};
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::kind::{Kind, SCHEDULER_GROUP};
use crate::limits::FILE_PROBLEMS_MAX;
use crate::object::AnyObject;
use crate::source::{Address, FileId};
use crate::yaml::{self, Document, Node};

use likeness::{is_like_object, is_meant_for_us, nearest_kind};

pub use kustomized::{Kustomized, is_kustomization};

/// The kinds whose objects Microsoft's Kalypso generates in a cluster.
const GENERATED: [&str; 2] = ["Assignment", "AssignmentPackage"];

/// The content of a file.
#[derive(Clone, Debug, Default)]
pub struct FileObjects {
    /// The objects in the order of the file, without those that have errors.
    pub objects: Vec<AnyObject>,
    /// All diagnostics of the file.
    pub diagnostics: Vec<Diagnostic>,
    /// Whether the file is empty, or has only a text, such as the message of a program that failed. Then it may stand in place of a file with objects: its history
    /// says that.
    pub may_replace_objects: bool,
}

impl FileObjects {
    /// Whether the file has no errors.
    pub fn is_good(&self) -> bool {
        !self.diagnostics.iter().any(Diagnostic::is_error)
    }
}

/// Whether files with this name are read: `*.yaml`, `*.yml`, and the files that Kustomize reads first.
pub fn is_read(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.rsplit_once('.').is_some_and(|(_, extension)| matches!(extension, "yaml" | "yml")) || is_kustomization(name)
}

/// Reads a file. A file of Kustomize only gives a diagnostic.
pub fn read_file(id: FileId, path: &str, content: &[u8]) -> FileObjects {
    if is_kustomization(path) {
        return FileObjects { diagnostics: vec![kustomization(id, path)], ..FileObjects::default() };
    }
    read_objects(id, content, None)
}

/// Reads the objects of one kind in a file. Other objects are ignored without a diagnostic.
pub fn read_kind(id: FileId, content: &[u8], kind: Kind) -> FileObjects {
    read_objects(id, content, Some(kind))
}

fn read_objects(id: FileId, content: &[u8], only: Option<Kind>) -> FileObjects {
    let mut result = FileObjects::default();
    if let Some(found) = conflict::diagnostic(id, content).or_else(|| other_content::diagnostic(id, content)) {
        result.diagnostics.push(found);
        return result;
    }
    let mut documents = 0..;
    let mut are_messages = true;
    let read = |document: Document| {
        are_messages &= other_content::is_message(&document.root);
        let address = Address { file: id, document: documents.next().unwrap_or_default(), item: None };
        read_object(&document.root, address, only, &mut result);
    };
    let problems = yaml::read_bytes_each(content, &yaml::YamlOptions::OBJECTS, read);
    let is_enough = result.diagnostics.len() >= FILE_PROBLEMS_MAX;
    result.diagnostics.splice(0..0, problems.into_iter().map(|problem| yaml_diagnostic(id, problem)));
    if let Some(last) = result.diagnostics.last_mut().filter(|_| is_enough) {
        last.notes.push("this file has more errors than are listed".into());
    }
    let has_documents = documents.start > 0;
    result.may_replace_objects =
        result.objects.is_empty() && if has_documents { are_messages } else { other_content::is_empty(content) };
    result
}

/// The node of the object at `address` in the documents of its file.
pub(crate) fn node_at(documents: &[Document], address: Address) -> Option<&Node> {
    let Document { root } = documents.get(address.document as usize)?;
    match address.item {
        None => Some(root),
        Some(item) => root.get("items")?.index(item as usize),
    }
}

/// The diagnostic for a problem of a YAML text, at its place in the file.
pub fn yaml_diagnostic(id: FileId, problem: yaml::YamlProblem) -> Diagnostic {
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

fn kustomization(id: FileId, path: &str) -> Diagnostic {
    let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
    let message = format!("`{name}` in `{folder}` is not supported: no file at or below that folder is read");
    Diagnostic::error(Code::UnsupportedKustomization, message)
        .at(Origin::File(id), "")
        .help("write the objects as the kustomization would make them and remove the file, or name the folder in `.sourceignore`")
}

fn read_object(root: &Node, address: Address, only: Option<Kind>, result: &mut FileObjects) {
    if only.is_some_and(|only| !may_hold(root, only)) {
        return;
    }
    let mut decoder = Decoder::new(address.file, &mut result.diagnostics);
    // A document that is not an object belongs to another tool. But the items of a `List` must be objects.
    let is_item = address.item.is_some();
    if root.as_mapping().is_none() {
        if is_item || root.as_sequence().is_some_and(|items| items.iter().any(is_like_object)) {
            decoder.error(
                Code::WrongType,
                root.span,
                "an object is a mapping with `apiVersion`, `kind` and `metadata`",
            );
            decoder.help("separate several objects with `---`, or put them into the `items` of a `List`");
        }
        return;
    }
    let [api_version, kind] = ["apiVersion", "kind"].map(|key| crate::decode::text(root, &[key]));
    if kind.is_empty() && !is_item && !is_like_object(root) {
        return;
    }
    if kind.is_empty() {
        decoder.error(Code::MissingField, root.span, "the object has no `kind`");
        decoder.help(
            "an object has `apiVersion`, `kind` and `metadata`; name files that are no objects in `.sourceignore`",
        );
        return;
    }
    if &*kind == "List" {
        let items = root.get("items");
        let Some(items) = items.and_then(Node::as_sequence) else {
            let (code, span) = items.map_or((Code::MissingField, root.span), |items| (Code::WrongType, items.span));
            decoder.error(code, span, "a `List` has its objects in `items`, which is a list");
            return;
        };
        for (item, node) in items.iter().enumerate() {
            read_object(node, Address { item: Some(item as u32), ..address }, only, result);
        }
        return;
    }
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    let Some(known) = Kind::find(group, &kind).filter(|kind| kind.has_version(&api_version)) else {
        report_unknown(root, (&api_version, &kind), &mut decoder);
        return;
    };
    let name = crate::decode::text(root, &["metadata", "name"]);
    if crate::name::check(&name).is_ok() {
        decoder.about(known, &name);
    }
    let header = Header::decode(root, address, &mut decoder);
    let Some(header) = header else { return };
    decoder.check_metadata(root, known);
    result.objects.extend(known.decode(header, root, &mut decoder));
}

/// Whether the node is an object of that kind, or a list of objects.
fn may_hold(root: &Node, kind: Kind) -> bool {
    let [api_version, written] = ["apiVersion", "kind"].map(|key| crate::decode::text(root, &[key]));
    let group = api_version.rsplit_once('/').map_or("", |(group, _)| group);
    (group == kind.group() && *written == *kind.name()) || &*written == "List"
}

/// Reports an object of an unknown kind: a warning if it belongs to another system, an error if it is probably a misspelled kind of Kalypso. The error keeps
/// the object from being treated as removed.
fn report_unknown(root: &Node, (api_version, kind): (&str, &str), decoder: &mut Decoder<'_>) {
    let field = if Kind::ALL.iter().any(|known| known.name() == kind) { "apiVersion" } else { "kind" };
    let span = root.get(field).map_or(root.span, |node| node.span);
    let nearest = nearest_kind(kind);
    let is_ours = is_meant_for_us(api_version, kind);
    let is_generated = GENERATED.contains(&kind) && api_version.split('/').next() == Some(SCHEDULER_GROUP);
    let (api_version, kind) = (cut(api_version), cut(kind));
    if is_generated {
        let message = format!("`{kind}` is a kind that Microsoft's Kalypso generates: the object is ignored");
        decoder.warning(Code::UnknownKind, span, message);
        return;
    }
    if is_ours {
        let written = if api_version.is_empty() { String::new() } else { format!("`{api_version}` ") };
        let message = format!("{written}`{kind}` is not a kind of Kalypso, but its name is like one");
        decoder.error(Code::UnknownKind, span, message);
    } else {
        let message = format!("`{api_version}` `{kind}` is not a kind of Kalypso: the object is ignored");
        decoder.warning(Code::UnknownKind, span, message);
    }
    if let Some(nearest) = nearest {
        decoder.help(format!("did you mean `apiVersion: {}`, `kind: {nearest}`?", nearest.api_version()));
    }
}

#[cfg(test)]
mod tests;
