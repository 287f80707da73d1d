//! Taint: which values come from texts of an untrusted source, and how functions pass this on.
//!
//! Untrusted texts are data in every pass: text in them that looks like an action is never evaluated. Every value that is made of a tainted value is
//! tainted too. So decoding, cutting and joining can't turn data into a template. Values that only choose (conditions, the key of `index`) do not
//! taint the result.

use std::ops::Range;
use std::sync::{Arc, LazyLock};

use memchr::memmem::Finder;

/// The source of a text. If several texts are combined, the highest taint applies.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Taint {
    /// A trusted source: the author of the template, or data that the author trusts.
    #[default]
    None,
    /// An untrusted source, but the text is a checked name of letters, digits, `-` and `.`. It is harmless as long as it is not decoded.
    Name,
    /// An untrusted source, but a function has written a list or map of such texts, with all the quotes that they need.
    Structured,
    /// An untrusted source.
    Raw,
}

/// A range of an output that comes from tainted texts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaintedRange {
    /// The range, in bytes.
    pub range: Range<usize>,
    /// Whether the texts are unquoted or were changed. Otherwise they are in a list or map that a function wrote.
    pub is_raw: bool,
}

/// A part of an output that other outputs share: the byte where it begins, and its bytes, which the cache keeps.
pub type SharedPart = (usize, Arc<[u8]>);

/// A text that the cache keeps.
#[derive(Debug)]
pub(crate) struct CachedText {
    pub(crate) bytes: Arc<[u8]>,
    /// Whether no `{{` contains a byte of the text, whatever is before and behind it.
    is_free_of_actions: bool,
}

impl CachedText {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        let touches_other_brace = bytes.starts_with(b"{") || bytes.ends_with(b"{");
        Self { bytes: bytes.into(), is_free_of_actions: !touches_other_brace && find_action(bytes).is_none() }
    }
}

/// Finds the first `{{`.
pub(crate) fn find_action(text: &[u8]) -> Option<usize> {
    static FINDER: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new(b"{{"));
    FINDER.find(text)
}

/// An output, with the ranges that come from tainted texts, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) bytes: Vec<u8>,
    pub(crate) tainted_ranges: Vec<TaintedRange>,
    /// The long parts that come from the cache, in order.
    pub(crate) shared_parts: Vec<SharedPart>,
    /// The ranges of those parts of which no `{{` contains a byte.
    pub(crate) free_of_actions: Vec<Range<usize>>,
}

impl Output {
    /// An empty output with room for this number of bytes.
    pub(crate) fn with_capacity(bytes: usize) -> Self {
        Self { bytes: Vec::with_capacity(bytes), ..Self::default() }
    }

    /// Appends bytes with a taint.
    pub(crate) fn write(&mut self, bytes: &[u8], taint: Taint) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(bytes);
        self.taint_from(start, taint);
    }

    /// Notes that the output from the byte `start` on is this text of the cache.
    pub(crate) fn note_shared(&mut self, start: usize, text: Option<&CachedText>) {
        let Some(text) = text else { return };
        self.shared_parts.push((start, Arc::clone(&text.bytes)));
        if text.is_free_of_actions {
            self.free_of_actions.push(start..start + text.bytes.len());
        }
    }

    /// Taints the output from the byte `start` on.
    pub(crate) fn taint_from(&mut self, start: usize, taint: Taint) {
        let range = start..self.bytes.len();
        if taint >= Taint::Structured && !range.is_empty() {
            self.tainted_ranges.push(TaintedRange { range, is_raw: taint == Taint::Raw });
        }
    }

    /// Appends a part of a text with the taints that it has in that text.
    pub(crate) fn copy(&mut self, source: &[u8], tainted_ranges: &[TaintedRange], part: Range<usize>) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(source.get(part.clone()).unwrap_or_default());
        let first = tainted_ranges.partition_point(|tainted| tainted.range.end <= part.start);
        for tainted in tainted_ranges.get(first..).unwrap_or_default() {
            if tainted.range.start >= part.end {
                break;
            }
            let (from, to) = (tainted.range.start.max(part.start), tainted.range.end.min(part.end));
            let range = start + from - part.start..start + to - part.start;
            self.tainted_ranges.push(TaintedRange { range, is_raw: tainted.is_raw });
        }
    }
}

/// Whether any of these tainted ranges, which are in order, contains a byte of `range`.
pub(crate) fn overlaps(tainted_ranges: &[TaintedRange], range: &Range<usize>) -> bool {
    let first = tainted_ranges.partition_point(|tainted| tainted.range.end <= range.start);
    tainted_ranges.get(first).is_some_and(|tainted| tainted.range.start < range.end)
}
