//! The progress of a rollout: the state of each reconciler, how many are in which state, and the order of environments.

use std::collections::BTreeMap;

/// Where a reconciler stands with what its place should hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "camelCase"))]
pub enum RolloutState {
    /// It holds it, and said that all is well.
    Succeeded,
    /// It tried, and could not.
    Failed,
    /// It is at it.
    InProgress,
    /// It promised to report, and did not; and what it said last was not that all is well, or that it failed.
    Silent,
    /// It holds something else.
    Outdated,
    /// It was registered, and has never said anything.
    NeverReported,
}

impl RolloutState {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Succeeded, Self::Failed, Self::InProgress, Self::Silent, Self::Outdated, Self::NeverReported];

    /// As it is written.
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

    /// The state that is written like that.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// How many reconcilers are in which state. A host counts once for each of its reconcilers. The states add up to `expected`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "schema", derive(serde::Serialize, serde::Deserialize, utoipa::ToSchema))]
#[cfg_attr(feature = "schema", serde(rename_all = "camelCase"))]
pub struct Counts {
    /// Reconcilers of registered hosts, not retired, at whose places it is desired.
    pub expected: i64,
    /// Of these: have it, and reported success.
    pub succeeded: i64,
    /// Tried to apply it, and failed.
    pub failed: i64,
    /// Are applying it.
    pub in_progress: i64,
    /// Have a report overdue, and the last report did not show it yet.
    pub silent: i64,
    /// Have other content.
    pub outdated: i64,
    /// Are registered, and have never reported.
    pub never_reported: i64,
    /// Of those that succeeded: have a report overdue.
    pub succeeded_but_silent: i64,
}

impl Counts {
    /// Adds that many.
    pub fn add(&mut self, state: RolloutState, is_silent: bool, reconcilers: i64) {
        self.expected += reconcilers;
        *self.part(state) += reconcilers;
        if is_silent && state == RolloutState::Succeeded {
            self.succeeded_but_silent += reconcilers;
        }
    }

    /// Adds all of others.
    pub fn merge(&mut self, others: &Self) {
        self.expected += others.expected;
        self.succeeded += others.succeeded;
        self.failed += others.failed;
        self.in_progress += others.in_progress;
        self.silent += others.silent;
        self.outdated += others.outdated;
        self.never_reported += others.never_reported;
        self.succeeded_but_silent += others.succeeded_but_silent;
    }

    /// How many stand there.
    pub fn of(&self, state: RolloutState) -> i64 {
        *self.clone().part(state)
    }

    fn part(&mut self, state: RolloutState) -> &mut i64 {
        match state {
            RolloutState::Succeeded => &mut self.succeeded,
            RolloutState::Failed => &mut self.failed,
            RolloutState::InProgress => &mut self.in_progress,
            RolloutState::Silent => &mut self.silent,
            RolloutState::Outdated => &mut self.outdated,
            RolloutState::NeverReported => &mut self.never_reported,
        }
    }
}
/// The order in which changes reach environments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct EnvironmentOrder(BTreeMap<String, i64>);

impl EnvironmentOrder {
    /// Environments in their order, each at its first place.
    pub fn new(names: &[String]) -> Self {
        let mut order = BTreeMap::new();
        for (position, name) in (0..).zip(names) {
            order.entry(name.clone()).or_insert(position);
        }
        Self(order)
    }

    /// The positions of environments, by name.
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
        for (reconcilers, state) in (1..).zip(RolloutState::ALL) {
            counts.add(state, true, reconcilers);
            assert_eq!(counts.of(state), reconcilers);
        }
        assert_eq!((counts.expected, counts.succeeded_but_silent), (21, 1));
        let one = counts;
        counts.merge(&one);
        assert_eq!((counts.expected, counts.failed, counts.succeeded_but_silent), (42, 4, 2));
    }

    #[test]
    fn environments_without_a_position_come_last() {
        let order = EnvironmentOrder::new(&["dev".to_owned(), "prod".to_owned(), "dev".to_owned()]);
        let mut names = ["canary", "prod", "dev", "a"];
        names.sort_by_key(|name| order.key(name));
        assert_eq!(names, ["dev", "prod", "a", "canary"]);
    }
}
