//! The stored state of one subject on its way into one environment: commits of the main branch, or releases of a workload.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Decision, GateRecord, GateStatus, Proved, Rejection, Revision, rejections};
use crate::promotion::absent_field::is_default;
use crate::promotion::evidence::{Approver, Authors, Measured};
use crate::promotion::vector::Part;

/// The number of proved revisions, and of records of evidence, that are kept. Older ones are forgotten first.
const KEPT_MAX: usize = 50;

/// The state of one subject on its way into one environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub struct AdvanceState {
    /// The revision that the sources of the environment named in the last step. Another one that no step asked for was written by a person.
    pub at: Option<Revision>,
    /// The revision that the environment may have. Its output is rendered from this one, whatever the sources name. None: nothing was admitted yet.
    pub admitted: Option<Revision>,
    /// A hold by a person: nothing moves.
    pub hold: Option<Decision>,
    /// The rollback of a person: nothing moves by itself until a person moves a revision.
    pub stays: Option<Decision>,
    /// The revision that moves into the environment now.
    pub current: Option<Candidate>,
    /// Newer revisions that wait, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub waiting: Vec<Revision>,
    /// The last revision that the environment itself has proved.
    pub proved: Option<Proved>,
    /// The revisions that the environment has proved, the newest last. A rollback returns to one of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub proofs: Vec<ProofRecord>,
    /// The revisions that were rolled back or aborted, the newest last. They do not start again by themselves.
    #[serde(deserialize_with = "rejections::read", skip_serializing_if = "Vec::is_empty")]
    pub rejected: Vec<Rejection>,
    /// A request by a person to move a revision, although `start` is manual or it was rejected.
    pub requested: Option<MoveRequest>,
    /// What the environments before have shown about revisions while they had exactly these, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<Exercised>,
    /// What was admitted of a source, and is not on the branches that clusters pull yet, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unmerged: Vec<Unmerged>,
}

/// An admitted change of a source that waits, for example, for the merge of a pull request. Until then, its gates must still hold.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unmerged {
    /// The change, with the gates by which it was admitted.
    pub change: Candidate,
    /// The revision that was admitted before. None: it is not known.
    pub from: Option<Revision>,
}

/// A request by a person to move a revision.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MoveRequest {
    /// The revision.
    pub revision: Revision,
    /// Who asked for it, and why.
    pub decision: Decision,
    /// Whether it is only to start again what was rejected. It never replaces something newer.
    #[serde(rename = "retry", default, skip_serializing_if = "is_default")]
    pub is_retry: bool,
}

/// A revision that an environment has proved.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProofRecord {
    /// The revision.
    pub revision: Revision,
    /// When it was proved.
    #[serde(rename = "proved")]
    pub on: Timestamp,
    /// The state of the environment's places then. None: it is not known.
    pub measured: Option<Measured>,
}

/// An environment before had exactly this revision, and the gates that measure it held.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exercised {
    /// The environment before.
    pub environment: Arc<str>,
    /// The revision.
    pub revision: Revision,
    /// Since when.
    pub since: Timestamp,
}

/// A revision on its way into an environment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Candidate {
    /// The revision.
    pub revision: Revision,
    /// Since when it is a candidate.
    pub since: Timestamp,
    /// Its phase.
    #[serde(rename = "\0flatten")]
    pub phase: CandidatePhase,
    /// Whether the environment has stopped it because of a failure. Until the environment proves it, nothing moves on from there.
    #[serde(rename = "failed", default, skip_serializing_if = "is_default")]
    pub has_failed: bool,
    /// Since when the environments before have shown no failure of it. After they have proved it, newer revisions there do not begin the time again.
    pub good_since: Option<Timestamp>,
    /// Since when the gates that measure the environments before have held, for what these have now.
    pub steady_since: Option<Timestamp>,
    /// The gates, as they were evaluated last.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Vec<GateRecord>,
    /// The gates by which it was admitted. They are evaluated again while its output waits in a pull request. Empty: it is not admitted, or passed no gate.
    #[serde(default, skip_serializing_if = "is_default")]
    pub entry: Vec<GateRecord>,
    /// Approvals of this revision.
    #[serde(default, skip_serializing_if = "is_default")]
    pub approvals: Vec<Approver>,
    /// Who wrote what it brings, if a gate waits for approvals: theirs do not count.
    pub authors: Option<Authors>,
    /// The decision by which it was admitted past its gates.
    pub overridden: Option<Override>,
}

/// A decision of a person to admit exactly one revision past its gates.
///
/// Until it expires, the gates count as passed while the output waits, for example in a pull request. From then on, what is not published yet needs them again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Override {
    /// Who decided, when and why.
    #[serde(rename = "\0flatten")]
    pub decision: Decision,
    /// The gates that did not hold. All gates, if none was evaluated.
    #[serde(default, skip_serializing_if = "is_default")]
    pub gates: Vec<Arc<str>>,
    /// When it expires.
    pub expires: Timestamp,
    /// The revision that was admitted before. None: it is not known.
    pub from: Option<Revision>,
}

impl Override {
    /// Whether it has expired.
    pub fn has_expired(&self, now: Timestamp) -> bool {
        self.expires <= now
    }

    fn skips(&self, record: &GateRecord) -> bool {
        matches!(&record.status, GateStatus::Skipped(decision) if *decision == self.decision)
    }
}

/// The phase of a candidate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub enum CandidatePhase {
    /// It waits for its gates.
    #[serde(rename = "")]
    Gated,
    /// The gates held, and it is being written into the environment, for example by a pull request that waits for its merge. It is admitted when the environment
    /// names it and its gates still hold.
    Entering {
        /// Since when.
        since: Timestamp,
    },
    /// It is admitted, and the environment proves it.
    Proving {
        /// Since when.
        since: Timestamp,
    },
    /// It failed in the environment and stopped.
    Stopped {
        /// Why.
        reason: Arc<str>,
        /// Since when.
        since: Timestamp,
    },
    /// The environment returns to an earlier proved revision, which is admitted again.
    RollingBack {
        /// Why.
        reason: Arc<str>,
        /// Since when.
        since: Timestamp,
    },
}

impl Candidate {
    /// A candidate without evidence.
    pub fn new(revision: Revision, since: Timestamp, phase: CandidatePhase) -> Self {
        let (good_since, steady_since) = (None, None);
        let (has_failed, gates, entry, approvals, authors, overridden) = Default::default();
        Self {
            revision,
            since,
            phase,
            has_failed,
            good_since,
            steady_since,
            gates,
            entry,
            approvals,
            authors,
            overridden,
        }
    }

    /// Whether it was admitted past a gate, by a decision of a person.
    pub(in crate::promotion) fn is_let_in_by_person(&self) -> bool {
        let is_skipped = |record: &GateRecord| matches!(record.status, GateStatus::Skipped(_));
        self.overridden.is_some() || self.entry.iter().any(is_skipped)
    }

    /// The override by which it was admitted, if it has expired.
    pub(in crate::promotion) fn expired_override(&self, now: Timestamp) -> Option<&Override> {
        self.overridden.as_ref().filter(|found| found.has_expired(now))
    }

    /// The records of its entry that still count: not those of gates that an expired override passed.
    pub(in crate::promotion) fn entry_at(&self, now: Timestamp) -> Vec<GateRecord> {
        let expired = self.expired_override(now);
        let is_over = |record: &GateRecord| expired.is_some_and(|expired| expired.skips(record));
        self.entry.iter().filter(|record| !is_over(record)).cloned().collect()
    }

    /// What is published stays: the gates that an override passed are not evaluated any more.
    pub(in crate::promotion) fn settle_override(&mut self) {
        if let Some(overridden) = &self.overridden {
            self.entry.retain(|record| !overridden.skips(record));
        }
    }
}

impl AdvanceState {
    /// The state of what is recorded for the first time: the output has this revision.
    #[must_use]
    pub fn beginning(at: Revision) -> Self {
        Self { at: Some(at.clone()), admitted: Some(at), ..Self::default() }
    }

    /// Whether a revision was rolled back or aborted.
    pub fn is_rejected(&self, revision: &Revision) -> bool {
        rejections::contains(&self.rejected, revision)
    }

    /// The revision that was rejected last.
    pub fn last_rejected(&self) -> Option<&Rejection> {
        self.rejected.last()
    }

    /// Rejects a revision.
    pub fn reject(&mut self, revision: Revision, (reason, at): (Arc<str>, Timestamp)) {
        rejections::add(&mut self.rejected, Rejection { revision, reason, part: Part::Both, at: Some(at) });
    }

    /// A rejected revision may move again.
    pub fn forgive(&mut self, revision: &Revision) {
        rejections::remove(&mut self.rejected, revision);
    }

    /// Whether the environment has proved a revision, now or before.
    pub fn has_proved(&self, revision: &Revision) -> bool {
        self.proof(revision).is_some() || self.proved.as_ref().is_some_and(|proved| proved.revision == *revision)
    }

    /// The proof of a revision, if the environment has proved it.
    pub fn proof(&self, revision: &Revision) -> Option<&ProofRecord> {
        self.proofs.iter().rfind(|proof| proof.revision == *revision)
    }

    /// The revision that was proved before the one that is admitted, and was not rejected.
    pub fn proved_before(&self) -> Option<&Revision> {
        let last = self.proved.as_ref().map(|proved| &proved.revision);
        let all = self.proofs.iter().rev().map(|proof| &proof.revision);
        last.into_iter()
            .chain(all)
            .find(|revision| self.admitted.as_ref() != Some(*revision) && !self.is_rejected(revision))
    }

    /// Keeps the proof of a revision.
    pub(in crate::promotion) fn prove(&mut self, proved: Proved, measured: Option<Measured>) {
        self.proofs.retain(|proof| proof.revision != proved.revision);
        self.proofs.push(ProofRecord { revision: proved.revision.clone(), on: proved.on, measured });
        forget_oldest(&mut self.proofs);
        self.proved = Some(proved);
    }

    /// Keeps what an environment before has shown about a revision.
    pub(in crate::promotion) fn note_exercised(
        &mut self,
        environment: &Arc<str>,
        revision: &Revision,
        since: Timestamp,
    ) {
        if !self.has_been_shown(environment, revision) {
            self.evidence.push(Exercised { environment: Arc::clone(environment), revision: revision.clone(), since });
            forget_oldest(&mut self.evidence);
        }
    }

    /// Whether an environment before has shown a revision.
    pub(in crate::promotion) fn has_been_shown(&self, environment: &str, revision: &Revision) -> bool {
        let is_it = |found: &&Exercised| *found.environment == *environment && found.revision == *revision;
        self.evidence.iter().any(|found| is_it(&found))
    }

    /// The state of an earlier version, which did not record what is admitted: the environment had what moved into it, or what it proved.
    #[must_use]
    pub fn with_admitted(mut self) -> Self {
        if self.admitted.is_none() {
            let moved =
                self.current.as_ref().filter(|current| current.phase.is_admitted()).map(|current| &current.revision);
            self.admitted = moved.or(self.proved.as_ref().map(|proved| &proved.revision)).cloned();
        }
        if let Some(proved) = self.proved.clone().filter(|proved| self.proof(&proved.revision).is_none()) {
            self.proofs.push(ProofRecord { revision: proved.revision, on: proved.on, measured: None });
        }
        self
    }
}

impl CandidatePhase {
    /// Whether the output of the environment has the candidate in this phase.
    pub fn is_admitted(&self) -> bool {
        matches!(self, Self::Proving { .. } | Self::Stopped { .. })
    }
}

fn forget_oldest<T>(list: &mut Vec<T>) {
    list.drain(..list.len().saturating_sub(KEPT_MAX));
}
