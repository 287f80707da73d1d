//! Reasons why an edit is refused.

use model::field_path::FieldPath;
use model::source::{Position, Positions};
use model::yaml::{Span, YamlProblem};

/// An edit that was refused. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct EditError {
    /// The reason.
    pub reason: Reason,
    /// The place in the file that prevents the edit.
    pub at: Option<Span>,
}

/// The reason why an edit is refused. The text also says what to do.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Reason {
    /// The file can't be read.
    #[error("the file can't be read: {0}; correct it first")]
    Unreadable(String),
    /// The file has lines that end with a carriage return alone.
    #[error("a line of the file ends with a carriage return alone: save the file with other line ends first")]
    LineEnds,
    /// The file ends inside of a block after `|` or `>`, which a line break would change.
    #[error("the file ends with a block of text without a line break: add one at the end of the file first")]
    OpenBlock,
    /// The file does not contain the document or item.
    #[error("the file has no such object: it changed while it was edited; run the command again")]
    NoObject,
    /// The field does not exist, or a field above it is not a mapping or list.
    #[error("`{0}` is not there, or is not what the edit expects: edit the file by hand")]
    NoField(FieldPath),
    /// The field comes from an anchor elsewhere.
    #[error("`{0}` comes from an anchor or a merge key: edit it where the anchor is")]
    Alias(FieldPath),
    /// The field has an anchor that other fields use.
    #[error("`{0}` has an anchor that other fields use, and they would change too: edit the file by hand")]
    Shared(FieldPath),
    /// The result would not have exactly the intended meaning.
    #[error("the edit would change more than `{0}`, or something else: edit the file by hand")]
    Unsafe(FieldPath),
    /// A document can't be added or removed without changing another one.
    #[error("the edit would change another document of the file: edit the file by hand")]
    UnsafeDocument,
}

impl EditError {
    pub(crate) fn new(reason: Reason, at: Option<Span>) -> Self {
        Self { reason, at }
    }

    pub(crate) fn unreadable(problem: &YamlProblem) -> Self {
        Self::new(Reason::Unreadable(problem.message.clone().into_owned()), Some(problem.span))
    }

    /// The line and column of the place in the file's content, if there is one.
    pub fn position(&self, content: &[u8]) -> Option<Position> {
        self.at.map(|span| Positions::new(content).position(span.start as usize))
    }
}
