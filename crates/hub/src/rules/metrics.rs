//! Metrics of the rules: the number of rules in each phase, and of notifications by result.

use hub_api::rules::Phase;
use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::registry::Registry;

use super::Deliveries;

/// The metrics. Clones share the counters.
#[derive(Clone, Debug, Default)]
pub struct RuleMetrics {
    rules: Family<RuleLabels, Gauge>,
    notifications: Family<NotificationLabels, Counter>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct RuleLabels {
    phase: &'static str,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash, EncodeLabelSet)]
struct NotificationLabels {
    outcome: &'static str,
}

impl RuleMetrics {
    /// Adds the metrics to those that Prometheus reads.
    pub(crate) fn register(&self, registry: &mut Registry) {
        registry.register("rules", "Rules by state", self.rules.clone());
        let help = "Notifications by the result of sending";
        registry.register("notifications", help, self.notifications.clone());
    }

    /// Sets how many rules are `ok`, `pending` and `firing`.
    pub(super) fn set_rules(&self, counts: [usize; 3]) {
        for (phase, count) in [Phase::Ok, Phase::Pending, Phase::Firing].into_iter().zip(counts) {
            self.rules.get_or_create(&RuleLabels { phase: phase.as_str() }).set(count as i64);
        }
    }

    /// Counts notifications that were sent.
    pub(super) fn add_notifications(&self, Deliveries { delivered, failed, given_up }: Deliveries) {
        for (outcome, count) in [("delivered", delivered), ("failed", failed), ("given_up", given_up)] {
            self.notifications.get_or_create(&NotificationLabels { outcome }).inc_by(count as u64);
        }
    }
}
