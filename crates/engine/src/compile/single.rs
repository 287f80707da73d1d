//! Compiles single assignments of a fleet, without the others.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Code, Diagnostic};
use model::git_id::GitId;
use model::progress::{Progress, ProgressPhase};
use rayon::prelude::*;

use super::class_pairs::{ClassPair, ClassPairs, PairSources};
use super::problems::{of_place, of_target};
use super::rows::{AssignmentInputs, RowContext, with_bytes};
use crate::compile::memo::Memo;
use crate::prepare::{Prepared, PreparedTarget};
use crate::render::{RenderedFiles, SharedFiles};
use crate::schedule::pin::Manifests;
use crate::schedule::place::Place;

/// Single assignments of a fleet. They are rendered when they are read.
#[derive(Debug)]
pub struct SingleAssignments<'a> {
    prepared: &'a Prepared,
    pairs: ClassPairs,
    shared: SharedFiles,
}

/// One of these assignments, with its inputs.
struct SingleAssignment<'a> {
    ids: (u32, u32),
    place: &'a Place,
    target: &'a PreparedTarget,
    pair: &'a ClassPair,
}

impl<'a> SingleAssignments<'a> {
    /// Compiles these assignments. Ids without a place or target are ignored.
    pub fn new<'i>(prepared: &'a Prepared, ids: impl Iterator<Item = &'i AssignmentId>) -> Self {
        let found = ids.filter_map(|id| numbers(prepared, id));
        let keys: BTreeSet<_> =
            found.map(|(place, target)| (prepared.class_of_place(place), prepared.class_of_target(target))).collect();
        let mut pairs = ClassPairs::default();
        let (memo, progress) = (Memo::default(), Progress::default());
        let sources = PairSources { prepared, memo: &memo, composing: progress.begin(ProgressPhase::Composing) };
        pairs.make(sources, keys.into_iter().collect());
        Self { prepared, pairs, shared: SharedFiles::default() }
    }

    /// The fleet of the assignments.
    pub(crate) fn prepared(&self) -> &'a Prepared {
        self.prepared
    }

    /// The diagnostics of an assignment.
    pub(crate) fn problems(&self, id: &AssignmentId) -> Vec<Diagnostic> {
        let Some(one) = self.find(id) else { return Vec::new() };
        let mut diagnostics = self.before_rendering(&one);
        diagnostics.extend(self.context(&one).files(&one.inputs()).err().unwrap_or_default());
        model::diagnostic::merged(diagnostics)
    }

    /// Renders the files of an assignment. These manifests are applied instead of the fleet's own release pins. Returns the files and the
    /// version of the configuration.
    ///
    /// # Errors
    /// The codes of the errors. No codes if no policy assigns it.
    pub(crate) fn files(
        &self,
        id: &AssignmentId,
        manifests: &Manifests,
    ) -> Result<(RenderedFiles, Arc<str>), BTreeSet<Code>> {
        let one = self.find_assigned(id).ok_or_else(BTreeSet::new)?;
        let codes = |diagnostics: Vec<Diagnostic>| -> BTreeSet<_> {
            diagnostics.iter().filter(|found| found.is_error()).map(|found| found.code).collect()
        };
        let errors = codes(self.before_rendering(&one));
        if !errors.is_empty() {
            return Err(errors);
        }
        let files = self.context(&one).files_with(&one.inputs(), manifests).map_err(codes)?;
        let composition = one.pair.values.composition(|| self.prepared.containers_at(&one.pair.containers));
        Ok((files, Arc::clone(composition.version())))
    }

    /// The git ids of the folders of assignments. None: it has errors, or no policy assigns it.
    pub fn folders(&self, ids: &[AssignmentId]) -> Vec<Option<GitId>> {
        ids.par_iter().map(|id| self.folder(id)).collect()
    }

    fn folder(&self, id: &AssignmentId) -> Option<GitId> {
        let one = self.find_assigned(id)?;
        if self.before_rendering(&one).iter().any(Diagnostic::is_error) {
            return None;
        }
        self.context(&one).files(&one.inputs()).ok().map(|files| with_bytes(files).id())
    }

    fn before_rendering(&self, one: &SingleAssignment<'_>) -> Vec<Diagnostic> {
        let mut diagnostics: Vec<_> = of_place(self.prepared, one.place).collect();
        diagnostics.extend(of_target(self.prepared, one.ids.0, one.ids.1));
        diagnostics.extend(one.pair.diagnostics(self.prepared));
        diagnostics
    }

    fn context(&self, one: &SingleAssignment<'a>) -> RowContext<'_> {
        RowContext::new(self.prepared, &self.shared, one.place)
    }

    /// None: no policy assigns it.
    fn find_assigned(&self, id: &AssignmentId) -> Option<SingleAssignment<'_>> {
        self.find(id).filter(|one| self.prepared.schedule.targets_on(one.ids.0).contains(&one.ids.1))
    }

    fn find(&self, id: &AssignmentId) -> Option<SingleAssignment<'_>> {
        let (place, target) = numbers(self.prepared, id)?;
        let pair = self.pairs.get(self.prepared.class_of_place(place), self.prepared.class_of_target(target))?;
        let (ids, target) = ((place, target), self.prepared.target(target)?);
        Some(SingleAssignment { ids, place: self.prepared.place(place)?, target, pair })
    }
}

impl SingleAssignment<'_> {
    fn inputs(&self) -> AssignmentInputs<'_> {
        AssignmentInputs { target: self.target, pair: self.pair }
    }
}

fn numbers(prepared: &Prepared, id: &AssignmentId) -> Option<(u32, u32)> {
    Some((prepared.place_id(id.place.as_str())?, prepared.target_id(id.target.as_str())?))
}

impl Prepared {
    /// The diagnostics of one assignment, without examining others. Empty if there is no such assignment.
    pub fn problems(&self, id: &AssignmentId) -> Vec<Diagnostic> {
        SingleAssignments::new(self, [id].into_iter()).problems(id)
    }
}
