//! Pushes a deployment, and opens its pull request.

use application::deployment::{commit_message, pull_request_body, trailers};
use application::project::repository_url;
use application::settings::{DeliveryMode, PatternNames};
use delivery::pull_requests::GitHosts;
use delivery::pull_requests::change_proposal::{self, ChangeProposal, ChangeProposalError};
use git::{Commit, Edits, NewCommit, Push, Pushed, Repositories, Revision};
use model::git_id::GitId;
use model::progress::Progress;
use model::tree::{Tree, closed};
use workbench::branch::{ProposalResult, author, proposal_failure};

use super::super::reading::{Reading, failure};
use super::PlannedEnvironment;
use crate::exit::Failure;

/// What was done.
pub(super) enum Delivered {
    /// Nothing.
    Nothing,
    /// A commit in the branch that reconcilers pull.
    Pushed(GitId, String),
    /// A proposing branch, and its pull request if there is a git host.
    Proposed(Box<ProposalResult>),
    /// Another program pushed at the same time.
    LostRace,
}

/// Pushes the edits of all environments as one commit. Several environments share a branch.
pub(super) fn deliver(
    reading: &Reading,
    planned: &[PlannedEnvironment],
    hosts: Option<&GitHosts>,
) -> anyhow::Result<Delivered> {
    let Some(first) = planned.first() else { return Ok(Delivered::Nothing) };
    let Some(base) = base(reading, first)? else { return Ok(Delivered::LostRace) };
    let PlannedEnvironment { release, environment, .. } = first;
    let workload = release.project.workload.name.as_str();
    let provenance = &environment.provenance;
    let commit = provenance.source.to_string();
    let name = if planned.len() == 1 { environment.settings.name.as_str() } else { "all" };
    let names = PatternNames { commit: &commit, environment: name, workload, ..PatternNames::default() };
    let branch = release.project.settings.gitops.proposing_branch.text(names);
    let plans: Vec<_> = planned.iter().map(|one| (one.environment.settings.name.as_str(), &one.plan)).collect();
    let trailers = trailers(workload, &plans, provenance);
    let trailers: Vec<_> = trailers.iter().map(|(key, value)| (*key, value.as_str())).collect();
    let edits = planned.iter().fold(Edits::default(), |edits, one| edits.followed_by(&one.plan.edits));
    let title = commit_message(workload, &plans, provenance);
    let is_new = planned.iter().any(PlannedEnvironment::is_new_version);
    let is_promoted = is_new && release.project.settings.output.tracking;
    let proposal = ChangeProposal {
        base: &base,
        branch: &branch,
        edits: &edits,
        trailers: &trailers,
        labels: if is_promoted { &["promoted"] } else { &[] },
        title: &title,
        body: &|max| pull_request_body(&plans, provenance, max),
        author: &author(&reading.access.git),
        seconds: jiff::Timestamp::now().as_second(),
    };
    let delivered = match environment.settings.delivery {
        DeliveryMode::Push => change_proposal::commit(&reading.repositories, &proposal)
            .map(|commit| Delivered::Pushed(commit, base.revision.name().to_string())),
        DeliveryMode::PullRequest => change_proposal::propose(&reading.repositories, hosts, &proposal).map(|change| {
            let base = base.revision.name().to_string();
            Delivered::Proposed(Box::new(ProposalResult { branch: branch.clone(), base, change }))
        }),
    };
    match delivered {
        Err(ChangeProposalError::LostRace(_)) => Ok(Delivered::LostRace),
        delivered => Ok(delivered.map_err(proposal_failure)?),
    }
}

/// The head of the branch that reconcilers pull. A branch that never existed is created. None: another program was faster.
fn base(reading: &Reading, planned: &PlannedEnvironment) -> anyhow::Result<Option<Commit>> {
    let PlannedEnvironment { release, environment, .. } = planned;
    if let Some(head) = &release.head {
        return Ok(Some(head.clone()));
    }
    let gitops = &release.project.settings.gitops;
    let url = repository_url(&gitops.repo).map_err(failure)?;
    let name = gitops.branch.text(release.project.names(&environment.settings));
    let revision = Revision::branch(&name);
    if !reading.repositories.seen(&url, &revision).is_empty() {
        let message = format!("branch `{name}` of {} was deleted", url.label());
        let help = format!("push it again: `git push origin COMMIT:refs/heads/{name}`");
        return Err(Failure::refused(message).help(help).into());
    }
    let message = format!("{name}: begin the branch\n");
    let commit = NewCommit {
        parents: &[],
        tree: &Tree::default(),
        open: &closed,
        message: &message,
        author: &author(&reading.access.git),
        seconds: jiff::Timestamp::now().as_second(),
        signer: None,
    };
    let push = Push { branch: &name, expected: None, commit: Some(commit), progress: &Progress::default() };
    let pushed = reading.repositories.push(&url, &push).map_err(|error| failure(error.into()))?;
    Ok(match pushed {
        Pushed::Moved(id) => Some(Commit { url, revision, id }),
        Pushed::Removed | Pushed::LostRace => None,
    })
}

impl PlannedEnvironment {
    /// Whether another version is deployed than before.
    fn is_new_version(&self) -> bool {
        let workload = self.release.project.workload.name.as_str();
        let deployed = self.release.branch.release(workload, &self.environment.settings.environment);
        deployed.is_none_or(|deployed| deployed.version != self.release.version)
    }
}
