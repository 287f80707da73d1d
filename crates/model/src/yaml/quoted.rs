//! Reads quoted scalars by the rules of Go's libraries, where the parser is stricter.
//!
//! The parser requires that the lines of a quoted text are indented more than its key, and it does not know the escape `\'`. Go's libraries
//! and libyaml, their model, allow both.

/// A quoted scalar.
pub(super) struct Quoted {
    /// The offset after the closing quote.
    pub(super) end: usize,
    /// The text without quotes, escapes and folding.
    pub(super) content: String,
}

/// The quoted scalar whose opening quote is at `start`. None if Go's libraries refuse it.
pub(super) fn quoted(text: &str, start: usize) -> Option<Quoted> {
    let mut rest = text.get(start..)?;
    let quote = rest.chars().next().filter(|first| matches!(first, '\'' | '"'))?;
    rest = rest.get(1..)?;
    let mut content = String::new();
    loop {
        let next = rest.chars().next()?;
        rest = if next == quote {
            let Some(behind) = rest.strip_prefix("''") else {
                return Some(Quoted { end: text.len() - rest.len() + 1, content });
            };
            content.push(next);
            behind
        } else if is_blank(next) || is_break(next) {
            folded(rest, &mut content)?
        } else if next == '\\' && quote == '"' {
            escaped(rest.get(1..)?, &mut content)?
        } else {
            content.push(next);
            rest.get(next.len_utf8()..)?
        };
    }
}

/// Whether a text that ends at `end` can be followed by what follows, on the same line.
pub(super) fn ends_value(text: &str, end: usize) -> bool {
    let behind = text.get(end..).unwrap_or_default().trim_start_matches(is_blank);
    behind.is_empty() || behind.starts_with(is_break) || behind.starts_with(['#', ',', ']', '}'])
}

/// Adds the blanks and line breaks at the start of `text`. Returns the text after them. None if a document begins or ends there.
fn folded<'t>(text: &'t str, content: &mut String) -> Option<&'t str> {
    let (run, rest) = run(text)?;
    match breaks(run) {
        0 => content.push_str(run),
        1 => content.push(' '),
        many => content.extend(std::iter::repeat_n('\n', many - 1)),
    }
    Some(rest)
}

/// Adds the character of an escape. `text` begins after the backslash. Returns the text after the escape. None if it is not an escape.
fn escaped<'t>(text: &'t str, content: &mut String) -> Option<&'t str> {
    let name = text.chars().next()?;
    if is_break(name) {
        let (run, rest) = run(text)?;
        content.extend(std::iter::repeat_n('\n', breaks(run) - 1));
        return Some(rest);
    }
    let (character, length) = match digits(name) {
        0 => (simple_escape(name)?, name.len_utf8()),
        digits => (numbered(text.get(1..1 + digits)?)?, 1 + digits),
    };
    content.push(character);
    text.get(length..)
}

/// The number of hexadecimal digits that an escape with this name has.
fn digits(name: char) -> usize {
    match name {
        'x' => 2,
        'u' => 4,
        'U' => 8,
        _ => 0,
    }
}

/// The character of an escape without digits.
fn simple_escape(name: char) -> Option<char> {
    Some(match name {
        '0' => '\0',
        'a' => '\u{7}',
        'b' => '\u{8}',
        't' | '\t' => '\t',
        'n' => '\n',
        'v' => '\u{b}',
        'f' => '\u{c}',
        'r' => '\r',
        'e' => '\u{1b}',
        ' ' | '"' | '\'' | '\\' => name,
        'N' => '\u{85}',
        '_' => '\u{a0}',
        'L' => '\u{2028}',
        'P' => '\u{2029}',
        _ => return None,
    })
}

fn numbered(digits: &str) -> Option<char> {
    let is_number = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    char::from_u32(u32::from_str_radix(digits, 16).ok().filter(|_| is_number)?)
}

/// Whether `\` with `name` and the text after it is an escape. Its number may stand for no character.
pub(super) fn is_escape(name: char, rest: &str) -> bool {
    let number = || u32::from_str_radix(rest.get(..digits(name))?, 16).ok();
    is_break(name)
        || simple_escape(name).is_some()
        || digits(name) > 0 && number().is_some_and(|number| number <= u32::from(char::MAX))
}

/// The blanks and line breaks at the start of a text, and the rest. None if the rest is a mark between documents.
fn run(text: &str) -> Option<(&str, &str)> {
    let rest = text.trim_start_matches(|c| is_blank(c) || is_break(c));
    let run = text.get(..text.len() - rest.len())?;
    let is_mark = |mark: &str| {
        rest.strip_prefix(mark).is_some_and(|rest| rest.chars().next().is_none_or(|c| is_blank(c) || is_break(c)))
    };
    let is_marked = run.ends_with(is_break) && (is_mark("---") || is_mark("..."));
    (!is_marked).then_some((run, rest))
}

fn breaks(run: &str) -> usize {
    run.matches(is_break).count() - run.matches("\r\n").count()
}

fn is_blank(character: char) -> bool {
    matches!(character, ' ' | '\t')
}

fn is_break(character: char) -> bool {
    matches!(character, '\n' | '\r')
}

#[cfg(test)]
mod tests {
    use super::quoted;

    /// Checks the content of a quoted scalar at the start of a text, and the text after it.
    fn check(text: &str, expected: Option<(&str, &str)>) {
        let found = quoted(text, 0);
        let found = found.as_ref().map(|found| (&*found.content, &text[found.end..]));
        assert_eq!(found, expected, "{text:?}");
    }

    #[test]
    fn lines_are_folded_whatever_their_indentation() {
        check("\"x\ny\" z", Some(("x y", " z")));
        check("'x \n\n\t y\r\n'", Some(("x\ny ", "")));
        check("\"x\\\n  y \\\n\n z\"", Some(("xy \nz", "")));
        check("'  '", Some(("  ", "")));
    }

    #[test]
    fn escapes_are_decoded_as_in_go() {
        check("\"it\\'s \\x41\\u00e9\\U0001F681\\_\"", Some(("it's A\u{e9}\u{1f681}\u{a0}", "")));
        check("'it''s \\n'", Some(("it's \\n", "")));
        for text in ["\"\\/\"", "\"\\ud83d\\ude81\"", "\"\\q\"", "\"\\x+1\"", "\"\\u12\""] {
            check(text, None);
        }
    }

    #[test]
    fn a_quote_must_be_closed_in_its_document() {
        for text in ["'x", "\"x\\\"", "'x\n---\ny'", "\"x\n... \ny\"", "\"x\\\n--- \"", "x"] {
            check(text, None);
        }
        check("'x\n ---\n...y'", Some(("x --- ...y", "")));
    }
}
