//! A diagnostic with the places it points at now.

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
use super::{Batch, Fallback};

/// A diagnostic whose labels are places in files: the same for every environment that shares the files.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Finding<'a> {
    pub(super) severity: Severity,
    pub(super) code: Code,
    pub(super) message: String,
    pub(super) marks: Vec<Mark<'a>>,
    pub(super) notes: Vec<String>,
    pub(super) help: Vec<String>,
    pub(super) object: Option<ObjectKey>,
}

/// A place and what is there.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Mark<'a> {
    /// Where it is; none if it is in no file that was read.
    pub(super) spot: Option<Spot<'a>>,
    /// What is there, in a few words. May be empty.
    pub(super) text: String,
}

/// A place in a file.
#[derive(Clone, Debug)]
pub(super) struct Spot<'a> {
    pub(super) file: &'a File,
    /// The bytes; none for the file as a whole.
    pub(super) bytes: Option<Range<usize>>,
    /// Where the bytes of the file stand. All spots of a file share it, and nothing is counted before one is shown.
    positions: Arc<Positions<'a>>,
}

/// Whom a finding reaches in one environment.
#[derive(Debug)]
pub(super) struct Reach {
    pub(super) environment: Option<EnvironmentName>,
    pub(super) assignments: Vec<AssignmentId>,
    /// How many other assignments the environment has, if that is known.
    pub(super) others: Option<usize>,
    pub(super) fate: Fate,
}

/// What becomes of the assignments that an error reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fate {
    /// What was published of them stays; it was not looked at what was.
    Published,
    /// So many keep their last good output, in this commit; the others were never published.
    Kept(usize, Option<GitId>),
    /// They are left out.
    LeftOut,
}

impl<'a> Finding<'a> {
    /// A diagnostic of files of which some bytes are hidden: it repeats none of them, and no credential of a URL.
    pub(super) fn new(diagnostic: &Diagnostic, locator: &mut Locator<'a>, hidden: &HiddenBytes<'_>) -> Self {
        let marks: Vec<_> = diagnostic.labels.iter().map(|label| Mark::new(label, locator)).collect();
        // What was read wrong is quoted; what a schema or a template finds wrong is said without secrets by those who know them.
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

    /// Whether it is about something that is not shown. Of broken YAML nobody knows how far what is wrong reaches.
    fn is_hidden(&self, hidden: &HiddenBytes<'_>, code: Code) -> bool {
        let Some(Spot { file, bytes: Some(bytes), .. }) = &self.spot else { return false };
        let hidden = hidden.of(file);
        if code == Code::YamlSyntax { !hidden.is_empty() } else { !touching(&hidden, bytes).is_empty() }
    }
}

/// A message without what it quotes, which is a text of the file.
fn without_quoted(text: &str) -> String {
    match (text.find('"'), text.rfind('"')) {
        (Some(first), Some(last)) if first < last => {
            format!("{}{}{}", &text[..=first], credential::HIDDEN, &text[last..])
        }
        _ => text.to_owned(),
    }
}

/// A message about broken YAML without the pieces of it.
fn without_pieces(text: &str) -> String {
    let shown = |(index, part)| if index % 2 == 0 { part } else { credential::HIDDEN };
    text.split('`').enumerate().map(shown).collect::<Vec<_>>().join("`")
}

/// What can be said about a field that is in no file.
fn named(FieldOrigin { object, path, .. }: &FieldOrigin, text: &str) -> String {
    let place = if path.steps().is_empty() { object.to_string() } else { format!("{object}, field `{path}`") };
    if text.is_empty() { place } else { format!("{place}: {text}") }
}

impl Spot<'_> {
    /// Where it begins and ends; none for a file as a whole.
    pub(super) fn positions(&self) -> Option<(Position, Position)> {
        let bytes = self.bytes.as_ref()?;
        Some((self.positions.of(bytes.start), self.positions.of(bytes.end.max(bytes.start))))
    }

    fn order(&self) -> impl Ord {
        let bytes = self.bytes.as_ref().map(|bytes| (bytes.start, bytes.end));
        (&self.file.source, &self.file.path, self.file.id, bytes)
    }
}

/// `control-plane@prod:configs/west.yaml:9`
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
    fn of(assignments: &[AssignmentId], fallback: Fallback<'_>) -> Self {
        match fallback {
            Fallback::Published => Self::Published,
            Fallback::KeptExcept(missing, commit) => {
                Self::Kept(assignments.iter().filter(|id| !missing.contains(id)).count(), commit)
            }
            Fallback::Nothing => Self::LeftOut,
        }
    }
}

impl Reach {
    pub(super) fn new(diagnostic: &Diagnostic, batch: Batch<'_>) -> Self {
        let reached = diagnostic.assignments.len();
        Self {
            environment: batch.environment.cloned(),
            assignments: diagnostic.assignments.clone(),
            others: batch.assignments.map(|all| all.saturating_sub(reached)),
            fate: Fate::of(&diagnostic.assignments, batch.fallback),
        }
    }
}
