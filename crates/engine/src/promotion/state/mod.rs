//! The stored state of moves: what git keeps between two steps of the controller.
//!
//! The derives of serde give the form of the state files, in this order of fields. The content of a field with the name `\0flatten` is among the fields around it:
//! see `delivery::states::state_file`.

mod advance;
pub(super) mod rejections;
mod thresholds;

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

pub use self::advance::{
    AdvanceState, Candidate, CandidatePhase, Exercised, MoveRequest, Override, ProofRecord, Unmerged,
};
use super::absent_field::is_default;
use super::evidence::{Approver, Authors, Measured};
use super::vector::Part;

/// What moves: the digest of a workload's folders, a commit of the main branch, or a release.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Revision(pub Arc<str>);

/// A state of the GitOps branches, from which folders can be taken again: pairs of a `GitOpsRepo` and a commit. Opaque here.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct BranchPosition(pub Arc<str>);

/// A revision with the position at which all its places had it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proved {
    /// The revision.
    pub revision: Revision,
    /// The position.
    #[serde(rename = "position")]
    pub at: BranchPosition,
    /// When it was proved.
    #[serde(rename = "proved")]
    pub on: Timestamp,
}

/// A revision that was rolled back or aborted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejection {
    /// The revision.
    pub revision: Revision,
    /// Why. Empty: not known.
    pub reason: Arc<str>,
    /// The part in which it differs from what was proved before.
    #[serde(default, skip_serializing_if = "is_default")]
    pub part: Part,
    /// When. None: not known. Earlier versions did not store it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at: Option<Timestamp>,
}

/// The rollout of one workload in one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct RolloutState {
    /// A hold by a person: nothing moves but rollbacks.
    pub hold: Option<Decision>,
    /// The revision that moves now.
    pub current: Option<Move>,
    /// The move that it goes ahead of.
    pub interrupted: Option<Interrupted>,
    /// Newer revisions that wait, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Revision>,
    /// The revision that all rings proved last, or that a rollback returned to. None: there was none yet.
    pub stable: Option<Proved>,
    /// Other revisions that all rings proved, oldest first: a rollback can return to them. A bounded number of the newest ones.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Proved>,
    /// The revisions that were rolled back or aborted. None of them starts again by itself. The last one is the one that the sources give, or that was rejected last.
    /// A bounded number of the newest ones.
    #[serde(deserialize_with = "rejections::read", skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejection>,
    /// A rollback by a person: no commit of the main branch and no release moves until a person says `retry`.
    pub rolled_back: Option<RolledBack>,
}

/// A revision on its way through the rings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Move {
    /// The revision.
    pub revision: Revision,
    /// The part in which it differs from the stable revision.
    #[serde(default, skip_serializing_if = "is_default")]
    pub part: Part,
    /// When it began.
    pub started: Timestamp,
    /// The position when it began. Places that are not released yet keep the content of this position.
    pub base: BranchPosition,
    /// Its phase.
    #[serde(rename = "\0flatten")]
    pub phase: MoveStage,
    /// The layout of the rings that `ring` and `released` refer to: [`layout`](super::rings::layout::layout). With other rings, nothing is released by this move.
    #[serde(default, skip_serializing_if = "is_default")]
    pub layout: Arc<str>,
    /// The index of the ring that moves now. The rings before are done.
    pub ring: usize,
    /// When this ring began.
    pub ring_started: Timestamp,
    /// The released places of this ring: those whose hash is at most the threshold of their domain.
    #[serde(default, with = "thresholds", skip_serializing_if = "is_default")]
    pub released: BTreeMap<Arc<str>, u64>,
    /// Since when the fleet's gates of this ring have held without interruption.
    pub good_since: Option<Timestamp>,
    /// Whether it goes on after newer values that went ahead of it. Others wait until its gates were evaluated once: no stream of values keeps it where it is.
    #[serde(rename = "due", default, skip_serializing_if = "is_default")]
    pub is_due: bool,
    /// The gates of this ring, as they were evaluated last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Vec<GateRecord>,
    /// Approvals for this ring.
    #[serde(default, skip_serializing_if = "is_default")]
    pub approvals: Vec<Approver>,
    /// Who wrote what it brings, if a gate of this ring waits for approvals: theirs do not count.
    pub authors: Option<Authors>,
    /// The rings that are done, with their evidence.
    #[serde(default, skip_serializing_if = "is_default")]
    pub done: Vec<RingRecord>,
}

/// A rollback by a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct RolledBack {
    /// Who decided, and why.
    #[serde(rename = "\0flatten")]
    pub decision: Decision,
    /// Whether values returned too. Newer values wait then, as everything else.
    #[serde(default, skip_serializing_if = "is_default")]
    pub with_values: bool,
    /// The proved revision to whose commit of the main branch and release it returns, as long as they are not rendered with the present values: nothing moves until
    /// then. None: it has begun.
    pub target: Option<Proved>,
}

/// A move that newer values go ahead of. It goes on when they are in all rings, on top of them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interrupted {
    /// The move.
    #[serde(rename = "move")]
    pub movement: Move,
    /// The revision that the places which it has not reached get from the move that goes ahead.
    pub rest: Revision,
}

/// The phase of a move.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum MoveStage {
    /// It moves, or waits for gates.
    #[serde(rename = "")]
    Moving,
    /// It failed and stopped. It moves again when its failures are gone, or after `retry`.
    Stopped {
        /// Why.
        reason: Arc<str>,
        /// Since when.
        since: Timestamp,
        /// Whether the places of the ring have returned to the stable revision.
        #[serde(rename = "withdrawn")]
        is_withdrawn: bool,
    },
    /// All places return to the stable revision.
    RollingBack {
        /// Why.
        reason: Arc<str>,
        /// Since when.
        since: Timestamp,
    },
}

/// A gate as it was evaluated last.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GateRecord {
    /// The name.
    pub name: Arc<str>,
    /// Its status.
    #[serde(rename = "\0flatten")]
    pub status: GateStatus,
    /// Since when it has had this status.
    pub since: Timestamp,
    /// The evidence, or what it waits for.
    pub text: Arc<str>,
}

/// The status of a gate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum GateStatus {
    /// It holds.
    #[serde(rename = "status: passed")]
    Passed,
    /// It does not hold yet, or can't be evaluated.
    #[serde(rename = "status: waiting")]
    Waiting,
    /// It can't hold any more without a change.
    #[serde(rename = "status: failed")]
    Failed,
    /// A person skipped it.
    #[serde(rename = "skipped")]
    Skipped(Decision),
}

/// A ring that is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RingRecord {
    /// The name of the ring.
    pub name: Arc<str>,
    /// When it began.
    pub started: Timestamp,
    /// When it was done.
    pub ended: Timestamp,
    /// The state of its places then. None: nothing changed in the ring.
    pub measured: Option<Measured>,
    /// Its gates then.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Vec<GateRecord>,
}

/// A decision of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Who decided.
    pub by: Arc<str>,
    /// When.
    pub at: Timestamp,
    /// Why.
    pub reason: Arc<str>,
}

impl Decision {
    /// Who decided this, and why.
    pub(in crate::promotion) fn because(&self, what: &str) -> Arc<str> {
        format!("{what} by {}: {}", self.by, self.reason).into()
    }
}

/// The content of a place during a rollout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Content {
    /// What the GitOps branch has now.
    Published,
    /// What it had when the move began.
    Base,
    /// The stable revision.
    Stable,
    /// The moving revision.
    Moving,
    /// The revision of places that the interrupted move has not reached, where the moving one goes ahead.
    Rest,
}

impl Content {
    /// Whether a place has got what moves.
    pub fn is_moving(self) -> bool {
        matches!(self, Self::Moving | Self::Rest)
    }

    /// The content, where a move goes ahead of another one: the places that the other one has not reached get the rest, and a rollback returns all places to what they
    /// had before. `interrupted` is the content by the interrupted move.
    pub(in crate::promotion) fn ahead_of(self, interrupted: Self) -> Self {
        match self {
            Self::Moving if !interrupted.is_moving() => Self::Rest,
            Self::Stable => Self::Base,
            content => content,
        }
    }
}

impl RolloutState {
    /// The content of a place: of its ring, its domain, and its hash in the order of the ring.
    pub fn content(&self, ring: usize, domain: &str, hash: u64) -> Content {
        let Some(current) = &self.current else { return Content::Published };
        let (content, interrupted) =
            (current.content(ring, domain, hash), self.interrupted_content(ring, domain, hash));
        interrupted.map_or(content, |interrupted| content.ahead_of(interrupted))
    }

    /// The content that a place gets when the current move releases it.
    pub fn released_content(&self, ring: usize, domain: &str, hash: u64) -> Content {
        let interrupted = self.interrupted_content(ring, domain, hash);
        interrupted.map_or(Content::Moving, |interrupted| Content::Moving.ahead_of(interrupted))
    }

    /// The content of a place by the interrupted move. None: no move is interrupted.
    fn interrupted_content(&self, ring: usize, domain: &str, hash: u64) -> Option<Content> {
        self.interrupted.as_ref().map(|interrupted| interrupted.movement.content(ring, domain, hash))
    }

    /// Whether a place has got what moves, or what the interrupted move brought.
    pub fn is_reached(&self, ring: usize, domain: &str, hash: u64) -> bool {
        let movement = self.interrupted.as_ref().map(|interrupted| &interrupted.movement).or(self.current.as_ref());
        movement.is_some_and(|movement| movement.content(ring, domain, hash).is_moving())
    }
}

impl Move {
    /// Begins again with the first ring.
    pub(in crate::promotion) fn begin_again(&mut self, now: Timestamp) {
        (self.phase, self.ring, self.ring_started, self.good_since) = (MoveStage::Moving, 0, now, None);
        self.released.clear();
        self.gates.clear();
        self.approvals.clear();
        self.done.clear();
    }

    fn content(&self, ring: usize, domain: &str, hash: u64) -> Content {
        match self.phase {
            MoveStage::RollingBack { .. } => Content::Stable,
            _ if ring < self.ring => Content::Moving,
            _ if ring > self.ring => Content::Base,
            MoveStage::Stopped { is_withdrawn: true, .. } => Content::Stable,
            _ if self.released.get(domain).is_some_and(|threshold| hash <= *threshold) => Content::Moving,
            _ => Content::Base,
        }
    }
}
