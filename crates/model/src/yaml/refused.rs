//! Finds forms that the parser reads, and that Go's libraries refuse.
//!
//! Most of them are between two values: tabs, directives, names of anchors. The text between two values contains only indicators, comments,
//! and the anchor and the tag of the value after it.

use super::explain::tab_in_indentation;
use super::{Node, ProblemKind, ScalarStyle, Span, YamlProblem};

const QUOTE_TEXT: &str = "put the text in quotes";

fn refused(span: Span, message: &'static str, hint: &'static str) -> YamlProblem {
    YamlProblem::new(ProblemKind::Syntax, span, message).hint(hint)
}

/// The text between two values.
#[derive(Clone, Copy)]
pub(super) struct Gap<'t> {
    /// The whole text.
    pub(super) text: &'t str,
    /// The offsets where the gap begins and ends.
    pub(super) start: usize,
    pub(super) end: usize,
}

impl<'t> Gap<'t> {
    /// The blank lines and comments after a document.
    pub(super) fn after_document(text: &'t str, start: usize) -> Self {
        let rest = text.get(start..).unwrap_or_default();
        let is_content = |line: &&str| !without_comment(line).trim_start_matches([' ', '\t']).is_empty();
        let blank: usize = rest.split_inclusive(['\n', '\r']).take_while(|line| !is_content(line)).map(str::len).sum();
        Self { text, start, end: start + blank }
    }

    fn slice(self) -> &'t str {
        self.text.get(self.start..self.end).unwrap_or_default()
    }

    /// The lines of the gap with their offsets. The first one begins in the middle of a line, unless the text begins there.
    fn lines(self) -> impl Iterator<Item = (usize, &'t str)> {
        let lines = self.slice().split_inclusive(['\n', '\r']);
        lines.scan(self.start, |end, line| {
            let start = *end;
            *end += line.len();
            Some((start, line))
        })
    }

    fn begins_line(self, at: usize) -> bool {
        at == 0 || self.text.get(..at).is_some_and(|before| before.ends_with(['\n', '\r']))
    }

    /// Whether there is a key indicator `?`.
    pub(super) fn has_key_indicator(self) -> bool {
        self.lines().any(|(_, line)| without_comment(line).contains('?'))
    }

    /// The offset of the first colon.
    pub(super) fn colon(self) -> Option<usize> {
        self.lines().find_map(|(start, line)| without_comment(line).find(':').map(|at| start + at))
    }

    /// A tab where a key or an item could begin. `indent` is the column that lines after a plain scalar need, if the value before is one.
    /// Blanks inside brackets are free.
    pub(super) fn tab(self, indent: Option<usize>, in_brackets: bool) -> Option<YamlProblem> {
        if !self.slice().contains('\t') {
            return None;
        }
        let is_blank = |line: &str| without_comment(line).trim_start_matches([' ', '\t']).is_empty();
        let mut indent = indent.filter(|_| self.lines().next().is_some_and(|(_, line)| is_blank(line)));
        for (start, line) in self.lines() {
            let is_first = start == self.start && !self.begins_line(start);
            let tab = match indent {
                Some(_) if is_first => None,
                Some(indent) => tab_below(line, indent).or_else(|| {
                    let content = line.trim_start_matches([' ', '\t']);
                    tab_before_content(content).filter(|_| !in_brackets).map(|tab| line.len() - content.len() + tab)
                }),
                None if in_brackets || is_first && !self.follows_indicators() => None,
                None => tab_before_content(line),
            };
            if let Some(tab) = tab {
                return Some(tab_in_indentation(Span::new(start + tab, start + tab + 1)));
            }
            let has_comment = without_comment(line).len() < line.trim_end_matches(['\n', '\r']).len();
            indent = indent.filter(|_| !has_comment && is_blank(line));
        }
        None
    }

    /// Whether only dashes and blanks are before the gap, in its line.
    fn follows_indicators(self) -> bool {
        let before = self.text.get(..self.start).unwrap_or_default();
        let bare = before.trim_end_matches([' ', '\t', '-', '?']);
        (bare.is_empty() || bare.ends_with(['\n', '\r'])) && !before.ends_with("---")
    }

    /// A name of an anchor that Go's libraries refuse.
    pub(super) fn anchor_name(self) -> Option<YamlProblem> {
        if !self.slice().contains('&') {
            return None;
        }
        let of_line = |(start, line): (usize, &str)| {
            let line = without_comment(line);
            let at = line.find('&')?;
            let name = line.get(at + 1..)?.split([' ', '\t', '\n', '\r']).next()?;
            // A blank is between an anchor and its value, unless the value is missing.
            let behind = || self.text.get(self.end..).and_then(|rest| rest.chars().next());
            let is_glued = start + at + 1 + name.len() == self.end
                && behind().is_some_and(|c| !matches!(c, ' ' | '\t' | '\n' | '\r' | ',' | ':' | ']' | '}'));
            let is_plain =
                !is_glued && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
            (!is_plain).then(|| Span::new(start + at, start + at + 1 + name.len()))
        };
        let span = self.lines().find_map(of_line)?;
        Some(refused(span, "Go's YAML readers refuse the name of this anchor", "use letters, digits, `-` and `_`"))
    }

    /// A line before a document that Go's libraries refuse: a directive, or the end of a document before the first one.
    pub(super) fn line_before_document(self, is_first: bool) -> Option<YamlProblem> {
        let lines = self.lines().filter(|(start, _)| self.begins_line(*start));
        for (start, line) in lines {
            let words: Vec<&str> = without_comment(line).split_whitespace().collect();
            let span = Span::new(start, start + line.trim_end().len());
            match words.as_slice() {
                ["%YAML", "1.1", ..] | ["%TAG", ..] => {}
                ["%YAML", ..] => {
                    let hint = "remove the line: without it, the text has the version that they read, 1.1";
                    return Some(refused(span, "Go's YAML readers refuse this version of YAML", hint));
                }
                [first, ..] if first.starts_with('%') => {
                    return Some(refused(span, "Go's YAML readers do not know this directive", "remove the line"));
                }
                ["...", ..] if is_first => {
                    return Some(refused(span, "no document is before this `...`", "remove the line"));
                }
                _ => {}
            }
        }
        None
    }
}

/// A line without its comment and its line break.
fn without_comment(line: &str) -> &str {
    let line = line.trim_end_matches(['\n', '\r']);
    let is_comment = |(at, _): &(usize, &str)| {
        line.get(..*at).is_some_and(|before| before.is_empty() || before.ends_with([' ', '\t']))
    };
    line.match_indices('#').find(is_comment).and_then(|(at, _)| line.get(..at)).unwrap_or(line)
}

/// The first tab of a line where a key or an item could begin: in the indentation, or after the indicators of items and keys.
fn tab_before_content(line: &str) -> Option<usize> {
    for (at, character) in line.char_indices() {
        let is_indicator =
            || line.get(at + 1..).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n', '\r']));
        match character {
            '\t' => return Some(at),
            ' ' => {}
            '-' | '?' | ':' if is_indicator() => {}
            _ => return None,
        }
    }
    None
}

/// The first tab in the blanks at the start of a line, if it is before this column.
fn tab_below(line: &str, column: usize) -> Option<usize> {
    let spaces = line.len() - line.trim_start_matches(' ').len();
    (spaces < column && line.get(spaces..).is_some_and(|rest| rest.starts_with('\t'))).then_some(spaces)
}

/// A document without `---` after another one.
pub(super) fn unmarked_document(at: usize) -> YamlProblem {
    refused(Span::at(at), "this document begins without `---`", "write a line with `---` before it")
}

/// A key that is missing before its colon.
pub(super) fn missing_key(colon: Span) -> YamlProblem {
    refused(colon, "there is no key before this colon", "put the text in quotes if the colon belongs to it")
}

/// A key inside brackets, with the offset of its colon, and whether it has the key indicator `?`.
pub(super) fn flow_key(text: &str, key: &Node, (colon, has_indicator): (usize, bool)) -> Option<YamlProblem> {
    let written = text.get(key.span.start as usize..colon)?;
    if written.contains(['\n', '\r']) && !has_indicator {
        return Some(refused(key.span, "this key and its colon are not on one line", "write them on one line"));
    }
    let is_plain = key.as_scalar().is_some_and(|scalar| scalar.style == ScalarStyle::Plain);
    let ends_value = text.get(colon + 1..)?.starts_with([',', '[', ']', '{', '}']);
    let is_glued = is_plain && ends_value && colon == key.span.end as usize && colon > key.span.start as usize;
    let message = "Go's YAML readers take this colon for a part of the text before it";
    is_glued.then(|| refused(Span::new(colon, colon + 1), message, "write a space after the colon"))
}

/// The surroundings of a scalar.
#[derive(Clone, Copy)]
pub(super) struct Surroundings {
    pub(super) in_brackets: bool,
    /// Whether the scalar is a whole document.
    pub(super) is_root: bool,
    /// The column that the lines of a plain scalar need.
    pub(super) indent: usize,
}

/// A scalar that Go's libraries refuse.
pub(super) fn scalar(text: &str, style: ScalarStyle, span: Span, around: Surroundings) -> Option<YamlProblem> {
    let written = text.get(span.range()).unwrap_or_default();
    let start = span.start as usize;
    match style {
        ScalarStyle::DoubleQuoted => written.contains('\\').then(|| escape(written, start)).flatten(),
        ScalarStyle::Plain => {
            indicator_in_brackets(written, start, around).or_else(|| plain_tab(written, start, around.indent))
        }
        ScalarStyle::Literal | ScalarStyle::Folded => block(written, start, around.is_root),
        ScalarStyle::SingleQuoted => None,
    }
}

/// An indicator of keys or values in a plain scalar inside brackets.
fn indicator_in_brackets(written: &str, start: usize, around: Surroundings) -> Option<YamlProblem> {
    let found = || written.starts_with(':').then_some(0).or_else(|| written.find('?'));
    let at = found().filter(|_| around.in_brackets)?;
    let message = "Go's YAML readers take this character for the end of the text, because it is inside brackets";
    Some(refused(Span::new(start + at, start + at + 1), message, QUOTE_TEXT))
}

/// A tab in the indentation of a plain scalar of several lines.
fn plain_tab(written: &str, start: usize, indent: usize) -> Option<YamlProblem> {
    let mut at = start;
    for line in written.split_inclusive(['\n', '\r']) {
        if let Some(tab) = tab_below(line, indent).filter(|_| at > start) {
            return Some(tab_in_indentation(Span::new(at + tab, at + tab + 1)));
        }
        at += line.len();
    }
    None
}

/// A block scalar whose first line has no indentation, or a tab in it. `written` begins with the header.
fn block(written: &str, start: usize, is_root: bool) -> Option<YamlProblem> {
    let mut lines = written.split_inclusive(['\n', '\r']);
    let header = lines.next()?;
    let has_own_indent = without_comment(header).contains(|c: char| c.is_ascii_digit());
    // The indentation of the first line with content is that of the block.
    let mut indent = if has_own_indent { Some(1) } else { None };
    let mut at = start + header.len();
    for line in lines {
        let spaces = line.len() - line.trim_start_matches(' ').len();
        let content = line.get(spaces..).unwrap_or_default();
        let here = at + spaces;
        if content.starts_with('\t') && indent.is_none_or(|indent| spaces < indent) {
            let tab = Span::new(here, here + 1);
            if indent.is_none() && spaces > 0 {
                let hint = "write the number of spaces of the indentation after `|` or `>`, such as `|2`";
                return Some(refused(
                    tab,
                    "Go's YAML readers refuse a tab at the start of the first line of a block",
                    hint,
                ));
            }
            return Some(tab_in_indentation(tab));
        }
        if indent.is_none() && !content.trim_end_matches(['\n', '\r']).is_empty() {
            if is_root && spaces == 0 {
                let span = Span::new(here, here + content.trim_end().len());
                let message = "this line of a block is not indented";
                return Some(refused(span, message, "indent the lines of the block by two spaces"));
            }
            indent = Some(spaces);
        }
        at += line.len();
    }
    None
}

/// An escape that the parser knows, and Go's libraries do not.
fn escape(written: &str, start: usize) -> Option<YamlProblem> {
    let mut rest = written;
    while let Some((_, behind)) = rest.split_once('\\') {
        let at = start + written.len() - behind.len() - 1;
        let name = behind.chars().next()?;
        if name == '/' {
            let message = "Go's YAML readers do not know the escape `\\/`";
            return Some(refused(Span::new(at, at + 2), message, "write `/` without the backslash"));
        }
        let code = behind.get(1..5).filter(|_| name == 'u').and_then(|digits| u32::from_str_radix(digits, 16).ok());
        if code.is_some_and(|code| (0xd800..0xe000).contains(&code)) {
            let message = "Go's YAML readers do not know escapes of half a character, such as this one";
            let hint = "write the character itself, or one escape with `\\U` and eight digits";
            return Some(refused(Span::new(at, at + 6), message, hint));
        }
        rest = behind.get(name.len_utf8()..)?;
    }
    None
}
