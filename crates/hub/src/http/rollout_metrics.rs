//! The state of environments and their rollouts, for Prometheus: a limited number of series, computed at most every few seconds.

use std::collections::BTreeMap;
use std::time::Instant;

use hub_api::filter::Filter;
use hub_api::limits::PAGE_MAX;
use hub_api::page::Page;
use hub_api::timestamp::Timestamp;
use model::rollout::{Counts, ReconcilerState};
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::{Registry, Unit};
use tokio::sync::Mutex;

use crate::limits::{METRICS_AGE, METRICS_ENVIRONMENTS_MAX};
use crate::questions::{self, QuestionError};
use crate::store::Database;

/// The label value for all environments beyond the limit.
const OTHERS: &str = "(others)";

/// The metrics of environments. The ages are in seconds.
#[derive(Debug, Default)]
pub(super) struct RolloutMetrics {
    reconcilers: Family<ReconcilerLabels, Gauge>,
    rollouts: Family<StateLabels, Gauge>,
    oldest: Family<EnvironmentLabels, Gauge>,
    read: Mutex<Option<Instant>>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct ReconcilerLabels {
    environment: String,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct StateLabels {
    environment: String,
    state: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct EnvironmentLabels {
    environment: String,
}

/// The state of an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct State {
    counts: Counts,
    in_progress: i64,
    failed: i64,
    oldest_seconds: i64,
}

impl RolloutMetrics {
    pub(super) fn register(&self, registry: &mut Registry) {
        let help = "Reconcilers with a desired state, by environment and rollout state";
        registry.register("environment_reconcilers", help, self.reconcilers.clone());
        let help = "Desired commits that some places do not have yet, by environment and whether a reconciler failed";
        registry.register("environment_rollouts", help, self.rollouts.clone());
        let help = "Age of the oldest desired commit that some places do not have yet, by environment; 0 if all places have theirs";
        registry.register_with_unit("environment_oldest_rollout", help, Unit::Seconds, self.oldest.clone());
    }

    /// Computes the metrics, unless they are younger than [`METRICS_AGE`]. If they can't be read, there are no series: this is better than
    /// outdated series.
    pub(super) async fn refresh(&self, database: &Database) {
        let mut read = self.read.lock().await;
        if read.is_some_and(|read| read.elapsed() < METRICS_AGE) {
            return;
        }
        let states = states(database, Timestamp::now()).await;
        self.reconcilers.clear();
        self.rollouts.clear();
        self.oldest.clear();
        match states {
            Ok(states) => bounded(states).into_iter().for_each(|(environment, state)| self.set(environment, &state)),
            Err(error) => tracing::warn!(%error, "metrics of environments can't be read now"),
        }
        *read = Some(Instant::now());
    }

    fn set(&self, environment: String, state: &State) {
        for one in ReconcilerState::ALL {
            let labels = ReconcilerLabels { environment: environment.clone(), state: one.as_str() };
            self.reconcilers.get_or_create(&labels).set(state.counts.get(one));
        }
        for (word, count) in [("inProgress", state.in_progress), ("failed", state.failed)] {
            let labels = StateLabels { environment: environment.clone(), state: word };
            self.rollouts.get_or_create(&labels).set(count);
        }
        self.oldest.get_or_create(&EnvironmentLabels { environment }).set(state.oldest_seconds);
    }
}

/// The states of environments, in the order of the environments.
async fn states(database: &Database, now: Timestamp) -> Result<Vec<(String, State)>, QuestionError> {
    let environments = questions::environments(database, &Filter::default(), None).await?;
    // The content that has been desired for the longest time comes first.
    let page = Page { cursor: None, limit: Some(PAGE_MAX) };
    let drift = questions::drift(database, &Filter::default(), &page, None).await?;
    let mut by_name: BTreeMap<String, State> = BTreeMap::new();
    for item in drift.items {
        let state = by_name.entry(item.environment).or_default();
        *(if item.counts.failed > 0 { &mut state.failed } else { &mut state.in_progress }) += 1;
        let age = i64::try_from(now.since(item.desired_since).as_secs()).unwrap_or(i64::MAX);
        state.oldest_seconds = state.oldest_seconds.max(age);
    }
    let state = |environment: hub_api::environments::Environment| {
        let state = by_name.remove(&environment.name).unwrap_or_default();
        (environment.name, State { counts: environment.counts, ..state })
    };
    Ok(environments.items.into_iter().map(state).collect())
}

/// The first environments up to the limit, and one state for all others together.
fn bounded(mut states: Vec<(String, State)>) -> Vec<(String, State)> {
    if states.len() <= METRICS_ENVIRONMENTS_MAX {
        return states;
    }
    let mut others = State::default();
    for (_, state) in states.split_off(METRICS_ENVIRONMENTS_MAX) {
        others.counts.merge(&state.counts);
        others.in_progress += state.in_progress;
        others.failed += state.failed;
        others.oldest_seconds = others.oldest_seconds.max(state.oldest_seconds);
    }
    states.push((OTHERS.to_owned(), others));
    states
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environments_beyond_the_limit_are_summed() {
        let state = |seconds| State { failed: 1, oldest_seconds: seconds, ..State::default() };
        let states =
            |count: i64| (0..count).map(|number| (format!("e-{number:04}"), state(number))).collect::<Vec<_>>();
        let max = METRICS_ENVIRONMENTS_MAX as i64;
        assert_eq!(bounded(states(max)).len(), METRICS_ENVIRONMENTS_MAX);
        let many = bounded(states(max + 5));
        assert_eq!(many.len(), METRICS_ENVIRONMENTS_MAX + 1);
        let (name, others) = many.last().unwrap();
        assert_eq!((name.as_str(), others.failed, others.oldest_seconds), (OTHERS, 5, max + 4));
    }
}
