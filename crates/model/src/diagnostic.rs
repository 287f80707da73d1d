//! Diagnostics: a problem in an input, its places, and advice.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

pub use crate::code::Code;
use crate::field_path::FieldPath;
use crate::name::{DeploymentTargetName, PlaceName};
use crate::object_key::ObjectKey;
use crate::source::{Address, FileId};
use crate::yaml::Span;

/// The severity of a diagnostic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Kalypso leaves something out because of the problem.
    Error,
    /// Kalypso leaves nothing out, but the result is probably not what the author expects.
    Warning,
    /// The result is as the author expects, but the reader of a check may want to know. Never counts as a problem, and is left out of plans, pull requests
    /// and issues.
    Note,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Note => "note",
        })
    }
}

/// The identity of an assignment inside an environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssignmentId {
    /// The place where it runs: a cluster type, or one cluster.
    pub place: PlaceName,
    /// The deployment target that runs.
    pub target: DeploymentTargetName,
}

/// Writes `chicago-edge/checkout-us`.
impl fmt::Display for AssignmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.place, self.target)
    }
}

/// The place that a label points at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A range in a file, also if its objects are not known.
    Span(FileId, Span),
    /// A whole file.
    File(FileId),
    /// A field of the object at this address: for objects that are not in the fleet, or that are in it more than once.
    At(Address, FieldPath),
    /// A field of an object, by the object's name. It contains no line, so it stays valid when lines move. [`Locator`](crate::locate::Locator) finds the line.
    Field(FieldOrigin),
}

/// A field of an object, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldOrigin {
    /// The object.
    pub object: ObjectKey,
    /// The field, from the document's root.
    pub path: FieldPath,
    /// The part of the field.
    pub part: FieldPart,
}

/// A part of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FieldPart {
    /// The value of the field.
    #[default]
    Value,
    /// The key of the field.
    Key,
    /// A line and column in the text of the field (not of the file), both from 1.
    Text {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// The node at this path in the text of the field, read as YAML or JSON.
    Inside(FieldPath),
    /// The key of the node at this path in the text of the field, read as YAML or JSON.
    KeyInside(FieldPath),
}

impl Origin {
    /// The origin of a field's value.
    pub fn field(object: &ObjectKey, path: FieldPath) -> Self {
        Self::part(object, path, FieldPart::Value)
    }

    /// The origin of a part of a field.
    pub fn part(object: &ObjectKey, path: FieldPath, part: FieldPart) -> Self {
        Self::Field(FieldOrigin { object: object.clone(), path, part })
    }
}

/// A place with a short explanation.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// The place.
    pub origin: Origin,
    /// A few words about the place. May be empty.
    pub text: String,
}

/// A problem in an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Diagnostic {
    /// The severity.
    pub severity: Severity,
    /// The kind of problem.
    pub code: Code,
    /// One sentence about this particular problem.
    pub message: String,
    /// The places of the problem. The first one is the place to fix.
    pub labels: Vec<Label>,
    /// Facts that help to understand the problem.
    pub notes: Vec<String>,
    /// Advice: how to correct the problem.
    pub help: Vec<String>,
    /// The affected assignments. An error stops them.
    pub assignments: Vec<AssignmentId>,
    /// The affected object, if no assignment is affected.
    pub object: Option<ObjectKey>,
    /// The common cause, if one cause leads to many diagnostics. Output shows all diagnostics with the same code and cause as one.
    pub cause: Option<Arc<str>>,
}

impl Diagnostic {
    /// An error.
    pub fn error(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, message.into())
    }

    /// A warning.
    pub fn warning(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, message.into())
    }

    /// A hint, which counts as no problem.
    pub fn hint(code: Code, message: impl Into<String>) -> Self {
        Self::new(Severity::Note, code, message.into())
    }

    fn new(severity: Severity, code: Code, message: String) -> Self {
        let (labels, notes, help, assignments) = Default::default();
        Self { severity, code, message, labels, notes, help, assignments, object: None, cause: None }
    }

    /// Adds a place.
    #[must_use]
    pub fn at(mut self, origin: Origin, text: impl Into<String>) -> Self {
        self.labels.push(Label { origin, text: text.into() });
        self
    }

    /// Adds a fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// Adds advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// Adds an affected assignment.
    #[must_use]
    pub fn reaching(mut self, assignment: &AssignmentId) -> Self {
        self.assignments.push(assignment.clone());
        self
    }

    /// Sets the affected object.
    #[must_use]
    pub fn about(mut self, object: &ObjectKey) -> Self {
        self.object = Some(object.clone());
        self
    }

    /// Sets the common cause.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Arc<str>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Whether the severity is error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }

    /// Whether the severity is note.
    pub fn is_note(&self) -> bool {
        self.severity == Severity::Note
    }
}

/// Merges equal diagnostics and their assignments. Sorts the result: errors first, then by code.
pub fn merged(diagnostics: Vec<Diagnostic>) -> Vec<Diagnostic> {
    let mut by_text: BTreeMap<Diagnostic, BTreeSet<AssignmentId>> = BTreeMap::new();
    for mut diagnostic in diagnostics {
        let assignments = std::mem::take(&mut diagnostic.assignments);
        by_text.entry(diagnostic).or_default().extend(assignments);
    }
    let with_assignments = |(mut diagnostic, assignments): (Diagnostic, BTreeSet<_>)| {
        diagnostic.assignments = assignments.into_iter().collect();
        diagnostic
    };
    by_text.into_iter().map(with_assignments).collect()
}
