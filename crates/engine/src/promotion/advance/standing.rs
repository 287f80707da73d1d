//! How environments before stand to a revision: whether they show, or have shown, exactly this one.
//!
//! A newer revision that contains another one is no proof of it: the newer one may be its repair.

use std::sync::Arc;

use model::object::promotion::{Gate, Require};

use super::line::Line;
use super::{AdvanceInput, FromEnvironment};
use crate::promotion::evidence::{Measured, UNKNOWN_AUTHORS};
use crate::promotion::gates::{self, GateInput};
use crate::promotion::state::{AdvanceState, GateRecord, ProofRecord, Revision};

/// How an environment before stands to a revision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Standing {
    /// It has exactly this revision.
    Has,
    /// It has shown exactly this revision before, and has a newer one that contains it now.
    HasShown,
    /// It does not have the revision: not yet, or not any more.
    Missing(Arc<str>),
    /// It has another revision, and has not shown this one. This one can't be proved there any more, unless a person returns to it.
    Passed(Arc<str>),
    /// It is not known what it has.
    Unknown,
}

/// What the environments before show of revisions.
#[derive(Clone, Copy)]
pub(super) struct Proofs<'a> {
    pub(super) input: &'a AdvanceInput<'a>,
    pub(super) line: &'a Line<'a>,
    pub(super) state: &'a AdvanceState,
}

impl Proofs<'_> {
    /// How an environment before stands to a revision.
    pub(super) fn standing(&self, from: &FromEnvironment, revision: &Revision) -> Standing {
        let Some(has) = &from.has else { return Standing::Unknown };
        if from.rejected.contains(revision) {
            return Standing::Passed(format!("`{}` rejected it", from.name).into());
        }
        if has == revision {
            return Standing::Has;
        }
        if !self.line.contains(has, revision) {
            let text = format!("`{}` has `{}`, which does not contain the revision", from.name, has.0);
            return Standing::Missing(text.into());
        }
        if self.has_shown(from, revision) {
            return Standing::HasShown;
        }
        Standing::Passed(
            format!("`{}` has the newer `{}`, and has not proved this one itself", from.name, has.0).into(),
        )
    }

    /// Whether an environment before has shown exactly this revision, by the gates of this promotion.
    fn has_shown(&self, from: &FromEnvironment, revision: &Revision) -> bool {
        let is_it = |proof: &&ProofRecord| proof.revision == *revision;
        let holds = |proof: &ProofRecord| self.measuring_hold(proof.measured.ok_or("it is not known".into()));
        self.state.has_been_shown(&from.name, revision) || from.proofs.iter().rfind(is_it).is_some_and(holds)
    }

    /// Whether the gates that measure the environments before hold.
    pub(super) fn measuring_hold(&self, measured: Result<Measured, Arc<str>>) -> bool {
        let gates: Vec<Gate> =
            gates::with_measure(&self.input.promotion.gates).into_iter().filter(gates::is_measuring).collect();
        let input = GateInput {
            now: self.input.now,
            measured,
            good_since: None,
            checks: self.input.checks,
            approvals: &[],
            authors: &UNKNOWN_AUTHORS,
            teams: self.input.teams,
            before: &[],
        };
        gates::evaluate(&gates, &input).records.iter().all(GateRecord::holds)
    }

    /// Whether a revision can pass the environments before: they have it, or have shown it.
    pub(super) fn can_pass(&self, revision: &Revision) -> bool {
        let is_shown =
            |from: &FromEnvironment| matches!(self.standing(from, revision), Standing::Has | Standing::HasShown);
        self.enough(is_shown)
    }

    /// Whether a revision can't be proved before any more: the environments before had it, and have another one now. What is not known is no reason. A revision that
    /// a person `requested` may come there later.
    pub(super) fn is_passed(&self, revision: &Revision, is_requested: bool) -> bool {
        let is_open = |from: &FromEnvironment| match self.standing(from, revision) {
            Standing::Passed(_) => false,
            Standing::Missing(_) => is_requested,
            Standing::Has | Standing::HasShown | Standing::Unknown => true,
        };
        !self.input.promotion.from.is_empty() && !self.enough(is_open)
    }

    fn enough(&self, holds: impl Fn(&FromEnvironment) -> bool) -> bool {
        let from = self.input.from;
        match self.input.promotion.require {
            Require::All => from.len() >= self.input.promotion.from.len() && from.iter().all(holds),
            Require::Any => from.iter().any(holds),
        }
    }

    /// The head, if it returns the environment to its proved revision, from something else. It needs no other proof.
    pub(super) fn revert(&self) -> Option<&Revision> {
        let back_to = self.input.reverts_to.filter(|proved| self.state.has_proved(proved))?;
        let is_away = self.state.admitted.as_ref() != Some(back_to);
        self.input.head.filter(|head| is_away && !self.state.is_rejected(head))
    }

    /// The newest revision that can move: that the environments before have, or have shown. Without such environments, or if it is a revert, the head.
    pub(super) fn candidate(&self) -> Option<&Revision> {
        if let Some(revert) = self.revert() {
            return Some(revert);
        }
        if self.input.promotion.from.is_empty() {
            return self.input.head;
        }
        let has = self.input.from.iter().filter_map(|from| from.has.as_ref());
        let proofs = self.input.from.iter().flat_map(|from| from.proofs.iter().map(|proof| &proof.revision));
        let shown = self.state.evidence.iter().map(|found| &found.revision);
        let mut all: Vec<_> = has.chain(proofs).chain(shown).collect();
        // What is on the line comes first, the newest first. Others keep the order in which the environments before have them.
        all.sort_by_cached_key(|revision| self.line.position(revision));
        all.into_iter().find(|revision| self.can_pass(revision))
    }
}
