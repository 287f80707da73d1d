//! Rows: the assignments of one place, in a compact form.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::digest::{Digest, DigestBuilder};
use model::git_id::GitId;
use model::tree::{Blob, Child, Entry, Mode, Tree};

use super::class_pairs::ClassPair;
use crate::compile::memo::Memo;
use crate::invariant::require;
use crate::prepare::{Prepared, PreparedTarget};
use crate::render::{
    Content, Context, FileWarnings, OutputWarning, Pinned, PlaceFields, RecentFiles, Rendered, RenderedFiles,
    RenderedObject, SharedFiles, WarningsDigest,
};
use crate::schedule::pin::Manifests;
use crate::schedule::place::Place;

/// The assignments of a place.
#[derive(Debug)]
pub(crate) struct Row {
    /// The ids of the targets, in the order of their folders.
    pub(crate) targets: Arc<[u32]>,
    /// The state of each assignment.
    pub(crate) slots: Box<[Slot]>,
}

/// The state of an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// The digest of all inputs.
    pub(crate) inputs: Digest,
    /// The digest of the inputs of rendering.
    pub(crate) rendering: Digest,
    /// The git id of its folder. None if it could not be rendered.
    pub(crate) tree: Option<GitId>,
    /// Whether its templates may have read all data.
    pub(crate) is_wide: bool,
    /// Whether it was evaluated.
    pub(crate) is_known: bool,
    /// Whether its folder is in the place's folder. It is if there are no errors.
    pub(crate) is_rendered: bool,
    /// The digest of the warnings about its files. Assignments with equal digests have the same warnings.
    pub(crate) warnings: Option<WarningsDigest>,
}

/// The result of evaluating an assignment.
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) slot: Slot,
    /// The reasons why it can't be rendered. Empty if it can be rendered. None if the previous result stays valid.
    pub(crate) failures: Option<Vec<Diagnostic>>,
    /// Whether its templates were rendered.
    pub(crate) was_rendered: bool,
    /// Whether the result came from the memo.
    pub(crate) was_saved: bool,
    /// The number of files that were rendered only for this assignment.
    pub(crate) files: usize,
    /// The bytes of these files.
    pub(crate) bytes: usize,
}

/// An assignment of a place to evaluate or render.
#[derive(Clone, Copy, Debug)]
pub(crate) struct AssignmentInputs<'a> {
    pub(crate) target: &'a PreparedTarget,
    /// The data that it shares with other assignments.
    pub(crate) pair: &'a ClassPair,
}

/// The data of a place that its assignments use.
#[derive(Debug)]
pub(crate) struct RowContext<'a> {
    prepared: &'a Prepared,
    shared: &'a SharedFiles,
    place: &'a Place,
    fields: PlaceFields,
    recent_files: Rc<RecentFiles>,
}

/// What is broken if a row has no assignment at a position.
const NO_POSITION: &str = "the row of a place has no such assignment";

impl Row {
    /// Creates a row for these targets, with the slots of the old row for targets in both. Also returns the removed targets.
    pub(crate) fn realigned(targets: &Arc<[u32]>, old: Option<&Self>) -> (Self, Vec<u32>) {
        let mut slots = vec![Slot::UNKNOWN; targets.len()].into_boxed_slice();
        let mut removed = Vec::new();
        if let Some(old) = old {
            let positions: HashMap<u32, usize> =
                targets.iter().enumerate().map(|(position, target)| (*target, position)).collect();
            for (target, slot) in old.targets.iter().zip(&old.slots) {
                match positions.get(target).and_then(|position| slots.get_mut(*position)) {
                    Some(place) => *place = *slot,
                    None => removed.push(*target),
                }
            }
        }
        (Self { targets: Arc::clone(targets), slots }, removed)
    }

    /// The target at a position, with the state of the assignment.
    pub(super) fn at(&self, position: u32) -> (u32, &Slot) {
        let position = position as usize;
        let both = self.targets.get(position).zip(self.slots.get(position));
        both.map_or_else(|| require(None, NO_POSITION), |(target, slot)| (*target, slot))
    }

    /// Like [`Self::at`], to change the state.
    pub(super) fn at_mut(&mut self, position: u32) -> (u32, &mut Slot) {
        let position = position as usize;
        let both = self.targets.get(position).zip(self.slots.get_mut(position));
        both.map_or_else(|| require(None, NO_POSITION), |(target, slot)| (*target, slot))
    }
}

impl Slot {
    const UNKNOWN: Self = Self {
        inputs: Digest::from_bytes([0; 16]),
        rendering: Digest::from_bytes([0; 16]),
        tree: None,
        is_wide: false,
        is_known: false,
        is_rendered: false,
        warnings: None,
    };

    /// An evaluated assignment without a folder.
    fn evaluated(pair: &ClassPair, rendering: Digest) -> Self {
        Self { inputs: all_inputs(pair, rendering), rendering, is_known: true, ..Self::UNKNOWN }
    }

    /// Whether it was evaluated with the same inputs as the other one.
    fn has_same_inputs(&self, other: &Self) -> bool {
        self.is_known && self.inputs == other.inputs
    }
}

impl Evaluated {
    /// A result without errors and without work.
    fn from_slot(slot: Slot) -> Self {
        Self { slot, failures: Some(Vec::new()), was_rendered: false, was_saved: false, files: 0, bytes: 0 }
    }
}

impl<'a> RowContext<'a> {
    pub(crate) fn new(prepared: &'a Prepared, shared: &'a SharedFiles, place: &'a Place) -> Self {
        Self { prepared, shared, place, fields: PlaceFields::new(place), recent_files: Rc::default() }
    }

    /// The same, with the recent files of assignments of several places.
    pub(crate) fn sharing(self, recent_files: &Rc<RecentFiles>) -> Self {
        Self { recent_files: Rc::clone(recent_files), ..self }
    }

    /// Evaluates an assignment with the previous state `before`. None if no input changed.
    pub(crate) fn evaluate(&self, assignment: &AssignmentInputs<'_>, before: &Slot, memo: &Memo) -> Option<Evaluated> {
        let Ok(templates) = self.prepared.templates(self.place) else {
            let found = Slot::evaluated(assignment.pair, Digest::from_value("no templates"));
            return (!before.has_same_inputs(&found)).then(|| Evaluated::from_slot(found));
        };
        let pinned = self.prepared.pinned(self.place, assignment.target);
        let context = self.context(assignment, pinned.as_ref().ok().and_then(Option::as_ref));
        let slot_with = |is_wide| {
            let rendering = match &pinned {
                Ok(_) => templates.inputs(&context, is_wide),
                Err(conflicts) => meaning(conflicts),
            };
            Slot { is_wide, ..Slot::evaluated(assignment.pair, rendering) }
        };
        let found = slot_with(before.is_wide);
        if before.has_same_inputs(&found) {
            return None;
        }
        if before.is_known && before.rendering == found.rendering {
            let Slot { tree, warnings, .. } = *before;
            return Some(Evaluated { failures: None, ..Evaluated::from_slot(Slot { tree, warnings, ..found }) });
        }
        if let Err(conflicts) = pinned {
            return Some(Evaluated { failures: Some(conflicts), ..Evaluated::from_slot(found) });
        }
        let slot_with = |is_wide| if is_wide == found.is_wide { found } else { slot_with(is_wide) };
        // A rendering that may have read all data is stored under a digest of all data.
        let saved = [false, true].into_iter().filter(|is_wide| !is_wide || memo.has_wide()).find_map(|is_wide| {
            let found = slot_with(is_wide);
            let saved = memo.rendering(found.inputs).filter(|saved| saved.is_wide == is_wide)?;
            let slot = Slot { tree: Some(saved.tree), warnings: saved.warnings, ..found };
            Some(Evaluated { was_saved: true, ..Evaluated::from_slot(slot) })
        });
        if saved.is_some() {
            return saved;
        }
        let Rendered { files, warnings_digest, has_read_anything, own_files, .. } =
            self.render(assignment.pair, &context, Some(self.shared));
        let warnings = warnings_digest.filter(|_| files.is_ok());
        let found = Slot { warnings, ..slot_with(has_read_anything) };
        let rendered = Evaluated { was_rendered: true, files: own_files, ..Evaluated::from_slot(found) };
        Some(match files {
            Ok(files) => {
                let bytes = files.values().map(Content::len).sum();
                Evaluated { slot: Slot { tree: Some(folder_of(files, self.shared)), ..found }, bytes, ..rendered }
            }
            Err(failures) => Evaluated { failures: Some(failures), ..rendered },
        })
    }

    /// Renders the files of an assignment.
    ///
    /// # Errors
    /// Diagnostics if it can't be rendered.
    pub(crate) fn files(&self, assignment: &AssignmentInputs<'_>) -> Result<RenderedFiles, Vec<Diagnostic>> {
        self.prepared.templates(self.place).map_err(|_| self.template_problems())?;
        let pinned = self.prepared.pinned(self.place, assignment.target)?;
        self.render(assignment.pair, &self.context(assignment, pinned.as_ref()), None).into_files()
    }

    /// Renders the files of an assignment. These manifests are applied instead of the fleet's release pins.
    ///
    /// # Errors
    /// Diagnostics if it can't be rendered.
    pub(crate) fn files_with(
        &self,
        assignment: &AssignmentInputs<'_>,
        manifests: &Manifests,
    ) -> Result<RenderedFiles, Vec<Diagnostic>> {
        self.prepared.templates(self.place).map_err(|_| self.template_problems())?;
        let pinned = Pinned::with(manifests, &assignment.target.target);
        self.render(assignment.pair, &self.context(assignment, pinned.as_ref()), None).into_files()
    }

    fn render(&self, pair: &ClassPair, context: &Context<'_>, shared: Option<&SharedFiles>) -> Rendered {
        let composition = pair.values.composition(|| self.prepared.containers_at(&pair.containers));
        match self.prepared.templates(self.place) {
            Ok(templates) => templates.render(context, composition, shared),
            Err(_) => Rendered::failed(self.template_problems()),
        }
    }

    /// The objects in the files of an assignment. Empty if it can't be rendered, or if their names may be sensitive.
    pub(crate) fn objects(&self, assignment: &AssignmentInputs<'_>) -> Vec<RenderedObject> {
        let pinned = self.prepared.pinned(self.place, assignment.target).ok().flatten();
        let context = self.context(assignment, pinned.as_ref());
        let pair = assignment.pair;
        let composition = pair.values.composition(|| self.prepared.containers_at(&pair.containers));
        match self.prepared.templates(self.place) {
            Ok(templates) if !context.hides_output => templates.objects(&context, composition),
            _ => Vec::new(),
        }
    }

    /// The warnings about the files of an assignment. It is rendered again.
    pub(crate) fn warnings(&self, assignment: &AssignmentInputs<'_>) -> Vec<Diagnostic> {
        let pinned = self.prepared.pinned(self.place, assignment.target).ok().flatten();
        let rendered = self.render(assignment.pair, &self.context(assignment, pinned.as_ref()), None);
        let containers = self.prepared.containers_at(&assignment.pair.containers);
        let described = |OutputWarning { mut diagnostic, value_key }: OutputWarning| {
            let set_here =
                value_key.and_then(|key| containers.iter().rev().find_map(|container| container.origin_of(&key)));
            if let Some(origin) = set_here {
                let printed = diagnostic.labels.drain(..).collect::<Vec<_>>();
                diagnostic = diagnostic.at(origin, "this value");
                diagnostic.labels.extend(printed);
            }
            diagnostic
        };
        rendered.warnings.iter().flat_map(FileWarnings::all).cloned().map(described).collect()
    }

    fn template_problems(&self) -> Vec<Diagnostic> {
        self.prepared.template_problems(self.place.cluster_type.name.as_arc())
    }

    fn context<'c>(&'c self, assignment: &AssignmentInputs<'c>, pinned: Option<&'c Pinned>) -> Context<'c> {
        let AssignmentInputs { target, pair } = *assignment;
        Context {
            environment: &self.prepared.fleet.environment,
            place: self.place,
            place_fields: &self.fields,
            target: &target.target,
            target_fields: &target.fields,
            pinned,
            values: pair.values.digest,
            has_nested: pair.has_nested,
            long_names: self.prepared.settings.long_names,
            checked_outlines: Some(self.shared.checked_outlines()),
            recent_files: &self.recent_files,
            hides_output: pair.checked.has_sensitive,
            sensitive: &pair.sensitive,
            sensitive_digest: pair.sensitive_digest,
        }
    }
}

/// The id of an assignment's folder. The folder is added to the cache while there is room for it.
fn folder_of(files: BTreeMap<Arc<str>, Content>, shared: &SharedFiles) -> GitId {
    let cache = shared.folder_cache();
    let is_cached = cache.is_open();
    let own_bytes = files.values().map(Content::len).sum();
    let blob = |content| match content {
        Content::Bytes(bytes) if is_cached => Blob::new(bytes),
        Content::Bytes(bytes) => Blob::existing(GitId::of_blob(&bytes)),
        Content::Shared(id) if is_cached => cache.file(id).unwrap_or_else(|| Blob::existing(id)),
        Content::Shared(id) => Blob::existing(id),
    };
    let files: Vec<_> = files.into_iter().map(|(name, content)| (name, blob(content))).collect();
    let is_whole = files.iter().all(|(_, blob)| blob.bytes().is_some());
    let folder = folder(files.into_iter());
    if is_whole {
        cache.add_folder(&folder, own_bytes);
    }
    folder.id()
}

/// The folder of files with their bytes.
pub(crate) fn with_bytes(files: RenderedFiles) -> Tree {
    folder(files.into_iter().map(|(name, bytes)| (name, Blob::new(bytes))))
}

fn folder(files: impl Iterator<Item = (Arc<str>, Blob)>) -> Tree {
    Tree::from_children(files.map(|(name, blob)| (name, Child::File(Entry { mode: Mode::File, blob }))))
}

/// The digest of problems without their places, so that a moved object does not change it.
fn meaning(problems: &[Diagnostic]) -> Digest {
    let mut meaning = DigestBuilder::new("problems");
    for problem in problems {
        meaning.text(&problem.message);
        problem.labels.iter().for_each(|label| {
            meaning.text(&label.text);
        });
    }
    meaning.finish()
}

fn all_inputs(pair: &ClassPair, rendering: Digest) -> Digest {
    let mut inputs = DigestBuilder::new("assignment");
    inputs.digest(pair.values.inputs).digest(pair.validation).digest(rendering);
    inputs.finish()
}
