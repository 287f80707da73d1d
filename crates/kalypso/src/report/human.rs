//! The report as text for people.

use std::ops::Range;

use annotate_snippets::{AnnotationKind, Element, Group, Level, Origin, Renderer, Snippet};
use model::diagnostic::Severity;
use model::source::{File, Position};

use super::excerpt::Excerpt;
use super::finding::{Finding, Mark, Reach};
use super::text::visible;
use super::{Fallback, Report, counted};

/// How many places of one message are shown.
const PLACES_SHOWN_MAX: usize = 8;
/// How many assignments are named where there are more.
const ASSIGNMENTS_SHOWN: usize = 2;

/// The report, with colours.
pub(super) fn render(report: &Report<'_>) -> String {
    let renderer = Renderer::styled();
    let mut text = String::new();
    for (finding, reaches) in &report.findings {
        text.push_str(&renderer.render(&[group(finding, reaches, report.environments.len() > 1)]));
        text.push_str("\n\n");
    }
    text.push_str(&format!("{}\n", report.summary()));
    text
}

fn group(finding: &Finding<'_>, reaches: &[Reach], names_environments: bool) -> Group<'static> {
    let level = match finding.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };
    let title = level.primary_title(visible(&finding.message)).id(finding.code.id());
    let is_error = finding.severity == Severity::Error;
    let reached = reaches.iter().filter(|reach| !reach.assignments.is_empty());
    Group::with_title(title)
        .elements(places(&finding.marks))
        .elements(finding.notes.iter().map(|note| fact(note)))
        .elements(reached.flat_map(|reach| consequences(reach, is_error, names_environments)).map(|text| fact(&text)))
        .elements(finding.help.iter().map(|help| Level::HELP.message(visible(help))))
}

fn fact(text: &str) -> annotate_snippets::Message<'static> {
    Level::NOTE.no_name().message(visible(text))
}

/// A file with what is shown of it in one excerpt.
struct Shown<'f> {
    file: &'f File,
    /// Places with what is there; none for the file as a whole.
    marks: Vec<(Range<usize>, &'f str)>,
}

fn places(marks: &[Mark<'_>]) -> Vec<Element<'static>> {
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
        facts.push(format!("and {}", counted(marks.len() - PLACES_SHOWN_MAX, "more place")));
    }
    let mut elements = Vec::new();
    for (index, shown) in shown.iter().enumerate() {
        match shown.excerpt(index == 0) {
            Some(excerpt) => elements.push(excerpt),
            None => {
                elements.extend(shown.origins());
                facts.extend(shown.marks.iter().map(|(_, text)| (*text).to_owned()));
            }
        }
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
    fn excerpt(&self, is_first: bool) -> Option<Element<'static>> {
        let ranges: Vec<_> = self.marks.iter().map(|(range, _)| range.clone()).collect();
        let excerpt = Excerpt::new(&self.file.content, &ranges)?;
        let annotations = excerpt.marks.iter().zip(&self.marks).enumerate().map(|(index, (mark, (_, text)))| {
            let kind = if is_first && index == 0 { AnnotationKind::Primary } else { AnnotationKind::Context };
            kind.span(mark.clone()).label((!text.is_empty()).then(|| visible(text)))
        });
        let annotations: Vec<_> = annotations.collect();
        let snippet = Snippet::source(excerpt.text).line_start(excerpt.first_line).path(path(self.file));
        Some(snippet.annotations(annotations).into())
    }

    /// The places without the lines.
    fn origins(&self) -> Vec<Element<'static>> {
        let file = || Origin::path(path(self.file));
        let origins = self.marks.iter().map(|(range, _)| {
            let position = Position::of(&self.file.content, range.start);
            file().line(position.line).char_column(position.column).into()
        });
        if self.marks.is_empty() { vec![file().into()] } else { origins.collect() }
    }
}

fn path(file: &File) -> String {
    visible(&file.to_string())
}

/// Whom it reaches, and what becomes of them.
fn consequences(reach: &Reach, is_error: bool, names_environments: bool) -> Vec<String> {
    let count = reach.assignments.len();
    let named = if count <= ASSIGNMENTS_SHOWN + 1 { count } else { ASSIGNMENTS_SHOWN };
    let mut names: Vec<_> = reach.assignments.iter().take(named).map(ToString::to_string).collect();
    if named < count {
        names.push(format!("{} more", count - named));
    }
    let environment = reach.environment.as_ref().filter(|_| names_environments);
    let environment = environment.map_or_else(String::new, |environment| format!(" of {environment}"));
    let reached = format!("reaches {}{environment}: {}", counted(count, "assignment"), listed(&names));
    if is_error { vec![reached, kept(reach)] } else { vec![reached] }
}

fn kept(reach: &Reach) -> String {
    let is_one = reach.assignments.len() == 1;
    let mut text = match (reach.fallback, is_one) {
        (Fallback::Nothing, true) => "it is left out".to_owned(),
        (Fallback::Nothing, false) => "these are left out".to_owned(),
        (Fallback::LastGood(_), true) => "it keeps its last good output".to_owned(),
        (Fallback::LastGood(_), false) => "these keep their last good output".to_owned(),
    };
    if let Fallback::LastGood(Some(commit)) = reach.fallback {
        text.push_str(&format!(" (commit {})", commit.short()));
    }
    match reach.others {
        None | Some(0) => {}
        Some(1) => text.push_str("; 1 other is not affected"),
        Some(others) => text.push_str(&format!("; {others} others are not affected")),
    }
    text
}

/// `a`, `a and b`, `a, b and c`
fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}
