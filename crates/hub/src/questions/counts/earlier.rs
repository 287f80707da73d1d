//! The states of reconcilers at an earlier timestamp: of few reconcilers one by one, otherwise as the hub recorded them.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::counts::CountDimension;
use hub_api::timestamp::Timestamp;
use model::rollout::Liveness;

use super::super::earlier::{self, StatesThen};
use super::super::facts::Fact;
use super::super::scope::Scope;
use super::super::{Question, QuestionError};
use super::dimensions::Dimensions;
use super::present;
use super::unit::{Content, Found, Unit, Value};
use crate::store::{Database, DatabaseError, HostId, Transaction};

/// The selected reconcilers at a timestamp.
pub(super) async fn units(
    database: &Database,
    (question, dimensions): (Question<'_>, Dimensions<'_>),
    at: Timestamp,
) -> Result<Found, QuestionError> {
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::read(&mut transaction, question).await?;
    dimensions.check_hosts(&mut transaction, question).await?;
    let facts = match earlier::states(&mut transaction, &scope, at).await? {
        StatesThen::Exact(facts) => facts,
        StatesThen::Recorded(record) if !dimensions.are_of_hosts() => {
            return present::recorded(transaction, (scope, dimensions), record).await;
        }
        StatesThen::Recorded(_) => return Err(earlier::too_many()),
        StatesThen::Unknown(error) => return Err(error),
    };
    let mut labels = Vec::new();
    for key in dimensions.host_labels() {
        let hosts = facts.iter().map(|fact| fact.host_id).collect();
        labels.push((key, labels_of(&mut transaction, key, hosts).await?));
    }
    let of_host = |dimension: Option<&CountDimension>, fact: &Fact| match dimension {
        Some(CountDimension::Host) => Some(fact.host.as_str().into()),
        Some(CountDimension::HostLabel(key)) => {
            let of_key = labels.iter().find(|(known, _)| known == key);
            of_key.and_then(|(_, values)| values.get(&fact.host_id)).cloned().flatten()
        }
        _ => None,
    };
    let units = facts.iter().filter_map(|fact| {
        let hosts = dimensions.both().map(|dimension| of_host(dimension, fact));
        unit(fact).map(|unit| Unit { hosts, ..unit })
    });
    let units = units.collect();
    Ok(Found { transaction, scope, units, recorded_on: None })
}

/// A reconciler at whose place content was desired.
fn unit(fact: &Fact) -> Option<Unit> {
    let place = fact.place.as_ref()?;
    let text = |text: &Option<String>| text.as_deref().map(Into::into);
    let held = fact.held.as_ref();
    let content = held.map(|held| Content { config_version: text(&held.config_version), release: text(&held.release) });
    Some(Unit {
        group_id: place.group_id,
        environment: text(&place.environment),
        cluster_type: text(&place.cluster_type),
        state: fact.state()?,
        liveness: if fact.is_silent { Liveness::Silent } else { Liveness::Alive },
        held: None,
        commit: fact.commit.clone().filter(|_| held.is_some()),
        content: content.unwrap_or_default(),
        hosts: [None, None],
        reconcilers: 1,
    })
}

/// The values of a label of hosts.
async fn labels_of(
    transaction: &mut Transaction,
    key: &str,
    hosts: BTreeSet<HostId>,
) -> Result<BTreeMap<HostId, Value>, DatabaseError> {
    let of_hosts = transaction.dialect().any_int("host_id", "$2");
    let sql = format!("select host_id, value from host_label where key = $1 and {of_hosts}");
    let found: Vec<(HostId, String)> = transaction.query(&sql, vec![key.into(), hosts.into()]).await?;
    Ok(found.into_iter().map(|(host, value)| (host, Some(value.into()))).collect())
}
