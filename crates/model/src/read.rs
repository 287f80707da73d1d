//! From a file to the objects in it.

use crate::decode::{Decoder, Header, cut};
use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::limits::{FILE_PROBLEMS_MAX, SIMILAR_WORD_BYTES_MAX};
use crate::object::{Address, AnyObject, Kind, SCHEDULER_GROUP};
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
    let is_enough = result.diagnostics.len() >= FILE_PROBLEMS_MAX;
    result.diagnostics.splice(0..0, problems.into_iter().map(|problem| diagnostic(id, problem)));
    if let Some(last) = result.diagnostics.last_mut().filter(|_| is_enough) {
        last.notes.push("more is wrong with this file than is told".into());
    }
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

/// Says that an object is of no kind of Kalypso: a warning if it is another system's, an error if it may be one of ours that is misspelled. What is
/// misspelled is not understood, and so its object is not gone.
fn report_unknown(root: &Node, (api_version, kind): (&str, &str), decoder: &mut Decoder<'_>) {
    let field = if Kind::ALL.iter().any(|known| known.name() == kind) { "apiVersion" } else { "kind" };
    let span = root.get(field).map_or(root.span, |node| node.span);
    let nearest = nearest_kind(kind);
    let is_ours = is_meant_for_us(api_version, kind);
    let (api_version, kind) = (cut(api_version), cut(kind));
    if is_ours {
        let written = if api_version.is_empty() { String::new() } else { format!("`{api_version}` ") };
        let message = format!("{written}`{kind}` is not a kind of Kalypso, but is written like one");
        decoder.error(Code::UnknownKind, span, message);
    } else {
        let message = format!("`{api_version}` `{kind}` is not a kind of Kalypso: the object is ignored");
        decoder.warning(Code::UnknownKind, span, message);
    }
    if let Some(nearest) = nearest {
        decoder.help(format!("did you mean `apiVersion: {}`, `kind: {nearest}`?", nearest.api_version()));
    }
}

/// Whether an object of no known kind is more probably a misspelled one of ours than one of another system: its group is ours, or nearly so; or its
/// group, or lack of one, is that of a known kind which is written nearly so.
fn is_meant_for_us(api_version: &str, kind: &str) -> bool {
    const LETTERS_MAX: usize = 2;
    let is_near = |known: &str, written: &str| {
        written.len() <= SIMILAR_WORD_BYTES_MAX && strsim::damerau_levenshtein(known, written) <= LETTERS_MAX
    };
    let (group, _) = api_version.rsplit_once('/').unwrap_or_default();
    let is_ours = |own: &Kind| own.is_own() && (is_near(own.group(), group) || own.group() == api_version);
    let stem = kind.strip_suffix("List").unwrap_or(kind);
    let is_like = |known: &Kind| {
        let is_of_group = known.group() == group || (group.is_empty() && known.is_own());
        is_of_group && (is_near(known.name(), kind) || known.name() == stem)
    };
    let (_, domain) = SCHEDULER_GROUP.split_once('.').unwrap_or_default();
    let is_below = group.strip_suffix(domain).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'));
    is_below || Kind::ALL.iter().any(|known| is_ours(known) || is_like(known))
}

fn nearest_kind(written: &str) -> Option<Kind> {
    if written.len() > SIMILAR_WORD_BYTES_MAX {
        return None;
    }
    let distance = |kind: &Kind| strsim::damerau_levenshtein(kind.name(), written);
    Kind::ALL.iter().copied().filter(|kind| distance(kind) <= 3).min_by_key(distance)
}

#[cfg(test)]
mod tests;
