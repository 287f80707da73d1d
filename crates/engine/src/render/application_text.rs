//! Checks texts of applications in rendered files: they must not contain template text or change the structure. Finds their places.

use std::ops::Range;
use std::sync::Arc;

use gotemplate::{SharedPart, TaintedRange};
use model::diagnostic::{Code, Diagnostic, FieldPart, Origin};
use model::field_path::FieldPath;
use model::yaml::{has_structure_of, is_quoted, is_readable};

use super::fields::REFERENCES;
use crate::schedule::target::Target;

/// How many texts are tried one by one to find the one that changes the structure.
const SUSPECTS_MAX: usize = 16;

/// The output of a template.
#[derive(Debug, Default)]
pub(super) struct RenderedText {
    pub(super) text: String,
    /// The ranges of the output that come from texts of applications, in order.
    pub(super) tainted_ranges: Vec<TaintedRange>,
    /// The parts that other outputs share, in order.
    pub(super) shared_parts: Vec<SharedPart>,
}

impl RenderedText {
    /// Appends a separator and another manifest.
    pub(super) fn append(&mut self, separator: &str, manifest: Self) {
        self.text.push_str(separator);
        let start = self.text.len();
        self.text.push_str(&manifest.text);
        let moved = manifest.tainted_ranges.into_iter().map(|TaintedRange { range, is_raw }| TaintedRange {
            range: range.start + start..range.end + start,
            is_raw,
        });
        self.tainted_ranges.extend(moved);
        self.shared_parts.extend(manifest.shared_parts.into_iter().map(|(begin, bytes)| (begin + start, bytes)));
    }
}

/// Reports texts of a target that contain template text, which is not evaluated. Returns a diagnostic for each field. `refused` contains the template texts.
pub(super) fn template_in_data(target: &Target, refused: &[String]) -> Vec<Diagnostic> {
    let holds = |text: &str| refused.iter().find(|refused| text.contains(refused.as_str()));
    let found: Vec<_> = texts(target).filter_map(|(text, origin)| Some((holds(text)?, origin))).collect();
    if found.is_empty() {
        // Template functions created the template text from the target's texts, and possibly from values. So it is not shown.
        let message = format!("a template creates template text from texts of `{}`, which are data", target.name);
        return vec![with_help(Diagnostic::error(Code::TemplateInData, message).at(place(target), ""), target)];
    }
    let diagnostic = |(refused, origin): (&String, Origin)| {
        let message = format!("`{refused}` is template text, but the texts of `{}` are data", target.name);
        with_help(Diagnostic::error(Code::TemplateInData, message).at(origin, "it is not evaluated"), target)
    };
    found.into_iter().map(diagnostic).collect()
}

fn with_help(diagnostic: Diagnostic, target: &Target) -> Diagnostic {
    let names: Vec<_> = REFERENCES.iter().map(|name| format!("`{{{{ .{name} }}}}`")).collect();
    diagnostic
        .help(format!("only plain references to names are replaced: {}", names.join(", ")))
        .help("if the braces are literal text, set the annotation `template.kalypso.io/literal: \"true\"` on the template that prints them")
        .about(&target.origin.0)
}

/// Reports texts of a target that change the structure of a YAML or JSON file that they are printed into. None if there are none.
pub(super) fn structure_changed(target: &Target, template: &str, made: &RenderedText) -> Option<Diagnostic> {
    let text = &*made.text;
    let is_suspect = |part: &Range<usize>| text.get(part.clone()).is_none_or(is_suspicious);
    let mut suspects: Vec<_> = raw_parts(&made.tainted_ranges).filter(is_suspect).collect();
    suspects.extend(quoted_parts(text, &made.tainted_ranges));
    suspects.sort_unstable_by_key(|part| part.start);
    if suspects.is_empty() || is_harmless(text, &suspects) {
        return None;
    }
    let alone = |suspect: &&Range<usize>| !is_harmless_beside(text, &suspects, suspect);
    let culprits: Vec<_> = suspects.iter().take(SUSPECTS_MAX).filter(alone).collect();
    let culprits = if culprits.is_empty() { suspects.iter().take(SUSPECTS_MAX).collect() } else { culprits };
    let culprits: Vec<&str> = culprits.into_iter().filter_map(|part| text.get(part.clone())).collect();
    let printed = |field: &str| {
        is_suspicious(field) && culprits.iter().any(|text| text.contains(field) || field.contains(text.trim()))
    };
    let places: Vec<_> = texts(target).filter(|(field, _)| printed(field)).map(|(_, origin)| origin).collect();
    let message = format!("a text of `{}` changes the structure of the output of template `{template}`", target.name);
    let mut diagnostic = Diagnostic::error(Code::StructureChanged, message);
    if places.is_empty() {
        diagnostic = diagnostic.at(place(target), "");
    }
    for origin in places {
        diagnostic = diagnostic.at(origin, "this text is not a single value in the output");
    }
    Some(
        diagnostic
            .help("remove YAML syntax from the text, or print the text with `toJson` in the template")
            .help("if the template prints pieces of YAML, set the annotation `template.kalypso.io/unchecked: \"true\"` on it")
            .about(&target.origin.0),
    )
}

/// The raw ranges. Adjacent ranges are merged.
fn raw_parts(tainted_ranges: &[TaintedRange]) -> impl Iterator<Item = Range<usize>> {
    let is_one =
        |left: &TaintedRange, right: &TaintedRange| left.range.end == right.range.start && left.is_raw && right.is_raw;
    tainted_ranges.chunk_by(is_one).filter_map(|group| {
        let (first, last) = (group.first()?, group.last()?);
        first.is_raw.then_some(first.range.start..last.range.end)
    })
}

/// Ranges of lists and maps that contain quotes and are printed between quotes. No function has escaped the quotes there.
fn quoted_parts(text: &str, tainted_ranges: &[TaintedRange]) -> Vec<Range<usize>> {
    let has_quotes = |part: &Range<usize>| {
        let part = text.get(part.clone()).unwrap_or_default();
        part.contains('\'') || part.contains('"') && !part.trim_start().starts_with(['{', '['])
    };
    let structured = tainted_ranges.iter().filter(|tainted| !tainted.is_raw).map(|tainted| tainted.range.clone());
    let mut parts: Vec<_> = structured.filter(has_quotes).collect();
    // If there are too many, all are suspects.
    if !parts.is_empty() && parts.len() <= SUSPECTS_MAX {
        let word = word_not_in(text);
        parts.retain(|part| is_quoted(&with_words(text, std::slice::from_ref(part), (&word, false)), &word));
    }
    parts
}

/// Whether a text may be more than a scalar, or a part of a scalar, somewhere in YAML. Names, paths and URLs are never more.
fn is_suspicious(text: &str) -> bool {
    let begins_well = |text: &str| text.bytes().next().is_some_and(|first| first.is_ascii_alphanumeric());
    let rest = text.strip_prefix("./").or_else(|| text.strip_prefix('/')).unwrap_or(text);
    if !rest.is_empty() && !begins_well(rest) && !rest.starts_with('_') {
        return true;
    }
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.' | b'/' | b'-' | b'+' | b'=');
    let bytes = rest.as_bytes();
    let is_of_url = |at: usize| bytes.get(at..).is_some_and(|rest| rest.starts_with(b"://"));
    bytes.iter().enumerate().any(|(at, byte)| !is_plain(*byte) && !is_of_url(at))
}

/// Whether a character has a meaning for some YAML parsers that the comparison of structures does not find.
fn is_refused(character: char) -> bool {
    matches!(character, '\u{85}' | '\u{2028}' | '\u{2029}' | '\u{feff}')
        || character.is_control() && !matches!(character, '\n' | '\t')
}

/// Whether the text has the same structure if these parts are replaced by words.
fn is_harmless(text: &str, parts: &[Range<usize>]) -> bool {
    let means_more = |part: &Range<usize>| text.get(part.clone()).is_none_or(|part| part.contains(is_refused));
    if parts.iter().any(means_more) {
        return false;
    }
    let word = word_not_in(text);
    let words = with_words(text, parts, (&word, false));
    // If the text is not readable without the blanks around a part, a function has indented the part. Otherwise the blanks may come from the application.
    let indented = (!is_readable(&words)).then(|| with_words(text, parts, (&word, true)));
    let other = indented.filter(|indented| is_readable(indented)).unwrap_or(words);
    has_structure_of(text, &other, &word)
}

/// Whether one part does not change the structure if all other parts are replaced by words.
fn is_harmless_beside(text: &str, parts: &[Range<usize>], suspect: &Range<usize>) -> bool {
    let with_words = |text: &str, parts: &[Range<usize>]| with_words(text, parts, ("word", false));
    let (before, rest): (Vec<_>, Vec<_>) = parts.iter().cloned().partition(|part| part.start < suspect.start);
    let behind = rest.iter().filter(|part| part.start >= suspect.end);
    let moved: Vec<_> = behind.map(|part| part.start - suspect.end..part.end - suspect.end).collect();
    let start = with_words(text.get(..suspect.start).unwrap_or_default(), &before);
    let end = with_words(text.get(suspect.end..).unwrap_or_default(), &moved);
    let own = text.get(suspect.clone()).unwrap_or_default();
    let part = start.len()..start.len() + own.len();
    is_harmless(&format!("{start}{own}{end}"), &[part])
}

/// The text with each part replaced by a word. `keeps_blanks`: the blanks at both ends of a part stay.
fn with_words(text: &str, parts: &[Range<usize>], (word, keeps_blanks): (&str, bool)) -> String {
    let mut made = String::with_capacity(text.len());
    let mut copied = 0;
    for part in parts {
        made.push_str(text.get(copied..part.start).unwrap_or_default());
        let own = text.get(part.clone()).unwrap_or_default();
        let inner = own.trim_matches([' ', '\n']);
        let (before, after) = own.split_once(inner).filter(|_| keeps_blanks && !inner.is_empty()).unwrap_or_default();
        [before, word, after].into_iter().for_each(|text| made.push_str(text));
        copied = part.end;
    }
    made.push_str(text.get(copied..).unwrap_or_default());
    made
}

/// A word that the text does not contain: it is a digest of the whole text.
fn word_not_in(text: &str) -> String {
    format!("word-{}", crate::digest::hex(text.as_bytes(), 32))
}

/// The texts of a target that are printed in this range of a file.
pub(super) fn origins_of(target: &Target, made: &RenderedText, at: &Range<usize>) -> Vec<Origin> {
    let printed =
        made.tainted_ranges.iter().filter(|tainted| tainted.range.start < at.end && at.start < tainted.range.end);
    let printed: Vec<&str> = printed.filter_map(|tainted| made.text.get(tainted.range.clone())).collect();
    texts(target).filter(|(text, _)| printed.contains(text)).map(|(_, origin)| origin).collect()
}

/// The place of a target.
fn place(target: &Target) -> Origin {
    let (object, path) = &target.origin;
    Origin::field(object, path.clone())
}

/// The texts of a target, with their places.
fn texts(target: &Target) -> impl Iterator<Item = (&str, Origin)> {
    let (object, path) = &target.origin;
    let manifests = target.manifests.iter().map(move |pair| (pair, path.key("manifests")));
    let own = target.labels.iter().filter(|(key, _)| !target.mapped.contains_key(*key));
    let labels = own.map(move |pair| {
        let inherited = target.of_workload.contains(pair.0);
        (pair, if inherited { FieldPath::from(["metadata", "labels"]) } else { path.key("labels") })
    });
    manifests.chain(labels).flat_map(move |(pair, path)| {
        let path = path.key(Arc::clone(pair.0));
        let origin = |part| Origin::part(object, path.clone(), part);
        [(&**pair.0, origin(FieldPart::Key)), (&**pair.1, origin(FieldPart::Value))]
    })
}
