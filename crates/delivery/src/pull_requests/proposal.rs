//! The pull request of a proposing branch: opened, updated, merged or closed.

use std::collections::BTreeSet;

use git::publish::PublishError;
use git_host::error::HostError;
use git_host::pull_request::{
    AutoMerge, MergeRequest, NewPullRequest, PullRequest, PullRequestChanges, PullRequestQuery, PullRequestState,
    PullRequestStates,
};
use git_host::sticky::{Put, is_same};
use git_host::{GitHost, HostKind, HostRepository};
use model::diagnostic::Diagnostic;
use model::excerpt;
use model::git_id::GitId;
use model::object::environment::RepositoryPlace;

use super::authorship::{self, Description};
use super::body;
use super::{
    CONFIRMATION_LABEL, ConfiguredHost, GitHosts, LABEL, LabelConfirmers, NEEDS_CONFIRMATION_LABEL, PROMOTED_LABEL,
};
use crate::branches::push::Delivered;
use crate::output::planned::Planned;
use crate::sources::loaded::Loaded;

/// Who confirmed removals by a label, where the git host does not say it.
const UNKNOWN_ACCOUNT: &str = "an account of the git host";

/// A pull request on its host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PullRequestLink {
    /// The number.
    pub number: u64,
    /// Its page.
    pub url: String,
}

/// What happened to the pull request of a destination.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Proposal {
    /// There is none, and none is needed.
    None,
    /// It was opened.
    Opened(PullRequestLink),
    /// Its text or labels changed.
    Updated(PullRequestLink),
    /// It was right already.
    Unchanged(PullRequestLink),
    /// It was merged, because its requirements were met.
    Merged(PullRequestLink),
    /// It was closed, because there is nothing to propose.
    Closed(PullRequestLink),
    /// A person closed it. It stays closed until the change is another one. Nothing was pushed.
    Declined(PullRequestLink),
}

impl Proposal {
    /// The pull request that is open now. None: there is none.
    pub fn open(&self) -> Option<&PullRequestLink> {
        match self {
            Self::Opened(link) | Self::Updated(link) | Self::Unchanged(link) => Some(link),
            Self::None | Self::Merged(_) | Self::Closed(_) | Self::Declined(_) => None,
        }
    }
}

/// Removals that a label of a pull request confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LabelConfirmation {
    /// The word of the removals.
    pub word: String,
    /// The account that set the label.
    pub by: String,
}

/// How the removals of a plan are confirmed.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Confirmation {
    /// They need none.
    NotNeeded,
    /// By their word.
    ByWord,
    /// By a label.
    ByLabel(LabelConfirmation),
    /// They are not confirmed.
    Missing,
}

/// The result for the pull request of a destination.
#[derive(Debug)]
pub struct ProposalOutcome {
    /// What happened to it.
    pub proposal: Proposal,
    /// Whether the host merges it by itself as soon as its requirements are met.
    pub is_auto_merge: bool,
    /// The label with which a person let its removals be merged, where the merge is done or requested now.
    pub confirmation: Option<LabelConfirmation>,
    /// Labels, reviewers or an automatic merge that could not be set.
    pub incomplete: Vec<String>,
}

impl ProposalOutcome {
    /// The result for a pull request that a person closed.
    pub(crate) fn declined(link: PullRequestLink) -> Self {
        Self::new(Proposal::Declined(link))
    }

    fn new(proposal: Proposal) -> Self {
        Self { proposal, is_auto_merge: false, confirmation: None, incomplete: Vec::new() }
    }
}

/// A change that was pushed, or is in the proposing branch.
#[derive(Clone, Copy)]
pub(crate) struct ProposedChange<'a> {
    /// The environment.
    pub(crate) loaded: &'a Loaded,
    /// The plan.
    pub(crate) planned: &'a Planned,
    /// All diagnostics of the environment.
    pub(crate) diagnostics: &'a [Diagnostic],
    /// The result of the push.
    pub(crate) delivered: &'a Delivered,
    /// The title: the first line of the commit message.
    pub(crate) title: &'a str,
    /// The confirmation words for removals.
    pub(crate) confirmed: &'a [String],
    /// Whether it is still admitted: nothing else is merged automatically.
    pub(crate) is_admitted: bool,
}

/// The pull request between the branches of a destination, with its host.
struct Place<'a> {
    settings: &'a ConfiguredHost,
    host: &'a dyn GitHost,
    repository: HostRepository,
    head: &'a str,
    base: &'a str,
}

impl<'a> Place<'a> {
    /// None if the destination is on no configured host with pull requests.
    fn find(hosts: &'a GitHosts, planned: &'a Planned) -> Option<Self> {
        let place = &planned.target.place;
        let (settings, repository) = hosts.find(&place.repo)?;
        let head = &planned.target.branch.heads.as_ref()?.proposing_branch;
        let found = Self { settings, host: &*settings.host, repository, head, base: &place.branch };
        settings.has_pull_requests().then_some(found)
    }

    fn on_host(&self) -> (&'a dyn GitHost, &HostRepository) {
        (self.host, &self.repository)
    }

    /// The open pull request, or else the newest one.
    fn newest(&self) -> Result<Option<PullRequest>, HostError> {
        Ok(self.all()?.into_iter().max_by_key(|found| (found.is_open(), found.number)))
    }

    fn all(&self) -> Result<Vec<PullRequest>, HostError> {
        let states = PullRequestStates::All;
        let query = PullRequestQuery { head: Some(self.head.to_owned()), base: Some(self.base.to_owned()), states };
        self.host.pull_requests(&self.repository, &query)
    }

    /// How the removals of a plan are confirmed.
    fn confirmation(
        &self,
        planned: &Planned,
        found: Option<&PullRequest>,
        confirmed: &[String],
    ) -> Result<Confirmation, HostError> {
        let Some(word) = planned.confirmation_word().filter(|_| planned.plan.needs_confirmation()) else {
            return Ok(Confirmation::NotNeeded);
        };
        let by_word = if confirmed.contains(&word) { Confirmation::ByWord } else { Confirmation::Missing };
        let label = format!("{CONFIRMATION_LABEL}{word}");
        let Some(found) = found.filter(|found| found.labels.contains(&label)) else { return Ok(by_word) };
        let author = || self.host.label_author(&self.repository, found.number, &label);
        let by = match &self.settings.label_confirmers {
            LabelConfirmers::Nobody => return Ok(by_word),
            // Who it was is only for the history.
            LabelConfirmers::Anyone => author().unwrap_or_default().unwrap_or_else(|| UNKNOWN_ACCOUNT.to_owned()),
            LabelConfirmers::Accounts(accounts) => match author()? {
                Some(author) if accounts.iter().any(|name| name.eq_ignore_ascii_case(&author)) => author,
                _ => return Ok(by_word),
            },
        };
        Ok(Confirmation::ByLabel(LabelConfirmation { word, by }))
    }

    /// Whether the host may merge a pull request by itself. Gitea does not show it.
    fn may_be_merged(&self, found: &PullRequest) -> bool {
        found.is_auto_merge || self.host.kind() == HostKind::Gitea
    }

    /// Closes the pull request, if it is open, and no person opened it. It loses its marker, so that the same change can be proposed again later.
    fn close(&self) -> Result<ProposalOutcome, HostError> {
        let Some(found) = self.newest()? else { return Ok(ProposalOutcome::new(Proposal::None)) };
        let changes = body::digest_in(&found.body).map(|_| PullRequestChanges {
            body: Some(format!("{}\n\n*Closed: there is no change to propose.*", body::without_marker(&found.body))),
            ..PullRequestChanges::default()
        });
        match found.state {
            PullRequestState::Merged { .. } => Ok(ProposalOutcome::new(Proposal::None)),
            PullRequestState::Open if !authorship::is_ours(self.on_host(), &found)? => {
                Ok(ProposalOutcome::new(Proposal::None))
            }
            PullRequestState::Open => {
                if let Some(changes) = changes {
                    self.host.update(&self.repository, found.number, &changes)?;
                }
                self.host.close(&self.repository, found.number)?;
                Ok(ProposalOutcome::new(Proposal::Closed(link(&found))))
            }
            PullRequestState::Closed => {
                let Some(changes) = changes else { return Ok(ProposalOutcome::new(Proposal::None)) };
                match self.host.update(&self.repository, found.number, &changes) {
                    // Some hosts refuse changes of closed pull requests.
                    Ok(()) | Err(HostError::Refused { .. }) => Ok(ProposalOutcome::new(Proposal::Closed(link(&found)))),
                    Err(error) => Err(error),
                }
            }
        }
    }
}

/// Whether removals keep the host from merging what else is proposed: they need a confirmation, which is missing.
pub(crate) fn removals_wait(
    hosts: &GitHosts,
    (loaded, planned): (&Loaded, &Planned),
    confirmed: &[String],
) -> Result<bool, HostError> {
    if !planned.plan.needs_confirmation() || !merges(loaded, planned) {
        return Ok(false);
    }
    let Some(place) = Place::find(hosts, planned) else { return Ok(false) };
    let found = place.newest()?.filter(PullRequest::is_open);
    Ok(place.confirmation(planned, found.as_ref(), confirmed)? == Confirmation::Missing)
}

/// Prepares the pull request of a destination for a push. Returns the closed pull request with exactly this change, if a person closed it without a merge: then
/// nothing is pushed. An automatic merge that is not wanted any more is cancelled before the push, so that the host can't merge what is pushed. `may_be_merged`: whether
/// the host may merge it, if its removals are confirmed.
pub(crate) fn prepare(
    hosts: &GitHosts,
    planned: &Planned,
    confirmed: &[String],
    may_be_merged: bool,
) -> Result<Option<PullRequestLink>, HostError> {
    let Some(place) = Place::find(hosts, planned).filter(|_| !planned.plan.is_empty()) else { return Ok(None) };
    let Some(found) = place.newest()? else { return Ok(None) };
    if found.is_open() {
        let is_confirmed = place.confirmation(planned, Some(&found), confirmed)? != Confirmation::Missing;
        if place.may_be_merged(&found) && !(is_confirmed && may_be_merged) {
            place.host.cancel_auto_merge(&place.repository, found.number)?;
        }
        return Ok(None);
    }
    let is_same = body::digest_in(&found.body) == Some(body::digest(planned).as_str());
    Ok((found.state == PullRequestState::Closed && is_same).then(|| link(&found)))
}

/// Says in the open pull request of a destination which commit of a person keeps its proposing branch from being updated. An automatic merge is cancelled, because
/// the commit is not admitted.
pub(crate) fn report_foreign(hosts: &GitHosts, planned: &Planned, error: &PublishError) -> Result<(), HostError> {
    let Some(place) = Place::find(hosts, planned) else { return Ok(()) };
    let Some(found) = place.newest()?.filter(PullRequest::is_open) else { return Ok(()) };
    if place.may_be_merged(&found) {
        place.host.cancel_auto_merge(&place.repository, found.number)?;
    }
    authorship::comment_foreign(place.on_host(), found.number, error)
}

/// Whether the git host merged a pull request with this head of the proposing branch of a destination.
pub(crate) fn was_head_merged(hosts: &GitHosts, planned: &Planned, head: GitId) -> Result<bool, HostError> {
    let Some(place) = Place::find(hosts, planned) else { return Ok(false) };
    let is_it =
        |found: &PullRequest| matches!(found.state, PullRequestState::Merged { .. }) && found.head_commit == Some(head);
    Ok(place.all()?.iter().any(is_it))
}

/// Whether a pull request of a proposing branch was ever merged. False if the destination is on no configured host with pull requests.
pub(crate) fn was_merged(hosts: &GitHosts, place: &RepositoryPlace, proposing_branch: &str) -> Result<bool, HostError> {
    let Some((settings, repository)) = hosts.find(&place.repo).filter(|(settings, _)| settings.has_pull_requests())
    else {
        return Ok(false);
    };
    let (head, base) = (Some(proposing_branch.to_owned()), Some(place.branch.to_string()));
    let query = PullRequestQuery { head, base, states: PullRequestStates::All };
    let all = settings.host.pull_requests(&repository, &query)?;
    Ok(all.iter().any(|found| matches!(found.state, PullRequestState::Merged { .. })))
}

/// Whether a commit of a branch is the merge of the pull request of its proposing branch. False if the branch is on no configured host with pull requests.
pub(crate) fn was_merged_as(
    hosts: &GitHosts,
    (place, proposing_branch): (&RepositoryPlace, &str),
    commit: GitId,
) -> Result<bool, HostError> {
    let Some((settings, repository)) = hosts.find(&place.repo).filter(|(settings, _)| settings.has_pull_requests())
    else {
        return Ok(false);
    };
    let found = settings.host.merged_pull_request(&repository, commit, &place.branch)?;
    Ok(found.is_some_and(|found| found.head == proposing_branch))
}

/// Whether the `GitOpsRepo` of a plan lets the host merge.
pub(crate) fn merges(loaded: &Loaded, planned: &Planned) -> bool {
    loaded.fleet.gitops_repos.get(planned.target.name.as_str()).is_some_and(|repo| repo.spec.auto_merge)
}

/// Makes the pull request of a destination right after a push. None if the destination is on no configured host with pull requests.
#[tracing::instrument(name = "pull request", skip_all)]
pub(crate) fn settle(hosts: &GitHosts, change: ProposedChange<'_>) -> Option<Result<ProposalOutcome, HostError>> {
    let place = Place::find(hosts, change.planned)?;
    let head_commit = match change.delivered {
        Delivered::Pushed { branch, commit, .. } if branch == place.head => Some(*commit),
        Delivered::Proposed { .. } => {
            let heads = change.planned.target.branch.heads.as_ref()?.heads.as_ref().ok()?;
            Some(heads.branch.as_ref()?.id)
        }
        Delivered::UpToDate | Delivered::Withdrawn { .. } | Delivered::Pushed { .. } => None,
        Delivered::Left(_) | Delivered::LostRace => return None,
    };
    let is_pushed = matches!(change.delivered, Delivered::Pushed { .. });
    Some(match head_commit {
        Some(commit) => Wanted::new(&place, change).and_then(|wanted| wanted.propose(&place, (commit, is_pushed))),
        None => place.close(),
    })
}

/// The pull request that should be there.
struct Wanted {
    title: String,
    body: String,
    labels: BTreeSet<String>,
    /// The labels that it must not have.
    unwanted: BTreeSet<String>,
    merges: bool,
    confirmation: Confirmation,
    found: Option<PullRequest>,
}

impl Wanted {
    fn new(place: &Place<'_>, change: ProposedChange<'_>) -> Result<Self, HostError> {
        let planned = change.planned;
        let found = place.newest()?.filter(PullRequest::is_open);
        let confirmation = place.confirmation(planned, found.as_ref(), change.confirmed)?;
        let is_confirmed = confirmation != Confirmation::Missing;
        let flags = [(PROMOTED_LABEL, changes_promoted_commit(planned)), (NEEDS_CONFIRMATION_LABEL, !is_confirmed)];
        let (labels, unwanted): (Vec<_>, Vec<_>) = flags.into_iter().partition(|(_, is_set)| *is_set);
        let names = |labels: Vec<(&str, bool)>| labels.into_iter().map(|(name, _)| name.to_owned()).collect();
        let mut labels: BTreeSet<String> = names(labels);
        labels.insert(LABEL.to_owned());
        let limits = place.host.text_limits();
        Ok(Self {
            title: excerpt::first(change.title, limits.title),
            body: body::text((change.loaded, planned), change.diagnostics, limits.body),
            labels,
            unwanted: names(unwanted),
            merges: is_confirmed && change.is_admitted && merges(change.loaded, planned),
            confirmation,
            found,
        })
    }

    fn propose(self, place: &Place<'_>, (head_commit, is_pushed): (GitId, bool)) -> Result<ProposalOutcome, HostError> {
        let (host, repository) = place.on_host();
        let merges = self.merges;
        let mut incomplete = Vec::new();
        let (found, proposal) = if let Some(found) = self.found.clone() {
            let proposal = self.update(place, &found, &mut incomplete)?;
            if is_pushed && let Err(error) = authorship::retract_foreign(place.on_host(), found.number) {
                incomplete.push(format!("a comment can't be read or changed: {error}"));
            }
            (found, proposal)
        } else {
            let new = NewPullRequest {
                head: place.head.to_owned(),
                base: place.base.to_owned(),
                title: self.title,
                body: self.body,
                labels: self.labels,
                reviewers: place.settings.reviewers.clone(),
            };
            let opened = host.open(repository, &new)?;
            incomplete.extend(opened.incomplete.iter().map(ToString::to_string));
            let link = link(&opened.pull_request);
            (opened.pull_request, Proposal::Opened(link))
        };
        let mut outcome = ProposalOutcome { incomplete, ..ProposalOutcome::new(proposal) };
        let is_new = if merges {
            place.merge(&found, head_commit, &mut outcome)
        } else {
            place.cancel_merge(&found, &mut outcome);
            false
        };
        if let Confirmation::ByLabel(confirmation) = self.confirmation {
            outcome.confirmation = Some(confirmation).filter(|_| is_new);
        }
        Ok(outcome)
    }

    /// Changes what is wrong in an open pull request. The title and text of a person stay, and a comment has what they should be.
    fn update(
        &self,
        place: &Place<'_>,
        found: &PullRequest,
        incomplete: &mut Vec<String>,
    ) -> Result<Proposal, HostError> {
        let is_ours = authorship::is_ours(place.on_host(), found)?;
        let changes = self.changes(found, is_ours);
        let mut is_right = changes == PullRequestChanges::default();
        if !is_right {
            place.host.update(&place.repository, found.number, &changes)?;
        }
        if !is_ours {
            incomplete.push(authorship::kept_text(found));
            let description = Description { title: &self.title, body: &self.body };
            is_right &= authorship::comment(place.on_host(), found, description)? == Put::Unchanged;
        }
        Ok(if is_right { Proposal::Unchanged(link(found)) } else { Proposal::Updated(link(found)) })
    }

    /// The parts of an open pull request that are wrong.
    fn changes(&self, found: &PullRequest, is_ours: bool) -> PullRequestChanges {
        PullRequestChanges {
            title: Some(self.title.clone()).filter(|title| is_ours && *title != found.title),
            body: Some(self.body.clone()).filter(|body| is_ours && !is_same(body, &found.body)),
            add_labels: self.labels.difference(&found.labels).cloned().collect(),
            remove_labels: self.unwanted.intersection(&found.labels).cloned().collect(),
        }
    }
}

impl Place<'_> {
    /// Cancels the automatic merge. An error leaves the pull request open for people.
    fn cancel_merge(&self, found: &PullRequest, outcome: &mut ProposalOutcome) {
        if self.may_be_merged(found)
            && let Err(error) = self.host.cancel_auto_merge(&self.repository, found.number)
        {
            outcome.incomplete.push(format!("the automatic merge can't be cancelled: {error}"));
        }
    }

    /// Requests the automatic merge. An error leaves the pull request open for people. Returns whether the merge is done or requested now.
    fn merge(&self, found: &PullRequest, head_commit: GitId, outcome: &mut ProposalOutcome) -> bool {
        if found.is_auto_merge {
            outcome.is_auto_merge = true;
            return false;
        }
        let request = MergeRequest { head_commit, method: self.settings.method };
        match self.host.set_auto_merge(&self.repository, found.number, &request) {
            Ok(AutoMerge::Enabled) => outcome.is_auto_merge = true,
            Ok(AutoMerge::Merged { .. }) => outcome.proposal = Proposal::Merged(link(found)),
            Ok(AutoMerge::NotAvailable(reason)) => {
                outcome.incomplete.push(format!("the git host can't merge it automatically: {reason}"));
            }
            Err(error) => outcome.incomplete.push(format!("the automatic merge can't be set: {error}")),
        }
        outcome.is_auto_merge || matches!(outcome.proposal, Proposal::Merged(_))
    }
}

/// Whether the file with the promoted commit changes.
fn changes_promoted_commit(planned: &Planned) -> bool {
    planned.plan.other_files.iter().any(|file| file.path.ends_with(engine::layout::own_files::TRACKING_FILE))
}

fn link(found: &PullRequest) -> PullRequestLink {
    PullRequestLink { number: found.number, url: found.url.clone() }
}
