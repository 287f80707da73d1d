//! Looking at the rules and telling of them, again and again.

use std::sync::Arc;

use tokio::time::sleep;

use super::{Rule, deliver, look, send};
use crate::configured::Configured;
use crate::http::Metrics;
use crate::limits::{NOTIFICATIONS_PERIOD, RULES_PERIOD};
use crate::moment::Moment;
use crate::store::Database;

/// Goes on until it is aborted. Several replicas may do so at once. A receiver that is slow does not keep the rules waiting.
pub async fn run(database: Database, rules: Configured<Rule>, metrics: Arc<Metrics>) {
    tokio::join!(look_often(&database, &rules, &metrics), deliver_often(&database, &rules, &metrics));
}

async fn look_often(database: &Database, rules: &Configured<Rule>, metrics: &Metrics) {
    loop {
        match look(database, &rules.now(), Moment::now()).await {
            Ok(phases) => metrics.rules(phases),
            Err(error) => tracing::warn!(%error, "the rules can't be looked at now"),
        }
        sleep(RULES_PERIOD).await;
    }
}

async fn deliver_often(database: &Database, rules: &Configured<Rule>, metrics: &Metrics) {
    let client = match send::client() {
        Ok(client) => client,
        Err(error) => return tracing::error!(%error, "nobody can be told of anything: there is no TLS on this machine"),
    };
    loop {
        let rules = rules.now();
        if !rules.is_empty() {
            match deliver(database, &rules, &client, Moment::now()).await {
                Ok(deliveries) => metrics.notified(deliveries),
                Err(error) => tracing::warn!(%error, "notifications can't be sent now"),
            }
        }
        sleep(NOTIFICATIONS_PERIOD).await;
    }
}
