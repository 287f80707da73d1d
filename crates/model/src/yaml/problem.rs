//! What can be wrong with a YAML text.

use std::borrow::Cow;

use super::Span;

/// A finding about a text, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// What sort of finding it is.
    pub kind: ProblemKind,
    /// What is wrong, for people: one sentence without a place and without a full stop.
    pub message: Cow<'static, str>,
    /// Where it is wrong.
    pub span: Span,
    /// Another place that matters, with what is there.
    pub related: Option<(Span, Cow<'static, str>)>,
    /// What to do about it, where that can be told.
    pub hint: Option<Cow<'static, str>>,
}

/// The sorts of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// Not text, or not UTF-8. Nothing was read.
    Encoding,
    /// Larger or more than [`Limits`](super::Limits) allow. What is behind the place was not read: nothing follows from its absence.
    Limit,
    /// Deeper than [`Limits`](super::Limits) allow. The document is broken, those behind it were read.
    Depth,
    /// Not YAML.
    Syntax,
    /// A key that is twice in a mapping.
    DuplicateKey,
    /// A key that is a mapping or a sequence where that is not possible.
    ComplexKey,
    /// An alias to nothing, to something around it, or to too much.
    Alias,
    /// A merge key `<<` whose value cannot be merged.
    Merge,
    /// A value that contradicts its tag.
    TagMismatch,
    /// A tag that is not known. A warning: the document is read without it.
    UnknownTag,
    /// There are more problems than are told. A warning: everything was read.
    Unlisted,
}

impl ProblemKind {
    /// Whether the document was read nevertheless.
    pub fn is_warning(self) -> bool {
        matches!(self, Self::UnknownTag | Self::Unlisted)
    }
}

impl Problem {
    /// A finding without a second place and without advice.
    pub(super) fn new(kind: ProblemKind, span: Span, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), span, related: None, hint: None }
    }

    /// The finding, with what to do about it.
    pub(super) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The finding, with a second place.
    pub(super) fn related(mut self, span: Span, label: impl Into<Cow<'static, str>>) -> Self {
        self.related = Some((span, label.into()));
        self
    }
}

/// The findings of one text: counts all, lists the first.
pub(super) struct Findings {
    listed: Vec<Problem>,
    limit: usize,
    errors: usize,
    unlisted: usize,
    last: Span,
}

impl Findings {
    pub(super) fn new(limit: usize) -> Self {
        Self { listed: Vec::new(), limit, errors: 0, unlisted: 0, last: Span::default() }
    }

    /// Takes a finding. A fault that is found a second time, by what it led to, is not listed again. The first error is always listed.
    pub(super) fn add(&mut self, problem: Problem) {
        let is_error = !problem.kind.is_warning();
        let is_first_error = is_error && self.errors == 0;
        self.errors += usize::from(is_error);
        let is_known = |last: &Problem| last.span.start == problem.span.start && last.kind != problem.kind;
        if !is_first_error && self.listed.last().is_some_and(is_known) {
            return;
        }
        if self.listed.len() < self.limit || problem.kind == ProblemKind::Limit || is_first_error {
            self.listed.push(problem);
        } else {
            self.unlisted += 1;
            self.last = problem.span;
        }
    }

    /// How many errors there were so far, listed or not.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// The findings in the order of the text.
    pub(super) fn into_problems(mut self) -> Vec<Problem> {
        if self.unlisted > 0 {
            let message = format!("there are {} more problems in this text", self.unlisted);
            self.listed.push(Problem::new(ProblemKind::Unlisted, self.last, message));
        }
        self.listed.sort_by_key(|problem| problem.span.start);
        self.listed
    }
}

/// A piece of the text as it is shown in a message: short and in one line.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(LONGEST).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
