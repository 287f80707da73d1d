//! The outline of a text: what a reader of its structure and of the forms of its scalars sees.

use std::ops::Range;

use super::plain::{BYTES_MAX, Scan, different_heads, has_plain_characters};
use super::{Resolved, resolve_plain};
use crate::label;
use crate::name::{self, is_dns_label};

/// The keys whose values are in the outline as they are: they say which object it is.
const IDENTIFYING: [&[u8]; 2] = [b"apiVersion", b"kind"];
/// The objects whose data are texts, and the fields with these data.
const WITH_DATA: ([&str; 2], [&[u8]; 2]) = (["ConfigMap", "Secret"], [b"data", b"stringData"]);

/// The outline of a text: see [`outline`].
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Outline {
    bytes: Vec<u8>,
    /// Whether the fast scan read the whole text. Then the text has no errors.
    is_complete: bool,
}

impl Outline {
    /// Whether the text can be the known one of [`has_outline_of`].
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }
}

/// The outline of a text. In it, the value of an entry or item is replaced by its [`ScalarClass`], and the lines of a block scalar, comments, empty lines, and the
/// entries of a `ConfigMap` or `Secret` that are texts with usual keys are left out. From the first line on that the fast scan can't read, the outline is
/// the text itself; then it has also those entries.
///
/// Texts with equal outlines have the same collections and keys, apart from those entries, and scalars of equal classes. So a check that looks at nothing else
/// needs to read only one of them. Both have errors or neither.
///
/// `marks` are ranges of the text, in order. The lines that they touch are marked in the outline. None if the text is too long or has unusual characters.
pub fn outline(text: &str, marks: &[Range<usize>]) -> Option<Outline> {
    if text.len() > BYTES_MAX || !has_plain_characters(text) {
        return None;
    }
    let read = |detail| {
        let mut scan = Scan::recording(text.len(), detail);
        let mut marks = marks.iter().filter(|mark| !mark.is_empty()).peekable();
        let end = scan.read(text, |line| {
            while marks.next_if(|mark| mark.end <= line.start).is_some() {}
            marks.peek().is_some_and(|mark| mark.start <= line.end)
        });
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

/// Whether a text has the same outline as `known`, whose outline is [complete](Outline::is_complete). Neither has marks. The lines at the end that both have in common are
/// not scanned. If false, the outlines may still be equal.
pub fn has_outline_of(text: &str, known: &str) -> bool {
    if text.len() > BYTES_MAX {
        return false;
    }
    let Some((own, other)) = different_heads(text, known) else { return false };
    has_plain_characters(own) && state_after(own).is_some_and(|own| state_after(other) == Some(own))
}

/// The state after a text, with its outline. None if the fast scan can't read it.
fn state_after(text: &str) -> Option<Scan<'_>> {
    let mut scan = Scan::recording(text.len(), Detail::WithoutData);
    (scan.read(text, |_| false) == text.len()).then_some(scan)
}

/// In an outline: a marked line.
const MARK: u8 = 1;
/// In an outline: the end of a part.
const END: u8 = 2;
/// In an outline: a class instead of a scalar.
const CLASS: u8 = 3;
/// In an outline: the text from here on is as it is.
const REST: u8 = 4;

/// The style of a scalar in one line.
#[derive(Clone, Copy, Debug)]
pub(super) enum ScalarForm {
    /// In quotes. The text begins after the first one.
    Quoted(u8),
    Plain,
}

/// The parts of a text that a recorded outline has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Detail {
    /// All entries.
    #[default]
    All,
    /// All but the entries of data that are texts.
    WithoutData,
}

/// An outline while it is written. Its position is part of it: two equal recorders continue in the same way.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Recorder {
    /// None if no outline is needed.
    bytes: Option<Vec<u8>>,
    detail: Detail,
    is_marked: bool,
    key: KeyRole,
    data: DataPlace,
    /// The offset at which the current entry of the data begins.
    data_entry: Option<usize>,
}

/// What the value after the last key says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum KeyRole {
    #[default]
    Other,
    /// Which object it is. The value stays as it is.
    Identifying,
    /// The kind of the object. The value stays as it is.
    Kind,
}

/// Where the current entry is in relation to data that may be left out.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum DataPlace {
    /// The object has no such data, as far as it is known.
    #[default]
    None,
    /// In an object with data, outside of them.
    Outside,
    /// In the data.
    Inside,
}

impl Recorder {
    /// Records the outline of a text with this length.
    pub(super) fn new(length: usize, detail: Detail) -> Self {
        Self { bytes: Some(Vec::with_capacity(length)), detail, ..Self::default() }
    }

    pub(super) fn is_recording(&self) -> bool {
        self.bytes.is_some()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes.unwrap_or_default()
    }

    /// Begins a line.
    pub(super) fn line(&mut self, is_marked: bool) {
        self.is_marked = is_marked;
    }

    /// Begins a document.
    pub(super) fn document(&mut self) {
        self.add(b"---");
        (self.data, self.data_entry) = (DataPlace::None, None);
    }

    /// Adds the begin of an item or entry at a column. `depth` is the number of open collections.
    pub(super) fn enter(&mut self, kind: u8, column: usize, depth: usize) {
        let Some(bytes) = &mut self.bytes else { return };
        self.key = KeyRole::Other;
        if self.data == DataPlace::Inside && depth <= 1 {
            self.data = DataPlace::Outside;
        }
        let is_entry = self.data == DataPlace::Inside && depth == 2 && kind == b':';
        self.data_entry = is_entry.then_some(bytes.len());
        if std::mem::take(&mut self.is_marked) {
            bytes.push(MARK);
        }
        bytes.push(kind);
        bytes.extend_from_slice(&(column as u32).to_le_bytes());
    }

    /// Adds a key.
    pub(super) fn key(&mut self, key: &[u8], depth: usize) {
        if self.bytes.is_none() {
            return;
        }
        self.key = match key {
            b"kind" if depth == 1 => KeyRole::Kind,
            _ if IDENTIFYING.contains(&key) => KeyRole::Identifying,
            _ => KeyRole::Other,
        };
        if self.data == DataPlace::Outside && depth == 1 && WITH_DATA.1.contains(&key) {
            self.data = DataPlace::Inside;
        }
        self.data_entry = self.data_entry.filter(|_| std::str::from_utf8(key).is_ok_and(name::is_data_key));
        self.add(key);
    }

    /// Adds text that stays as it is.
    pub(super) fn add(&mut self, text: &[u8]) {
        if let Some(bytes) = &mut self.bytes {
            bytes.extend_from_slice(text);
            bytes.push(END);
        }
    }

    /// Adds a block scalar.
    pub(super) fn block(&mut self, header: &[u8]) {
        if !self.leave_out() {
            self.add(header);
        }
    }

    /// Removes the current entry if it is one of the data. Its value is a text.
    fn leave_out(&mut self) -> bool {
        let begin = self.data_entry.take();
        if let Some((begin, bytes)) = begin.zip(self.bytes.as_mut()) {
            bytes.truncate(begin);
        }
        begin.is_some()
    }

    /// Adds a scalar.
    pub(super) fn scalar(&mut self, form: ScalarForm, text: &[u8]) {
        if self.bytes.is_none() {
            return;
        }
        let content = content(form, text);
        if self.key == KeyRole::Kind {
            let has_data = content.is_some_and(|kind| WITH_DATA.0.contains(&kind));
            self.data =
                if has_data && self.detail == Detail::WithoutData { DataPlace::Outside } else { DataPlace::None };
        }
        let class = content.map(|content| match form {
            ScalarForm::Plain => ScalarClass::of_plain(content),
            ScalarForm::Quoted(_) => ScalarClass::of_text(content),
        });
        let is_text = class.is_none_or(|class| class.form == TypeForm::Text);
        if is_text && self.leave_out() {
            return;
        }
        if let Some(class) = class.filter(|_| self.key == KeyRole::Other) {
            self.add(&[CLASS, class.form as u8, class.fits]);
            return;
        }
        let quote = match form {
            ScalarForm::Quoted(quote) => quote,
            ScalarForm::Plain => b' ',
        };
        self.add(&[quote]);
        self.add(text);
    }
}

/// The content of a scalar of one line. None if it contains escapes.
fn content(form: ScalarForm, text: &[u8]) -> Option<&str> {
    let text = std::str::from_utf8(text).ok()?;
    match form {
        ScalarForm::Plain => Some(text.split_once(" #").map_or(text, |(text, _)| text).trim_end_matches(' ')),
        ScalarForm::Quoted(quote) => {
            let (content, behind) = text.split_once(char::from(quote))?;
            let is_escaped = content.contains('\\') && quote == b'"' || behind.starts_with(char::from(quote));
            (!is_escaped).then_some(content)
        }
    }
}

/// The type that a scalar has, and whether it prints back as it is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TypeForm {
    /// A text.
    Text,
    /// An empty plain scalar or a word for null.
    Null,
    /// A boolean, written `true` or `false`.
    Bool,
    /// A boolean in another form, such as `yes`.
    OtherBool,
    /// A number whose usual form is the text.
    Number,
    /// A number in another form, such as `1.10`, `0755` or `83e2`.
    OtherNumber,
}

/// The class of a scalar: its type, and what it can be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ScalarClass {
    /// The type.
    pub form: TypeForm,
    fits: u8,
}

impl ScalarClass {
    const DNS_LABEL: u8 = 1;
    const NAME: u8 = 1 << 1;
    const LABEL_VALUE: u8 = 1 << 2;
    const WITHIN_LABEL: u8 = 1 << 3;
    const BEGINS_WITH_LETTER: u8 = 1 << 4;
    const HAS_NO_VALUE: u8 = 1 << 5;

    /// The class of a plain scalar.
    pub fn of_plain(text: &str) -> Self {
        let form = match resolve_plain(text) {
            Resolved::Text(_) => TypeForm::Text,
            Resolved::Null => TypeForm::Null,
            Resolved::Bool(value) if text == if value { "true" } else { "false" } => TypeForm::Bool,
            Resolved::Bool(_) => TypeForm::OtherBool,
            Resolved::Int(value) if value.to_string() == text => TypeForm::Number,
            Resolved::Uint(value) if value.to_string() == text => TypeForm::Number,
            Resolved::Float(value) if value.to_string() == text => TypeForm::Number,
            Resolved::Int(_) | Resolved::Uint(_) | Resolved::Float(_) => TypeForm::OtherNumber,
        };
        Self { form, ..Self::of_text(text) }
    }

    /// The class of a text in quotes or in a block.
    pub fn of_text(text: &str) -> Self {
        let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
        let fits = flag(is_dns_label(text), Self::DNS_LABEL)
            | flag(name::check(text).is_ok(), Self::NAME)
            | flag(label::check_value(text).is_ok(), Self::LABEL_VALUE)
            | flag(text.len() <= name::LABEL_LENGTH_MAX, Self::WITHIN_LABEL)
            | flag(text.starts_with(|first: char| first.is_ascii_lowercase()), Self::BEGINS_WITH_LETTER)
            | flag(text.contains("<no value>"), Self::HAS_NO_VALUE);
        Self { form: TypeForm::Text, fits }
    }

    /// Whether it is a DNS label, as the name of a namespace.
    pub fn is_dns_label(self) -> bool {
        self.fits & Self::DNS_LABEL != 0
    }

    /// Whether it is a DNS label that begins with a letter, as the name of a `Service`.
    pub fn is_service_name(self) -> bool {
        self.is_dns_label() && self.fits & Self::BEGINS_WITH_LETTER != 0
    }

    /// Whether it is a DNS subdomain, as the names of most objects.
    pub fn is_name(self) -> bool {
        self.fits & Self::NAME != 0
    }

    /// Whether it can be the value of a label.
    pub fn is_label_value(self) -> bool {
        self.fits & Self::LABEL_VALUE != 0
    }

    /// Whether it contains what a template prints for a missing value.
    pub fn has_no_value(self) -> bool {
        self.fits & Self::HAS_NO_VALUE != 0
    }

    /// Whether it has at most 63 bytes.
    pub fn is_within_label(self) -> bool {
        self.fits & Self::WITHIN_LABEL != 0
    }
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
    fn scalars_of_one_class_have_one_outline() {
        check("a: b\n", "a: c-d\n", true);
        check("a: \"b\"\n", "a: \"xy\" # c\n\n", true);
        check("a: 1\n- b\n", "a: 1\n- b\n", true);
        check("a: 1\n", "a: 2\n", true);
        check("- b: 'x'\n", "- b: 'y'\n", true);
        check("a: |\n  b\nc: d\n", "a: |\n  x: [\n\n   y\nc: d\n", true);
        check("metadata:\n  name: a\n", "metadata:\n  name: b\n", true);
    }

    #[test]
    fn other_structures_keys_types_and_forms_have_another() {
        check("a: b\n", "b: b\n", false);
        check("a: b\n", "a: 1\n", false);
        check("a: 1.1\n", "a: 1.10\n", false);
        check("a: true\n", "a: yes\n", false);
        check("a: b\n", "a: B\n", false);
        check("a: b\n", "a: b.c\n", false);
        check("a: x y\n", "a: <no value>\n", false);
        check("a: \"b\"\n", "a: b\n", true);
        check("a: 1\n", "a: '1'\n", false);
        check("kind: A\n", "kind: B\n", false);
        check("a:\n  b: c\n", "a:\n    b: c\n", false);
        check("a: b\n", "- b\n", false);
        check("a: |\n  b\n", "a: b\n", false);
        check(&format!("a: {}\n", "x".repeat(63)), &format!("a: {}\n", "x".repeat(64)), false);
    }

    #[test]
    fn what_the_fast_scan_can_not_read_stays_as_it_is() {
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
    fn marked_lines_are_different() {
        let of = |text, begin, end| outline(text, std::slice::from_ref(&(begin..end)));
        let marked = |begin, end| of("a: b\nc: d\n", begin, end);
        assert_ne!(marked(3, 4), marked(0, 0));
        assert_ne!(marked(3, 4), marked(8, 9));
        assert_eq!(marked(3, 4), of("a: x\nc: z\n", 3, 4));
    }

    /// Checks whether the comparison with a known text shows that a text has the same outline.
    fn check_like(known: &str, text: &str, expected: bool) {
        assert!(outline(known, &[]).is_some_and(|outline| outline.is_complete()), "{known:?}");
        assert_eq!(has_outline_of(text, known), expected, "{text:?} like {known:?}");
        assert!(!expected || outline(text, &[]) == outline(known, &[]), "{text:?} like {known:?}");
    }

    #[test]
    fn lines_that_another_text_has_are_not_looked_at_again() {
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
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

        #[test]
        fn what_another_text_shows_is_so(
            heads in proptest::collection::vec(proptest::collection::vec(0..STARTS.len() * VALUES.len(), 0..4), 2),
            rest in proptest::collection::vec(0..STARTS.len() * VALUES.len(), 0..12)
        ) {
            let line = |number: &usize| format!("{}{}\n", STARTS[number % STARTS.len()], VALUES[number / STARTS.len()]);
            let text = |head: &Vec<usize>| head.iter().chain(&rest).map(line).collect::<String>();
            let (known, other) = (text(&heads[0]), text(&heads[1]));
            if outline(&known, &[]).is_some_and(|outline| outline.is_complete()) && has_outline_of(&other, &known) {
                prop_assert_eq!(outline(&other, &[]), outline(&known, &[]), "{:?} {:?}", known, other);
            }
        }

        #[test]
        fn texts_of_one_outline_are_both_good_or_both_broken(
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
        &["kind: ", "data:\n  k: ", "a: ", "  b: ", "c: ", "- ", "  - ", "    d: ", "", "# ", "---", "  "];
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
