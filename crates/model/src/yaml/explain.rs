//! Explains errors of the parser to the author of the text.
//!
//! The parser reports the place where it stopped, often a line after the mistake, in the terms of the grammar. Where possible, this module finds the
//! place of the mistake and writes what to change.

use granit_parser::{ErrorKind, ScanError};

use super::problem::shown;
use super::quoted::{ends_value, is_escape, quoted};
use super::{ProblemKind, Span, YamlProblem};

/// The state in which the parser stopped.
pub(super) struct Scene<'t> {
    /// The whole text.
    pub(super) text: &'t str,
    /// The range of the last event.
    pub(super) last: Span,
    /// The innermost open bracket.
    pub(super) open: Option<Span>,
}

/// The problem for an error of the parser.
pub(super) fn explain(error: &ScanError, scene: &Scene<'_>) -> YamlProblem {
    let at = error.marker().byte_offset().unwrap_or(scene.last.end as usize).min(scene.text.len());
    scene
        .template_expression(at)
        .or_else(|| scene.characters(error.kind(), at))
        .or_else(|| scene.quotes(error.kind(), at))
        .or_else(|| scene.brackets(error.kind(), at))
        .or_else(|| scene.lines(error.kind(), at))
        .unwrap_or_else(|| syntax(scene.character(at), error.info()))
}

fn syntax(span: Span, message: impl Into<std::borrow::Cow<'static, str>>) -> YamlProblem {
    YamlProblem::new(ProblemKind::Syntax, span, message)
}

/// The problem for a tab in the indentation of a line.
pub(super) fn tab_in_indentation(tab: Span) -> YamlProblem {
    syntax(tab, "there is a tab in the indentation").hint("indent with spaces: YAML does not allow tabs there")
}

const QUOTE_VALUE: &str = "put the value in quotes";
const SPACE_AFTER_COLON: &str = "write a space between the colon and the value";

impl<'t> Scene<'t> {
    /// `{{` without quotes, which YAML reads as two mappings.
    fn template_expression(&self, at: usize) -> Option<YamlProblem> {
        let begins = |from: usize| {
            let line = self.line(from);
            let found = [": {{", "- {{", ": {%"].iter().filter_map(|sign| self.slice(line).find(sign)).min()?;
            Some(Span::new(line.start as usize + found + 2, line.start as usize + found + 4))
        };
        let begin = begins(at).or_else(|| begins(self.open?.start as usize))?;
        let message = format!("{} begins a YAML mapping here, not a template expression", shown(self.slice(begin)));
        (begin.start as usize <= at).then(|| syntax(begin, message).hint(QUOTE_VALUE))
    }

    /// The first tab in the line of a place.
    fn tab_in_line(&self, at: usize) -> Option<usize> {
        let line = self.line(at);
        self.slice(line).find('\t').map(|tab| line.start as usize + tab)
    }

    /// The first tab in the indentation that the lines of a scalar need. The scalar begins at this place.
    fn indenting_tab_behind(&self, at: usize) -> Option<usize> {
        let needed = self.indentation_of_value(at)?;
        let mut start = self.line(at).end as usize;
        for line in self.text.get(start..)?.split_inclusive(['\n', '\r']) {
            let content = line.trim_start_matches([' ', '\t']);
            let tab = line.get(..line.len() - content.len())?.find('\t');
            if let Some(tab) = tab.filter(|tab| *tab < needed) {
                return Some(start + tab);
            }
            start += line.len();
        }
        None
    }

    /// The number of spaces that a line of the value at this place needs at least: one more than its key or its dash. The column of the value, if it begins
    /// its line.
    fn indentation_of_value(&self, at: usize) -> Option<usize> {
        let before = self.text.get(self.line(at).start as usize..at)?;
        let (mut rest, mut dash) = (before.trim_start_matches(' '), None);
        while let Some(after) = rest.strip_prefix("- ") {
            dash = Some(before.len() - rest.len());
            rest = after.trim_start_matches(' ');
        }
        let column = before.len() - rest.len();
        Some(match dash {
            Some(dash) if rest.is_empty() => dash + 1,
            _ if rest.is_empty() => column,
            _ => column + 1,
        })
    }

    /// Characters that are not allowed at their place.
    fn characters(&self, kind: &ErrorKind, at: usize) -> Option<YamlProblem> {
        match kind {
            ErrorKind::UnexpectedCharacter { character } => {
                let message = format!("a plain value cannot begin with `{}`", character.escape_debug());
                Some(syntax(self.character(at), message).hint(QUOTE_VALUE))
            }
            // The parser names the beginning of the scalar. Its first line may have tabs: they do not indent.
            ErrorKind::TabAtBlockScalarStart | ErrorKind::TabInPlainScalar => {
                let tab = self.indenting_tab_behind(at).or_else(|| self.tab_in_line(at)).unwrap_or(at);
                Some(tab_in_indentation(self.character(tab)))
            }
            ErrorKind::TabNotAllowed | ErrorKind::TabInBlockIndentation | ErrorKind::TabInIndentation => {
                Some(tab_in_indentation(self.character(self.tab_in_line(at).unwrap_or(at))))
            }
            ErrorKind::InvalidBlockScalarHeader => {
                let message = "a block after `|` or `>` begins on the next line";
                Some(
                    syntax(self.character(at), message)
                        .hint("put the value in quotes if it begins with this character"),
                )
            }
            ErrorKind::RecursionLimitExceeded => {
                let message = "too many mappings and lists are inside one another here";
                Some(YamlProblem::new(ProblemKind::Depth, self.character(at), message))
            }
            ErrorKind::CommentNotSeparated => Some(
                syntax(self.character(at), "there is no space before this comment").hint("write a space before `#`"),
            ),
            _ => None,
        }
    }

    /// Quotes that are not closed, that are closed too early, or that contain an invalid escape.
    fn quotes(&self, kind: &ErrorKind, at: usize) -> Option<YamlProblem> {
        match kind {
            ErrorKind::UnclosedQuotedScalar
            | ErrorKind::DocumentIndicatorInQuotedScalar
            | ErrorKind::InvalidQuotedScalarIndent => {
                let opening = self.opening_quote(at);
                if *kind == ErrorKind::InvalidQuotedScalarIndent && self.is_closed(opening) {
                    let message = "the lines of this quoted text are not indented more than its key";
                    return Some(syntax(opening, message).hint("indent them, or write the text in a block after `|`"));
                }
                let problem = syntax(opening, "this quote is not closed")
                    .hint("close it on its line, or indent the lines that belong to it");
                let at_end = *kind == ErrorKind::UnclosedQuotedScalar;
                Some(if at_end {
                    problem
                } else {
                    problem.related(self.character(at), "the quoted text must end before this")
                })
            }
            ErrorKind::InvalidTrailingSingleQuotedScalar => {
                let problem = syntax(self.character(at), "there is more text behind the closing quote");
                Some(problem.hint("inside single quotes an apostrophe is written twice: `''`"))
            }
            ErrorKind::InvalidTrailingDoubleQuotedScalar => {
                let problem = syntax(self.character(at), "there is more text behind the closing quote");
                Some(problem.hint("inside double quotes a quote is written `\\\"`"))
            }
            ErrorKind::UnknownQuotedScalarEscape
            | ErrorKind::InvalidQuotedScalarHexEscape
            | ErrorKind::InvalidUnicodeEscape
            | ErrorKind::InvalidLowSurrogate
            | ErrorKind::InvalidLowSurrogateHexEscape
            | ErrorKind::MissingLowSurrogate
            | ErrorKind::UnpairedLowSurrogate => {
                let problem = match self.unknown_escape(at) {
                    Some(escape) => {
                        syntax(escape, format!("{} is not an escape sequence of YAML", shown(self.slice(escape))))
                    }
                    None => syntax(self.character(at), "an escape in this text stands for no character"),
                };
                Some(problem.hint("write `\\\\` for a backslash, or use single quotes"))
            }
            _ => None,
        }
    }

    /// Brackets and braces that are not closed, or whose content is not a list.
    fn brackets(&self, kind: &ErrorKind, at: usize) -> Option<YamlProblem> {
        let here = self.character(at);
        match kind {
            ErrorKind::MisplacedFlowCollectionEnd => {
                Some(syntax(here, format!("{} closes nothing: no bracket is open here", shown(self.slice(here)))))
            }
            ErrorKind::MismatchedFlowCollectionEnd { open, close } => {
                let from = self.last.end as usize;
                let found = self.text.get(from..).and_then(|rest| rest.find(*close)).map_or(at, |found| from + found);
                Some(
                    syntax(self.character(found), format!("`{close}` cannot close `{open}`"))
                        .related(here, "it is opened here"),
                )
            }
            ErrorKind::UnclosedFlowCollection { open } => {
                let close = if *open == '[' { ']' } else { '}' };
                Some(
                    syntax(here, format!("this `{open}` is not closed"))
                        .hint(format!("close it with `{close}`, or put the text in quotes")),
                )
            }
            ErrorKind::ExpectedFlowMappingSeparator
            | ErrorKind::ExpectedFlowSequenceSeparator
            | ErrorKind::InvalidColonPlacement
            | ErrorKind::InvalidFlowScalarIndent
            | ErrorKind::BlockEntryInFlowCollection
            | ErrorKind::UnexpectedEofFlowSequence
            | ErrorKind::UnexpectedEofFlowMapping
            | ErrorKind::UnexpectedEofImplicitFlowMapping => {
                let open = self.open?;
                let bracket = self.slice(open);
                let close = if bracket == "[" { ']' } else { '}' };
                let problem = syntax(here, format!("a `,` or `{close}` is missing before this"))
                    .related(open, format!("this `{bracket}` is open"));
                Some(problem.hint(format!("close it with `{close}`, or put the text in quotes")))
            }
            _ => None,
        }
    }

    /// Lines whose indentation and form do not match their neighbours.
    fn lines(&self, kind: &ErrorKind, at: usize) -> Option<YamlProblem> {
        let line = self.content_of_line(at);
        if let Some(tab) = self.text.get(self.line(at).start as usize..line.start as usize)?.find('\t') {
            return Some(tab_in_indentation(self.character(self.line(at).start as usize + tab)));
        }
        match kind {
            ErrorKind::MappingValueNotAllowed => Some(self.second_colon(at)),
            ErrorKind::ExpectedBlockMappingKey if self.follows_bracket(at) => {
                let message = "there is more text behind the closing bracket";
                Some(syntax(self.character(at), message).hint(QUOTE_VALUE))
            }
            ErrorKind::ExpectedBlockMappingKey if self.slice(line).starts_with("- ") => {
                let message = "this list item is not indented like the items or keys before it";
                Some(syntax(line, message).hint("items of one list begin in the same column"))
            }
            ErrorKind::ExpectedBlockMappingKey
            | ErrorKind::InvalidIndentation
            | ErrorKind::InvalidBlockScalarIndent => {
                let message = "the indentation of this line fits none of the lines before it";
                Some(syntax(line, message).hint("keys of one mapping begin in the same column"))
            }
            ErrorKind::SimpleKeyExpected | ErrorKind::InvalidSimpleKey => Some(self.missing_colon(at)),
            ErrorKind::ExpectedBlockSequenceEntry => {
                let message = "this line is in the column of a list, but is not an item of it";
                Some(syntax(line, message).hint("begin it with `- `, or indent it like the key it belongs to"))
            }
            ErrorKind::BlockSequenceEntryNotAllowed => {
                let message = "a list cannot begin on the line of its key";
                Some(
                    syntax(self.character(at), message)
                        .hint("begin the list on the next line, or put the value in quotes if it is text"),
                )
            }
            ErrorKind::ExpectedDocumentStart => {
                Some(syntax(line, "this line is outside of a document").hint("begin a document with `---`"))
            }
            _ => None,
        }
    }

    /// A `: ` where a key is not allowed: in a value, or on a line that continues the value of the line before.
    fn second_colon(&self, at: usize) -> YamlProblem {
        let before = self.line(self.last.start as usize);
        let line = self.line(at);
        if before != line {
            let value = self.slice(Span { end: before.end, ..self.last });
            if value.split_once(':').is_some_and(|(_, rest)| !rest.starts_with(' '))
                && !self.slice(before).contains(": ")
            {
                return syntax(
                    Span { end: before.end, ..self.last },
                    "there is no space after this colon, so the line is text and not a key",
                )
                .hint(SPACE_AFTER_COLON);
            }
            let problem =
                syntax(self.content_of_line(at), "this line is indented under a line that has a value already");
            return problem
                .related(self.content_of_line(before.start as usize), "this is the line above")
                .hint("begin it in the column of the key above");
        }
        let end = (at + 2).min(line.end as usize);
        syntax(Span::new(at, end), "a second `: ` is on this line, in a value that has no quotes").hint(QUOTE_VALUE)
    }

    fn missing_colon(&self, at: usize) -> YamlProblem {
        let line = self.content_of_line(at);
        let glued = self.slice(line).split_once(':').is_some_and(|(key, rest)| !key.contains(' ') && !rest.is_empty());
        if glued {
            return syntax(line, "there is no space after this colon, so the line is text and not a key")
                .hint(SPACE_AFTER_COLON);
        }
        if self.slice(line).starts_with('-') {
            return syntax(line, "there is no space after this dash, so the line is text and not a list item")
                .hint("write a space between the dash and the item");
        }
        let hint = "write `key: value`; text of several lines stands in a block after `|`, indented";
        syntax(line, "this line is among keys, but has no `: `").hint(hint)
    }

    /// Whether the last event ends on this line with a bracket.
    fn follows_bracket(&self, at: usize) -> bool {
        let before = self.text.get(self.last.end.saturating_sub(1) as usize..at).unwrap_or_default();
        before.starts_with([']', '}']) && !before.contains(['\n', '\r'])
    }

    fn opening_quote(&self, at: usize) -> Span {
        let from = self.last.end as usize;
        let quote =
            self.text.get(from..at).and_then(|between| between.find(['"', '\''])).map_or(at, |quote| from + quote);
        self.character(quote)
    }

    /// Whether the quoted text that begins here ends before the rest of its line.
    fn is_closed(&self, opening: Span) -> bool {
        quoted(self.text, opening.start as usize).is_some_and(|found| ends_value(self.text, found.end))
    }

    /// The first invalid escape after `at`. Only a limited number of lines is searched, so that many errors do not take much time.
    fn unknown_escape(&self, at: usize) -> Option<Span> {
        let text = self.text.get(..self.text.floor_char_boundary(at + 4096)).unwrap_or_default();
        let mut from = at;
        while let Some(found) = text.get(from..).and_then(|rest| rest.find('\\')) {
            let escape = from + found;
            let rest = text.get(escape + 1..).unwrap_or_default();
            let name = rest.chars().next()?;
            let end = escape + 1 + name.len_utf8();
            if !is_escape(name, rest.get(name.len_utf8()..).unwrap_or_default()) {
                return Some(Span::new(escape, end));
            }
            from = end;
        }
        None
    }

    fn slice(&self, span: Span) -> &'t str {
        self.text.get(span.range()).unwrap_or_default()
    }

    /// The character at an offset. At the end of the text, the empty range.
    fn character(&self, at: usize) -> Span {
        let length = self.text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Span::new(at, at + length)
    }

    /// The line around an offset, without its line break.
    fn line(&self, at: usize) -> Span {
        let start = self.text.get(..at).and_then(|before| before.rfind(['\n', '\r'])).map_or(0, |found| found + 1);
        let length = self.text.get(start..).and_then(|rest| rest.find(['\n', '\r']));
        Span::new(start, length.map_or(self.text.len(), |length| start + length))
    }

    /// The line around an offset, without its indentation.
    fn content_of_line(&self, at: usize) -> Span {
        let line = self.line(at);
        let text = self.slice(line);
        let trimmed = text.trim_start();
        Span::new(line.start as usize + text.len() - trimmed.len(), line.start as usize + text.trim_end().len())
    }
}

#[cfg(test)]
mod tests;
