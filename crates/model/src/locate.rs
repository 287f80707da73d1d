//! From origins to the places in files where they are now.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::diagnostic::{FieldOrigin, Origin, Part};
use crate::field_path::{FieldPath, Step};
use crate::fleet::Fleet;
use crate::object::Address;
use crate::source::{File, FileId, Files, Position};
use crate::yaml::{self, Node, Span};

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
    nodes: BTreeMap<Address, Option<Node>>,
}

impl<'a> Locator<'a> {
    /// For the objects of `fleet`.
    pub fn new(fleet: &'a Fleet) -> Self {
        Self { fleet: Some(fleet), files: &fleet.files, nodes: BTreeMap::new() }
    }

    /// Where there are files but no fleet, because reading them failed: fields of objects are not found by the objects' names.
    pub fn of_files(files: &'a Files) -> Self {
        Self { fleet: None, files, nodes: BTreeMap::new() }
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
        let read = || crate::read::find_node(address, &file.content);
        let root = self.nodes.entry(address).or_insert_with(read).as_ref()?;
        let found = walk(root, path);
        let text = String::from_utf8_lossy(&file.content);
        let span = match part {
            Part::Key => found.key.unwrap_or(found.node.span),
            Part::Text { line, column } => {
                let scalar = found.node.as_scalar()?;
                let offset = offset_of(&scalar.text, Position { line: *line, column: *column });
                Span::at(yaml::source_offset(&text, found.node, offset))
            }
            Part::Inside(path) => inside(&text, found.node, path, false).unwrap_or(found.node.span),
            Part::KeyInside(path) => inside(&text, found.node, path, true).unwrap_or(found.node.span),
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

/// The place of a node inside a scalar whose text is YAML or JSON itself.
fn inside(text: &str, node: &Node, path: &FieldPath, key: bool) -> Option<Span> {
    let scalar = node.as_scalar()?;
    if path.steps().is_empty() && !key {
        return Some(node.span);
    }
    let reading = yaml::read(&scalar.text, &yaml::Options::VALUES);
    let found = walk(&reading.documents.first()?.root, path);
    let span = if key { found.key.unwrap_or(found.node.span) } else { found.node.span };
    let end = |offset| yaml::source_offset(text, node, offset);
    Some(Span::new(end(span.start as usize), end(span.end as usize)))
}

/// The byte offset of a position in `text`; its end for positions past it.
fn offset_of(text: &str, position: Position) -> usize {
    let mut lines = text.split_inclusive('\n');
    let before: usize = lines.by_ref().take(position.line.saturating_sub(1)).map(str::len).sum();
    let line = lines.next().unwrap_or_default();
    let column = line.char_indices().nth(position.column.saturating_sub(1)).map_or(line.len(), |(offset, _)| offset);
    before + column
}
