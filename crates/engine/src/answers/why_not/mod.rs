//! Explains why an assignment does not exist, or why an object does not apply to it, and finds the smallest changes that would help.

mod applied;
mod change;
mod check;
mod edit;
mod label_source;
mod obstacle;
mod overridden;
mod reach;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use model::diagnostic::{Diagnostic, Origin};
use model::name::PolicyName;
use model::object::{Object, SchedulingPolicy};

use crate::compile::Prepared;
use crate::schedule::Selection;
use crate::schedule::place::Place;
use crate::schedule::target::Target;

pub use applied::{Applicability, AppliedKind, CheckedCondition, Exclusion};
pub use change::SuggestedChange;
pub use check::{CheckedRequirement, CheckedSide, PolicyCondition};
use check::{Checker, missing_of_place, missing_of_target};
pub use edit::{AssignmentSide, EditAction, ObjectEdit};
pub use label_source::{SourcedLabel, label_of_place, label_of_target, labels_of_place, labels_of_target};
pub use obstacle::Obstacle;
pub use overridden::{Standing, ValueStanding, Winner};
use reach::AskedObjects;
pub use reach::ChangeReach;

/// The maximum number of policies that are compared in detail.
const NEAR_MAX: usize = 5;
/// The maximum number of policies for which changes are searched.
const CHANGED_MAX: usize = 3;

/// The answer to the question why a target is not on a place, or why a target or place has no assignments.
#[derive(Debug)]
pub struct WhyNot {
    /// The place that the question is about. None if it is about any place, or if the place does not exist.
    pub place: Option<Place>,
    /// The target that the question is about. None if it is about any target, or if the target does not exist.
    pub target: Option<Arc<Target>>,
    /// The number of assignments that exist.
    pub assignments: u64,
    /// The policies that make these assignments, by name.
    pub policies: Vec<PolicyName>,
    /// The reasons why the place or target does not exist, or can't be rendered.
    pub obstacles: Vec<Obstacle>,
    /// The policies that almost match, the nearest first. Empty if the assignment exists, or if its place or target does not.
    pub near: Vec<NearPolicy>,
    /// The number of policies that need as few changes as the first one.
    pub nearest: usize,
    /// The number of policies.
    pub all_policies: usize,
    /// The number of policies that select the target.
    pub selecting_target: usize,
    /// The number of policies that select the place.
    pub selecting_place: usize,
}

/// A policy that does not make an assignment, and the reasons.
#[derive(Debug)]
pub struct NearPolicy {
    /// The policy.
    pub policy: PolicyName,
    /// The place of its specification.
    pub origin: Origin,
    /// Its conditions for the target.
    pub target: CheckedSide,
    /// Its conditions for the place.
    pub place: CheckedSide,
    /// The number of conditions that are not met.
    pub missing: usize,
    /// The changes that would make the assignment, the smallest first.
    pub changes: Vec<SuggestedChange>,
    /// The problem if the policy exists more than once. What it selects is then undefined.
    pub problem: Option<Diagnostic>,
}

impl WhyNot {
    /// Whether the place or the target does not exist.
    pub fn is_unknown(&self) -> bool {
        self.obstacles.iter().any(|obstacle| !matches!(obstacle, Obstacle::Problem(_)))
    }
}

impl Prepared {
    /// Explains why a target is not assigned to a place. Without a place or without a target: why the other one has no assignments.
    pub fn why_not(&self, place: Option<&str>, target: Option<&str>) -> WhyNot {
        let (place_id, target_id) =
            (place.and_then(|name| self.place_id(name)), target.and_then(|name| self.target_id(name)));
        let asked = AskedObjects {
            prepared: self,
            place: place_id.and_then(|id| Some((id, self.place(id)?))),
            target: target_id.and_then(|id| Some((id, &*self.target(id)?.target))),
        };
        let mut obstacles: Vec<_> = place.map(|name| obstacle::of_place(self, name)).unwrap_or_default();
        obstacles.extend(target.map(|name| obstacle::of_target(self, name)).unwrap_or_default());
        let is_unknown = (place.is_some() && asked.place.is_none()) || (target.is_some() && asked.target.is_none());
        let (assignments, policies) = if is_unknown { Default::default() } else { self.assigned(asked) };
        let selections = self.schedule.all_selections();
        let count = |is_selected: &dyn Fn(&&Selection) -> bool| selections.iter().filter(is_selected).count();
        let mut answer = WhyNot {
            place: asked.place.map(|(_, place)| place.clone()),
            target: target_id.and_then(|id| self.target(id)).map(|target| Arc::clone(&target.target)),
            assignments,
            policies,
            obstacles,
            near: Vec::new(),
            nearest: 0,
            all_policies: selections.len(),
            selecting_target: count(&|selection| target_id.is_some_and(|id| selection.targets.contains(id))),
            selecting_place: count(&|selection| place_id.is_some_and(|id| selection.places.contains(id))),
        };
        if !answer.is_unknown() && answer.assignments == 0 {
            (answer.near, answer.nearest) = self.near_policies(asked);
        }
        answer
    }

    /// The number of assignments that a question is about, and the policies that make them.
    fn assigned(&self, asked: AskedObjects<'_>) -> (u64, Vec<PolicyName>) {
        let ids = asked.ids();
        let (place, target) = (ids.place, ids.target);
        let count = match (place, target) {
            (Some(place), Some(target)) => self.schedule.targets_on(place).contains(&target).into(),
            (Some(place), None) => self.schedule.targets_on(place).len() as u64,
            (None, Some(target)) => self.schedule.places_of(target).len(),
            (None, None) => 0,
        };
        let makes = |selection: &&Selection| {
            place.map_or(!selection.places.is_empty(), |place| selection.places.contains(place))
                && target.map_or(!selection.targets.is_empty(), |target| selection.targets.contains(target))
        };
        let making = self.schedule.all_selections().iter().filter(makes).filter(|_| count > 0);
        let mut policies: Vec<_> = making.map(|selection| selection.policy.name.clone()).collect();
        policies.dedup();
        (count, policies)
    }

    /// The policies that need the fewest changes, and how many need as few as the first one. Of these with the same number, those that select the
    /// target come first.
    fn near_policies(&self, asked: AskedObjects<'_>) -> (Vec<NearPolicy>, usize) {
        let distance = |selection: &Selection| {
            let spec = &selection.policy.spec;
            let target = asked.target.map_or_else(
                || usize::from(selection.targets.is_empty()),
                |(_, target)| missing_of_target(spec, target),
            );
            let place = asked
                .place
                .map_or_else(|| usize::from(selection.places.is_empty()), |(_, place)| missing_of_place(spec, place));
            (target + place, target)
        };
        let selections = self.schedule.all_selections();
        let mut ranked: Vec<_> = selections.iter().map(|selection| (distance(selection), selection)).collect();
        ranked.sort_by(|(one, first), (other, second)| {
            one.cmp(other).then_with(|| first.policy.name.cmp(&second.policy.name))
        });
        let missing = |((missing, _), _): &((usize, usize), &Selection)| *missing;
        let nearest = ranked.iter().filter(|one| ranked.first().map(missing) == Some(missing(one))).count();
        let mut checker = Checker::new(self, &self.fleet);
        let near = ranked.into_iter().take(NEAR_MAX).enumerate();
        (near.map(|(rank, (_, selection))| near_policy((asked, rank), &mut checker, selection)).collect(), nearest)
    }
}

fn near_policy(
    (asked, rank): (AskedObjects<'_>, usize),
    checker: &mut Checker<'_>,
    selection: &Selection,
) -> NearPolicy {
    let policy: &Object<SchedulingPolicy> = &selection.policy;
    let target = CheckedSide {
        checks: checker.target(policy, asked.target.map(|(_, target)| target)),
        is_asked: asked.target.is_some(),
        selected: selection.targets.len(),
    };
    let place = CheckedSide {
        checks: checker.place(policy, asked.place.map(|(_, place)| place)),
        is_asked: asked.place.is_some(),
        selected: selection.places.len(),
    };
    let problem = if selection.is_unclear { asked.prepared.fleet.duplicate_diagnostic(&policy.key()) } else { None };
    let has_changes = rank < CHANGED_MAX && problem.is_none();
    let changes = if has_changes { change::changes(asked, policy, [&target, &place]) } else { Vec::new() };
    let missing = target.missing() + place.missing();
    NearPolicy {
        policy: policy.name.clone(),
        origin: check::origin_of(policy),
        target,
        place,
        missing,
        changes,
        problem,
    }
}
