//! Builds the tree of a document from the events of the parser.

mod conform;

use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, ScalarStyle as Style, StructureStyle};

use self::conform::Conformity;
use super::fault;
use super::keys::{self, Entry};
use super::problem::Findings;
use super::recent::Recent;
use super::source::{block_span, ends_without_newline};
use super::{Node, NodeValue, Scalar, ScalarStyle, Span, Tag, YamlLimits, YamlOptions, YamlProblem};

/// Builds the documents of a text, one after the other.
pub(super) struct Builder<'t> {
    text: &'t str,
    options: YamlOptions,
    frames: Vec<Frame>,
    root: Option<Node>,
    anchors: HashMap<usize, Part>,
    findings: Findings,
    texts: Recent,
    /// The range of the last event that has a range in the text.
    last: Span,
    /// The contents of scalars that the parser reads differently, by the offset where each begins.
    contents: HashMap<usize, Arc<str>>,
    conformity: Conformity,
    /// Nodes written in this document, and nodes that aliases add to it.
    written: usize,
    expanded: usize,
    /// Nodes written in the whole text.
    total: usize,
}

/// A finished node with its size.
#[derive(Clone)]
struct Part {
    node: Node,
    /// The number of nodes in it, counted as in [`YamlLimits::alias_nodes`].
    weight: usize,
    /// The depth of nested collections.
    depth: usize,
}

/// A collection that is still open.
struct Frame {
    children: Children,
    span: Span,
    anchor: usize,
    /// Whether the collection is in flow style, and whether it has brackets or braces of its own.
    flow: bool,
    bracketed: bool,
    /// Whether the last key has the key indicator `?`.
    has_indicator: bool,
    /// The column that lines of plain scalars in it need.
    indent: usize,
    /// The sums of [`Part::weight`] and the maximum of [`Part::depth`] of its children so far.
    weight: usize,
    depth: usize,
}

enum Children {
    Items(Vec<Node>),
    Entries { entries: Vec<Entry>, key: Option<Node> },
}

impl Frame {
    fn new(children: Children, style: StructureStyle, anchor: usize) -> Self {
        let flow = style == StructureStyle::Flow;
        Self {
            children,
            span: Span::default(),
            anchor,
            flow,
            bracketed: flow,
            has_indicator: false,
            indent: 0,
            weight: 1,
            depth: 0,
        }
    }
}

/// A problem ends the reading of its document. It is in a box because many functions return it.
type Added = Result<(), Box<YamlProblem>>;

impl<'t> Builder<'t> {
    pub(super) fn new(text: &'t str, options: &YamlOptions) -> Self {
        Self {
            text,
            options: *options,
            frames: Vec::new(),
            root: None,
            anchors: HashMap::new(),
            findings: Findings::new(options.limits.problems),
            texts: Recent::within(text.len()),
            last: Span::default(),
            contents: HashMap::new(),
            conformity: Conformity::new(),
            written: 0,
            expanded: 0,
            total: 0,
        }
    }

    /// Sets the contents of scalars that the parser reads differently, by the offset where each begins.
    pub(super) fn with_contents(self, contents: HashMap<usize, Arc<str>>) -> Self {
        Self { contents, ..self }
    }

    /// The range of the last event, to explain a later error.
    pub(super) fn last(&self) -> Span {
        self.last
    }

    /// The innermost open bracket or brace.
    pub(super) fn open_bracket(&self) -> Option<Span> {
        self.frames
            .iter()
            .rev()
            .find(|frame| frame.bracketed)
            .map(|frame| Span::new(frame.span.start as usize, frame.span.start as usize + 1))
    }

    /// The findings in all documents so far.
    pub(super) fn findings(&mut self) -> &mut Findings {
        &mut self.findings
    }

    /// All findings.
    pub(super) fn into_problems(self) -> Vec<YamlProblem> {
        self.findings.into_problems()
    }

    /// Processes an event. After an error, the rest of the document must not be read.
    pub(super) fn add(&mut self, event: Event<'_>, place: &granit_parser::Span) -> Added {
        let span = place.byte_range().map_or(self.last, |range| Span::new(range.start, range.end));
        self.check_before(&event, span);
        let added = self.add_checked(event, (place, span));
        self.check_after();
        added
    }

    fn add_checked(&mut self, event: Event<'_>, (place, span): (&granit_parser::Span, Span)) -> Added {
        match event {
            Event::Scalar(text, style, anchor, tag) => {
                let tag = tag.map(|tag| self.scalar_tag(&tag, place));
                let content = self.contents.get(&(span.start as usize)).cloned();
                let text = content.unwrap_or_else(|| self.texts.share(&text));
                let part = self.scalar(Scalar { text, style: style_of(style), tag }, span);
                self.last = part.node.span;
                self.check_scalar(&part.node);
                self.count()?;
                self.close(part, anchor);
                Ok(())
            }
            Event::SequenceStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), place);
                self.open(Frame::new(Children::Items(Vec::new()), style, anchor), (place, span))
            }
            Event::MappingStart(style, anchor, tag) => {
                self.collection_tag(tag.as_deref(), place);
                let children = Children::Entries { entries: Vec::new(), key: None };
                self.open(Frame::new(children, style, anchor), (place, span))
            }
            Event::SequenceEnd | Event::MappingEnd => {
                self.end_collection(span);
                Ok(())
            }
            Event::Alias(anchor) => self.alias(anchor, span),
            Event::UnresolvedAlias(name) => Err(fault::unknown_alias(&name, span).into()),
            Event::DocumentStart(true, _) => {
                self.last = span;
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// The document as far as it was read, None if it is empty. After that, the builder is ready for the next document.
    pub(super) fn finish(&mut self) -> Option<Node> {
        while let Some(frame) = self.frames.pop() {
            let part = self.assemble(frame, self.last.end);
            self.attach(part);
        }
        self.anchors.clear();
        self.conformity.end_document();
        (self.written, self.expanded) = (0, 0);
        let is_empty = |root: &Node| {
            root.span.start == root.span.end && root.as_scalar().is_some_and(|scalar| scalar.tag.is_none())
        };
        self.root.take().filter(|root| !is_empty(root))
    }

    fn count(&mut self) -> Added {
        self.written += 1;
        self.total += 1;
        let limit = self.options.limits.nodes;
        if self.total > limit { Err(fault::too_many_nodes(limit, self.last).into()) } else { Ok(()) }
    }

    fn open(&mut self, mut frame: Frame, (place, span): (&granit_parser::Span, Span)) -> Added {
        frame.indent = self.indent_of(&frame, (place, span));
        // `[a: b]` contains a mapping without braces.
        frame.bracketed &= span.start < span.end;
        frame.span = span;
        self.last = span;
        self.count()?;
        self.check_depth(self.frames.len() + 1)?;
        self.frames.push(frame);
        Ok(())
    }

    /// The column that lines of plain scalars in a collection need.
    fn indent_of(&self, frame: &Frame, (place, span): (&granit_parser::Span, Span)) -> usize {
        let around = self.frames.last();
        let inherited = around.map_or(0, |frame| frame.indent);
        // The items of a list can be in the column of its key. The parser gives the place after the first dash.
        let is_value = around.is_some_and(|frame| matches!(&frame.children, Children::Entries { key: Some(_), .. }));
        let follows_dash = || {
            self.text
                .get(..span.start as usize)
                .is_some_and(|text| text.trim_end_matches([' ', '\t', '\n', '\r']).ends_with('-'))
        };
        let is_in_column_of_key = is_value && matches!(frame.children, Children::Items(_)) && follows_dash();
        if frame.flow || is_in_column_of_key { inherited } else { place.start.col() + 1 }
    }

    fn end_collection(&mut self, span: Span) {
        let Some(frame) = self.frames.pop() else { return };
        if frame.bracketed {
            self.last.end = span.end;
        }
        let anchor = frame.anchor;
        let part = self.assemble(frame, self.last.end);
        self.close(part, anchor);
    }

    fn alias(&mut self, anchor: usize, span: Span) -> Added {
        self.last = span;
        self.count()?;
        // While a collection is still open, its anchor is not defined yet.
        let part = self.anchors.get(&anchor).cloned().ok_or_else(|| fault::cycle(span))?;
        self.check_depth(self.frames.len() + part.depth)?;
        self.expanded += part.weight;
        let allowed =
            self.options.limits.alias_nodes.min(YamlLimits::FREE_ALIAS_NODES + YamlLimits::ALIAS_RATIO * self.written);
        if self.expanded > allowed {
            return Err(fault::excessive_aliases(allowed, span).into());
        }
        self.attach(part);
        Ok(())
    }

    fn check_depth(&self, depth: usize) -> Added {
        let limit = self.options.limits.depth;
        if depth > limit { Err(fault::too_deep(limit, self.last).into()) } else { Ok(()) }
    }

    fn assemble(&mut self, frame: Frame, end: u32) -> Part {
        let value = match frame.children {
            Children::Items(items) => NodeValue::Sequence(items.into()),
            Children::Entries { entries, .. } => NodeValue::Mapping(
                keys::settle(entries, frame.span.start, self.options.dialect, &mut self.findings).into(),
            ),
        };
        let node = Node { span: Span { start: frame.span.start, end: end.max(frame.span.end) }, value };
        Part { node, weight: frame.weight, depth: frame.depth + 1 }
    }

    fn close(&mut self, part: Part, anchor: usize) {
        if anchor != 0 {
            self.anchors.insert(anchor, part.clone());
        }
        self.attach(part);
    }

    fn attach(&mut self, part: Part) {
        let Some(frame) = self.frames.last_mut() else {
            self.root = Some(part.node);
            return;
        };
        frame.weight += part.weight;
        frame.depth = frame.depth.max(part.depth);
        match &mut frame.children {
            Children::Items(items) => items.push(part.node),
            Children::Entries { entries, key } => match key.take() {
                None => *key = Some(part.node),
                Some(key) => entries.push((key, part.node)),
            },
        }
    }

    fn scalar(&mut self, mut scalar: Scalar, span: Span) -> Part {
        let left_out = scalar.style == ScalarStyle::Plain && span.start == span.end;
        let span = match scalar.style {
            ScalarStyle::Literal | ScalarStyle::Folded => block_span(self.text, self.last.end, span),
            _ if left_out => self.behind_colon(span),
            _ => span,
        };
        if left_out {
            // The parser returns `~` here.
            scalar.text = "".into();
        }
        if matches!(scalar.style, ScalarStyle::Literal | ScalarStyle::Folded)
            && ends_without_newline(self.text, &scalar.text, span)
        {
            // The parser adds a line break that the text does not have. Go's libraries do not.
            scalar.text = scalar.text.strip_suffix('\n').unwrap_or(&scalar.text).into();
        }
        if let Err(problem) = fault::apply_tag(&mut scalar, span) {
            self.findings.add(*problem);
        }
        let weight = 1 + scalar.text.len() / YamlLimits::BYTES_PER_NODE;
        Part { node: Node { span, value: NodeValue::Scalar(scalar) }, weight, depth: 0 }
    }

    /// The place of a missing value: after the colon. The parser places it after the key.
    fn behind_colon(&self, span: Span) -> Span {
        let at = span.start as usize;
        if self.text.as_bytes().get(at) == Some(&b':') { Span::at(at + 1) } else { span }
    }

    fn scalar_tag(&mut self, tag: &granit_parser::Tag, place: &granit_parser::Span) -> Tag {
        known_tag(tag).unwrap_or_else(|| {
            self.findings.add(fault::unknown_tag(&tag.original(), place));
            Tag::Unknown
        })
    }

    fn collection_tag(&mut self, tag: Option<&granit_parser::Tag>, place: &granit_parser::Span) {
        let Some(tag) = tag else { return };
        let expected = tag.core_suffix().is_some_and(|name| matches!(name, "map" | "seq")) || tag.parts() == ("!", "");
        if !expected {
            self.findings.add(fault::unknown_tag(&tag.original(), place));
        }
    }
}

fn known_tag(tag: &granit_parser::Tag) -> Option<Tag> {
    if tag.parts() == ("!", "") || tag.parts() == ("", "!") {
        return Some(Tag::Text);
    }
    match tag.suffix_in_namespace("tag:yaml.org,2002:")?.as_ref() {
        "null" => Some(Tag::Null),
        "bool" => Some(Tag::Bool),
        "int" => Some(Tag::Int),
        "float" => Some(Tag::Float),
        "str" => Some(Tag::Text),
        "binary" => Some(Tag::Binary),
        "timestamp" => Some(Tag::Timestamp),
        "merge" => Some(Tag::Merge),
        _ => None,
    }
}

fn style_of(style: Style) -> ScalarStyle {
    match style {
        Style::Plain => ScalarStyle::Plain,
        Style::SingleQuoted => ScalarStyle::SingleQuoted,
        Style::DoubleQuoted => ScalarStyle::DoubleQuoted,
        Style::Literal => ScalarStyle::Literal,
        Style::Folded => ScalarStyle::Folded,
    }
}
