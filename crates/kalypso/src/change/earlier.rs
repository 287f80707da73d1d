//! Earlier states of an environment: its own branch at earlier commits, with all other branches as they are now.

use std::sync::Arc;

use delivery::loaded::Loaded;
use git::{Commit, CommitInfo};

use super::Now;
use crate::arguments::SourceOptions;
use crate::exit::Failure;
use crate::progress::Watch;
use crate::range::Of;

/// The earlier states of an environment.
pub(crate) struct EarlierStates(Now);

impl EarlierStates {
    /// Reads the environment as it is now.
    pub(crate) fn read(source: &SourceOptions, environment: &str, watch: &mut Watch) -> anyhow::Result<Self> {
        Now::read(source, environment, watch).map(Self)
    }

    /// The newest commits of the environment's branch along the first parents, newest first.
    pub(crate) fn commits(&self, count: usize) -> anyhow::Result<Vec<(Commit, CommitInfo)>> {
        let outside = |error: git::RepositoryError| Failure::outside(error.to_string());
        let repositories = &*self.0.access.repositories;
        let commits = repositories.history(&self.0.own, count).map_err(outside)?.into_iter();
        commits.map(|commit| Ok((commit.clone(), repositories.info(&commit).map_err(outside)?))).collect()
    }

    /// The environment with another commit of its own branch.
    pub(crate) fn at(&self, commit: &Commit) -> Arc<Loaded> {
        self.0.at(Of::Own, commit.id)
    }
}
