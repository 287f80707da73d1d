//! The files of stored states.

use std::collections::BTreeMap;
use std::mem;

use git::publications::SourceBranch;
use model::git_id::GitId;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{Advances, StoredRollout};
use crate::states::state_file::{self, StateFileError};

/// The kind of a file with a rollout. It is not a kind of objects of a fleet.
const ROLLOUT_KIND: &str = "Rollout";
/// The kind of the file with the changes on their way into the environment. It is not a kind of objects of a fleet.
const PROMOTION_KIND: &str = "PromotionState";

/// The file of a workload's rollout.
pub(super) fn rollout_text((environment, workload): (&str, &str), stored: &StoredRollout) -> String {
    state_file::write(&[("kind", ROLLOUT_KIND), ("environment", environment), ("workload", workload)], stored)
}

/// Reads the file of a workload's rollout.
pub(super) fn parse_rollout(
    file: (&str, &str),
    (environment, workload): (&str, &str),
) -> Result<StoredRollout, StateFileError> {
    state_file::read(file, &[("kind", ROLLOUT_KIND), ("environment", environment), ("workload", workload)])
}

/// The file of the changes on their way into the environment.
pub(super) fn advances_text(environment: &str, advances: &Advances) -> String {
    state_file::write(&[("kind", PROMOTION_KIND), ("environment", environment)], advances)
}

/// Reads the file of the changes on their way into the environment.
pub(super) fn parse_advances(file: (&str, &str), environment: &str) -> Result<Advances, StateFileError> {
    let mut advances: Advances = state_file::read(file, &[("kind", PROMOTION_KIND), ("environment", environment)])?;
    let sources = advances.sources.values_mut().map(|source| &mut source.state);
    for state in advances.platform.iter_mut().chain(advances.releases.values_mut()).chain(sources) {
        *state = mem::take(state).with_admitted();
    }
    Ok(advances)
}

/// A source: its repository and branch.
pub(super) mod source_name {
    use super::{Deserialize, Deserializer, Serialize, Serializer, SourceBranch};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Source {
        repo: String,
        branch: String,
    }

    pub(crate) fn serialize<S: Serializer>((repo, branch): &SourceBranch, serializer: S) -> Result<S::Ok, S::Error> {
        Source { repo: repo.clone(), branch: branch.clone() }.serialize(serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<SourceBranch, D::Error> {
        Source::deserialize(deserializer).map(|Source { repo, branch }| (repo, branch))
    }
}

/// The commits of sources, as a list.
pub(super) mod source_commits {
    use super::{BTreeMap, Deserialize, Deserializer, GitId, Serialize, Serializer, SourceBranch};

    #[derive(Serialize, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct SourceCommit {
        repo: String,
        revision: String,
        commit: GitId,
    }

    pub(crate) fn serialize<S: Serializer>(
        commits: &BTreeMap<SourceBranch, GitId>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let commits = commits.iter().map(|((repo, revision), commit)| SourceCommit {
            repo: repo.clone(),
            revision: revision.clone(),
            commit: *commit,
        });
        serializer.collect_seq(commits)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<BTreeMap<SourceBranch, GitId>, D::Error> {
        let commits = Vec::<SourceCommit>::deserialize(deserializer)?;
        Ok(commits.into_iter().map(|SourceCommit { repo, revision, commit }| ((repo, revision), commit)).collect())
    }
}
