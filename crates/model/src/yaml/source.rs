//! From a place in the content of a scalar back to the place in the text that it was read from.

use super::{Node, NodeValue, ScalarStyle, Span};

/// Where in `text` the byte `content_offset` of the content of the scalar `node` is written.
///
/// Exact for plain and quoted scalars, escapes included, and for literal blocks; in folded text the whitespace that was folded is one place.
/// A node that is no scalar, or an offset behind the content, gives the start or the end of the node.
/// `text` must be the text that the node was read from; with another one the answer is meaningless, but within its bounds.
pub fn source_offset(text: &str, node: &Node, content_offset: usize) -> usize {
    let range = node.span.range();
    let NodeValue::Scalar(scalar) = &node.value else { return range.start };
    let Some(written) = text.get(range.clone()) else { return text.len() };
    let content = &*scalar.text;
    let within = match scalar.style {
        ScalarStyle::Literal => in_literal(written, content, content_offset),
        ScalarStyle::Folded => Walk::new(written, content, first_line_end(written), 0).to(content_offset),
        ScalarStyle::Plain => Walk::new(written, content, 0, 0).to(content_offset),
        ScalarStyle::SingleQuoted => Walk { quote: Some('\''), ..Walk::new(written, content, 1, 0) }.to(content_offset),
        ScalarStyle::DoubleQuoted => Walk { quote: Some('"'), ..Walk::new(written, content, 1, 0) }.to(content_offset),
    };
    range.start + within.min(written.len())
}

/// The place of a block scalar, which the parser reports without its header. `from` is the end of what stands before it.
pub(super) fn block_span(text: &str, from: u32, content: Span) -> Span {
    let start = block_header(text, from as usize, content.start as usize);
    if content.start == content.end {
        return Span::new(start, start + 1);
    }
    let written = text.get(content.range()).unwrap_or_default();
    // The parser counts the indentation of the next line to the block.
    let trimmed = written.trim_end_matches([' ', '\t']);
    let end = if trimmed.ends_with(is_break) { trimmed.len() } else { written.len() };
    Span::new(start, content.start as usize + end)
}

/// The offset of the `|` or `>` between `from` and `to`.
fn block_header(text: &str, from: usize, to: usize) -> usize {
    let mut rest = text.get(from..to).unwrap_or_default();
    while let Some(at) = rest.find(['|', '>', '#']) {
        let found = rest.get(at..).unwrap_or_default();
        let line = found.split(is_break).next().unwrap_or_default();
        let after_blank = rest
            .get(..at)
            .is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']) || before.ends_with(is_break));
        let skipped = match found.as_bytes().first() {
            Some(b'#') if after_blank => line.len(),
            Some(b'|' | b'>') if is_block_header(line) => return to - found.len(),
            _ => 1,
        };
        rest = found.get(skipped..).unwrap_or_default();
    }
    to
}

/// Whether a line that begins with `|` or `>` has only an indicator of indentation and chomping and a comment behind it.
fn is_block_header(line: &str) -> bool {
    let rest =
        line.get(1..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    let content = rest.trim_start_matches([' ', '\t']);
    content.is_empty() || (content.starts_with('#') && content.len() < rest.len())
}

/// In a literal block, the content's lines are the source's lines without their indentation.
fn in_literal(written: &str, content: &str, content_offset: usize) -> usize {
    let mut source = after_break(written, first_line_end(written));
    let mut begin = 0;
    loop {
        let rest = content.get(begin..).unwrap_or_default();
        let line = rest.split('\n').next().unwrap_or_default();
        let source_end = source + first_line_end(written.get(source..).unwrap_or_default());
        let indentation = (source_end - source).saturating_sub(line.len());
        if content_offset <= begin + line.len() || rest.len() == line.len() {
            let column = content_offset.saturating_sub(begin).min(line.len());
            return if line.is_empty() { source } else { source + indentation + column };
        }
        begin += line.len() + 1;
        source = after_break(written, source_end);
    }
}

/// Goes through a scalar as written and its content side by side.
struct Walk<'t> {
    written: &'t str,
    content: &'t str,
    source: usize,
    reached: usize,
    quote: Option<char>,
}

impl<'t> Walk<'t> {
    fn new(written: &'t str, content: &'t str, source: usize, reached: usize) -> Self {
        Self { written, content, source, reached, quote: None }
    }

    /// The offset in what is written of the byte at `target` of the content.
    fn to(mut self, target: usize) -> usize {
        while let Some(next) = self.rest().chars().next() {
            let before = self.source;
            if let Some(folded) = self.folded() {
                self.source += folded;
                self.reached += self.content_blanks();
            } else if next == '\\' && self.quote == Some('"') {
                self.escape();
            } else {
                let doubled = next == '\'' && self.quote == Some('\'') && self.rest().starts_with("''");
                self.source += if doubled { 2 } else { next.len_utf8() };
                self.reached += next.len_utf8();
            }
            if self.reached > target {
                return before;
            }
        }
        self.source
    }

    fn rest(&self) -> &'t str {
        self.written.get(self.source..).unwrap_or_default()
    }

    /// The length of the whitespace here, if there is a line break in it.
    fn folded(&self) -> Option<usize> {
        let rest = self.rest();
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        rest.get(..blanks)?.contains(is_break).then_some(blanks)
    }

    fn content_blanks(&self) -> usize {
        let rest = self.content.get(self.reached..).unwrap_or_default();
        rest.len() - rest.trim_start_matches([' ', '\t', '\n']).len()
    }

    fn escape(&mut self) {
        let rest = self.rest();
        let length = escape_length(rest);
        let joins_lines = rest.get(1..).is_some_and(|rest| rest.starts_with(is_break));
        if joins_lines {
            self.source += 1;
            self.source += self.folded().unwrap_or(1);
            return;
        }
        // A character outside the basic plane may be written as two escapes.
        let content = self.content.get(self.reached..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        let paired = length == 6 && content == 4;
        self.source += if paired { 12 } else { length };
        self.reached += content;
    }
}

/// The length of the escape that `text` begins with.
fn escape_length(text: &str) -> usize {
    match text.as_bytes().get(1) {
        Some(b'x') => 4,
        Some(b'u') => 6,
        Some(b'U') => 10,
        _ => 1 + text.chars().nth(1).map_or(0, char::len_utf8),
    }
}

fn first_line_end(text: &str) -> usize {
    text.find(is_break).unwrap_or(text.len())
}

fn after_break(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    at + if rest.starts_with("\r\n") { 2 } else { usize::from(rest.starts_with(is_break)) }
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

#[cfg(test)]
mod tests;
