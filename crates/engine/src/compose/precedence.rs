//! Precedence: the order in which containers are merged, and why one value overrides another.

use std::sync::Arc;

use crate::settings::Precedence;

/// The position of a container in the merge order. Containers with equal positions follow one another by name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MergePosition {
    pub(crate) order: Order,
    specificity: Specificity,
}

/// What decides the position of a container, apart from its conditions and its name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Order {
    /// A `ConfigMap` of the platform, by its priority.
    Platform(i64),
    /// A key of an `azure-app-config` map, by its length: longer keys have more conditions.
    Azure(usize, Arc<str>),
}

/// How special the conditions of a container are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Specificity {
    /// 2 for a cluster, 1 for a cluster type, 0 for all others: a cluster has all labels of its cluster type.
    place: u8,
    /// The number of labels.
    labels: usize,
}

impl MergePosition {
    /// The position of a container with these conditions: labels with their values.
    pub(crate) fn new<'c>(order: Order, conditions: impl Iterator<Item = &'c (Arc<str>, Arc<str>)>) -> Self {
        let mut specificity = Specificity::default();
        for (key, _) in conditions {
            let place = match &**key {
                "cluster" => 2,
                "cluster-type" => 1,
                _ => 0,
            };
            specificity = Specificity { place: specificity.place.max(place), labels: specificity.labels + 1 };
        }
        Self { order, specificity }
    }
}

impl Precedence {
    /// Sorts positions. Later containers take precedence.
    pub(crate) fn order_key(self, position: &MergePosition) -> impl Ord + '_ {
        let is_azure = matches!(position.order, Order::Azure(..));
        let specificity = match self {
            Self::Specificity if !is_azure => position.specificity,
            Self::Name | Self::Specificity => Specificity::default(),
        };
        (is_azure, specificity, &position.order)
    }

    /// Whether neither of two containers takes precedence over the other because it is more special.
    pub(crate) fn are_equally_special(self, one: &MergePosition, other: &MergePosition) -> bool {
        self == Self::Name || one.specificity == other.specificity
    }

    /// Why the container at `other` overrides the one at `own`. Both set one key for the same assignment.
    pub(crate) fn reason(self, own: &MergePosition, other: &MergePosition) -> OverrideReason {
        let (Order::Platform(own_priority), Order::Platform(priority)) = (&own.order, &other.order) else {
            return OverrideReason::AzureAppConfig;
        };
        match self {
            Self::Specificity if other.specificity > own.specificity => OverrideReason::MoreSpecial,
            _ if priority > own_priority => OverrideReason::Priority { own: *own_priority, other: *priority },
            Self::Name if own.specificity > other.specificity => {
                OverrideReason::Name { is_less_special: true, priority: *priority }
            }
            _ => OverrideReason::Name { is_less_special: false, priority: *priority },
        }
    }
}

/// Why a value overrides another one in the same assignments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OverrideReason {
    /// Keys of `azure-app-config` maps come after all other maps.
    AzureAppConfig,
    /// Specificity decides, and the labels of the other map are more special.
    MoreSpecial,
    /// The priority of the other map is higher.
    Priority {
        /// The priority of the overridden map.
        own: i64,
        /// The priority of the other map.
        other: i64,
    },
    /// The name of the other map comes last.
    Name {
        /// Whether its labels are less special, so that it is overridden where specificity decides.
        is_less_special: bool,
        /// The priority of both maps.
        priority: i64,
    },
}

impl OverrideReason {
    /// The lowest priority of the overridden map with which it comes after the other one. None if no priority is enough.
    pub(crate) fn priority_above(self) -> Option<i64> {
        match self {
            Self::AzureAppConfig | Self::MoreSpecial => None,
            Self::Priority { other: priority, .. } | Self::Name { priority, .. } => priority.checked_add(1),
        }
    }
}
