//! Finds the reasons why assignments change: the changed values, and their places in the input.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, Origin};
use model::digest::Digest;
use model::earlier_names::RENAMED_FROM;
use model::field_path::FieldPath;
use model::name::PolicyName;
use model::object_key::ObjectKey;
use model::tree::{Blob, OpenError};
use model::yaml;

use super::causes::{self, Causes, ObjectDifferences};
use super::{
    AssignmentChange, Cause, ChangeKind, ChangeReason, ChangeReasons, FileChange, PlanInput, PlannedId, ValueChange,
};
use crate::answers::explain::AssignmentValues;
use crate::compile::Compiled;
use crate::schedule::pin::Pin;
use crate::schedule::place::Place;

/// The maximum number of different changes of values that are computed. Each one composes twice, or reads files.
const REASONS_MAX: usize = 2_000;
/// The maximum number of value changes in all these changes together. Each one takes some hundred bytes.
const VALUES_MAX: usize = 500_000;

/// Finds the reasons of changes. Equal reasons are computed once.
pub(super) struct ReasonFinder<'a> {
    comparison: &'a PlanInput<'a>,
    causes: Option<Causes<'a>>,
    by_values: BTreeMap<(SameValues, ObjectDifferences), Arc<ChangeReasons>>,
    all: BTreeSet<Arc<ChangeReasons>>,
    computed: usize,
    values: usize,
}

/// The digests of the inputs of composition and of the sensitive paths, for both fleets. Assignments with equal digests have the same values
/// from the same places before and after, and the same values are sensitive.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SameValues {
    old: [Digest; 2],
    new: [Digest; 2],
}

impl<'a> ReasonFinder<'a> {
    pub(super) fn new(comparison: &'a PlanInput<'a>) -> Self {
        let causes = comparison.old.map(|old| Causes::new(old, comparison.new));
        Self { comparison, causes, by_values: BTreeMap::new(), all: BTreeSet::new(), computed: 0, values: 0 }
    }

    /// Returns the workload of an assignment, and the reasons of its change. `path` is the path of its folder.
    pub(super) fn find(
        &mut self,
        id: &PlannedId,
        change: &AssignmentChange,
        path: &str,
    ) -> Result<(Arc<str>, Option<Arc<ChangeReasons>>), OpenError> {
        let Some(id) = id.assignment() else { return Ok(("".into(), Some(self.shared(ChangeReasons::default())))) };
        let workload = self.comparison.workload(&id).unwrap_or_else(|| "".into());
        let earlier = change.renamed_from.as_ref().and_then(PlannedId::assignment);
        let before = earlier.as_ref().unwrap_or(&id);
        if !matches!(change.kind, ChangeKind::Changed | ChangeKind::Renamed) {
            let others = self.comparison.reasons(&id, change.kind);
            return Ok((workload, Some(self.shared(ChangeReasons { values: Vec::new(), others }))));
        }
        if let Some(held) = self.comparison.output.held.get(&id) {
            let origin = |pin: &Pin| Origin::field(&pin.key(), FieldPath::from(["spec"]));
            let pins = held.pins.iter().map(|pin| (Arc::clone(pin.name.as_arc()), origin(pin)));
            let others = vec![ChangeReason::Held(held.from, pins.collect())];
            return Ok((workload, Some(self.shared(ChangeReasons { values: Vec::new(), others }))));
        }
        let renamed = earlier.as_ref().and_then(|earlier| self.comparison.renamed(earlier, &id));
        let same = self.comparison.same_values(before, &id);
        let mut differences = match (&same, &mut self.causes) {
            (Some(_), Some(causes)) => causes.differences(before, &id),
            _ => ObjectDifferences::default(),
        };
        differences.add(renamed);
        let key = same.map(|same| (same, differences.clone()));
        if let Some(known) = key.as_ref().and_then(|key| self.by_values.get(key)) {
            return Ok((workload, Some(Arc::clone(known))));
        }
        if self.computed >= REASONS_MAX || self.values >= VALUES_MAX {
            return Ok((workload, None));
        }
        self.computed += 1;
        let values = match self.comparison.composed_changes(before, &id) {
            Some(values) => values,
            None => self.comparison.file_values(&id, &change.files(path, self.comparison.open)?),
        };
        self.values += values.len();
        let mut others = differences.reasons(values.iter().filter_map(|value| value.cause.as_ref()));
        if values.is_empty() && others.is_empty() {
            others.push(ChangeReason::Unknown);
        }
        let reasons = self.shared(ChangeReasons { values: values.into_iter().collect(), others });
        if let Some(key) = key {
            self.by_values.insert(key, Arc::clone(&reasons));
        }
        Ok((workload, Some(reasons)))
    }

    fn shared(&mut self, reasons: ChangeReasons) -> Arc<ChangeReasons> {
        if let Some(known) = self.all.get(&reasons) {
            return Arc::clone(known);
        }
        let reasons = Arc::new(reasons);
        self.all.insert(Arc::clone(&reasons));
        reasons
    }
}

impl PlanInput<'_> {
    fn workload(&self, id: &AssignmentId) -> Option<Arc<str>> {
        let of = |side: &Compiled| side.get(id).map(|assignment| Arc::from(assignment.workload()));
        of(self.new).or_else(|| self.old.and_then(of))
    }

    fn reasons(&self, id: &AssignmentId, kind: ChangeKind) -> Vec<ChangeReason> {
        let policies =
            |side: &Compiled| side.get(id).into_iter().flat_map(|assignment| assignment.policies()).collect::<Vec<_>>();
        match kind {
            ChangeKind::Added => {
                let origin = |policy: &PolicyName| {
                    let object = self.new.fleet().policies.get(policy)?;
                    Some(Origin::field(&object.key(), FieldPath::from(["spec"])))
                };
                let named =
                    policies(self.new).into_iter().filter_map(|policy| origin(&policy).map(|origin| (policy, origin)));
                vec![ChangeReason::AssignedBy(named.collect())]
            }
            ChangeKind::Changed | ChangeKind::Renamed => Vec::new(),
            ChangeKind::Removed if !self.new.has_place(id.place.as_str()) => {
                let was_cluster = self.old.is_some_and(|old| old.fleet().clusters.contains_key(id.place.as_str()));
                vec![if was_cluster { ChangeReason::ClusterRemoved } else { ChangeReason::ClusterTypeRemoved }]
            }
            ChangeKind::Removed if !self.new.has_target(id.target.as_str()) => {
                vec![ChangeReason::TargetRemoved(Arc::clone(id.target.as_arc()))]
            }
            ChangeKind::Removed => vec![ChangeReason::NotAssigned(self.old.map(policies).unwrap_or_default())],
        }
    }

    /// The inputs that determine the values of an assignment before and after. None if the previous fleet is not known or does not contain it.
    fn same_values(&self, before: &AssignmentId, after: &AssignmentId) -> Option<SameValues> {
        let inputs = |side: &Compiled, id: &AssignmentId| {
            let assignment = side.get(id)?;
            Some([assignment.composition_inputs()?, assignment.marks()?])
        };
        Some(SameValues { old: inputs(self.old?, before)?, new: inputs(self.new, after)? })
    }

    /// The reason that an assignment has another name, with the place of the annotation.
    fn renamed(&self, before: &AssignmentId, after: &AssignmentId) -> Option<ChangeReason> {
        let origin = |key: &ObjectKey, annotation: &str| {
            Cause::New(Origin::field(key, FieldPath::from(["metadata", "annotations"]).key(annotation)))
        };
        let (mut names, mut causes) = (Vec::new(), Vec::new());
        if before.place != after.place {
            names.push(Arc::clone(before.place.as_arc()));
            let place = Place::find(self.new.fleet(), after.place.as_str());
            causes.extend(place.map(|place| origin(&place.key(), RENAMED_FROM)));
        }
        if before.target != after.target {
            names.push(Arc::clone(before.target.as_arc()));
            let target = self.new.get(after).and_then(|assignment| assignment.target());
            causes.extend(target.map(|target| Cause::New(Origin::field(&target.origin.0, target.origin.1.clone()))));
        }
        causes.into_iter().next().map(|cause| ChangeReason::Renamed(names, cause))
    }

    /// The changed values. None if the previous fleet is not known or does not contain the assignment.
    fn composed_changes(&self, was: &AssignmentId, is: &AssignmentId) -> Option<BTreeSet<ValueChange>> {
        let old = self.old.filter(|old| old.get(was).is_some())?;
        // A value that is sensitive on one side is hidden on both sides: a mark is often added after the value.
        let before = AssignmentValues::find(old.prepared(), was, self.new.prepared().sensitive_paths(is));
        let after = AssignmentValues::find(self.new.prepared(), is, old.prepared().sensitive_paths(was));
        Some(compare(&before?, &after?))
    }

    /// The changed values, read from the configuration files.
    fn file_values(&self, id: &AssignmentId, files: &[FileChange]) -> BTreeSet<ValueChange> {
        let new = AssignmentValues::find(self.new.prepared(), id, BTreeSet::new());
        let shown = new.as_ref().map(AssignmentValues::shown).unwrap_or_default();
        let are_all_public = self.new.get(id).is_some() && self.new.prepared().sensitive_paths(id).is_empty();
        let origin = |path: &FieldPath| new.as_ref()?.origin(path);
        values_in_files(&self.config_files(files), (&shown, &origin), are_all_public)
    }

    /// The contents of the changed configuration files, before and after.
    fn config_files(&self, files: &[FileChange]) -> Vec<[Arc<[u8]>; 2]> {
        let is_config = |change: &&FileChange| {
            change.path.rsplit('/').next().is_some_and(|name| name.starts_with("platform-config."))
        };
        let content = |blob: &Option<Blob>| {
            let blob = blob.as_ref()?;
            blob.bytes().cloned().or_else(|| (self.content)(blob.id()))
        };
        let both = |change: &FileChange| Some([content(&change.before)?, content(&change.after)?]);
        files.iter().filter(is_config).filter_map(both).collect()
    }
}

/// Returns the place of a value, if it is known.
type OriginOf<'a> = &'a dyn Fn(&FieldPath) -> Option<Origin>;

/// Compares the `data` of YAML configuration files before and after. It is used if the inputs of the previous files are not known.
///
/// A template may have written any text under any key. If values can be sensitive, a value is shown only if it is equal to the composed
/// value at the same path. Other values are shown as hidden.
fn values_in_files(
    files: &[[Arc<[u8]>; 2]],
    (known, origin): (&BTreeMap<FieldPath, String>, OriginOf<'_>),
    are_all_public: bool,
) -> BTreeSet<ValueChange> {
    let may_show = |path: &FieldPath, text: &str| are_all_public || known.get(path).is_some_and(|known| known == text);
    let mut changes = BTreeSet::new();
    for [before, after] in files {
        let (Some(before), Some(after)) = (data_leaves(before), data_leaves(after)) else { continue };
        let paths = before.keys().chain(after.keys()).filter(|path| before.get(path) != after.get(path));
        for path in paths.collect::<BTreeSet<_>>() {
            let shown = |text: &String, is_known: bool| {
                if is_known { text.clone() } else { crate::masking::HIDDEN.to_owned() }
            };
            let origin = if after.contains_key(path) { origin(path) } else { None };
            changes.insert(ValueChange {
                path: path.clone(),
                before: before.get(path).map(|text| shown(text, are_all_public)),
                after: after.get(path).map(|text| shown(text, may_show(path, text))),
                cause: origin.map(Cause::New),
            });
        }
    }
    changes
}

fn compare(old: &AssignmentValues<'_>, new: &AssignmentValues<'_>) -> BTreeSet<ValueChange> {
    let (before, after) = (old.shown(), new.shown());
    let differs = |path: &&FieldPath| before.get(*path) != after.get(*path);
    let paths: BTreeSet<_> = before.keys().chain(after.keys()).filter(differs).collect();
    let change = |path: &FieldPath| ValueChange {
        path: path.clone(),
        before: before.get(path).cloned(),
        after: after.get(path).cloned(),
        cause: causes::of_value(old, new, path),
    };
    paths.into_iter().map(change).collect()
}

/// The values in the `data` of a rendered YAML mapping, leaf by leaf. If there is no `data`, the whole mapping is used.
fn data_leaves(content: &[u8]) -> Option<BTreeMap<FieldPath, String>> {
    let reading = yaml::read_bytes(content, &yaml::YamlOptions::VALUES);
    let root = &reading.documents.first()?.root;
    let data = root.get("data").unwrap_or(root);
    data.as_mapping()?;
    let leaves = crate::compose::trace::leaves_of_all(&crate::compose::value::from_node(data));
    Some(leaves.into_iter().map(|(path, value)| (path, crate::answers::explain::shown(&value))).collect())
}
