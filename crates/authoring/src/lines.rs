//! The lines of a text.

/// The offset of the first byte of the line that contains the byte at `at`. A byte order mark is not a part of the first line.
pub(crate) fn start(text: &str, at: usize) -> usize {
    let before = text.get(..at).unwrap_or_default();
    before.rfind('\n').map_or_else(|| mark(text).min(at), |found| found + 1)
}

/// The offset after the last byte of the line that contains the byte at `at`, before its line break.
pub(crate) fn end(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    let Some(found) = rest.find('\n') else { return text.len() };
    let end = at + found;
    if text.get(start(text, at)..end).is_some_and(|line| line.ends_with('\r')) { end - 1 } else { end }
}

/// The offset of the line after the one that contains the byte at `at`. The end of the text if it is the last line.
pub(crate) fn next(text: &str, at: usize) -> usize {
    let rest = text.get(at..).unwrap_or_default();
    rest.find('\n').map_or(text.len(), |found| at + found + 1)
}

/// The offset of the line before the one that contains the byte at `at`. None if it is the first line.
pub(crate) fn previous(text: &str, at: usize) -> Option<usize> {
    let begin = start(text, at);
    (begin > mark(text)).then(|| start(text, begin - 1))
}

/// The line that contains the byte at `at`, without its line break.
pub(crate) fn line(text: &str, at: usize) -> &str {
    text.get(start(text, at)..end(text, at)).unwrap_or_default()
}

/// The end of the text before `at` without the blanks and empty lines at its end.
pub(crate) fn trimmed(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or_default().trim_end_matches([' ', '\t', '\r', '\n']).len()
}

/// The length of the byte order mark at the beginning of a text.
pub(crate) fn mark(text: &str) -> usize {
    if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 }
}

/// Whether the line contains only a comment, and at which column it begins.
pub(crate) fn comment_column(line: &str) -> Option<usize> {
    let content = line.trim_start_matches([' ', '\t']);
    content.starts_with('#').then(|| line.len() - content.len())
}

/// Whether the line contains nothing but blanks.
pub(crate) fn is_blank(line: &str) -> bool {
    line.trim().is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_have_a_beginning_an_end_and_neighbours() {
        let text = "\u{feff}ab\r\ncd\n\nef";
        let at = |part: &str| text.find(part).unwrap();
        assert_eq!((start(text, at("b")), end(text, at("a")), next(text, at("a"))), (3, 5, 7));
        assert_eq!((line(text, at("d")), line(text, at("ef"))), ("cd", "ef"));
        assert_eq!((previous(text, at("b")), previous(text, at("cd"))), (None, Some(3)));
        assert_eq!((next(text, at("ef")), end(text, text.len())), (text.len(), text.len()));
        assert_eq!(trimmed(text, at("ef")), at("cd") + 2);
    }
}
