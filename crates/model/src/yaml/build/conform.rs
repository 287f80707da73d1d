//! Checks the events of the parser for forms that Go's libraries refuse.

use granit_parser::{Event, ScalarStyle as Style};

use super::{Builder, Children};
use crate::yaml::refused::{self, Gap, Surroundings};
use crate::yaml::{Node, NodeValue, Span, YamlDialect, YamlProblem};

/// What was checked of a text.
#[derive(Default)]
pub(super) struct Conformity {
    /// The offset up to which the text was checked. None after a document that can't be read: the next one is checked from its beginning.
    checked: Option<usize>,
    /// The column that blanks need after a plain scalar. None if the last event is not a plain scalar.
    plain_indent: Option<usize>,
    /// Whether this document has a problem. Only its first one is reported.
    is_reported: bool,
    /// The number of documents that have begun.
    begun: usize,
}

impl Conformity {
    pub(super) fn new() -> Self {
        Self { checked: Some(0), ..Self::default() }
    }

    /// Prepares for the next document.
    pub(super) fn end_document(&mut self) {
        self.is_reported = false;
    }
}

impl Builder<'_> {
    /// Checks the text before an event, and the place of the event.
    pub(super) fn check_before(&mut self, event: &Event<'_>, span: Span) {
        let is_node = is_node(event);
        let is_between = matches!(event, Event::DocumentStart(..) | Event::StreamEnd);
        let is_end = matches!(event, Event::DocumentEnd);
        let closes = matches!(event, Event::SequenceEnd | Event::MappingEnd) && span.start < span.end;
        if let Some(start) = self.conformity.checked.filter(|_| is_node || is_between || is_end || closes) {
            let gap = match event {
                Event::DocumentEnd => Gap::after_document(self.text, start),
                Event::StreamEnd => Gap { text: self.text, start, end: self.text.len() },
                _ => Gap { text: self.text, start, end: (span.start as usize).max(start) },
            };
            let in_brackets = self.frames.last().is_some_and(|frame| frame.flow);
            let mut found = gap.tab(self.conformity.plain_indent, in_brackets);
            if is_between {
                found = found.or_else(|| gap.line_before_document(self.conformity.begun == 0));
            }
            if is_node {
                found = found.or_else(|| gap.anchor_name()).or_else(|| self.check_key(event, span, gap));
            }
            self.refuse(found);
            self.conformity.checked = Some(gap.end);
        }
        if let Event::DocumentStart(is_marked, _) = event {
            let is_unmarked = !is_marked && self.conformity.begun > 0 && self.conformity.checked.is_some();
            self.refuse(is_unmarked.then(|| refused::unmarked_document(span.start as usize)));
            self.conformity.begun += 1;
            self.conformity.checked.get_or_insert(span.start as usize);
        }
        if is_node || is_between || closes {
            let is_plain = matches!(event, Event::Scalar(_, Style::Plain, ..)) && span.start < span.end;
            self.conformity.plain_indent = is_plain.then(|| self.indent());
        }
    }

    /// The rest of a document can't be read. The text up to the next document is not checked.
    pub(in crate::yaml) fn skip_document(&mut self) {
        self.conformity.checked = None;
    }

    /// Notes that the text up to the end of the last event is checked.
    pub(super) fn check_after(&mut self) {
        let reached = self.last.end as usize;
        self.conformity.checked = self.conformity.checked.map(|checked| checked.max(reached));
    }

    /// Checks how a scalar is written.
    pub(super) fn check_scalar(&mut self, node: &Node) {
        let NodeValue::Scalar(scalar) = &node.value else { return };
        let around = Surroundings {
            in_brackets: self.frames.last().is_some_and(|frame| frame.flow),
            is_root: self.frames.is_empty(),
            indent: self.indent(),
        };
        let found = refused::scalar(self.text, scalar.style, node.span, around);
        self.refuse(found);
    }

    /// Checks a key, or the value of a key. `gap` is the text before it.
    fn check_key(&mut self, event: &Event<'_>, span: Span, gap: Gap<'_>) -> Option<YamlProblem> {
        let frame = self.frames.last_mut()?;
        let Children::Entries { key, entries } = &frame.children else { return None };
        if let Some(key) = key {
            // The place of a missing value can be before its colon.
            let at_colon = || self.text.get(span.range().start..)?.starts_with(':').then_some(span.start as usize);
            let colon = gap.colon().or_else(at_colon).filter(|_| frame.flow)?;
            return refused::flow_key(self.text, key, (colon, frame.has_indicator));
        }
        // The place of a mapping without braces in a list is its key indicator.
        let begins_with_indicator = entries.is_empty() && self.text.get(frame.span.range()) == Some("?");
        frame.has_indicator = gap.has_key_indicator() || begins_with_indicator;
        let is_missing = matches!(event, Event::Scalar(_, Style::Plain, 0, None)) && span.start == span.end;
        let is_refused = is_missing && !frame.has_indicator;
        is_refused.then(|| refused::missing_key(Span::new(span.start as usize, span.start as usize + 1)))
    }

    /// The column that the lines of a plain scalar need: one more than that of the innermost collection in lines.
    fn indent(&self) -> usize {
        self.frames.last().map_or(0, |frame| frame.indent)
    }

    fn refuse(&mut self, problem: Option<YamlProblem>) {
        let is_json = self.options.dialect == YamlDialect::Json;
        if let Some(problem) = problem.filter(|_| !is_json && !self.conformity.is_reported) {
            self.conformity.is_reported = true;
            self.findings().add(problem);
        }
    }
}

fn is_node(event: &Event<'_>) -> bool {
    matches!(
        event,
        Event::Scalar(..)
            | Event::SequenceStart(..)
            | Event::MappingStart(..)
            | Event::Alias(_)
            | Event::UnresolvedAlias(_)
    )
}
