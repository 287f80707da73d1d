//! The report as text for people.

use std::fmt::Write as _;
use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use model::count::{count, thousands};
use model::diagnostic::Severity;
use model::source::{File, Positions};
use workbench::diagnostics::{AffectedAssignments, DiagnosticReport, HiddenBytes, LocatedDiagnostic, Mark};

use super::affected_text;
use workbench::diagnostics::Excerpt;
use workbench::visible::visible;

/// The maximum number of positions that are shown for a diagnostic.
const PLACES_SHOWN_MAX: usize = 8;
/// The maximum number of findings that are shown. Errors come first.
const FINDINGS_SHOWN_MAX: usize = 50;

/// The report with colours.
pub(super) fn render(report: &DiagnosticReport<'_>) -> String {
    let renderer = Renderer::styled();
    let (mut text, hidden) = (String::new(), HiddenBytes::new(&report.sensitive));
    for (finding, reaches) in report.findings.iter().take(FINDINGS_SHOWN_MAX) {
        text.push_str(&renderer.render(&[group(report, (finding, reaches), &hidden)]));
        text.push_str("\n\n");
    }
    if let Some(more) = report.findings.len().checked_sub(FINDINGS_SHOWN_MAX).filter(|more| *more > 0) {
        let _ = writeln!(text, "and {} more: `kalypso check -o json` lists all of them\n", thousands(more));
    }
    let reuse = report.reuse.filter(|reuse| reuse.assignments > 0);
    text + &format!("{}\n", report.summary())
        + &reuse.map_or_else(String::new, |reuse| format!("{}\n", super::reuse_text(reuse)))
}

fn group(
    report: &DiagnosticReport<'_>,
    (finding, reaches): (&LocatedDiagnostic<'_>, &[AffectedAssignments]),
    hidden: &HiddenBytes<'_>,
) -> Group<'static> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
        Severity::Note => Level::NOTE,
    };
    let title = level.primary_title(visible(&finding.message).into_owned()).id(finding.code.id());
    let consequences = affected_text::all_consequences(finding, reaches, report.environments.len() > 1);
    Group::with_title(title)
        .elements(places(report, &finding.marks, hidden))
        .elements(finding.notes.iter().map(|note| fact(note)))
        .elements(consequences.iter().map(|text| fact(text)))
        .elements(finding.help.iter().map(|help| Level::HELP.message(visible(help).into_owned())))
}

fn fact(text: &str) -> annotate_snippets::Message<'static> {
    Level::NOTE.no_name().message(visible(text).into_owned())
}

/// A file, and the marks of one excerpt.
struct Shown<'f> {
    file: &'f File,
    /// The positions with their labels. None for the whole file.
    marks: Vec<(Range<usize>, &'f str)>,
}

fn places(report: &DiagnosticReport<'_>, marks: &[Mark<'_>], hidden: &HiddenBytes<'_>) -> Vec<Element<'static>> {
    let mut shown: Vec<Shown<'_>> = Vec::new();
    let mut facts = Vec::new();
    for mark in marks.iter().take(PLACES_SHOWN_MAX) {
        match mark.spot.as_ref().map(|spot| (spot.file, spot.bytes.clone())) {
            Some((file, Some(bytes))) => add(&mut shown, file, (bytes, &mark.text)),
            Some((file, None)) => {
                shown.push(Shown { file, marks: Vec::new() });
                facts.push(mark.text.clone());
            }
            None => facts.push(mark.text.clone()),
        }
    }
    if marks.len() > PLACES_SHOWN_MAX {
        facts.push(format!("and {}", count(marks.len() - PLACES_SHOWN_MAX, "more place")));
    }
    let mut elements = Vec::new();
    for (index, shown) in shown.iter().enumerate() {
        let path = visible(&report.place_name(shown.file)).into_owned();
        let excerpt = shown.excerpt((&path, index == 0), hidden);
        if excerpt.is_none() {
            elements.extend(shown.origins(&path));
            facts.extend(shown.marks.iter().map(|(_, text)| (*text).to_owned()));
        }
        elements.extend(excerpt);
    }
    elements.extend(facts.iter().filter(|text| !text.is_empty()).map(|text| fact(text).into()));
    elements
}

fn add<'f>(shown: &mut Vec<Shown<'f>>, file: &'f File, mark: (Range<usize>, &'f str)) {
    let fits = |shown: &&mut Shown<'_>| {
        let is_near = shown.marks.iter().all(|(bytes, _)| Excerpt::holds_both(bytes, &mark.0));
        std::ptr::eq(shown.file, file) && !shown.marks.is_empty() && is_near
    };
    match shown.iter_mut().find(fits) {
        Some(shown) => shown.marks.push(mark),
        None => shown.push(Shown { file, marks: vec![mark] }),
    }
}

impl Shown<'_> {
    fn excerpt(&self, (path, is_first): (&str, bool), hidden: &HiddenBytes<'_>) -> Option<Element<'static>> {
        let ranges: Vec<_> = self.marks.iter().map(|(range, _)| range.clone()).collect();
        let excerpt = Excerpt::new(&self.file.content, &ranges, &hidden.ranges(self.file))?;
        let annotations = excerpt.marks.iter().zip(&self.marks).enumerate().map(|(index, (mark, (_, text)))| {
            let kind = if is_first && index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(mark.clone()).label((!text.is_empty()).then(|| visible(text).into_owned()))
        });
        let annotations: Vec<_> = annotations.collect();
        let snippet = Snippet::source(excerpt.text).line_start(excerpt.first_line).path(path.to_owned());
        Some(snippet.annotations(annotations).into())
    }

    /// The positions without the lines.
    fn origins(&self, path: &str) -> Vec<Element<'static>> {
        let positions = Positions::new(&self.file.content);
        let file = || Origin::path(path.to_owned());
        let origins = self.marks.iter().map(|(range, _)| {
            let position = positions.position(range.start);
            file().line(position.line).char_column(position.column).into()
        });
        if self.marks.is_empty() { vec![file().into()] } else { origins.collect() }
    }
}
