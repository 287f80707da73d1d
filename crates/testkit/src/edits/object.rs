//! The text of one object. It is read and changed line by line, so comments and order stay.

use std::ops::Range;

use super::draft::Health;

/// The entries of a mapping, as written in the file.
pub(super) type Entries = Vec<(String, String)>;

pub(super) const METADATA: &str = "metadata:";
pub(super) const LABELS: &str = "  labels:";
pub(super) const ANNOTATIONS: &str = "  annotations:";
/// The lines at which the content of an object begins.
pub(super) const DATA_KINDS: [&str; 2] = ["data:", "spec:"];

/// An object in a file.
#[derive(Clone, Debug)]
pub(super) struct FileObject {
    pub(super) path: String,
    /// The index of the YAML document in the file.
    pub(super) index: usize,
    pub(super) text: String,
}

impl FileObject {
    pub(super) fn kind(&self) -> &str {
        self.text.lines().find_map(|line| line.strip_prefix("kind: ")).unwrap_or_default()
    }

    pub(super) fn name(&self) -> &str {
        let lines: Vec<&str> = self.text.lines().collect();
        let metadata = section(&lines, METADATA).unwrap_or_default();
        lines[metadata].iter().find_map(|line| line.strip_prefix("  name: ")).unwrap_or_default()
    }

    /// The effect on the fleet if the content or the audience of the object shrinks. The first map has the keys that the schemas require.
    pub(super) fn health_if_changed(&self) -> Health {
        if self.name() == "config-00000" { Health::Breaks } else { Health::Same }
    }

    /// The text of the object with another name.
    pub(super) fn renamed(&self, name: &str) -> String {
        replaced_line(&self.text, &format!("  name: {}", self.name()), &format!("  name: {name}"))
    }
}

impl std::fmt::Display for FileObject {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.kind(), self.name())
    }
}

/// The entries below the line `header`, in the part of the text that begins with the line `begins`.
pub(super) fn mapping(text: &str, begins: &str, header: &str) -> Entries {
    let lines: Vec<&str> = text.lines().collect();
    let range = section(&lines, begins).and_then(|outer| {
        let inner = section(&lines[outer.clone()], header)?;
        Some(outer.start + inner.start + 1..outer.start + inner.end)
    });
    let entry = |line: &&str| line.trim().split_once(": ").map(|(key, value)| (key.to_owned(), value.to_owned()));
    lines[range.unwrap_or_default()].iter().filter_map(entry).collect()
}

/// The text with other entries below that header. Without entries, the header is removed.
pub(super) fn with_mapping(text: &str, (begins, header): (&str, &str), entries: &Entries) -> String {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let old: Vec<&str> = text.lines().collect();
    let Some(outer) = section(&old, begins) else { return text.to_owned() };
    let inner = section(&old[outer.clone()], header);
    let range =
        inner.map_or(outer.start + 1..outer.start + 1, |inner| outer.start + inner.start..outer.start + inner.end);
    let indent = " ".repeat(indentation(header) + 2);
    let header = (!entries.is_empty()).then(|| header.to_owned());
    let entries = entries.iter().map(|(key, value)| format!("{indent}{key}: {value}"));
    lines.splice(range, header.into_iter().chain(entries).collect::<Vec<_>>());
    joined(lines)
}

/// The text in which the first line equal to `line` is replaced.
pub(super) fn replaced_line(text: &str, line: &str, by: &str) -> String {
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(found) = lines.iter_mut().find(|other| **other == line) {
        *found = by;
    }
    joined(lines)
}

/// The parts of a text that begin with a line of this indentation, in order. The text before the first such line belongs to the first part.
pub(super) fn parts(text: &str, indent: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let mut has_begun = false;
    for line in text.lines() {
        let begins = indentation(line) == indent && !line.trim_start().starts_with('#');
        if parts.is_empty() || begins && has_begun {
            parts.push(String::new());
        }
        has_begun |= begins;
        if let Some(part) = parts.last_mut() {
            part.push_str(line);
            part.push('\n');
        }
    }
    parts
}

/// The part of an object below a line without indentation, with the text before and after it.
pub(super) fn body<'a>(text: &'a str, begins: &str) -> Option<(&'a str, &'a str, &'a str)> {
    let is_first = text.starts_with(&format!("{begins}\n"));
    let line = if is_first { 0 } else { text.find(&format!("\n{begins}\n"))? + 1 };
    let start = line + begins.len() + 1;
    let is_inside = |line: &&str| line.starts_with(' ');
    let length: usize = text[start..].split_inclusive('\n').take_while(is_inside).map(str::len).sum();
    Some((&text[..start], &text[start..start + length], &text[start + length..]))
}

/// The range of lines from the line `begins` to the last line with a deeper indentation.
fn section(lines: &[&str], begins: &str) -> Option<Range<usize>> {
    let start = lines.iter().position(|line| *line == begins)?;
    let is_below = |line: &&&str| indentation(line) > indentation(begins);
    let below = lines[start + 1..].iter().take_while(is_below).count();
    Some(start..start + 1 + below)
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn joined(lines: Vec<impl AsRef<str>>) -> String {
    lines.iter().map(|line| format!("{}\n", line.as_ref())).collect()
}
