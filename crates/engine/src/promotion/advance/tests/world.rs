//! An environment with the environments before it, for tests.

use std::collections::BTreeMap;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use model::object::promotion::{
    ChangeDelivery, Gate, GateKind, Newer, OnFailure, Promotion, Require, Selection, Share, Silent, Start,
};

use crate::promotion::advance::{AdvanceAction, AdvanceInput, AdvanceStep, FromEnvironment, follow, step};
use crate::promotion::command::{Command, CommandKind, apply_to_advance, gates_passed};
use crate::promotion::evidence::{Authors, Measured};
use crate::promotion::report::MoveReport;
use crate::promotion::state::{AdvanceState, Decision, ProofRecord, Rejection, Revision};

/// An environment, the environments before it, and the revisions `r0` to `r9`.
pub(super) struct World {
    pub(super) now: Timestamp,
    pub(super) promotion: Promotion,
    pub(super) state: AdvanceState,
    pub(super) from: Vec<FromEnvironment>,
    pub(super) at: Option<Revision>,
    /// A hold of the whole environment.
    pub(super) hold: Option<Decision>,
    pub(super) settled: Result<(), Arc<str>>,
    /// Whether the output waits in a pull request.
    pub(super) is_proposed: bool,
    /// The proved revision whose content the head has.
    pub(super) reverts_to: Option<Revision>,
    /// The revision that the output has: the one that was admitted before the last step.
    published: Option<Revision>,
    pub(super) measured: Measured,
    pub(super) events: Vec<String>,
}

pub(super) fn revision(number: u32) -> Revision {
    Revision(format!("r{number}").into())
}

pub(super) fn fleet(failed: u64) -> Measured {
    Measured { places: 1, expected: 10, succeeded: 10 - failed, failed, ..Measured::default() }
}

impl World {
    /// All environments have `r1`, and the last one has proved it. A candidate needs a compliant fleet before.
    pub(super) fn new(from: &[&str]) -> Self {
        let kind = GateKind::Compliant { share: Share::ALL, silent: Silent::Wait };
        let promotion = Promotion {
            to: "prod".into(),
            from: from.iter().map(|name| Arc::from(*name)).collect(),
            require: Require::All,
            select: Selection { platform: true, workloads: None },
            delivery: ChangeDelivery::Direct,
            start: Start::Automatic,
            newer: Newer::Wait,
            on_failure: OnFailure::Stop,
            gates: vec![Gate::new("healthy".into(), kind)],
            rings: Vec::new(),
        };
        let environment = |name: &&str| FromEnvironment {
            measured: Ok(fleet(0)),
            ..FromEnvironment::new((*name).into(), (Some(revision(1)), Ok(())), None)
        };
        let mut world = Self {
            now: "2026-03-02T10:00:00Z".parse().unwrap(),
            promotion,
            state: AdvanceState::default(),
            from: from.iter().map(environment).collect(),
            at: Some(revision(1)),
            hold: None,
            settled: Ok(()),
            is_proposed: false,
            reverts_to: None,
            published: None,
            measured: fleet(0),
            events: Vec::new(),
        };
        world.step();
        assert!(world.kinds().starts_with("started proved"));
        world
    }

    pub(super) fn has(&mut self, number: u32) {
        self.from.iter_mut().for_each(|from| from.has = Some(revision(number)));
    }

    pub(super) fn gate(&mut self, name: &str, kind: GateKind) {
        self.promotion.gates.push(Gate::new(name.into(), kind));
    }

    pub(super) fn dry_step(&self) -> AdvanceStep {
        let line: Vec<_> = (0..10).rev().map(revision).collect();
        let is_published = self.state.admitted.is_none() || self.published == self.state.admitted;
        let (checks, teams) = (BTreeMap::new(), BTreeMap::new());
        let authors = Authors::one(Some("ann".into()));
        let input = AdvanceInput {
            now: self.now,
            about: None,
            promotion: &self.promotion,
            hold: self.hold.as_ref(),
            line: &line,
            head: line.first(),
            from: &self.from,
            at: self.at.as_ref(),
            baseline: None,
            reverts_to: self.reverts_to.as_ref(),
            to_settled: if is_published { self.settled.clone() } else { Err("its output is not published yet".into()) },
            to_failed: None,
            is_proposed: self.is_proposed,
            is_published: is_published && self.settled.is_ok(),
            to_measured: if is_published { Ok(self.measured) } else { Err("its output is not published yet".into()) },
            checks: &checks,
            approvals: &[],
            authors: &authors,
            teams: &teams,
        };
        follow(&self.state, |about, states| ((), step(&AdvanceInput { about, ..input.clone() }, states))).1
    }

    pub(super) fn step(&mut self) -> (MoveReport, Option<AdvanceAction>) {
        self.published.clone_from(&self.state.admitted);
        let step = self.dry_step();
        self.events.extend(step.events.iter().map(|event| event.kind.name().to_owned()));
        self.state = step.state;
        (step.report, step.action)
    }

    /// Steps, and does what is asked, until nothing is asked any more.
    pub(super) fn settle(&mut self) -> MoveReport {
        for _ in 0..50 {
            let before = self.state.clone();
            let (report, action) = self.step();
            if action.is_none() && self.state == before {
                return report;
            }
            match action {
                Some(AdvanceAction::Write { revision } | AdvanceAction::RollBack { to: revision }) => {
                    self.at = Some(revision);
                }
                None => {}
            }
        }
        panic!("the move does not come to rest: {:?}", self.state);
    }

    pub(super) fn command(&mut self, kind: CommandKind) {
        let command = Command { kind, by: "bob".into(), at: self.now, reason: "because".into() };
        self.state = apply_to_advance(&self.state, &command).unwrap();
    }

    /// A person writes a revision into the environment and overrides the gates for a day.
    pub(super) fn overrides(&mut self, number: u32) {
        self.at = Some(revision(number));
        self.step();
        let gates = gates_passed(&self.state, &revision(number), &self.promotion.gates);
        let expires = self.now + SignedDuration::from_hours(24);
        self.command(CommandKind::Override { revision: revision(number), gates, expires });
    }

    pub(super) fn kinds(&mut self) -> String {
        std::mem::take(&mut self.events).join(" ")
    }

    /// The rejected revision, with the reason.
    pub(super) fn rejected(&self) -> Option<(Revision, Arc<str>)> {
        self.state.last_rejected().cloned().map(|Rejection { revision, reason, .. }| (revision, reason))
    }

    /// The first environment before proves a revision itself.
    pub(super) fn proves(&mut self, number: u32) {
        let proof = ProofRecord { revision: revision(number), on: self.now, measured: Some(fleet(0)) };
        self.from[0].proofs.push(proof);
    }

    pub(super) fn admitted(&self) -> String {
        self.state.admitted.as_ref().map(|admitted| admitted.0.to_string()).unwrap_or_default()
    }

    pub(super) fn proved(&self) -> String {
        self.state.proved.as_ref().map(|proved| proved.revision.0.to_string()).unwrap_or_default()
    }

    pub(super) fn current(&self) -> String {
        self.state.current.as_ref().map(|current| current.revision.0.to_string()).unwrap_or_default()
    }
}
