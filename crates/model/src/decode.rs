//! Reads objects from YAML nodes: checks the shape, then takes the fields.

mod selector;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Origin};
use crate::expiry::Expiry;
use crate::kind::Kind;
use crate::label::Labels;
use crate::limits::{FILE_PROBLEMS_MAX, OBJECT_PROBLEMS_MAX, PLAIN_TEXTS_BYTES_MAX, SIMILAR_WORD_BYTES_MAX};
use crate::name::NAME_LENGTH_MAX;
use crate::object_key::ObjectKey;
use crate::shape::{Field, METADATA, Shape};
use crate::similar::nearest;
use crate::source::{Address, FileId};
use crate::yaml::{Node, NodeValue, Resolved, Scalar, Span};

/// The node at the path `keys`.
pub(crate) fn node<'a>(root: &'a Node, keys: &[&str]) -> Option<&'a Node> {
    keys.iter().try_fold(root, |node, key| node.get(key))
}

/// The text at the path `keys`. Empty if there is none.
pub(crate) fn text(root: &Node, keys: &[&str]) -> Arc<str> {
    node(root, keys).map_or_else(|| "".into(), scalar_text)
}

/// The items of the list at the path `keys`. Empty if there is none.
pub(crate) fn items<'a>(root: &'a Node, keys: &[&str]) -> &'a [Node] {
    node(root, keys).and_then(Node::as_sequence).unwrap_or_default()
}

/// The texts of the list at the path `keys`.
pub(crate) fn texts(root: &Node, keys: &[&str]) -> Vec<Arc<str>> {
    items(root, keys).iter().map(scalar_text).collect()
}

/// The mapping of texts at the path `keys`.
pub(crate) fn text_map(root: &Node, keys: &[&str]) -> BTreeMap<Arc<str>, Arc<str>> {
    let entries = node(root, keys).and_then(Node::as_mapping).unwrap_or_default();
    entries.iter().map(|(key, value)| (scalar_text(key), scalar_text(value))).collect()
}

/// The labels at the path `keys`.
pub(crate) fn labels(root: &Node, keys: &[&str]) -> Labels {
    let entries = node(root, keys).and_then(Node::as_mapping).unwrap_or_default();
    entries.iter().map(|(key, value)| (scalar_text(key), scalar_text(value))).collect()
}

/// The text of a scalar. Empty for `null` and for nodes that are not scalars.
pub(crate) fn scalar_text(node: &Node) -> Arc<str> {
    match node.as_scalar() {
        Some(scalar) if !is_null(node) => Arc::clone(&scalar.text),
        _ => "".into(),
    }
}

/// The value of a boolean. None for all other nodes.
pub(crate) fn boolean(node: &Node) -> Option<bool> {
    match node.as_scalar()?.resolve() {
        Resolved::Bool(value) => Some(value),
        _ => None,
    }
}

/// Whether the node is `null`, or has no value.
pub(crate) fn is_null(node: &Node) -> bool {
    node.as_scalar().is_some_and(|scalar| scalar.resolve() == Resolved::Null)
}

/// The part that objects of all kinds have.
#[derive(Clone, Debug)]
pub struct Header {
    /// `metadata.name`, not checked.
    pub name: Arc<str>,
    /// The place of the name.
    pub name_span: Span,
    /// `metadata.labels`
    pub labels: Labels,
    /// `metadata.annotations`
    pub annotations: Labels,
    /// The address of the object.
    pub address: Address,
}

impl Header {
    /// Reads the metadata of the object at `root`. If there is no usable name, reports that, and returns None.
    pub(crate) fn decode(root: &Node, address: Address, decoder: &mut Decoder<'_>) -> Option<Self> {
        let Some(metadata) = node(root, &["metadata"]).filter(|metadata| !is_null(metadata)) else {
            decoder.error(Code::MissingField, root.span, "the object has no `metadata`");
            decoder.help("add `metadata:` with a `name:`");
            return None;
        };
        decoder.check_fields(metadata, METADATA, true);
        let name_node = node(metadata, &["name"])?;
        let labels = |key| self::labels(metadata, &[key]);
        Some(Self {
            name: scalar_text(name_node),
            name_span: name_node.span,
            labels: labels("labels"),
            annotations: labels("annotations"),
            address,
        })
    }
}

/// Collects the diagnostics of one object.
#[derive(Debug)]
pub struct Decoder<'a> {
    file: FileId,
    object: Option<ObjectKey>,
    first: usize,
    /// Errors of the object, listed or not. Errors in independent parts ([`Shape::Parts`]) are not counted.
    errors: usize,
    /// The positions of independent parts with errors.
    broken_parts: BTreeSet<usize>,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// Whether an unknown field is an error.
    is_strict: bool,
    /// Whether the last diagnostic was dropped, because a limit was reached.
    is_dropped: bool,
}

impl<'a> Decoder<'a> {
    /// A decoder for an object of `file`, which appends to `diagnostics`.
    pub(crate) fn new(file: FileId, diagnostics: &'a mut Vec<Diagnostic>) -> Self {
        Self {
            file,
            object: None,
            first: diagnostics.len(),
            errors: 0,
            broken_parts: BTreeSet::new(),
            diagnostics,
            is_strict: false,
            is_dropped: false,
        }
    }

    /// Sets the object of all later diagnostics.
    pub(crate) fn about(&mut self, kind: Kind, name: &Arc<str>) {
        self.object = Some(ObjectKey { kind, name: Arc::clone(name), of: None });
    }

    /// Sets whether unknown fields are errors at the levels below the object's top-level fields.
    pub(crate) fn set_strict(&mut self, is_strict: bool) {
        self.is_strict = is_strict;
    }

    pub(crate) fn has_errors(&self) -> bool {
        self.errors > 0
    }

    /// Whether the part at this position has errors. Such parts are left out of the object.
    pub(crate) fn is_broken_part(&self, position: usize) -> bool {
        self.broken_parts.contains(&position)
    }

    pub(crate) fn error(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::error(code, message), span);
    }

    pub(crate) fn warning(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::warning(code, message), span);
    }

    pub(crate) fn note(&mut self, code: Code, span: Span, message: impl Into<String>) {
        self.push(Diagnostic::hint(code, message), span);
    }

    /// Whether the limit of the object or of its file is reached. The limit for errors is higher, so warnings do not hide errors.
    fn is_enough(&self, is_error: bool) -> bool {
        let room = if is_error { 2 } else { 1 };
        self.diagnostics.len() - self.first >= OBJECT_PROBLEMS_MAX * room
            || self.diagnostics.len() >= FILE_PROBLEMS_MAX * room
    }

    fn push(&mut self, diagnostic: Diagnostic, span: Span) {
        self.errors += usize::from(diagnostic.is_error());
        self.is_dropped = self.is_enough(diagnostic.is_error());
        if self.is_dropped {
            return;
        }
        let mut diagnostic = diagnostic.at(Origin::Span(self.file, span), "");
        diagnostic.object.clone_from(&self.object);
        self.diagnostics.push(diagnostic);
    }

    /// Adds advice to the last diagnostic.
    pub(crate) fn help(&mut self, help: impl Into<String>) {
        if let Some(last) = self.diagnostics.last_mut().filter(|_| !self.is_dropped) {
            last.help.push(help.into());
        }
    }

    /// Checks that the text at the path `keys`, if there is one, has no control characters.
    pub(crate) fn plain_text(&mut self, root: &Node, keys: &[&str]) {
        if let Some(node) = node(root, keys) {
            self.check_plain(node);
        }
    }

    /// Checks that the text at the path `keys`, if there is one, is a possible name: not empty, not too long, without control characters. Letters of
    /// all scripts are allowed.
    pub(crate) fn plain_name(&mut self, root: &Node, keys: &[&str]) {
        let Some(node) = node(root, keys).filter(|node| !is_null(node)) else { return };
        self.check_plain(node);
        let characters = scalar_text(node).chars().count();
        let name = keys.last().copied().unwrap_or_default();
        if characters == 0 {
            self.error(Code::InvalidName, node.span, format!("`{name}` is empty"));
        } else if characters > NAME_LENGTH_MAX {
            let message = format!("`{name}` has {characters} characters, at most {NAME_LENGTH_MAX} are allowed");
            self.error(Code::InvalidName, node.span, message);
        }
    }

    /// Warns of a field of a selector that has a key but no value. Such a field has no effect.
    pub(crate) fn begun_text(&mut self, root: &Node, keys: &[&str]) {
        let Some(node) = node(root, keys).filter(|node| is_null(node)) else { return };
        let name = keys.last().copied().unwrap_or_default();
        self.warning(Code::InvalidSelector, node.span, format!("`{name}` has no value, so any value matches"));
        self.help(format!("write a value, or remove `{name}`"));
    }

    /// Checks the shape of an object: it has these fields, and others only if it `is_open`.
    pub(crate) fn check_object(&mut self, root: &Node, fields: &[Field], is_open: bool) {
        const OF_ALL: [&str; 4] = ["apiVersion", "kind", "metadata", "status"];
        self.check_required(root, fields);
        for (key, value) in root.as_mapping().unwrap_or_default() {
            let name = scalar_text(key);
            match fields.iter().find(|field| field.name == &*name) {
                // Kinds of other systems have fields at every level that Kalypso does not use.
                Some(Field { shape: Shape::Fields(fields), .. }) if is_open => self.check_fields(value, fields, true),
                Some(field) => self.check(value, &field.shape, field.name),
                None if OF_ALL.contains(&&*name) || is_open => {}
                None => self.unknown_field(key, fields, false),
            }
        }
    }

    fn check_fields(&mut self, node: &Node, fields: &[Field], is_open: bool) {
        let Some(entries) = node.as_mapping() else {
            self.wrong_type(node, "a mapping", "");
            return;
        };
        self.check_required(node, fields);
        for (key, value) in entries {
            let name = scalar_text(key);
            match fields.iter().find(|field| field.name == &*name) {
                Some(field) if is_null(value) && !field.required => {}
                Some(field) => self.check(value, &field.shape, field.name),
                None if is_open => {}
                None => self.unknown_field(key, fields, self.is_strict),
            }
        }
    }

    fn check_required(&mut self, node: &Node, fields: &[Field]) {
        for field in fields.iter().filter(|field| field.required) {
            if node.get(field.name).is_none_or(is_null) {
                let span = node.key_span(field.name).unwrap_or_else(|| heading(node));
                self.error(Code::MissingField, span, format!("`{}` is missing", field.name));
                self.help(format!("add `{}`: {}", field.name, lower_first(field.doc)));
            }
        }
    }

    fn unknown_field(&mut self, key: &Node, fields: &[Field], is_error: bool) {
        let name = scalar_text(key);
        let message = format!("there is no field `{}` here", cut(&name));
        if is_error {
            self.error(Code::UnknownField, key.span, message);
        } else {
            self.warning(Code::UnknownField, key.span, format!("{message}: it is ignored"));
        }
        match nearest(&name, fields.iter().map(|field| field.name)) {
            Some(nearest) => self.help(format!("did you mean `{nearest}`?")),
            _ if fields.is_empty() => {}
            _ => {
                let names: Vec<_> = fields.iter().map(|field| format!("`{}`", field.name)).collect();
                self.help(format!("the fields here are {}", names.join(", ")));
            }
        }
    }

    fn check(&mut self, node: &Node, shape: &Shape, name: &str) {
        if is_null(node) {
            return;
        }
        match shape {
            Shape::Any => {}
            Shape::Text => self.check_text(node, name),
            Shape::Name => self.check_name(node, name),
            Shape::Boolean => {
                if boolean(node).is_none() {
                    self.wrong_type(node, "`true` or `false`", name);
                }
            }
            Shape::Integer => {
                let resolved = node.as_scalar().map(Scalar::resolve);
                if !matches!(resolved, Some(Resolved::Int(_) | Resolved::Uint(_))) {
                    self.wrong_type(node, "a whole number", name);
                }
            }
            Shape::TextOrNumber => self.check_text_or_number(node, name),
            Shape::OneOf(texts) => self.check_one_of(node, texts, name),
            Shape::Timestamp => self.check_timestamp(node, name),
            Shape::TextMap => self.check_text_map(node, name, false),
            Shape::PlainTextMap => self.check_text_map(node, name, true),
            Shape::Fields(fields) => self.check_fields(node, fields, false),
            Shape::List(item) => match node.as_sequence() {
                Some(items) => items.iter().for_each(|node| self.check(node, item, name)),
                None => self.wrong_type(node, "a list", name),
            },
            Shape::Parts(part) => match node.as_sequence() {
                Some(parts) => self.check_parts(parts, part, name),
                None => self.wrong_type(node, "a list", name),
            },
        }
    }

    /// Checks independent values: an error in one of them is no error of the whole object.
    fn check_parts(&mut self, parts: &[Node], shape: &Shape, name: &str) {
        for (position, node) in parts.iter().enumerate() {
            let errors = self.errors;
            self.check(node, shape, name);
            if self.errors > errors {
                self.errors = errors;
                self.broken_parts.insert(position);
            }
        }
    }

    fn check_text(&mut self, node: &Node, name: &str) {
        if !node.as_scalar().is_some_and(|scalar| matches!(scalar.resolve(), Resolved::Text(_))) {
            self.wrong_type(node, "a text", name);
        }
    }

    fn check_text_or_number(&mut self, node: &Node, name: &str) {
        if !node.as_scalar().is_some_and(|scalar| !matches!(scalar.resolve(), Resolved::Bool(_))) {
            self.wrong_type(node, "a text or a number", name);
        }
    }

    fn check_name(&mut self, node: &Node, name: &str) {
        let count = self.diagnostics.len();
        self.check_text(node, name);
        if self.diagnostics.len() > count {
            return;
        }
        let text = scalar_text(node);
        if let Err(error) = crate::name::check(&text) {
            self.error(Code::InvalidName, node.span, format!("{} is not a name: {error}", shown(&text)));
            self.help("names become folders and Kubernetes names: use a-z, 0-9, `-` and `.`");
        }
    }

    fn check_one_of(&mut self, node: &Node, texts: &[&str], name: &str) {
        self.check_text(node, name);
        let text = scalar_text(node);
        if node.as_scalar().is_some() && !texts.contains(&&*text) {
            let possible: Vec<_> = texts.iter().map(|text| format!("`{text}`")).collect();
            self.error(Code::WrongType, node.span, format!("`{name}` can't be {}", shown(&text)));
            self.help(format!("it is one of {}", possible.join(", ")));
        }
    }

    fn check_timestamp(&mut self, node: &Node, name: &str) {
        if node.as_scalar().is_none() {
            self.wrong_type(node, "a date or a timestamp", name);
            return;
        }
        let text = scalar_text(node);
        if text.parse::<Expiry>().is_err() {
            self.error(
                Code::WrongType,
                node.span,
                format!("`{name}` must be a date or a timestamp, here it is {}", shown(&text)),
            );
            self.help("write a date as `2027-01-31`, a timestamp as `2027-01-31T12:00:00Z`");
        }
    }

    fn check_text_map(&mut self, node: &Node, name: &str, plain: bool) {
        let Some(entries) = node.as_mapping() else {
            self.wrong_type(node, "a mapping of texts", name);
            return;
        };
        if plain {
            self.check_texts_size(node, entries, name);
        }
        for (key, value) in entries {
            let Some(scalar) = key.as_scalar() else {
                self.wrong_type(key, "a text", "key");
                continue;
            };
            // Kubernetes reads a missing value as the empty text.
            if !is_null(value) {
                self.check_text(value, &scalar.text);
            }
            if plain {
                self.check_plain(key);
                self.check_plain(value);
            }
        }
    }

    fn check_texts_size(&mut self, node: &Node, entries: &[(Node, Node)], name: &str) {
        let bytes = |node: &Node| node.as_scalar().map_or(0, |scalar| scalar.text.len());
        let size: usize = entries.iter().map(|(key, value)| bytes(key) + bytes(value)).sum();
        if size > PLAIN_TEXTS_BYTES_MAX {
            let message = format!("`{name}` has {size} bytes; the maximum is {PLAIN_TEXTS_BYTES_MAX}");
            self.error(Code::TextsTooLarge, heading(node), message);
            self.help("store the content elsewhere, and put its address here");
        }
    }

    fn check_plain(&mut self, node: &Node) {
        let text = scalar_text(node);
        // YAML 1.1 also breaks lines at U+2028 and U+2029. The other characters are invisible: a byte order mark, and those that change the direction of
        // text, so that people read a different text than programs do.
        let is_refused = |c: &char| {
            let is_invisible = matches!(c, '\u{feff}' | '\u{200e}' | '\u{200f}' | '\u{61c}');
            let turns = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
            c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') || is_invisible || turns
        };
        if let Some(character) = text.chars().find(is_refused) {
            let message = format!("{character:?} can't be in this text, which becomes part of manifests");
            self.error(Code::ControlCharacter, node.span, message);
            self.help("write it on one line, without control characters");
        }
    }

    fn wrong_type(&mut self, node: &Node, expected: &str, name: &str) {
        let found = match &node.value {
            NodeValue::Sequence(_) => "a list",
            NodeValue::Mapping(_) => "a mapping",
            NodeValue::Scalar(scalar) => match scalar.resolve() {
                Resolved::Null => "nothing",
                Resolved::Bool(_) => "a boolean",
                Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_) => "a number",
                Resolved::Text(_) => "a text",
            },
        };
        let subject = if name.is_empty() { "this".to_owned() } else { format!("`{}`", cut(name)) };
        self.error(Code::WrongType, node.span, format!("{subject} must be {expected}, here it is {found}"));
        if let (Some(scalar), true) = (node.as_scalar(), expected == "a text") {
            self.help(format!("put it in quotes: \"{}\"", cut(&scalar.text)));
        }
    }
}

/// The first line of a node, to point at a node with something missing.
fn heading(node: &Node) -> Span {
    match &node.value {
        NodeValue::Mapping(entries) => entries.first().map_or(node.span, |(key, _)| key.span),
        _ => node.span,
    }
}

fn lower_first(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

/// A word for a message, cut if it is long.
pub(crate) fn cut(word: &str) -> Cow<'_, str> {
    match word.char_indices().nth(SIMILAR_WORD_BYTES_MAX) {
        Some((end, _)) => format!("{}…", word.get(..end).unwrap_or_default()).into(),
        None => word.into(),
    }
}

/// A text for a message, in quotes, and cut if it is long.
fn shown(text: &str) -> String {
    const SHOWN_MAX: usize = 60;
    if text.chars().count() <= SHOWN_MAX {
        return format!("{text:?}");
    }
    let start: String = text.chars().take(SHOWN_MAX).collect();
    format!("{start:?}…")
}
