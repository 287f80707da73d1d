//! Maps offsets in the content of a scalar to offsets in the text.

use super::{Node, NodeValue, ScalarStyle, Span};

/// The offset in `text` of the byte `content_offset` in the content of the scalar `node`.
///
/// The result is exact for plain and quoted scalars, with escapes, and for literal blocks. In folded text, the folded whitespace is one place.
/// If the node is not a scalar, or the offset is after its content, the result is the start or the end of the node.
/// `text` must be the text that the node was read from. With another text, the result has no meaning, but is within its bounds.
pub fn source_offset(text: &str, node: &Node, content_offset: usize) -> usize {
    let range = node.span.range();
    let NodeValue::Scalar(scalar) = &node.value else { return range.start };
    let Some(written) = text.get(range.clone()) else { return text.len() };
    let content = &*scalar.text;
    let walk = |source, quote| Walk { written, content, quote, source, reached: 0 }.to(content_offset);
    let within = match scalar.style {
        ScalarStyle::Literal => in_literal(written, content, content_offset),
        ScalarStyle::Folded => walk(first_line_end(written), None),
        ScalarStyle::Plain => walk(0, None),
        ScalarStyle::SingleQuoted => walk(1, Some('\'')),
        ScalarStyle::DoubleQuoted => walk(1, Some('"')),
    };
    range.start + within.min(written.len())
}

/// The place of a block scalar with its header, which the parser leaves out. `from` is the end of the token before it.
pub(super) fn block_span(text: &str, from: u32, content: Span) -> Span {
    let start = block_header(text, from as usize, content.start as usize);
    if content.start == content.end {
        return Span::new(start, start + 1);
    }
    let written = text.get(content.range()).unwrap_or_default();
    // The parser includes the indentation of the next line in the block.
    let trimmed = written.trim_end_matches([' ', '\t']);
    let end = if trimmed.ends_with(is_break) { trimmed.len() } else { written.len() };
    Span::new(start, content.start as usize + end)
}

/// Whether the last line of a block scalar is the last line of the text, and has no line break.
pub(super) fn ends_without_newline(text: &str, content: &str, block: Span) -> bool {
    let last_line = text.rsplit(is_break).next().unwrap_or_default();
    // The range of a block does not contain blanks at its end.
    let is_last = text.get(block.end as usize..).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).is_empty());
    is_last && (!last_line.trim().is_empty() || is_in_block(text, content, (block, last_line)))
}

/// Whether a line of blanks is longer than the indentation of a block, so that it belongs to its content.
fn is_in_block(text: &str, content: &str, (block, line): (Span, &str)) -> bool {
    let indent_of_first = |lines: &str| {
        let first = lines.split(is_break).find(|line| !line.trim().is_empty())?;
        Some(first.len() - first.trim_start_matches(' ').len())
    };
    let written =
        text.get(block.range()).and_then(|written| written.get(after_break(written, first_line_end(written))..));
    let indent = written
        .and_then(indent_of_first)
        .zip(indent_of_first(content))
        .map(|(written, content)| written - content.min(written));
    indent.is_some_and(|indent| line.len() > indent)
}

/// The offset of the `|` or `>` between `from` and `to`.
fn block_header(text: &str, from: usize, to: usize) -> usize {
    let mut start = from;
    for line in text.get(from..to).unwrap_or_default().split_inclusive(is_break) {
        if let Some(at) = header_in_line(line) {
            return start + at;
        }
        start += line.len();
    }
    to
}

/// The offset of a block's header in a line without other values. The line may have a comment.
fn header_in_line(line: &str) -> Option<usize> {
    let mut after_blank = true;
    for (at, character) in line.char_indices() {
        match character {
            '|' | '>' if line.get(at..).is_some_and(is_block_header) => return Some(at),
            '#' if after_blank => return None,
            _ => after_blank = character == ' ' || character == '\t',
        }
    }
    None
}

/// Whether a line that begins with `|` or `>` contains only indicators of indentation and chomping, and a comment.
fn is_block_header(line: &str) -> bool {
    let rest =
        line.get(1..).unwrap_or_default().trim_start_matches(|c: char| c.is_ascii_digit() || c == '+' || c == '-');
    let content = rest.trim_start_matches([' ', '\t']);
    content.is_empty() || content.starts_with(is_break) || content.starts_with('#')
}

/// The lines of a literal block's content are the lines of the text without their indentation.
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

/// Walks through the written form of a scalar and its content in parallel.
struct Walk<'t> {
    written: &'t str,
    content: &'t str,
    quote: Option<char>,
    /// The present offsets in the written form and in the content.
    source: usize,
    reached: usize,
}

/// A piece of a scalar, with its lengths in the written form and in the content.
struct Step {
    written: usize,
    content: usize,
}

impl Walk<'_> {
    /// The offset in the written form of the content's byte `target`.
    fn to(mut self, target: usize) -> usize {
        while let Some(step) = self.step() {
            if self.reached + step.content > target {
                let unchanged = step.written == step.content;
                return self.source + if unchanged { target.saturating_sub(self.reached) } else { 0 };
            }
            self.source += step.written;
            self.reached += step.content;
        }
        self.source
    }

    fn step(&self) -> Option<Step> {
        let rest = self.written.get(self.source..)?;
        let next = rest.chars().next()?;
        let blanks = leading(rest, BLANKS);
        Some(if rest.get(..blanks)?.contains(is_break) {
            Step { written: blanks, content: leading(self.content.get(self.reached..)?, BLANKS) }
        } else if blanks > 0 {
            Step { written: blanks, content: blanks }
        } else if next == '\\' && self.quote == Some('"') {
            self.escape(rest)
        } else {
            let doubled = next == '\'' && self.quote == Some(next) && rest.starts_with("''");
            Step { written: next.len_utf8() + usize::from(doubled), content: next.len_utf8() }
        })
    }

    fn escape(&self, rest: &str) -> Step {
        let behind = rest.get(1..).unwrap_or_default();
        if behind.starts_with(is_break) {
            return Step { written: 1 + leading(behind, BLANKS), content: 0 };
        }
        let length = escape_length(rest);
        let content = self.content.get(self.reached..).and_then(|rest| rest.chars().next()).map_or(1, char::len_utf8);
        // A character outside of the basic multilingual plane can be written as two escapes.
        let paired = length == 6 && content == 4;
        Step { written: if paired { 12 } else { length }, content }
    }
}

const BLANKS: [char; 4] = [' ', '\t', '\r', '\n'];

/// The number of bytes at the start of a text that are one of these characters.
fn leading(text: &str, characters: [char; 4]) -> usize {
    text.len() - text.trim_start_matches(characters).len()
}

/// The length of the escape at the start of `text`.
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
