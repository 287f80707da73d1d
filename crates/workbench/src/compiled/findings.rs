//! What is wrong in an environment.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::compiled::{
    AssignmentName, CompiledAnswer, CompiledFinding, CompiledFindings, CompiledRefusal, FindingExcerpt, FindingPlace,
    FindingQuery, FindingSeverity, SourcePosition,
};
use model::diagnostic::{AssignmentId, Severity};

use super::CompiledState;
use super::assignments::limit;
use super::limits::{FINDING_ASSIGNMENTS_MAX, FINDING_PLACES_MAX};
use super::scope::{VisibleState, wrong};
use crate::diagnostics::{DiagnosticBatch, DiagnosticReport, Excerpt, HiddenBytes, LocatedDiagnostic, Mark};

/// The findings of an environment, with the assignments that each affects.
pub(super) struct StateFindings {
    /// Errors first.
    all: Vec<(CompiledFinding, BTreeSet<AssignmentId>)>,
    counts: BTreeMap<AssignmentId, usize>,
}

impl StateFindings {
    /// The errors and warnings of reading and compiling, without acknowledged warnings.
    pub(super) fn new(state: &CompiledState) -> Self {
        let (loaded, compiled) = (&state.loaded, &state.compiled);
        let found = loaded.diagnostics.iter().cloned().chain(compiled.diagnostics()).collect();
        let diagnostics = model::diagnostic::merged(found);
        let mut report = DiagnosticReport::new();
        report.add_problems(loaded, DiagnosticBatch::of_compiled(&diagnostics, compiled));
        let hidden = HiddenBytes::new(&report.sensitive);
        let mut all = Vec::new();
        let mut counts = BTreeMap::<AssignmentId, usize>::new();
        for (finding, reaches) in &report.findings {
            let Some(shown) = shown(finding, &hidden) else { continue };
            let affected: BTreeSet<_> = reaches.iter().flat_map(|reach| reach.assignments.iter().cloned()).collect();
            affected.iter().for_each(|id| *counts.entry(id.clone()).or_default() += 1);
            all.push((shown, affected));
        }
        Self { all, counts }
    }

    /// The number of findings that affect an assignment.
    pub(super) fn count_of(&self, id: &AssignmentId) -> usize {
        self.counts.get(id).copied().unwrap_or_default()
    }
}

impl VisibleState<'_> {
    /// Lists what is wrong. With a limit to workspaces, only what affects their assignments.
    ///
    /// # Errors
    /// If a name of the query is unknown, or the query is wrong.
    pub fn findings(&self, query: &FindingQuery) -> Result<CompiledAnswer<CompiledFindings>, CompiledRefusal> {
        let limit = limit(query.limit)?;
        let first = query.cursor.as_deref().map_or(Ok(0), str::parse::<usize>);
        let first = first.map_err(|_| wrong("`cursor` can't be read", "use the `next` of the page before"))?;
        if let Some(workload) = &query.workload {
            self.check_workload(workload)?;
        }
        if let Some(target) = &query.target {
            self.check_target(target)?;
        }
        if let Some(place) = query.place.as_ref().filter(|place| !self.state.compiled.has_place(place)) {
            return Err(self.unknown_place(place));
        }
        let visible: Vec<_> = self.state.findings().all.iter().filter_map(|found| self.visible(found)).collect();
        let has_severity = |severity| visible.iter().filter(|(found, _)| found.severity == severity).count();
        let (errors, warnings) = (has_severity(FindingSeverity::Error), has_severity(FindingSeverity::Warning));
        let is_asked = |id: &&AssignmentId| {
            query.workload.as_deref().is_none_or(|name| self.workload_of(id) == Some(name))
                && query.place.as_deref().is_none_or(|name| id.place.as_str() == name)
                && query.target.as_deref().is_none_or(|name| id.target.as_str() == name)
        };
        let is_limited = query.workload.is_some() || query.place.is_some() || query.target.is_some();
        let selected: Vec<_> = visible
            .into_iter()
            .filter(|(found, _)| query.severity.is_none_or(|severity| severity == found.severity))
            .filter(|(found, _)| query.code.as_ref().is_none_or(|code| code.eq_ignore_ascii_case(&found.code)))
            .filter(|(_, affected)| !is_limited || affected.iter().any(is_asked))
            .collect();
        let items = selected.iter().skip(first).take(limit).map(|(found, affected)| counted(found, affected)).collect();
        let next = (selected.len() > first.saturating_add(limit)).then(|| (first + limit).to_string());
        Ok(self.answer(CompiledFindings { items, total: selected.len(), errors, warnings, next }, Vec::new()))
    }

    /// A finding with the assignments that the caller may see. None if it affects only others.
    fn visible<'f>(
        &self,
        (finding, affected): &'f (CompiledFinding, BTreeSet<AssignmentId>),
    ) -> Option<(&'f CompiledFinding, Vec<&'f AssignmentId>)> {
        let own: Vec<_> = affected.iter().filter(|id| self.has_assignment(id)).collect();
        (self.is_everything() || !own.is_empty()).then_some((finding, own))
    }

    fn workload_of(&self, id: &AssignmentId) -> Option<&str> {
        Some(self.state.compiled.get(id)?.workload())
    }
}

/// A finding with the number of visible assignments, and the first ones.
fn counted(finding: &CompiledFinding, affected: &[&AssignmentId]) -> CompiledFinding {
    let name = |id: &&AssignmentId| AssignmentName { place: id.place.to_string(), target: id.target.to_string() };
    let assignments = affected.iter().take(FINDING_ASSIGNMENTS_MAX).map(name).collect();
    CompiledFinding { assignment_count: affected.len(), assignments, ..finding.clone() }
}

/// The finding without its assignments. None for a note, which is no problem.
fn shown(finding: &LocatedDiagnostic<'_>, hidden: &HiddenBytes<'_>) -> Option<CompiledFinding> {
    let severity = match finding.severity {
        Severity::Error => FindingSeverity::Error,
        Severity::Warning => FindingSeverity::Warning,
        Severity::Note => return None,
    };
    Some(CompiledFinding {
        code: finding.code.to_string(),
        severity,
        message: finding.message.clone(),
        object: finding.object.as_ref().map(|object| format!("{} {}", object.kind.name(), object.name)),
        places: finding.marks.iter().take(FINDING_PLACES_MAX).map(|mark| place(mark, hidden)).collect(),
        notes: finding.notes.clone(),
        help: finding.help.clone(),
        assignment_count: 0,
        assignments: Vec::new(),
    })
}

fn place(mark: &Mark<'_>, hidden: &HiddenBytes<'_>) -> FindingPlace {
    let text = mark.text.clone();
    let Some(spot) = &mark.spot else { return FindingPlace { text, position: None, excerpt: None } };
    let file = spot.file;
    let start = spot.positions().map(|(start, _)| start);
    let position = SourcePosition {
        repository: file.source.url.to_string(),
        revision: file.source.revision.to_string(),
        commit: file.source.commit.map(|commit| commit.to_string()),
        path: file.path.to_string(),
        line: start.map_or(0, |start| start.line),
        column: start.map_or(0, |start| start.column),
    };
    let range = spot.bytes.as_ref().map(std::slice::from_ref);
    let excerpt = range.and_then(|range| Excerpt::new(&file.content, range, &hidden.ranges(file)));
    FindingPlace { text, position: Some(position), excerpt: excerpt.map(lines) }
}

fn lines(excerpt: Excerpt) -> FindingExcerpt {
    let mark = excerpt.marks.first().cloned().unwrap_or_default();
    FindingExcerpt { first_line: excerpt.first_line, text: excerpt.text, mark_start: mark.start, mark_end: mark.end }
}
