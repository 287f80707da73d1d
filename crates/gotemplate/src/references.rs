//! Handles template text in the tainted parts of an output: plain references are replaced, everything else is refused.

use std::ops::Range;

use crate::budget::{Budget, Exhausted};
use crate::format;
use crate::taint::{Output, Taint, TaintedRange, find_action, overlaps};
use crate::value::Value;

const OPEN: &[u8] = b"{{";
const CLOSE: &[u8] = b"}}";
const SPACES: &[u8] = b" \t\r\n";

/// How many bytes of a refused text an error shows.
const SHOWN_MAX: usize = 200;
/// How many refused texts an error lists.
const REFUSED_MAX: usize = 50;

/// The reason why an output with tainted text can't be rendered again.
#[derive(Debug)]
pub(crate) enum Refusal {
    /// The tainted text contains actions that are not plain references: the byte of the first one, and the texts of all, each once, in order.
    Text(usize, Vec<String>),
    /// The replaced text would be longer than the limit allows.
    Exhausted(Exhausted),
}

/// Finds the first `{{` that must be handled: an action of the template's author, or text in tainted text that must be replaced or refused.
/// A `{{` of which only one brace is tainted is plain text.
pub(crate) fn find(output: &Output) -> Option<usize> {
    let end = output.bytes.len();
    let mut from = 0;
    for known in output.free_of_actions.iter().chain([&(end..end)]) {
        while let Some(at) = find_action(output.bytes.get(from..known.start)?) {
            let at = from + at;
            if is_uniform(&output.tainted_ranges, at) {
                return Some(at);
            }
            from = at + 1;
        }
        from = known.end;
    }
    None
}

/// Whether both braces are tainted, or neither is.
fn is_uniform(tainted_ranges: &[TaintedRange], at: usize) -> bool {
    overlaps(tainted_ranges, &(at..at + 1)) == overlaps(tainted_ranges, &(at + 1..at + 2))
}

/// Returns the output with the plain references in its tainted parts replaced by their values. Each value gets the taint of the text around it.
pub(crate) fn replaced(output: Output, dot: &Value, names: &[&str], budget: &mut Budget) -> Result<Output, Refusal> {
    let has_text = |(part, _): &(Range<usize>, Taint)| {
        output.bytes.get(part.clone()).is_some_and(|text| find_action(text).is_some())
    };
    let parts: Vec<_> = tainted_parts(&output.tainted_ranges).filter(has_text).collect();
    if parts.is_empty() {
        return Ok(output);
    }
    let mut replacer = Replacer { dot, names, refused: Vec::new(), first: None };
    let mut replaced = Output::with_capacity(output.bytes.len());
    let mut copied = 0;
    for (part, taint) in parts {
        replaced.copy(&output.bytes, &output.tainted_ranges, copied..part.start);
        let text = output.bytes.get(part.clone()).unwrap_or_default();
        let text = replacer.part(text, part.start);
        budget.output(text.len()).map_err(Refusal::Exhausted)?;
        replaced.write(&text, taint);
        copied = part.end;
    }
    replaced.copy(&output.bytes, &output.tainted_ranges, copied..output.bytes.len());
    match replacer.first {
        Some(at) => Err(Refusal::Text(at, replacer.refused)),
        None => Ok(replaced),
    }
}

/// The tainted ranges. Ranges that touch are joined.
fn tainted_parts(tainted_ranges: &[TaintedRange]) -> impl Iterator<Item = (Range<usize>, Taint)> {
    tainted_ranges.chunk_by(|left, right| left.range.end == right.range.start).filter_map(|group| {
        let (first, last) = (group.first()?, group.last()?);
        let is_raw = group.iter().any(|tainted| tainted.is_raw);
        Some((first.range.start..last.range.end, if is_raw { Taint::Raw } else { Taint::Structured }))
    })
}

struct Replacer<'a> {
    dot: &'a Value,
    names: &'a [&'a str],
    refused: Vec<String>,
    first: Option<usize>,
}

impl Replacer<'_> {
    /// Replaces the references in a tainted text. `start` is the byte of the output where the text begins.
    fn part(&mut self, text: &[u8], start: usize) -> Vec<u8> {
        let mut replaced = Vec::with_capacity(text.len());
        let mut rest = text;
        while let Some(open) = find_action(rest) {
            let (before, action) = rest.split_at(open);
            replaced.extend_from_slice(before);
            let found = Reference::read(action).and_then(|found| Some((self.value(found.name)?, found)));
            let Some((value, found)) = found else {
                self.refuse(action, start + (text.len() - action.len()));
                // There are more than two braces in a row: the last two may begin the action.
                let (brace, after) = action.split_at(1);
                replaced.extend_from_slice(brace);
                rest = after;
                continue;
            };
            if found.trims_before {
                replaced.truncate(replaced.trim_ascii_end().len());
            }
            replaced.extend_from_slice(&value);
            rest = if found.trims_after { found.after.trim_ascii_start() } else { found.after };
        }
        replaced.extend_from_slice(rest);
        replaced
    }

    fn value(&self, name: &[u8]) -> Option<Vec<u8>> {
        self.names.iter().find(|known| known.as_bytes() == name)?;
        let Value::Struct(fields) = self.dot.plain() else { return None };
        let (_, value) = fields.fields.iter().find(|(known, _)| known.as_bytes() == name)?;
        Some(format::display(value).as_bytes().to_vec())
    }

    fn refuse(&mut self, action: &[u8], at: usize) {
        let action = action.get(..SHOWN_MAX).unwrap_or(action);
        let end = memchr::memmem::find(action, CLOSE).map_or(action.len(), |close| close + CLOSE.len());
        let shown = String::from_utf8_lossy(action.get(..end).unwrap_or_default()).into_owned();
        if self.refused.len() < REFUSED_MAX && !self.refused.contains(&shown) {
            self.refused.push(shown);
        }
        self.first.get_or_insert(at);
    }
}

/// A reference like `{{ .Name }}`, with or without blanks and trimming dashes.
struct Reference<'t> {
    name: &'t [u8],
    trims_before: bool,
    trims_after: bool,
    after: &'t [u8],
}

impl<'t> Reference<'t> {
    /// Parses the reference at the beginning of a text. None if the text does not begin with one.
    fn read(text: &'t [u8]) -> Option<Self> {
        let inside = text.strip_prefix(OPEN)?;
        let trims_before = matches!(inside, [b'-', blank, ..] if SPACES.contains(blank));
        let inside = if trims_before { inside.get(1..)? } else { inside };
        let name = inside.trim_ascii_start().strip_prefix(b".")?;
        let length = name.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        let (name, rest) = name.split_at(length);
        let close = rest.trim_ascii_start();
        if let Some(after) = close.strip_prefix(b"-}}").filter(|_| close.len() < rest.len()) {
            return Some(Self { name, trims_before, trims_after: true, after });
        }
        Some(Self { name, trims_before, trims_after: false, after: close.strip_prefix(CLOSE)? })
    }
}
