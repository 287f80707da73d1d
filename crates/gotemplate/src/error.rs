//! Errors of templates, with their places.

use std::fmt;

/// Why a template could not be parsed or rendered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TemplateError {
    /// The name that the template was parsed with.
    pub template: String,
    /// The line in the text, from 1.
    pub line: usize,
    /// The column in the line, in characters, from 1.
    pub column: usize,
    /// The kind of the error.
    pub kind: ErrorKind,
    /// The error message. It is the same as the message of Go's text/template, where Go has one.
    pub message: String,
    /// The pass that failed: 0 is the template itself, `n` is the text that the `n`-th pass produced and that was to be rendered again.
    pub pass: u32,
    /// The line of the text, if the text was produced by a pass (`pass` above 0): the user can't look it up. At most 200 characters.
    pub excerpt: Option<String>,
    /// The actions in tainted text that were not evaluated, each once. Only for [`ErrorKind::Tainted`].
    pub refused: Vec<String>,
    /// The field whose last key does not exist, as the template writes it, such as `.Manifests.branch`. Only if the template requires keys
    /// (`RenderOptions::requires_keys`), and one is missing.
    pub missing_field: Option<String>,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ErrorKind {
    /// The text has a syntax error.
    Parse,
    /// An action failed.
    Execute,
    /// A limit was reached.
    Limit,
    /// Tainted text contains an action. Such text is never evaluated.
    Tainted,
}

/// The length of [`TemplateError::excerpt`], in characters.
const EXCERPT_CHARS_MAX: usize = 200;

/// The place of an error: a byte of a text, and which text.
#[derive(Clone, Copy)]
pub(crate) struct ErrorPlace<'a> {
    pub(crate) template: &'a str,
    pub(crate) source: &'a [u8],
    pub(crate) at: usize,
    pub(crate) pass: u32,
}

impl ErrorPlace<'_> {
    /// The text before the place, and the byte where the line of the place begins.
    fn before(&self) -> (&[u8], usize) {
        let before = self.source.get(..self.at).unwrap_or(self.source);
        (before, before.iter().rposition(|byte| *byte == b'\n').map_or(0, |newline| newline + 1))
    }

    /// The line, and the column in characters, both from 1.
    pub(crate) fn line_and_column(&self) -> (usize, usize) {
        let (before, line_start) = self.before();
        let before_in_line = String::from_utf8_lossy(before.get(line_start..).unwrap_or_default());
        (before.split(|byte| *byte == b'\n').count(), before_in_line.chars().count() + 1)
    }
}

impl TemplateError {
    pub(crate) fn new(place: ErrorPlace<'_>, kind: ErrorKind, message: String) -> Self {
        let rest = place.source.get(place.before().1..).unwrap_or_default();
        let line = rest.split(|byte| *byte == b'\n').next().unwrap_or_default();
        let (number, column) = place.line_and_column();
        let excerpt = || String::from_utf8_lossy(line).trim_end().chars().take(EXCERPT_CHARS_MAX).collect();
        Self {
            template: place.template.to_owned(),
            line: number,
            column,
            kind,
            message,
            pass: place.pass,
            excerpt: (place.pass > 0).then(excerpt),
            refused: Vec::new(),
            missing_field: None,
        }
    }
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { template, line, column, message, .. } = self;
        write!(f, "{template}:{line}:{column}: {message}")?;
        if let Some(excerpt) = &self.excerpt {
            write!(f, " (in the output of rendering {}: {excerpt:?})", self.pass)?;
        }
        Ok(())
    }
}

impl std::error::Error for TemplateError {}
