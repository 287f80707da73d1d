//! Writes values as lines of YAML.

use std::sync::Arc;

use model::yaml::{self, YamlOptions};

use crate::scalar::{self, Context};
use crate::style::Style;
use crate::value::{MappingEntry, NewValue};

/// The longest list of texts that is written on one line, in characters.
const SHORT_LIST_WIDTH_MAX: usize = 80;

/// The entries of a mapping whose keys begin at this column. Lines end with `\n`, whatever the style; the first line has no indentation.
pub(crate) fn entries(entries: &[MappingEntry], column: usize, style: &Style) -> String {
    let mut lines = Lines { text: String::new(), style };
    lines.mapping(entries, column);
    lines.finish()
}

/// The item of a list whose dashes are at this column, with its dash. The first line has no indentation.
pub(crate) fn item(value: &NewValue, column: usize, style: &Style) -> String {
    let mut lines = Lines { text: String::new(), style };
    lines.item(value, column);
    lines.finish()
}

/// The value after a key whose mapping begins at this column, with the space or line break before it.
pub(crate) fn after_key(value: &NewValue, column: usize, style: &Style) -> String {
    let mut lines = Lines { text: String::new(), style };
    lines.value(value, column);
    lines.finish()
}

/// The value on one line, as it is written between braces.
pub(crate) fn flow(value: &NewValue, style: &Style) -> String {
    match value {
        NewValue::Text(text) => scalar::written(text, Context::Flow, style.quote),
        NewValue::Bool(value) => value.to_string(),
        NewValue::Int(value) => value.to_string(),
        NewValue::List(items) => {
            format!("[{}]", items.iter().map(|item| flow(item, style)).collect::<Vec<_>>().join(", "))
        }
        NewValue::ShortList(items) => short_list(items, style),
        NewValue::Mapping(entries) => {
            let entries = entries.iter().map(|entry| flow_entry(entry, style)).collect::<Vec<_>>();
            format!("{{{}}}", entries.join(", "))
        }
    }
}

/// A key with its value, as they are written between braces.
pub(crate) fn flow_entry((key, value): &MappingEntry, style: &Style) -> String {
    format!("{}: {}", scalar::written_key(key, style.quote), flow(value, style))
}

fn short_list(items: &[Arc<str>], style: &Style) -> String {
    let items = items.iter().map(|item| scalar::written(item, Context::Flow, style.quote)).collect::<Vec<_>>();
    format!("[{}]", items.join(", "))
}

/// Lines that are written one after the other.
struct Lines<'s> {
    text: String,
    style: &'s Style,
}

impl Lines<'_> {
    /// The text without the line break at its end.
    fn finish(self) -> String {
        self.text
    }

    fn new_line(&mut self, column: usize) {
        self.text.push('\n');
        self.text.extend(std::iter::repeat_n(' ', column));
    }

    fn mapping(&mut self, entries: &[MappingEntry], column: usize) {
        for (position, (key, value)) in entries.iter().enumerate() {
            if position > 0 {
                self.new_line(column);
            }
            self.text.push_str(&scalar::written_key(key, self.style.quote));
            self.text.push(':');
            self.value(value, column);
        }
    }

    fn value(&mut self, value: &NewValue, column: usize) {
        match value {
            NewValue::Mapping(entries) if !entries.is_empty() => {
                let column = column + self.style.indentation;
                self.new_line(column);
                self.mapping(entries, column);
            }
            NewValue::List(items) if !items.is_empty() => {
                let column = column + if self.style.are_items_indented { self.style.indentation } else { 0 };
                self.items(items, column);
            }
            NewValue::ShortList(items) if short_list(items, self.style).chars().count() > SHORT_LIST_WIDTH_MAX => {
                let items = items.iter().map(|item| NewValue::Text(Arc::clone(item))).collect();
                self.value(&NewValue::List(items), column);
            }
            _ => {
                self.text.push(' ');
                self.scalar(value, column);
            }
        }
    }

    fn items(&mut self, items: &[NewValue], column: usize) {
        for item in items {
            self.new_line(column);
            self.item(item, column);
        }
    }

    fn item(&mut self, item: &NewValue, column: usize) {
        self.text.push_str("- ");
        match item {
            NewValue::Mapping(entries) if !entries.is_empty() => self.mapping(entries, column + "- ".len()),
            NewValue::List(_) => self.text.push_str(&flow(item, self.style)),
            _ => self.scalar(item, column),
        }
    }

    /// A value that begins on the present line, in a collection at this column.
    fn scalar(&mut self, value: &NewValue, column: usize) {
        let NewValue::Text(text) = value else {
            self.text.push_str(&flow(value, self.style));
            return;
        };
        match block(text, column + self.style.indentation) {
            Some(block) => self.text.push_str(&block),
            None => self.text.push_str(&scalar::written(text, Context::Block, self.style.quote)),
        }
    }
}

/// A text of several lines as a block after `|`, with its lines at this column and without a line break at its end. None if a block can't contain it
/// exactly.
fn block(text: &str, column: usize) -> Option<String> {
    let lines = text.strip_suffix('\n').unwrap_or(text);
    let has_blank_end = lines.rsplit('\n').next().is_none_or(|last| last.trim().is_empty());
    if !text.contains('\n') || has_blank_end {
        return None;
    }
    let indentation = " ".repeat(column);
    let header = if text.ends_with('\n') { "|" } else { "|-" };
    let mut block = header.to_owned();
    for line in lines.split('\n') {
        block.push('\n');
        if !line.is_empty() {
            block.push_str(&indentation);
            block.push_str(line);
        }
    }
    // At the left edge, `---` in the text would end the document.
    let parent = if column == 0 { return None } else { " ".repeat(column - 1) };
    let read = yaml::read(&format!("{parent}k: {block}\n"), &YamlOptions::OBJECTS);
    let [document] = read.documents.as_slice() else { return None };
    let found = document.root.get("k")?.as_scalar()?;
    (read.problems.is_empty() && &*found.text == text).then_some(block)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(value: &NewValue, style: &Style, expected: &str) {
        assert_eq!(format!("k:{}\n", after_key(value, 0, style)), expected);
    }

    #[test]
    fn collections_are_blocks_with_the_indentation_of_the_style() {
        let labels = NewValue::mapping([("region", NewValue::text("west")), ("line", NewValue::text("7"))]);
        let value = NewValue::mapping([("labels", labels.clone()), ("none", NewValue::Mapping(Vec::new()))]);
        let list = NewValue::List(vec![labels, NewValue::text("on"), NewValue::Int(3)]);
        let style = Style::default();
        check(&value, &style, "k:\n  labels:\n    region: west\n    line: \"7\"\n  none: {}\n");
        check(&list, &style, "k:\n  - region: west\n    line: \"7\"\n  - \"on\"\n  - 3\n");
        let flat = Style { are_items_indented: false, indentation: 4, ..style };
        check(&list, &flat, "k:\n- region: west\n  line: \"7\"\n- \"on\"\n- 3\n");
        check(&value, &flat, "k:\n    labels:\n        region: west\n        line: \"7\"\n    none: {}\n");
    }

    #[test]
    fn texts_of_several_lines_are_blocks() {
        let style = Style::default();
        check(&NewValue::text("a\n\nb\n"), &style, "k: |\n  a\n\n  b\n");
        check(&NewValue::text("a\nb"), &style, "k: |-\n  a\n  b\n");
        check(&NewValue::text("a\n\n"), &style, "k: \"a\\n\\n\"\n");
        check(&NewValue::text(" a\nb"), &style, "k: \" a\\nb\"\n");
    }

    #[test]
    fn short_lists_are_on_one_line() {
        let list =
            |count: usize| NewValue::ShortList((0..count).map(|number| format!("store-{number:03}").into()).collect());
        check(&list(2), &Style::default(), "k: [store-000, store-001]\n");
        assert!(after_key(&list(20), 0, &Style::default()).starts_with("\n  - store-000\n"));
    }
}
