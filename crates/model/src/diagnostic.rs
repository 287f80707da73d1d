//! Diagnostics: what is wrong with somebody's input, where, and what to do about it.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

pub use crate::code::Code;
use crate::field_path::FieldPath;
use crate::name::{DeploymentTargetName, PlaceName};
use crate::object_key::ObjectKey;
use crate::source::{Address, FileId};
use crate::yaml::Span;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Something is not done because of it.
    Error,
    /// Everything is done, but probably not what was meant.
    Warning,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Error => "error",
            Self::Warning => "warning",
        })
    }
}

/// The identity of an assignment inside an environment.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct AssignmentId {
    /// Where it runs: a cluster type, or one cluster.
    pub place: PlaceName,
    /// What runs.
    pub target: DeploymentTargetName,
}

/// `chicago-edge/checkout-us`
impl fmt::Display for AssignmentId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.place, self.target)
    }
}

/// What a label points at.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Origin {
    /// A place in a file whose objects may not be known.
    Span(FileId, Span),
    /// A whole file.
    File(FileId),
    /// A field of the object that stands here: for objects that are not in the fleet, or not once.
    At(Address, FieldPath),
    /// A field of an object. Says nothing of lines, so that it stays right while lines move; [`Locator`](crate::locate::Locator) finds them.
    Field(FieldOrigin),
}

/// A field of an object, or a part of it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FieldOrigin {
    /// The object.
    pub object: ObjectKey,
    /// The field, from the document's root.
    pub path: FieldPath,
    /// Which part of the field.
    pub part: Part,
}

/// A part of a field.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Part {
    /// Its value.
    #[default]
    Value,
    /// Its key.
    Key,
    /// In its text: a line and column of the text (not of the file), both from 1.
    Text {
        /// The line, from 1.
        line: usize,
        /// The column in characters, from 1.
        column: usize,
    },
    /// In its text, read as YAML or JSON: the node at this path.
    Inside(FieldPath),
    /// In its text, read as YAML or JSON: the key of the node at this path.
    KeyInside(FieldPath),
}

impl Origin {
    /// The value of a field.
    pub fn field(object: &ObjectKey, path: FieldPath) -> Self {
        Self::part(object, path, Part::Value)
    }

    /// A part of a field.
    pub fn part(object: &ObjectKey, path: FieldPath, part: Part) -> Self {
        Self::Field(FieldOrigin { object: object.clone(), path, part })
    }
}

/// A place and what is there.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Label {
    /// The place.
    pub origin: Origin,
    /// What is there, in a few words. May be empty.
    pub text: String,
}

/// Something that is wrong with an input.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// What it is.
    pub code: Code,
    /// What it is, in one sentence about this very case.
    pub message: String,
    /// Where it is: the first label is the place to fix.
    pub labels: Vec<Label>,
    /// Facts that help to understand it.
    pub notes: Vec<String>,
    /// What to do.
    pub help: Vec<String>,
    /// The assignments that it reaches: an error stops them.
    pub assignments: Vec<AssignmentId>,
    /// The object that it is about, where that is not an assignment.
    pub object: Option<ObjectKey>,
    /// What it follows from, if the same can be the cause of many: reports show those of one code and cause as one.
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

    fn new(severity: Severity, code: Code, message: String) -> Self {
        let (labels, notes, help, assignments) = Default::default();
        Self { severity, code, message, labels, notes, help, assignments, object: None, cause: None }
    }

    /// With one more place.
    #[must_use]
    pub fn at(mut self, origin: Origin, text: impl Into<String>) -> Self {
        self.labels.push(Label { origin, text: text.into() });
        self
    }

    /// With one more fact.
    #[must_use]
    pub fn note(mut self, note: impl Into<String>) -> Self {
        self.notes.push(note.into());
        self
    }

    /// With one more piece of advice.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help.push(help.into());
        self
    }

    /// With one more assignment that it reaches.
    #[must_use]
    pub fn reaching(mut self, assignment: &AssignmentId) -> Self {
        self.assignments.push(assignment.clone());
        self
    }

    /// About this object.
    #[must_use]
    pub fn about(mut self, object: &ObjectKey) -> Self {
        self.object = Some(object.clone());
        self
    }

    /// One of several that follow from this.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Arc<str>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Whether it is an error.
    pub fn is_error(&self) -> bool {
        self.severity == Severity::Error
    }
}

/// Puts equal diagnostics together, with the assignments of all of them, and sorts them: errors first, then by code.
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
