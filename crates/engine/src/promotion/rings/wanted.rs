//! What the sources give a workload in rings: by what moves and by what was rejected, in the parts that move on their own.

use crate::promotion::state::{Interrupted, Move, Revision, RolloutState};
use crate::promotion::vector::{AheadOf, Part, Vector};

/// Why newer values can't go ahead of a move: what they would go on top of is no single revision.
pub const MIXED: &str = "places that it has not reached have several commits of the main branch";

/// What the sources give a workload, by what moves and by what was rejected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted<V> {
    /// The revision of the sources, or the rejected revision whose parts it has.
    pub desired: Revision,
    /// The part in which the revision of the sources differs from the stable one.
    pub part: Part,
    /// The newest values as a change of their own.
    pub ahead: Option<AheadOf<V>>,
}

impl RolloutState {
    /// What the sources give: a revision with its vector. `vector_of` gives the vectors of revisions that the state names, where they are known.
    pub fn wanted<P: Clone + PartialEq, C: Clone + PartialEq>(
        &self,
        (desired, latest): (&Revision, &Vector<P, C>),
        vector_of: impl Fn(&Revision) -> Option<Vector<P, C>>,
    ) -> Wanted<Vector<P, C>> {
        let stable = self.stable.as_ref().and_then(|stable| vector_of(&stable.revision));
        let part = stable.as_ref().map_or(Part::Both, |stable| latest.part(stable));
        let wanted = Wanted { desired: desired.clone(), part, ahead: None };
        let Some(stable) = stable else { return wanted };
        if let Some(moving) = self.moving_platform() {
            let moving = vector_of(&moving.revision);
            return Wanted { ahead: moving.and_then(|moving| latest.ahead_of(&moving, &stable)), ..wanted };
        }
        if self.rolled_back.as_ref().is_some_and(|rolled_back| !rolled_back.with_values) {
            // Whatever is newer of the platform waits for `retry`. Values do not.
            let rest = latest.on(&stable);
            let is_change = rest != stable;
            return Wanted { ahead: is_change.then_some(AheadOf { moving: rest, rest: None }), ..wanted };
        }
        let rejected = self.rejected.iter().filter(|rejected| rejected.part != Part::Both);
        let rejected = rejected.filter_map(|found| Some((&found.revision, found.part, vector_of(&found.revision)?)));
        let rejected: Vec<_> = rejected.collect();
        let rejected = rejected.iter().map(|(revision, part, vector)| (*revision, *part, vector));
        let Some((revision, rest)) = latest.without_rejected(&stable, rejected) else { return wanted };
        let desired = if self.is_rejected(desired) { desired.clone() } else { revision.clone() };
        let is_change = rest != stable;
        Wanted { desired, part, ahead: is_change.then_some(AheadOf { moving: rest, rest: None }) }
    }

    /// The move of a commit of the main branch or of a release that is half-way, also where newer values go ahead of it.
    pub(super) fn moving_platform(&self) -> Option<&Move> {
        let interrupted = self.interrupted.as_ref().map(|Interrupted { movement, .. }| movement);
        interrupted.or(self.current.as_ref()).filter(|moving| moving.part != Part::Configuration)
    }
}
