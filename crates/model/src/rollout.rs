//! The progress of a rollout: the state of each reconciler, the number of reconcilers in each state, and the order of environments.

use std::collections::BTreeMap;

/// The state of a reconciler in a rollout: it compares the content that is desired at its place with the content that it reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "camelCase"), schema(as = RolloutState))]
pub enum ReconcilerState {
    /// It reported the desired content, with success.
    Succeeded,
    /// It reported that it could not apply the desired content.
    Failed,
    /// It reported that it is applying the desired content.
    InProgress,
    /// Its report is overdue, and its last report was neither a success nor a failure with the desired content.
    Silent,
    /// It reported other content than the desired one.
    Outdated,
    /// It is registered, and has never reported.
    NeverReported,
}

impl ReconcilerState {
    /// All states, in the order in which tables show them.
    pub const ALL: [Self; 6] =
        [Self::Succeeded, Self::Failed, Self::InProgress, Self::Silent, Self::Outdated, Self::NeverReported];

    /// The name of the state in answers, filters, rules and metrics, in camel case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Succeeded => "succeeded",
            Self::Failed => "failed",
            Self::InProgress => "inProgress",
            Self::Silent => "silent",
            Self::Outdated => "outdated",
            Self::NeverReported => "neverReported",
        }
    }

    /// The state in words, for tables.
    pub fn words(self) -> &'static str {
        match self {
            Self::InProgress => "in progress",
            Self::NeverReported => "never reported",
            other => other.as_str(),
        }
    }

    /// The state with this name. None if there is no such state.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// What the hub knows about whether a reconciler still reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Liveness {
    /// Its next report is not overdue.
    Alive,
    /// Its next report is overdue.
    Silent,
    /// It announces no heartbeat, and none is required of it, so it never becomes silent.
    Unknown,
}

impl Liveness {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Alive, Self::Silent, Self::Unknown];
}

/// The number of reconcilers in each state. A host counts once for each of its reconcilers. The states add up to `expected`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "camelCase"))]
pub struct Counts {
    /// Reconcilers of registered hosts that are not retired, at places where the content is desired.
    pub expected: i64,
    /// Reconcilers that reported the content, with success.
    pub succeeded: i64,
    /// Reconcilers that reported that they could not apply the content.
    pub failed: i64,
    /// Reconcilers that reported that they are applying the content.
    pub in_progress: i64,
    /// Reconcilers whose report is overdue, and whose last report did not yet show the content.
    pub silent: i64,
    /// Reconcilers that reported other content.
    pub outdated: i64,
    /// Reconcilers that are registered, and have never reported.
    pub never_reported: i64,
    /// Reconcilers in `succeeded` whose next report is overdue.
    pub succeeded_but_silent: i64,
    /// Reconcilers in `succeeded` without a heartbeat: the hub can't detect when they stop. For a timestamp in the past: 0.
    #[cfg_attr(feature = "schema", serde(default))]
    pub succeeded_without_heartbeat: i64,
}

impl Counts {
    /// Adds a number of reconcilers in one state.
    pub fn add(&mut self, state: ReconcilerState, liveness: Liveness, reconcilers: i64) {
        self.expected += reconcilers;
        *self.part(state) += reconcilers;
        match (state, liveness) {
            (ReconcilerState::Succeeded, Liveness::Silent) => self.succeeded_but_silent += reconcilers,
            (ReconcilerState::Succeeded, Liveness::Unknown) => self.succeeded_without_heartbeat += reconcilers,
            _ => {}
        }
    }

    /// Adds all numbers of `others`.
    pub fn merge(&mut self, others: &Self) {
        self.expected += others.expected;
        self.succeeded += others.succeeded;
        self.failed += others.failed;
        self.in_progress += others.in_progress;
        self.silent += others.silent;
        self.outdated += others.outdated;
        self.never_reported += others.never_reported;
        self.succeeded_but_silent += others.succeeded_but_silent;
        self.succeeded_without_heartbeat += others.succeeded_without_heartbeat;
    }

    /// The number of reconcilers in a state.
    pub fn get(&self, state: ReconcilerState) -> i64 {
        *self.clone().part(state)
    }

    fn part(&mut self, state: ReconcilerState) -> &mut i64 {
        match state {
            ReconcilerState::Succeeded => &mut self.succeeded,
            ReconcilerState::Failed => &mut self.failed,
            ReconcilerState::InProgress => &mut self.in_progress,
            ReconcilerState::Silent => &mut self.silent,
            ReconcilerState::Outdated => &mut self.outdated,
            ReconcilerState::NeverReported => &mut self.never_reported,
        }
    }
}
/// The order in which changes reach environments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentOrder(BTreeMap<String, i64>);

impl EnvironmentOrder {
    /// An order with these environments. If a name is repeated, its first position counts.
    pub fn new(names: &[String]) -> Self {
        let mut order = BTreeMap::new();
        for (position, name) in (0..).zip(names) {
            order.entry(name.clone()).or_insert(position);
        }
        Self(order)
    }

    /// The position of each environment, by name.
    pub fn positions(&self) -> impl Iterator<Item = (&str, i64)> {
        self.0.iter().map(|(name, position)| (name.as_str(), *position))
    }

    /// The key to sort environments by. Those without a position come last, by name.
    pub fn key<'a>(&self, name: &'a str) -> (i64, &'a str) {
        (self.0.get(name).copied().unwrap_or(i64::MAX), name)
    }
}

impl FromIterator<(String, i64)> for EnvironmentOrder {
    fn from_iter<T: IntoIterator<Item = (String, i64)>>(positions: T) -> Self {
        Self(positions.into_iter().collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_the_sum_of_their_parts() {
        let mut counts = Counts::default();
        for (reconcilers, state) in (1..).zip(ReconcilerState::ALL) {
            for liveness in Liveness::ALL {
                counts.add(state, liveness, reconcilers);
            }
            assert_eq!(counts.get(state), 3 * reconcilers);
        }
        let of_succeeded = |counts: Counts| (counts.succeeded_but_silent, counts.succeeded_without_heartbeat);
        assert_eq!((counts.expected, of_succeeded(counts)), (63, (1, 1)));
        let one = counts;
        counts.merge(&one);
        assert_eq!((counts.expected, counts.failed, of_succeeded(counts)), (126, 12, (2, 2)));
    }

    #[test]
    fn environments_without_a_position_come_last() {
        let order = EnvironmentOrder::new(&["dev".to_owned(), "prod".to_owned(), "dev".to_owned()]);
        let mut names = ["canary", "prod", "dev", "a"];
        names.sort_by_key(|name| order.key(name));
        assert_eq!(names, ["dev", "prod", "a", "canary"]);
    }
}
