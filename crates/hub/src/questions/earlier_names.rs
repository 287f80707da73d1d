//! The earlier names of renamed workloads, targets and places: publishers send them.

use std::collections::BTreeSet;

use hub_api::limits::EARLIER_NAMES_MAX;
use model::earlier_names::{RENAMED_FROM, RENAMED_TARGETS};

use super::question::EarlierNames;
use super::scope::labels_of;
use super::{Question, conditions};
use crate::store::{DatabaseError, EnvironmentId, Parameters, Transaction};

/// The earlier names of what a question names, within its reach.
pub(super) async fn read(transaction: &mut Transaction, question: Question<'_>) -> Result<EarlierNames, DatabaseError> {
    let filter = question.filter;
    let cluster_types = match &filter.cluster_type {
        Some(name) => of_places(transaction, question, (&CLUSTER_TYPES, name)).await?,
        None => Vec::new(),
    };
    let hosts = match &filter.host {
        Some(name) => of_places(transaction, question, (&CLUSTERS, name)).await?,
        None => Vec::new(),
    };
    Ok(EarlierNames { cluster_types, hosts, ..of_workloads(transaction, question).await? })
}

/// The earlier names of the filter's workload and target, which are labels of targets.
async fn of_workloads(transaction: &mut Transaction, question: Question<'_>) -> Result<EarlierNames, DatabaseError> {
    let filter = question.filter;
    if filter.workload.is_none() && filter.target.is_none() {
        return Ok(EarlierNames::default());
    }
    let mut parameters = Parameters::new(transaction.dialect());
    let mut conditions = conditions::of_workloads(question, &mut parameters);
    conditions.extend(filter.target.as_deref().map(|name| parameters.equals("t.name", name)));
    let sql = format!(
        "select distinct t.labels from deployment_target t join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id where {}",
        conditions::all(conditions)
    );
    let labels: Vec<Option<String>> = transaction.query(&sql, parameters.into_values()).await?;
    let names = |key: &str| {
        let values = labels.iter().filter_map(|text| labels_of(text.as_deref()).get(key).cloned());
        let names = values.flat_map(|value| split(&value)).collect::<BTreeSet<_>>();
        names.into_iter().take(EARLIER_NAMES_MAX).collect::<Vec<_>>()
    };
    // The target of another workload may have the name, so its earlier names are those with its workload only.
    let targets = if filter.target.is_some() { names(RENAMED_TARGETS) } else { Vec::new() };
    let workloads = if filter.workload.is_some() { names(RENAMED_FROM) } else { Vec::new() };
    Ok(EarlierNames { workloads, targets, ..EarlierNames::default() })
}

/// A kind of places, as parts of statements about a place `p` and its group `g` in an environment `e`.
struct PlaceKind {
    /// The column with the names of these places.
    name: &'static str,
    /// The condition that the earlier names of a place are those of this kind.
    has_names: &'static str,
    /// The environments and names of the places at which content is desired. Conditions follow.
    present: &'static str,
}

const CLUSTER_TYPES: PlaceKind = PlaceKind {
    name: "g.cluster_type",
    has_names: "p.cluster is null",
    // A cluster type can have the folders of many clusters. The first one with content is enough.
    present: "select distinct g.environment_id, g.cluster_type from place_group g \
        left join environment e on e.id = g.environment_id where exists (select 1 from place p \
        join place_revision v on v.id = p.desired_revision_id where p.place_group_id = g.id and v.tree is not null)",
};

const CLUSTERS: PlaceKind = PlaceKind {
    name: "p.cluster",
    has_names: "p.cluster is not null",
    present: "select distinct g.environment_id, p.cluster from place p \
        join place_revision v on v.id = p.desired_revision_id join place_group g on g.id = p.place_group_id \
        left join environment e on e.id = g.environment_id where v.tree is not null",
};

/// The name of a place in an environment.
type NameIn = (Option<EnvironmentId>, String);

/// The earlier names of the places with a name. Each environment has its own places, so a name does not count if an environment of the question has a place of
/// this name that was not renamed there.
async fn of_places(
    transaction: &mut Transaction,
    question: Question<'_>,
    (kind, name): (&PlaceKind, &str),
) -> Result<Vec<String>, DatabaseError> {
    let renamed = renamed_places(transaction, question, (kind, name)).await?;
    let names: BTreeSet<String> = renamed.iter().map(|(_, earlier)| earlier.clone()).collect();
    if names.is_empty() {
        return Ok(Vec::new());
    }
    let mut parameters = Parameters::new(transaction.dialect());
    let mut conditions = of_environments(question, &mut parameters);
    conditions.push(parameters.any_text(kind.name, names.iter().cloned().collect()));
    let sql = format!("{}{}", kind.present, conditions::and(conditions));
    let present: Vec<NameIn> = transaction.query(&sql, parameters.into_values()).await?;
    let others = present.into_iter().filter(|place| !renamed.contains(place)).map(|(_, name)| name).collect();
    Ok(names.difference(&others).take(EARLIER_NAMES_MAX).cloned().collect())
}

/// The earlier names of the places with a name, by environment.
async fn renamed_places(
    transaction: &mut Transaction,
    question: Question<'_>,
    (kind, name): (&PlaceKind, &str),
) -> Result<BTreeSet<NameIn>, DatabaseError> {
    let mut parameters = Parameters::new(transaction.dialect());
    let mut conditions = of_environments(question, &mut parameters);
    conditions.push(parameters.equals(kind.name, name));
    let sql = format!(
        "select distinct g.environment_id, p.earlier_names from place_group g \
         left join environment e on e.id = g.environment_id join place p on p.place_group_id = g.id \
         join place_revision v on v.id = p.desired_revision_id \
         where p.earlier_names is not null and v.tree is not null and {}{}",
        kind.has_names,
        conditions::and(conditions)
    );
    let rows: Vec<NameIn> = transaction.query(&sql, parameters.into_values()).await?;
    let each = |(environment, names): NameIn| split(&names).into_iter().map(move |name| (environment, name));
    Ok(rows.into_iter().flat_map(each).collect())
}

/// The conditions that an environment `e` is one of the question.
fn of_environments(question: Question<'_>, parameters: &mut Parameters) -> Vec<String> {
    let of_filter = question.filter.environment.as_deref().map(|name| parameters.equals("e.name", name));
    let environments = &question.reach.environments;
    let of_reach = (!environments.is_empty()).then(|| parameters.any_text("e.name", environments.clone()));
    of_filter.into_iter().chain(of_reach).collect()
}

fn split(value: &str) -> Vec<String> {
    value.split(',').map(str::trim).filter(|name| !name.is_empty()).map(str::to_owned).collect()
}
