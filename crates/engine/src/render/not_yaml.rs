//! Reports rendered files that are not valid YAML, with the line of the template that renders the error.

use gotemplate::template::Rendered;
use gotemplate::{RenderLimits, Value};
use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::field_path::FieldPath;
use model::object::template::MANIFESTS;
use model::yaml::{YamlProblem, first_error};

use super::OutputFile;
use super::template::{ParsedTemplate, SEPARATOR, extension, with_canaries};
use crate::sensitive::canary::Canary;

/// The maximum number of characters of a line in a message.
pub(super) const EXCERPT_CHARS_MAX: usize = 200;

/// The first YAML error in a file. Valid JSON has no error: JSON is YAML, except for a few escapes.
fn error_in(file: &str, text: &str) -> Option<YamlProblem> {
    let is_json = || serde_json::from_str::<serde_json::Value>(text).is_ok();
    if extension(file) == Some("json") && is_json() {
        return None;
    }
    first_error(text)
}

/// An error in a file.
#[derive(PartialEq, Eq)]
struct YamlError<'t> {
    message: String,
    /// The line number, from 1, and the line's text.
    line: (usize, &'t str),
}

impl<'t> YamlError<'t> {
    fn new(problem: &YamlProblem, text: &'t str) -> Self {
        let (before, behind) = text.split_at_checked(problem.span.start as usize).unwrap_or((text, ""));
        let begin = before.rfind('\n').map_or(0, |newline| newline + 1);
        let end = behind.find('\n').map_or(text.len(), |newline| before.len() + newline);
        let line = (before.split('\n').count(), text.get(begin..end).unwrap_or_default());
        Self { message: problem.message.to_string(), line }
    }
}

/// Reports a rendered file that is not valid YAML. None if it is valid.
pub(super) fn check(file: &OutputFile<'_>) -> Option<Diagnostic> {
    let OutputFile { template, name, dot, context, made } = *file;
    let problem = error_in(name, &made.text)?;
    let outputs = outputs(template, dot).unwrap_or_default();
    let place = |at: u32| place(template, &outputs, (at as usize).min(made.text.len().saturating_sub(1)), dot);
    let error = YamlError::new(&problem, &made.text);
    let is_hidden = context.hides_output && reveals(file, &error);
    let YamlError { message, line: (line, text) } = error;
    let reason = if is_hidden { "the reason is not shown, because of sensitive values" } else { &message };
    let diagnostic = Diagnostic::error(
        Code::NotYamlRendered,
        format!("the output of template `{}` is not valid YAML: {reason}", template.key.name),
    );
    let (origin, label) = place(problem.span.start);
    let mut diagnostic = diagnostic.at(origin, label);
    if let Some((span, label)) = problem.related.filter(|_| !is_hidden) {
        diagnostic = diagnostic.at(place(span.start).0, label);
    }
    let excerpt: String = text.trim().chars().take(EXCERPT_CHARS_MAX).collect();
    let excerpt = if is_hidden || excerpt.is_empty() { String::new() } else { format!(" is: {excerpt}") };
    diagnostic = diagnostic.note(format!("line {line} of {name}{excerpt}"));
    if let Some(hint) = problem.hint.filter(|_| !is_hidden) {
        diagnostic = diagnostic.help(hint);
    }
    Some(
        diagnostic
            .help("print values with `toJson`, so that each one stays a single text")
            .help("if the output is not meant to be YAML, set the annotation `template.kalypso.io/unchecked: \"true\"` on the template")
            .about(&template.key),
    )
}

/// Renders the texts of a template again. None if one of them can't be rendered.
pub(super) fn outputs(template: &ParsedTemplate, dot: &Value) -> Option<Vec<Rendered>> {
    let options = template.options(None);
    template.texts.iter().map(|text| text.render_with(dot, &options).ok()).collect()
}

/// The positions of the outputs that are not empty in the file: the index of each output, and its begin and end.
fn parts(outputs: &[Rendered]) -> impl Iterator<Item = (usize, usize, usize)> {
    let numbered = outputs.iter().enumerate().filter(|(_, rendered)| !rendered.bytes.is_empty());
    numbered.scan(0, |end, (index, rendered)| {
        let begin = if *end == 0 { 0 } else { *end + SEPARATOR.len() };
        *end = begin + rendered.bytes.len();
        Some((index, begin, *end))
    })
}

/// The place in a template that writes the byte `at` of a file, with a label for the place.
pub(super) fn place(template: &ParsedTemplate, outputs: &[Rendered], at: usize, dot: &Value) -> Place {
    let found = places(template, outputs, &[at], dot).into_iter().next();
    found.unwrap_or_else(|| (Origin::field(&template.key, FieldPath::from(MANIFESTS)), ""))
}

/// A place in a template, with a label for it.
pub(super) type Place = (Origin, &'static str);

/// The places in a template that write these bytes of a file. Each text of the template is rendered once more.
pub(super) fn places(template: &ParsedTemplate, outputs: &[Rendered], bytes: &[usize], dot: &Value) -> Vec<Place> {
    let mut found = vec![(Origin::field(&template.key, FieldPath::from(MANIFESTS)), ""); bytes.len()];
    let mut last_end = 0;
    for (index, begin, end) in parts(outputs) {
        let inside = bytes.iter().zip(&mut found).filter(|(at, _)| (last_end..end).contains(*at));
        let (offsets, inside): (Vec<usize>, Vec<&mut Place>) =
            inside.map(|(at, place)| (at.saturating_sub(begin), place)).unzip();
        last_end = end;
        if offsets.is_empty() {
            continue;
        }
        let path = FieldPath::from(MANIFESTS).index(index);
        let text = template.texts.get(index).filter(|_| outputs.get(index).is_some_and(|made| made.passes == 1));
        let positions = text.map(|text| text.source_positions(&offsets, dot, &RenderLimits::default()));
        for (number, place) in inside.into_iter().enumerate() {
            let position = positions.as_ref().map(|positions| positions.get(number).copied().flatten());
            *place = match position {
                Some(Some((line, column))) => {
                    (Origin::part(&template.key, path.clone(), FieldPart::Text { line, column }), "")
                }
                Some(None) => (Origin::field(&template.key, path.clone()), ""),
                None => {
                    let label = "the output of this text contains `{{`, so it is rendered again";
                    (Origin::field(&template.key, path.clone()), label)
                }
            };
        }
    }
    found
}

/// Whether an error may reveal something about sensitive values. It does if the error differs when the file is rendered with other values.
fn reveals(file: &OutputFile<'_>, error: &YamlError<'_>) -> bool {
    let OutputFile { template, name, dot, context, .. } = *file;
    let is_other = |canary: Canary| {
        let outputs = outputs(template, &with_canaries(dot, canary, context.sensitive)).unwrap_or_default();
        let texts = outputs.iter().map(|rendered| rendered.bytes.as_slice()).filter(|bytes| !bytes.is_empty());
        let Ok(text) = String::from_utf8(texts.collect::<Vec<_>>().join(SEPARATOR.as_bytes())) else { return true };
        error_in(name, &text).is_none_or(|problem| YamlError::new(&problem, &text) != *error)
    };
    Canary::ALL.into_iter().any(is_other)
}
