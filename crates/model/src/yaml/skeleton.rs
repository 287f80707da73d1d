//! Compares the structure of two texts: documents, collections, keys and items.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use granit_parser::{Event, ScalarStyle};

use super::YamlLimits;
use super::repair::{TextParser, is_repairable, parser, repaired};

/// Whether `text` has the same structure as `other`. `other` is the same text, with the ordinary word `stand_in` in place of some values. `stand_in`
/// must not occur in `text`.
///
/// Scalars without the word must be equal. In scalars with the word, the text around the word must be equal. Types and quotes of these
/// scalars may differ. If neither text can be parsed, the comparison continues at the next document.
pub fn has_structure_of(text: &str, other: &str, stand_in: &str) -> bool {
    let compare = |left: &ParsedText<'_>, right: &ParsedText<'_>| {
        let (mut left, mut right) = (left.events(), right.events());
        loop {
            match (left.next(), right.next()) {
                (None, None) => return Some(true),
                (Some(Found::Event(event)), Some(Found::Event(other))) => {
                    if !is_same(&event, &other, stand_in) {
                        return Some(false);
                    }
                }
                (Some(Found::Repairable), _) | (_, Some(Found::Repairable)) => return None,
                (Some(Found::Error), Some(Found::Error)) => {
                    let goes_on = [&mut left, &mut right].map(Events::skip_document);
                    if goes_on != [true; 2] {
                        return Some(goes_on == [false; 2]);
                    }
                }
                _ => return Some(false),
            }
        }
    };
    let found = compare(&ParsedText::new(text), &ParsedText::new(other));
    found.or_else(|| compare(&ParsedText::repaired(text), &ParsedText::repaired(other))).unwrap_or_default()
}

/// Whether all documents of a text can be parsed.
pub fn is_readable(text: &str) -> bool {
    let is_read = |text: &ParsedText<'_>| {
        let error = text.events().find(|found| !matches!(found, Found::Event(_)));
        error.map_or(Some(true), |error| if matches!(error, Found::Repairable) { None } else { Some(false) })
    };
    is_read(&ParsedText::new(text)).or_else(|| is_read(&ParsedText::repaired(text))).unwrap_or_default()
}

/// Whether a word occurs in quoted scalars, and in no others.
pub fn is_quoted(text: &str, word: &str) -> bool {
    let is_in_quotes = |text: &ParsedText<'_>| {
        let mut is_found = false;
        for found in text.events() {
            match found {
                Found::Event(Event::Scalar(text, style, ..)) if text.contains(word) => {
                    if !matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
                        return Some(false);
                    }
                    is_found = true;
                }
                Found::Event(_) => {}
                Found::Repairable => return None,
                Found::Error => break,
            }
        }
        Some(is_found)
    };
    is_in_quotes(&ParsedText::new(text)).or_else(|| is_in_quotes(&ParsedText::repaired(text))).unwrap_or_default()
}

/// A text, or its form that the parser accepts in more places.
struct ParsedText<'t> {
    text: Cow<'t, str>,
    /// The contents of scalars, by the offset where each begins.
    contents: HashMap<usize, Arc<str>>,
    can_repair: bool,
}

impl<'t> ParsedText<'t> {
    fn new(text: &'t str) -> Self {
        Self { text: text.into(), contents: HashMap::new(), can_repair: true }
    }

    fn repaired(text: &'t str) -> Self {
        let known = Self { can_repair: false, ..Self::new(text) };
        let repaired = repaired(text, YamlLimits::DEFAULT.depth);
        repaired.map_or(known, |found| Self { text: found.text.into(), contents: found.scalars, can_repair: false })
    }

    fn events(&self) -> Events<'_> {
        let parser = parser(&self.text, YamlLimits::DEFAULT.depth);
        Events { parser, contents: &self.contents, can_repair: self.can_repair }
    }
}

/// The events of a text. After an error, they continue at the next document, if [`Events::skip_document`] is called.
struct Events<'e> {
    parser: TextParser<'e>,
    contents: &'e HashMap<usize, Arc<str>>,
    can_repair: bool,
}

enum Found<'e> {
    Event(Event<'e>),
    Error,
    /// An error that the repaired form of the text may not have.
    Repairable,
}

impl Events<'_> {
    /// False if no document follows.
    fn skip_document(&mut self) -> bool {
        self.parser.proceed_next_document().unwrap_or(false)
    }
}

impl<'e> Iterator for Events<'e> {
    type Item = Found<'e>;

    fn next(&mut self) -> Option<Found<'e>> {
        Some(match self.parser.next_event()? {
            Ok((Event::Scalar(text, style, anchor, tag), span)) => {
                let known = span.byte_range().and_then(|range| self.contents.get(&range.start));
                let text = known.map_or(text, |known| Cow::Owned(known.to_string()));
                Found::Event(Event::Scalar(text, style, anchor, tag))
            }
            Ok((event, _)) => Found::Event(event),
            Err(error) if self.can_repair && is_repairable(&error) => Found::Repairable,
            Err(_) => Found::Error,
        })
    }
}

fn is_same(event: &Event<'_>, other: &Event<'_>, stand_in: &str) -> bool {
    match (event, other) {
        (Event::DocumentStart(_, version), Event::DocumentStart(_, other)) => version == other,
        (Event::Scalar(text, style, anchor, tag), Event::Scalar(other, other_style, other_anchor, other_tag)) => {
            (anchor, tag) == (other_anchor, other_tag)
                && if other.contains(stand_in) {
                    is_like(*style, *other_style, text) && stands_in(text, other, stand_in)
                } else {
                    text == other && style == other_style
                }
        }
        _ => event == other,
    }
}

/// Whether a scalar with this style may replace one with the other style. A block would include the lines after it, and `<<` would merge other mappings.
/// The parser returns `~` for a missing value, such as one that became a comment.
fn is_like(style: ScalarStyle, other: ScalarStyle, text: &str) -> bool {
    let is_block = matches!(style, ScalarStyle::Literal | ScalarStyle::Folded);
    let means_more = matches!(text, "" | "~" | "<<") && style == ScalarStyle::Plain;
    !means_more && (style == other || !is_block)
}

/// Whether `text` contains all parts of `other` around the word, in the same order.
fn stands_in(text: &str, other: &str, stand_in: &str) -> bool {
    let parts: Vec<_> = other.split(stand_in).collect();
    let [first, middle @ .., last] = parts.as_slice() else { return text == other };
    let between = text.strip_prefix(first.trim_end()).and_then(|rest| rest.strip_suffix(last.trim_start()));
    let Some(mut rest) = between else { return false };
    for part in middle {
        let Some((_, after)) = rest.split_once(part.trim()) else { return false };
        rest = after;
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks whether the structure stays the same if `value` replaces `@` in `text`.
    fn check(text: &str, value: &str, expected: bool) {
        let found = has_structure_of(&text.replace('@', value), &text.replace('@', "word"), "word");
        assert_eq!(found, expected, "{value:?} in {text:?}");
    }

    #[test]
    fn ordinary_texts_are_scalars_wherever_they_stand() {
        for text in ["a: @\nb: c\n", "a: '@'\n", "a: \"@\"\n", "- @\n- b\n", "a: x/@/y\n", "@: b\n", "a: |\n  @\n"] {
            for value in ["text", "123", "null", "./a/b", "https://a.example/b?c=d", "two words", "a-b", "a:b", "it"] {
                check(text, value, true);
            }
        }
        check("{a: @, b: [@, c]}", "text", true);
        check("a: '@'\nb: '@'\n", "\\x [", true);
        check("a: @\n", "'quoted'", true);
        check("a: @\n", "x # comment", true);
    }

    #[test]
    fn syntax_in_values_changes_the_structure() {
        for value in
            ["b: c", "{x: 1}", "[x]", "- x", "&a x", "*a", "!!int 1", "\"x", "'x", "| x", "?  x", "@x", "a\nb: c"]
        {
            check("a: @\n", value, false);
        }
        check("a: \"@\"\n", "x\"\nb: \"", false);
        check("a: '@'\n", "x', b: 'y", false);
        check("{a: @}", "x, b: c", false);
        check("{a: \"@\"}", "x\", b: \"c", false);
        check("[@]", "x, y", false);
        check("a: @/b\n", "x #", false);
        check("# @\na: b\n", "x\nc: d", false);
        check("a: @\n", "x\n---\nkind: Other", false);
        check("@: b\n", "<<", false);
        check("a: @\n", "|", false);
        check("a: @\n", "# x", false);
        check("x: &y {z: 1}\na: @\n", "*y", false);
    }

    #[test]
    fn texts_that_only_go_reads_are_compared_too() {
        check("a: 'x\ny'# c\nb: @\n", "text", true);
        check("a: 'x\ny'# c\nb: @\n", "c\nd: e", false);
        check("a: 'x\n@'\n", "text", true);
        check("a: 'x\n@'\n", "text'\nb: 'c", false);
        check("a: \"x\n@\"\n", "it\\'s", true);
        assert!(is_readable("a: 'x\ny'\n") && is_quoted("a: 'x\nword'\n", "word") && !is_readable("a: 'x\n"));
    }

    #[test]
    fn word_is_quoted_if_all_scalars_with_it_are_quoted() {
        assert!(is_quoted("a: 'word'\nb: \"x word\"\n", "word"));
        assert!(
            !is_quoted("a: 'word'\nb: word\n", "word")
                && !is_quoted("a: |\n  word\n", "word")
                && !is_quoted("a: b\n", "word")
        );
    }

    #[test]
    fn documents_after_a_broken_one_keep_their_structure() {
        check("a: [\n---\nb: @\n", "x", true);
        check("a: [\n---\nb: @\n", "x: y", false);
    }
}
