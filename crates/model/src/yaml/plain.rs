//! Checks simple YAML texts without the parser.

use std::iter;
use std::ops::Range;

use memchr::memchr_iter;

use super::reader::read_each;
use super::recorder::{Detail, IDENTIFYING, Recorder, ScalarForm, have_equal_classes};
use super::{ProblemKind, YamlOptions, YamlProblem};
use crate::name::is_dns_label;

/// The limit in bytes. Longer texts go to the parser, which counts nodes.
pub(super) const BYTES_MAX: usize = 256 << 10;
/// The limit of levels. Deeper texts go to the parser.
const LEVELS_MAX: usize = 50;
/// The limit of keys in one mapping that are not in order, because each is compared with all keys before it.
const UNSORTED_KEYS_MAX: usize = 512;
/// The limit in bytes of a key. YAML allows 1,024 characters before the colon.
const KEY_BYTES_MAX: usize = 512;

/// The first error in `text`, read with [`YamlOptions::OBJECTS`]. Texts beyond [`YamlLimits`](super::YamlLimits) give no error, because they are not read
/// completely.
pub fn first_error(text: &str) -> Option<YamlProblem> {
    if is_surely_good(text) {
        return None;
    }
    let counts = |problem: &YamlProblem| {
        !problem.kind.is_warning() && !matches!(problem.kind, ProblemKind::Limit | ProblemKind::Depth)
    };
    read_each(text, &YamlOptions::OBJECTS, drop).into_iter().find(counts)
}

/// Whether a fast scan shows that a text has no errors: block mappings and sequences with one key or item a line, and scalars of one line or in
/// blocks. If false, the text may still be valid.
pub fn is_surely_good(text: &str) -> bool {
    text.len() <= BYTES_MAX && has_plain_characters(text) && Scan::from_text(text).is_some()
}

pub(super) fn has_plain_characters(text: &str) -> bool {
    let is_odd = |byte: u8| byte < b' ' && byte != b'\n' && byte != b'\t' || byte == 0x7f;
    // The loop has no early exit, so that the compiler can process many bytes at once.
    let found = text.bytes().fold(0, |found, byte| found | u8::from(is_odd(byte)) | byte & 0x80);
    let is_refused = |c: char| c.is_control() && !matches!(c, '\n' | '\t') || matches!(c, '\u{2028}' | '\u{2029}');
    let is_noncharacter = |c: char| matches!(c, '\u{feff}' | '\u{fffe}' | '\u{ffff}');
    found == 0 || found == 0x80 && !text.contains(|c| is_refused(c) || is_noncharacter(c))
}

/// The open collections at a line.
pub(super) struct Scan<'t> {
    levels: Vec<Level>,
    /// The keys of all open mappings. Those of the innermost mapping are last.
    keys: Vec<Key<'t>>,
    /// Whether a deeper line would be the value of the last key or item, or the document.
    is_open: bool,
    block: Option<Block>,
    /// Receives the form of each line.
    outline: Recorder,
}

#[derive(Clone, Copy)]
struct Level {
    column: usize,
    kind: Kind,
    /// The index of its first key in [`Scan::keys`].
    keys: usize,
    /// The index of its last key in byte order. Meaningless without keys.
    greatest: usize,
    /// The number of its keys that do not follow all keys before them in byte order.
    unsorted: usize,
}

/// A key with a number for fast comparison. Different keys rarely have the same number.
#[derive(PartialEq, Eq)]
struct Key<'t> {
    number: u64,
    text: &'t [u8],
}

impl<'t> Key<'t> {
    fn new(text: &'t [u8]) -> Self {
        let number = |bytes: Option<&[u8; 8]>| bytes.copied().map(u64::from_le_bytes);
        let ends = number(text.first_chunk()).zip(number(text.last_chunk()));
        let short = || text.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
        let number = ends.map_or_else(short, |(first, last)| first ^ last.rotate_left(text.len() as u32));
        Self { number, text }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Mapping,
    Sequence,
}

/// The lines of a block scalar.
#[derive(Clone, Copy)]
struct Block {
    /// The lines of the block are indented deeper than this column.
    parent: usize,
    /// The indentation of the block, from its header or its first line.
    column: Option<usize>,
    /// Whether the header names the indentation.
    has_indicator: bool,
}

impl Default for Scan<'_> {
    fn default() -> Self {
        Self { levels: Vec::new(), keys: Vec::new(), is_open: true, block: None, outline: Recorder::default() }
    }
}

impl<'t> Scan<'t> {
    /// The state after a text. None if only the parser can decide.
    fn from_text(text: &'t str) -> Option<Self> {
        let mut scan = Self::default();
        (scan.read(text, |_| false) == text.len()).then_some(scan)
    }

    /// A scan that records the outline of a text with this length.
    pub(super) fn recording(length: usize, detail: Detail) -> Self {
        Self { outline: Recorder::new(length, detail), ..Self::default() }
    }

    /// The recorded outline.
    pub(super) fn into_outline(self) -> Vec<u8> {
        self.outline.into_bytes()
    }

    /// Reads the lines of a text. Returns its length, or the start of the line before the first one that only the parser can read: that line may continue
    /// a scalar. `is_marked` says whether the outline marks the line in this range.
    pub(super) fn read(&mut self, text: &'t str, mut is_marked: impl FnMut(Range<usize>) -> bool) -> usize {
        let (mut begin, mut last) = (0, 0);
        for end in memchr_iter(b'\n', text.as_bytes()).chain(iter::once(text.len())) {
            if self.outline.is_recording() {
                self.outline.line(is_marked(begin..end));
            }
            let line = text.as_bytes().get(begin..end).unwrap_or_default();
            if !self.line(line) {
                return last;
            }
            if !matches!(line.get(blanks(line)), None | Some(b'#')) {
                last = begin;
            }
            begin = end + 1;
        }
        text.len()
    }

    /// Processes a line. False if only the parser can decide.
    fn line(&mut self, line: &'t [u8]) -> bool {
        let column = blanks(line);
        let rest = line.get(column..).unwrap_or_default();
        if let Some(block) = self.block {
            match block.column {
                Some(begin) if column >= begin || rest.is_empty() => return true,
                // Parsers differ about a comment that is not deep enough for the block.
                Some(_) if block.has_indicator && column > block.parent && rest.starts_with(b"#") => return false,
                None if line.is_empty() => return true,
                None if rest.is_empty() || rest.starts_with(b"\t") => return false,
                None if column > block.parent => {
                    self.block = Some(Block { column: Some(column), ..block });
                    return true;
                }
                _ => self.block = None,
            }
        }
        match rest {
            [] | [b'#', ..] => true,
            b"---" if column == 0 => {
                self.outline.document();
                self.levels.clear();
                self.keys.clear();
                self.is_open = true;
                true
            }
            [b'-', b'-', b'-', ..] | [b'.', b'.', b'.', ..] | [b'%', ..] if column == 0 => false,
            _ => self.entries(rest, column),
        }
    }

    /// Processes the rest of a line from this column on: dashes, and a key with its value or a scalar.
    fn entries(&mut self, line: &'t [u8], mut column: usize) -> bool {
        let mut rest = line;
        let mut dash = None;
        while let [b'-', behind @ ..] = rest
            && matches!(behind, [] | [b' ', ..])
        {
            if !self.enter(Kind::Sequence, column) {
                return false;
            }
            self.outline.enter(b'-', column, self.levels.len());
            dash = Some(column);
            let spaces = blanks(behind);
            column += 1 + spaces;
            rest = behind.get(spaces..).unwrap_or_default();
            self.is_open = true;
            if matches!(rest, [] | [b'#', ..]) {
                return true;
            }
        }
        if let Some((key, value)) = split_key(rest) {
            if !self.enter(Kind::Mapping, column) || !self.add_key(key) {
                return false;
            }
            let depth = self.levels.len();
            self.outline.enter(b':', column, depth);
            self.outline.key(key, depth);
            return self.value(value, column);
        }
        // A scalar that is a whole document, or that continues the line before, goes to the parser.
        dash.is_some_and(|dash| self.value(rest, dash))
    }

    /// Closes deeper collections, and finds or opens the collection of this kind at this column.
    fn enter(&mut self, kind: Kind, column: usize) -> bool {
        let begins = match self.levels.last() {
            None => true,
            Some(top) if column > top.column => true,
            // The items of a sequence may be at the same column as its key.
            Some(top) => column == top.column && self.is_open && (top.kind, kind) == (Kind::Mapping, Kind::Sequence),
        };
        if begins {
            let is_open = std::mem::replace(&mut self.is_open, false);
            let keys = self.keys.len();
            self.levels.push(Level { column, kind, keys, greatest: keys, unsorted: 0 });
            return is_open && self.levels.len() <= LEVELS_MAX;
        }
        self.is_open = false;
        while let Some(top) = self.levels.last() {
            if top.column < column {
                return false;
            }
            if top.column == column && top.kind == kind {
                return true;
            }
            self.keys.truncate(top.keys);
            self.levels.pop();
        }
        false
    }

    /// Adds a key to the innermost mapping. False if it has the key already, or if only the parser can decide. Writers mostly sort keys: a key behind all
    /// others is new.
    fn add_key(&mut self, key: &'t [u8]) -> bool {
        let Some(level) = self.levels.last_mut() else { return false };
        let position = self.keys.len();
        let is_greatest = self.keys.get(level.greatest).is_none_or(|greatest| *greatest.text < *key);
        let key = Key::new(key);
        let is_new = if is_greatest {
            level.greatest = position;
            true
        } else {
            level.unsorted += 1;
            let known = self.keys.get(level.keys..).unwrap_or_default();
            level.unsorted <= UNSORTED_KEYS_MAX && !known.contains(&key)
        };
        self.keys.push(key);
        is_new
    }

    /// Processes the value of an entry in the collection at this column.
    fn value(&mut self, text: &[u8], column: usize) -> bool {
        let text = text.get(blanks(text)..).unwrap_or_default();
        self.is_open = false;
        match text {
            [] | [b'#', ..] => {
                self.is_open = true;
                self.outline.add(b"");
                true
            }
            [b'|' | b'>', header @ ..] => {
                self.outline.block(text);
                let (header, indentation) = match header {
                    [digit @ b'1'..=b'9', header @ ..] => (header, Some(usize::from(digit - b'0'))),
                    _ => (header, None),
                };
                self.block = Some(Block {
                    parent: column,
                    column: indentation.map(|indentation| column + indentation),
                    has_indicator: indentation.is_some(),
                });
                let header = header.strip_prefix(b"-").or_else(|| header.strip_prefix(b"+")).unwrap_or(header);
                blanks(header) == header.len()
            }
            [b'"', inner @ ..] => {
                self.outline.scalar(ScalarForm::Quoted(b'"'), inner);
                is_double_quoted(inner)
            }
            [b'\'', inner @ ..] => {
                self.outline.scalar(ScalarForm::Quoted(b'\''), inner);
                is_single_quoted(inner)
            }
            b"{}" | b"[]" => {
                self.outline.add(text);
                true
            }
            _ => {
                self.outline.scalar(ScalarForm::Plain, text);
                is_plain(text)
            }
        }
    }
}

/// Whether two different lines surely have the same column, the same dashes and key, and values of one line that have equal classes. Behind equal texts, such
/// lines have the same meaning for a scan and its outline.
pub(super) fn are_alike(one: &[u8], other: &[u8]) -> bool {
    let Some(begin) = value_begin(one) else { return false };
    let (Some((head, own)), Some((other_head, value))) = (one.split_at_checked(begin), other.split_at_checked(begin))
    else {
        return false;
    };
    if head != other_head {
        return false;
    }
    match (own, value) {
        // Both are comments, or lines of the same block.
        ([b'#', ..], [b'#', ..]) => true,
        ([quote @ (b'"' | b'\''), own @ ..], [other_quote, value @ ..]) if quote == other_quote => {
            let labels = own.strip_suffix(&[*quote]).zip(value.strip_suffix(&[*quote]));
            let is_whole: fn(&[u8]) -> bool = if *quote == b'"' { is_double_quoted } else { is_single_quoted };
            labels.and_then(|(own, value)| are_alike_labels(own, value)).unwrap_or_else(|| {
                is_whole(own) && is_whole(value) && have_equal_classes(ScalarForm::Quoted(*quote), own, value)
            })
        }
        _ if begin > 0 => {
            let is_scalar = |text: &[u8]| !matches!(text, [b'"' | b'\'' | b'|' | b'>' | b'#', ..]) && is_plain(text);
            let labels = (is_surely_text(own) && is_surely_text(value)).then(|| are_alike_labels(own, value));
            labels.flatten().unwrap_or_else(|| {
                is_scalar(own) && is_scalar(value) && have_equal_classes(ScalarForm::Plain, own, value)
            })
        }
        _ => false,
    }
}

/// Whether two texts without quotes have equal classes. None if one of them is no DNS label, as most names are.
fn are_alike_labels(one: &[u8], other: &[u8]) -> Option<bool> {
    let begins_with_letter = |text: &[u8]| text.first().is_some_and(u8::is_ascii_lowercase);
    (is_dns_label(one) && is_dns_label(other)).then(|| begins_with_letter(one) == begins_with_letter(other))
}

/// Whether a DNS label is a text as a plain scalar, too: no word for a number, a boolean or null begins with a letter and contains a `-`.
fn is_surely_text(label: &[u8]) -> bool {
    label.first().is_some_and(u8::is_ascii_lowercase) && label.contains(&b'-')
}

/// The offset at which the value of a line begins: behind the indentation, the dashes, the key and its colon. None if the value says which object it is.
fn value_begin(line: &[u8]) -> Option<usize> {
    let mut begin = blanks(line);
    let rest = |begin: usize| line.get(begin..).unwrap_or_default();
    while let [b'-', b' ', behind @ ..] = rest(begin) {
        begin += 2 + blanks(behind);
    }
    match split_key(rest(begin)) {
        Some((key, _)) if IDENTIFYING.contains(&key) => None,
        Some((_, value)) => Some(line.len() - value.len() + blanks(value)),
        None => Some(begin),
    }
}

/// The classes of each byte.
const CLASSES: [u8; 256] = {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < classes.len() {
        classes[byte] = match byte as u8 {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'.' | b'/' | b'-' => OF_KEY,
            b'\t' => PLAIN_STOP | QUOTED_STOP,
            b':' | b'#' => PLAIN_STOP,
            b'"' | b'\\' => QUOTED_STOP,
            _ => 0,
        };
        byte += 1;
    }
    classes
};

/// May be in a key.
const OF_KEY: u8 = 1;
/// May end a plain scalar, or make it invalid.
const PLAIN_STOP: u8 = 2;
/// Has a meaning in a scalar in double quotes.
const QUOTED_STOP: u8 = 4;

fn is(class: u8, byte: u8) -> bool {
    CLASSES[usize::from(byte)] & class != 0
}

/// The number of spaces at the start of a text.
pub(super) fn blanks(text: &[u8]) -> usize {
    text.iter().position(|byte| *byte != b' ').unwrap_or(text.len())
}

/// A key, and the text after its colon.
fn split_key(text: &[u8]) -> Option<(&[u8], &[u8])> {
    let quote = text.first().filter(|first| matches!(first, b'"' | b'\''));
    let inner = if quote.is_some() { text.get(1..)? } else { text };
    let end = inner.iter().position(|byte| !is(OF_KEY, *byte))?;
    let (key, mut behind) = inner.split_at_checked(end)?;
    if let Some(quote) = quote {
        behind = behind.strip_prefix(std::slice::from_ref(quote))?;
    } else if !key.first().is_some_and(|first| first.is_ascii_alphanumeric() || matches!(first, b'_' | b'.' | b'/')) {
        return None;
    }
    let value = behind.strip_prefix(b":")?;
    (matches!(value, [] | [b' ', ..]) && key.len() <= KEY_BYTES_MAX).then_some((key, value))
}

/// Whether the rest of a line is empty or a comment.
fn is_end(text: &[u8]) -> bool {
    let rest = text.get(blanks(text)..).unwrap_or_default();
    rest.is_empty() || rest.first() == Some(&b'#') && rest.len() < text.len()
}

/// Whether the text is a plain scalar of one line.
fn is_plain(text: &[u8]) -> bool {
    let begins = match text {
        [b'-', second, ..] => second.is_ascii_alphanumeric() || matches!(second, b'-' | b'.' | b'/'),
        [first, ..] => {
            first.is_ascii_alphanumeric()
                || matches!(first, b'_' | b'.' | b'/' | b'+' | b'~' | b'$' | b'(' | b'<' | b'^' | b'=' | 0x80..)
        }
        [] => false,
    };
    let stops = text.iter().enumerate().filter(|(_, byte)| is(PLAIN_STOP, **byte));
    for (at, byte) in stops {
        match byte {
            b'\t' => return false,
            b':' if matches!(text.get(at + 1), None | Some(b' ')) => return false,
            b'#' if text.get(..at).is_some_and(|before| before.ends_with(b" ")) => break,
            _ => {}
        }
    }
    begins
}

/// Whether a scalar in double quotes ends in this line. `text` begins after the first quote.
fn is_double_quoted(mut text: &[u8]) -> bool {
    loop {
        text = match text {
            [b'"', rest @ ..] => return is_end(rest),
            [b'\\', b'u', b'0', b'0', one, other, rest @ ..]
                if one.is_ascii_hexdigit() && other.is_ascii_hexdigit() =>
            {
                rest
            }
            [b'\\', b'"' | b'\\' | b'n' | b't' | b'r', rest @ ..] => rest,
            [b'\\' | b'\t', ..] | [] => return false,
            _ => {
                let stop = text.iter().position(|byte| is(QUOTED_STOP, *byte));
                stop.and_then(|stop| text.get(stop..)).unwrap_or_default()
            }
        }
    }
}

/// Whether a scalar in single quotes ends in this line. `text` begins after the first quote.
fn is_single_quoted(mut text: &[u8]) -> bool {
    loop {
        text = match text {
            [b'\'', b'\'', rest @ ..] => rest,
            [b'\'', rest @ ..] => return is_end(rest),
            [b'\t', ..] | [] => return false,
            [_, rest @ ..] => rest,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Checks whether a text is valid, and whether the fast scan shows it.
    fn check(text: &str, is_good: bool, is_seen: bool) {
        assert_eq!((first_error(text).is_none(), is_surely_good(text)), (is_good, is_seen), "{text:?}");
    }

    #[test]
    fn common_template_output_is_accepted_by_the_fast_scan() {
        for text in [
            "",
            "# c\n\n---\n---\na: 1\n",
            "kind: A\nmetadata:\n  name: x-y\n  labels: {}\nspec:\n  url: https://a.example/b?c=d#e\n  ref:\n    branch: \"a\\n\\u003cb\"\n",
            "a:\n- b: 1\n  c: 'it''s'\n- d\n-\n- - e\n  - f\ng: h\n",
            "data:\n  A: |\n    x: [\n\n      y\n   \n  B: >-\n    z\n  C: |\n---\nA: ~",
            "\"a.b/c\": 1 # c\n'd': x#y\ne: a:b -c [d]\n",
            "name: 가나다\n",
            "a:\n  b: |2-\n      c\n    d\n\n  e: |4\n      f\n",
        ] {
            check(text, true, true);
        }
    }

    #[test]
    fn many_keys_are_compared_if_they_are_not_in_order() {
        let text =
            |keys: &mut dyn Iterator<Item = usize>| keys.map(|key| format!("k{key:05}: x\n")).collect::<String>();
        check(&text(&mut (0..9_000)), true, true);
        check(&text(&mut (0..500).rev()), true, true);
        check(&text(&mut (0..9_000).chain([4_000])), false, false);
        check(&text(&mut (0..9_000).rev()), true, false);
    }

    #[test]
    fn unusual_forms_are_left_to_the_parser() {
        for text in [
            "{a: 1}",
            "a: [b]\n",
            "a\n",
            "a: b\n  c\n",
            "? a\n: b\n",
            "a: &x 1\nb: *x\n",
            "a: !!str b\n",
            "a: b\r\n",
            "a: |-2\n    b\n",
            "a:\n  b\n",
            "--- a\n",
            "%YAML 1.1\n---\na: b\n",
            "a:\t1\n",
            "a b: c\n",
            "a: \"x\n  y\"\n",
            "a: \"x\ny\"\n",
            "a: \"it\\'s\"# c\n",
            "<<: {a: b}\n",
            "a: -\u{e9}\n",
        ] {
            check(text, true, false);
        }
    }

    #[test]
    fn comments_inside_blocks_with_an_indicator_are_left_to_the_parser() {
        check("- - |2\n   # c", false, false);
        assert!(!is_surely_good("a: |2\n # c\n") && !is_surely_good("- |2\n    a\n # c\n"));
        check("a: |2\n    b\n# c\nd: e\n", true, true);
        check("a: |\n    b\n  # c\nd: e\n", true, true);
    }

    #[test]
    fn unreadable_texts_are_errors() {
        for text in [
            "a: b: c\n",
            "a: b\n  c: d\n",
            "a:\n  b: 1\n c: 2\n",
            "a: 1\na: 2\n",
            "a:\n- b\nc: 1\na: 2\n",
            "- a\nb: c\n",
            "a: \"b\n",
            "a: @b\n",
            "a: [b\n",
            "a: *b\n",
            "a: 'b' c\n",
            "a: \"\\q\"\n",
            "\ta: b\n",
            "a: \u{1}\n",
            "kind: A---\nkind: B\n",
            "a: - b\n",
            "a: 1\n- b\n",
            "a: %b\n",
            "a: |\n    b\n  c: d\n",
            "%YAML 1.2\n---\na: b\n",
            "a: 1\n...\nb: 2\n",
            ": a\n",
            "a:\n: b\n",
            "a: 1\n\t\nb: 2\n",
            "a: \"\\/\"\n",
        ] {
            check(text, false, false);
        }
    }

    #[test]
    fn too_large_texts_are_not_reported_as_broken() {
        check(&"[".repeat(1_000), true, false);
        check(&format!("a: {}\n", "x".repeat(9 << 20)), true, false);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn texts_accepted_by_the_fast_scan_are_readable(
            words in proptest::collection::vec(proptest::sample::select(WORDS), 0..24)
        ) {
            let text = words.concat();
            let reading = super::super::read(&text, &YamlOptions::OBJECTS);
            prop_assert!(!is_surely_good(&text) || reading.problems.is_empty(), "{text:?}: {:?}", reading.problems);
        }
    }

    const WORDS: &[&str] = &[
        "\n",
        "\n",
        "\n",
        "\n  ",
        "\n  ",
        "\n    ",
        "\n   ",
        " ",
        "  ",
        "- ",
        "- ",
        "-",
        "a: ",
        "a:",
        "b: ",
        "c:",
        "d: ",
        "'a': ",
        "\"b\": ",
        "|",
        "|-",
        "|2",
        "|1-",
        ">",
        "#",
        " # c",
        "x",
        "x y",
        "1",
        "~",
        "-x",
        "'",
        "\"",
        "''",
        "\\n",
        "\\",
        ":",
        "---",
        "---\n",
        "...",
        "\t",
        "[",
        "]",
        "{}",
        "[]",
        "\u{e9}",
        "\u{a0}",
        "%",
        "&a",
        "*a",
        "!",
        "?",
        "<<: ",
        "? ",
        ":",
        ": ",
        "\\/",
        "\\'",
        "\n\t",
        "%YAML 1.2\n",
        "'x'",
        "\"x\"",
        "\r",
        ".",
        "/",
        "=",
        "(",
        "- - ",
        "- a: ",
    ];
}
