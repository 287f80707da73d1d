//! Rules of values: nothing on the branch of an environment reaches its output before people let it in.

use std::collections::BTreeSet;
use std::sync::Arc;

use model::object::promotion::{ChangeOrigin, Gate, GateKind};

use super::{Checked, RuleChecker, broken};
use crate::scenario::definition::{DecisionEvent, DecisionKind};
use crate::scenario::world::{VALUES_AUTHOR, World};

/// What the checker knows of the values of an environment.
#[derive(Default)]
pub(super) struct ValuesRecord {
    /// The number of commits that the output follows.
    commits: usize,
    /// The gates that people skipped, by the commit that waited then.
    skipped: BTreeSet<(Arc<str>, Arc<str>)>,
    /// The commits that people admitted past their gates.
    overridden: BTreeSet<Arc<str>>,
    /// The approvals, by the commit that waited then.
    approvals: BTreeSet<(Arc<str>, Arc<str>)>,
}

impl RuleChecker {
    /// A person decides about the values of an environment.
    pub(in crate::scenario::walk) fn note_values(&mut self, world: &World, number: usize, decided: &DecisionEvent) {
        let values = &world.environments[number].values;
        let candidate = values.state.as_ref().and_then(|state| state.current.as_ref());
        let candidate = candidate.map(|current| Arc::clone(&current.revision.0));
        let Some(newest) = candidate.or_else(|| values.pending.last().map(|commit| Arc::clone(&commit.name))) else {
            return;
        };
        let record = self.values.entry(number).or_default();
        match &decided.decision {
            DecisionKind::Skip(gate, _) => drop(record.skipped.insert((newest, Arc::clone(gate)))),
            DecisionKind::Override => drop(record.overridden.insert(newest)),
            DecisionKind::Approve => drop(record.approvals.insert((newest, Arc::clone(&decided.by)))),
            _ => {}
        }
    }

    pub(super) fn check_values(&mut self, world: &World, number: usize) -> Checked {
        let environment = &world.environments[number];
        let record = self.values.entry(number).or_default();
        let known = std::mem::replace(&mut record.commits, environment.commits.len());
        // A change of the list of clusters is no value.
        let is_fleet = |position: usize| environment.fleet_commits.contains(&position);
        let positions = (known..environment.commits.len()).filter(|position| !is_fleet(position + 1));
        let Some(newest) = positions.filter_map(|position| environment.commits.get(position)).next_back() else {
            return Ok(());
        };
        if record.overridden.contains(&newest.name) {
            return Ok(());
        }
        let gates = environment.promotion.iter().flat_map(|promotion| &promotion.gates);
        for gate in gates.filter(|gate| gate.applies_to.contains(&ChangeOrigin::Values)) {
            let is_skipped = record.skipped.contains(&(Arc::clone(&newest.name), Arc::clone(&gate.name)));
            if !is_skipped && !record.holds(gate, &newest.name) {
                let text = format!("{}: {}: {}", environment.name, newest.name, gate.name);
                return broken("no value enters an environment before its gates hold", text);
            }
        }
        Ok(())
    }
}

impl ValuesRecord {
    fn holds(&self, gate: &Gate, newest: &Arc<str>) -> bool {
        match &gate.kind {
            GateKind::Manual => false,
            GateKind::Approval(approval) => {
                let approvals = self.approvals.iter().filter(|(of, by)| of == newest && **by != *VALUES_AUTHOR);
                approvals.count() >= approval.count as usize
            }
            _ => true,
        }
    }
}
