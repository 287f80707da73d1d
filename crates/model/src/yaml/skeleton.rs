//! Compares the structure of two texts: documents, collections, keys and items.

use granit_parser::{Event, Parser, ScalarStyle, StrInput};

use super::Limits;

/// Whether `text` has the same structure as `other`. `other` is the same text, with the ordinary word `stand_in` in place of some values. `stand_in`
/// must not occur in `text`.
///
/// Scalars without the word must be equal. In scalars with the word, the text around the word must be equal. Types and quotes of these
/// scalars may differ. If neither text can be parsed, the comparison continues at the next document.
pub fn has_structure_of(text: &str, other: &str, stand_in: &str) -> bool {
    let (mut left, mut right) = (parser(text), parser(other));
    loop {
        match (left.next_event(), right.next_event()) {
            (None, None) => return true,
            (Some(Ok((event, _))), Some(Ok((other, _)))) => {
                if !is_same(&event, &other, stand_in) {
                    return false;
                }
            }
            (Some(Err(_)), Some(Err(_))) => {
                let goes_on = [&mut left, &mut right].map(|parser| parser.proceed_next_document().unwrap_or(false));
                if goes_on != [true; 2] {
                    return goes_on == [false; 2];
                }
            }
            _ => return false,
        }
    }
}

/// Whether all documents of a text can be parsed.
pub fn is_readable(text: &str) -> bool {
    let mut parser = parser(text);
    std::iter::from_fn(|| parser.next_event()).all(|event| event.is_ok())
}

/// Whether a word occurs in quoted scalars, and in no others.
pub fn is_quoted(text: &str, word: &str) -> bool {
    let mut parser = parser(text);
    let mut found = false;
    while let Some(Ok((event, _))) = parser.next_event() {
        if let Event::Scalar(text, style, ..) = event
            && text.contains(word)
        {
            if !matches!(style, ScalarStyle::SingleQuoted | ScalarStyle::DoubleQuoted) {
                return false;
            }
            found = true;
        }
    }
    found
}

fn parser(text: &str) -> Parser<'_, StrInput<'_>> {
    let nesting = Limits::DEFAULT.depth;
    let parsing = granit_parser::options! {
        emit_unresolved_aliases: true,
        emit_comments: false,
        flow_nesting_limit: nesting,
        block_nesting_limit: nesting,
    };
    Parser::new_from_str_with_options(text, parsing)
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
    fn what_makes_keys_items_or_documents_is_another_structure() {
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
    fn a_word_is_quoted_where_every_scalar_with_it_is() {
        assert!(is_quoted("a: 'word'\nb: \"x word\"\n", "word"));
        assert!(
            !is_quoted("a: 'word'\nb: word\n", "word")
                && !is_quoted("a: |\n  word\n", "word")
                && !is_quoted("a: b\n", "word")
        );
    }

    #[test]
    fn what_nobody_can_read_has_no_structure_but_what_follows_has() {
        check("a: [\n---\nb: @\n", "x", true);
        check("a: [\n---\nb: @\n", "x: y", false);
    }
}
