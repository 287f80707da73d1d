//! The outline of a text: what a reader of its structure and of the forms of its scalars sees.

use std::ops::Range;

use super::plain::{BYTES_MAX, Scan, has_plain_characters};
use super::{Resolved, resolve_plain};
use crate::label;
use crate::name::{self, is_dns_label};

/// The keys whose values are in the outline as they are: they say which object it is.
const IDENTIFYING: [&[u8]; 2] = [b"apiVersion", b"kind"];

/// The outline of a text. In it, the value of an entry or item is replaced by its [`ScalarClass`], and the lines of a block scalar, comments and empty lines are
/// left out. From the first line on that the fast scan can't read, the outline is the text itself.
///
/// Texts with equal outlines have the same collections and keys, and scalars of equal classes. So a check that looks at nothing else needs to read only
/// one of them. A text has no errors if one with the same outline has none.
///
/// `marks` are ranges of the text, in order. The lines that they touch are marked in the outline. None if the text is too long or has unusual characters.
pub fn outline(text: &str, marks: &[Range<usize>]) -> Option<Vec<u8>> {
    if text.len() > BYTES_MAX || !has_plain_characters(text) {
        return None;
    }
    let mut scan = Scan::recording(text.len());
    let mut marks = marks.iter().filter(|mark| !mark.is_empty()).peekable();
    let read = scan.read(text, |line| {
        while marks.next_if(|mark| mark.end <= line.start).is_some() {}
        marks.peek().is_some_and(|mark| mark.start <= line.end)
    });
    let mut outline = scan.into_outline();
    if let Some(rest) = text.get(read..).filter(|rest| !rest.is_empty()) {
        outline.push(REST);
        outline.extend_from_slice(rest.as_bytes());
        // The rest may contain several marked values.
        marks.for_each(|mark| outline.extend_from_slice(format!("\n{}-{}", mark.start, mark.end).as_bytes()));
    }
    Some(outline)
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

/// An outline while it is written. None if it is not needed.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Outline {
    bytes: Option<Vec<u8>>,
    /// Whether the value after the last key stays as it is.
    is_identifying: bool,
}

impl Outline {
    /// An outline of a text with this length.
    pub(super) fn recorded(length: usize) -> Self {
        Self { bytes: Some(Vec::with_capacity(length)), is_identifying: false }
    }

    pub(super) fn is_recorded(&self) -> bool {
        self.bytes.is_some()
    }

    pub(super) fn into_bytes(self) -> Vec<u8> {
        self.bytes.unwrap_or_default()
    }

    /// Marks the next line.
    pub(super) fn mark(&mut self) {
        if let Some(bytes) = &mut self.bytes {
            bytes.push(MARK);
        }
    }

    /// Adds the begin of an item or entry at a column.
    pub(super) fn enter(&mut self, kind: u8, column: usize) {
        if let Some(bytes) = &mut self.bytes {
            self.is_identifying = false;
            bytes.push(kind);
            bytes.extend_from_slice(&(column as u32).to_le_bytes());
        }
    }

    /// Adds a key.
    pub(super) fn key(&mut self, key: &[u8]) {
        self.is_identifying = IDENTIFYING.contains(&key);
        self.add(key);
    }

    /// Adds text that stays as it is.
    pub(super) fn add(&mut self, text: &[u8]) {
        if let Some(bytes) = &mut self.bytes {
            bytes.extend_from_slice(text);
            bytes.push(END);
        }
    }

    /// Adds a scalar.
    pub(super) fn scalar(&mut self, form: ScalarForm, text: &[u8]) {
        if self.bytes.is_none() {
            return;
        }
        match content(form, text).filter(|_| !self.is_identifying) {
            Some(content) => {
                let class = match form {
                    ScalarForm::Plain => ScalarClass::of_plain(content),
                    ScalarForm::Quoted(_) => ScalarClass::of_text(content),
                };
                self.add(&[CLASS, class.form as u8, class.fits]);
            }
            None => {
                let quote = match form {
                    ScalarForm::Quoted(quote) => quote,
                    ScalarForm::Plain => b' ',
                };
                self.add(&[quote]);
                self.add(text);
            }
        }
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
            | flag(text.starts_with(|first: char| first.is_ascii_lowercase()), Self::BEGINS_WITH_LETTER);
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
    fn marked_lines_are_different() {
        let marked = |begin, end| outline("a: b\nc: d\n", &[begin..end]);
        assert_ne!(marked(3, 4), marked(0, 0));
        assert_ne!(marked(3, 4), marked(8, 9));
        assert_eq!(outline("a: b\nc: d\n", &[3..4]), outline("a: x\nc: z\n", &[3..4]));
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2_000))]

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

    const STARTS: &[&str] = &["a: ", "  b: ", "c: ", "- ", "  - ", "    d: ", "", "# ", "---", "  "];
    const VALUES: &[&str] = &[
        "", "x", "y", "x y", "x # y", "1", "2", "'x'", "'y'", "\"x\"", "\"y\"", "\"x", "'x", "|", ">-", "[x]", "[y]",
        "{}", "x: y", "x:y", "\"\\n\"", "\"\\t\"", "'x''y'", "*a", "&a x", "x\t", "\u{e9}", "~", "yes", "no", "1.0",
        "0x1",
    ];
}
