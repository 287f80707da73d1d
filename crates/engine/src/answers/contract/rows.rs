//! What the assignments of one workload ask for, key by key.

use std::collections::BTreeMap;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::checks::{Violation, Violations, key_of};
use super::supply::Supplied;
use super::{Contracts, reach::Places};
use crate::invariant::require;
use crate::prepare::NO_TARGET;
use crate::schedule::target::Target;
use crate::schema::FindingKind;
use crate::settings::MissingValues;

/// All keys of a workload.
#[derive(Default)]
pub(super) struct Rows {
    pub(super) by_key: BTreeMap<Arc<str>, Row>,
    /// The ids of its schemas that can't be used.
    pub(super) unusable: std::collections::BTreeSet<u32>,
    /// The number of assignments with values that were not checked.
    pub(super) unchecked: u64,
}

/// A key that schemas ask for.
#[derive(Default)]
pub(super) struct Row {
    pub(super) is_required: bool,
    /// By the id of the schema that asks for it.
    pub(super) schemas: BTreeMap<u32, OfSchema>,
    pub(super) targets: BTreeMap<u32, OfTarget>,
    pub(super) violations: Vec<(u32, Violation)>,
}

/// How a schema asks for a key.
#[derive(Default)]
pub(super) struct OfSchema {
    pub(super) is_required: bool,
    /// The places where it asks for it.
    pub(super) asked: RoaringBitmap,
}

/// The places of a target where a key is asked for, given, and missing.
#[derive(Default)]
pub(super) struct OfTarget {
    pub(super) asked: RoaringBitmap,
    pub(super) given: RoaringBitmap,
    pub(super) missing: RoaringBitmap,
    /// Those of `missing` that stop their assignments.
    pub(super) enforced: RoaringBitmap,
}

/// A target, and the places whose assignments count.
pub(super) struct TargetAt<'t> {
    pub(super) id: u32,
    pub(super) target: &'t Target,
    pub(super) places: RoaringBitmap,
}

/// A schema of a target, at the places where it applies.
struct Asking<'a> {
    contracts: &'a Contracts<'a>,
    schema: u32,
    at: &'a TargetAt<'a>,
    places: RoaringBitmap,
}

impl Asking<'_> {
    /// The values of a key for the target.
    fn supplied(&self, key: &str) -> Arc<Supplied> {
        self.contracts.supply.for_target(key, self.at.target)
    }
}

impl Rows {
    /// Adds what the schemas of a target ask for.
    pub(super) fn add(&mut self, contracts: &Contracts<'_>, at: &TargetAt<'_>) {
        let mut unchecked = RoaringBitmap::new();
        for (id, with) in contracts.schemas_of(at.target) {
            let places = &at.places & &*with;
            if places.is_empty() {
                continue;
            }
            if require(contracts.prepared.schemas.get(id), "a schema of a target is not in the fleet").compiled.is_err()
            {
                self.unusable.insert(id);
                continue;
            }
            let asking = Asking { contracts, schema: id, at, places };
            self.add_asked(&asking);
            self.add_dependent(&asking);
            unchecked |= self.add_violations(&asking);
        }
        self.unchecked += unchecked.len();
    }

    fn add_asked(&mut self, asking: &Asking<'_>) {
        let Asking { contracts, schema, at, places } = asking;
        for (key, property) in &contracts.checks.asked(*schema).properties {
            let given = &asking.supplied(key).given & places;
            let row = self.row(key);
            row.is_required |= property.is_required;
            let of_schema = row.schemas.entry(*schema).or_default();
            of_schema.is_required |= property.is_required;
            of_schema.asked |= places;
            let of_target = row.targets.entry(at.id).or_default();
            of_target.asked |= places;
            if property.is_required {
                of_target.miss(contracts, *schema, places - &given);
            }
            of_target.given |= given;
        }
    }

    /// Adds the keys that are required where another key is given.
    fn add_dependent(&mut self, asking: &Asking<'_>) {
        let Asking { contracts, schema, at, places } = asking;
        for (trigger, needed) in &contracts.checks.asked(*schema).dependent {
            let triggered = &asking.supplied(trigger).given & places;
            for (key, _) in needed {
                let given = &asking.supplied(key).given & &triggered;
                let row = self.row(key);
                row.schemas.entry(*schema).or_default().asked |= &triggered;
                let of_target = row.targets.entry(at.id).or_default();
                of_target.asked |= &triggered;
                of_target.miss(contracts, *schema, &triggered - &given);
                of_target.given |= given;
            }
        }
    }

    fn add_violations(&mut self, asking: &Asking<'_>) -> RoaringBitmap {
        let (id, places, checks) = (asking.schema, &asking.places, asking.contracts.checks);
        let mut unchecked = RoaringBitmap::new();
        let of_keys = checks.suspects(id).iter().map(|key| checks.of_key(id, &asking.supplied(key), places));
        for Violations { found, unchecked: more } in of_keys.chain([checks.of_sets(id, asking.at.id, places)]) {
            unchecked |= more;
            for violation in found {
                self.add_violation(asking, violation);
            }
        }
        unchecked
    }

    fn add_violation(&mut self, asking: &Asking<'_>, violation: Violation) {
        let Asking { contracts, schema, at, .. } = asking;
        let key = key_of(&violation.finding).unwrap_or_default();
        let row = self.row(&key);
        let is_missing = violation.finding.kind == FindingKind::Missing && violation.finding.path.steps().len() == 1;
        row.schemas.entry(*schema).or_default().asked |= &violation.places;
        let of_target = row.targets.entry(at.id).or_default();
        of_target.asked |= &violation.places;
        of_target.given |= &asking.supplied(&key).given & &violation.places;
        if is_missing {
            of_target.miss(contracts, *schema, violation.places);
        } else {
            row.violations.push((at.id, violation));
        }
    }

    fn row(&mut self, key: &str) -> &mut Row {
        if !self.by_key.contains_key(key) {
            self.by_key.insert(key.into(), Row::default());
        }
        require(self.by_key.get_mut(key), "a row that was just added is gone")
    }
}

impl OfTarget {
    fn miss(&mut self, contracts: &Contracts<'_>, schema: u32, places: RoaringBitmap) {
        let schema = require(contracts.prepared.schemas.get(schema), "a schema of a target is not in the fleet");
        if schema.missing == MissingValues::Enforce {
            self.enforced |= &places;
        }
        self.missing |= places;
    }
}

impl Contracts<'_> {
    /// The ids of the schemas of a target, each with the places where it applies.
    pub(super) fn schemas_of(&self, target: &Target) -> Vec<(u32, Places)> {
        let labelled = self.prepared.schemas.labelled.iter().enumerate();
        let labelled = labelled.map(|(id, labelled)| (id as u32, self.reach.places(&labelled.conditions, target)));
        let own = self.prepared.schemas.ids_of_target(target).map(|id| (id, Arc::clone(&self.reach.all)));
        labelled.filter(|(_, places)| !places.is_empty()).chain(own).collect()
    }

    pub(super) fn target(&self, id: u32) -> &Target {
        &require(self.prepared.target(id), NO_TARGET).target
    }
}
