//! The contract of one workload.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{FieldPart, Origin};
use model::excerpt;
use model::field_path::FieldPath;
use roaring::RoaringBitmap;

use super::checks::Violation;
use super::rows::{OfSchema, Row, Rows, TargetAt};
use super::supply::{EntryAt, Supplied};
use super::{
    Ask, AskedValue, Contracts, GivenValue, MissingValue, PlaceCount, UnassignedTarget, WorkloadContract, WrongValue,
};
use crate::answers::explain::shown;
use crate::invariant::require;
use crate::schema::{Finding, FindingKind, RequestedProperty, Schema};
use crate::sensitive::redaction;
use crate::settings::MissingValues;

/// The maximum number of containers that are listed for a key.
const GIVERS_MAX: usize = 20;
/// The maximum number of violations that are listed for a key.
const WRONG_MAX: usize = 20;
/// The maximum length of a shown value in characters.
const SHOWN_MAX: usize = 80;

/// Places by target.
type OfTargets<'r> = Vec<(u32, &'r RoaringBitmap)>;

impl Contracts<'_> {
    /// The contract of a workload with these targets. None if it has no assignment in the scope.
    pub(super) fn of_workload(&self, name: &str, targets: &[u32]) -> Option<WorkloadContract> {
        let at: Vec<_> = targets.iter().map(|id| self.at(*id, self.assigned(*id))).collect();
        let (assigned, unassigned): (Vec<_>, Vec<_>) = at.into_iter().partition(|at| !at.places.is_empty());
        if assigned.is_empty() && self.scope.place.is_some() {
            return None;
        }
        let is_hypothetical = assigned.is_empty();
        let everywhere = |id| self.at(id, RoaringBitmap::clone(&self.reach.all));
        let counted = if is_hypothetical { targets.iter().map(|id| everywhere(*id)).collect() } else { assigned };
        let mut rows = Rows::default();
        counted.iter().for_each(|at| rows.add(self, at));
        let first = self.target(*targets.first()?);
        let places = counted.iter().fold(RoaringBitmap::new(), |all, at| all | &at.places);
        let unassigned = if self.scope.place.is_some() { Vec::new() } else { unassigned };
        Some(WorkloadContract {
            workload: name.into(),
            workspace: first.workspace().into(),
            registration: first.registration.clone(),
            targets: targets.len(),
            unassigned: unassigned.iter().map(|at| self.unassigned(&everywhere(at.id))).collect(),
            is_hypothetical,
            assignments: counted.iter().map(|at| at.places.len()).sum(),
            places: self.count(&places),
            values: rows.by_key.iter().map(|(key, row)| self.value(key, row)).collect(),
            unasked: if self.scope.has_details && self.scope.place.is_none() {
                self.unasked(&counted)
            } else {
                Vec::new()
            },
            unusable_schemas: rows.unusable.iter().map(|id| self.schema_origin(*id)).collect(),
            unchecked: rows.unchecked,
        })
    }

    /// What a target would miss, wherever it would be assigned.
    fn unassigned(&self, at: &TargetAt<'_>) -> UnassignedTarget {
        let mut rows = Rows::default();
        rows.add(self, at);
        let missing = rows.by_key.iter().filter_map(|(key, row)| {
            let missing = &row.targets.get(&at.id)?.missing;
            (!missing.is_empty()).then(|| (Arc::clone(key), self.count(missing)))
        });
        UnassignedTarget {
            name: Arc::clone(at.target.name.as_arc()),
            missing: missing.collect(),
            places: self.count(&at.places),
        }
    }

    fn value(&self, key: &Arc<str>, row: &Row) -> AskedValue {
        let union = |of: &dyn Fn(&super::rows::OfTarget) -> RoaringBitmap| {
            row.targets.values().fold(RoaringBitmap::new(), |all, target| all | of(target))
        };
        let asked = union(&|target| target.asked.clone());
        let absent = union(&|target| &target.asked - &target.given);
        let (givers, more_givers) = if self.scope.has_details { self.givers(key, row) } else { (Vec::new(), 0) };
        let missing = self.missing(row);
        let advice = if self.scope.has_details { self.advice(key, row) } else { Vec::new() };
        AskedValue {
            key: Arc::clone(key),
            is_required: row.is_required,
            is_sensitive: self.is_sensitive(key),
            asks: row.schemas.iter().map(|(id, of_schema)| self.ask(*id, key, of_schema)).collect(),
            asked: row.targets.values().map(|target| target.asked.len()).sum(),
            given: row.targets.values().map(|target| target.given.len()).sum(),
            asked_places: self.count(&asked),
            given_places: self.count(&(asked - absent)),
            missing,
            wrong: self.wrong(&row.violations),
            givers,
            more_givers,
            advice,
        }
    }

    fn missing(&self, row: &Row) -> Option<MissingValue> {
        let missing: Vec<_> = row.targets.iter().map(|(id, target)| (*id, &target.missing)).collect();
        let assignments = missing.iter().map(|(_, places)| places.len()).sum();
        let places = missing.iter().fold(RoaringBitmap::new(), |all, (_, places)| all | *places);
        (assignments > 0).then(|| MissingValue {
            assignments,
            is_enforced: row.targets.values().any(|target| !target.enforced.is_empty()),
            places: self.count(&places),
            examples: self.examples(&missing),
        })
    }

    fn wrong(&self, violations: &[(u32, Violation)]) -> Vec<WrongValue> {
        let mut by_finding: BTreeMap<_, OfTargets<'_>> = BTreeMap::new();
        for (target, violation) in violations {
            by_finding.entry((&violation.finding, violation.at)).or_default().push((*target, &violation.places));
        }
        let wrong = by_finding.into_iter().take(WRONG_MAX).map(|((finding, at), of_targets)| WrongValue {
            message: finding.message.clone(),
            is_enforced: finding.kind != FindingKind::Missing || self.is_enforced(finding),
            origin: at.map(|at| self.origin(at, &finding.path)),
            schema: Origin::part(
                &finding.schema.object,
                finding.schema.path.clone(),
                FieldPart::KeyInside(finding.schema_path.clone()),
            ),
            assignments: of_targets.iter().map(|(_, places)| places.len()).sum(),
            examples: self.examples(&of_targets),
        });
        wrong.collect()
    }

    /// Whether missing values of the schema of a finding stop assignments.
    fn is_enforced(&self, finding: &Finding) -> bool {
        let labelled = self.prepared.schemas.labelled.iter().find(|labelled| labelled.schema.text == finding.schema);
        labelled.is_none_or(|labelled| labelled.schema.missing == MissingValues::Enforce)
    }

    fn ask(&self, id: u32, key: &str, of_schema: &OfSchema) -> Ask {
        let schema = self.schema(id);
        let none = RequestedProperty::default();
        let asked = self.checks.asked(id);
        let property = asked.properties.get(key).unwrap_or(&none);
        let of_trigger = || {
            let all = asked.dependent.iter().flat_map(|(_, needed)| needed);
            all.filter(|(name, _)| name == key).map(|(_, path)| path.clone()).next()
        };
        let path = if asked.properties.contains_key(key) { Some(property.path.clone()) } else { of_trigger() };
        let origin = match path {
            Some(path) => Origin::part(&schema.text.object, schema.text.path.clone(), FieldPart::KeyInside(path)),
            None => self.schema_origin(id),
        };
        Ask {
            origin,
            is_required: of_schema.is_required,
            requirements: property.requirements.clone(),
            default: property.default.clone(),
            description: property.description.clone(),
            places: self.count(&of_schema.asked),
        }
    }

    /// The containers that give a key to the assignments that ask for it, and the number of further ones.
    fn givers(&self, key: &str, row: &Row) -> (Vec<GivenValue>, usize) {
        let of_target =
            row.targets.iter().map(|(id, target)| (self.supply.for_target(key, self.target(*id)), &target.asked));
        self.listed(key, &of_target.collect::<Vec<_>>(), GIVERS_MAX)
    }

    /// The containers of a key that have an effect at these places, most places first, and the number of further ones.
    fn listed(
        &self,
        key: &str,
        supplied: &[(Arc<Supplied>, &RoaringBitmap)],
        listed_max: usize,
    ) -> (Vec<GivenValue>, usize) {
        let mut by_entry: BTreeMap<EntryAt, RoaringBitmap> = BTreeMap::new();
        for (supplied, places) in supplied {
            for (at, here) in self.supply.effective(supplied, places) {
                *by_entry.entry(at).or_default() |= here;
            }
        }
        let mut entries: Vec<_> = by_entry.into_iter().collect();
        entries.sort_by_key(|(at, places)| (std::cmp::Reverse(places.len()), *at));
        let more = entries.len().saturating_sub(listed_max);
        let given = entries.iter().take(listed_max).map(|(at, places)| self.given(key, *at, self.count(places)));
        (given.collect(), more)
    }

    /// The values that the assignments get, and no schema of theirs asks for.
    fn unasked(&self, counted: &[TargetAt<'_>]) -> Vec<GivenValue> {
        let mut keys: Vec<_> = self.supply.keys().collect();
        keys.sort_unstable();
        let of_key = |key: &str| {
            let of_target = counted.iter().map(|at| {
                let asking = self.schemas_of(at.target).into_iter().filter(|(id, _)| self.asks(*id, key));
                let asked = asking.fold(RoaringBitmap::new(), |all, (_, places)| all | &*places);
                (self.supply.for_target(key, at.target), &at.places - &asked)
            });
            let of_target: Vec<_> = of_target.filter(|(supplied, _)| !supplied.given.is_empty()).collect();
            let by_ref: Vec<_> = of_target.iter().map(|(supplied, places)| (Arc::clone(supplied), places)).collect();
            let (mut given, more) = self.listed(key, &by_ref, 1);
            let mut first = given.pop()?;
            let places =
                by_ref.iter().fold(RoaringBitmap::new(), |all, (supplied, places)| all | (&supplied.given & *places));
            (first.places, first.more) = (self.count(&places), more);
            Some(first)
        };
        keys.into_iter().filter_map(of_key).collect()
    }

    /// Whether a schema asks for a key. If the schema can't be used, it may.
    pub(super) fn asks(&self, id: u32, key: &str) -> bool {
        self.schema(id).compiled.is_err() || self.checks.asked(id).asks_for(key)
    }

    pub(super) fn given(&self, key: &str, at: EntryAt, places: PlaceCount) -> GivenValue {
        let (container, entry) = (self.supply.container(at), self.supply.entry(at));
        let value = &entry.value.value;
        let text =
            if self.is_sensitive(key) { redaction::digest(value) } else { excerpt::first(&shown(value), SHOWN_MAX) };
        GivenValue {
            key: key.into(),
            container: container.display_name(),
            conditions: container.conditions.iter().map(|(key, value)| format!("{key}={value}")).collect(),
            origin: container.origin(entry, FieldPart::Value),
            shown: text,
            places,
            more: 0,
        }
    }

    /// The place of a value, or of the part of it at this path.
    fn origin(&self, at: EntryAt, path: &FieldPath) -> Origin {
        let below: FieldPath = path.steps().iter().skip(1).cloned().collect();
        let entry = self.supply.entry(at);
        let is_inside =
            !below.steps().is_empty() && crate::compose::trace::follow(&entry.value.value, below.steps()).is_some();
        self.supply.container(at).origin(entry, if is_inside { FieldPart::Inside(below) } else { FieldPart::Value })
    }

    fn is_sensitive(&self, key: &str) -> bool {
        redaction::covers(&self.prepared.sensitive_anywhere, &FieldPath::from([key]))
    }

    fn schema(&self, id: u32) -> &Schema {
        require(self.prepared.schemas.get(id), "a schema of a target is not in the fleet")
    }

    fn schema_origin(&self, id: u32) -> Origin {
        let text = &self.schema(id).text;
        Origin::field(&text.object, text.path.clone())
    }
}
