//! The lines of a file that a diagnostic points at.

use std::ops::Range;

use super::touching;
use model::credential::HIDDEN;

use crate::visible::visible_bytes;

/// The maximum size of an excerpt in bytes. Longer excerpts are not shown: they come from generated files.
const EXCERPT_BYTES_MAX: usize = 32 * 1024;

/// Lines of a file for output.
#[derive(Debug, PartialEq, Eq)]
pub struct Excerpt {
    /// The lines, without terminal control sequences.
    pub text: String,
    /// The number of the first line, from 1.
    pub first_line: usize,
    /// The requested ranges, in bytes of `text`. A range over several lines ends with its first line.
    pub marks: Vec<Range<usize>>,
}

impl Excerpt {
    /// The lines of `content` from the first to the last in which one of `ranges` begins, without the `hidden` bytes. The `hidden` ranges are in
    /// order and do not overlap. None if the lines can't be shown, because they are too long or not text.
    pub fn new(content: &[u8], ranges: &[Range<usize>], hidden: &[Range<usize>]) -> Option<Self> {
        let ranges: Vec<_> = ranges.iter().map(|range| in_one_line(content, range)).collect();
        let start = line_start(content, ranges.iter().map(|range| range.start).min()?);
        let end = line_end(content, ranges.iter().map(|range| range.start).max()?);
        let lines = content.get(start..end)?;
        if lines.len() > EXCERPT_BYTES_MAX || lines.contains(&0) {
            return None;
        }
        let shown = |offset: usize| shown(content, start..offset.clamp(start, end), hidden);
        let within = |offset: usize| shown(offset).len();
        Some(Self {
            text: shown(end),
            first_line: 1 + content.get(..start)?.iter().filter(|byte| **byte == b'\n').count(),
            marks: ranges
                .iter()
                .map(|range| mark((within(range.start), within(range.end)), &shown(range.start)))
                .collect(),
        })
    }

    /// Whether both ranges fit into one excerpt.
    pub fn holds_both(one: &Range<usize>, other: &Range<usize>) -> bool {
        one.start.abs_diff(other.start) < EXCERPT_BYTES_MAX / 2
    }
}

/// A part of a text for output. In each line, hidden bytes are replaced by one sign.
fn shown(content: &[u8], part: Range<usize>, hidden: &[Range<usize>]) -> String {
    let bytes = |range: Range<usize>| content.get(range).unwrap_or_default();
    let (mut text, mut from) = (String::new(), part.start);
    for range in touching(hidden, &part) {
        text.push_str(&visible_bytes(bytes(from..range.start.max(from))));
        for (index, line) in
            bytes(range.start.max(from)..range.end.min(part.end)).split(|byte| *byte == b'\n').enumerate()
        {
            if index > 0 {
                text.push('\n');
            }
            let indentation = line.iter().take_while(|byte| **byte == b' ').count();
            text.push_str(&" ".repeat(indentation));
            if indentation < line.len() {
                text.push_str(HIDDEN);
            }
        }
        from = range.end.min(part.end);
    }
    text.push_str(&visible_bytes(bytes(from..part.end)));
    text
}

/// The range of a mark in the shown text. A mark that begins inside of a hidden range covers all of it.
fn mark((start, end): (usize, usize), before: &str) -> Range<usize> {
    let is_inside = start == end && before.ends_with(HIDDEN);
    if is_inside { start - HIDDEN.len()..end } else { start..end }
}

/// `range` up to the end of its first line, at character boundaries of `content`.
fn in_one_line(content: &[u8], range: &Range<usize>) -> Range<usize> {
    let start = boundary(content, range.start.min(content.len()));
    let end = boundary(content, range.end.clamp(start, line_end(content, start)));
    start..end.max(start)
}

fn line_start(content: &[u8], offset: usize) -> usize {
    let before = content.get(..offset).unwrap_or(content);
    before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1)
}

fn line_end(content: &[u8], offset: usize) -> usize {
    let behind = content.get(offset..).unwrap_or_default();
    let end = offset + behind.iter().position(|byte| *byte == b'\n').unwrap_or(behind.len());
    let is_crlf = end > offset && content.get(end - 1) == Some(&b'\r');
    if is_crlf { end - 1 } else { end }
}

/// The last offset up to `offset` that is not inside of a character.
fn boundary(content: &[u8], offset: usize) -> usize {
    let is_inside = |offset: usize| content.get(offset).is_some_and(|byte| byte & 0xC0 == 0x80);
    // A character has at most four bytes. A longer sequence of such bytes is not valid UTF-8.
    (offset.saturating_sub(3)..=offset).rev().find(|offset| !is_inside(*offset)).unwrap_or(offset)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares an excerpt, with the number of its first line, and its marked text.
    fn check(content: &[u8], range: Range<usize>, shown: &str, marked: &str) {
        let excerpt = Excerpt::new(content, std::slice::from_ref(&range), &[]).unwrap();
        assert_eq!(format!("{}: {}", excerpt.first_line, excerpt.text), shown);
        assert_eq!(excerpt.text.get(excerpt.marks[0].clone()), Some(marked));
    }

    #[test]
    fn a_range_is_found_again_in_its_line() {
        check(b"a: 1\nb: 22\nc: 3\n", 8..10, "2: b: 22", "22");
        check(b"a: 1\r\nb: 22\r\nc: 3\r\n", 9..11, "2: b: 22", "22");
        check("ä: \u{1b}[1mü".as_bytes(), 4..10, "1: ä: ␛[1mü", "␛[1mü");
    }

    #[test]
    fn a_range_of_several_lines_ends_with_the_first() {
        check(b"a: |\n  b\n  c\n", 3..12, "1: a: |", "|");
    }

    #[test]
    fn ranges_beyond_the_end_or_inside_a_character_are_clamped() {
        check(b"a", 5..9, "1: a", "");
        check(b"a\n", 2..2, "2: ", "");
        check("aü".as_bytes(), 2..3, "1: aü", "ü");
        check(b"\x80\x80\x80\x80\x80\x80", 4..6, "1: ������", "��");
    }

    #[test]
    fn hidden_ranges_are_one_ellipsis_per_line() {
        let content = b"a: secret\nb: |\n  one\n  two\nc: 3\n";
        let check = |range: Range<usize>, hidden: Range<usize>, shown: &str, marked: &str| {
            let excerpt = Excerpt::new(content, &[0..1, range], std::slice::from_ref(&hidden)).unwrap();
            assert_eq!((excerpt.text.as_str(), &excerpt.text[excerpt.marks[1].clone()]), (shown, marked));
        };
        check(3..9, 3..9, "a: …", "…");
        check(5..7, 3..9, "a: …", "…");
        check(0..1, 3..9, "a: …", "a");
        check(27..28, 13..26, "a: secret\nb: …\n  …\n  …\nc: 3", "c");
    }

    #[test]
    fn binary_and_huge_files_have_no_excerpt() {
        for content in [b"a\0b".to_vec(), vec![b'a'; EXCERPT_BYTES_MAX + 1]] {
            assert_eq!(Excerpt::new(&content, std::slice::from_ref(&(0..1)), &[]), None);
        }
    }
}
