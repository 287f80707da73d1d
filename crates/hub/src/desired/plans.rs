//! Planned content: data from publishers about content whose commit is not known yet.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::time::Duration;

use hub_api::endpoint::Endpoint;
use hub_api::publication::DesiredPlace;
use hub_api::timestamp::Timestamp;

use crate::store::{ColumnType, DatabaseError, Rows, SqlValue, Transaction};

/// How long planned content is kept: longer than a review of a change takes.
const KEPT: Duration = Duration::from_hours(24 * 90);

/// Stores planned content, and deletes planned content that is too old.
pub(super) async fn note(
    transaction: &mut Transaction,
    places: &[(&DesiredPlace, &Endpoint)],
) -> Result<(), DatabaseError> {
    let now = Timestamp::now();
    let mut rows = Rows::new(&[
        ("endpoint", ColumnType::Text),
        ("tree", ColumnType::Text),
        ("place", ColumnType::Text),
        ("noted_on", ColumnType::Timestamp),
    ]);
    let contents: BTreeMap<_, _> = places
        .iter()
        .filter_map(|(place, endpoint)| Some(((endpoint.to_string(), place.tree.as_deref()?), *place)))
        .collect();
    for ((endpoint, tree), place) in contents {
        let place = serde_json::json!(place).to_string();
        rows.push(vec![SqlValue::from(endpoint), tree.into(), place.into(), now.into()]);
    }
    let statement = "insert into planned_content (endpoint, tree, place, noted_on) \
        select endpoint, tree, place, noted_on from source where true on conflict (endpoint, tree) do update set \
        place = excluded.place, noted_on = excluded.noted_on";
    transaction.execute_with(rows, statement).await?;
    let sql = format!("delete from planned_content where noted_on < {}", transaction.dialect().instant("$1"));
    transaction.execute(&sql, vec![now.before(KEPT).into()]).await
}

/// Completes places with the planned content of the same folder.
pub(super) async fn known<'a>(
    transaction: &mut Transaction,
    places: &[(&'a DesiredPlace, &Endpoint)],
) -> Result<Vec<Cow<'a, DesiredPlace>>, DatabaseError> {
    let mut rows =
        Rows::new(&[("number", ColumnType::Int), ("endpoint", ColumnType::Text), ("tree", ColumnType::Text)]);
    for (number, (place, endpoint)) in places.iter().enumerate() {
        if let Some(tree) = &place.tree {
            rows.push(vec![SqlValue::from(number as i64), endpoint.to_string().into(), tree.as_str().into()]);
        }
    }
    let statement =
        "select s.number, c.place from source s join planned_content c on c.endpoint = s.endpoint and c.tree = s.tree";
    let mut found: Vec<Cow<'a, DesiredPlace>> = places.iter().map(|(place, _)| Cow::Borrowed(*place)).collect();
    for (number, said) in transaction.with::<(usize, String)>(rows, statement).await? {
        let said = serde_json::from_str::<DesiredPlace>(&said).ok();
        let Some((place, said)) = found.get_mut(number).zip(said) else { continue };
        complete(place.to_mut(), said);
    }
    Ok(found)
}

/// Overrides the fields of a place with those of the plan: the publisher that generated a folder has more data than a reader of the branch.
fn complete(place: &mut DesiredPlace, said: DesiredPlace) {
    if place.role != said.role {
        return;
    }
    place.environment = said.environment.or(place.environment.take());
    place.cluster_type = said.cluster_type.or(place.cluster_type.take());
    place.cluster = said.cluster.or(place.cluster.take());
    place.config_version = said.config_version.or(place.config_version.take());
    if place.earlier_names.is_empty() {
        place.earlier_names = said.earlier_names;
    }
    if place.targets.is_empty() {
        place.targets = said.targets;
    }
}
