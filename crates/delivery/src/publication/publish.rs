//! Publishes an environment: reads, compiles, plans, pushes and reports to the hub. If a branch moves during the run, it starts again.

use std::sync::Arc;

use engine::compile::Compiled;
use engine::output::Adoption;
use git::RepositoryError;
use git::publish::{ForeignCommits, PublishError};
use git_host::error::HostError;
use hub_api::promotions::Wait;
use model::diagnostic::{Diagnostic, Severity};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;
use model::tree::Sealed;

use crate::access::RepositoryAccess;
use crate::branches::push::{self, Delivered, Delivery};
use crate::error::{DestinationError, ReadError};
use crate::output::changes::title::title;
use crate::output::compilation::{CompiledEnvironment, KnownResults};
use crate::output::owner_file;
use crate::output::planned::{GitOpsDestination, Planned, each_target};
use crate::output::refusal::{Refusal, refusals};
use crate::output::rings::Rings;
use crate::publication::enforcement;
use crate::publication::hand_edits;
use crate::publication::hub_publication::{self, HubError, HubReceiver};
use crate::publication::new_branches;
use crate::pull_requests::admission::{AdmissionCheck, ProposedOutput, Reported};
use crate::pull_requests::{
    self, EnvironmentReport, GitHosts, KnownProblems, LabelConfirmation, Proposal, ProposalOutcome, ProposedChange,
    PullRequestLink,
};
use crate::reading::{RACES_MAX, for_publication};
use crate::sources::loaded::Loaded;
use crate::write_lease::{LeaseEnded, WriteLease};

/// A request to publish an environment.
#[derive(Clone, Copy)]
pub struct Request<'a> {
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The one `GitOpsRepo` to publish to. None: all of them.
    pub gitops_repo: Option<&'a str>,
    /// How the output is pushed.
    pub options: PublishOptions<'a>,
    /// The hub that receives the publication, if there is one.
    pub hub: Option<HubReceiver<'a>>,
    /// Pushes nothing, and sends the content of the branch to the hub.
    pub is_hub_only: bool,
}

/// How output is pushed.
#[derive(Clone, Copy, Debug, Default)]
pub struct PublishOptions<'a> {
    /// Pushes to the branch that clusters pull, instead of the proposing branch.
    pub is_direct: bool,
    /// The confirmation words for removals of direct pushes.
    pub confirmed: &'a [String],
    /// The existing folders without a marker that are taken over.
    pub adopt: &'a Adoption,
    /// What happens to commits of others on the proposing branch.
    pub foreign: ForeignCommits,
    /// The time of the commit, in seconds since 1970. None: the current time.
    pub committed_on: Option<i64>,
    /// The git hosts with the pull requests. None: branches are pushed, and nothing else is done.
    pub hosts: Option<&'a GitHosts>,
    /// Publishes past gates, for this reason. None: gates refuse.
    pub override_reason: Option<&'a str>,
    /// What changes into the environment waited for before, for its issue.
    pub waits: &'a [Wait],
    /// What kept promotions from being carried out before, for its issue.
    pub problems: &'a [String],
    /// The reason with which a person admitted the commit past its gates for this publication.
    pub overridden: Option<&'a str>,
    /// The permission to write, if other replicas may have it at other times. It is checked before each write. None: it is not limited.
    pub lease: Option<&'a WriteLease>,
}

impl<'a> PublishOptions<'a> {
    fn check_lease(&self) -> Result<(), LeaseEnded> {
        self.lease.map_or(Ok(()), WriteLease::check)
    }

    /// The git hosts on which the output is proposed. None: it is not.
    fn proposing_hosts(&self) -> Option<&'a GitHosts> {
        self.hosts.filter(|_| !self.is_direct)
    }
}

/// The result of a publication.
pub struct Outcome {
    /// The results of the destinations, in the order in which they were processed.
    pub places: Vec<PlaceOutcome>,
    /// The destinations that can't be read or pushed. They do not affect the others.
    pub failures: Vec<DestinationFailure>,
    /// The reason why it ended.
    pub end: End,
    /// What was reported to the git hosts. None without git hosts, or if races were lost or the lease has ended.
    pub report: Option<EnvironmentReport>,
}

/// The reason why a publication ended.
pub enum End {
    /// All destinations were processed.
    Complete,
    /// A branch moved during every attempt.
    LostRaces,
    /// Not all objects of the platform could be read.
    Incomplete(Arc<Loaded>),
}

/// A destination that can't be read or pushed.
#[derive(Debug)]
pub struct DestinationFailure {
    /// The name of its `GitOpsRepo`.
    pub gitops_repo: String,
    /// The reason.
    pub error: DestinationError,
}

/// The result of one destination.
pub struct PlaceOutcome {
    /// The environment.
    pub loaded: Arc<Loaded>,
    /// The plan.
    pub planned: Planned,
    /// All diagnostics of the environment.
    pub diagnostics: Vec<Diagnostic>,
    /// The reasons why nothing was pushed. Empty if the plan was accepted.
    pub refusals: Vec<Refusal>,
    /// The result of the push. None if it was not tried.
    pub delivered: Option<Delivered>,
    /// The number of folders that were sent to the hub. None if there is no hub, or if nothing changed.
    pub hub: Option<Result<usize, HubError>>,
    /// The pull request. None if the destination is on no configured host with pull requests, or if nothing was pushed.
    pub pull_request: Option<Result<ProposalOutcome, HostError>>,
    /// What is proposed on a git host, with its status `kalypso/admission`. None if nothing is, or if no promotion leads to the environment.
    pub proposed: Option<ProposedOutput>,
    /// The statuses of its commits that could not be read or set.
    pub failed_statuses: Vec<HostError>,
}

/// The reason why nothing can be published.
#[derive(Debug, thiserror::Error)]
pub enum PublicationFailure {
    /// The environment can't be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The destinations are not known.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// The hub did not accept the content of the branch.
    #[error(transparent)]
    Hub(#[from] HubError),
}

/// Publishes an environment to all its destinations. If another program pushes at the same time, the heads of the branches and all sources are read again, and
/// nothing of the attempt is reused. `on_compiled` is called with the compiled environment of each attempt.
///
/// # Errors
/// If the environment can't be read, or the hub does not accept the content of a branch. Pushes of earlier attempts are not undone.
pub fn publish(
    access: &Arc<RepositoryAccess>,
    request: &Request<'_>,
    on_compiled: &dyn Fn(&Loaded, &Compiled),
) -> Result<Outcome, PublicationFailure> {
    let mut known = KnownResults::new(Some(access.settings.memo_file(request.environment)));
    publish_again(access, request, &mut known, on_compiled)
}

/// Publishes an environment as [`publish`] does, with the results of earlier calls in this process. They stay in memory.
///
/// # Errors
/// As in [`publish`].
pub fn publish_again(
    access: &Arc<RepositoryAccess>,
    request: &Request<'_>,
    known: &mut KnownResults,
    on_compiled: &dyn Fn(&Loaded, &Compiled),
) -> Result<Outcome, PublicationFailure> {
    let (mut places, mut failures): (Vec<PlaceOutcome>, Vec<DestinationFailure>) = Default::default();
    for _ in 0..RACES_MAX {
        let mut loaded = for_publication(access, request.environment, request.gitops_repo)?;
        if !request.is_hub_only {
            enforcement::enforce(&mut loaded, request.options.override_reason);
            let overridden = || request.options.overridden.map(Arc::from);
            loaded.enforced.override_reason = loaded.enforced.override_reason.take().or_else(overridden);
        }
        let loaded = Arc::new(loaded);
        if !loaded.is_complete {
            let report = request.report(&loaded, (&places, &failures));
            return Ok(Outcome { places, failures, end: End::Incomplete(loaded), report });
        }
        let may_create = !request.is_hub_only && request.options.check_lease().is_ok();
        let created = if may_create { new_branches::create(&loaded, request.options.hosts) } else { Vec::new() };
        if created.iter().any(|(_, result)| result.is_ok()) {
            continue;
        }
        let compiled = Arc::new(known.compile(&loaded, &access.progress, None));
        on_compiled(&loaded, &compiled);
        let mut has_lost_race = false;
        // The reason why a branch can't be created says more than that it is missing.
        failures =
            created.into_iter().filter_map(|(name, result)| DestinationFailure::from_result(name, result)).collect();
        for (gitops_repo, target) in each_target(&loaded, request.gitops_repo, None)? {
            let is_done = places.iter().any(|place| place.planned.target.name == gitops_repo);
            if is_done || failures.iter().any(|failure| failure.gitops_repo == gitops_repo) {
                continue;
            }
            let outcome = target.map_err(PublicationFailure::from);
            match outcome.and_then(|target| {
                publish_to(request, &loaded, CompiledEnvironment { compiled: &compiled, known }, target)
            }) {
                Ok(outcome) if matches!(outcome.delivered, Some(Delivered::LostRace)) => has_lost_race = true,
                Ok(outcome) => places.push(outcome),
                // Without the lease, nothing can be written to the others either.
                Err(error @ PublicationFailure::Destination(DestinationError::LeaseEnded(_))) => return Err(error),
                Err(PublicationFailure::Destination(error)) => failures.push(DestinationFailure { gitops_repo, error }),
                Err(error) => return Err(error),
            }
        }
        if !has_lost_race {
            let report = request.report(&loaded, (&places, &failures));
            return Ok(Outcome { places, failures, end: End::Complete, report });
        }
        // Two large fleets may need too much memory. So the fleet of this attempt is dropped before the next one, unless an outcome refers to it.
    }
    Ok(Outcome { places, failures, end: End::LostRaces, report: None })
}

impl Request<'_> {
    /// Reports the environment to the git hosts, if there are any.
    #[tracing::instrument(skip_all)]
    fn report(
        &self,
        loaded: &Loaded,
        (places, failures): (&[PlaceOutcome], &[DestinationFailure]),
    ) -> Option<EnvironmentReport> {
        let hosts = self.options.hosts.filter(|_| !self.is_hub_only && self.options.check_lease().is_ok())?;
        let mut diagnostics = places.last().map_or(&loaded.diagnostics, |place| &place.diagnostics).clone();
        diagnostics.extend(failures.iter().filter_map(DestinationFailure::diagnostic));
        let problems = KnownProblems { waits: self.options.waits, promotions: self.options.problems };
        let is_proposed = places.iter().any(PlaceOutcome::is_proposed);
        let failed = failures.iter().map(|failure| format!("nothing is published to {}", failure.gitops_repo));
        let parts: Vec<_> = places.iter().map(PlaceOutcome::description).chain(failed).collect();
        let description = match parts.as_slice() {
            _ if !loaded.is_complete => "not all sources can be read, so nothing is published".to_owned(),
            [] => "nothing is published".to_owned(),
            parts => parts.join("; "),
        };
        let status =
            pull_requests::environment_status(&loaded.fleet.environment, &diagnostics, &description, is_proposed);
        let issue = pull_requests::report_problems(hosts, loaded, (&problems, &diagnostics));
        let mut failed_statuses = pull_requests::set_statuses(hosts, loaded, &status);
        failed_statuses.extend(places.iter().flat_map(|place| place.failed_statuses.clone()));
        Some(EnvironmentReport { issue, failed_statuses })
    }
}

impl DestinationFailure {
    fn from_result<T>(gitops_repo: String, result: Result<T, DestinationError>) -> Option<Self> {
        Some(Self { gitops_repo, error: result.err()? })
    }

    /// The reason as a diagnostic. None if it may be gone with the next attempt, such as a connection that failed.
    fn diagnostic(&self) -> Option<Diagnostic> {
        match &self.error {
            DestinationError::Publish(PublishError::Repository(
                RepositoryError::Unreachable { .. }
                | RepositoryError::TimedOut { .. }
                | RepositoryError::Locked { .. }
                | RepositoryError::InUse { .. },
            )) => None,
            DestinationError::Publish(error) => Some(error.diagnostic()),
            _ => None,
        }
    }
}

#[tracing::instrument(name = "destination", skip_all, fields(gitops_repo = target.name))]
fn publish_to(
    request: &Request<'_>,
    loaded: &Arc<Loaded>,
    compiled: CompiledEnvironment<'_>,
    target: GitOpsDestination,
) -> Result<PlaceOutcome, PublicationFailure> {
    if let Some(hub) = request.hub.filter(|_| request.is_hub_only) {
        let planned = Planned::new(loaded, compiled, target, request.options.adopt)?;
        let hub = Some(Ok(hub_publication::send_branch(hub, loaded, &planned)?));
        return Ok(PlaceOutcome { hub, ..PlaceOutcome::new(loaded, planned) });
    }
    let outcome = deliver(&request.options, loaded, compiled, target)?;
    request.options.check_lease().map_err(DestinationError::from)?;
    let hub = request
        .hub
        .and_then(|hub| hub_publication::send_changes(hub, loaded, (&outcome.planned, outcome.delivered.as_ref()?)));
    Ok(PlaceOutcome { hub, ..outcome })
}

/// Publishes an environment to one destination, if its branches have not moved since the environment was read, and makes its pull request. Sends nothing to the hub.
///
/// # Errors
/// If the destination can't be read or pushed, or if the lease has ended.
pub fn deliver(
    options: &PublishOptions<'_>,
    loaded: &Arc<Loaded>,
    compiled: CompiledEnvironment<'_>,
    target: GitOpsDestination,
) -> Result<PlaceOutcome, DestinationError> {
    let merges_itself = options.hosts.and_then(|hosts| hosts.find(&target.place.repo));
    let merges_itself = merges_itself.is_some_and(|(settings, _)| settings.merges_itself);
    let options = &PublishOptions { is_direct: options.is_direct || merges_itself, ..*options };
    let mut planned = Planned::new(loaded, compiled, target, options.adopt)?;
    let diagnostics = planned.diagnostics(loaded);
    let refusals = refusals(loaded, &planned, options.is_direct.then_some(options.confirmed))?;
    let hosts = options.proposing_hosts();
    let is_refused = !leave_waiting_removals(options, loaded, &mut planned, &refusals)?;
    let mut outcome = PlaceOutcome { diagnostics, refusals, ..PlaceOutcome::new(loaded, planned) };
    let admission = AdmissionCheck::read(hosts, loaded, &outcome.planned)?;
    outcome.diagnostics.extend(hand_edits::diagnostics(options.hosts, loaded, &outcome.planned)?);
    match admission.merged() {
        Ok(merged) => outcome.diagnostics.extend(merged),
        Err(error) => outcome.failed_statuses.push(error),
    }
    if is_refused {
        options.check_lease()?;
        let refused = admission.refused(&outcome.refusals);
        outcome.note(refused);
        return Ok(outcome);
    }
    if !outcome.planned.plan.is_empty() {
        owner_file::add(loaded, &mut outcome.planned)?;
    }
    options.check_lease()?;
    let is_admitted = admission.may_be_merged();
    let may_be_merged = is_admitted && pull_requests::merges(loaded, &outcome.planned);
    let declined = hosts
        .map_or(Ok(None), |hosts| pull_requests::prepare(hosts, &outcome.planned, options.confirmed, may_be_merged));
    outcome.pull_request = match declined {
        Ok(None) => None,
        Ok(Some(link)) => Some(Ok(ProposalOutcome::declined(link))),
        Err(error) => Some(Err(error)),
    };
    if outcome.pull_request.is_some() {
        return Ok(outcome);
    }
    let delivered = match push_or_report(options, loaded, &mut outcome) {
        Err(error) => {
            drop(admission.foreign(&error));
            return Err(error);
        }
        Ok(delivered) => delivered,
    };
    if let Some(hosts) = hosts {
        options.check_lease()?;
        // A host that merges by itself must see it first.
        outcome.note(admission.delivered(&delivered));
        let change = ProposedChange {
            loaded,
            planned: &outcome.planned,
            diagnostics: &outcome.diagnostics,
            delivered: &delivered,
            title: &message(loaded, &outcome.planned),
            confirmed: options.confirmed,
            is_admitted,
        };
        outcome.pull_request = pull_requests::settle(hosts, change);
    }
    outcome.delivered = Some(delivered);
    Ok(outcome)
}

/// Leaves out removals that wait for their confirmation, so that they hold only what they remove. In a pull request that people merge, they stay. Returns whether there
/// is something to publish.
fn leave_waiting_removals(
    options: &PublishOptions<'_>,
    loaded: &Loaded,
    planned: &mut Planned,
    refusals: &[Refusal],
) -> Result<bool, DestinationError> {
    if !refusals.iter().all(Refusal::is_unconfirmed) {
        return Ok(false);
    }
    if !refusals.is_empty() {
        return Ok(planned.leave_removals()?);
    }
    // A host that does not answer is reported with the pull request.
    let waits = options
        .proposing_hosts()
        .is_some_and(|hosts| pull_requests::removals_wait(hosts, (loaded, planned), options.confirmed) == Ok(true));
    if waits {
        planned.leave_removals()?;
    }
    Ok(true)
}

/// Pushes, and reports a commit of a person on the proposing branch: in the pull request if it keeps the output back, and else as a warning.
fn push_or_report(
    options: &PublishOptions<'_>,
    loaded: &Loaded,
    outcome: &mut PlaceOutcome,
) -> Result<Delivered, DestinationError> {
    let delivered = push(options, loaded, &outcome.planned);
    match &delivered {
        Err(DestinationError::Publish(error @ PublishError::Foreign { .. })) => {
            // The next publication tries again what the git host does not accept now.
            let hosts = options.proposing_hosts();
            drop(hosts.map(|hosts| pull_requests::report_foreign(hosts, &outcome.planned, error)));
        }
        Ok(Delivered::Left(error)) => {
            outcome.diagnostics.push(Diagnostic { severity: Severity::Warning, ..error.diagnostic() });
        }
        _ => {}
    }
    delivered
}

#[tracing::instrument(skip_all)]
fn push(options: &PublishOptions<'_>, loaded: &Loaded, planned: &Planned) -> Result<Delivered, DestinationError> {
    let Some((heads, branch)) = planned.target.branch.leases(options.is_direct) else {
        return Ok(Delivered::LostRace);
    };
    let message = message(loaded, planned);
    let held = planned.held_publications()?;
    let open = |sealed: &Sealed| planned.open(sealed);
    let delivery = Delivery {
        place: &planned.target.place,
        branch,
        heads,
        tree: &planned.output.tree,
        open: &open,
        message: &message,
        seconds: options.committed_on,
        held: &held,
        proposed: planned.proposed_at(),
        rollouts: planned.rings.as_ref().and_then(Rings::commit).or(loaded.admission.as_ref().map(|found| found.state)),
        renderer: loaded
            .access
            .as_ref()
            .filter(|_| loaded.is_guarded() && planned.renderer.is_none())
            .map(|access| &*access.renderer),
        foreign: options.foreign,
        was_merged: &|head| {
            let hosts = options.proposing_hosts();
            hosts.is_some_and(|hosts| pull_requests::was_head_merged(hosts, planned, head) == Ok(true))
        },
        folders: planned.plan.new_folders(),
        lease: options.lease,
        progress: planned.progress(),
    };
    push::deliver(loaded, &delivery)
}

/// The first line of the commit message.
fn message(loaded: &Loaded, planned: &Planned) -> String {
    format!("{}: {}", loaded.fleet.environment, title(planned))
}

impl PlaceOutcome {
    /// The result before anything is tried.
    pub(crate) fn new(loaded: &Arc<Loaded>, planned: Planned) -> Self {
        let (diagnostics, refusals) = (Vec::new(), Vec::new());
        let loaded = Arc::clone(loaded);
        let (delivered, hub, pull_request, proposed, failed_statuses) = Default::default();
        Self { loaded, planned, diagnostics, refusals, delivered, hub, pull_request, proposed, failed_statuses }
    }

    /// Notes what is proposed, with its status.
    fn note(&mut self, reported: Option<Reported>) {
        let Some(Reported { proposed, failure }) = reported else { return };
        self.proposed = Some(proposed);
        self.failed_statuses.extend(failure);
    }

    /// Whether a change waits for its merge.
    pub fn is_proposed(&self) -> bool {
        let is_merged =
            matches!(&self.pull_request, Some(Ok(outcome)) if matches!(outcome.proposal, Proposal::Merged(_)));
        let is_in_proposing_branch = match &self.delivered {
            Some(Delivered::Pushed { branch, .. }) => **branch != *self.planned.target.place.branch,
            Some(Delivered::Proposed { .. }) => true,
            _ => false,
        };
        is_in_proposing_branch && !is_merged
    }

    /// The label that confirmed removals in its pull request, where the merge is done or requested now.
    pub fn label_confirmation(&self) -> Option<&LabelConfirmation> {
        self.pull_request.as_ref()?.as_ref().ok()?.confirmation.as_ref()
    }

    /// The pull request with a change that waits for its merge. None: none does, or the git host is not known.
    pub(crate) fn open_pull_request(&self) -> Option<&PullRequestLink> {
        let outcome = self.pull_request.as_ref()?.as_ref().ok()?;
        outcome.proposal.open().filter(|_| self.is_proposed())
    }

    /// What happened, in one line for people.
    pub fn description(&self) -> String {
        let base = &self.planned.target.place.branch;
        match (&self.pull_request, &self.delivered) {
            (Some(Err(error)), _) => format!("there is no pull request: {error}"),
            (Some(Ok(outcome)), _) => match &outcome.proposal {
                Proposal::None => format!("{base} is up to date"),
                Proposal::Opened(link) | Proposal::Updated(link) | Proposal::Unchanged(link) => {
                    format!("proposed in pull request {}", link.number)
                }
                Proposal::Merged(link) => format!("merged with pull request {}", link.number),
                Proposal::Closed(_) => format!("{base} is up to date, and the pull request is closed"),
                Proposal::Declined(link) => format!("declined: pull request {} was closed", link.number),
            },
            (None, Some(Delivered::Pushed { branch, commit, .. })) => format!("pushed {} to {branch}", commit.short()),
            (None, Some(Delivered::Proposed { branch })) => format!("proposed on branch {branch}"),
            (None, Some(Delivered::UpToDate | Delivered::Withdrawn { .. } | Delivered::Left(_))) => {
                format!("{base} is up to date")
            }
            (None, Some(Delivered::LostRace) | None) => "nothing is published".to_owned(),
        }
    }

    /// The destination and the pushed commit. None if nothing was pushed.
    pub fn pushed(&self) -> Option<(&RepositoryPlace, GitId)> {
        match &self.delivered {
            Some(Delivered::Pushed { commit, .. }) => Some((&self.planned.target.place, *commit)),
            _ => None,
        }
    }
}
