//! Finds the place in a file that an origin stands for.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use crate::diagnostic::{FieldOrigin, FieldPart, Origin};
use crate::field_path::{FieldPath, FieldStep};
use crate::fleet::Fleet;
use crate::object_key::ObjectKey;
use crate::source::{Address, File, FileId, Files, Position, Positions};
use crate::yaml::{self, Document, Node, Span};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    /// The file.
    pub file: FileId,
    /// The range of bytes in the file.
    pub bytes: Range<usize>,
}

/// Finds places, and caches what it has parsed: many objects can be in one file, and each can be looked up.
#[derive(Debug)]
pub struct Locator<'a> {
    fleet: Option<&'a Fleet>,
    files: &'a Files,
    positions: BTreeMap<FileId, Arc<Positions<'a>>>,
    opened: BTreeMap<FileId, Opened<'a>>,
    reads: usize,
    /// The text of scalars, parsed as YAML or JSON, by object and field. None if the text is not valid.
    texts: BTreeMap<(Address, FieldPath), Option<Node>>,
}

impl<'a> Locator<'a> {
    /// A locator for the objects of `fleet`.
    pub fn new(fleet: &'a Fleet) -> Self {
        Self { fleet: Some(fleet), ..Self::of_files(&fleet.files) }
    }

    /// A locator for files without a fleet, when reading the fleet failed. It does not find fields of objects by the objects' names.
    pub fn of_files(files: &'a Files) -> Self {
        let (positions, opened, texts) = Default::default();
        Self { fleet: None, files, positions, opened, reads: 0, texts }
    }

    /// The files that the locator searches.
    pub fn files(&self) -> &'a Files {
        self.files
    }

    /// The place of `origin`. If the field does not exist, the place of its nearest parent that does. None if the origin has no place in these files.
    pub fn locate(&mut self, origin: &Origin) -> Option<Location> {
        match origin {
            Origin::Span(file, span) => Some(place(*file, *span)),
            Origin::File(file) => Some(Location { file: *file, bytes: 0..0 }),
            Origin::At(address, path) => self.field(*address, path, &FieldPart::Value),
            Origin::Field(FieldOrigin { object, path, part }) => self.field(self.fleet?.address(object)?, path, part),
        }
    }

    /// The file of a place.
    pub fn file(&self, place: &Location) -> &'a File {
        self.files.get(place.file)
    }

    /// The positions of all bytes in the file of a place. All places of a file share one value.
    pub fn positions(&mut self, place: &Location) -> Arc<Positions<'a>> {
        let file = self.files.get(place.file);
        let positions = || Arc::new(Positions::new(&file.content));
        Arc::clone(self.positions.entry(place.file).or_insert_with(positions))
    }

    /// The position where a place begins.
    pub fn position(&mut self, place: &Location) -> Position {
        self.positions(place).position(place.bytes.start)
    }

    /// How many files were read as a whole to find places in them. Each file is read at most once.
    pub fn reads(&self) -> usize {
        self.reads
    }

    /// The place in text: `control-plane@prod:configs/west.yaml:9`. None if there is no place.
    pub fn shown(&mut self, origin: &Origin) -> Option<String> {
        let place = self.locate(origin)?;
        let line = self.position(&place).line;
        Some(format!("{}:{line}", self.file(&place)))
    }

    /// The number of entries of a mapping in an object. 0 if the field does not exist, or is not a mapping.
    pub fn entries(&mut self, object: &ObjectKey, path: &FieldPath) -> usize {
        let Some(address) = self.fleet.and_then(|fleet| fleet.address(object)) else { return 0 };
        let Opened { documents, .. } = self.open(address.file);
        let mut node = crate::read::node_at(documents, address);
        for step in path.steps() {
            node = node.and_then(|node| match step {
                FieldStep::Key(key) => node.get(key),
                FieldStep::Index(index) => node.index(*index),
            });
        }
        node.and_then(Node::as_mapping).map_or(0, <[_]>::len)
    }

    fn open(&mut self, file: FileId) -> &Opened<'a> {
        let content = &self.files.get(file).content;
        let open = || {
            self.reads += 1;
            Opened::new(content)
        };
        self.opened.entry(file).or_insert_with(open)
    }

    fn field(&mut self, address: Address, path: &FieldPath, part: &FieldPart) -> Option<Location> {
        self.open(address.file);
        let Opened { text, documents } = self.opened.get(&address.file)?;
        let root = crate::read::node_at(documents, address)?;
        let found = walk(root, path);
        let span = match part {
            FieldPart::Key => found.key.unwrap_or(found.node.span),
            FieldPart::Text { line, column } => {
                let scalar = found.node.as_scalar()?;
                let offset = offset_of(&scalar.text, Position { line: *line, column: *column });
                Span::at(yaml::source_offset(text, found.node, offset))
            }
            FieldPart::Inside(below) | FieldPart::KeyInside(below) => {
                let of_text = || structure_of(found.node);
                let structure = self.texts.entry((address, path.clone())).or_insert_with(of_text).as_ref();
                let field = structure.map(|structure| walk(structure, below));
                match (part, field) {
                    (FieldPart::KeyInside(_), Some(field)) => {
                        inside(text, found.node, field.key.unwrap_or(field.node.span))
                    }
                    (_, Some(field)) if !below.steps().is_empty() => inside(text, found.node, field.node.span),
                    _ => found.node.span,
                }
            }
            FieldPart::Value => found.node.span,
        };
        Some(place(address.file, span))
    }
}

/// A file and its parsed content.
#[derive(Debug)]
struct Opened<'a> {
    text: Cow<'a, str>,
    documents: Vec<Document>,
}

impl<'a> Opened<'a> {
    fn new(content: &'a [u8]) -> Self {
        let documents = yaml::read_bytes(content, &yaml::YamlOptions::OBJECTS).documents;
        Self { text: String::from_utf8_lossy(content), documents }
    }
}

fn place(file: FileId, span: Span) -> Location {
    Location { file, bytes: span.range() }
}

struct FoundNode<'a> {
    node: &'a Node,
    key: Option<Span>,
}

/// Follows `path` as far as its fields exist.
fn walk<'a>(root: &'a Node, path: &FieldPath) -> FoundNode<'a> {
    let mut found = FoundNode { node: root, key: None };
    for step in path.steps() {
        let (next, key) = match step {
            FieldStep::Key(key) => (found.node.get(key), found.node.key_span(key)),
            FieldStep::Index(index) => (found.node.index(*index), None),
        };
        let Some(node) = next else { break };
        found = FoundNode { node, key };
    }
    found
}

/// The first document in the text of a scalar, read as YAML or JSON. None if there is none.
fn structure_of(node: &Node) -> Option<Node> {
    let reading = yaml::read(&node.as_scalar()?.text, &yaml::YamlOptions::JSON);
    Some(reading.documents.into_iter().next()?.root)
}

/// The place in `text` of a span in the text of the scalar `node`.
fn inside(text: &str, node: &Node, span: Span) -> Span {
    let end = |offset| yaml::source_offset(text, node, offset);
    Span::new(end(span.start as usize), end(span.end as usize))
}

/// The byte offset of a position in `text`. The end of the text for positions after it.
fn offset_of(text: &str, position: Position) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(position.line.saturating_sub(1)).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let column = line.char_indices().nth(position.column.saturating_sub(1)).map_or(line.len(), |(offset, _)| offset);
    before + column
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git_id::GitId;
    use crate::source::Source;

    #[test]
    fn file_is_parsed_once_for_many_locations() {
        let content = "---\na: {b: 1}\n".repeat(100);
        let (id, content) = (GitId::of_blob(content.as_bytes()), content.as_bytes().into());
        let mut files = Files::default();
        let file = files.add(File { source: Source::directory().into(), path: "a.yaml".into(), id, content });
        let mut locator = Locator::of_files(&files);
        let positions = locator.positions(&Location { file, bytes: 0..0 });
        for document in 0..100 {
            let address = Address { file, document, item: None };
            let place = locator.locate(&Origin::At(address, FieldPath::from(["a", "b"]))).unwrap();
            assert_eq!(locator.position(&place), Position { line: 2 * document as usize + 2, column: 8 });
            assert!(Arc::ptr_eq(&positions, &locator.positions(&place)));
        }
        assert_eq!(locator.reads(), 1);
    }
}
