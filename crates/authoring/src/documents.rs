//! Appends documents to files, and removes them.

use std::ops::Range;

use model::yaml::{Node, Span};

use crate::edit::{EditError, ReadFile, Reason, documents, ends_with_block};
use crate::lines;
use crate::style::LineEnd;

/// Appends documents to a file. `documents` is text as [`write_all`](crate::new_object::write_all) makes it: with `---` between documents, not before
/// the first. If the file ends without a line break, the result does too.
///
/// # Errors
/// The file has errors, or the result would not be the old documents with the new ones behind them.
pub fn append(content: &[u8], added: &str) -> Result<Vec<u8>, EditError> {
    let file = ReadFile::parse(content)?;
    let is_open_block =
        !file.text.ends_with('\n') && file.documents.iter().any(|root| ends_with_block(root, file.text));
    let reason = || if is_open_block { Reason::OpenBlock } else { Reason::UnsafeDocument };
    let refused = || EditError::new(reason(), Some(Span::at(file.text.len())));
    let mut expected = documents(file.text).ok_or_else(refused)?;
    expected.extend(documents(added).ok_or_else(refused)?);
    let line_end = LineEnd::from_text(if file.text.contains('\n') { file.text } else { added });
    let added = line_end.applied(added.replace("\r\n", "\n"));
    let ways = if file.documents.is_empty() { ["", "---"] } else { ["---", "...\n---"] };
    let mut results = ways.iter().map(|separator| {
        let separator = if separator.is_empty() { String::new() } else { format!("{separator}\n") };
        joined(file.text, &line_end.applied(separator), &added)
    });
    let good = results.find(|result| documents(result).as_ref() == Some(&expected));
    good.map(String::into_bytes).ok_or_else(refused)
}

fn joined(text: &str, separator: &str, added: &str) -> String {
    let is_open = !text.is_empty() && text.len() > lines::mark(text) && !text.ends_with('\n');
    if !is_open {
        return [text, separator, added].concat();
    }
    let line_end = LineEnd::from_text(added).as_str();
    let added = added.strip_suffix(line_end).unwrap_or(added);
    [text, line_end, separator, added].concat()
}

/// Removes a document from a file, with its comments. `document` counts from 0, without empty documents. None if nothing but comments is left: the file
/// can be removed.
///
/// # Errors
/// The file has errors, or the result would not be the other documents.
pub fn remove(content: &[u8], document: usize) -> Result<Option<Vec<u8>>, EditError> {
    let file = ReadFile::parse(content)?;
    let Some(root) = file.documents.get(document) else { return Err(EditError::new(Reason::NoObject, None)) };
    if file.documents.len() == 1 {
        return Ok(None);
    }
    let refused = || EditError::new(Reason::UnsafeDocument, Some(root.span));
    let mut expected = documents(file.text).ok_or_else(refused)?;
    expected.remove(document);
    let results = ranges(file.text, root).into_iter().map(|range| {
        let before = file.text.get(..range.start).unwrap_or_default();
        let after = file.text.get(range.end..).unwrap_or_default();
        [before, after].concat()
    });
    let mut good = results.filter(|result| documents(result).as_ref() == Some(&expected));
    good.next().map(|text| Some(text.into_bytes())).ok_or_else(refused)
}

/// The lines of a document, between the markers around it.
struct Section {
    /// The line of its `---`, if it has one, else the line after the marker before it, or the beginning of the file.
    begin: usize,
    /// The line after its `---`, or `begin`.
    content: usize,
    /// The next marker line, or the end of the file.
    end: usize,
}

/// The ways to remove a document, in order of preference.
fn ranges(text: &str, root: &Node) -> Vec<Range<usize>> {
    let section = section(text, root);
    let rest = text.get(section.end..).unwrap_or_default();
    let is_first = text.get(lines::mark(text)..section.begin).is_some_and(has_no_content) || section.begin == 0;
    let behind = if rest.starts_with("...") { lines::next(text, section.end) } else { section.end };
    let mut ways = Vec::new();
    if is_first {
        let begin = header_end(text, &section, root);
        // The next document needs no `---`, if it is nothing but `---`.
        if section.content == section.begin && lines::line(text, section.end).trim_end() == "---" {
            ways.push(begin..lines::next(text, section.end));
        }
        ways.push(begin..behind);
    }
    // At the end of a file without a line break, the line break before the document goes.
    if section.end == text.len() && !text.ends_with('\n') {
        ways.push(
            lines::previous(text, section.begin).map_or(section.begin, |above| lines::end(text, above))..text.len(),
        );
    }
    ways.push(section.begin..behind);
    ways.push(section.begin..section.end);
    ways
}

/// The end of the comment at the beginning of a file, which is not about its first document: an empty line separates them.
fn header_end(text: &str, section: &Section, root: &Node) -> usize {
    let mut begin = lines::start(text, root.span.start as usize).max(section.begin);
    while let Some(above) = lines::previous(text, begin)
        && above >= section.begin
        && lines::comment_column(lines::line(text, above)).is_some()
    {
        begin = above;
    }
    let has_header = text.get(section.begin..begin).is_some_and(|header| header.contains('#'));
    if has_header { begin } else { section.begin }
}

fn section(text: &str, root: &Node) -> Section {
    let at = root.span.start as usize;
    let first = lines::mark(text);
    let mut section = Section { begin: first, content: first, end: text.len() };
    let mut line = first;
    while line < text.len() {
        let content = lines::line(text, line);
        let next = lines::next(text, line);
        let is_marker = is_marker(content, "---") || is_marker(content, "...");
        if is_marker && line > at {
            section.end = line;
            break;
        }
        if is_marker {
            // `--- key: value` is a marker, and the first line of its document.
            let is_alone = content.trim_end().len() == "---".len() || content.contains(" #");
            let begins = is_marker && content.starts_with("---");
            section.begin = if begins { directives(text, line) } else { next };
            section.content = if begins && !is_alone { line } else { next };
        }
        line = next;
    }
    section
}

/// The first of the directives above a marker line.
fn directives(text: &str, marker: usize) -> usize {
    let mut begin = marker;
    while let Some(above) = lines::previous(text, begin)
        && lines::line(text, above).starts_with('%')
    {
        begin = above;
    }
    begin
}

/// Whether a line begins with a marker of documents.
fn is_marker(line: &str, marker: &str) -> bool {
    line.strip_prefix(marker).is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t']))
}

/// Whether a text contains only comments and empty lines.
fn has_no_content(text: &str) -> bool {
    text.lines().all(|line| lines::is_blank(line) || lines::comment_column(line).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_removed(text: &str, document: usize, expected: Option<&str>) {
        let result = remove(text.as_bytes(), document).unwrap();
        assert_eq!(result.as_deref().map(String::from_utf8_lossy).as_deref(), expected, "{text:?}");
    }

    fn check_appended(text: &str, added: &str, expected: &str) {
        let result = append(text.as_bytes(), added).unwrap();
        assert_eq!(String::from_utf8_lossy(&result), expected, "{text:?}");
    }

    #[test]
    fn a_document_is_appended_behind_a_separator() {
        check_appended("a: 1\n", "b: 2\n", "a: 1\n---\nb: 2\n");
        check_appended("a: 1", "b: 2\n", "a: 1\n---\nb: 2");
        check_appended("a: 1\r\n", "b: 2\n", "a: 1\r\n---\r\nb: 2\r\n");
        check_appended("", "b: 2\n", "b: 2\n");
        check_appended("# c\n", "b: 2\n", "# c\nb: 2\n");
        check_appended("a: |+\n  x\n\n", "b: 2\n", "a: |+\n  x\n\n---\nb: 2\n");
        check_appended("%YAML 1.1\n---\na: 1\n...\n", "b: 2\n", "%YAML 1.1\n---\na: 1\n...\n---\nb: 2\n");
    }

    #[test]
    fn document_is_removed_with_its_comments() {
        check_removed("a: 1\n---\n# about b\nb: 2\n---\nc: 3\n", 1, Some("a: 1\n---\nc: 3\n"));
        check_removed("# about a\na: 1\n---\nb: 2\n", 0, Some("b: 2\n"));
        check_removed("# licence\n\n# about a\na: 1\n---\nb: 2\n", 0, Some("# licence\n\nb: 2\n"));
        check_removed("---\na: 1\n---\nb: 2\n", 0, Some("---\nb: 2\n"));
        check_removed("a: 1\n--- # two\nb: 2\n", 1, Some("a: 1\n"));
        check_removed("a: 1\n---\nb: 2", 1, Some("a: 1"));
        check_removed("a: 1\r\n---\r\nb: 2\r\n", 1, Some("a: 1\r\n"));
    }

    #[test]
    fn file_is_removed_with_its_only_document() {
        check_removed("# about a\n---\na: 1\n", 0, None);
    }

    #[test]
    fn directives_stay_with_their_documents() {
        check_removed("a: 1\n...\n%YAML 1.1\n---\nb: 2\n", 0, Some("%YAML 1.1\n---\nb: 2\n"));
        check_removed("%YAML 1.1\n---\na: 1\n...\n---\nb: 2\n", 1, Some("%YAML 1.1\n---\na: 1\n...\n"));
    }
}
