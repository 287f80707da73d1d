//! The problems that a YAML text can have.

use std::borrow::Cow;

use super::Span;

/// A finding in a text, with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct YamlProblem {
    /// The kind of the finding.
    pub kind: ProblemKind,
    /// The message: one sentence without a place and without a full stop.
    pub message: Cow<'static, str>,
    /// The place of the problem.
    pub span: Span,
    /// A second place, with a few words about it.
    pub related: Option<(Span, Cow<'static, str>)>,
    /// Advice, if there is some.
    pub hint: Option<Cow<'static, str>>,
}

/// The kinds of findings.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ProblemKind {
    /// The content is not text, or not UTF-8. Nothing was read.
    Encoding,
    /// The text exceeds [`YamlLimits`](super::YamlLimits). The rest of it was not read, so nothing follows from missing content.
    Limit,
    /// The document is deeper than [`YamlLimits`](super::YamlLimits) allow. The document is broken; later ones were read.
    Depth,
    /// The text is not valid YAML.
    Syntax,
    /// A key that a mapping contains twice.
    DuplicateKey,
    /// A key that is a mapping or a sequence, where this is not allowed.
    ComplexKey,
    /// An alias to an undefined anchor, to a node that contains the alias, or to too much content.
    Alias,
    /// A merge key `<<` with a value that cannot be merged.
    Merge,
    /// A value that contradicts its tag.
    TagMismatch,
    /// An unknown tag. A warning: the document is read without the tag.
    UnknownTag,
    /// There are more problems than listed. A warning: all documents were read.
    Unlisted,
}

impl ProblemKind {
    /// Whether the document was read in spite of the finding.
    pub fn is_warning(self) -> bool {
        matches!(self, Self::UnknownTag | Self::Unlisted)
    }
}

impl YamlProblem {
    /// A finding without a second place and without advice.
    pub(super) fn new(kind: ProblemKind, span: Span, message: impl Into<Cow<'static, str>>) -> Self {
        Self { kind, message: message.into(), span, related: None, hint: None }
    }

    /// Sets the advice.
    pub(super) fn hint(mut self, hint: impl Into<Cow<'static, str>>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Sets a second place.
    pub(super) fn related(mut self, span: Span, label: impl Into<Cow<'static, str>>) -> Self {
        self.related = Some((span, label.into()));
        self
    }
}

/// The findings of one text: counts all, and keeps the first ones.
pub(super) struct Findings {
    listed: Vec<YamlProblem>,
    limit: usize,
    errors: usize,
    unlisted: usize,
    last: Span,
}

impl Findings {
    pub(super) fn new(limit: usize) -> Self {
        Self { listed: Vec::new(), limit, errors: 0, unlisted: 0, last: Span::default() }
    }

    /// Adds a finding. A consequence of a known fault is not listed again. The first error is always listed.
    pub(super) fn add(&mut self, problem: YamlProblem) {
        let is_error = !problem.kind.is_warning();
        let is_first_error = is_error && self.errors == 0;
        self.errors += usize::from(is_error);
        let is_known = |last: &YamlProblem| last.span.start == problem.span.start && last.kind != problem.kind;
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

    /// The number of errors so far, listed or not.
    pub(super) fn errors(&self) -> usize {
        self.errors
    }

    /// The findings in the order of the text.
    pub(super) fn into_problems(mut self) -> Vec<YamlProblem> {
        if self.unlisted > 0 {
            let message = format!("there are {} more problems in this text", self.unlisted);
            self.listed.push(YamlProblem::new(ProblemKind::Unlisted, self.last, message));
        }
        self.listed.sort_by_key(|problem| problem.span.start);
        self.listed
    }
}

/// A piece of the text for a message: short and on one line.
pub(super) fn shown(text: &str) -> String {
    const LONGEST: usize = 40;
    let line = text.lines().next().unwrap_or_default();
    let short: String = line.chars().take(LONGEST).collect();
    if short.len() < text.len() { format!("`{short}…`") } else { format!("`{short}`") }
}
