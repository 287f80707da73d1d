//! Replaces a whole value.

use model::yaml::{Node, NodeValue, ScalarStyle};

use super::error::{EditError, Reason};
use super::{Found, Scene, Splice, children, position};
use crate::style::{Quote, Style, column};
use crate::value::NewValue;
use crate::{emit, lines, scalar};

impl Scene<'_> {
    /// The ways to write another value in place of the one that is there.
    pub(super) fn replaced(&self, found: &Found<'_>, value: &NewValue) -> Vec<Splice> {
        let NodeValue::Scalar(present) = &found.node.value else {
            return self.collection_replaced(found, value);
        };
        let span = found.node.span.range();
        if span.is_empty() {
            return self.missing_replaced(found, value);
        }
        let mut ways = Vec::new();
        if let (Some(quote), NewValue::Text(text)) = (quote(present.style), value)
            && !text.contains('\n')
        {
            ways.push(Splice { range: span.clone(), text: scalar::quoted(text, quote) });
        }
        if matches!(present.style, ScalarStyle::Literal | ScalarStyle::Folded) {
            return self.block_scalar_replaced(found, value);
        }
        if !self.is_in_flow(found) {
            let text = self.written(found, value);
            ways.push(Splice { range: span.clone(), text: text.trim_start_matches(' ').to_owned() });
        }
        ways.push(Splice { range: span, text: emit::flow(value, &self.style) });
        ways
    }

    /// The ways to give an entry of a mapping another key. Quotes stay.
    pub(super) fn rename_key(&self, root: &Node, key: &str) -> Result<Vec<Splice>, EditError> {
        let no_field = || self.error(Reason::NoField);
        let (last, above) = self.path.steps().split_last().ok_or_else(no_field)?;
        let found = self.follow(root, above)?;
        let position = position(found.node, last).filter(|_| found.depth == above.len()).ok_or_else(no_field)?;
        let entries = found.node.as_mapping().unwrap_or_default();
        let is_here = children(found.node).get(position).is_some_and(Option::is_some);
        let (present, _) = entries.get(position).filter(|_| is_here).ok_or_else(no_field)?;
        let range = present.span.range();
        let text = match present.as_scalar().and_then(|scalar| quote(scalar.style)) {
            Some(quote) => scalar::quoted(key, quote),
            None => scalar::written_key(key, self.style.quote),
        };
        Ok(vec![Splice { range, text }])
    }

    /// The value behind the colon or dash of a field, in lines of the file's style.
    fn written(&self, found: &Found<'_>, value: &NewValue) -> String {
        let text = emit::after_key(value, self.parent_column(found), &self.style);
        self.style.line_end.applied(text)
    }

    /// The column of the collection that contains a field.
    fn parent_column(&self, found: &Found<'_>) -> usize {
        found.parents.last().map_or(0, |parent| column(self.text, parent.span.start as usize))
    }

    /// A block after `|` or `>` ends with its last line. The empty lines behind it stay: without their blanks, if these would be a part of the new value.
    fn block_scalar_replaced(&self, found: &Found<'_>, value: &NewValue) -> Vec<Splice> {
        let span = found.node.span.range();
        let end = lines::end(self.text, lines::trimmed(self.text, span.end).max(span.start));
        let header = self.text.get(span.start..lines::end(self.text, span.start)).unwrap_or_default();
        let comment = header.find(" #").and_then(|at| header.get(at..)).unwrap_or_default();
        let empty_lines = end..span.end.max(end);
        let without_blanks = self.text.get(empty_lines.clone()).unwrap_or_default().replace([' ', '\t'], "");
        let replaced = |text: &str| {
            let text = text.trim_start_matches(' ');
            let first = text.find(['\r', '\n']).unwrap_or(text.len());
            let text = [text.get(..first).unwrap_or_default(), comment, text.get(first..).unwrap_or_default()].concat();
            let with_empty_lines =
                Splice { range: span.start..empty_lines.end, text: [&text, &*without_blanks].concat() };
            [Splice { range: span.start..end, text }, with_empty_lines]
        };
        [self.written(found, value), emit::flow(value, &self.style)].iter().flat_map(|text| replaced(text)).collect()
    }

    /// A value where there is none: behind the colon, or on the lines after it.
    fn missing_replaced(&self, found: &Found<'_>, value: &NewValue) -> Vec<Splice> {
        let at = found.node.span.start as usize;
        let written = emit::flow(value, &self.style);
        let flow = Splice { range: at..at, text: format!(" {written}") };
        if self.is_in_flow(found) {
            return vec![flow, Splice { range: at..at, text: format!(": {written}") }];
        }
        let text = self.written(found, value);
        let end = lines::end(self.text, at);
        let behind_comment = text.starts_with(['\r', '\n']).then(|| Splice { range: end..end, text: text.clone() });
        behind_comment.into_iter().chain([Splice { range: at..at, text }, flow]).collect()
    }

    /// Only an empty collection is replaced: another one can contain comments.
    fn collection_replaced(&self, found: &Found<'_>, value: &NewValue) -> Vec<Splice> {
        let is_empty = match &found.node.value {
            NodeValue::Mapping(entries) => entries.is_empty(),
            NodeValue::Sequence(items) => items.is_empty(),
            NodeValue::Scalar(_) => false,
        };
        if !is_empty {
            return Vec::new();
        }
        let range = found.node.span.range();
        let flow = Splice { range: range.clone(), text: emit::flow(value, &self.style) };
        if self.is_in_flow(found) {
            return vec![flow];
        }
        let before = self.text.get(..range.start).unwrap_or_default();
        let start = before.trim_end_matches(' ').len();
        vec![Splice { range: start..range.end, text: self.written(found, value) }, flow]
    }

    /// The style of the file.
    pub(super) fn style(&self) -> &Style {
        &self.style
    }
}

/// The quotes around a scalar of this style.
fn quote(style: ScalarStyle) -> Option<Quote> {
    match style {
        ScalarStyle::SingleQuoted => Some(Quote::Single),
        ScalarStyle::DoubleQuoted => Some(Quote::Double),
        _ => None,
    }
}
