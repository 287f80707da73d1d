//! A diagnostic with its current positions.

use std::cmp::Ordering;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use model::credential;
use model::diagnostic::{AssignmentId, Code, Diagnostic, FieldOrigin, Label, Origin, Severity};
use model::git_id::GitId;
use model::locate::Locator;
use model::name::EnvironmentName;
use model::object_key::ObjectKey;
use model::source::{File, Position, Positions};

use super::hidden::{HiddenBytes, touching};
use super::{DiagnosticBatch, Fallback};

/// A diagnostic whose labels are positions in files. It is the same for all environments that share the files.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LocatedDiagnostic<'a> {
    /// How severe it is.
    pub severity: Severity,
    /// Its code.
    pub code: Code,
    /// What is wrong.
    pub message: String,
    /// The positions, the most important one first.
    pub marks: Vec<Mark<'a>>,
    /// Facts beside the message.
    pub notes: Vec<String>,
    /// Advice.
    pub help: Vec<String>,
    /// The object that it is about.
    pub object: Option<ObjectKey>,
}

/// A position with a label.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark<'a> {
    /// The position. None if it is in no file that was read.
    pub spot: Option<Spot<'a>>,
    /// A short text about the position. May be empty.
    pub text: String,
}

/// A position in a file.
#[derive(Clone, Debug)]
pub struct Spot<'a> {
    /// The file.
    pub file: &'a File,
    /// The range in bytes. None for the whole file.
    pub bytes: Option<Range<usize>>,
    /// Converts bytes to lines and columns. All spots of a file share it. Lines are counted when the first spot is shown.
    positions: Arc<Positions<'a>>,
}

/// The assignments in one environment that a finding affects.
#[derive(Debug)]
pub struct AffectedAssignments {
    /// The environment. None for files that were read before environments are known.
    pub environment: Option<EnvironmentName>,
    /// The affected assignments.
    pub assignments: Vec<AssignmentId>,
    /// The number of other assignments in the environment. None if it is not known.
    pub others: Option<usize>,
    /// What follows for them, if it is an error.
    pub fate: Fate,
}

/// The consequence of an error for the assignments that it affects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fate {
    /// Their published files stay. The GitOps branch was not read.
    Published,
    /// This number of assignments keep their last good output, in this commit. The others were never published.
    Kept(usize, Option<GitId>),
    /// The assignments are left out.
    LeftOut,
}

impl<'a> LocatedDiagnostic<'a> {
    /// A diagnostic of files with hidden bytes. It contains none of these bytes, and no credential of a URL.
    pub fn new(diagnostic: &Diagnostic, locator: &mut Locator<'a>, hidden: &HiddenBytes<'_>) -> Self {
        let marks: Vec<_> = diagnostic.labels.iter().map(|label| Mark::new(label, locator)).collect();
        // Parser errors quote the file. Messages of schemas and templates contain no secrets already.
        let is_read = diagnostic.labels.iter().any(|label| matches!(label.origin, Origin::Span(..) | Origin::At(..)));
        let quotes_secret = is_read && marks.iter().any(|mark| mark.is_hidden(hidden, diagnostic.code));
        let shown = |text: &str| {
            let text = credential::without(text);
            match quotes_secret {
                true if diagnostic.code == Code::YamlSyntax => without_pieces(&without_quoted(&text)),
                true => without_quoted(&text),
                false => text.into_owned(),
            }
        };
        Self {
            severity: diagnostic.severity,
            code: diagnostic.code,
            message: shown(&diagnostic.message),
            notes: diagnostic.notes.iter().map(|note| shown(note)).collect(),
            help: diagnostic
                .help
                .iter()
                .map(|help| if quotes_secret { without_quoted(help) } else { shown(help) })
                .collect(),
            marks: marks.into_iter().map(|mark| Mark { text: shown(&mark.text), ..mark }).collect(),
            object: diagnostic.object.clone(),
        }
    }
}

impl<'a> Mark<'a> {
    fn new(label: &Label, locator: &mut Locator<'a>) -> Self {
        let place = locator.locate(&label.origin);
        let is_file = matches!(label.origin, Origin::File(_));
        let spot = place.map(|place| Spot {
            file: locator.file(&place),
            positions: locator.positions(&place),
            bytes: (!is_file).then_some(place.bytes),
        });
        let text = match (&spot, &label.origin) {
            (None, Origin::Field(field)) => named(field, &label.text),
            _ => label.text.clone(),
        };
        Self { spot, text }
    }

    /// Whether the diagnostic is about a hidden value. For broken YAML, the end of the affected part is not known.
    fn is_hidden(&self, hidden: &HiddenBytes<'_>, code: Code) -> bool {
        let Some(Spot { file, bytes: Some(bytes), .. }) = &self.spot else { return false };
        let hidden = hidden.ranges(file);
        if code == Code::YamlSyntax { !hidden.is_empty() } else { !touching(&hidden, bytes).is_empty() }
    }
}

/// A message without the quoted texts of the file.
fn without_quoted(text: &str) -> String {
    match (text.find('"'), text.rfind('"')) {
        (Some(first), Some(last)) if first < last => {
            format!("{}{}{}", &text[..=first], credential::HIDDEN, &text[last..])
        }
        _ => text.to_owned(),
    }
}

/// A message about invalid YAML without quoted parts of the file.
fn without_pieces(text: &str) -> String {
    let shown = |(index, part)| if index % 2 == 0 { part } else { credential::HIDDEN };
    text.split('`').enumerate().map(shown).collect::<Vec<_>>().join("`")
}

/// A label for a field that is in no file.
fn named(FieldOrigin { object, path, .. }: &FieldOrigin, text: &str) -> String {
    let place = if path.steps().is_empty() { object.to_string() } else { format!("{object}, field `{path}`") };
    if text.is_empty() { place } else { format!("{place}: {text}") }
}

impl Spot<'_> {
    /// The begin and end of the range. None for the whole file.
    pub fn positions(&self) -> Option<(Position, Position)> {
        let bytes = self.bytes.as_ref()?;
        Some((self.positions.position(bytes.start), self.positions.position(bytes.end.max(bytes.start))))
    }

    fn order(&self) -> impl Ord {
        let bytes = self.bytes.as_ref().map(|bytes| (bytes.start, bytes.end));
        (&self.file.source, &self.file.path, self.file.id, bytes)
    }
}

/// Example: `control-plane@prod:configs/west.yaml:9`.
impl fmt::Display for Spot<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file.place_name())?;
        self.positions().map_or(Ok(()), |(start, _)| write!(f, ":{}", start.line))
    }
}

impl PartialEq for Spot<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Spot<'_> {}

impl PartialOrd for Spot<'_> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Spot<'_> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.order().cmp(&other.order())
    }
}

impl Fate {
    fn new(assignments: &[AssignmentId], fallback: Fallback<'_>) -> Self {
        match fallback {
            Fallback::Published => Self::Published,
            Fallback::KeptExcept(missing, commit) => {
                Self::Kept(assignments.iter().filter(|id| !missing.contains(id)).count(), commit)
            }
            Fallback::Nothing => Self::LeftOut,
        }
    }
}

impl AffectedAssignments {
    /// What a diagnostic of a batch affects.
    pub fn new(diagnostic: &Diagnostic, batch: DiagnosticBatch<'_>) -> Self {
        let reached = diagnostic.assignments.len();
        Self {
            environment: batch.environment.cloned(),
            assignments: diagnostic.assignments.clone(),
            others: batch.assignments.map(|all| all.saturating_sub(reached)),
            fate: Fate::new(&diagnostic.assignments, batch.fallback),
        }
    }
}
