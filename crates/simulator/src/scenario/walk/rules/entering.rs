//! Rules of moves between environments: nothing enters an environment before the gates of the environments before held.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::promotion::evidence::Measured;
use engine::promotion::gates::UNKNOWN_MAX;
use engine::promotion::state::{CandidatePhase, Revision};
use model::object::promotion::{Gate, GateKind, Promotion, Require};

use super::{Checked, RuleChecker, SubjectRecord, broken, failures_hold, is_after, measures_hold};
use crate::scenario::world::{SubjectKey, World};

impl RuleChecker {
    /// Notes since when environments have been good, by the gates of the promotions from them. A step that changes the sources of an environment may see it without
    /// or with the change: the better of both counts.
    pub(super) fn note_environments(&mut self, world: &World) {
        for (key, record) in &mut self.subjects {
            let SubjectKey { environment: number, subject } = *key;
            let environment = &world.environments[number];
            let promotions = world.environments.iter().filter_map(|environment| environment.promotion.as_ref());
            let after: Vec<_> = promotions.filter(|promotion| promotion.from.contains(&environment.name)).collect();
            // Good for the least of the promotions after it: an interruption is one for all of them.
            let is_good = |measured: &Measured| {
                after.iter().any(|promotion| measures_hold(&promotion.gates, measured, |_| false))
            };
            let before = record.measured.filter(|_| record.is_settled);
            let is_changed = record.sources.as_ref() != Some(&environment.sources);
            let is_settled = is_changed && world.is_settled(number, subject);
            let changed = world.measured(number, subject).ok().filter(|_| is_settled);
            // What this step changes is measured in the next step, which may come much later.
            let is_known = before.is_some() || changed.is_some();
            record.unknown_since = record.unknown_since.or(Some(world.now)).filter(|_| !is_known);
            // A short time without evidence does not interrupt a soak.
            let is_tolerated = record.unknown_since.is_some_and(|since| world.now - since <= UNKNOWN_MAX.as_secs());
            // A newer revision on its way does not interrupt it either, until one fails.
            let is_within =
                |measured: &Measured| after.iter().any(|promotion| failures_hold(&promotion.gates, measured));
            let is_open = !record.is_settled && !is_settled;
            let is_on_its_way = is_open || [before, changed].iter().flatten().any(is_within);
            if [before, changed].iter().flatten().any(is_good) {
                let at = [record.at.clone(), world.revision_of(number, subject)];
                for revision in at.into_iter().flatten() {
                    record.good_since.entry(revision).or_default();
                }
                // What it has shown before is good for as long as its successors are.
                for since in record.good_since.values_mut() {
                    since.get_or_insert(world.now);
                }
            } else if !is_tolerated && !is_on_its_way {
                record.good_since.values_mut().for_each(|since| *since = None);
            }
        }
    }

    pub(super) fn check_subject(&mut self, world: &World, key: SubjectKey) -> Checked {
        let SubjectKey { environment: number, subject } = key;
        let environment = &world.environments[number];
        // One step may prove several.
        let state = world.state_of(number, subject);
        let records = state.into_iter().flat_map(|state| state.proofs.iter().map(|proof| &proof.revision));
        let newest = state.and_then(|state| state.proved.as_ref()).map(|proved| &proved.revision);
        for proved in records.chain(newest) {
            if self.subjects.get(&key).is_some_and(|record| !record.proved.contains(proved)) {
                self.check_proof(world, key, proved)?;
            }
        }
        if subject == world.renderer_subject() || !world.is_moved(number, subject) {
            return Ok(());
        }
        let Some(promotion) = environment.promotion.as_ref() else { return Ok(()) };
        let Some(record) = self.subjects.get(&key) else { return Ok(()) };
        let at = world.revision_of(number, subject);
        let proposal = environment.subjects[subject].proposal.as_ref();
        let proposal = proposal.filter(|open| open.merge.is_some()).map(|open| open.revision.clone());
        let written = at.filter(|at| Some(at) != record.at.as_ref());
        let proposed = proposal.filter(|proposal| Some(proposal) != record.proposal.as_ref());
        let current = environment.subjects[subject].state.current.as_ref();
        let entering = current.filter(|current| matches!(current.phase, CandidatePhase::Entering { .. }));
        let entering = entering.map(|current| current.revision.clone());
        // It may be admitted and replaced in one step.
        let candidates = [record.candidate.as_ref(), current.map(|current| &current.revision)];
        let mut allowed = record.allowed.clone().filter(|allowed| candidates.contains(&Some(allowed)));
        for revision in written.into_iter().chain(proposed).chain(entering) {
            let same = world.reverts_to(key, &revision);
            let is_proved = |revision: &Revision| record.proved.contains(revision);
            if !is_proved(&revision) && !same.as_ref().is_some_and(is_proved) && allowed.as_ref() != Some(&revision) {
                Entering { checker: self, world, key, promotion, revision: &revision, record }.check_gates()?;
                allowed = Some(revision);
            }
        }
        if let Some(record) = self.subjects.get_mut(&key) {
            record.allowed = allowed;
        }
        Ok(())
    }

    /// An environment proved a revision: all of its reconcilers except silent ones applied it.
    fn check_proof(&mut self, world: &World, key: SubjectKey, proved: &Revision) -> Checked {
        let Some(record) = self.subjects.get_mut(&key) else { return Ok(()) };
        let name = world.subject_name(key.environment, key.subject);
        let has_rings = world.environments[key.environment].has_rings();
        let Some(measured) = record.measured.as_ref() else {
            return broken("nothing is proved without evidence", name);
        };
        let Measured { expected, succeeded, silent, unpublished, .. } = *measured;
        let is_skipped = record.skipped.iter().any(|(of, gate)| of.as_ref() == Some(proved) && **gate == *"compliant");
        if unpublished > 0 || (!has_rings && !is_skipped && succeeded + silent < expected) {
            return broken("a revision is proved when all reconcilers applied it", format!("{name}: {measured:?}"));
        }
        // What was proved and replaced in one step is good with what replaced it.
        record.good_since.entry(proved.clone()).or_default();
        record.proved.insert(proved.clone());
        Ok(())
    }
}

/// A revision that enters an environment.
#[derive(Clone, Copy)]
pub(super) struct Entering<'a> {
    pub(super) checker: &'a RuleChecker,
    pub(super) world: &'a World,
    pub(super) key: SubjectKey,
    /// The promotion into the environment.
    pub(super) promotion: &'a Promotion,
    pub(super) revision: &'a Revision,
    pub(super) record: &'a SubjectRecord,
}

impl Entering<'_> {
    fn name(&self) -> String {
        format!("{}: {}", self.world.subject_name(self.key.environment, self.key.subject), self.revision.0)
    }

    /// Whether a person skipped a gate for the revision.
    fn is_skipped(&self, gate: &str) -> bool {
        self.record.skipped.iter().any(|(of, skipped)| {
            (of.as_ref() == Some(self.revision) || of.is_none())
                && (**skipped == *gate || skipped.ends_with(&format!("/{gate}")))
        })
    }

    pub(super) fn check_gates(&self) -> Checked {
        let Self { world, promotion, .. } = *self;
        let SubjectKey { environment: number, subject } = self.key;
        let environment = &world.environments[number];
        let hold = world.state_of(number, subject).and_then(|state| state.hold.as_ref());
        if hold.is_some() || environment.hold().is_some() {
            return broken("nothing enters an environment during a hold", self.name());
        }
        for gate in &promotion.gates {
            self.check_gate(gate)?;
        }
        let holds = |before: &str| self.has_proved(before);
        let mut before = promotion.from.iter().map(|before| (before, holds(before)));
        let is_good = match promotion.require {
            Require::All => before.all(|(_, holds)| holds.is_ok()),
            Require::Any => promotion.from.is_empty() || before.any(|(_, holds)| holds.is_ok()),
        };
        if is_good {
            return Ok(());
        }
        let reasons: Vec<_> = promotion.from.iter().map(|before| format!("{before}: {:?}", holds(before))).collect();
        broken(
            "nothing enters an environment before the gates of the environments before hold",
            format!("{}: {}", self.name(), reasons.join("; ")),
        )
    }

    fn check_gate(&self, gate: &Gate) -> Checked {
        let holds = match &gate.kind {
            GateKind::Check(check) => self.world.check_outcome(&check.name) == Some(true),
            GateKind::Manual => false,
            GateKind::Approval(approval) => {
                let authors = self.authors();
                let of_revision = self.record.approvals.iter().filter(|(of, _)| of == self.revision);
                let approvals = of_revision.filter(|(_, by)| !authors.contains(&Some(Arc::clone(by)))).count();
                approvals >= approval.count as usize + usize::from(authors.contains(&None))
            }
            _ => true,
        };
        if holds || self.is_skipped(&gate.name) {
            return Ok(());
        }
        broken("nothing enters an environment before its gates hold", format!("{}: {}", self.name(), gate.name))
    }

    /// The authors of the revision, and of all that it contains and the environment did not have before the step. None: one that is not known.
    fn authors(&self) -> BTreeSet<Option<Arc<str>>> {
        let Self { world, revision, .. } = *self;
        let had = self.record.at.as_ref();
        let mut authors = BTreeSet::from([world.author_of(self.key.subject, revision)]);
        if self.key.subject == 0 {
            let line = world.line(0);
            let newer = line.iter().skip_while(|known| *known != revision).collect::<Vec<_>>();
            if newer.iter().any(|known| Some(*known) == had) {
                let brought = newer.into_iter().take_while(|known| Some(*known) != had);
                authors.extend(brought.map(|known| world.author_of(0, known)));
            }
        }
        authors
    }

    /// Whether an environment before has proved the revision by the gates of the promotion.
    fn has_proved(&self, before: &str) -> Result<(), &'static str> {
        let Self { world, promotion, revision, .. } = *self;
        let subject = self.key.subject;
        let is_skipped = |gate: &str| self.is_skipped(gate);
        let Some(number) = world.number(before) else { return Err("it does not exist") };
        let Some(SubjectRecord { at, measured, is_settled, good_since, proved, .. }) =
            self.checker.subjects.get(&SubjectKey { environment: number, subject })
        else {
            return Err("it is not known");
        };
        if is_skipped("settled") {
            return Ok(());
        }
        let line = world.line(subject);
        let position = |revision: &Revision| line.iter().position(|known| known == revision);
        // A revision with the content that the environment had is proved in the step that brings it.
        let now = world.revision_of(number, subject).filter(|_| world.is_settled(number, subject));
        // So does an abort end the rollout that was open before the step.
        let is_settled = *is_settled || now.is_some();
        let contains = if subject == 0 {
            let position_of = |at: Option<&Revision>| at.and_then(position);
            let at = [position_of(at.as_ref()), position_of(now.as_ref())].into_iter().flatten().min();
            at.zip(position(revision)).is_some_and(|(at, revision)| at <= revision)
        } else {
            // No release contains another one: the environment has it, or has shown exactly this one before.
            [at, &now].contains(&&Some(revision.clone()))
                || proved.contains(revision)
                || good_since.contains_key(revision)
        };
        if !contains {
            return Err("it does not have the revision");
        }
        if !is_settled {
            return Err("a rollout is open");
        }
        let Some(measured) = measured else {
            // Without a gate that measures, there is nothing to measure.
            let measures = |gate: &&Gate| {
                matches!(gate.kind, GateKind::Compliant { .. } | GateKind::Failures(_) | GateKind::Soak(_))
            };
            let is_free = promotion.gates.iter().filter(measures).all(|gate| is_skipped(&gate.name));
            return if is_free { Ok(()) } else { Err("there is no evidence") };
        };
        if !measures_hold(&promotion.gates, measured, is_skipped) {
            return Err("the fleet is not good");
        }
        let soaks = promotion.gates.iter().filter_map(|gate| match gate.kind {
            GateKind::Soak(time) if !is_skipped(&gate.name) => Some(time),
            _ => None,
        });
        let is_measure_skipped = promotion.gates.iter().any(|gate| is_skipped(&gate.name));
        let since = good_since.get(revision).copied().flatten();
        match soaks
            .max()
            .filter(|time| !is_measure_skipped && !is_after(self.checker.clock_changed, since, world.now, *time))
        {
            Some(_) => Err("the soak is not over"),
            None => Ok(()),
        }
    }
}
