//! Finds the places that the messages of programs are about.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::source::{FileId, Files};
use model::yaml::Span;

use super::source::TargetSource;
use crate::programs::ProgramError;
use crate::values::{MergedValue, ValueContent};

/// The diagnostic for a program that failed.
pub(super) fn diagnostic(
    error: &ProgramError,
    (files, source): (&Files, &TargetSource<'_>),
    values: &BTreeMap<Arc<str>, MergedValue>,
) -> Diagnostic {
    // Without a better place, the version of the chart is what people can change.
    let of_service = || source.service.map(|service| (service.origin(&["helm", "version"]), ""));
    let located = |found: Diagnostic, place: Option<(Origin, &str)>| match place {
        Some((origin, text)) => found.at(origin, text),
        None => found,
    };
    let ProgramError::Failed(_, message) = error else {
        let found = located(Diagnostic::error(Code::RenderFailed, error.to_string()), of_service());
        return match error {
            ProgramError::TimedOut(..) => {
                found.help("a chart that needs longer can have it: `timeout-seconds` in `[helm]`")
            }
            ProgramError::TooMuch(..) => found.help("no cluster accepts so much; look for a loop in the templates"),
            _ => found,
        };
    };
    let (first, rest) = message.split_once('\n').unwrap_or((message, ""));
    let mut found = Diagnostic::error(Code::RenderFailed, first.trim_end_matches(':').to_owned());
    found.notes.extend((!rest.is_empty()).then(|| rest.to_owned()));
    let place = template(message, files, &source.ids).map(|origin| (origin, ""));
    let place = place.or_else(|| Some((value(message, values)?, "this value")));
    located(found, place.or_else(of_service))
}

/// The line of a template that a message of Helm names: `shop/templates/service.yaml:12:20`. The first part is the name of the chart.
fn template(message: &str, files: &Files, source_files: &BTreeMap<Arc<str>, FileId>) -> Option<Origin> {
    let words = message.split(|c: char| c.is_whitespace() || "()\"'".contains(c));
    words.filter(|word| word.contains("/templates/")).find_map(|word| {
        let (path, position) = word.split_once(':').unwrap_or((word, ""));
        let (_, path) = path.split_once('/')?;
        let id = *source_files.get(path.trim_end_matches(','))?;
        let line: Option<usize> = position.split(':').next().and_then(|line| line.parse().ok());
        let text = std::str::from_utf8(&files.get(id).content).ok()?;
        Some(line.and_then(|line| line_span(text, line)).map_or(Origin::File(id), |span| Origin::Span(id, span)))
    })
}

/// The range of a line, counted from 1, without its blanks.
fn line_span(text: &str, line: usize) -> Option<Span> {
    let content = text.lines().nth(line.checked_sub(1)?)?;
    let start = content.as_ptr() as usize - text.as_ptr() as usize;
    let indent = content.len() - content.trim_start().len();
    Some(Span::new(start + indent, start + content.trim_end().len()))
}

/// The value that the message of a chart's schema names: `- image.tag: Invalid type`. Other versions write `at '/image/tag': got number`.
fn value(message: &str, values: &BTreeMap<Arc<str>, MergedValue>) -> Option<Origin> {
    message.lines().find_map(|line| {
        let line = line.trim().strip_prefix("- ")?;
        let keys: Vec<_> = match line.strip_prefix("at '") {
            Some(pointer) => pointer.split_once('\'')?.0.trim_start_matches('/').split('/').collect(),
            None => line.split_once(": ")?.0.split('.').collect(),
        };
        let (first, rest) = keys.split_first()?;
        let found = rest.iter().try_fold(values.get(*first)?, |value, key| match &value.content {
            ValueContent::Map(map) => map.get(*key),
            ValueContent::List(items) => items.get(key.parse::<usize>().ok()?),
            ValueContent::Scalar(_) => None,
        });
        found.map(|value| Origin::Span(value.place.file, value.place.span))
    })
}
