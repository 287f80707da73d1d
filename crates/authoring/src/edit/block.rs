//! Adds and removes entries and items of collections that are written on lines of their own.

use std::ops::Range;

use model::yaml::{Node, NodeValue, Span};

use super::{Found, Scene, Splice, children};
use crate::style::column;
use crate::value::{MappingEntry, NewValue};
use crate::{emit, lines};

impl Scene<'_> {
    /// The ways to add an entry at the end of a mapping.
    pub(super) fn block_entry_added(&self, mapping: &Node, entry: &MappingEntry) -> Vec<Splice> {
        let first = children(mapping).into_iter().flatten().next();
        let column = column(self.text, first.map_or(mapping.span.start, |first| first.start) as usize);
        let text = emit::entries(std::slice::from_ref(entry), column, self.style());
        let mut ways = self.lines_added(mapping, column, &text);
        // A block can't be the last line of a file without a line break.
        ways.extend(self.lines_added(mapping, column, &emit::flow_entry(entry, self.style())));
        ways
    }

    /// The ways to add an item at the end of a list.
    pub(super) fn block_item_added(&self, list: &Node, value: &NewValue) -> Vec<Splice> {
        let first = children(list).into_iter().flatten().next();
        let Some(dash) = first.and_then(|first| self.dash(first)) else { return Vec::new() };
        let column = column(self.text, dash);
        let mut ways = self.lines_added(list, column, &emit::item(value, column, self.style()));
        ways.extend(self.lines_added(list, column, &format!("- {}", emit::flow(value, self.style()))));
        ways
    }

    /// The ways to add lines behind a collection: after its last line with content, or after the empty lines behind it, if these belong to a text.
    fn lines_added(&self, collection: &Node, column: usize, text: &str) -> Vec<Splice> {
        let line_end = self.style().line_end;
        let lines_of = |text: String| line_end.applied(text);
        let indentation = " ".repeat(column);
        let end = collection.span.end as usize;
        let last = lines::end(self.text, lines::trimmed(self.text, end));
        let mut ways = vec![Splice { range: last..last, text: lines_of(format!("\n{indentation}{text}")) }];
        if lines::start(self.text, end) == end {
            ways.push(Splice { range: end..end, text: lines_of(format!("{indentation}{text}\n")) });
        }
        ways
    }

    /// The ways to remove a child of the collection.
    pub(super) fn block_removed(&self, found: &Found<'_>, children: &[Option<Span>], position: usize) -> Vec<Splice> {
        let parent = found.node;
        let Some(Some(child)) = children.get(position) else { return Vec::new() };
        let is_list = matches!(parent.value, NodeValue::Sequence(_));
        let begin = if is_list { self.dash(*child) } else { Some(child.start as usize) };
        let Some(begin) = begin else { return Vec::new() };
        let end = self.end_of(parent, children, position);
        if children.len() == 1 {
            return self.last_removed(is_list, begin..end);
        }
        // The comment at the beginning of a document is about the whole object.
        let bound = match position.checked_sub(1) {
            Some(before) => self.end_of(parent, children, before),
            None if found.depth == 0 => begin,
            None => 0,
        };
        let is_first_on_line = self.text.get(lines::start(self.text, begin)..begin).is_some_and(lines::is_blank);
        if is_first_on_line {
            return self.lines_removed(self.with_comment(begin, bound)..end, column(self.text, begin));
        }
        // Behind a dash or at the beginning of a document: the next child takes its place.
        let next = children.get(position + 1).copied().flatten();
        let next = next.and_then(|next| if is_list { self.dash(next) } else { Some(next.start as usize) });
        next.map(|next| Splice { range: begin..next, text: String::new() }).into_iter().collect()
    }

    /// The last child of a collection is replaced by `{}` or `[]`.
    fn last_removed(&self, is_list: bool, child: Range<usize>) -> Vec<Splice> {
        let empty = if is_list { "[]" } else { "{}" };
        let before = self.text.get(..child.start).unwrap_or_default();
        let content = before.trim_end_matches([' ', '\t', '\r', '\n']);
        let mut ways = Vec::new();
        if content.ends_with(':') && content.len() < child.start {
            ways.push(Splice { range: content.len()..child.end, text: format!(" {empty}") });
        }
        ways.push(Splice { range: child.clone(), text: empty.to_owned() });
        // Below a comment, a list can be at the column of its key. The value in its place can't.
        let indentation = " ".repeat(self.style().indentation);
        ways.push(Splice { range: child, text: format!("{indentation}{empty}") });
        ways
    }

    /// The end of a child: of its last line with content.
    fn end_of(&self, parent: &Node, children: &[Option<Span>], position: usize) -> usize {
        let is_last = position + 1 == children.len();
        let end = match children.get(position).copied().flatten() {
            _ if is_last => parent.span.end as usize,
            Some(child) => child.end as usize,
            None => parent.span.start as usize,
        };
        lines::end(self.text, lines::trimmed(self.text, end))
    }

    /// The beginning of the comment above the line of `begin`: lines at the same column, which begin after `bound`.
    fn with_comment(&self, begin: usize, bound: usize) -> usize {
        let column = begin - lines::start(self.text, begin);
        let mut begin = lines::start(self.text, begin);
        while let Some(above) = lines::previous(self.text, begin)
            && above >= bound
            && lines::comment_column(lines::line(self.text, above)) == Some(column)
        {
            begin = above;
        }
        begin
    }

    /// The ways to remove the whole lines of a child at this column: with the line break before them, or with the one after them. Where the text of
    /// the child above would get the lines behind them, these go too: comments at a deeper column, or also empty lines.
    fn lines_removed(&self, Range { start: begin, end }: Range<usize>, column: usize) -> Vec<Splice> {
        let (mut comments_end, mut all_end) = (end, end);
        while let next = lines::next(self.text, all_end)
            && next < self.text.len()
            && let line = lines::line(self.text, next)
            && let comment = lines::comment_column(line)
            && (lines::is_blank(line) || comment.is_some_and(|at| at > column))
        {
            all_end = lines::end(self.text, next);
            if comment.is_some() {
                comments_end = all_end;
            }
        }
        let ways = |end| {
            let with_break_before = lines::previous(self.text, begin).map(|above| lines::end(self.text, above)..end);
            let with_break_after = lines::start(self.text, begin)..lines::next(self.text, end);
            with_break_before.into_iter().chain([with_break_after])
        };
        let ranges = [end, comments_end, all_end].into_iter().flat_map(ways);
        ranges.map(|range| Splice { range, text: String::new() }).collect()
    }

    /// The offset of the dash before an item.
    fn dash(&self, item: Span) -> Option<usize> {
        let before = self.text.get(..item.start as usize)?;
        let is_dash = |at: &usize| {
            let rest = before.get(at + 1..).unwrap_or_default();
            rest.is_empty() || rest.starts_with([' ', '\t', '\r', '\n'])
        };
        before.rmatch_indices('-').map(|(at, _)| at).find(is_dash)
    }
}
