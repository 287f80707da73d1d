//! The status `kalypso/admission` of proposed output: whether it may be merged now.
//!
//! Where a promotion leads to an environment, the head of the environment's proposing branch has it. A git host that requires it merges nothing that is not admitted
//! any more. [`ProposedOutput::status`] is the only verdict: publications and steps of promotions set what it says.

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::promotion::in_force::in_force;
use engine::promotion::proposal::{self, Objection, ProposalStates};
use git::publications::{PublishedCommit, SourceBranch};
use git::publish::PublishError;
use git_host::error::HostError;
use git_host::status::{CommitStatus, StatusState};
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::object::Promotion;
use model::object::environment::RepositoryPlace;
use model::object::release::shown;

use super::{BranchHead, GitHosts, StatusSlot, set_head_status};
use crate::branches::push::Delivered;
use crate::error::DestinationError;
use crate::output::planned::Planned;
use crate::output::refusal::Refusal;
use crate::reading::admission::of_states;
use crate::sources::loaded::{Admission, Loaded};
use crate::states::rollout_store::{self, StoredStates};

/// The context of the status.
pub const ADMISSION_CONTEXT: &str = "kalypso/admission";

/// Output that is proposed on a branch, with everything about it that decides whether it may be merged, beside the stored states.
#[derive(Clone, Debug)]
pub struct ProposedOutput {
    /// The repository, and the branch that clusters pull.
    place: RepositoryPlace,
    /// The proposing branch.
    branch: String,
    /// Its head.
    head: GitId,
    content: ProposedContent,
    /// What was admitted when the output was rendered.
    admission: Option<Admission>,
    brought: Brought,
    /// The promotion on the main branch.
    promotion: Option<Arc<Promotion>>,
    /// What was admitted, in words.
    text: String,
}

/// The content of a proposing branch.
#[derive(Clone, Debug, PartialEq, Eq)]
enum ProposedContent {
    /// The output, as it is to be.
    Output,
    /// The output, published past its gates by a person.
    Overridden,
    /// Something else: why, in words.
    Other(String),
}

/// What a proposal brings, compared with the branch that clusters pull.
#[derive(Clone, Debug, Default)]
struct Brought {
    /// Another commit of the main branch.
    main: bool,
    /// Workloads with other releases.
    releases: BTreeSet<Arc<str>>,
    /// Sources with other commits.
    sources: BTreeSet<SourceBranch>,
    /// The targets whose folders change.
    targets: BTreeSet<Arc<str>>,
}

/// The admission of the output of one destination.
pub(crate) struct AdmissionCheck<'a>(Option<Check<'a>>);

struct Check<'a> {
    hosts: &'a GitHosts,
    states: StoredStates,
    /// The output as if it were proposed already, at the present head of the proposing branch. None: there is no such branch.
    before: Option<GitId>,
    proposed: ProposedOutput,
    /// The newest publication on the branch that clusters pull.
    merged: Option<GitId>,
    has_changes: bool,
}

impl<'a> AdmissionCheck<'a> {
    /// Reads what decides about the output of a destination. If no promotion leads to the environment, or the destination is on no host with pull requests, nothing
    /// does.
    ///
    /// # Errors
    /// If the stored states or the publications can't be read.
    pub(crate) fn read(
        hosts: Option<&'a GitHosts>,
        loaded: &Loaded,
        planned: &Planned,
    ) -> Result<Self, DestinationError> {
        let place = &planned.target.place;
        let hosts = hosts.filter(|hosts| hosts.find(&place.repo).is_some_and(|(found, _)| found.has_pull_requests()));
        let environment = &loaded.fleet.environment;
        let promotion = loaded.graph.promotion(environment.as_str()).cloned();
        let branch = &planned.target.branch;
        let (Some(hosts), Some(access), true) = (hosts, &loaded.access, loaded.is_guarded()) else {
            return Ok(Self(None));
        };
        let (Some((base, repositories)), Some(heads)) = (branch.read_at(), &branch.heads) else {
            return Ok(Self(None));
        };
        let unreadable = |reason: String| DestinationError::Rollouts { reason };
        let states = rollout_store::read(access, environment).map_err(|error| unreadable(error.to_string()))?;
        let newest = |head| PublishedCommit::newest(repositories, head, environment).map_err(PublishError::from);
        let published = newest(base)?;
        let head = heads.heads.as_ref().ok().and_then(|heads| heads.branch.clone());
        let proposed = head.as_ref().map(newest).transpose()?.flatten();
        let is_overridden = loaded.enforced.override_reason.is_some()
            || proposed.is_some_and(|found| {
                Some(found.commit) == head.as_ref().map(|head| head.id) && found.override_reason.is_some()
            });
        let before = head.map(|head| head.id);
        let proposed = ProposedOutput {
            place: place.clone(),
            branch: heads.proposing_branch.clone(),
            head: before.unwrap_or(base.id),
            content: if is_overridden { ProposedContent::Overridden } else { ProposedContent::Output },
            admission: loaded.admission.clone(),
            brought: Brought::new(loaded, planned, published.as_ref()),
            promotion,
            text: text(loaded, planned),
        };
        let merged = published.map(|published| published.commit);
        let has_changes = !planned.plan.is_empty();
        Ok(Self(Some(Check { hosts, states, before, proposed, merged, has_changes })))
    }

    /// Whether the output may be merged, as far as admissions decide.
    pub(crate) fn may_be_merged(&self) -> bool {
        let Some(check) = &self.0 else { return true };
        check.proposed.status(&check.states).state == StatusState::Success
    }

    /// What was merged although it was not admitted any more. None: nothing was.
    ///
    /// # Errors
    /// If the git host refuses, fails or can't be reached.
    pub(crate) fn merged(&self) -> Result<Option<Diagnostic>, HostError> {
        match &self.0 {
            Some(check) => check.merged(),
            None => Ok(None),
        }
    }

    /// Sets the status of the proposing branch when nothing is pushed because the output is refused.
    pub(crate) fn refused(self, refusals: &[Refusal]) -> Option<Reported> {
        let reason = refusals.iter().find_map(|refusal| match refusal {
            Refusal::Diagnostic(found) => Some(format!("nothing is published: [{}] {}", found.code, found.message)),
            Refusal::Unconfirmed { .. } => None,
        });
        let check = self.0?;
        let head = check.before?;
        Some(check.report(head, ProposedContent::Other(reason?)))
    }

    /// Sets the status of the proposing branch when nothing is pushed because a person has a commit on it.
    pub(crate) fn foreign(self, error: &DestinationError) -> Option<Reported> {
        let DestinationError::Publish(PublishError::Foreign { commit, author, .. }) = error else { return None };
        let check = self.0?;
        let head = check.before?;
        let reason = format!("commit {} of {} is not admitted: Kalypso did not create it", commit.short(), author.name);
        Some(check.report(head, ProposedContent::Other(reason)))
    }

    /// Sets the status of the proposing branch after a push. None: nothing is proposed.
    pub(crate) fn delivered(self, delivered: &Delivered) -> Option<Reported> {
        let check = self.0?;
        let head = match delivered {
            Delivered::Pushed { branch, commit, .. } if *branch == check.proposed.branch => *commit,
            Delivered::Proposed { .. } => check.before?,
            _ => return None,
        };
        let content = check.proposed.content.clone();
        Some(check.report(head, content))
    }
}

/// Proposed output whose status was set.
pub(crate) struct Reported {
    /// The output.
    pub(crate) proposed: ProposedOutput,
    /// Why the status could not be set.
    pub(crate) failure: Option<HostError>,
}

impl Check<'_> {
    fn report(self, head: GitId, content: ProposedContent) -> Reported {
        let proposed = ProposedOutput { head, content, ..self.proposed };
        let set = proposed.set(self.hosts, &self.states, false);
        Reported { proposed, failure: set.err() }
    }

    /// A publication keeps the status that it had at its merge. If it was no success, and what it brought is not admitted now, it is reported.
    fn merged(&self) -> Result<Option<Diagnostic>, HostError> {
        let (place, hosts) = (&self.proposed.place, self.hosts);
        let (Some(commit), Some((settings, repository))) = (self.merged, hosts.find(&place.repo)) else {
            return Ok(None);
        };
        let clean = CommitStatus {
            context: ADMISSION_CONTEXT.to_owned(),
            state: StatusState::Success,
            description: String::new(),
            target_url: None,
        };
        let slot = StatusSlot { repository, context: clean.context.clone(), branch: Some(place.branch.to_string()) };
        if !hosts.is_new_status(&slot, commit, &clean) {
            return Ok(None);
        }
        let shown =
            settings.host.commit_statuses(&slot.repository, commit).inspect_err(|_| hosts.forget_status(&slot))?;
        let is_red =
            |status: &CommitStatus| status.context == ADMISSION_CONTEXT && status.state != StatusState::Success;
        let Some(red) = shown.into_iter().map(|found| found.status).find(is_red) else { return Ok(None) };
        hosts.forget_status(&slot);
        let brought = self.proposed.brought.with_all(&self.states);
        let now = ProposedOutput { brought, content: ProposedContent::Output, ..self.proposed.clone() };
        let status = now.status(&self.states);
        if !self.has_changes && status.state == StatusState::Success {
            let head = BranchHead { url: &place.repo, branch: &place.branch, commit };
            return set_head_status(hosts, head, &status, false).map(|()| None);
        }
        let why = if status.state == StatusState::Success { red.description } else { status.description };
        let message =
            format!("commit {} was merged into `{}` although it was not admitted", commit.short(), place.branch);
        let help = format!(
            "require the status `{ADMISSION_CONTEXT}` for branch `{}`, so that the git host refuses the merge",
            place.branch
        );
        Ok(Some(Diagnostic::error(Code::MergedNotAdmitted, message).note(why).help(help)))
    }
}

impl ProposedOutput {
    /// The status that the head of the proposing branch is to have, by the states as they are stored now.
    pub fn status(&self, states: &StoredStates) -> CommitStatus {
        let (state, description) = match &self.content {
            ProposedContent::Other(reason) => (StatusState::Failure, reason.clone()),
            ProposedContent::Overridden => self.overridden(states),
            ProposedContent::Output => self.verdict(states),
        };
        CommitStatus { context: ADMISSION_CONTEXT.to_owned(), state, description, target_url: None }
    }

    /// An override counts until it expires. Then, the gates decide again.
    fn overridden(&self, states: &StoredStates) -> (StatusState, String) {
        let states = self.brought.states(states);
        if let Some(reason) = proposal::expired(&states) {
            return (StatusState::Failure, reason);
        }
        let ends = proposal::overridden(&states).into_iter().filter_map(|(_, change)| change.overridden.as_ref());
        let until = ends.map(|found| found.expires).min().map_or_else(String::new, |end| format!(" until {end:.0}"));
        (StatusState::Success, format!("{}, past its gates{until}", self.text))
    }

    fn verdict(&self, states: &StoredStates) -> (StatusState, String) {
        match self.objection(states) {
            Err(reason) => (StatusState::Failure, format!("it is not known what is admitted: {reason}")),
            Ok(Some(Objection::Refused(reason))) => (StatusState::Failure, reason),
            Ok(Some(Objection::Waits(reason))) => (StatusState::Pending, reason),
            Ok(None) => (StatusState::Success, self.text.clone()),
        }
    }

    /// Whether something else is admitted now than when the output was rendered.
    pub(crate) fn is_outdated(&self, states: &StoredStates) -> Result<bool, String> {
        let content = |admission: Option<Admission>| {
            admission.map(|Admission { main, sources, releases, .. }| (main, sources, releases))
        };
        Ok(self.content == ProposedContent::Output && content(of_states(states)?) != content(self.admission.clone()))
    }

    fn objection(&self, states: &StoredStates) -> Result<Option<Objection>, String> {
        let is_outdated = self.is_outdated(states)?;
        if let Some(Err(error)) = &states.promotion {
            return Err(error.to_string());
        }
        let declared: Vec<_> = self.promotion.iter().map(|promotion| &**promotion).collect();
        let gates = in_force(states.admitted_promotion(), &declared).map(|found| found.gates).unwrap_or_default();
        Ok(match proposal::objection(&self.brought.states(states), &gates) {
            Some(Objection::Refused(reason)) => Some(Objection::Refused(reason)),
            _ if is_outdated => {
                Some(Objection::Waits("another revision is admitted now: it is proposed next".to_owned()))
            }
            objection => objection,
        })
    }

    /// Sets the status. `is_known`: what this process has set last is not asked for again.
    ///
    /// # Errors
    /// If the git host refuses, fails or can't be reached.
    pub(crate) fn set(&self, hosts: &GitHosts, states: &StoredStates, is_known: bool) -> Result<(), HostError> {
        let head = BranchHead { url: &self.place.repo, branch: &self.branch, commit: self.head };
        set_head_status(hosts, head, &self.status(states), is_known)
    }
}

impl Brought {
    fn new(loaded: &Loaded, planned: &Planned, published: Option<&PublishedCommit>) -> Self {
        let targets = planned.plan.changes.keys().map(|id| Arc::clone(&id.target)).collect();
        let (Some(admission), Some(access)) = (&loaded.admission, &loaded.access) else {
            return Self { targets, ..Self::default() };
        };
        let url = access.settings.repo.as_str();
        let has_main = |commit| published.is_some_and(|published| published.has_pinned_source(url, commit));
        let has_release = |workload: &Arc<str>, release: &Arc<str>| {
            published.is_some_and(|published| published.releases.get(workload) == Some(release))
        };
        let has_source = |name: &SourceBranch, commit: &GitId| {
            published.is_some_and(|published| published.sources.get(name) == Some(commit))
        };
        let releases = admission.releases.iter().filter(|(workload, release)| !has_release(workload, release));
        let sources = admission.sources.iter().filter(|(name, commit)| !has_source(name, commit));
        Self {
            main: admission.main.is_some_and(|commit| !has_main(commit)),
            releases: releases.map(|(workload, _)| Arc::clone(workload)).collect(),
            sources: sources.map(|(name, _)| name.clone()).collect(),
            targets,
        }
    }

    /// As if everything that is admitted came with it.
    fn with_all(&self, states: &StoredStates) -> Self {
        let Some(Ok(advances)) = &states.advances else { return self.clone() };
        Self {
            main: true,
            releases: advances.releases.keys().cloned().collect(),
            sources: advances.sources.values().map(|stored| stored.source.clone()).collect(),
            targets: self.targets.clone(),
        }
    }

    fn states<'s>(&self, states: &'s StoredStates) -> ProposalStates<'s> {
        let rollouts =
            states.rollouts.iter().filter_map(|(workload, stored)| Some((&**workload, stored.as_ref().ok()?)));
        let moves = |targets: &BTreeSet<Arc<str>>| !self.targets.is_disjoint(targets);
        let rollouts =
            rollouts.filter(|(_, stored)| moves(&stored.targets)).map(|(workload, stored)| (workload, &stored.state));
        let rollouts = rollouts.collect();
        let Some(Ok(advances)) = &states.advances else {
            return ProposalStates { rollouts, ..ProposalStates::default() };
        };
        let releases = advances.releases.iter().filter(|(workload, _)| self.releases.contains(*workload));
        let releases = releases.map(|(workload, state)| (&**workload, state));
        let sources = advances.sources.iter().filter(|(_, stored)| self.sources.contains(&stored.source));
        let sources = sources.map(|(name, stored)| (&**name, &stored.state));
        let subjects = releases.chain(sources).collect();
        ProposalStates { platform: advances.platform.as_ref(), brings_main: self.main, subjects, rollouts }
    }
}

/// What is admitted, in words.
fn text(loaded: &Loaded, planned: &Planned) -> String {
    let admitted = loaded.admission.as_ref();
    let main = admitted.and_then(|admission| admission.main).map(|commit| commit.to_string());
    let main = main.or_else(|| loaded.fleet.promoted_commit().map(ToString::to_string));
    let main = main.map(|commit| format!("main {}", shown(&commit)));
    let releases = admitted.iter().flat_map(|admission| &admission.releases);
    let releases = releases.map(|(workload, release)| format!("{workload} {}", shown(release)));
    let rings = planned.rings.iter().flat_map(|rings| {
        let name = |index: usize| rings.membership.rings.get(index).map(|ring| Arc::clone(&ring.name));
        rings
            .progress
            .iter()
            .filter_map(move |progress| Some(format!("{} in ring {}", progress.workload, name(progress.ring)?)))
    });
    let parts: Vec<_> = main.into_iter().chain(rings).chain(releases).collect();
    if parts.is_empty() { "admitted".to_owned() } else { format!("admitted: {}", parts.join(", ")) }
}
