//! Periodically evaluates the rules and sends their notifications.

use hub_api::timestamp::Timestamp;
use tokio::time::sleep;

use super::{Rule, RuleMetrics, deliver, evaluate, send};
use crate::configured::Configured;
use crate::limits::{NOTIFICATIONS_PERIOD, RULES_PERIOD};
use crate::store::Database;

/// Evaluates the rules and sends notifications until it is aborted. Several replicas may do so at the same time. A slow receiver does not delay the rules.
pub async fn run(database: Database, rules: Configured<Rule>, metrics: RuleMetrics) {
    tokio::join!(evaluate_often(&database, &rules, &metrics), deliver_often(&database, &rules, &metrics));
}

async fn evaluate_often(database: &Database, rules: &Configured<Rule>, metrics: &RuleMetrics) {
    loop {
        match evaluate(database, &rules.now(), Timestamp::now()).await {
            Ok(phases) => metrics.set_rules(phases),
            Err(error) => tracing::warn!(%error, "the rules can't be evaluated now"),
        }
        sleep(RULES_PERIOD).await;
    }
}

async fn deliver_often(database: &Database, rules: &Configured<Rule>, metrics: &RuleMetrics) {
    let client = match send::client() {
        Ok(client) => client,
        Err(error) => return tracing::error!(%error, "no notification can be sent: there is no TLS on this machine"),
    };
    loop {
        let rules = rules.now();
        if !rules.is_empty() {
            match deliver(database, &rules, &client, Timestamp::now()).await {
                Ok(deliveries) => metrics.add_notifications(deliveries),
                Err(error) => tracing::warn!(%error, "notifications can't be sent now"),
            }
        }
        sleep(NOTIFICATIONS_PERIOD).await;
    }
}
