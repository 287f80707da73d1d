//! The audit of an environment: what people and Kalypso decided, what was published, and what changed on its branch. It is read from git alone, and each row names
//! the commit that holds it, so an auditor can verify all of it without a hub.

use std::collections::BTreeSet;
use std::sync::Arc;

use git::load::ReadRole;
use git::publications::PublishedCommit;
use git::{Commit, CommitInfo, Repositories, RepositoryError, RepositoryUrl, Revision, trailer};
use hub_api::promotions::PromotionEvent;
use jiff::Timestamp;
use model::git_id::GitId;
use model::name::EnvironmentName;
use serde::Serialize;
use serde_json::Value as Json;

use crate::access::RepositoryAccess;
use crate::error::DestinationError;
use crate::promotion::controller::events;
use crate::promotion::pin_changes::{PinChange, PinChangesError, PinnedBranch};
use crate::sources::loaded::Loaded;
use crate::states::state_branch::{self, StateBranchError};

/// How many generations of a branch are read. It tries one number after the other, until it has read past the beginning of the period.
const REACHES: [usize; 3] = [1_000, 20_000, 200_000];
/// How far the clock of a committer may be behind that of another one, in seconds: commits of a branch are not always in the order of their times.
const CLOCKS_DIFFER: i64 = 86_400;

/// The time that an audit is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    /// The beginning.
    pub from: Timestamp,
    /// The end, which is not in the period.
    pub until: Timestamp,
}

impl Period {
    fn has(&self, at: Timestamp) -> bool {
        (self.from..self.until).contains(&at)
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AuditRow {
    /// When it happened.
    pub at: Timestamp,
    /// What happened: a kind of event of promotions, such as `approved` or `skipped`, or `published`, `pushed`, `changed`, `pinned` or `unpinned`.
    pub kind: String,
    /// The workload, source or pin. None: the environment, or the commits of the main branch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What it is about: a commit, a release, or the digest of a workload's folders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub revision: Option<String>,
    /// Who decided, or who wrote the commit. None: the controller of promotions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<String>,
    /// What happened in one line for people, with its reason.
    pub text: String,
    /// The evidence: the gates with their status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Json>,
    /// The commit that holds it.
    pub held_in: HeldIn,
}

/// The commit that holds a row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HeldIn {
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// The commit.
    pub commit: String,
}

/// The reason why an audit is not complete.
#[derive(Debug, thiserror::Error)]
pub enum IncompleteAudit {
    /// A repository can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The release pins of a commit can't be read.
    #[error(transparent)]
    Pins(#[from] PinChangesError),
    /// The branch with the decisions can't be read, or does not count.
    #[error(transparent)]
    States(#[from] StateBranchError),
    /// The URL of a GitOps repository is not allowed.
    #[error(transparent)]
    Destination(#[from] DestinationError),
    /// An event in the message of a commit can't be read. A later version of Kalypso may have written it.
    #[error("an event in the message of commit {commit} of `{branch}` can't be read: {error}")]
    Event {
        /// The commit.
        commit: GitId,
        /// The branch.
        branch: Arc<str>,
        /// The reason.
        error: serde_json::Error,
    },
    /// The environment was read from a plain directory, which has no history.
    #[error("a directory has no history")]
    Directory,
    /// The period begins too long ago.
    #[error("the branch `{branch}` has more commits since then than can be read: begin later")]
    TooLong {
        /// The branch.
        branch: Arc<str>,
    },
}

/// What happened in an environment in a period, the oldest first.
///
/// # Errors
/// If something can't be read. A part of the history would look like all of it.
pub fn rows(loaded: &Loaded, period: Period) -> Result<Vec<AuditRow>, IncompleteAudit> {
    let access = loaded.access.as_deref().ok_or(IncompleteAudit::Directory)?;
    let environment = &loaded.fleet.environment;
    let mut rows = Vec::new();
    if let Some(head) = state_branch::head(access, environment)? {
        let branch = Branch::at(access, head, period)?;
        for commit in branch.commits() {
            rows.extend(decisions(&branch, commit)?.filter(|row| period.has(row.at)));
        }
    }
    for read in loaded.reads.iter().filter(|read| read.role == ReadRole::Environment) {
        let branch = Branch::read(access, &read.url, &read.revision, period)?;
        for commit in branch.commits().filter(|(_, info)| period.has(time(info))) {
            rows.push(branch.row(commit, "changed", title(commit)));
            rows.extend(branch.pins(commit)?);
        }
    }
    for repository in loaded.fleet.gitops_repos.values() {
        let place = &repository.spec.place;
        let branch = Branch::read(access, &loaded.url(&place.repo)?, &place.branch, period)?;
        let commits = branch.commits().filter(|(_, info)| period.has(time(info)));
        rows.extend(commits.filter_map(|commit| publication(&branch, commit, environment)));
    }
    rows.sort_by_key(|row| row.at);
    Ok(rows)
}

/// A commit of a branch.
type Read<'b> = (GitId, &'b CommitInfo);

/// The commits of a branch, at least those of the period.
struct Branch<'a> {
    repositories: &'a dyn Repositories,
    head: Commit,
    /// Newest first.
    commits: Vec<(GitId, CommitInfo)>,
}

impl<'a> Branch<'a> {
    fn read(
        access: &'a RepositoryAccess,
        url: &RepositoryUrl,
        branch: &str,
        period: Period,
    ) -> Result<Self, IncompleteAudit> {
        let head = access.repositories.resolve(url, &Revision::branch(branch))?;
        Self::at(access, head, period)
    }

    fn at(access: &'a RepositoryAccess, head: Commit, period: Period) -> Result<Self, IncompleteAudit> {
        let repositories = &*access.repositories;
        let begin = period.from.as_second().saturating_sub(CLOCKS_DIFFER);
        for reach in REACHES {
            let commits = repositories.ancestry(&head, reach)?;
            let known: BTreeSet<_> = commits.iter().map(|(id, _)| *id).collect();
            let is_cut = |info: &CommitInfo| info.parents.iter().any(|parent| !known.contains(parent));
            if !commits.iter().any(|(_, info)| info.seconds >= begin && is_cut(info)) {
                return Ok(Self { repositories, head, commits });
            }
        }
        Err(IncompleteAudit::TooLong { branch: head.revision.name() })
    }

    /// The commits, the oldest first.
    fn commits(&self) -> impl Iterator<Item = Read<'_>> {
        self.commits.iter().rev().map(|(id, info)| (*id, info))
    }

    fn held_in(&self, commit: GitId) -> HeldIn {
        HeldIn {
            repository: git::without_credential(self.head.url.as_str()),
            branch: self.head.revision.name().to_string(),
            commit: commit.to_string(),
        }
    }

    /// What the author of a commit did.
    fn row(&self, (commit, info): Read<'_>, kind: &str, text: String) -> AuditRow {
        AuditRow {
            at: time(info),
            kind: kind.to_owned(),
            subject: None,
            revision: None,
            by: Some(info.author.to_string()),
            text,
            evidence: None,
            held_in: self.held_in(commit),
        }
    }

    /// The release pins that a commit makes, changes or removes.
    fn pins(&self, commit: Read<'_>) -> Result<Vec<AuditRow>, IncompleteAudit> {
        let branch = PinnedBranch { repositories: self.repositories, head: &self.head };
        let row = |PinChange { name, kind, text }: PinChange| AuditRow {
            subject: Some(name.to_string()),
            ..self.row(commit, kind.name(), text)
        };
        Ok(branch.changes(commit)?.into_iter().map(row).collect())
    }
}

/// The events in the message of a commit with states.
fn decisions(branch: &Branch<'_>, (commit, info): Read<'_>) -> Result<impl Iterator<Item = AuditRow>, IncompleteAudit> {
    let unreadable = |error| IncompleteAudit::Event { commit, branch: branch.head.revision.name(), error };
    let events = events::of_message(&info.message).collect::<Result<Vec<_>, _>>().map_err(unreadable)?;
    let row = move |event: PromotionEvent| AuditRow {
        at: Timestamp::from_millisecond(event.at.millis()).unwrap_or(Timestamp::MIN),
        kind: event.kind,
        subject: event.subject,
        revision: event.revision,
        by: event.by,
        text: event.text,
        evidence: event.evidence,
        held_in: branch.held_in(commit),
    };
    Ok(events.into_iter().map(row))
}

/// What a commit of a GitOps branch did: a publication of the environment, or what another account pushed or merged. None: a publication of another environment.
fn publication(branch: &Branch<'_>, commit: Read<'_>, environment: &EnvironmentName) -> Option<AuditRow> {
    let (id, info) = commit;
    let environments = trailer::trailers(&info.message, trailer::ENVIRONMENT);
    if environments.is_empty() {
        return Some(branch.row(commit, "pushed", title(commit)));
    }
    if !environments.contains(&environment.as_str()) {
        return None;
    }
    let PublishedCommit { promoted, override_reason, .. } = PublishedCommit::from_message(id, &info.message);
    let text = match override_reason {
        Some(reason) => format!("{}; past its gates: {reason}", title(commit)),
        None => title(commit),
    };
    let revision = promoted.map(|commit| commit.to_string());
    Some(AuditRow { revision, by: None, ..branch.row(commit, "published", text) })
}

fn title((_, info): Read<'_>) -> String {
    info.message.lines().next().unwrap_or_default().to_owned()
}

fn time(info: &CommitInfo) -> Timestamp {
    Timestamp::from_second(info.seconds).unwrap_or(Timestamp::MIN)
}
