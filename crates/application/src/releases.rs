//! The releases of an application, from the commits of its GitOps branches.

use std::collections::BTreeMap;

use git::{Commit, CommitInfo, Repositories, RepositoryError, trailer};
use model::git_id::GitId;

use crate::deployment::{ENVIRONMENT, SOURCE, TOOL, VALUES, VERSION, commit_is_of};
use crate::limits::HISTORY_MAX;

/// A version, with the deployments that brought it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ApplicationRelease {
    /// The version.
    pub version: String,
    /// Its deployments, the newest first.
    pub deployments: Vec<ReleaseDeployment>,
}

/// A commit of a GitOps branch that deployed a version, or new values for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReleaseDeployment {
    /// The commit in the GitOps repository.
    pub commit: GitId,
    /// Its environments.
    pub environments: Vec<String>,
    /// The commit of the source.
    pub source: String,
    /// The commit of the values. None: that of the source.
    pub values: Option<String>,
    /// The programs that rendered.
    pub tools: Vec<String>,
    /// Who made it: a name and an email address.
    pub by: String,
    /// When it was made, in seconds since 1970.
    pub seconds: i64,
}

/// The releases of a workload in the history of these heads, the one with the newest deployment first. A commit that is in several histories counts once.
///
/// # Errors
/// If a history can't be read.
pub fn releases(
    repositories: &dyn Repositories,
    heads: &[Commit],
    workload: &str,
) -> Result<Vec<ApplicationRelease>, RepositoryError> {
    let mut found: BTreeMap<GitId, (String, ReleaseDeployment)> = BTreeMap::new();
    for head in heads {
        let commits = repositories.ancestry(head, HISTORY_MAX)?;
        found.extend(commits.into_iter().filter_map(|(id, info)| Some((id, deployment(id, &info, workload)?))));
    }
    let mut releases: BTreeMap<String, Vec<ReleaseDeployment>> = BTreeMap::new();
    for (version, deployment) in found.into_values() {
        releases.entry(version).or_default().push(deployment);
    }
    let release = |(version, mut deployments): (String, Vec<ReleaseDeployment>)| {
        deployments.sort_by_key(|deployment| (-deployment.seconds, deployment.commit));
        ApplicationRelease { version, deployments }
    };
    let mut releases: Vec<_> = releases.into_iter().map(release).collect();
    let newest = |release: &ApplicationRelease| release.deployments.first().map(|newest| -newest.seconds);
    releases.sort_by(|left, right| newest(left).cmp(&newest(right)).then_with(|| right.version.cmp(&left.version)));
    Ok(releases)
}

/// The deployment of a commit, with its version. None: the commit is no deployment of the workload.
fn deployment(commit: GitId, info: &CommitInfo, workload: &str) -> Option<(String, ReleaseDeployment)> {
    let all = |key| trailer::trailers(&info.message, key).into_iter().map(str::to_owned).collect::<Vec<_>>();
    if !commit_is_of(&info.message, workload) {
        return None;
    }
    let deployment = ReleaseDeployment {
        commit,
        environments: all(ENVIRONMENT),
        source: all(SOURCE).pop()?,
        values: all(VALUES).pop(),
        tools: all(TOOL),
        by: info.author.to_string(),
        seconds: info.seconds,
    };
    Some((all(VERSION).pop()?, deployment))
}
