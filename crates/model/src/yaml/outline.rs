//! The outline of a text: what a reader of its structure and of the forms of its scalars sees.

use std::iter;
use std::ops::Range;
use std::sync::Arc;

use memchr::{memchr, memchr_iter, memrchr};

use super::plain::{BYTES_MAX, Scan, are_alike, has_plain_characters};
use super::recorder::{Detail, REST};

/// The outline of a text: see [`outline`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outline {
    bytes: Vec<u8>,
    /// Whether the fast scan read the whole text. Then the text has no errors.
    is_complete: bool,
}

impl Outline {
    /// Whether the text can be an [`OutlinedText`].
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// The outline of a text. In it, the value of an entry or item is replaced by its [`ScalarClass`](super::ScalarClass), and the lines of a block scalar, comments, empty lines, and the
/// entries of a `ConfigMap` or `Secret` that are texts with usual keys are left out. From the first line on that the fast scan can't read, the outline is
/// the text itself; then it has also those entries.
///
/// Texts with equal outlines have the same collections and keys, apart from those entries, and scalars of equal classes. So a check that looks at nothing else
/// needs to read only one of them. Both have errors or neither.
///
/// `marks` are ranges of the text, in order. The values that they touch are marked in the outline. None if the text is too long or has unusual characters.
pub fn outline(text: &str, marks: &[Range<usize>]) -> Option<Outline> {
    if text.len() > BYTES_MAX || !has_plain_characters(text) {
        return None;
    }
    let read = |detail| {
        let mut scan = Scan::recording(text.len(), detail);
        let end = scan.read(text, is_marked(text, marks));
        (scan.into_outline(), end)
    };
    let (bytes, end) = read(Detail::WithoutData);
    if end == text.len() {
        return Some(Outline { bytes, is_complete: true });
    }
    let (mut bytes, end) = read(Detail::All);
    bytes.push(REST);
    bytes.extend_from_slice(text.get(end..).unwrap_or_default().as_bytes());
    // The rest may contain several marked values.
    for mark in marks.iter().filter(|mark| mark.end > end) {
        bytes.extend_from_slice(format!("\n{}-{}", mark.start, mark.end).as_bytes());
    }
    Some(Outline { bytes, is_complete: false })
}

/// Says which lines have a value that one of these ranges of the text touches. Keys stay as they are. The lines must be asked for in their order.
fn is_marked(text: &str, marks: &[Range<usize>]) -> impl FnMut(Range<usize>) -> bool {
    let mut marks = marks.iter().filter(|mark| !mark.is_empty()).peekable();
    move |line| {
        if marks.peek().is_none_or(|mark| mark.start > line.end) {
            return false;
        }
        let key = text.get(line.clone()).and_then(key_length).unwrap_or_default();
        let line = line.start + key..line.end;
        while marks.next_if(|mark| mark.end <= line.start).is_some() {}
        marks.peek().is_some_and(|mark| mark.start <= line.end)
    }
}

/// The bytes of the key of a line, with the `: ` behind it.
fn key_length(line: &str) -> Option<usize> {
    let line = line.as_bytes();
    let colon = memchr_iter(b':', line).find(|colon| line.get(colon + 1) == Some(&b' '))?;
    Some(colon + ": ".len())
}

/// A text whose outline is [complete](Outline::is_complete), to compare other texts with it.
#[derive(Clone, Debug)]
pub struct OutlinedText {
    text: String,
    /// Its shared parts.
    parts: Vec<SharedPart>,
    /// The numbers of the marked lines.
    marked: Vec<usize>,
}

/// A part of a text that other texts share: the byte where it begins, and its bytes. Parts with the same memory are equal, and not compared.
pub type SharedPart = (usize, Arc<[u8]>);

/// With more differing lines, it is as fast to read all lines.
const DIFFERENT_LINES_MAX: usize = 64;

impl OutlinedText {
    /// A text with these marks, as in [`outline`], and shared parts, in order. Its outline must be complete.
    pub fn new((text, parts): (&str, &[SharedPart]), marks: &[Range<usize>]) -> Self {
        Self { text: text.to_owned(), parts: parts.to_vec(), marked: marked_lines(text, marks) }
    }

    /// Whether a text with these marks and shared parts surely has the same outline. Only the lines in which the texts differ are read. If false, the outlines
    /// may still be equal.
    pub fn has_outline_of(&self, (text, parts): (&str, &[SharedPart]), marks: &[Range<usize>]) -> bool {
        let mut rest = Rest { text, parts, begin: 0 };
        let mut known = Rest { text: &self.text, parts: &self.parts, begin: 0 };
        for _ in 0..DIFFERENT_LINES_MAX {
            let Some((own, other)) = after_equal_lines(rest, known) else { return false };
            if own.is_empty() && other.is_empty() {
                return text.len() <= BYTES_MAX && marked_lines(text, marks) == self.marked;
            }
            let lines = own.split_line().zip(other.split_line());
            let Some(((line, behind), (known_line, known_behind))) = lines else { return false };
            if !has_plain_characters(line) || !are_alike(line.as_bytes(), known_line.as_bytes()) {
                return false;
            }
            (rest, known) = (behind, known_behind);
        }
        false
    }
}

/// The numbers of the lines with marked values.
fn marked_lines(text: &str, marks: &[Range<usize>]) -> Vec<usize> {
    let Some(last) = marks.last() else { return Vec::new() };
    let end = text.as_bytes().get(last.end..).and_then(|behind| memchr(b'\n', behind)).map(|length| last.end + length);
    let text = text.get(..end.unwrap_or(text.len())).unwrap_or(text);
    let (mut begin, mut is_marked) = (0, is_marked(text, marks));
    let lines = memchr_iter(b'\n', text.as_bytes()).chain(iter::once(text.len()));
    let found = lines.map(|end| is_marked(std::mem::replace(&mut begin, end + 1)..end));
    found.enumerate().filter(|(_, is_marked)| *is_marked).map(|(number, _)| number).collect()
}

/// A text from a byte on.
#[derive(Clone, Copy, Debug)]
struct Rest<'t> {
    text: &'t str,
    parts: &'t [SharedPart],
    begin: usize,
}

impl<'t> Rest<'t> {
    fn is_empty(self) -> bool {
        self.begin == self.text.len()
    }

    fn bytes(self) -> &'t [u8] {
        self.text.as_bytes().get(self.begin..).unwrap_or_default()
    }

    /// The text behind its first bytes.
    fn behind(self, bytes: usize) -> Self {
        Self { begin: self.begin + bytes, ..self }
    }

    /// The first line, without its end, and the text behind it.
    fn split_line(self) -> Option<(&'t str, Self)> {
        let length = memchr(b'\n', self.bytes())?;
        Some((self.text.get(self.begin..self.begin + length)?, self.behind(length + 1)))
    }

    /// The shared part that the text begins in, and the number of its bytes before this text.
    fn part(self) -> Option<(&'t Arc<[u8]>, usize)> {
        let next = self.parts.partition_point(|(begin, _)| *begin <= self.begin);
        let (begin, bytes) = self.parts.get(next.checked_sub(1)?)?;
        Some((bytes, self.begin - begin)).filter(|(bytes, before)| *before < bytes.len())
    }

    /// The number of bytes up to the next shared part that begins behind the first byte, or up to the end.
    fn before_next_part(self) -> usize {
        let next = self.parts.partition_point(|(begin, _)| *begin <= self.begin);
        self.parts.get(next).map_or(self.text.len(), |(begin, _)| *begin).saturating_sub(self.begin)
    }
}

/// Both texts from the first line on in which they differ.
fn after_equal_lines<'t>(one: Rest<'t>, other: Rest<'t>) -> Option<(Rest<'t>, Rest<'t>)> {
    let equal = common_beginning(one, other);
    let (own, others) = (one.behind(equal), other.behind(equal));
    if own.is_empty() && others.is_empty() {
        return Some((own, others));
    }
    let equal_lines = memrchr(b'\n', one.bytes().get(..equal)?).map_or(0, |end| end + 1);
    Some((one.behind(equal_lines), other.behind(equal_lines)))
}

/// The number of bytes that two texts have in common at their beginnings.
fn common_beginning(mut one: Rest<'_>, mut other: Rest<'_>) -> usize {
    let begin = one.begin;
    loop {
        let (compared, equal) = match one.part().zip(other.part()) {
            Some(((part, before), (others, at))) if before == at && Arc::ptr_eq(part, others) => {
                (part.len() - before, part.len() - before)
            }
            _ => {
                let compared = one.before_next_part();
                (compared, common_prefix(one.bytes().get(..compared).unwrap_or_default(), other.bytes()))
            }
        };
        (one, other) = (one.behind(equal), other.behind(equal));
        if equal < compared || one.is_empty() {
            return one.begin - begin;
        }
    }
}

/// The number of bytes that two texts have in common at their beginnings. Compares large pieces first, then smaller ones where these differ.
fn common_prefix(one: &[u8], other: &[u8]) -> usize {
    let behind = |equal: usize| (one.get(equal..).unwrap_or_default(), other.get(equal..).unwrap_or_default());
    let mut equal = equal_pieces::<1_024>((one, other));
    equal += equal_pieces::<64>(behind(equal));
    let (one, other) = behind(equal);
    let ((words, _), (other_words, _)) = (one.as_chunks(), other.as_chunks());
    for (word, other_word) in words.iter().zip(other_words) {
        let difference = u64::from_le_bytes(*word) ^ u64::from_le_bytes(*other_word);
        if difference != 0 {
            return equal + difference.trailing_zeros() as usize / 8;
        }
        equal += size_of::<u64>();
    }
    let compared = words.len().min(other_words.len()) * size_of::<u64>();
    equal + one.iter().zip(other).skip(compared).take_while(|(one, other)| one == other).count()
}

/// The number of bytes in the equal pieces of `N` bytes at the beginnings of two texts.
fn equal_pieces<const N: usize>((one, other): (&[u8], &[u8])) -> usize {
    let ((one, _), (other, _)) = (one.as_chunks::<N>(), other.as_chunks::<N>());
    one.iter().zip(other).take_while(|(one, other)| one == other).count() * N
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::yaml::first_error;

    /// Checks whether two texts have the same outline.
    fn check(one: &str, other: &str, expected: bool) {
        assert_eq!(outline(one, &[]) == outline(other, &[]), expected, "{one:?} {other:?}");
    }

    #[test]
    fn scalars_of_one_class_have_the_same_outline() {
        check("a: b\n", "a: c-d\n", true);
        check("a: \"b\"\n", "a: \"xy\" # c\n\n", true);
        check("a: 1\n- b\n", "a: 1\n- b\n", true);
        check("a: 1\n", "a: 2\n", true);
        check("- b: 'x'\n", "- b: 'y'\n", true);
        check("a: |\n  b\nc: d\n", "a: |\n  x: [\n\n   y\nc: d\n", true);
        check("metadata:\n  name: a\n", "metadata:\n  name: b\n", true);
    }

    #[test]
    fn different_structures_keys_and_types_have_different_outlines() {
        check("a: b\n", "b: b\n", false);
        check("a: b\n", "a: 1\n", false);
        check("a: 1.1\n", "a: 1.10\n", false);
        check("a: true\n", "a: yes\n", false);
        check("a: b\n", "a: B\n", false);
        check("a: b\n", "a: b.c\n", false);
        check("a: x y\n", "a: <no value>\n", false);
        check("a: ''\n", "a: 'A'\n", false);
        check("a: b:c\n", "a: b/c\n", false);
        check("a: \"b\"\n", "a: b\n", true);
        check("a: 1\n", "a: '1'\n", false);
        check("kind: A\n", "kind: B\n", false);
        check("a:\n  b: c\n", "a:\n    b: c\n", false);
        check("a: b\n", "- b\n", false);
        check("a: |\n  b\n", "a: b\n", false);
        check(&format!("a: {}\n", "x".repeat(63)), &format!("a: {}\n", "x".repeat(64)), false);
    }

    #[test]
    fn values_beyond_the_fast_scan_stay_verbatim_in_the_outline() {
        check("a: [b]\nc: d\n", "a: [b]\nc: d\n", true);
        check("a: [b]\nc: d\n", "a: [b]\nc: e\n", false);
        check("a: \"b\\n\"\n", "a: \"c\\n\"\n", false);
        check("x: a\ny: z\nb: [c]\n", "x: d\ny: z\nb: [c]\n", true);
        check("a: x\n  b\n", "a: z\n  b\n", false);
        assert_eq!(outline("a: \u{1}\n", &[]), None);
    }

    #[test]
    fn data_that_are_texts_are_left_out() {
        let map = |data: &str| format!("kind: ConfigMap\nmetadata:\n  name: a\ndata:\n  A: b\n{data}");
        check(&map(""), &map("  B: c\n  C: |\n    d: e\n  D: \"\\n\"\n"), true);
        check(&map(""), &map("  B: 1\n"), false);
        check(&map(""), &map("  a/b: c\n"), false);
        check(&map(""), &map("  B:\n    C: d\n"), false);
        check(&map(""), &map("other:\n  B: c\n"), false);
        check(&map("---\ndata:\n  A: b\n"), &map("---\ndata:\n  B: b\n"), false);
        check("kind: Other\ndata:\n  A: b\n", "kind: Other\ndata:\n  B: b\n", false);
        // The first texts are valid, the others not.
        check(&map("  B: c\nx: [a]\n"), &map("  A: c\nx: [a]\n"), false);
        assert!(outline(&map("  A: c\n"), &[]).is_some_and(|outline| !outline.is_complete()));
    }

    #[test]
    fn marked_values_change_the_outline() {
        let of = |text, begin, end| outline(text, std::slice::from_ref(&(begin..end)));
        let marked = |begin, end| of("a: b\nc: d\n", begin, end);
        assert_ne!(marked(3, 4), marked(0, 0));
        assert_ne!(marked(3, 4), marked(8, 9));
        assert_eq!(marked(0, 1), marked(0, 0));
        assert_eq!(marked(3, 4), of("a: x\nc: z\n", 3, 4));
    }

    /// Checks whether the comparison with a known text shows that a text has the same outline.
    fn check_like(known: &str, text: &str, expected: bool) {
        assert!(outline(known, &[]).is_some_and(|outline| outline.is_complete()), "{known:?}");
        let shown = OutlinedText::new((known, &[]), &[]).has_outline_of((text, &[]), &[]);
        assert_eq!(shown, expected, "{text:?} like {known:?}");
        assert!(!expected || outline(text, &[]) == outline(known, &[]), "{text:?} like {known:?}");
    }

    #[test]
    fn lines_shared_with_a_known_text_are_skipped() {
        let rest = "data:\n  A: b\n  C: |\n    x: [\n  D: e\n";
        let known = format!("name: a\n{rest}");
        check_like(&known, &format!("name: b\n{rest}"), true);
        check_like(&known, &format!("name: \u{e9}\n{rest}"), false);
        check_like(&known, &format!("name: [b\n{rest}"), false);
        check_like(&known, &format!("data: b\n{rest}"), false);
        check_like(&known, &format!("name: |\n{rest}"), false);
        check_like(&known, &format!("name: \n{rest}"), false);
        check_like(&known, &format!("- a\n{rest}"), false);
        check_like(&known, &format!("a: \u{1}\n{rest}"), false);
        check_like(&known, rest, false);
        check_like(&format!("a: \n{rest}"), &format!("a: |\n{rest}"), false);
        check_like(&format!("a: \u{e9}\n{rest}"), &format!("a: \u{1e9}\n{rest}"), true);
        check_like(&known, &format!("# c\n{rest}"), false);
        check_like("# a\nb: c\nd: e\n", "# b\nb: x\nd: z # y\n", true);
        check_like("a:\n- b: c\n  d: \"e\"\n", "a:\n- b: x\n  d: \"y\"\n", true);
        check_like("a: 1\n", "a: 2\n", true);
        check_like("a: 1", "a: 2", false);
        check_like("a: b\n", "a: b\nc: d\n", false);
        check_like("kind: A\n", "kind: B\n", false);
        check_like("- \"kind\": A\n", "- \"kind\": B\n", false);
        check_like("a: 'x'\n", "a: 'y' # z\n", true);
        check_like("a: x # z\n", "a: w\n", true);
    }

    #[test]
    fn a_line_of_a_block_must_stay_in_the_block() {
        check_like("a: |\n    # b\n    c\nd: e\n", "a: |\n    # x\n    c\nd: e\n", true);
        check_like("a: |\n    b\n    # c\nd: e\n", "a: |\n    b\n  # c\nd: e\n", false);
        check_like("a: |\n\n  c\nd: e\n", "a: |\n    \n  c\nd: e\n", false);
    }

    #[test]
    fn marked_lines_must_be_the_same() {
        let known = OutlinedText::new(("a: b\nc: d\n", &[]), std::slice::from_ref(&(3..4)));
        assert!(known.has_outline_of(("a: xyz\nc: d\n", &[]), std::slice::from_ref(&(4..6))));
        assert!(!known.has_outline_of(("a: xyz\nc: d\n", &[]), &[]));
        assert!(!known.has_outline_of(("a: b\nc: x\n", &[]), &[3..4, 8..9]));
        assert!(!known.has_outline_of(("a: b\nc: x\n", &[]), std::slice::from_ref(&(8..9))));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn outlines_shown_as_equal_are_equal(
            lines in proptest::collection::vec((0..STARTS.len(), 0..VALUES.len(), 0..VALUES.len(), 0..STARTS.len() * 8), 0..12)
        ) {
            let line = |start: usize, value: usize| format!("{}{}\n", STARTS[start], VALUES[value]);
            let known: String = lines.iter().map(|(start, value, ..)| line(*start, *value)).collect();
            // Most lines have the same beginning in both texts.
            let other = lines.iter().map(|(start, _, value, other)| line(if *other < STARTS.len() { *other } else { *start }, *value));
            let other: String = other.collect();
            let is_shown = || OutlinedText::new((&known, &[]), &[]).has_outline_of((&other, &[]), &[]);
            if outline(&known, &[]).is_some_and(|outline| outline.is_complete()) && is_shown() {
                prop_assert_eq!(outline(&other, &[]), outline(&known, &[]), "{:?} {:?}", known, other);
            }
        }

        /// Skipping shared parts, which may begin and end anywhere in a line, gives what comparing them gives.
        #[test]
        fn shared_parts_need_no_comparison(
            pieces in proptest::collection::vec((0..4_usize, 0..4_usize, any::<bool>(), any::<bool>()), 0..10)
        ) {
            let shared: Vec<Arc<[u8]>> = ["a: b\n  c: d\ne: ", "x\n", "f", "\n- g\nh: i"].map(|part| part.as_bytes().into()).to_vec();
            let own = ["y", "k: ", "\n", "z\nk: w\n"];
            let made = |of_other: bool| {
                let (mut text, mut parts) = (String::new(), Vec::new());
                for (one, other, is_shared, is_equal) in &pieces {
                    let piece = if of_other && !is_equal { *other } else { *one };
                    if *is_shared {
                        parts.push((text.len(), Arc::clone(&shared[piece])));
                        text.push_str(std::str::from_utf8(&shared[piece]).unwrap());
                    } else {
                        text.push_str(own[piece]);
                    }
                }
                (text, parts)
            };
            let ((known, known_parts), (text, parts)) = (made(false), made(true));
            let whole = OutlinedText::new((&known, &[]), &[]).has_outline_of((&text, &[]), &[]);
            prop_assert_eq!(OutlinedText::new((&known, &known_parts), &[]).has_outline_of((&text, &parts), &[]), whole, "{:?} {:?}", known, text);
        }

        #[test]
        fn texts_of_one_outline_are_both_valid_or_both_invalid(
            lines in proptest::collection::vec((proptest::sample::select(STARTS), 0..VALUES.len(), 0..VALUES.len()), 0..8)
        ) {
            let text = |value: fn(&(&str, usize, usize)) -> usize| {
                lines.iter().map(|line| format!("{}{}\n", line.0, VALUES[value(line)])).collect::<String>()
            };
            let (one, other) = (text(|line| line.1), text(|line| line.2));
            if outline(&one, &[]) == outline(&other, &[]) {
                prop_assert_eq!(first_error(&one).is_some(), first_error(&other).is_some(), "{:?} {:?}", one, other);
            }
        }
    }

    const STARTS: &[&str] =
        &["kind: ", "data:\n  k: ", "a: ", "  b: ", "c: ", "- ", "  - ", "    d: ", "", "# ", "    # ", "---", "  "];
    const VALUES: &[&str] = &[
        "ConfigMap",
        "",
        "x",
        "y",
        "x y",
        "x # y",
        "1",
        "2",
        "'x'",
        "'y'",
        "\"x\"",
        "\"y\"",
        "\"x-y\"",
        "\"1-x\"",
        "'x-y'",
        "x-y",
        "e-5",
        "1-x",
        "x-",
        "\"x",
        "'x",
        "|",
        ">-",
        "[x]",
        "[y]",
        "{}",
        "x: y",
        "x:y",
        "\"\\n\"",
        "\"\\t\"",
        "'x''y'",
        "*a",
        "&a x",
        "x\t",
        "\u{e9}",
        "~",
        "yes",
        "no",
        "1.0",
        "0x1",
    ];
}
