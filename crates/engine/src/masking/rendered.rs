//! Rendered files for display. To find text that depends on sensitive values, files are rendered again with other values.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use gotemplate::value::Value;
use model::credential;
use model::diagnostic::AssignmentId;
use model::field_path::FieldPath;
use model::yaml;

use crate::compose::{Composition, compose};
use crate::masking::variant::Variant;
use crate::prepare::Prepared;
use crate::render::RenderedFiles;
use crate::schedule::pin::Manifests;
use crate::sensitive::canary::Canary;
use crate::sensitive::redaction::{covers, digest};

/// The text that is shown in place of a text that depends on sensitive values.
pub const HIDDEN: &str = "(sensitive)";

/// The files of an assignment for display.
#[derive(Debug)]
pub struct ShownFiles {
    /// Whether some values of the assignment are sensitive.
    pub has_sensitive: bool,
    files: RenderedFiles,
    /// The files, rendered twice with other values in place of the sensitive ones. None if one of the two can't be rendered.
    others: Option<[RenderedFiles; 2]>,
    /// The digests of sensitive values by their texts.
    digests: BTreeMap<String, String>,
}

/// Lines of a text: one line, or several that are hidden together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lines<'t> {
    /// The original text. For comparison only: it must not be displayed.
    pub text: Cow<'t, str>,
    /// The text for display.
    pub shown: Cow<'t, str>,
}

impl Prepared {
    /// The files of an assignment for display. Its own sensitive values and the values at the paths `hidden` are not shown.
    /// None if there is no such assignment, or it can't be rendered.
    pub fn shown_files(&self, id: &AssignmentId, hidden: &BTreeSet<FieldPath>) -> Option<ShownFiles> {
        self.shown_files_with(id, hidden, None)
    }

    /// Like [`Self::shown_files`], with these manifests instead of those of the fleet's own release pins.
    pub(crate) fn shown_files_with(
        &self,
        id: &AssignmentId,
        hidden: &BTreeSet<FieldPath>,
        manifests: Option<&Manifests>,
    ) -> Option<ShownFiles> {
        let assigned = (self.place_id(id.place.as_str())?, self.target_id(id.target.as_str())?);
        if !self.schedule.targets_on(assigned.0).contains(&assigned.1) {
            return None;
        }
        let (containers, schemas) = self.inputs_of(assigned.0, assigned.1);
        let mut sensitive = self.sensitive_of(schemas, &containers);
        sensitive.extend(hidden.iter().cloned());
        let composition = compose(&containers);
        let has_nested = containers.iter().any(|container| container.has_nested);
        let render = |composition: &Composition| Variant { assigned, composition, has_nested, manifests }.files(self);
        let files = render(&composition)?;
        let mut leaves = crate::compose::trace::leaves_of_all(&composition.data);
        leaves.retain(|(path, _)| covers(&sensitive, path));
        if leaves.is_empty() {
            return Some(ShownFiles { has_sensitive: false, files, others: None, digests: BTreeMap::new() });
        }
        // The version of the configuration is a public digest.
        let other = |canary: Canary| {
            let data = canary.replaced(&composition.data, &sensitive);
            render(&Composition::new(data, composition.quoted.clone()).with_version(composition.version()))
        };
        let [alike, unlike] = Canary::ALL.map(other);
        let by_text = |(_, leaf): (FieldPath, Value)| (gotemplate::format::display(&leaf).to_string(), digest(&leaf));
        let digests = leaves.into_iter().map(by_text).collect();
        Some(ShownFiles {
            has_sensitive: true,
            files,
            others: alike.zip(unlike).map(<[RenderedFiles; 2]>::from),
            digests,
        })
    }

    /// The paths that any schema of the fleet marks as sensitive, for some or all assignments, and those of credentials in clear.
    pub fn sensitive(&self) -> &BTreeSet<FieldPath> {
        &self.sensitive_anywhere
    }
}

impl ShownFiles {
    /// The lines of a file for display. None if nothing of the file may be shown: `content` is not the rendered content, so that its origin is
    /// unknown, or the other values can't be rendered.
    pub fn lines<'t>(&self, name: &str, content: &'t [u8]) -> Option<Vec<Lines<'t>>> {
        if self.files.get(name).is_none_or(|known| **known != *content) {
            return None;
        }
        if !self.has_sensitive {
            return Some(plain(content));
        }
        let [alike, unlike] = self.others.as_ref()?;
        let others = [alike.get(name)?, unlike.get(name)?].map(|bytes| String::from_utf8_lossy(bytes));
        let text = String::from_utf8_lossy(content);
        let hidden = Masking { digests: &self.digests }.lines(&text, [&others[0], &others[1]]);
        Some(hidden.into_iter().map(Lines::into_owned).collect())
    }
}

impl Lines<'_> {
    /// Copies the texts.
    pub fn into_owned(self) -> Lines<'static> {
        Lines { text: Cow::Owned(self.text.into_owned()), shown: Cow::Owned(self.shown.into_owned()) }
    }
}

/// The lines of a text without sensitive values. Tokens that are known by their form are hidden all the same: they can come from texts of applications.
pub fn plain(content: &[u8]) -> Vec<Lines<'_>> {
    let line = |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let shown = match &text {
            Cow::Borrowed(text) => credential::without_tokens(text),
            Cow::Owned(text) => Cow::Owned(credential::without_tokens(text).into_owned()),
        };
        Lines { text, shown }
    };
    content.split_inclusive(|byte| *byte == b'\n').map(line).collect()
}

struct Masking<'d> {
    digests: &'d BTreeMap<String, String>,
}

impl Masking<'_> {
    /// The lines of a text. Lines that differ in `others` are hidden.
    fn lines<'t>(&self, text: &'t str, others: [&str; 2]) -> Vec<Lines<'t>> {
        let split = |text: &'t str| text.split_inclusive('\n').collect::<Vec<_>>();
        let lines = split(text);
        let others = others.map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
        if others.iter().all(|other| other.len() == lines.len()) {
            return self.line_by_line(&lines, [&others[0], &others[1]]);
        }
        let Range { start, end } = differing_range(&lines, [&others[0], &others[1]]);
        let visible_lines = |lines: &[&'t str]| lines.iter().map(|line| visible_line(line)).collect::<Vec<_>>();
        let mut found = visible_lines(&lines[..start]);
        found.extend(hidden_lines(&lines[start..end]));
        found.extend(visible_lines(&lines[end..]));
        found
    }

    fn line_by_line<'t>(&self, lines: &[&'t str], others: [&[&str]; 2]) -> Vec<Lines<'t>> {
        let mut found = Vec::new();
        let mut hidden: Vec<&'t str> = Vec::new();
        for (line, (one, other)) in lines.iter().zip(others[0].iter().zip(others[1])) {
            let others = [*one, *other];
            let shown = if others == [*line; 2] { Some(visible_line(line)) } else { self.key_only(line, others) };
            match shown {
                Some(shown) => {
                    found.extend(hidden_lines(&std::mem::take(&mut hidden)));
                    found.push(shown);
                }
                // Hide the number of lines of a secret.
                None => hidden.push(line),
            }
        }
        found.extend(hidden_lines(&hidden));
        found
    }

    /// A line with its key and without its value. None if the line has no key, or if the other lines have another key.
    fn key_only<'t>(&self, line: &'t str, others: [&str; 2]) -> Option<Lines<'t>> {
        let text = line.trim_end_matches(['\n', '\r']);
        let ends = [text.find(": ").map(|at| at + 2), text.find('=').map(|at| at + 1)];
        let (key, value) = text.split_at(ends.into_iter().flatten().min()?);
        if others.iter().any(|other| !other.starts_with(key)) {
            return None;
        }
        let digest = self.digests.get(&*scalar(value)).map_or(HIDDEN, String::as_str);
        let end = line.get(text.len()..).unwrap_or_default();
        Some(Lines { text: Cow::Borrowed(line), shown: format!("{key}{digest}{end}").into() })
    }
}

fn visible_line(line: &str) -> Lines<'_> {
    Lines { text: Cow::Borrowed(line), shown: credential::without_tokens(line) }
}

/// Replaces several lines by one hidden text. None if there are no lines.
fn hidden_lines<'t>(lines: &[&'t str]) -> Option<Lines<'t>> {
    let last = lines.last()?;
    let end = if last.ends_with('\n') { "\n" } else { "" };
    Some(Lines { text: lines.concat().into(), shown: format!("{HIDDEN}{end}").into() })
}

/// The range of lines between the common first lines and the common last lines of all texts.
fn differing_range(lines: &[&str], others: [&[&str]; 2]) -> Range<usize> {
    let shortest = others.iter().map(|other| other.len()).chain([lines.len()]).min().unwrap_or_default();
    let is_same = |at: usize| others.iter().all(|other| other.get(at) == lines.get(at));
    let start = (0..shortest).take_while(|at| is_same(*at)).count();
    let from_end = |lines: &[&str], back: usize| lines.len().checked_sub(back + 1);
    let is_same_back = |back: &usize| {
        let line = from_end(lines, *back).and_then(|at| lines.get(at));
        others.iter().all(|other| from_end(other, *back).and_then(|at| other.get(at)) == line)
    };
    let back = (0..shortest - start).take_while(is_same_back).count();
    start..lines.len() - back
}

/// The text of a YAML scalar, without quotes.
fn scalar(value: &str) -> Cow<'_, str> {
    let reading = yaml::read(value, &yaml::YamlOptions::VALUES);
    let root = reading.documents.first().filter(|_| reading.problems.is_empty()).map(|document| &document.root);
    root.and_then(|root| root.as_scalar()).map_or(Cow::Borrowed(value), |scalar| scalar.text.to_string().into())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, others: [&str; 2], expected: &str) {
        let digests = BTreeMap::from([("hunter22".to_owned(), "(digest)".to_owned())]);
        let lines = Masking { digests: &digests }.lines(text, others);
        assert_eq!(lines.iter().map(|lines| &*lines.shown).collect::<String>(), expected);
        assert_eq!(lines.iter().map(|lines| &*lines.text).collect::<String>(), text);
    }

    #[test]
    fn a_line_that_depends_on_a_value_keeps_its_key() {
        check("a: 1\nb: \"hunter22\"\n", ["a: 1\nb: \"x\"\n", "a: 1\nb: \"y\"\n"], "a: 1\nb: (digest)\n");
        check("b: HUNTER22\n", ["b: X\n", "b: Y\n"], "b: (sensitive)\n");
        check("export B=hunter22", ["export B=x", "export B=y"], "export B=(digest)");
    }

    #[test]
    fn lines_equal_to_only_one_other_rendering_are_hidden() {
        check("b: hunter22\n", ["b: hunter33\n", "b: x\n"], "b: (digest)\n");
        check("b: hunter22\n", ["b: hunter22\n", "b: x\n"], "b: (digest)\n");
        check("hun: ter\n", ["hun: abc\n", "x: abc\n"], "(sensitive)\n");
    }

    #[test]
    fn lines_without_a_key_are_hidden_together() {
        check("k: |\n  one\n  two\nz: 1", ["k: |\n  a\n  b\nz: 1", "k: |\n  c\n  d\nz: 1"], "k: |\n(sensitive)\nz: 1");
    }

    #[test]
    fn lines_between_common_lines_are_hidden_if_counts_differ() {
        check("a\nb\nb\nc\n", ["a\nb\nc\n", "a\nb\nb\nb\nc\n"], "a\nb\n(sensitive)\nc\n");
        check("a\n", ["a\nb\n", "a\n"], "a\n");
        check("", ["a\n", ""], "");
        check("a\nb\n", ["", "a\nb\n"], "(sensitive)\n");
    }
}
