//! Pairs the removed and the added assignments that are the same one under another name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{AssignmentChange, ChangeKind, Plan, PlanInput, PlannedId};
use crate::compile::Compiled;
use crate::compile::renames::Renames;

impl Plan {
    /// Replaces each pair by one change, under the present name. Afterwards, nothing of a pair counts as removed.
    pub(super) fn pair_renamed(&mut self, comparison: &PlanInput<'_>) {
        // A renamed place leaves at least the marker of its earlier folder.
        let has_removed_file = self.other_files.iter().any(|file| file.kind == ChangeKind::Removed);
        if !has_removed_file && (self.count(ChangeKind::Removed) == 0 || self.count(ChangeKind::Added) == 0) {
            return;
        }
        let renames = Renames::new(comparison.new.prepared());
        if renames.is_empty() {
            return;
        }
        self.pair_markers(&renames);
        for (earlier, present) in self.pairs(&renames, comparison) {
            let Some(removed) = self.changes.remove(&earlier) else { continue };
            if let Some(change) = self.changes.get_mut(&present) {
                if earlier.place != present.place {
                    self.renamed_places.insert(earlier.place.clone(), present.place.clone());
                }
                *change = AssignmentChange {
                    kind: ChangeKind::Renamed,
                    renamed_from: Some(earlier),
                    before: removed.before,
                    ..change.clone()
                };
            }
        }
        let is_renamed = |place: &mut Arc<str>| self.renamed_places.contains_key(place);
        self.left_places = self.removed_places.extract_if(.., is_renamed).collect();
    }

    /// Finds the renamed places by the markers of their folders: a place may have no assignments.
    fn pair_markers(&mut self, renames: &Renames) {
        let markers = |kind| {
            let of_kind = self.other_files.iter().filter(move |file| file.kind == kind);
            of_kind.filter_map(|file| file.path.strip_suffix("/README.md")).collect::<BTreeSet<_>>()
        };
        let (removed, added) = (markers(ChangeKind::Removed), markers(ChangeKind::Added));
        let has_marker =
            |markers: &BTreeSet<&str>, place| self.folders.get(place).is_some_and(|folder| markers.contains(&**folder));
        for (earlier, present) in renames.places() {
            if has_marker(&removed, earlier) && has_marker(&added, present) {
                self.renamed_places.insert(Arc::clone(earlier), Arc::clone(present));
            }
        }
    }

    /// The removed assignments with the added ones. Each is in one pair.
    fn pairs(&self, renames: &Renames, comparison: &PlanInput<'_>) -> Vec<(PlannedId, PlannedId)> {
        let mut pairs: BTreeMap<PlannedId, PlannedId> = BTreeMap::new();
        for (earlier, _) in self.changes.iter().filter(|(_, change)| change.kind == ChangeKind::Removed) {
            let Some((place, target)) = renames.successor(&earlier.place, &earlier.target) else { continue };
            let present = PlannedId { place, target };
            let is_added = self.changes.get(&present).is_some_and(|change| change.kind == ChangeKind::Added);
            if is_added && is_of_one_team(comparison, earlier, &present) {
                pairs.entry(present).or_insert_with(|| earlier.clone());
            }
        }
        pairs.into_iter().map(|(present, earlier)| (earlier, present)).collect()
    }
}

/// Whether both targets are the same one, or belong to one workspace: the folders of one team must not become those of another. In an environment with rings, the
/// sources of the newest publication may not have the earlier target any more. Then the check of the earlier name is enough.
fn is_of_one_team(comparison: &PlanInput<'_>, earlier: &PlannedId, present: &PlannedId) -> bool {
    if earlier.target == present.target {
        return true;
    }
    let workspace = |side: &Compiled, target: &str| {
        let prepared = side.prepared();
        Some(prepared.target(prepared.target_id(target)?)?.target.workspace().to_owned())
    };
    let Some(old) = comparison.old else { return false };
    workspace(old, &earlier.target).is_none_or(|before| workspace(comparison.new, &present.target) == Some(before))
}
