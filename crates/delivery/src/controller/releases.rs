//! The releases of workloads on their way into an environment: collects evidence, decides, and acts.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::advance::{self, Action, AdvanceInput, AdvanceStep, FromEnvironment};
use engine::promotion::command::{Command, CommandKind};
use engine::promotion::evidence::{Approver, CheckResult, Measured};
use engine::promotion::proposal::proposed_early;
use engine::promotion::state::{AdvanceState, Decision, Revision};
use git::{Commit, Edits};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::promotion::{Gate, GateKind, Promotion};
use model::object::release::{Release, shown};

use super::branch_move::{self, BranchMove};
use super::commit_move::{CommitMoveError, Moved};
use super::context::{Context, Memory};
use super::error::ControllerError;
use super::evidence::CheckSubject;
use super::people;
use super::platform::{self, Acted, Own};
use super::published_folders::GitOpsCommit;
use super::release_edits::{self, NewRelease};
use super::release_facts::{self, PublishedRelease, Releases};
use super::settled;
use crate::rollout_store;

/// The evidence about a release, beside that about the fleet before it.
struct Evidence {
    measured: Result<Measured, Arc<str>>,
    checks: BTreeMap<Arc<str>, CheckResult>,
    approvals: Vec<Approver>,
}

impl Default for Evidence {
    fn default() -> Self {
        let measured = Err("it is not asked for yet".into());
        Self { measured, checks: BTreeMap::new(), approvals: Vec::new() }
    }
}

/// The environments before, as their records describe them.
pub(super) struct Before {
    environments: Vec<BeforeEnvironment>,
}

/// The state of the places of an environment, by the commits at which it is settled.
type Measure<'a> = dyn Fn(&str, &Result<Vec<GitOpsCommit>, Arc<str>>) -> Result<Measured, Arc<str>> + 'a;

struct BeforeEnvironment {
    name: Arc<str>,
    releases: BTreeMap<Arc<str>, Arc<str>>,
    settled: Result<Vec<GitOpsCommit>, Arc<str>>,
    /// The states of its own releases.
    states: BTreeMap<Arc<str>, AdvanceState>,
}

impl Before {
    /// Reads the records of the environments before. One that can't be read is one of which nothing is known.
    pub(super) fn read(context: &Context<'_>, promotion: &Promotion, memory: &mut Memory) -> Self {
        let one = |name: &Arc<str>| BeforeEnvironment::read(context, name, memory);
        Self { environments: promotion.from.iter().map(one).collect() }
    }

    /// The environments before, with the release of a workload that each has. `measure` gives the state of the places of one.
    pub(super) fn of(&self, workload: &str, measure: &Measure<'_>) -> Vec<FromEnvironment> {
        let one = |before: &BeforeEnvironment| {
            let has = before.releases.get(workload).cloned().map(Revision);
            let settled = before.settled.as_ref().map(|_| ()).map_err(Arc::clone);
            let state = before.states.get(workload);
            let from = FromEnvironment::new(Arc::clone(&before.name), (has, settled), state);
            FromEnvironment { measured: measure(&before.name, &before.settled), ..from }
        };
        self.environments.iter().map(one).collect()
    }
}

impl BeforeEnvironment {
    fn read(context: &Context<'_>, name: &Arc<str>, memory: &mut Memory) -> Self {
        Self::try_read(context, name, memory).unwrap_or_else(|reason| Self {
            name: Arc::clone(name),
            releases: BTreeMap::new(),
            settled: Err(reason),
            states: BTreeMap::new(),
        })
    }

    fn try_read(context: &Context<'_>, name: &Arc<str>, memory: &mut Memory) -> Result<Self, Arc<str>> {
        let no_such = || Arc::from("there is no such environment");
        let reason = |error: &dyn std::fmt::Display| Arc::from(error.to_string());
        let environment = EnvironmentName::new(Arc::clone(name)).map_err(|_| no_such())?;
        let standing = context.plane.standing(&environment, &mut memory.branches).map_err(|error| reason(&error))?;
        let standing = standing.ok_or_else(no_such)?;
        let record = settled::read(context.access, &environment).map_err(|error| reason(&error))?;
        let stored = rollout_store::read(context.access, &environment).map_err(|error| reason(&error))?;
        let advances = stored.advances.transpose().map_err(|error| reason(&error))?;
        Ok(Self {
            name: Arc::clone(name),
            releases: record.map(|record| record.releases).unwrap_or_default(),
            settled: context.plane.settled(&environment, &standing).map(|record| record.gitops),
            states: advances.map(|advances| advances.releases).unwrap_or_default(),
        })
    }
}

/// The workloads whose releases a promotion moves, by their names.
pub(super) fn selected<'r>(promotion: &Promotion, releases: &'r Releases) -> Vec<(&'r Arc<str>, &'r PublishedRelease)> {
    let Some(selector) = promotion.select.workloads.as_ref().filter(|_| !promotion.from.is_empty()) else {
        return Vec::new();
    };
    let is_selected =
        |release: &PublishedRelease| release.labels.as_ref().is_some_and(|labels| selector.matches(labels));
    releases.iter().filter(|(_, release)| is_selected(release)).collect()
}

/// The releases that an environment records, for the environments after it.
pub(super) fn to_record(context: &Context<'_>, releases: &Releases) -> BTreeMap<Arc<str>, Arc<str>> {
    let record = |(name, release): (&Arc<str>, &PublishedRelease)| {
        let revision = release.revision(context.access, context.environment)?;
        Some((Arc::clone(name), revision.0))
    };
    releases.iter().filter(|(_, release)| release.labels.is_some()).filter_map(record).collect()
}

/// One workload on its way into the environment.
pub(super) struct ReleaseMove<'a> {
    pub(super) promotion: &'a Promotion,
    pub(super) workload: &'a Arc<str>,
    pub(super) published: &'a PublishedRelease,
    pub(super) own: &'a Own<'a>,
    pub(super) before: &'a Before,
    /// A hold of the whole environment.
    pub(super) hold: Option<&'a Decision>,
}

impl ReleaseMove<'_> {
    /// The release that the sources of the environment name.
    pub(super) fn at(&self, context: &Context<'_>) -> Option<Revision> {
        let written = self.own.standing.promoted.release(self.workload).filter(|_| !self.published.by_pull_request);
        if let Some(written) = written {
            return Some(Revision(Arc::clone(written)));
        }
        let first = self.promotion.from.first()?;
        self.published.revision_from(context.access, (first, context.environment))
    }

    /// Decides about the next step. At rest, no evidence is collected.
    pub(super) fn decide(&self, context: &Context<'_>, state: &AdvanceState) -> AdvanceStep {
        let at = self.at(context);
        let unknown = |_: &str, _: &Result<_, _>| Err(Arc::from("it is not asked for yet"));
        let from = self.before.of(self.workload, &unknown);
        let without = self.step(context, (state, at.as_ref()), (&from, &Evidence::default()));
        let Some(current) = &without.state.current else { return without };
        let published = |name: &str, settled: &Result<Vec<GitOpsCommit>, Arc<str>>| {
            context.published((name, Some(self.workload)), settled.as_deref().map_err(Arc::clone))
        };
        let subject = CheckSubject {
            environment: context.environment.as_str(),
            workload: Some(self.workload),
            revision: &current.revision.0,
            ring: None,
        };
        let evidence = Evidence {
            measured: published(context.environment.as_str(), &self.own.settled),
            checks: context.evidence.checks(&self.promotion.gates, subject),
            approvals: self.approvals(context, &current.revision.0),
        };
        self.step(context, (state, at.as_ref()), (&self.before.of(self.workload, &published), &evidence))
    }

    fn step(
        &self,
        context: &Context<'_>,
        (state, at): (&AdvanceState, Option<&Revision>),
        (from, evidence): (&[FromEnvironment], &Evidence),
    ) -> AdvanceStep {
        let input = AdvanceInput {
            now: context.now,
            promotion: self.promotion,
            hold: self.hold,
            // A release is proved only as itself: no other one contains it.
            line: &[],
            head: None,
            from,
            at,
            baseline: None,
            reverts_to: None,
            to_settled: self.own.settled.as_ref().map(|_| ()).map_err(Arc::clone),
            to_failed: self.own.failed.clone(),
            is_proposed: self.own.is_proposed,
            to_measured: evidence.measured.clone(),
            checks: &evidence.checks,
            approvals: &evidence.approvals,
            author: None,
            teams: context.evidence.teams,
        };
        advance::step(&input, state)
    }

    fn approvals(&self, context: &Context<'_>, revision: &str) -> Vec<Approver> {
        let is_of_people = |gate: &Gate| matches!(gate.kind, GateKind::Approval(_));
        if !self.promotion.gates.iter().any(is_of_people) {
            return Vec::new();
        }
        let branch = self.proposing_branch(context);
        match self.into(context) {
            Some(into) => people::approvals(context.hosts, (&into, &branch), (revision, context.now)),
            None => Vec::new(),
        }
    }

    /// Carries out what a step decided. The state is stored before.
    pub(super) fn act(&self, context: &Context<'_>, step: &AdvanceStep) -> Result<Acted, ControllerError> {
        let revision = match &step.action {
            Some(Action::Write { revision }) => revision,
            Some(Action::RollBack { to }) => to,
            None => match proposed_early(self.promotion, step) {
                Some(revision) => revision,
                None => return self.withdraw(context, step),
            },
        };
        let environment = context.environment;
        let title = match &step.action {
            Some(Action::RollBack { .. }) => {
                format!("Roll {} back to {} in {environment}", self.workload, shown(&revision.0))
            }
            _ => format!("Promote {} {} to {environment}", self.workload, shown(&revision.0)),
        };
        let Some(into) = self.into(context) else { return Ok(Acted::Problem(self.unreadable())) };
        let edits = match self.edits(context, (&into, revision), &title) {
            Ok(edits) => edits,
            Err(problem) => return Ok(Acted::Problem(problem)),
        };
        if edits.is_empty() {
            return Ok(Acted::Nothing);
        }
        let change = BranchMove {
            head: &into,
            edits: &edits,
            revision: &revision.0,
            proposing_branch: &self.proposing_branch(context),
            delivery: self.promotion.delivery,
            title: &title,
            body: &platform::body(step),
            seconds: context.now.as_second(),
        };
        context.check_lease()?;
        Ok(match branch_move::write(&*context.access.repositories, context.hosts, &change)? {
            Moved::Written => Acted::Moved,
            Moved::Proposed { .. } => Acted::Nothing,
            Moved::LostRace => Acted::LostRace,
            Moved::Declined(link) => {
                let by = format!("pull request {}", link.number).into();
                let reason = "it was closed without a merge".into();
                Acted::Declined(Command { kind: CommandKind::Abort, by, at: context.now, reason }, revision.clone())
            }
        })
    }

    /// Takes the answer of a person who closed the pull request of a release.
    pub(super) fn settle_declined(&self, context: &Context<'_>, revision: &Revision) -> Result<(), ControllerError> {
        if let Some(into) = self.into(context) {
            let branch = self.proposing_branch(context);
            let settled = branch_move::settle_declined(context.hosts, (&into, &branch), &revision.0);
            settled.map_err(CommitMoveError::from)?;
        }
        Ok(())
    }

    /// Withdraws what was proposed, if the release was rejected.
    fn withdraw(&self, context: &Context<'_>, step: &AdvanceStep) -> Result<Acted, ControllerError> {
        if let Some(into) = self.into(context).filter(|_| !step.state.rejected.is_empty()) {
            context.check_lease()?;
            let branch = self.proposing_branch(context);
            branch_move::withdraw(&*context.access.repositories, context.hosts, (&into, &branch), None)?;
        }
        Ok(Acted::Nothing)
    }

    /// The branch that is edited: that of the environment, or that of the manifests. None if it can't be read.
    fn into(&self, context: &Context<'_>) -> Option<Commit> {
        if !self.published.by_pull_request {
            return Some(self.own.standing.promoted.head.clone());
        }
        let pairs = self.published.pairs(self.promotion.from.first()?, context.environment.as_str()).ok()?;
        release_facts::head(context.access, pairs.first()?.to)
    }

    fn unreadable(&self) -> Arc<str> {
        format!("the branch of the manifests of `{}` can't be read", self.workload).into()
    }

    fn edits(
        &self,
        context: &Context<'_>,
        (into, revision): (&Commit, &Revision),
        reason: &str,
    ) -> Result<Edits, Arc<str>> {
        let repositories = &*context.access.repositories;
        if self.published.by_pull_request {
            let from = self.promotion.from.first().map_or("", |from| from);
            let pairs = self.published.pairs(from, context.environment.as_str())?;
            let source = pairs.first().and_then(|pair| release_facts::head(context.access, pair.from));
            let source = source.zip(GitId::from_hex(&revision.0)).ok_or_else(|| self.unreadable())?;
            let source = Commit { id: source.1, ..source.0 };
            return release_edits::manifests(repositories, (&source, into), &pairs);
        }
        let known = self.published.release.as_ref();
        let known = known.ok_or_else(|| format!("no key of `manifests` names the release of `{}`", self.workload))?;
        let missing = || {
            let keys: Vec<_> = known.manifests().keys().map(|key| format!("`{key}`")).collect();
            format!("`{}` has no version for each of {}", revision.0, keys.join(", "))
        };
        let release = &Release::parse_like(&revision.0, known).ok_or_else(missing)?;
        let new = NewRelease { workload: self.workload, release, reason };
        release_edits::pin(repositories, (into, context.plane.path(context.environment)), &new)
    }

    fn proposing_branch(&self, context: &Context<'_>) -> String {
        format!("kalypso-promote/{}--{}", context.environment, self.workload)
    }
}
