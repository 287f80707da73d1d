//! The questions of the API: one method for each, with what it asks for and what it answers.

use super::{Client, ClientError, parameters};
use crate::audit::{AuditEntries, AuditFilter};
use crate::compare::{Compared, Comparison};
use crate::deployments::Deployments;
use crate::drift::{Drift, DriftKind};
use crate::environments::{EnvironmentTargets, Environments};
use crate::filter::Filter;
use crate::history::History;
use crate::page::Page;
use crate::rollouts::{Rollout, Rollouts};
use crate::rules::RuleState;
use crate::timestamp::Timestamp;
use crate::watches::WatchState;

impl Client {
    /// The versions of workloads on hosts, now or at an earlier time.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn deployments(
        &self,
        filter: &Filter,
        page: &Page,
        at: Option<Timestamp>,
    ) -> Result<Deployments, ClientError> {
        self.ask(&["deployments"], &[parameters(filter), parameters(page), time(at)].concat()).await
    }

    /// The state of environments.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn environments(&self, filter: &Filter) -> Result<Environments, ClientError> {
        self.ask(&["environments"], &parameters(filter)).await
    }

    /// The deployment targets of environments, now or at an earlier time.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn targets(
        &self,
        filter: &Filter,
        page: &Page,
        at: Option<Timestamp>,
    ) -> Result<EnvironmentTargets, ClientError> {
        self.ask(&["targets"], &[parameters(filter), parameters(page), time(at)].concat()).await
    }

    /// The rollouts, the newest first.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn rollouts(&self, filter: &Filter, page: &Page) -> Result<Rollouts, ClientError> {
        self.ask(&["rollouts"], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The progress of the rollout of a workload, a version or a commit.
    ///
    /// # Errors
    /// The hub can't be reached, does not know such a rollout, or refuses the question.
    pub async fn rollout(&self, of: &str, filter: &Filter) -> Result<Rollout, ClientError> {
        self.ask(&["rollouts", of], &parameters(filter)).await
    }

    /// The hosts of a rollout.
    ///
    /// # Errors
    /// The hub can't be reached, does not know such a rollout, or refuses the question.
    pub async fn rollout_hosts(&self, of: &str, filter: &Filter, page: &Page) -> Result<Deployments, ClientError> {
        self.ask(&["rollouts", of, "hosts"], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The differences of two environments.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn compare(&self, compared: &Compared, filter: &Filter, page: &Page) -> Result<Comparison, ClientError> {
        self.ask(&["compare"], &[parameters(compared), parameters(filter), parameters(page)].concat()).await
    }

    /// Commits and reports, the newest first.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn history(&self, filter: &Filter, page: &Page) -> Result<History, ClientError> {
        self.ask(&["history"], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The differences of what is reported and what is desired.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn drift(&self, filter: &Filter, page: &Page) -> Result<Drift, ClientError> {
        self.ask(&["drift"], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The reconcilers with a kind of drift.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn drift_hosts(&self, kind: DriftKind, filter: &Filter, page: &Page) -> Result<Deployments, ClientError> {
        self.ask(&["drift", kind.as_str()], &[parameters(filter), parameters(page)].concat()).await
    }

    /// The rules of the hub's configuration, and their state.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn rules(&self) -> Result<Vec<RuleState>, ClientError> {
        self.ask(&["rules"], &[]).await
    }

    /// The watched branches, and their state.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn watches(&self) -> Result<Vec<WatchState>, ClientError> {
        self.ask(&["watches"], &[]).await
    }

    /// The audit log, the newest first.
    ///
    /// # Errors
    /// The hub can't be reached, or refuses the question.
    pub async fn audit(&self, filter: &AuditFilter) -> Result<AuditEntries, ClientError> {
        self.ask(&["audit"], &parameters(filter)).await
    }
}

/// The parameter of questions about an earlier time.
fn time(at: Option<Timestamp>) -> Vec<(String, String)> {
    at.map(|at| ("at".to_owned(), at.to_string())).into_iter().collect()
}
