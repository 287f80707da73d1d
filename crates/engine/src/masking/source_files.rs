//! Finds the bytes of a source file that must not be displayed: sensitive values, and credentials in URLs.

use std::collections::BTreeSet;
use std::ops::Range;

use model::credential;
use model::field_path::{FieldPath, FieldStep};
use model::yaml::{self, Node, NodeValue, Span};

use crate::schema::marks::may_mark;

/// Schema keywords that contain values.
const SCHEMA_VALUES: [&str; 3] = ["default", "const", "examples"];

/// Returns the byte ranges of a file that must not be displayed if the values at these paths are sensitive. The ranges are sorted and do not
/// overlap or touch.
///
/// The file is parsed like objects of a fleet. If it can't be parsed completely and may contain values, only the keys at the beginning of
/// its lines are displayed.
pub fn hidden_in(content: &[u8], sensitive: &BTreeSet<FieldPath>) -> Vec<Range<usize>> {
    let Ok(text) = std::str::from_utf8(content) else {
        // The file is not UTF-8. Hide all of it.
        let all = (!sensitive.is_empty() && !content.is_empty()).then_some(0..content.len());
        return all.into_iter().collect();
    };
    let mut hidden = credential::ranges(text);
    let reading = yaml::read(text, &yaml::YamlOptions::OBJECTS);
    // A value that begins like a tag is reported as an unknown tag, and read as an empty value.
    let is_whole = reading.problems.is_empty();
    let mut finder = Finder { text, sensitive, hidden: &mut hidden };
    // Documents with problems are hidden as far as they can be read.
    reading.documents.iter().chain(&reading.fragments).for_each(|document| finder.hide_object(&document.root));
    if !is_whole && !sensitive.is_empty() && may_hold_values(text) {
        finder.hide_line_values();
    }
    merged(hidden)
}

fn may_hold_values(text: &str) -> bool {
    let lower = text.to_ascii_lowercase();
    ["configmap", "secret", "platform-config", "azure-app-config"].iter().any(|word| lower.contains(word))
        || lower.lines().any(|line| matches!(line.trim(), "data:" | "stringdata:"))
}

struct Finder<'a> {
    text: &'a str,
    sensitive: &'a BTreeSet<FieldPath>,
    hidden: &'a mut Vec<Range<usize>>,
}

impl Finder<'_> {
    /// Hides the values of an object, or of a list of objects. The recursion is at most as deep as the YAML.
    fn hide_object(&mut self, root: &Node) {
        if text_at(root, "kind") == Some("List") {
            let items = root.get("items").and_then(Node::as_sequence).unwrap_or_default();
            items.iter().for_each(|item| self.hide_object(item));
        }
        for field in ["data", "stringData"] {
            let Some(entries) = root.get(field).and_then(Node::as_mapping) else { continue };
            let is_secret = text_at(root, "kind") == Some("Secret");
            for (key, value) in entries {
                let name = key.as_scalar().map(|scalar| &*scalar.text).unwrap_or_default();
                let before = self.hidden.len();
                if is_secret {
                    self.hide(value.span);
                } else {
                    self.hide_entry(name, value);
                }
                let is_all = self
                    .hidden
                    .get(before..)
                    .is_some_and(|new| new.iter().any(|range| range.start == value.span.start as usize));
                if is_all {
                    self.hide_before(key.span.end as usize, value.span);
                }
            }
        }
        self.hide_urls_and_schemas("", root);
    }

    /// Hides the sensitive parts of a container's value. Its key in the configuration is the key in `data`, or the last part of that key.
    fn hide_entry(&mut self, key: &str, value: &Node) {
        let last = key.rsplit('.').next().unwrap_or(key);
        for path in self.sensitive {
            match path.steps().split_first() {
                None => self.hide(value.span),
                Some((FieldStep::Key(first), below)) if **first == *key || **first == *last => {
                    self.hide_part(value, below);
                }
                Some(_) => {}
            }
        }
    }

    /// Hides the part of a value at a path.
    fn hide_part(&mut self, value: &Node, below: &[FieldStep]) {
        let structure = value.as_scalar().and_then(|scalar| yaml::structure(&scalar.text));
        let Some(structure) = structure.filter(|_| !below.is_empty()) else {
            self.hide(value.span);
            return;
        };
        let mut node = &structure;
        for step in below {
            let FieldStep::Key(key) = step else { break };
            match (node.get(key), &node.value) {
                (Some(next), _) => node = next,
                // There is no such value.
                (None, NodeValue::Mapping(_)) => return,
                (None, _) => break,
            }
        }
        self.hide_inside(value, node.span);
    }

    /// Hides a part of the structure in a text.
    fn hide_inside(&mut self, value: &Node, span: Span) {
        let [start, end] = [span.start, span.end].map(|at| yaml::source_offset(self.text, value, at as usize));
        self.hide(Span::new(start, end));
    }

    /// Hides texts that look like credentials, credentials in fields with URLs, and values in schemas that mark properties.
    fn hide_urls_and_schemas(&mut self, key: &str, node: &Node) {
        match &node.value {
            NodeValue::Mapping(entries) => {
                for (key, value) in entries.iter() {
                    self.hide_urls_and_schemas(key.as_scalar().map_or("", |scalar| &scalar.text), value);
                }
            }
            NodeValue::Sequence(items) => items.iter().for_each(|item| self.hide_urls_and_schemas(key, item)),
            NodeValue::Scalar(scalar) => {
                // The others are found in the whole text.
                if !scalar.text.contains("://") && credential::likely(key, &scalar.text).is_some() {
                    self.hide(node.span);
                    return;
                }
                let key = key.to_ascii_lowercase();
                if (key.contains("repo") || key.contains("url")) && !scalar.text.contains('\n') {
                    self.hide_credentials(node, &scalar.text);
                }
                if key.contains("schema") && may_mark(&scalar.text) {
                    self.hide_schema_values(node, &scalar.text);
                }
            }
        }
    }

    fn hide_credentials(&mut self, node: &Node, url: &str) {
        let ranges = credential::ranges_of_url(url);
        let written = self.text.get(node.span.range()).unwrap_or_default();
        if !ranges.is_empty() && !written.contains(url) {
            // The URL is written with escapes or on several lines.
            self.hide(node.span);
            return;
        }
        ranges.into_iter().for_each(|range| self.hide_inside(node, Span::new(range.start, range.end)));
    }

    fn hide_schema_values(&mut self, node: &Node, schema: &str) {
        let Some(root) = yaml::json_structure(schema) else { return };
        let mut open = vec![root];
        while let Some(part) = open.pop() {
            for (key, value) in part.as_mapping().unwrap_or_default() {
                let key = key.as_scalar().map_or("", |scalar| &*scalar.text);
                let allows_one_value = key == "enum" && value.as_sequence().is_some_and(|options| options.len() < 2);
                if SCHEMA_VALUES.contains(&key) || allows_one_value {
                    self.hide_inside(node, value.span);
                } else {
                    open.push(value.clone());
                }
            }
            open.extend(part.as_sequence().unwrap_or_default().iter().cloned());
        }
    }

    /// Hides the text after the keys at the beginning of lines, and lines without a key.
    fn hide_line_values(&mut self) {
        let mut start = 0;
        for line in self.text.split_inclusive('\n') {
            let content = line.trim_end();
            let value = start_of_value(content);
            if value < content.len() {
                self.hidden.push(start + value..start + content.len());
            }
            start += line.len();
        }
    }

    /// Hides the text between the end of a key and its value: a tag or an anchor, which may be the beginning of a secret.
    fn hide_before(&mut self, key_end: usize, value: Span) {
        let rest = self.text.get(key_end..).unwrap_or_default();
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        let value = value.range();
        let end = if value.is_empty() { key_end + line.len() } else { value.start };
        let Some(colon) = line.find(':').map(|at| key_end + at + 1).filter(|colon| *colon < end) else { return };
        let between = self.text.get(colon..end).unwrap_or_default();
        let blanks = between.len() - between.trim_start().len();
        let trimmed = between.trim();
        if !trimmed.is_empty() {
            self.hidden.push(colon + blanks..colon + blanks + trimmed.len());
        }
    }

    /// Hides a value and the comment after it.
    fn hide(&mut self, span: Span) {
        let mut range = span.range();
        // The line break at the end of a block stays, so that the next line stays a line of its own.
        range.end = range.start + self.text.get(range.clone()).unwrap_or_default().trim_end_matches(['\n', '\r']).len();
        let rest = self.text.get(range.end..).unwrap_or_default();
        let line = rest.split(['\n', '\r']).next().unwrap_or_default();
        let is_comment = line.trim_start().starts_with('#');
        let end = range.end + if is_comment { line.len() } else { 0 };
        self.hidden.push(range.start..end);
    }
}

/// The byte offset of the value in a line: after the key, or after the indentation if there is no key.
fn start_of_value(line: &str) -> usize {
    let indentation = line.len() - line.trim_start_matches([' ', '\t', '-']).len();
    if line.starts_with("---") {
        return line.len();
    }
    let rest = line.get(indentation..).unwrap_or_default();
    let is_key = |c: char| c.is_alphanumeric() || "._-/'\"".contains(c);
    let key = rest.find(|c| !is_key(c)).unwrap_or(rest.len());
    let behind = rest.get(key..).unwrap_or_default();
    let Some(value) = behind.strip_prefix(':').filter(|_| key > 0) else { return indentation };
    if value.is_empty() || value.starts_with([' ', '\t']) {
        return line.len() - value.trim_start().len();
    }
    indentation
}

fn text_at<'n>(root: &'n Node, key: &str) -> Option<&'n str> {
    Some(&root.get(key)?.as_scalar()?.text)
}

/// Sorts ranges, and merges those that overlap or touch.
fn merged(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.retain(|range| !range.is_empty());
    ranges.sort_by_key(|range| range.start);
    let mut merged: Vec<Range<usize>> = Vec::new();
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Compares the file with all hidden ranges replaced by `~`.
    fn check(sensitive: &[&[&str]], file: &str, expected: &str) {
        let sensitive =
            sensitive.iter().map(|keys| keys.iter().map(|key| FieldStep::Key((*key).into())).collect()).collect();
        let (mut shown, mut from) = (String::new(), 0);
        for range in hidden_in(file.as_bytes(), &sensitive) {
            shown += &file[from..range.start];
            shown += "~";
            from = range.end;
        }
        assert_eq!(shown + &file[from..], expected);
    }

    #[test]
    fn a_sensitive_value_is_not_shown_however_it_is_written() {
        let secret: &[&[&str]] = &[&["A"]];
        check(secret, "kind: ConfigMap\ndata:\n  A: x # y\n  B: x\n", "kind: ConfigMap\ndata:\n  A: ~\n  B: x\n");
        check(secret, "data: {\"\\x41\": \"a\\x41\", B: c}\n", "data: {\"\\x41\": ~, B: c}\n");
        check(secret, "data:\n  B: c\n  A: |\n    x\n    y\n", "data:\n  B: c\n  A: ~\n");
        check(secret, "data:\n  B: &b c\n  A: *b\n", "data:\n  B: &b ~\n  A: *b\n");
        check(secret, "kind: List\nitems:\n  - data: {A: x}\n", "kind: List\nitems:\n  - data: {A: ~}\n");
        check(secret, "data: {region.west.A: x}\n", "data: {region.west.A: ~}\n");
        check(&[&[]], "data: {A: x, B: y}\n", "data: {A: ~, B: ~}\n");
        check(&[], "kind: Secret\ndata: {A: x}\n", "kind: Secret\ndata: {A: ~}\n");
        check(secret, "data:\n  A: &x y\n  B: !!str z\n", "data:\n  A: ~ ~\n  B: !!str z\n");
    }

    #[test]
    fn in_a_nested_value_only_the_sensitive_part_is_not_shown() {
        let secret: &[&[&str]] = &[&["db", "password"]];
        let file = |password| format!("data:\n  db: |\n    host: west\n    password: {password}\n    port: 1\n");
        check(secret, &file("hunter22"), &file("~"));
        check(secret, &file("{a: b}"), &file("~"));
        check(secret, "data: {db: hunter22}\n", "data: {db: ~}\n");
        check(secret, "data: {db: '[hunter22]'}\n", "data: {db: '~'}\n");
        check(secret, "data: {db: 'host: west'}\n", "data: {db: 'host: west'}\n");
    }

    #[test]
    fn of_a_broken_file_only_keys_are_shown() {
        let file = "kind: ConfigMap\ndata:\n  A: \"x\n  - B: y\n  zzz\n---\na: 1\n";
        check(&[&["A"]], file, "kind: ~\ndata:\n  A: ~\n  - B: ~\n  ~\n---\na: ~\n");
        check(&[], file, file);
        let template = "kind: Template\nspec: \"x\n";
        check(&[&["A"]], template, template);
    }

    #[test]
    fn a_secret_that_yaml_takes_for_a_tag_or_an_anchor_is_not_shown() {
        check(&[&["A"]], "kind: ConfigMap\ndata:\n  A: !x\n", "kind: ~\ndata:\n  A: ~\n");
        check(&[&["A"]], "kind: ConfigMap\ndata:\n  A: &x\n  B: y\n", "kind: ConfigMap\ndata:\n  A: ~\n  B: y\n");
        check(&[&["A"]], "kind: ConfigMap\ndata:\n  A: *x\n", "kind: ~\ndata:\n  A: ~\n");
    }

    #[test]
    fn a_key_that_is_twice_hides_both_values() {
        let file = "kind: ConfigMap\ndata:\n  A: x\n  A: y\n";
        check(&[&["A"]], file, "kind: ~\ndata:\n  A: ~\n  A: ~\n");
    }

    #[test]
    fn credentials_are_not_shown() {
        check(&[], "spec:\n  repo: https://user:x@h/a\n", "spec:\n  repo: https://~@h/a\n");
        check(&[], "spec: {repo: \"https:\\/\\/user:x@h/a\"}\n", "spec: {repo: ~}\n");
        check(&[], "spec: {repo: 'user:x@h:a'}\n", "spec: {repo: '~@h:a'}\n");
        check(&[], "spec: {repo: 'https://u:x y@h/a'}\n", "spec: {repo: 'https://~@h/a'}\n");
        check(&[], "broken: [https://u:x@h/a\n", "broken: [https://~@h/a\n");
    }

    #[test]
    fn values_in_schemas_with_marks_are_not_shown() {
        let schema =
            r#"{"properties": {"A": {"x-sensitive": true, "const": "x", "enum": ["x"]}, "B": {"enum": ["x", "y"]}}}"#;
        let expected =
            r#"{"properties": {"A": {"x-sensitive": true, "const": ~, "enum": ~}, "B": {"enum": ["x", "y"]}}}"#;
        check(&[], &format!("spec: {{schema: '{schema}'}}\n"), &format!("spec: {{schema: '{expected}'}}\n"));
    }
}
