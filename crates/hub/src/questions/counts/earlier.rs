//! The states of reconcilers at an earlier timestamp, one by one. When a reconciler was silent is not known for earlier times.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::counts::CountDimension;
use hub_api::timestamp::Timestamp;
use model::rollout::Liveness;

use super::super::facts::{self, Fact};
use super::super::scope::Scope;
use super::super::walk::Walk;
use super::super::{Question, QuestionError};
use super::dimensions::Dimensions;
use super::unit::{Content, Found, Unit, Value};
use crate::limits::COUNTED_THEN_MAX;
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
    // The states of the filter are those at the timestamp.
    let mut in_any_state = scope.clone();
    in_any_state.states = None;
    let walk = Walk::of_scope(&mut transaction, in_any_state, &[]).await?.with_past();
    let found = walk.page(&mut transaction, None, COUNTED_THEN_MAX + 1).await?;
    if found.next.is_some() {
        let message = format!(
            "for an earlier time, at most {COUNTED_THEN_MAX} reconcilers are counted; select fewer, for example by `workload` or `selector`"
        );
        return Err(QuestionError::Wrong { parameter: "at", message });
    }
    // A reconciler is on the lane of each place where it was: it counts once.
    let reconcilers: Vec<_> = found.reconcilers.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let facts = facts::facts(&mut transaction, &reconcilers, Some(at)).await?;
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
    let is_selected = |unit: &Unit| scope.groups.as_ref().is_none_or(|groups| groups.contains(&unit.group_id));
    let units = units.filter(is_selected).collect();
    Ok(Found { transaction, scope, units })
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
