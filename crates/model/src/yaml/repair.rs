//! Makes texts readable for the parser that Go's libraries read, and that the parser refuses.
//!
//! The parser follows YAML 1.2. Where it refuses a form that Go's libraries read, the form is replaced by one that it accepts and that has the
//! same length, so all places stay the same: comments and tabs become spaces, scalars become words. The contents of these scalars are kept beside.

use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;

use granit_parser::{ErrorKind, Event, Parser, ScanError, StrInput};

use super::quoted::{ends_value, quoted};

/// A parser of a text in memory.
pub(super) type TextParser<'p> = Parser<'p, StrInput<'p>>;

/// The parser for a text. More levels than `depth` are an error.
pub(super) fn parser(text: &str, depth: usize) -> TextParser<'_> {
    let parsing = granit_parser::options! {
        emit_unresolved_aliases: true,
        emit_comments: false,
        flow_nesting_limit: depth,
        block_nesting_limit: depth,
    };
    Parser::new_from_str_with_options(text, parsing)
}

/// A text that the parser accepts in more places than the original.
pub(super) struct Repaired {
    /// The text. It has the same length as the original.
    pub(super) text: String,
    /// The contents of the scalars that were replaced, by the offset where each begins.
    pub(super) scalars: HashMap<usize, Arc<str>>,
}

/// The bytes that are parsed again after replacements, in relation to the text. The cost of a text stays proportional to its size.
const PARSED_AGAIN: usize = 4;
/// The bytes that are parsed again in a text of any size. They are enough for hundreds of replacements in one object.
const PARSED_AGAIN_MIN: usize = 4 << 20;

/// Whether an error can be about a form that Go's libraries read.
pub(super) fn is_repairable(error: &ScanError) -> bool {
    matches!(
        error.kind(),
        ErrorKind::CommentNotSeparated
            | ErrorKind::UnknownQuotedScalarEscape
            | ErrorKind::InvalidQuotedScalarIndent
            | ErrorKind::TabInIndentation
            | ErrorKind::TabInBlockIndentation
            | ErrorKind::TabNotAllowed
            | ErrorKind::PlainScalarStartsWithDashFlowIndicator
    )
}

/// Replaces all forms in a text that only the parser refuses. None if there are none.
pub(super) fn repaired(text: &str, depth: usize) -> Option<Repaired> {
    let mut repaired = Repaired { text: text.to_owned(), scalars: HashMap::new() };
    let mut search = Search { depth, begin: 0, bytes: PARSED_AGAIN_MIN + PARSED_AGAIN * text.len() };
    let mut is_changed = false;
    while let Some(Edit { range, replacement, content }) = search.next(&repaired.text) {
        if let Some(content) = content {
            repaired.scalars.insert(range.start, content.into());
        }
        repaired.text.replace_range(range, &replacement);
        is_changed = true;
    }
    is_changed.then_some(repaired)
}

/// A replacement of a part of a text.
struct Edit {
    range: Range<usize>,
    /// The new part, of the same length.
    replacement: String,
    /// The content, if the part is a scalar.
    content: Option<String>,
}

impl Edit {
    fn spaces(range: Range<usize>) -> Self {
        Self { replacement: " ".repeat(range.len()), range, content: None }
    }
}

/// The search for the next replacement.
struct Search {
    depth: usize,
    /// The offset before the document that is read.
    begin: usize,
    /// The number of bytes that may still be parsed again.
    bytes: usize,
}

impl Search {
    fn next(&mut self, text: &str) -> Option<Edit> {
        let from = self.begin;
        let mut parser = parser(text.get(from..)?, self.depth);
        let mut is_recovered = false;
        loop {
            match parser.next_event()? {
                Ok((Event::DocumentEnd, span)) => {
                    self.begin = span.byte_range().map_or(self.begin, |range| from + range.end);
                }
                Ok((Event::DocumentStart(..), span)) if is_recovered => {
                    self.begin = span.byte_range().map_or(self.begin, |range| from + range.start);
                    is_recovered = false;
                }
                Ok(_) => {}
                Err(error) => {
                    let at = from + error.marker().byte_offset()?;
                    if let Some(edit) = self.edit(text, &error, at) {
                        self.bytes = self.bytes.checked_sub(2 * (at - from.min(at)))?;
                        return Some(edit);
                    }
                    is_recovered = true;
                    if !parser.proceed_next_document().ok()? {
                        return None;
                    }
                }
            }
        }
    }

    /// The replacement that removes an error at an offset.
    fn edit(&self, text: &str, error: &ScanError, at: usize) -> Option<Edit> {
        let line = text.get(..at)?.rfind(['\n', '\r']).map_or(0, |found| found + 1);
        match error.kind() {
            ErrorKind::CommentNotSeparated => {
                let comment = text.get(at..)?.split(['\n', '\r']).next().filter(|rest| rest.starts_with('#'))?;
                Some(Edit::spaces(at..at + comment.len()))
            }
            ErrorKind::UnknownQuotedScalarEscape => scalar(text, at),
            ErrorKind::InvalidQuotedScalarIndent | ErrorKind::TabInIndentation => {
                scalar(text, self.opening_quote(text, line)?)
            }
            ErrorKind::TabInBlockIndentation | ErrorKind::TabNotAllowed => {
                let rest = text.get(line..)?;
                let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
                let range = line..line + blanks;
                text.get(range.clone())?.contains('\t').then(|| Edit::spaces(range))
            }
            ErrorKind::PlainScalarStartsWithDashFlowIndicator => {
                let is_dash = text.get(at..)?.starts_with('-');
                is_dash.then(|| Edit { range: at..at + 1, replacement: "x".to_owned(), content: Some("-".to_owned()) })
            }
            _ => None,
        }
    }

    /// The opening quote of the scalar that contains the line break before `line`: it is not closed if the text ends before the break.
    fn opening_quote(&self, text: &str, line: usize) -> Option<usize> {
        let mut parser = parser(text.get(self.begin..line)?.trim_end_matches([' ', '\t', '\n', '\r']), self.depth);
        let error = std::iter::from_fn(|| parser.next_event()).find_map(Result::err)?;
        // A backslash before the break is half an escape.
        let is_open = matches!(error.kind(), ErrorKind::UnclosedQuotedScalar | ErrorKind::UnknownQuotedScalarEscape);
        error.marker().byte_offset().filter(|_| is_open).map(|at| self.begin + at)
    }
}

/// Replaces the quoted scalar at `start`, if Go's libraries read it as a value or a key.
fn scalar(text: &str, start: usize) -> Option<Edit> {
    let found = quoted(text, start)?;
    let range = start..found.end;
    let written = text.get(range.clone())?;
    let has_lines = written.contains(['\n', '\r']);
    let is_key = || text.get(found.end..).is_some_and(|rest| rest.trim_start_matches([' ', '\t']).starts_with(':'));
    let fits = ends_value(text, found.end) || (!has_lines && is_key());
    let quote = written.get(..1)?;
    let replacement = format!("{quote}{}{quote}", "x".repeat(written.len() - 2));
    fits.then_some(Edit { range, replacement, content: Some(found.content) })
}
