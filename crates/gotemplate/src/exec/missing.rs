//! Look-ups of map keys that do not exist, and where their result is printed.

use super::Run;
use crate::function::Function;
use crate::parse::tree::Field;
use crate::value::Value;

/// The maximum number of recorded fields of one rendering.
const FIELDS_MAX: usize = 64;

/// The functions that write a nil argument as text, such as `null` or nothing. Other functions test for nil, or return an error.
const WRITERS: &[&str] = &[
    "cat",
    "hash",
    "html",
    "join",
    "js",
    "print",
    "printf",
    "println",
    "quote",
    "squote",
    "stringify",
    "toJson",
    "toPrettyJson",
    "toRawJson",
    "toString",
    "toYaml",
    "urlquery",
];

/// The look-ups of missing keys in one execution.
#[derive(Debug, Default)]
pub(super) struct MissingKeys {
    /// The byte of the last field that was looked up and does not exist.
    last: Option<usize>,
    /// The number of such look-ups.
    count: usize,
    /// The number of times that missing values were printed.
    prints: usize,
    /// The bytes of the fields whose missing values were printed, each once.
    pub(super) printed: Vec<usize>,
}

impl Run<'_> {
    /// Records that a map does not have the last field of `path`.
    #[cold]
    pub(super) fn note_missing(&mut self, path: &[Field]) {
        self.missing.last = path.first().map(|field| field.at);
        self.missing.count += 1;
    }

    /// The number of look-ups of missing keys so far.
    pub(super) fn missing_count(&self) -> usize {
        self.missing.count
    }

    /// The number of missing values that were printed so far.
    pub(super) fn missing_prints(&self) -> usize {
        self.missing.prints
    }

    /// Records that the action at `at` prints a missing value. If the action itself did not look it up, it is null or was in a variable.
    #[cold]
    pub(super) fn note_printed(&mut self, at: usize) {
        let looked_up = self.missing.last.filter(|last| *last >= at);
        self.note_place(looked_up.unwrap_or(at));
    }

    fn note_place(&mut self, at: usize) {
        self.missing.prints += 1;
        if self.missing.printed.len() < FIELDS_MAX && !self.missing.printed.contains(&at) {
            self.missing.printed.push(at);
        }
    }

    /// Records missing values among the arguments from index `base` on, if the function writes them.
    pub(super) fn note_written(&mut self, at: usize, function: &Function, base: usize) {
        if !WRITERS.contains(&function.name) {
            return;
        }
        let is_nil = |argument: &Value| matches!(argument, Value::Nil);
        if self.arguments.get(base..).is_some_and(|arguments| arguments.iter().any(is_nil)) {
            self.note_place(self.missing.last.unwrap_or(at));
        }
    }
}
