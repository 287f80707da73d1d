//! Rollouts: moves a workload through the rings of an environment.
//!
//! [`step`] is pure and level-triggered: the driver calls it again and again with the stored state and fresh evidence, and stores the new state. With the
//! same state, evidence and time, a further step changes nothing.

pub mod checks;
mod domain;
mod entry;
mod finish;
mod history;
pub mod layout;
mod machine;
pub mod membership;
mod next;
mod release;
mod rows;
mod tally;
pub mod wanted;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use model::object::promotion::Promotion;

use super::evidence::{Approver, Authors, CheckResult, PlaceReports};
use super::gates::Teams;
use super::report::{MoveEvent, MoveReport};
use super::state::{BranchPosition, Decision, Move, Revision, RolloutState};
use super::vector::Part;

/// What a step needs to know.
#[derive(Clone, Debug)]
pub struct RolloutInput<'a> {
    /// The current time.
    pub now: Timestamp,
    /// The promotion into the environment, with its rings. Without rings, a rollout ends at once: everything is published directly.
    pub promotion: &'a Promotion,
    /// A hold of the whole environment by a person.
    pub hold: Option<&'a Decision>,
    /// The revision that the sources give now. None: they have errors, so no move starts.
    pub desired: Option<&'a Revision>,
    /// The part in which it differs from the stable revision.
    pub part: Part,
    /// Whether the moving revision, or what the places return to, can't be rendered any more: its sources give another one now, by another version of Kalypso. It gives
    /// way to a newer revision.
    pub is_lost: bool,
    /// Whether another version of the program that renders changes what places have, and is not admitted: no move starts.
    pub is_kept: bool,
    /// The newest values as a change of their own, or why they can't be one. None: they are those of what moves.
    pub ahead: Option<Result<Ahead<'a>, &'a str>>,
    /// The revision to which a rollback by a person returns: the earlier commit of the main branch and release with the present values, or why it can't be rendered.
    /// None: no rollback begins.
    pub back: Option<Result<&'a Revision, &'a str>>,
    /// The current heads of the GitOps branches.
    pub position: &'a BranchPosition,
    /// The places that have the workload.
    pub places: RingPlaces<'a>,
    /// The state of each place, for its content **by the state that is passed to the same step** ([`RolloutState::content`]), or why it is not known. After
    /// a step that changed the state, the driver must measure again.
    pub measured: Result<&'a [PlaceReports], Arc<str>>,
    /// The places that the move changes. None, or that of another move: not known yet, so nothing is released.
    pub changed: Option<ChangedPlaces<'a>>,
    /// The last results of the checks of the moving ring, by the name of the gate.
    pub checks: &'a BTreeMap<Arc<str>, CheckResult>,
    /// Approvals from the git host. Those in the state count too.
    pub approvals: &'a [Approver],
    /// Who wrote the change.
    pub authors: &'a Authors,
    /// The revision, and the index of its ring, that the checks and the authors are about. Nothing is known about others.
    pub evidence_of: Option<(&'a Revision, usize)>,
    /// The accounts of the members of each team.
    pub teams: &'a Teams,
}

/// The newest values on top of what each place has of the commit of the main branch and of the release: of a move that is half-way, or without what was rejected.
#[derive(Clone, Copy, Debug)]
pub struct Ahead<'a> {
    /// The revision of the places that the move has reached.
    pub revision: &'a Revision,
    /// The revision of the others. None: there is no such move, and all places get the same.
    pub rest: Option<&'a Revision>,
}

/// The places of a workload, as columns with an entry for each place, in any order that is the same for all columns of a step.
#[derive(Clone, Copy, Debug, Default)]
pub struct RingPlaces<'a> {
    /// The index of the ring in the promotion. Places with an index past the last ring never get a new revision.
    pub ring: &'a [u16],
    /// The index of the domain in `domains`.
    pub domain: &'a [u32],
    /// The hash that orders the places of a ring. Places of one ring and domain with the same hash are released together.
    pub hash: &'a [u64],
    /// The keys of all domains, each once: [`domain_key`](membership::domain_key).
    pub domains: &'a [Arc<str>],
    /// Whether the moving revision has an assignment with errors there. Empty: it has none anywhere.
    pub failing: &'a [bool],
}

/// What a move is compared with: a rollback to another stable revision concerns other places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference<'a> {
    /// The base of the move.
    pub base: &'a BranchPosition,
    /// The revision of the move.
    pub revision: &'a Revision,
    /// The stable revision. None: nothing is proved yet.
    pub stable: Option<&'a Revision>,
}

/// The places that a move changes: their folders at the revision differ from those at the base, or from those of the stable revision.
///
/// A place that got an unproved revision by an earlier move, and keeps it, differs from the stable revision only. Its ring has to prove it again: otherwise, a
/// newer revision that changes nothing in the ring would carry the unproved one past its gates.
#[derive(Clone, Copy, Debug)]
pub struct ChangedPlaces<'a> {
    /// The difference, by [`RolloutState::difference`].
    pub of: Difference<'a>,
    /// Whether the folder of a place differs, for each place. A place without a folder there differs.
    pub places: &'a [bool],
    /// Whether all of them are new places, which had no folder before: they get what their ring has, without its gates to enter.
    pub is_only_new: bool,
}

/// The result of a step.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RolloutStep {
    /// The new state.
    pub state: RolloutState,
    /// How far the rollout is.
    pub report: MoveReport,
    /// What changed in this step, in order.
    pub events: Vec<MoveEvent>,
}

impl RolloutState {
    /// The difference that the next step needs as [`RolloutInput::changed`]. None: nothing moves.
    pub fn difference(&self) -> Option<Difference<'_>> {
        let Move { base, revision, .. } = self.current.as_ref()?;
        Some(Difference { base, revision, stable: self.stable.as_ref().map(|stable| &stable.revision) })
    }
}

/// Decides what happens next in a rollout.
///
/// 1. A move starts when the sources give a revision that is neither proved nor rejected, also for the first revision of a workload.
/// 2. Each ring releases its changed places in the order of their hashes, as far as its limits allow. A place that has not succeeded yet counts as changing.
///    Before the first place, the gates `enter` hold. Before each further place, their windows are open, each in the time zone of the place if a label names it.
///    With `canary`, the places after the first ones wait until these are compliant.
/// 3. A ring is done when all its changed places are released and published, and all its gates hold: the budget `failures` over all released places,
///    `compliant` (all, unless the ring has its own gate), the gates `prove` of the ring, and `pause`. A ring without changed places is done at once, unless the
///    revision can't be rendered at one of its places: then nothing there proves it. Such a move waits, and gives way to a newer revision.
/// 4. More failed reconcilers than the budget allows stop the move, with the consequences of `onFailure`. A stopped move goes on when its failures are
///    gone, and gives way to a newer revision.
/// 5. After the last ring, the revision is stable.
/// 6. Newer values do not wait for a commit of the main branch that is half-way, and do not take it along: they move as [`Ahead`] through all rings, and then the
///    interrupted move goes on, on top of them. What was rejected on its own does not move with them either.
///
/// While a person holds the rollout, or the environment, only rollbacks go on. After a rollback by a person, only values move until `retry`, and nothing if they were rolled back too.
pub fn step(input: &RolloutInput<'_>, state: &RolloutState) -> RolloutStep {
    let mut machine = machine::Machine::new(input, state);
    machine.run();
    machine.finish()
}

#[cfg(test)]
mod tests;
