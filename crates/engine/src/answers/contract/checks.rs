//! Checks the values of single keys against schemas, once for all assignments with the same values.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use model::digest::Digest;
use model::field_path::{FieldPath, FieldStep};
use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::supply::{EntryAt, Supplied, Supply};
use crate::compose::container::Entry;
use crate::compose::trace::follow;
use crate::compose::{Composition, compose};
use crate::invariant::require;
use crate::prepare::Prepared;
use crate::schema::{Finding, RequestedValues, Schema};
use crate::sensitive::redaction;

/// The maximum number of merged mappings and lists that are checked, and of whole sets of values. Assignments with further ones count as not checked.
const MERGED_MAX: usize = 20_000;
const SETS_MAX: usize = 2_000;

/// Checks of values. Each different value is checked once with each schema.
pub(super) struct ValueChecks<'p> {
    prepared: &'p Prepared,
    supply: &'p Supply<'p>,
    asked: HashMap<u32, SchemaChecks<'p>>,
    by_sequence: Mutex<FindingsBySequence>,
    /// The violations of a schema by the values with a number, at all places.
    by_supplied: Mutex<HashMap<(u32, usize), Arc<Violations>>>,
    merged_left: AtomicUsize,
    sets_left: AtomicUsize,
}

/// The findings of a schema about the values of one key, in merge order.
type FindingsBySequence = HashMap<(u32, Vec<EntryAt>), Arc<Vec<Finding>>>;

/// What a schema asks for, and the keys whose values may violate it.
struct SchemaChecks<'p> {
    asked: RequestedValues,
    suspects: BTreeSet<&'p str>,
}

/// A violation, and the places where it is.
#[derive(Clone, Debug)]
pub(super) struct Violation {
    pub(super) places: RoaringBitmap,
    pub(super) finding: Finding,
    /// The value. None for a violation of several values together.
    pub(super) at: Option<EntryAt>,
}

/// The violations of a key or of a set of values, and the places whose values were not checked.
#[derive(Debug, Default)]
pub(super) struct Violations {
    pub(super) found: Vec<Violation>,
    pub(super) unchecked: RoaringBitmap,
}

impl<'p> ValueChecks<'p> {
    /// Reads these schemas, and checks each value alone.
    pub(super) fn new(prepared: &'p Prepared, supply: &'p Supply<'p>, schemas: &BTreeSet<u32>) -> Self {
        let asked = schemas.iter().map(|id| (*id, SchemaChecks::new(supply, schema(prepared, *id)))).collect();
        let (merged_left, sets_left) = (AtomicUsize::new(MERGED_MAX), AtomicUsize::new(SETS_MAX));
        let (by_sequence, by_supplied) = Default::default();
        Self { prepared, supply, asked, by_sequence, by_supplied, merged_left, sets_left }
    }

    /// What a schema asks for.
    pub(super) fn asked(&self, schema: u32) -> &RequestedValues {
        &self.checks(schema).asked
    }

    /// Whether any schema asks for a key. A schema that can't be used may.
    pub(super) fn is_asked(&self, key: &str) -> bool {
        self.asked.iter().any(|(id, checks)| schema(self.prepared, *id).compiled.is_err() || checks.asked.asks_for(key))
    }

    /// The keys whose values may violate a schema.
    pub(super) fn suspects(&self, schema: u32) -> &BTreeSet<&'p str> {
        &self.checks(schema).suspects
    }

    /// The violations of a schema by the values of one of its suspects, at these places.
    pub(super) fn of_key(&self, schema: u32, supplied: &Supplied, places: &RoaringBitmap) -> Violations {
        let key = (schema, supplied.number);
        let known = self.by_supplied.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let everywhere = known.unwrap_or_else(|| {
            let made = Arc::new(self.everywhere(schema, supplied));
            let mut known = self.by_supplied.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(key).or_insert(made))
        });
        let here = |violation: &Violation| Violation { places: &violation.places & places, ..violation.clone() };
        let found = everywhere.found.iter().map(here).filter(|violation| !violation.places.is_empty());
        Violations { found: found.collect(), unchecked: &everywhere.unchecked & places }
    }

    /// The violations of a schema by the values of a key, at all places.
    fn everywhere(&self, schema: u32, supplied: &Supplied) -> Violations {
        let mut violations = Violations::default();
        let mut left = supplied.given.clone();
        let mut merged = RoaringBitmap::new();
        for (at, with) in supplied.by.iter().rev() {
            let here = &left & &**with;
            if here.is_empty() {
                continue;
            }
            left -= &here;
            if self.supply.replaces(*at) {
                violations.found.extend(self.of_sequence(schema, vec![*at], &here));
            } else {
                merged |= here;
            }
        }
        for (sequence, here) in sequences(supplied, &merged) {
            if self.merged_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err()
            {
                violations.unchecked |= here;
            } else {
                violations.found.extend(self.of_sequence(schema, sequence, &here));
            }
        }
        violations
    }

    /// The violations of a schema that relates values with one another, without those that [`Self::of_key`] finds. Only whole sets of values show them.
    pub(super) fn of_sets(&self, id: u32, target: u32, places: &RoaringBitmap) -> Violations {
        let mut violations = Violations::default();
        if !self.asked(id).relates_values {
            return violations;
        }
        let mut by_class: BTreeMap<u32, RoaringBitmap> = BTreeMap::new();
        for place in places {
            by_class.entry(self.prepared.class_of_place(place)).or_default().insert(place);
        }
        let class_of_target = self.prepared.class_of_target(target);
        for (class, here) in by_class {
            if self.sets_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(1)).is_err() {
                violations.unchecked |= here;
                continue;
            }
            let (containers, ..) = self.prepared.matching(class, class_of_target);
            let composition = compose(&self.prepared.containers_at(&containers));
            let sensitive = &self.prepared.sensitive_anywhere;
            let found = schema(self.prepared, id).check_relations(&composition, sensitive);
            let violation = |finding| Violation { places: here.clone(), finding, at: None };
            violations.found.extend(found.into_iter().map(violation));
        }
        violations
    }

    fn checks(&self, schema: u32) -> &SchemaChecks<'p> {
        require(self.asked.get(&schema), "a schema of a target was not read")
    }

    /// The violations of a schema by the values of one key, in merge order, at these places.
    fn of_sequence(&self, id: u32, sequence: Vec<EntryAt>, here: &RoaringBitmap) -> Vec<Violation> {
        let key = (id, sequence);
        let known = self.by_sequence.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        let findings = known.unwrap_or_else(|| {
            let entries: Vec<_> = key.1.iter().map(|at| self.supply.entry(*at)).collect();
            let found = Arc::new(findings(self.prepared, schema(self.prepared, id), &entries));
            let mut known = self.by_sequence.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(known.entry(key.clone()).or_insert(found))
        });
        let violation = |finding: &Finding| {
            let at = self.latest(&key.1, finding);
            Violation { places: here.clone(), finding: finding.clone(), at }
        };
        findings.iter().map(violation).collect()
    }

    /// The last value with the path of a finding. If there is none, the last value of the key.
    fn latest(&self, sequence: &[EntryAt], finding: &Finding) -> Option<EntryAt> {
        let below = finding.path.steps().get(1..).unwrap_or_default();
        let has_path = |at: &&EntryAt| follow(&self.supply.entry(**at).value.value, below).is_some();
        sequence.iter().rev().find(has_path).or(sequence.last()).copied()
    }
}

fn schema(prepared: &Prepared, id: u32) -> &Schema {
    require(prepared.schemas.get(id), "a schema of a target is not in the fleet")
}

/// The findings about the merged value of one key.
fn findings(prepared: &Prepared, schema: &Schema, entries: &[&Entry]) -> Vec<Finding> {
    let Some(first) = entries.first() else { return Vec::new() };
    schema.check_key(&first.key, &Composition::of_key(entries), &prepared.sensitive_anywhere)
}

/// The places by the values that are merged there, in merge order.
fn sequences(supplied: &Supplied, places: &RoaringBitmap) -> BTreeMap<Vec<EntryAt>, RoaringBitmap> {
    let mut by_place: BTreeMap<u32, Vec<EntryAt>> = BTreeMap::new();
    if !places.is_empty() {
        for (at, with) in &supplied.by {
            for place in &(places & &**with) {
                by_place.entry(place).or_default().push(*at);
            }
        }
    }
    let mut by_sequence: BTreeMap<Vec<EntryAt>, RoaringBitmap> = BTreeMap::new();
    for (place, sequence) in by_place {
        by_sequence.entry(sequence).or_default().insert(place);
    }
    by_sequence
}

impl<'p> SchemaChecks<'p> {
    fn new(supply: &'p Supply<'p>, schema: &Schema) -> Self {
        let sensitive = &supply.prepared().sensitive_anywhere;
        let asked =
            RequestedValues::read(&schema.text.text, &|key| redaction::covers(sensitive, &FieldPath::from([key])));
        let is_checked = |key: &&str| asked.describes_others || asked.properties.contains_key(*key);
        let keys: Vec<_> = supply.keys().filter(is_checked).collect();
        let is_suspect = |key: &&str| is_suspect(supply, schema, &asked, key);
        let suspects = keys.into_par_iter().filter(is_suspect).collect();
        Self { asked, suspects }
    }
}

/// Whether values of a key may violate a schema: one does so alone, or merged values can do so although each alone does not.
fn is_suspect(supply: &Supply<'_>, schema: &Schema, asked: &RequestedValues, key: &str) -> bool {
    // A rule about names alone does not depend on the value.
    let is_merge_closed = asked.properties.get(key).map_or(!asked.asks_for(key), |property| property.is_merge_closed);
    let mut seen: BTreeSet<(Digest, bool)> = BTreeSet::new();
    supply.entries(key).iter().any(|at| {
        let entry = supply.entry(*at);
        if !seen.insert((entry.value_digest, entry.value.is_quoted)) {
            return false;
        }
        (!is_merge_closed && !supply.replaces(*at)) || !findings(supply.prepared(), schema, &[entry]).is_empty()
    })
}

/// The first key of a finding. None for a finding about all values.
pub(super) fn key_of(finding: &Finding) -> Option<Arc<str>> {
    match finding.path.steps().first() {
        Some(FieldStep::Key(key)) => Some(key.clone()),
        _ => None,
    }
}
