//! From origins to the places in files where they are now.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnostic::{FieldOrigin, Origin, Part};
use crate::field_path::{FieldPath, Step};
use crate::fleet::Fleet;
use crate::object::Address;
use crate::source::{File, FileId, Files, Position};
use crate::yaml::{self, Document, Node, Span};

/// A place in a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The file.
    pub file: FileId,
    /// The bytes.
    pub bytes: Range<usize>,
}

/// Finds places, and remembers what it has parsed for that.
#[derive(Debug)]
pub struct Locator<'a> {
    fleet: Option<&'a Fleet>,
    files: &'a Files,
    /// What files hold: many objects may stand in one, and each may be asked for.
    documents: BTreeMap<FileId, Vec<Document>>,
    /// What the texts of fields hold.
    texts: BTreeMap<(Address, FieldPath), Option<Node>>,
}

impl<'a> Locator<'a> {
    /// For the objects of `fleet`.
    pub fn new(fleet: &'a Fleet) -> Self {
        Self { fleet: Some(fleet), ..Self::of_files(&fleet.files) }
    }

    /// Where there are files but no fleet, because reading them failed: fields of objects are not found by the objects' names.
    pub fn of_files(files: &'a Files) -> Self {
        Self { fleet: None, files, documents: BTreeMap::new(), texts: BTreeMap::new() }
    }

    /// The files in which it looks.
    pub fn files(&self) -> &'a Files {
        self.files
    }

    /// Where `origin` is. The nearest place that exists is taken where a field does not.
    pub fn locate(&mut self, origin: &Origin) -> Option<Place> {
        match origin {
            Origin::Span(file, span) => Some(place(*file, *span)),
            Origin::File(file) => Some(Place { file: *file, bytes: 0..0 }),
            Origin::At(address, path) => self.field(*address, path, &Part::Value),
            Origin::Field(FieldOrigin { object, path, part }) => self.field(self.fleet?.address(object)?, path, part),
        }
    }

    /// The file of a place.
    pub fn file(&self, place: &Place) -> &'a File {
        self.files.get(place.file)
    }

    /// Where a place begins.
    pub fn position(&self, place: &Place) -> Position {
        Position::of(&self.file(place).content, place.bytes.start)
    }

    /// `control-plane@prod:configs/west.yaml:9`
    pub fn shown(&mut self, origin: &Origin) -> Option<String> {
        let place = self.locate(origin)?;
        Some(format!("{}:{}", self.file(&place), self.position(&place).line))
    }

    fn field(&mut self, address: Address, path: &FieldPath, part: &Part) -> Option<Place> {
        let file = self.files.get(address.file);
        let read = || crate::yaml::read_bytes(&file.content, &yaml::Options::OBJECTS).documents;
        let documents = self.documents.entry(address.file).or_insert_with(read);
        let root = crate::read::node_at(documents, address)?;
        let found = walk(root, path);
        let text = String::from_utf8_lossy(&file.content);
        let span = match part {
            Part::Key => found.key.unwrap_or(found.node.span),
            Part::Text { line, column } => {
                let scalar = found.node.as_scalar()?;
                let offset = offset_of(&scalar.text, Position { line: *line, column: *column });
                Span::at(yaml::source_offset(&text, found.node, offset))
            }
            Part::Inside(below) | Part::KeyInside(below) => {
                let of_text = || structure_of(found.node);
                let structure = self.texts.entry((address, path.clone())).or_insert_with(of_text).as_ref();
                let is_key = matches!(part, Part::KeyInside(_));
                structure.map_or(found.node.span, |structure| inside(&text, found.node, structure, (below, is_key)))
            }
            Part::Value => found.node.span,
        };
        Some(place(address.file, span))
    }
}

fn place(file: FileId, span: Span) -> Place {
    Place { file, bytes: span.range() }
}

struct Found<'a> {
    node: &'a Node,
    key: Option<Span>,
}

/// Follows `path` as far as it exists.
fn walk<'a>(root: &'a Node, path: &FieldPath) -> Found<'a> {
    let mut found = Found { node: root, key: None };
    for step in path.steps() {
        let (next, key) = match step {
            Step::Key(key) => (found.node.get(key), found.node.key_span(key)),
            Step::Index(index) => (found.node.index(*index), None),
        };
        let Some(node) = next else { break };
        found = Found { node, key };
    }
    found
}

/// What the text of a scalar is, read as YAML or JSON.
fn structure_of(node: &Node) -> Option<Node> {
    let reading = yaml::read(&node.as_scalar()?.text, &yaml::Options::VALUES);
    Some(reading.documents.into_iter().next()?.root)
}

/// The place of a part of `structure`, which is what the scalar `node` holds: of a value, or of its key.
fn inside(text: &str, node: &Node, structure: &Node, (path, is_key): (&FieldPath, bool)) -> Span {
    if path.steps().is_empty() && !is_key {
        return node.span;
    }
    let found = walk(structure, path);
    let span = if is_key { found.key.unwrap_or(found.node.span) } else { found.node.span };
    let end = |offset| yaml::source_offset(text, node, offset);
    Span::new(end(span.start as usize), end(span.end as usize))
}

/// The byte offset of a position in `text`; its end for positions past it.
fn offset_of(text: &str, position: Position) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(position.line.saturating_sub(1)).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let column = line.char_indices().nth(position.column.saturating_sub(1)).map_or(line.len(), |(offset, _)| offset);
    before + column
}
