//! Properties of edits: every byte outside of the edited range stays, the meaning is the intended one, and a removal undoes an addition.

use std::fmt::Write as _;

use authoring::documents;
use authoring::edit::{Change, EditError, ObjectPosition, Reason, edit};
use authoring::value::NewValue;
use model::field_path::FieldPath;
use model::yaml::{Node, NodeValue, YamlOptions, read};
use proptest::prelude::*;
use proptest::sample::{Index, select};

/// A value as it is written in a block at a column.
#[derive(Clone, Debug)]
enum Written {
    Scalar(&'static str),
    /// The lines of a text after this header.
    Block(&'static str, Vec<&'static str>),
    Mapping(Vec<Written>),
    List(Vec<Written>, bool),
}

const SCALARS: &[&str] = &[
    "x",
    "two words",
    "'it''s'",
    "\"a\\tb\"",
    "1",
    "on",
    "",
    "~",
    "{}",
    "[]",
    "{a: 1, b: {c: d}}",
    "{ a: 1 }",
    "[x, {y: z}]",
    "http://a.b/c#d",
    "a\t",
    "x # c",
    "{a: 1} # c\t",
    "\"#\"",
    "[ # c\n          x, y,\n          ]",
    "{a: 1,\n          b: 2,\n          }",
    "{a, b: }",
];
const TEXT_LINES: &[&str] = &["text", "# no comment", "", "  deeper", "- x", "key: value", "---x", "a\tb"];
const COMMENTS: &[&str] =
    &["", "", "", "", "# c\n", "  # deep\n", "      # deeper\n", "\n", "\n\n", "# a: b\n# - c\n", "\t\n", "  \n"];

fn written() -> impl Strategy<Value = Written> {
    let block = (select(&["|", ">", "|-", "|+", ">+", "| # c"][..]), prop::collection::vec(select(TEXT_LINES), 1..4));
    let leaf = prop_oneof![
        4 => select(SCALARS).prop_map(Written::Scalar),
        1 => block.prop_map(|(header, lines)| Written::Block(header, lines)),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        let children = || prop::collection::vec(inner.clone(), 1..4);
        prop_oneof![
            2 => children().prop_map(Written::Mapping),
            1 => (children(), any::<bool>()).prop_map(|(items, is_indented)| Written::List(items, is_indented)),
        ]
    })
}

/// Writes documents line by line, with comments from a list between the lines.
struct Page {
    text: String,
    comments: Vec<&'static str>,
    indentation: usize,
}

impl Page {
    fn comment(&mut self) {
        let comment = self.comments.pop().unwrap_or_default();
        self.text.push_str(comment);
    }

    fn value(&mut self, value: &Written, column: usize) {
        match value {
            Written::Scalar(text) => {
                let _ = writeln!(self.text, " {text}");
            }
            Written::Block(header, lines) => {
                let _ = writeln!(self.text, " {header}");
                for line in ["first"].iter().chain(lines) {
                    let _ = writeln!(self.text, "{:1$}{line}", "", column + self.indentation);
                }
            }
            Written::Mapping(values) => {
                self.text.push_str(" # below\n");
                self.entries(values, column + self.indentation);
            }
            Written::List(items, is_indented) => {
                self.text.push('\n');
                let column = column + if *is_indented { self.indentation } else { 0 };
                for item in items {
                    self.comment();
                    let _ = write!(self.text, "{:column$}-", "");
                    match item {
                        Written::Mapping(values) => self.inline_entries(values, column + 2),
                        Written::List(..) => self.text.push_str(" nested\n"),
                        other => self.value(other, column),
                    }
                }
            }
        }
    }

    fn entries(&mut self, values: &[Written], column: usize) {
        for (position, value) in values.iter().enumerate() {
            self.comment();
            let _ = write!(self.text, "{:column$}k{position}:", "");
            self.value(value, column);
        }
    }

    fn inline_entries(&mut self, values: &[Written], column: usize) {
        for (position, value) in values.iter().enumerate() {
            let before = if position == 0 { 1 } else { column };
            let _ = write!(self.text, "{:before$}\"k{position}\" :", "");
            self.value(value, column);
        }
    }
}

/// How a file is made from its documents.
#[derive(Clone, Debug)]
struct FileStyle {
    indentation: usize,
    is_crlf: bool,
    has_mark: bool,
    is_open: bool,
    separator: &'static str,
    start: &'static str,
}

fn file_style() -> impl Strategy<Value = FileStyle> {
    let separators =
        &["---\n", "--- # next\n", "...\n---\n", "...\n", "...\n%YAML 1.2\n---\n", "# end\n---\n# begin\n\n"][..];
    let starts = &["", "---\n", "# licence\n\n", "%YAML 1.2\n---\n", "# about\n"][..];
    (2..5_usize, any::<[bool; 3]>(), select(separators), select(starts)).prop_map(
        |(indentation, [is_crlf, has_mark, is_open], separator, start)| FileStyle {
            indentation,
            is_crlf,
            has_mark,
            is_open,
            separator,
            start,
        },
    )
}

fn file() -> impl Strategy<Value = String> {
    let documents = prop::collection::vec(prop::collection::vec(written(), 1..4), 1..4);
    let comments = prop::collection::vec(select(COMMENTS), 0..12);
    (documents, comments, file_style()).prop_map(|(documents, comments, style)| {
        let mut page = Page { text: style.start.to_owned(), comments, indentation: style.indentation };
        for (position, document) in documents.iter().enumerate() {
            if position > 0 {
                page.text.push_str(style.separator);
            }
            page.entries(document, 0);
        }
        let mut text = page.text;
        if style.is_open {
            text.truncate(text.trim_end_matches('\n').len());
        }
        if style.is_crlf {
            text = text.replace('\n', "\r\n");
        }
        if style.has_mark { format!("\u{feff}{text}") } else { text }
    })
}

/// A field with its content, and its shape.
type Field = (FieldPath, String, &'static str);

/// All fields of a document.
fn fields(node: &Node, path: &FieldPath, found: &mut Vec<Field>) {
    match &node.value {
        NodeValue::Scalar(scalar) => found.push((path.clone(), format!("{:?}", scalar.resolve()), "scalar")),
        NodeValue::Sequence(items) => {
            found.push((path.clone(), String::new(), "list"));
            items.iter().enumerate().for_each(|(index, item)| fields(item, &path.index(index), found));
        }
        NodeValue::Mapping(entries) => {
            found.push((path.clone(), String::new(), "mapping"));
            for (key, value) in entries.iter() {
                fields(value, &path.key(key.as_scalar().map(|key| key.text.clone()).unwrap_or_default()), found);
            }
        }
    }
}

/// All fields of all documents. None if the text has an error.
fn read_fields(text: &str) -> Option<Vec<Vec<Field>>> {
    let reading = read(text, &YamlOptions::OBJECTS);
    let all = |node| {
        let mut found = Vec::new();
        fields(node, &FieldPath::default(), &mut found);
        found.sort();
        found
    };
    reading.problems.is_empty().then(|| reading.documents.iter().map(|document| all(&document.root)).collect())
}

/// The result of an edit. It is refused only at the end of a file that ends inside of a block of text.
fn made<T>(result: Result<T, EditError>, text: &str) -> Result<T, TestCaseError> {
    result.map_err(|error| match error.reason {
        Reason::OpenBlock if !text.ends_with('\n') => TestCaseError::reject("open block"),
        _ => TestCaseError::fail(format!("{error}: {text:?}")),
    })
}

/// The number of bytes that two texts have in common at their beginning and at their end.
fn in_common(one: &[u8], other: &[u8]) -> usize {
    let same = |(one, other): &(&u8, &u8)| one == other;
    let before = one.iter().zip(other).take_while(same).count();
    let rest = one.len().min(other.len()) - before;
    before + one.iter().rev().zip(other.iter().rev()).take(rest).take_while(same).count()
}

/// A field of this kind, with its document.
fn pick(text: &str, kind: &str, index: Index) -> Option<(ObjectPosition, FieldPath)> {
    let all = read_fields(text)?;
    let all: Vec<_> = all
        .iter()
        .enumerate()
        .flat_map(|(document, fields)| fields.iter().map(move |field| (document, field)))
        .filter(|(_, field)| field.2 == kind)
        .collect();
    let (document, field) = all.get(index.index(all.len().max(1)))?;
    Some((ObjectPosition { document: *document, item: None }, field.0.clone()))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn an_added_entry_can_be_removed_again(text in file(), index in any::<Index>(), value in "[ -~]{0,8}|[a-z\\n ]{0,9}") {
        let Some((at, mapping)) = pick(&text, "mapping", index) else { return Ok(()) };
        let path = mapping.key("added");
        let change = Change::Set(path.clone(), NewValue::text(value.as_str()));
        let result = made(edit(text.as_bytes(), at, &change), &text)?;
        let added = String::from_utf8(result).unwrap();
        let mut expected = read_fields(&text).unwrap();
        expected[at.document].push((path.clone(), format!("{:?}", model::yaml::Resolved::Text(value.as_str().into())), "scalar"));
        expected[at.document].sort();
        prop_assert_eq!(read_fields(&added), Some(expected), "{:?}", added);
        let was_empty = read_fields(&text).unwrap()[at.document].iter().filter(|field| field.0.is_at_or_below(&mapping)).count() == 1;
        prop_assert!(was_empty || in_common(text.as_bytes(), added.as_bytes()) == text.len(), "{text:?} {added:?}");
        let removed = made(edit(added.as_bytes(), at, &Change::Remove(path)), &added)?;
        prop_assert!(was_empty || String::from_utf8_lossy(&removed) == text.as_str(), "{text:?} {added:?} {:?}", String::from_utf8_lossy(&removed));
    }

    #[test]
    fn an_appended_item_can_be_removed_again(text in file(), index in any::<Index>(), is_mapping in any::<bool>()) {
        let Some((at, list)) = pick(&text, "list", index) else { return Ok(()) };
        let count = read_fields(&text).unwrap()[at.document].iter().filter(|field| field.0.steps().len() == list.steps().len() + 1 && field.0.is_at_or_below(&list)).count();
        let value = if is_mapping { NewValue::mapping([("name", NewValue::text("7")), ("on", NewValue::text("b"))]) } else { NewValue::text("new") };
        let result = made(edit(text.as_bytes(), at, &Change::Append(list.clone(), value)), &text)?;
        let added = String::from_utf8(result).unwrap();
        prop_assert!(count == 0 || in_common(text.as_bytes(), added.as_bytes()) == text.len(), "{text:?} {added:?}");
        let removed = made(edit(added.as_bytes(), at, &Change::Remove(list.index(count))), &added)?;
        prop_assert!(count == 0 || String::from_utf8_lossy(&removed) == text.as_str(), "{text:?} {added:?} {:?}", String::from_utf8_lossy(&removed));
    }

    #[test]
    fn a_changed_scalar_changes_only_its_range(text in file(), index in any::<Index>(), value in "[ -~]{0,8}|[a-z\\n ]{0,9}") {
        let Some((at, path)) = pick(&text, "scalar", index) else { return Ok(()) };
        let change = Change::Set(path.clone(), NewValue::text(value.as_str()));
        let result = made(edit(text.as_bytes(), at, &change), &text)?;
        let changed = String::from_utf8(result).unwrap();
        let mut expected = read_fields(&text).unwrap();
        let field = expected[at.document].iter_mut().find(|field| field.0 == path).unwrap();
        field.1 = format!("{:?}", model::yaml::Resolved::Text(value.as_str().into()));
        expected[at.document].sort();
        prop_assert_eq!(read_fields(&changed), Some(expected), "{:?} {:?}", text, changed);
    }

    #[test]
    fn a_removed_field_leaves_the_others(text in file(), kind in select(KINDS), index in any::<Index>()) {
        let Some((at, path)) = pick(&text, kind, index).filter(|(_, path)| !path.steps().is_empty()) else { return Ok(()) };
        let result = made(edit(text.as_bytes(), at, &Change::Remove(path.clone())), &text)?;
        let removed = String::from_utf8(result).unwrap();
        let is_inside = |words: &mut std::str::Chars<'_>, word: char| words.any(|other| other == word);
        let mut words = text.chars();
        let is_shorter = removed.len() < text.len() && removed.chars().all(|word| is_inside(&mut words, word));
        prop_assert!(is_shorter || removed.contains("{}") || removed.contains("[]"), "{text:?} {removed:?}");
    }

    #[test]
    fn an_appended_document_can_be_removed_again(text in file()) {
        let Some(before) = read_fields(&text) else { return Ok(()) };
        let added = made(documents::append(text.as_bytes(), "# new\nkind: A\n"), &text)?;
        prop_assert!(added.starts_with(text.as_bytes()));
        let removed = made(documents::remove(&added, before.len()), &text)?;
        prop_assert_eq!(removed.map(|bytes| String::from_utf8(bytes).unwrap()).unwrap_or_default(), text);
    }

    #[test]
    fn a_removed_document_leaves_the_others(text in file(), index in any::<Index>()) {
        let Some(before) = read_fields(&text) else { return Ok(()) };
        let document = index.index(before.len().max(1));
        let result = made(documents::remove(text.as_bytes(), document), &text)?;
        let mut expected = before.clone();
        expected.remove(document);
        let text = result.map(|bytes| String::from_utf8(bytes).unwrap());
        prop_assert_eq!(text.as_deref().and_then(read_fields).unwrap_or_default(), expected);
    }

    #[test]
    fn no_text_makes_an_edit_panic(words in prop::collection::vec(select(WORDS), 0..20), path in select(PATHS), which in 0..4) {
        let text = words.concat();
        let path: FieldPath = path.iter().map(|key| model::field_path::FieldStep::Key((*key).into())).collect();
        let change = match which {
            0 => Change::Set(path, NewValue::text("new")),
            1 => Change::Append(path, NewValue::text("new")),
            2 => Change::Set(path, NewValue::mapping([("a", NewValue::text("new"))])),
            _ => Change::Remove(path),
        };
        let _ = edit(text.as_bytes(), ObjectPosition::default(), &change);
        let _ = documents::append(text.as_bytes(), "a: 1\n");
        let _ = documents::remove(text.as_bytes(), 0);
    }
}

const KINDS: &[&str] = &["scalar", "mapping", "list"];
const PATHS: &[&[&str]] = &[&[], &["a"], &["b"], &["a", "b"], &["b", "a"], &["a", "new", "x"]];
const WORDS: &[&str] = &[
    "\n",
    "\n",
    "\n  ",
    "\n    ",
    " ",
    "- ",
    "a: ",
    "a:",
    "b: ",
    "c:",
    "'a': ",
    "|",
    ">",
    "#",
    " # c",
    "x",
    "1",
    "~",
    "'",
    "\"",
    ":",
    "---",
    "---\n",
    "...\n",
    "\t",
    "[",
    "]",
    "{",
    "}",
    "{}",
    ",",
    "&a ",
    "*a",
    "!!str ",
    "? ",
    "<<: *a",
    "\r\n",
    "\u{feff}",
    "\u{e9}",
    "%YAML 1.2\n",
];
