//! Finds the differences between two fleets that change an assignment: labels, templates, manifests, release pins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::diagnostic::{AssignmentId, FieldPart, Origin};
use model::field_path::FieldPath;
use model::label::Labels;
use model::object::template::MANIFESTS;
use model::object::{Object, ReleasePin, Template};

use super::{Cause, ChangeReason, LabelOf};
use crate::answers::explain::AssignmentValues;
use crate::compile::{Compiled, Prepared};
use crate::compose::container::{Conditions, Container};
use crate::compose::trace::Setting;
use crate::schedule::mapping;
use crate::schedule::matching::{is_met_by_place, is_met_by_target};
use crate::schedule::place::Place;
use crate::schedule::target::Target;

/// The differences of an assignment's place, target and pins. Many assignments have equal differences.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct ObjectDifferences {
    /// Labels whose values differ.
    labels: BTreeSet<(LabelOf, Arc<str>)>,
    /// All other differences, as reasons.
    reasons: Vec<ChangeReason>,
}

/// Finds differences. The differences of each place and target are computed once.
pub(super) struct Causes<'a> {
    old: &'a Compiled,
    new: &'a Compiled,
    /// By the names before and after.
    places: BTreeMap<[Arc<str>; 2], ObjectDifferences>,
    targets: BTreeMap<[Arc<str>; 2], ObjectDifferences>,
}

impl ObjectDifferences {
    /// Adds a reason before the others.
    pub(super) fn add(&mut self, reason: Option<ChangeReason>) {
        if let Some(reason) = reason {
            self.reasons.insert(0, reason);
        }
    }

    /// The reasons to show in addition to changed values. `because` are the causes of the changed values.
    pub(super) fn reasons<'b>(&self, causes: impl Iterator<Item = &'b Cause>) -> Vec<ChangeReason> {
        let value_causes: BTreeSet<_> = causes.collect();
        let mut reasons = self.reasons.clone();
        // Changed values already name the labels that they depend on. Other labels are named only if there is no other reason.
        if reasons.is_empty() && value_causes.is_empty() {
            let label = |(of, key): &(LabelOf, Arc<str>)| ChangeReason::Label(Cause::Label(*of, Arc::clone(key)));
            reasons.extend(self.labels.iter().map(label));
        }
        reasons
    }
}

impl<'a> Causes<'a> {
    pub(super) fn new(old: &'a Compiled, new: &'a Compiled) -> Self {
        Self { old, new, places: BTreeMap::new(), targets: BTreeMap::new() }
    }

    /// The differences of an assignment that is in both fleets, by its names before and after.
    pub(super) fn differences(&mut self, before: &AssignmentId, after: &AssignmentId) -> ObjectDifferences {
        let sides = [(self.old.prepared(), before), (self.new.prepared(), after)];
        let of_place = self.places.entry(sides.map(|(_, id)| Arc::clone(id.place.as_arc())));
        let mut found = of_place.or_insert_with(|| places_differ(sides).unwrap_or_default()).clone();
        let of_target = self.targets.entry(sides.map(|(_, id)| Arc::clone(id.target.as_arc())));
        let of_target = of_target.or_insert_with(|| targets_differ(sides).unwrap_or_default());
        found.labels.extend(of_target.labels.iter().cloned());
        found.reasons.extend(of_target.reasons.iter().cloned());
        found.reasons.extend(pins_differ(sides).unwrap_or_default());
        found
    }
}

/// A fleet, and the name of an assignment in it.
type Side<'p> = (&'p Prepared, &'p AssignmentId);

fn places_differ([before, after]: [Side<'_>; 2]) -> Option<ObjectDifferences> {
    let place = |(side, id): Side<'_>| Place::find(side.fleet(), id.place.as_str());
    let (was, is) = (place(before)?, place(after)?);
    let [(old, _), (new, _)] = [before, after];
    let mut reasons = Vec::new();
    let (before, after) = (&was.cluster_type.spec, &is.cluster_type.spec);
    let names = [
        ("reconciler", &before.reconciler, &after.reconciler),
        ("namespaceService", &before.namespace_service, &after.namespace_service),
        ("configType", &before.config_type, &after.config_type),
    ];
    let mut seen = BTreeSet::new();
    for (field, before, after) in names {
        let template = |side: &'_ Prepared, name: &str| side.fleet().templates.get(name).cloned();
        if before != after {
            let origin = Origin::field(&is.cluster_type.key(), FieldPath::from(["spec", field]));
            reasons.push(ChangeReason::OtherTemplate(Arc::clone(after), Cause::New(origin)));
        } else if let (Some(was), Some(is)) = (template(old, before), template(new, after))
            && was.digest != is.digest
            && seen.insert(after)
        {
            reasons.push(ChangeReason::Template(Arc::clone(after), template_difference(&was, &is)));
        }
    }
    Some(ObjectDifferences { labels: labels_differ(LabelOf::Place, &was.labels(), &is.labels()), reasons })
}

/// The place of the first difference between two versions of a template.
fn template_difference(was: &Object<Template>, is: &Object<Template>) -> Cause {
    let (before, after) = (&was.spec.manifests, &is.spec.manifests);
    let mut both = before.iter().zip(after).enumerate();
    if let Some((number, (before, after))) = both.find(|(_, (before, after))| before != after) {
        let same = before.lines().zip(after.lines()).take_while(|(before, after)| before == after).count();
        // If lines at the end were removed, use the last line.
        let line = (same + 1).min(after.lines().count().max(1));
        let path = FieldPath::from(MANIFESTS).index(number);
        return Cause::New(Origin::part(&is.key(), path, FieldPart::Text { line, column: 1 }));
    }
    let path = match () {
        () if before.len() != after.len() => FieldPath::from(MANIFESTS),
        () if was.annotations != is.annotations => FieldPath::from(["metadata"]),
        () => FieldPath::from(["spec"]),
    };
    Cause::New(Origin::part(&is.key(), path, FieldPart::Key))
}

fn targets_differ([(old, before), (new, after)]: [Side<'_>; 2]) -> Option<ObjectDifferences> {
    let (was, is) = (find_target(old, before)?, find_target(new, after)?);
    let mut reasons = Vec::new();
    if was.manifests != is.manifests {
        let keys = was.manifests.keys().chain(is.manifests.keys());
        let differing = keys.filter(|key| was.manifests.get(*key) != is.manifests.get(*key));
        let keys: BTreeSet<_> = differing.cloned().collect();
        let path = is.origin.1.key("manifests");
        let first = keys.iter().find(|key| is.manifests.contains_key(*key));
        let path = first.map_or_else(|| path.clone(), |key| path.key(Arc::clone(key)));
        let origin = Origin::field(&is.origin.0, path);
        reasons.push(ChangeReason::Manifests(keys.into_iter().collect(), Cause::New(origin)));
    }
    Some(ObjectDifferences { labels: labels_differ(LabelOf::Target, &was.labels, &is.labels), reasons })
}

fn find_target<'p>(side: &'p Prepared, id: &AssignmentId) -> Option<&'p Target> {
    Some(&side.target(side.target_id(id.target.as_str())?)?.target)
}

fn labels_differ(of: LabelOf, was: &Labels, is: &Labels) -> BTreeSet<(LabelOf, Arc<str>)> {
    let keys = was.iter().chain(is.iter()).map(|(key, _)| key);
    keys.filter(|key| was.get(key) != is.get(key)).map(|key| (of, Arc::clone(key))).collect()
}

/// The release pins that hold an assignment on one side only, or that differ.
fn pins_differ([before, after]: [Side<'_>; 2]) -> Option<Vec<ChangeReason>> {
    let [(old, _), (new, _)] = [before, after];
    if old.fleet().release_pins.is_empty() && new.fleet().release_pins.is_empty() {
        return None;
    }
    let holding = |(side, id): Side<'_>| {
        let (place, target) = (Place::find(side.fleet(), id.place.as_str())?, find_target(side, id)?);
        let pins = side.pins.holding(|key| place.label(key), target);
        Some(pins.into_iter().map(|pin| (Arc::clone(pin.name.as_arc()), Arc::clone(pin))).collect::<BTreeMap<_, _>>())
    };
    let (was, is) = (holding(before)?, holding(after)?);
    let names: BTreeSet<_> = was.keys().chain(is.keys()).collect();
    let differs = |name: &&Arc<str>| was.get(*name).map(|pin| pin.digest) != is.get(*name).map(|pin| pin.digest);
    let origin = |pin: &Arc<Object<ReleasePin>>| Origin::field(&pin.key(), FieldPath::from(["spec"]));
    let reason = |name: &Arc<str>| {
        let cause = match (is.get(name), was.get(name)) {
            (Some(pin), _) => Cause::New(origin(pin)),
            (None, pin) => Cause::Old(origin(pin?)),
        };
        Some(ChangeReason::Pin(Arc::clone(name), cause))
    };
    Some(names.into_iter().filter(differs).filter_map(reason).collect())
}

/// The cause of a changed value: the place of the change, or the label because of which another container sets the value now.
pub(super) fn of_value(old: &AssignmentValues<'_>, new: &AssignmentValues<'_>, path: &FieldPath) -> Option<Cause> {
    let (before, after) = (old.settings(path), new.settings(path));
    let has = |settings: &[Setting], one: &Setting| settings.iter().any(|other| is_same(other, one));
    match (before.first(), after.first()) {
        (_, Some(top)) if !has(&before, top) => {
            let label = old.unused(top, path).and_then(|container| by_label((&top.container, new), (container, old)));
            Some(label.unwrap_or_else(|| Cause::New(top.origin.clone())))
        }
        (Some(top), _) if !has(&after, top) => {
            let label = new.unused(top, path).and_then(|container| by_label((&top.container, old), (container, new)));
            Some(label.unwrap_or_else(|| Cause::Old(top.origin.clone())))
        }
        (_, Some(top)) => Some(Cause::New(top.origin.clone())),
        (Some(top), None) => Some(Cause::Old(top.origin.clone())),
        (None, None) => None,
    }
}

fn is_same(left: &Setting, right: &Setting) -> bool {
    left.container.name == right.container.name
        && left.origin == right.origin
        && crate::answers::explain::shown(&left.value) == crate::answers::explain::shown(&right.value)
}

/// The cause if a container matches on one side, and exists on the other side without a match.
fn by_label(
    (used, with): (&Container, &AssignmentValues<'_>),
    (unused, without): (&Container, &AssignmentValues<'_>),
) -> Option<Cause> {
    if used.conditions != unused.conditions {
        return Some(Cause::New(Origin::field(&unused.key(), FieldPath::from(["metadata", "labels"]))));
    }
    let is_met = |key: &str, value: &str| {
        is_met_by_place(key, value, without.place()) || is_met_by_target(key, value, without.target())
    };
    let (key, value) = unmet(&unused.conditions, is_met)?;
    // On the side where the container matches, the target or the place has the label.
    let of = if is_met_by_target(key, value, with.target()) { LabelOf::Target } else { LabelOf::Place };
    Some(Cause::Label(of, Arc::clone(key)))
}

fn unmet(conditions: &Conditions, is_met: impl Fn(&str, &str) -> bool) -> Option<&(Arc<str>, Arc<str>)> {
    let special = ["cluster-type", "cluster", "deployment-target", "workload"];
    conditions.iter().find(|(key, value)| !special.contains(&&**key) && !is_met(key, value))
}

impl Compiled {
    /// The place of a label of an assignment's place or target. None if it has no such label.
    pub fn label_origin(&self, id: &AssignmentId, of: LabelOf, key: &str) -> Option<Origin> {
        let path = FieldPath::from(["metadata", "labels"]).key(key);
        if of == LabelOf::Place {
            let place = Place::find(self.fleet(), id.place.as_str())?;
            place.label(key)?;
            let own = place.cluster.as_ref().filter(|cluster| cluster.labels.get(key).is_some());
            let object = own.map_or_else(|| place.cluster_type.key(), |cluster| cluster.key());
            return Some(Origin::field(&object, path));
        }
        let target = find_target(self.prepared(), id)?;
        target.labels.get(key)?;
        if let Some(mapping) = target.mapped.get(key) {
            return Some(mapping::origin(mapping, key));
        }
        let (object, at) = &target.origin;
        let is_own = object.kind == model::kind::Kind::Workload && !target.of_workload.contains(key);
        Some(Origin::field(object, if is_own { at.key("labels").key(key) } else { path }))
    }
}
