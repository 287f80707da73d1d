//! The assignments of one place: what is known about each, in little memory.

use std::collections::HashMap;
use std::sync::Arc;

use model::diagnostic::Diagnostic;
use model::digest::{Digest, DigestBuilder};
use model::git_id::GitId;
use model::tree::{Child, Entry, Tree};

use super::pairs::Pair;
use crate::memo::{Memo, Rendering};
use crate::place::Place;
use crate::prepare::{Prepared, PreparedTarget};
use crate::render::{Context, Files, Pinned, PlaceFields, Rendered};

/// The assignments of a place.
#[derive(Debug)]
pub(crate) struct Row {
    /// The numbers of the targets, in the order of their folders.
    pub(crate) targets: Arc<[u32]>,
    /// What is known about each.
    pub(crate) slots: Box<[Slot]>,
}

/// What is known about an assignment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    /// Everything that it depends on.
    pub(crate) inputs: Digest,
    /// What its rendering depends on.
    pub(crate) rendering: Digest,
    /// The id of its folder, if it could be rendered.
    pub(crate) tree: Option<GitId>,
    /// Whether its rendering may have read all of the data.
    pub(crate) is_wide: bool,
    /// Whether it was looked at.
    pub(crate) is_known: bool,
    /// Whether its folder is in the place's folder: nothing is wrong with it.
    pub(crate) is_shown: bool,
}

/// What came of looking at an assignment.
#[derive(Debug)]
pub(crate) struct Evaluated {
    pub(crate) slot: Slot,
    /// Why it can't be rendered; none: as was known before.
    pub(crate) failures: Option<Vec<Diagnostic>>,
    /// Whether its templates were rendered.
    pub(crate) was_rendered: bool,
    /// Whether it was known from an earlier run.
    pub(crate) was_saved: bool,
    /// The bytes of its files, if it was rendered.
    pub(crate) bytes: usize,
}

/// A place, as its assignments see it.
#[derive(Debug)]
pub(crate) struct RowContext<'a> {
    prepared: &'a Prepared,
    place: &'a Place,
    fields: PlaceFields,
}

impl Row {
    /// A row for these targets that takes over what is known of an old one: its slots that stay, and the targets that are gone.
    pub(crate) fn realigned(targets: &Arc<[u32]>, old: Option<&Self>) -> (Self, Vec<u32>) {
        let mut slots = vec![Slot::UNKNOWN; targets.len()].into_boxed_slice();
        let mut gone = Vec::new();
        if let Some(old) = old {
            let positions: HashMap<u32, usize> =
                targets.iter().enumerate().map(|(position, target)| (*target, position)).collect();
            for (target, slot) in old.targets.iter().zip(&old.slots) {
                match positions.get(target).and_then(|position| slots.get_mut(*position)) {
                    Some(place) => *place = *slot,
                    None => gone.push(*target),
                }
            }
        }
        (Self { targets: Arc::clone(targets), slots }, gone)
    }
}

impl Slot {
    const UNKNOWN: Self = Self {
        inputs: Digest::from_bytes([0; 16]),
        rendering: Digest::from_bytes([0; 16]),
        tree: None,
        is_wide: false,
        is_known: false,
        is_shown: false,
    };
}

impl<'a> RowContext<'a> {
    pub(crate) fn new(prepared: &'a Prepared, place: &'a Place) -> Self {
        Self { prepared, place, fields: PlaceFields::of(place) }
    }

    /// Looks at an assignment. None if all that it depends on is as it was.
    pub(crate) fn evaluate(
        &self,
        target: &PreparedTarget,
        pair: &Pair,
        before: &Slot,
        memo: &Memo,
    ) -> Option<Evaluated> {
        let Ok(templates) = self.prepared.templates(self.place) else {
            let nothing = Digest::of("no templates");
            let slot = Slot { inputs: all_inputs(pair, nothing), rendering: nothing, is_known: true, ..Slot::UNKNOWN };
            let is_same = before.is_known && before.inputs == slot.inputs;
            return (!is_same).then_some(Evaluated {
                slot,
                failures: Some(Vec::new()),
                was_rendered: false,
                was_saved: false,
                bytes: 0,
            });
        };
        let pinned = self.pinned(target);
        let context = self.context(target, pair, pinned.as_ref().ok().and_then(Option::as_ref));
        let rendering_of = |is_wide| match &pinned {
            Ok(_) => templates.inputs(&context, is_wide),
            Err(conflicts) => Digest::of(conflicts),
        };
        let mut is_wide = before.is_wide;
        let mut rendering = rendering_of(is_wide);
        let mut inputs = all_inputs(pair, rendering);
        if before.is_known && before.inputs == inputs {
            return None;
        }
        let slot = Slot { inputs, rendering, is_wide, is_known: true, ..Slot::UNKNOWN };
        let found = Evaluated { slot, failures: Some(Vec::new()), was_rendered: false, was_saved: false, bytes: 0 };
        if before.is_known && before.rendering == rendering {
            return Some(Evaluated { slot: Slot { tree: before.tree, ..slot }, failures: None, ..found });
        }
        if let Some(Rendering { tree, is_wide }) = self.saved(&inputs, memo, || all_inputs(pair, rendering_of(true))) {
            if is_wide {
                rendering = rendering_of(true);
                inputs = all_inputs(pair, rendering);
            }
            let slot = Slot { inputs, rendering, is_wide, tree: Some(tree), ..slot };
            return Some(Evaluated { slot, was_saved: true, ..found });
        }
        if let Err(conflicts) = pinned {
            return Some(Evaluated { failures: Some(conflicts), ..found });
        }
        let Rendered { files, has_read_anything } = self.render(target, pair, &context);
        if has_read_anything != is_wide {
            is_wide = has_read_anything;
            rendering = rendering_of(is_wide);
            inputs = all_inputs(pair, rendering);
        }
        let bytes = files.as_ref().map_or(0, |files| files.values().map(|bytes| bytes.len()).sum());
        let (tree, failures) = match files {
            Ok(files) => (Some(folder_of(files).id()), Vec::new()),
            Err(failures) => (None, failures),
        };
        let slot = Slot { inputs, rendering, is_wide, tree, ..slot };
        Some(Evaluated { slot, failures: Some(failures), was_rendered: true, was_saved: false, bytes })
    }

    /// The files of an assignment, or why there are none.
    pub(crate) fn files(&self, target: &PreparedTarget, pair: &Pair) -> Result<Files, Vec<Diagnostic>> {
        self.prepared.templates(self.place).map_err(<[_]>::to_vec)?;
        let pinned = self.pinned(target)?;
        self.render(target, pair, &self.context(target, pair, pinned.as_ref())).files
    }

    fn saved(&self, inputs: &Digest, memo: &Memo, wide_inputs: impl FnOnce() -> Digest) -> Option<Rendering> {
        let saved = memo.rendering(*inputs)?;
        if saved.is_wide { memo.rendering(wide_inputs()) } else { Some(saved) }
    }

    fn render(&self, target: &PreparedTarget, pair: &Pair, context: &Context<'_>) -> Rendered {
        let composition = pair.values.composition(|| self.prepared.containers_at(&pair.containers));
        debug_assert_eq!(context.target.name, target.target.name);
        match self.prepared.templates(self.place) {
            Ok(templates) => templates.render(context, composition),
            Err(problems) => Rendered { files: Err(problems.to_vec()), has_read_anything: false },
        }
    }

    fn pinned(&self, target: &PreparedTarget) -> Result<Option<Pinned>, Vec<Diagnostic>> {
        let laid_over = self.prepared.pins.over(|key| self.place.label(key), &target.target)?;
        Ok(laid_over.map(|manifests| Pinned::of(&manifests)))
    }

    fn context<'c>(&'c self, target: &'c PreparedTarget, pair: &'c Pair, pinned: Option<&'c Pinned>) -> Context<'c> {
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
            hides_output: pair.checked.has_sensitive,
        }
    }
}

/// The folder that an assignment's files are.
pub(crate) fn folder_of(files: Files) -> Tree {
    Tree::from_children(files.into_iter().map(|(name, bytes)| (name, Child::File(Entry::file(bytes)))))
}

fn all_inputs(pair: &Pair, rendering: Digest) -> Digest {
    let mut inputs = DigestBuilder::new("assignment");
    inputs.digest(pair.values.inputs).digest(pair.validation).digest(rendering);
    inputs.finish()
}
