//! Facts with their reasons and positions, and excerpts of files: the parts of the pages about compiled environments.

use hub_api::compiled::{CompiledFinding, ExplainedSource, FindingExcerpt, FindingSeverity, SourcePosition};

use crate::source_link::SourceLink;
use crate::text::{count, visible};

/// A fact: what it is, its value, why, and where it is written.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fact {
    pub(crate) text: String,
    pub(crate) value: Option<String>,
    pub(crate) because: Vec<String>,
    pub(crate) place: Option<SourceLink>,
}

impl Fact {
    /// A fact with its position.
    pub(crate) fn new(text: impl AsRef<str>, place: Option<&SourcePosition>) -> Self {
        Self { text: visible(text.as_ref()), place: place.map(SourceLink::new), ..Self::default() }
    }

    /// The same with a value.
    #[must_use]
    pub(crate) fn with_value(self, value: &str) -> Self {
        Self { value: Some(visible(value)), ..self }
    }

    /// The same with reasons.
    #[must_use]
    pub(crate) fn because<S: AsRef<str>>(self, reasons: impl IntoIterator<Item = S>) -> Self {
        Self { because: reasons.into_iter().map(|reason| visible(reason.as_ref())).collect(), ..self }
    }

    /// A `ConfigMap` that sets a value.
    pub(crate) fn of_source(source: &ExplainedSource) -> Self {
        let text = format!("ConfigMap {}", source.config_map);
        Self::new(text, source.place.as_ref()).with_value(&source.value).because(&source.matches)
    }
}

/// A finding, as pages show it.
#[derive(Clone, Debug)]
pub(crate) struct ShownFinding {
    pub(crate) is_error: bool,
    pub(crate) code: String,
    pub(crate) message: String,
    pub(crate) object: Option<String>,
    pub(crate) places: Vec<ShownPlace>,
    pub(crate) notes: Vec<String>,
    pub(crate) help: Vec<String>,
    /// The number of affected assignments.
    pub(crate) reach: String,
    pub(crate) finding: CompiledFinding,
}

/// A position of a finding, with the lines there.
#[derive(Clone, Debug)]
pub(crate) struct ShownPlace {
    pub(crate) text: String,
    pub(crate) link: Option<SourceLink>,
    pub(crate) lines: Vec<ExcerptLine>,
}

/// A line of an excerpt: the marked part, and what is around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ExcerptLine {
    pub(crate) number: usize,
    pub(crate) before: String,
    pub(crate) marked: String,
    pub(crate) after: String,
}

impl ShownFinding {
    /// A finding of the API.
    pub(crate) fn new(finding: &CompiledFinding) -> Self {
        let place = |place: &hub_api::compiled::FindingPlace| ShownPlace {
            text: visible(&place.text),
            link: place.position.as_ref().map(SourceLink::new),
            lines: place.excerpt.as_ref().map(excerpt_lines).unwrap_or_default(),
        };
        let all = |texts: &[String]| texts.iter().map(visible).collect();
        Self {
            is_error: finding.severity == FindingSeverity::Error,
            code: visible(&finding.code),
            message: visible(&finding.message),
            object: finding.object.as_deref().map(visible),
            places: finding.places.iter().map(place).collect(),
            notes: all(&finding.notes),
            help: all(&finding.help),
            reach: count(finding.assignment_count as u64, "assignment"),
            finding: finding.clone(),
        }
    }
}

/// The lines of an excerpt. A mark that is not at characters of the text is left out.
pub(crate) fn excerpt_lines(excerpt: &FindingExcerpt) -> Vec<ExcerptLine> {
    let FindingExcerpt { first_line, text, mark_start, mark_end } = excerpt;
    let mut start = 0;
    let mut lines = Vec::new();
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let content = line.trim_end_matches(['\n', '\r']);
        let within = |at: usize| at.saturating_sub(start).min(content.len());
        let (from, to) = (within(*mark_start), within(*mark_end));
        let parts = content.get(..from).zip(content.get(from..to)).zip(content.get(to..));
        let ((before, marked), after) = parts.unwrap_or(((content, ""), ""));
        lines.push(ExcerptLine {
            number: first_line + index,
            before: visible(before),
            marked: visible(marked),
            after: visible(after),
        });
        start += line.len();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, mark: (usize, usize), expected: &[(usize, &str, &str, &str)]) {
        let (mark_start, mark_end) = mark;
        let lines = excerpt_lines(&FindingExcerpt { first_line: 14, text: text.to_owned(), mark_start, mark_end });
        let found: Vec<_> =
            lines.iter().map(|line| (line.number, &*line.before, &*line.marked, &*line.after)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_marked_part_is_found_in_its_lines() {
        check("a: 1\nb: x\n", (8, 9), &[(14, "a: 1", "", ""), (15, "b: ", "x", "")]);
        check("a: 1\nb: x", (3, 7), &[(14, "a: ", "1", ""), (15, "", "b:", " x")]);
        check("é", (1, 2), &[(14, "é", "", "")]);
        check("a", (7, 3), &[(14, "a", "", "")]);
        check("", (0, 0), &[]);
    }
}
