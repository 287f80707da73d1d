//! Writes a tree of values as one block-style YAML document.
//!
//! Uses the same states as yaml.v3's emitter, where they affect the output.

use std::borrow::Cow;

use super::NESTING_MAX;
use super::order;
use super::scalar::{self, Scalar, Style};
use crate::budget::{Budget, Exhausted};
use crate::format::{FloatFormat, format_float};
use crate::function::FunctionError;
use crate::value::{Entries, Key, ListKind, Struct, Value};

/// The spaces of one indentation level.
const INDENT: usize = 4;
/// The longest key, in bytes, that is written without `? `.
const SIMPLE_KEY_MAX: usize = 128;
/// The number of bytes that one step pays for.
const BYTES_PER_STEP: u64 = 64;
/// The tag of texts that are not UTF-8.
const BINARY_TAG: &str = "!!binary";

/// Writes `value` as a YAML document.
pub(super) fn emit(value: &Value, budget: &mut Budget) -> Result<Vec<u8>, FunctionError> {
    let mut emitter = Emitter::new(budget);
    emitter.node(value, NodePlace::ROOT)?;
    emitter.finish()
}

/// Writes the map with these entries as a YAML document. Lists and maps in it become texts.
pub(super) fn emit_texts(entries: &Entries, budget: &mut Budget) -> Result<Vec<u8>, FunctionError> {
    let mut emitter = Emitter::new(budget);
    emitter.map(entries, NodePlace::ROOT, Emitter::text_node)?;
    emitter.finish()
}

/// The place of a node in the document.
#[derive(Clone, Copy)]
struct NodePlace {
    /// The column of the enclosing collection. None at the top.
    indent: Option<usize>,
    parent: Parent,
    depth: u32,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Parent {
    Document,
    Item,
    Entry,
}

impl NodePlace {
    const ROOT: Self = Self { indent: None, parent: Parent::Document, depth: 0 };

    /// The column of a collection's lines at this place.
    fn collection_indent(self) -> usize {
        self.indent.map_or(0, |indent| self.below(indent))
    }

    /// The column of a scalar's second and later lines at this place.
    fn scalar_indent(self) -> usize {
        self.indent.map_or(INDENT, |indent| self.below(indent))
    }

    /// The next column below `indent`. After `- ` it is two columns to the right, otherwise at the next multiple of [`INDENT`].
    fn below(self, indent: usize) -> usize {
        if self.parent == Parent::Item { indent + 2 } else { INDENT * (indent / INDENT + 1) }
    }

    /// The place of a node inside a collection at this place. The collection's lines begin at column `indent`.
    fn inside(self, indent: usize, parent: Parent) -> Result<Self, Exhausted> {
        if self.depth >= NESTING_MAX {
            return Err(Exhausted::Depth(NESTING_MAX));
        }
        Ok(Self { indent: Some(indent), parent, depth: self.depth + 1 })
    }
}

struct Emitter<'a> {
    out: Vec<u8>,
    /// The index in `out` where the current line begins.
    line_start: usize,
    /// Whether the next token needs no space before it.
    after_blank: bool,
    /// Whether the current line contains only indentation and indicators.
    in_indentation: bool,
    /// The number of bytes of `out` that are charged for.
    charged: usize,
    budget: &'a mut Budget,
}

/// A function that writes a value at a place.
type WriteNode<'a> = fn(&mut Emitter<'a>, &Value, NodePlace) -> Result<(), FunctionError>;

impl<'a> Emitter<'a> {
    fn new(budget: &'a mut Budget) -> Self {
        Self { out: Vec::new(), line_start: 0, after_blank: true, in_indentation: true, charged: 0, budget }
    }

    fn finish(mut self) -> Result<Vec<u8>, FunctionError> {
        self.indent_to(0);
        self.charge()?;
        Ok(self.out)
    }

    fn node(&mut self, value: &Value, place: NodePlace) -> Result<(), FunctionError> {
        self.budget.steps(1)?;
        self.charge()?;
        match value {
            Value::Missing | Value::Nil => self.plain("null"),
            Value::Bool(flag) => self.plain(if *flag { "true" } else { "false" }),
            Value::Int(number, _) => self.plain(number.to_string()),
            Value::Uint(number, _) => self.plain(number.to_string()),
            Value::Float(number) => self.plain(float(*number)),
            Value::Complex(..) => return Err(FunctionError::error("cannot marshal type: complex128")),
            Value::Text(text) => self.text(text.as_bytes(), place)?,
            Value::Duration(nanoseconds) => {
                self.scalar(&Scalar::new(crate::time::duration_text(*nanoseconds).as_bytes()), place)?;
            }
            Value::Time(time) => self.plain(time.to_rfc3339()),
            Value::List(list) => self.list(list.items(), place)?,
            Value::Map(map) => self.map(map.entries(), place, Self::node)?,
            Value::Struct(fields) => self.fields(fields, place)?,
            // A struct without exported fields.
            Value::Version(_) => self.plain("{}"),
            Value::Tainted(tainted) => self.node(&tainted.value, place)?,
        }
        Ok(())
    }

    /// Writes a value. A list or map becomes a text that contains its YAML. As in Go, typed slices are not converted.
    fn text_node(&mut self, value: &Value, place: NodePlace) -> Result<(), FunctionError> {
        let is_typed = matches!(value, Value::List(list) if list.kind != ListKind::Any);
        let known = if is_typed { None } else { value.known() };
        let Some(known) = known else { return self.node(value, place) };
        let text = known.yaml.get(self.budget, |budget| emit(value, budget).map(Box::from))?;
        self.scalar(&Scalar::new(text), place)
    }

    fn text(&mut self, text: &[u8], place: NodePlace) -> Result<(), FunctionError> {
        if scalar::is_evidently_plain(text) {
            self.plain(text);
            return Ok(());
        }
        self.scalar(&Scalar::new(text), place)
    }

    fn list(&mut self, items: &[Value], place: NodePlace) -> Result<(), FunctionError> {
        if items.is_empty() {
            self.plain("[]");
            return Ok(());
        }
        let indent = place.collection_indent();
        let inside = place.inside(indent, Parent::Item)?;
        for item in items {
            self.indent_to(indent);
            self.block_indicator("-");
            self.node(item, inside)?;
        }
        Ok(())
    }

    fn map(&mut self, entries: &Entries, place: NodePlace, write_node: WriteNode<'a>) -> Result<(), FunctionError> {
        if entries.is_empty() {
            self.plain("{}");
            return Ok(());
        }
        let indent = place.collection_indent();
        let inside = place.inside(indent, Parent::Entry)?;
        for (key, value) in order::sorted(entries) {
            self.indent_to(indent);
            self.key(key, inside)?;
            write_node(self, value, inside)?;
        }
        Ok(())
    }

    fn fields(&mut self, fields: &Struct, place: NodePlace) -> Result<(), FunctionError> {
        if fields.fields.is_empty() {
            self.plain("{}");
            return Ok(());
        }
        let indent = place.collection_indent();
        let inside = place.inside(indent, Parent::Entry)?;
        for (name, value) in &fields.fields {
            self.indent_to(indent);
            self.text_key(name.to_lowercase().as_bytes(), inside)?;
            self.node(value, inside)?;
        }
        Ok(())
    }

    /// Writes a key and its colon.
    fn key(&mut self, key: &Key, place: NodePlace) -> Result<(), FunctionError> {
        let plain: Cow<'_, str> = match key {
            Key::Text(text) => return self.text_key(text.as_bytes(), place),
            Key::Nil => "null".into(),
            Key::Bool(flag) => flag.to_string().into(),
            Key::Int(number) => number.to_string().into(),
            Key::Uint(number) => number.to_string().into(),
            Key::Float(number) => float(number.0).into(),
        };
        self.plain(&*plain);
        self.indicator(":");
        Ok(())
    }

    fn text_key(&mut self, key: &[u8], place: NodePlace) -> Result<(), FunctionError> {
        if key.len() <= SIMPLE_KEY_MAX && scalar::is_evidently_plain(key) {
            self.plain(key);
            self.indicator(":");
            return Ok(());
        }
        let scalar = Scalar::new(key);
        let tag_length = if scalar.binary { BINARY_TAG.len() } else { 0 };
        if !scalar.multiline && scalar.text.len() + tag_length <= SIMPLE_KEY_MAX {
            // The key is not a block: blocks have more than one line.
            self.scalar(&scalar, place)?;
            self.indicator(":");
            return Ok(());
        }
        self.block_indicator("?");
        self.scalar(&scalar, place)?;
        self.indent_to(place.indent.unwrap_or(0));
        self.block_indicator(":");
        Ok(())
    }

    fn scalar(&mut self, scalar: &Scalar<'_>, place: NodePlace) -> Result<(), FunctionError> {
        if scalar.binary {
            self.plain(BINARY_TAG);
        }
        match scalar.style {
            Style::Plain => self.plain(&*scalar.text),
            Style::SingleQuoted => self.single_quoted(&scalar.text, place.scalar_indent())?,
            Style::DoubleQuoted => self.double_quoted(&scalar.text),
            Style::Literal => self.literal(&scalar.text, place.scalar_indent())?,
        }
        Ok(())
    }

    fn plain(&mut self, text: impl AsRef<[u8]>) {
        self.blank();
        self.out.extend_from_slice(text.as_ref());
        self.token_written();
    }

    fn single_quoted(&mut self, text: &str, indent: usize) -> Result<(), FunctionError> {
        self.blank();
        self.out.push(b'\'');
        self.token_written();
        let mut after_break = false;
        for piece in pieces(text) {
            if piece.starts_with(scalar::is_break) {
                self.copy_break(piece);
                after_break = true;
                continue;
            }
            if after_break {
                self.indent_to(indent);
                self.charge()?;
            }
            for (index, part) in piece.split('\'').enumerate() {
                if index > 0 {
                    self.out.extend_from_slice(b"''");
                }
                self.out.extend_from_slice(part.as_bytes());
            }
            self.in_indentation = false;
            after_break = false;
        }
        self.out.push(b'\'');
        self.token_written();
        Ok(())
    }

    fn double_quoted(&mut self, text: &str) {
        self.blank();
        scalar::write_double_quoted(&mut self.out, text);
        self.token_written();
    }

    fn literal(&mut self, text: &str, indent: usize) -> Result<(), FunctionError> {
        self.blank();
        self.out.push(b'|');
        self.token_written();
        self.out.extend_from_slice(scalar::block_hints(text).as_bytes());
        self.after_blank = true;
        // yaml.v3 does not end the line of the header: the first line does. If the text begins with a line break, that break is lost.
        let mut after_break = true;
        for piece in pieces(text) {
            if piece.starts_with(scalar::is_break) {
                self.copy_break(piece);
                after_break = true;
                continue;
            }
            if after_break {
                self.indent_to(indent);
                self.charge()?;
            }
            self.out.extend_from_slice(piece.as_bytes());
            self.in_indentation = false;
            after_break = false;
        }
        Ok(())
    }

    /// Writes an indicator. A collection can follow it in the same line.
    fn block_indicator(&mut self, indicator: &str) {
        self.blank();
        self.out.extend_from_slice(indicator.as_bytes());
        self.after_blank = false;
    }

    fn indicator(&mut self, indicator: &str) {
        self.out.extend_from_slice(indicator.as_bytes());
        self.token_written();
    }

    fn token_written(&mut self) {
        self.after_blank = false;
        self.in_indentation = false;
    }

    fn blank(&mut self) {
        if !self.after_blank {
            self.out.push(b' ');
        }
    }

    /// Moves to column `indent`. Begins a new line if the current line already contains something there.
    fn indent_to(&mut self, indent: usize) {
        let column = self.out.len() - self.line_start;
        if !self.in_indentation || column > indent || (column == indent && !self.after_blank) {
            self.copy_break("\n");
        }
        self.out.resize(self.line_start + indent, b' ');
        self.after_blank = true;
    }

    fn copy_break(&mut self, line_break: &str) {
        self.out.extend_from_slice(line_break.as_bytes());
        self.line_start = self.out.len();
        self.in_indentation = true;
    }

    fn charge(&mut self) -> Result<(), Exhausted> {
        let bytes = self.out.len() - self.charged;
        self.charged = self.out.len();
        self.budget.steps(bytes as u64 / BYTES_PER_STEP)?;
        self.budget.output(bytes)
    }
}

/// Splits `text` into single line breaks and the texts between them.
fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let first = rest.chars().next()?;
        let length =
            if scalar::is_break(first) { first.len_utf8() } else { rest.find(scalar::is_break).unwrap_or(rest.len()) };
        let (piece, after) = rest.split_at(length);
        rest = after;
        Some(piece)
    })
}

/// Go's shortest `%g`, with YAML's names for infinity and NaN.
fn float(number: f64) -> String {
    match format_float(number, FloatFormat::General, None).as_str() {
        "NaN" => ".nan".to_owned(),
        "+Inf" => ".inf".to_owned(),
        "-Inf" => "-.inf".to_owned(),
        finite => finite.to_owned(),
    }
}
