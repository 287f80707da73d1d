//! Changes one field of an object in a text, and keeps all other bytes.
//!
//! Each edit has some ways to write it, in order of preference. The first way counts whose result has exactly the intended meaning.

mod block;
mod error;
mod flow;
mod replace;

use std::sync::Arc;

use model::field_path::{FieldPath, FieldStep};
use model::yaml::{self, Node, NodeValue, ScalarStyle, Span, YamlOptions};

pub use error::{EditError, Reason};

use crate::meaning::Meaning;
use crate::style::Style;
use crate::value::NewValue;

/// The position of an object in its file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ObjectPosition {
    /// The document in the file, from 0. Empty documents do not count.
    pub document: usize,
    /// The item in the document's `items`, if the document is a `List`.
    pub item: Option<usize>,
}

/// A change of one field.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Sets a field. If there is none, it is added, with the mappings above it.
    Set(FieldPath, NewValue),
    /// Removes an entry of a mapping, or an item of a list. The comment above it goes too. A mapping or list without entries stays, empty.
    Remove(FieldPath),
    /// Appends an item to a list. If there is none, it is added, with the mappings above it.
    Append(FieldPath, NewValue),
    /// Gives an entry of a mapping another key. Its value, its place and its comments stay.
    RenameKey(FieldPath, Arc<str>),
}

impl Change {
    fn path(&self) -> &FieldPath {
        match self {
            Self::Set(path, _) | Self::Remove(path) | Self::Append(path, _) | Self::RenameKey(path, _) => path,
        }
    }
}

/// Changes a field of the object at this position.
///
/// # Errors
/// The reason why the edit can't be made safely.
pub fn edit(content: &[u8], at: ObjectPosition, change: &Change) -> Result<Vec<u8>, EditError> {
    let file = ReadFile::parse(content)?;
    let position = object_path(at);
    let root = file.documents.get(at.document).ok_or(EditError::new(Reason::NoObject, None))?;
    let path: FieldPath = position.steps().iter().chain(change.path().steps()).cloned().collect();
    let expected = expected(&file, at.document, (&path, change))?;
    let scene = Scene { text: file.text, style: Style::from_text(file.text), path: &path };
    let splices = match change {
        Change::Set(_, value) => scene.set(root, value)?,
        Change::Remove(_) => scene.remove(root)?,
        Change::Append(_, value) => scene.append(root, value)?,
        Change::RenameKey(_, key) => scene.rename_key(root, key)?,
    };
    let results = splices.iter().map(|splice| splice.applied(file.text));
    let mut good = results.filter(|result| documents(result).as_ref() == Some(&expected));
    good.next().map(String::into_bytes).ok_or_else(|| scene.refusal(root))
}

/// The text of a file with its documents. A file with an error is not edited: what it means is not known.
pub(crate) struct ReadFile<'t> {
    pub(crate) text: &'t str,
    pub(crate) documents: Vec<Node>,
}

impl<'t> ReadFile<'t> {
    pub(crate) fn parse(content: &'t [u8]) -> Result<Self, EditError> {
        let reading = yaml::read_bytes(content, &YamlOptions::OBJECTS);
        if let Some(problem) = reading.problems.iter().find(|problem| !problem.kind.is_warning()) {
            return Err(EditError::unreadable(problem));
        }
        let text = std::str::from_utf8(content).unwrap_or_default();
        let bytes = text.as_bytes();
        let is_alone = |at: &usize| bytes.get(at + 1) != Some(&b'\n');
        if let Some(at) = text.match_indices('\r').map(|(at, _)| at).find(is_alone) {
            return Err(EditError::new(Reason::LineEnds, Some(Span::at(at))));
        }
        Ok(Self { text, documents: reading.documents.into_iter().map(|document| document.root).collect() })
    }
}

/// The meaning of all documents of a text. None if it has an error.
pub(crate) fn documents(text: &str) -> Option<Vec<Meaning>> {
    let reading = yaml::read(text, &YamlOptions::OBJECTS);
    let is_good = reading.problems.iter().all(|problem| problem.kind.is_warning());
    is_good.then(|| reading.documents.iter().map(|document| Meaning::from_node(&document.root)).collect())
}

fn object_path(at: ObjectPosition) -> FieldPath {
    let items = at.item.map(|item| FieldPath::from(["items"]).index(item));
    items.unwrap_or_default()
}

/// The meaning that the file must have after the change.
fn expected(
    file: &ReadFile<'_>,
    document: usize,
    (path, change): (&FieldPath, &Change),
) -> Result<Vec<Meaning>, EditError> {
    let mut meanings: Vec<_> = file.documents.iter().map(Meaning::from_node).collect();
    let root = meanings.get_mut(document);
    let changed = root.and_then(|root| match change {
        Change::Set(_, value) => root.set(path.steps(), Meaning::of_value(value)),
        Change::Remove(_) => root.remove(path.steps()),
        Change::Append(_, value) => root.append(path.steps(), Meaning::of_value(value)),
        Change::RenameKey(_, key) => root.rename_key(path.steps(), key),
    });
    changed.ok_or_else(|| EditError::new(Reason::NoField(path.clone()), None))?;
    Ok(meanings)
}

/// One way to write an edit: the text that replaces a range.
#[derive(Debug)]
struct Splice {
    range: std::ops::Range<usize>,
    text: String,
}

impl Splice {
    fn applied(&self, text: &str) -> String {
        let before = text.get(..self.range.start).unwrap_or_default();
        let after = text.get(self.range.end..).unwrap_or_default();
        [before, self.text.as_str(), after].concat()
    }
}

/// What an edit knows about its file.
struct Scene<'t> {
    text: &'t str,
    style: Style,
    /// The path of the field, from the root of the document.
    path: &'t FieldPath,
}

/// The fields along a path, as far as they exist.
struct Found<'n> {
    /// The last existing field.
    node: &'n Node,
    /// The number of steps to it.
    depth: usize,
    /// The fields above it, from the root on.
    parents: Vec<&'n Node>,
}

impl Scene<'_> {
    fn set(&self, root: &Node, value: &NewValue) -> Result<Vec<Splice>, EditError> {
        let found = self.find(root)?;
        let missing = self.path.steps().get(found.depth..).unwrap_or_default();
        let Some((first, deeper)) = missing.split_first() else {
            return Ok(self.replaced(&found, value));
        };
        let value = below(deeper, value.clone()).ok_or_else(|| self.error(Reason::NoField))?;
        let FieldStep::Key(key) = first else { return Err(self.error(Reason::NoField)) };
        let entry = (key.clone(), value);
        match &found.node.value {
            NodeValue::Mapping(entries) if !entries.is_empty() && !self.is_flow(found.node) => {
                Ok(self.block_entry_added(found.node, &entry))
            }
            NodeValue::Mapping(entries)
                if self.is_flow(found.node) && (self.is_in_flow(&found) || !entries.is_empty()) =>
            {
                Ok(self.flow_added(found.node, &crate::emit::flow_entry(&entry, &self.style)))
            }
            _ => {
                let mut ways = self.replaced(&found, &NewValue::Mapping(vec![entry.clone()]));
                if self.is_flow(found.node) {
                    ways.splice(0..0, self.flow_added(found.node, &crate::emit::flow_entry(&entry, &self.style)));
                }
                Ok(ways)
            }
        }
    }

    fn append(&self, root: &Node, value: &NewValue) -> Result<Vec<Splice>, EditError> {
        let found = self.find(root)?;
        if found.depth < self.path.steps().len() {
            return self.set(root, &NewValue::List(vec![value.clone()]));
        }
        match &found.node.value {
            NodeValue::Sequence(items) if !items.is_empty() && !self.is_flow(found.node) => {
                Ok(self.block_item_added(found.node, value))
            }
            NodeValue::Sequence(_) => Ok(self.flow_added(found.node, &crate::emit::flow(value, &self.style))),
            _ => Ok(self.replaced(&found, &NewValue::List(vec![value.clone()]))),
        }
    }

    fn remove(&self, root: &Node) -> Result<Vec<Splice>, EditError> {
        let no_field = || self.error(Reason::NoField);
        let (last, above) = self.path.steps().split_last().ok_or_else(no_field)?;
        let found = self.follow(root, above)?;
        let position = position(found.node, last).filter(|_| found.depth == above.len()).ok_or_else(no_field)?;
        let children = children(found.node);
        if self.is_flow(found.node) {
            return Ok(flow::flow_removed(found.node, &children, position));
        }
        Ok(self.block_removed(&found, &children, position))
    }

    /// Follows the path as far as it exists.
    fn find<'n>(&self, root: &'n Node) -> Result<Found<'n>, EditError> {
        self.follow(root, self.path.steps())
    }

    fn follow<'n>(&self, root: &'n Node, steps: &[FieldStep]) -> Result<Found<'n>, EditError> {
        let mut found = Found { node: root, depth: 0, parents: Vec::new() };
        for step in steps {
            let child = match step {
                FieldStep::Key(key) => found.node.get(key),
                FieldStep::Index(index) => found.node.index(*index),
            };
            let Some(child) = child else { break };
            let range = position(found.node, step).and_then(|position| *children(found.node).get(position)?);
            if !range.is_some_and(|range| contains(range, child.span)) {
                return Err(EditError::new(Reason::Alias(self.path.clone()), Some(child.span)));
            }
            found.parents.push(found.node);
            found.node = child;
            found.depth += 1;
        }
        Ok(found)
    }

    /// The error if no way to write the edit gives the intended meaning.
    fn refusal(&self, root: &Node) -> EditError {
        if !self.text.ends_with('\n') && ends_with_block(root, self.text) {
            return EditError::new(Reason::OpenBlock, Some(Span::at(self.text.len())));
        }
        let Ok(found) = self.find(root) else { return self.error(Reason::Unsafe) };
        let has_anchor = |node: &&Node| {
            let before = self.text.get(..node.span.start as usize).unwrap_or_default().trim_end();
            before.rsplit([' ', '\t', '\n']).next().is_some_and(|word| word.starts_with('&'))
        };
        let anchored = found.parents.iter().copied().chain([found.node]).skip(1).find(has_anchor);
        match anchored {
            Some(node) => EditError::new(Reason::Shared(self.path.clone()), Some(node.span)),
            None => EditError::new(Reason::Unsafe(self.path.clone()), Some(found.node.span)),
        }
    }

    fn error(&self, reason: impl FnOnce(FieldPath) -> Reason) -> EditError {
        EditError::new(reason(self.path.clone()), None)
    }

    /// Whether a collection is written with brackets or braces. A list on lines of its own can begin with those of its first item.
    fn is_flow(&self, node: &Node) -> bool {
        let bracket = match node.value {
            NodeValue::Mapping(_) => '{',
            NodeValue::Sequence(_) => '[',
            NodeValue::Scalar(_) => return false,
        };
        let begins_with_child =
            children(node).first().is_some_and(|first| first.is_some_and(|first| first.start == node.span.start));
        !begins_with_child && self.text.get(node.span.range()).is_some_and(|source| source.starts_with(bracket))
    }

    /// Whether a field is inside of brackets or braces.
    fn is_in_flow(&self, found: &Found<'_>) -> bool {
        found.parents.iter().any(|parent| self.is_flow(parent))
    }
}

/// The value with mappings around it, for the keys above it. None if one of the steps is an index.
fn below(steps: &[FieldStep], value: NewValue) -> Option<NewValue> {
    steps.iter().rev().try_fold(value, |value, step| match step {
        FieldStep::Key(key) => Some(NewValue::Mapping(vec![(key.clone(), value)])),
        FieldStep::Index(_) => None,
    })
}

/// The position of a child in a collection.
fn position(parent: &Node, step: &FieldStep) -> Option<usize> {
    match (step, &parent.value) {
        (FieldStep::Key(key), NodeValue::Mapping(entries)) => {
            entries.iter().position(|(name, _)| name.as_scalar().is_some_and(|name| *name.text == **key))
        }
        (FieldStep::Index(index), NodeValue::Sequence(items)) => Some(*index).filter(|index| *index < items.len()),
        _ => None,
    }
}

/// The ranges of the entries or items of a collection: from the key or item to the end of the value, without a value that comes from an anchor elsewhere.
/// None for keys and items that come from elsewhere: their place is outside of the collection, or before the child before them.
fn children(parent: &Node) -> Vec<Option<Span>> {
    let mut last = parent.span.start;
    let mut here = |span: Span| {
        let is_here = contains(parent.span, span) && span.start >= last;
        is_here.then(|| last = span.end)
    };
    match &parent.value {
        NodeValue::Mapping(entries) => {
            let entry = |(key, value): &(Node, Node)| {
                here(key.span)?;
                let end = here(value.span).map_or(key.span.end, |()| value.span.end);
                Some(Span { start: key.span.start, end })
            };
            entries.iter().map(entry).collect()
        }
        NodeValue::Sequence(items) => items.iter().map(|item| here(item.span).map(|()| item.span)).collect(),
        NodeValue::Scalar(_) => Vec::new(),
    }
}

/// Whether the text ends inside of a block after `|` or `>`. With a line break behind it, the block would have another content.
pub(crate) fn ends_with_block(node: &Node, text: &str) -> bool {
    let is_block = |style| matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    match &node.value {
        NodeValue::Scalar(scalar) => {
            let behind = text.get(node.span.end as usize..).unwrap_or_default();
            is_block(scalar.style) && behind.trim().is_empty()
        }
        NodeValue::Sequence(items) => items.iter().any(|item| ends_with_block(item, text)),
        NodeValue::Mapping(entries) => entries.iter().any(|(_, value)| ends_with_block(value, text)),
    }
}

fn contains(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

#[cfg(test)]
mod tests;
