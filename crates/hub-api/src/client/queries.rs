//! The queries of the API, one method for each.

use super::{Client, ClientError, Transport, parameters};
use crate::compare::{Compared, Comparison};
use crate::counts::{CountQuery, CountTable};
use crate::deployments::Deployments;
use crate::drift::{Drift, DriftKind};
use crate::environments::{EnvironmentTargets, Environments};
use crate::filter::Filter;
use crate::history::{History, HistorySelection};
use crate::page::Page;
use crate::places::{PlacePage, PlaceStates};
use crate::rollouts::{Rollout, RolloutCurve, Rollouts};
use crate::rules::RuleState;
use crate::search::{SearchAnswer, SearchQuery};
use crate::timestamp::Timestamp;
use crate::watches::WatchState;

impl<T: Transport> Client<T> {
    /// The versions of workloads on hosts, now or at an earlier time.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn deployments(
        &self,
        filter: &Filter,
        page: &Page,
        at: Option<Timestamp>,
    ) -> Result<Deployments, ClientError> {
        self.get(&["deployments"], &[parameters(filter), parameters(page), time(at)].concat()).await
    }

    /// The state of environments, now or at an earlier time.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn environments(&self, filter: &Filter, at: Option<Timestamp>) -> Result<Environments, ClientError> {
        self.get(&["environments"], &[parameters(filter), time(at)].concat()).await
    }

    /// The number of reconcilers in each rollout state, by the values of one or two dimensions.
    ///
    /// # Errors
    /// If the hub can't be reached, is busy, or refuses the query.
    pub async fn counts(&self, filter: &Filter, query: &CountQuery) -> Result<CountTable, ClientError> {
        self.get(&["counts"], &[parameters(filter), parameters(query)].concat()).await
    }

    /// The deployment targets of environments, now or at an earlier time.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn targets(
        &self,
        filter: &Filter,
        page: &Page,
        at: Option<Timestamp>,
    ) -> Result<EnvironmentTargets, ClientError> {
        self.get(&["targets"], &[parameters(filter), parameters(page), time(at)].concat()).await
    }

    /// The state of places of platform branches: with a filter on workloads, of the folders of assignments.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn place_states(&self, filter: &Filter, page: &PlacePage) -> Result<PlaceStates, ClientError> {
        self.get(&["places", "states"], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The rollouts, newest first: with their progress now or at an earlier time.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn rollouts(&self, filter: &Filter, page: &Page, at: Option<Timestamp>) -> Result<Rollouts, ClientError> {
        self.get(&["rollouts"], &[parameters(filter), parameters(page), time(at)].concat()).await
    }

    /// The progress of the rollout of a workload, a version or a commit: now or at an earlier time.
    ///
    /// # Errors
    /// If the hub can't be reached, has no such rollout, or refuses the query.
    pub async fn rollout(&self, of: &str, filter: &Filter, at: Option<Timestamp>) -> Result<Rollout, ClientError> {
        self.get(&["rollouts", of], &[parameters(filter), time(at)].concat()).await
    }

    /// The progress of a rollout since it became desired.
    ///
    /// # Errors
    /// If the hub can't be reached, has no such rollout, or refuses the query.
    pub async fn rollout_curve(&self, of: &str, filter: &Filter) -> Result<RolloutCurve, ClientError> {
        self.get(&["rollouts", of, "curve"], &parameters(filter)).await
    }

    /// The hosts of a rollout.
    ///
    /// # Errors
    /// If the hub can't be reached, has no such rollout, or refuses the query.
    pub async fn rollout_hosts(&self, of: &str, filter: &Filter, page: &Page) -> Result<Deployments, ClientError> {
        self.get(&["rollouts", of, "hosts"], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The differences between two environments.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn compare(&self, compared: &Compared, filter: &Filter, page: &Page) -> Result<Comparison, ClientError> {
        self.get(&["compare"], &[parameters(compared), parameters(filter), parameters(page)].concat()).await
    }

    /// Commits and reports, newest first.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn history(
        &self,
        filter: &Filter,
        selection: &HistorySelection,
        page: &Page,
    ) -> Result<History, ClientError> {
        self.get(&["history"], &[parameters(filter), parameters(selection), parameters(page)].concat()).await
    }

    /// The differences between the reported and the desired state, now or at an earlier time.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn drift(&self, filter: &Filter, page: &Page, at: Option<Timestamp>) -> Result<Drift, ClientError> {
        self.get(&["drift"], &[parameters(filter), parameters(page), time(at)].concat()).await
    }

    /// The reconcilers with a kind of drift.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn drift_hosts(&self, kind: DriftKind, filter: &Filter, page: &Page) -> Result<Deployments, ClientError> {
        self.get(&["drift", kind.as_str()], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The objects whose names match words.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn search(&self, query: &SearchQuery) -> Result<SearchAnswer, ClientError> {
        self.get(&["search"], &parameters(query)).await
    }

    /// The rules of the hub's configuration, and their state.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn rules(&self) -> Result<Vec<RuleState>, ClientError> {
        self.get(&["rules"], &[]).await
    }

    /// The watched branches, and their state.
    ///
    /// # Errors
    /// If the hub can't be reached, or refuses the query.
    pub async fn watches(&self) -> Result<Vec<WatchState>, ClientError> {
        self.get(&["watches"], &[]).await
    }
}

/// The parameter of queries about an earlier time.
fn time(at: Option<Timestamp>) -> Vec<(String, String)> {
    at.map(|at| ("at".to_owned(), at.to_string())).into_iter().collect()
}
