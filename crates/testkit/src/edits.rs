//! Random sequences of edits of a small fleet, made from a seed. They contain every kind of edit that users make, also edits that break files.

mod draft;
mod fleet;
mod health;
mod labels;
mod layout;
mod object;
mod places;
mod rules;
mod state;
mod values;

use std::collections::BTreeMap;
use std::fmt;

use simulator::random::Random;

use draft::{Draft, Health};
use state::State;

/// An edit. It sets or removes whole files, so it can be applied to any set of files, whatever their state is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetEdit {
    kind: &'static str,
    what: String,
    changes: BTreeMap<String, Option<String>>,
}

/// An endless sequence of edits. Each edit starts from the result of the edit before it.
#[derive(Clone, Debug)]
pub struct FleetEdits {
    state: State,
    random: Random,
}

/// Makes an edit. Returns `None` if the state has no object for this kind of edit.
type Make = fn(&State, &mut Random) -> Option<Draft>;

/// Edits that do not change the meaning of the files.
const LAYOUT: [(&str, Make); 6] = [
    ("comment added", layout::comment_added),
    ("comment changed", layout::comment_changed),
    ("keys reordered", layout::keys_reordered),
    ("objects reordered", layout::objects_reordered),
    ("file renamed", layout::file_renamed),
    ("object moved", layout::object_moved),
];

/// Edits that change the content of an object or break the object.
const KINDS: [(&str, Make); 38] = [
    ("value changed", values::changed),
    ("value added", values::added),
    ("value removed", values::removed),
    ("merge annotation changed", values::annotation),
    ("cluster type's label changed", labels::of_cluster_type),
    ("cluster's label changed", labels::of_cluster),
    ("config map's label changed", labels::of_config_map),
    ("schema's label changed", labels::of_schema),
    ("workload's label changed", labels::of_workload),
    ("target's label changed", labels::of_target),
    ("policy changed", rules::policy_changed),
    ("policy added", rules::policy_added),
    ("policy removed", rules::policy_removed),
    ("mapping added", rules::mapping_added),
    ("mapping changed", rules::mapping_changed),
    ("mapping removed", rules::mapping_removed),
    ("pin added", rules::pin_added),
    ("pin changed", rules::pin_changed),
    ("pin removed", rules::pin_removed),
    ("schema changed", rules::schema_changed),
    ("template that reads labels changed", rules::template_with_labels_changed),
    ("template that reads no labels changed", rules::template_without_labels_changed),
    ("environment changed", rules::environment_changed),
    ("cluster added", places::cluster_added),
    ("cluster removed", places::cluster_removed),
    ("cluster renamed", places::cluster_renamed),
    ("cluster retyped", places::cluster_retyped),
    ("cluster type added", places::cluster_type_added),
    ("cluster type removed", places::cluster_type_removed),
    ("cluster type retemplated", places::cluster_type_retemplated),
    ("workload renamed", places::workload_renamed),
    ("target added", places::target_added),
    ("target removed", places::target_removed),
    ("manifests changed", places::manifests_changed),
    ("object duplicated", places::duplicated),
    ("config map broken", health::config_map_broken),
    ("template broken", health::template_broken),
    ("schema broken", health::schema_broken),
];

/// Edits that undo a state in which many assignments fail.
const REPAIRS: [(&str, Make); 2] = [("copy removed", places::unduplicated), ("fixed", health::fixed)];

/// The maximum number of files that are broken at the same time.
const BROKEN_MAX: usize = 2;

/// The small fleet from which edits start: 6 cluster types, 30 clusters, 12 targets, 20 `ConfigMap`s, 2 schemas, a label mapping, a pin and
/// templates. Some of the templates read labels.
pub fn fleet(seed: u64) -> BTreeMap<String, String> {
    fleet::files(seed)
}

impl FleetEdits {
    /// Starts a sequence of edits of the small fleet of this seed.
    pub fn new(seed: u64) -> Self {
        let state = State { files: fleet(seed), broken: BTreeMap::new(), turn: 0 };
        Self { state, random: Random::new(seed) }
    }

    /// The current files: those of [`fleet()`] before the first edit, later the result of all edits so far.
    pub fn files(&self) -> &BTreeMap<String, String> {
        &self.state.files
    }

    /// Makes the next edit. Returns `None` if the chosen kind of edit is not possible or changes nothing.
    fn attempt(&mut self) -> Option<FleetEdit> {
        let kinds = match self.random.below(8) {
            0 => &LAYOUT[..],
            1..=3 => &REPAIRS[..],
            _ => &KINDS[..],
        };
        let (kind, make) = *state::pick(kinds, &mut self.random)?;
        let Draft { what, changes, health } = make(&self.state, &mut self.random)?;
        if health == Health::Breaks && self.state.broken.len() >= BROKEN_MAX {
            return None;
        }
        let changes: BTreeMap<_, _> =
            changes.into_iter().filter(|(path, text)| self.state.files.get(path) != text.as_ref()).collect();
        let edit = FleetEdit { kind, what, changes };
        for path in edit.changes.keys() {
            match health {
                Health::Breaks => drop(self.state.broken.insert(path.clone(), self.state.files[path].clone())),
                Health::Fixes => drop(self.state.broken.remove(path)),
                Health::Same => {}
            }
        }
        edit.apply(&mut self.state.files);
        (!edit.changes.is_empty()).then_some(edit)
    }
}

impl Iterator for FleetEdits {
    type Item = FleetEdit;

    fn next(&mut self) -> Option<FleetEdit> {
        self.state.turn += 1;
        loop {
            if let Some(edit) = self.attempt() {
                return Some(edit);
            }
        }
    }
}

impl FleetEdit {
    /// The kind of the edit. All edits of one kind have the same text.
    pub fn kind(&self) -> &'static str {
        self.kind
    }

    /// Whether the edit keeps the meaning: it changes only comments, order or file names.
    pub fn is_layout(&self) -> bool {
        LAYOUT.iter().any(|(kind, _)| *kind == self.kind)
    }

    /// The changed files with their new texts. The value is `None` if the edit removes the file.
    pub fn changes(&self) -> &BTreeMap<String, Option<String>> {
        &self.changes
    }

    /// Applies the edit to the files. Returns the paths that the edit sets or removes.
    pub fn apply(&self, files: &mut BTreeMap<String, String>) -> Vec<String> {
        for (path, text) in &self.changes {
            match text {
                Some(text) => drop(files.insert(path.clone(), text.clone())),
                None => drop(files.remove(path)),
            }
        }
        self.changes.keys().cloned().collect()
    }
}

impl fmt::Display for FleetEdit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.kind, self.what)
    }
}

#[cfg(test)]
mod tests;
