//! The releases of workloads on their way into an environment: finds them, and carries out decisions.

use std::collections::BTreeMap;
use std::sync::Arc;

use engine::promotion::advance::AdvanceStep;
use engine::promotion::answer::WaitingSubject;
use engine::promotion::evidence::Approver;
use engine::promotion::state::Revision;
use engine::promotion::step::Write;
use git::{Commit, Edits};
use model::git_id::GitId;
use model::object::Promotion;
use model::object::release::{Release, shown};

use super::branch_move::{self, BranchMove, Proposed, ProposingBranch};
use super::commit_move::CommitMoveError;
use super::context::Context;
use super::error::ControllerError;
use super::people;
use super::plane::EnvironmentStanding;
use super::platform::{self, Acted};
use super::release_edits::{self, NewRelease};
use super::release_facts::{self, PublishedRelease, Releases};

/// The releases that an environment records, for the environments after it.
pub(super) fn to_record(context: &Context<'_>, releases: &Releases) -> BTreeMap<Arc<str>, Arc<str>> {
    let record = |(name, release): (&Arc<str>, &PublishedRelease)| {
        let revision = release.revision(context.access, context.environment)?;
        Some((Arc::clone(name), revision.0))
    };
    releases.iter().filter(|(_, release)| release.labels.is_some()).filter_map(record).collect()
}

/// The release of a workload on its way into the environment: finds it, and writes it.
pub(super) struct ReleaseMove<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) promotion: &'a Promotion,
    pub(super) workload: &'a Arc<str>,
    pub(super) published: &'a PublishedRelease,
    pub(super) standing: &'a EnvironmentStanding,
}

impl ReleaseMove<'_> {
    /// The release that the sources of the environment name.
    pub(super) fn at(&self) -> Option<Revision> {
        let written = self.standing.promoted.release(self.workload).filter(|_| !self.published.by_pull_request);
        if let Some(written) = written {
            return Some(Revision(Arc::clone(written)));
        }
        let first = self.promotion.from.first()?;
        self.published.revision_from(self.context.access, (first, self.context.environment))
    }

    /// The approvals of a release on the git host.
    pub(super) fn approvals(&self, revision: &str) -> Vec<Approver> {
        match self.into() {
            Some(into) => {
                people::approvals(self.proposals(&into, &self.proposing_branch()), revision, self.context.now)
            }
            None => Vec::new(),
        }
    }

    /// The open pull request with a revision. None: there is none, or the git host gives no answer.
    pub(super) fn proposed(&self, revision: &Revision) -> Option<Proposed> {
        self.proposals(&self.into()?, &self.proposing_branch()).proposed(&revision.0)
    }

    /// Carries out what a step decided. The state is stored before.
    pub(super) fn act(&self, (step, write): (&AdvanceStep, &Write)) -> Result<Acted, ControllerError> {
        let context = self.context;
        let (revision, title) = match write {
            Write::Put { revision, is_rollback } => (revision, self.title(revision, *is_rollback)),
            Write::Review(revision) => (revision, self.title(revision, false)),
            Write::Withdraw { keep } => return self.withdraw(keep.as_ref()),
            Write::Nothing => return Ok(Acted::Nothing),
        };
        let Some(into) = self.into() else { return Ok(Acted::Problem(self.unreadable())) };
        let edits = match self.edits((&into, revision), &title) {
            Ok(edits) => edits,
            Err(problem) => return Ok(Acted::Problem(problem)),
        };
        if edits.is_empty() {
            return Ok(Acted::Nothing);
        }
        let subject = Some(&**self.workload);
        let about = WaitingSubject { environment: context.environment.as_str(), subject, revision: Some(&revision.0) };
        let change = BranchMove {
            head: &into,
            edits: &edits,
            revision: &revision.0,
            proposing_branch: &self.proposing_branch(),
            delivery: self.promotion.delivery,
            title: &title,
            body: &platform::body(step, about),
            seconds: context.now.as_second(),
        };
        context.check_lease()?;
        let moved = branch_move::write(&*context.access.repositories, context.hosts, &change)?;
        Ok(platform::acted(context, moved, revision))
    }

    fn title(&self, revision: &Revision, is_rollback: bool) -> String {
        let (workload, environment, release) = (self.workload, self.context.environment, shown(&revision.0));
        if is_rollback {
            return format!("Roll {workload} back to {release} in {environment}");
        }
        format!("Promote {workload} {release} to {environment}")
    }

    /// Takes the answer of a person who closed the pull request of a release.
    pub(super) fn settle_declined(&self, revision: &Revision) -> Result<(), ControllerError> {
        if let Some(into) = self.into() {
            let settled = self.proposals(&into, &self.proposing_branch()).settle_declined(&revision.0);
            settled.map_err(CommitMoveError::from)?;
        }
        Ok(())
    }

    /// Closes the pull request, unless it has the release that waits for its gates.
    fn withdraw(&self, keep: Option<&Revision>) -> Result<Acted, ControllerError> {
        if let Some(into) = self.into() {
            let keep = keep.and_then(|keep| self.edits((&into, keep), &self.title(keep, false)).ok());
            self.context.check_lease()?;
            let branch = self.proposing_branch();
            self.proposals(&into, &branch).withdraw(&*self.context.access.repositories, keep.as_ref())?;
        }
        Ok(Acted::Nothing)
    }

    /// The branch that is edited: that of the environment, or that of the manifests. None if it can't be read.
    fn into(&self) -> Option<Commit> {
        if !self.published.by_pull_request {
            return Some(self.standing.promoted.head.clone());
        }
        let pairs = self.published.pairs(self.promotion.from.first()?, self.context.environment.as_str()).ok()?;
        release_facts::head(self.context.access, pairs.first()?.to)
    }

    fn unreadable(&self) -> Arc<str> {
        format!("the branch of the manifests of `{}` can't be read", self.workload).into()
    }

    fn edits(&self, (into, revision): (&Commit, &Revision), reason: &str) -> Result<Edits, Arc<str>> {
        let context = self.context;
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

    /// What is proposed for the branch that is edited.
    fn proposals<'b>(&'b self, into: &'b Commit, name: &'b str) -> ProposingBranch<'b> {
        ProposingBranch { hosts: self.context.hosts, into, name }
    }

    fn proposing_branch(&self) -> String {
        format!("kalypso-promote/{}--{}", self.context.environment, self.workload)
    }
}
