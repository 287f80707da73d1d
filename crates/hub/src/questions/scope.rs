//! What a filter means in the store: which groups of places, which targets, which hosts.

use std::collections::{BTreeMap, BTreeSet};

use model::label::Labels;
use model::selector::{LabelSelector, Operator};

use super::standing::Standing;
use super::{Filter, QuestionError};
use crate::limits::SELECTED_HOSTS_MAX;
use crate::store::{DatabaseError, Dialect, Transaction, Value};

/// What is asked about.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The groups of places; none if it is all of them.
    pub(super) groups: Option<Vec<i64>>,
    /// The targets; none if it is all of them.
    pub(super) targets: Option<BTreeSet<i64>>,
    /// The environment.
    pub(super) environment_id: Option<i64>,
    /// The hosts, if they are few; in the order of their ids.
    pub(super) hosts: Option<Vec<i64>>,
    /// The labels that other hosts must have.
    pub(super) host_labels: LabelSelector,
    /// The standings; none if it is all of them.
    pub(super) standings: Option<Vec<Standing>>,
}

impl Scope {
    /// What the filter means now.
    pub(super) async fn of(transaction: &mut Transaction, filter: &Filter) -> Result<Self, QuestionError> {
        let environment_id = named(transaction, "environment", "environment", filter.environment.as_deref()).await?;
        let targets = targets(transaction, filter, environment_id).await?;
        let groups = groups(transaction, filter, (environment_id, targets.as_ref())).await?;
        let host = named(transaction, "host", "host", filter.host.as_deref()).await?;
        let host_labels = filter.host_labels()?;
        let hosts = match host {
            Some(host) => Some(vec![host]),
            None => few_hosts(transaction, &host_labels).await?,
        };
        let standings = Standing::parse_list(filter.status.as_deref())?;
        Ok(Self { groups, targets, environment_id, hosts, host_labels, standings })
    }

    /// Whether a condition of the filter is about places.
    pub(super) fn is_of_places(&self) -> bool {
        self.groups.is_some()
    }
}

/// The id of a name in a table whose names are unique; none if no name is given.
pub(super) async fn named(
    transaction: &mut Transaction,
    what: &'static str,
    table: &'static str,
    name: Option<&str>,
) -> Result<Option<i64>, QuestionError> {
    let Some(name) = name else { return Ok(None) };
    let rows = transaction.query(&format!("select id from {table} where name = $1"), vec![name.into()]).await?;
    match rows.first() {
        Some(row) => Ok(Some(row.int(0))),
        None => Err(unknown(transaction, what, (table, "name"), name).await?),
    }
}

/// Names that are compared with one that is not known.
const NAMES_COMPARED: i64 = 2_000;
/// How alike two names must be for one to be meant by the other.
const ALIKE: f64 = 0.8;

/// Says that a name is not known, and which ones are nearly the same.
async fn unknown(
    transaction: &mut Transaction,
    what: &'static str,
    column: (&'static str, &'static str),
    name: &str,
) -> Result<QuestionError, QuestionError> {
    let similar = similar(transaction, column, name).await?;
    Ok(QuestionError::Unknown { what, name: name.to_owned(), similar })
}

/// Names in a column of a table that are nearly the same as one: three at most, the nearest first.
pub(super) async fn similar(
    transaction: &mut Transaction,
    (table, column): (&'static str, &'static str),
    name: &str,
) -> Result<Vec<String>, DatabaseError> {
    // Around the name in the order of names: those that begin alike are there, however many there are.
    let around = format!(
        "select name from (select distinct {column} as name from {table} where {column} >= $1 order by name limit $2) as later \
         union select name from (select distinct {column} as name from {table} where {column} < $1 order by name desc limit $2) as earlier"
    );
    let rows = transaction.query(&around, vec![name.into(), NAMES_COMPARED.into()]).await?;
    let alike = |known: &str| strsim::jaro_winkler(name, known);
    let mut similar: Vec<_> = rows.iter().map(|row| row.text(0)).filter(|known| alike(known) >= ALIKE).collect();
    similar.sort_by(|one, other| alike(other).total_cmp(&alike(one)).then_with(|| one.cmp(other)));
    similar.truncate(3);
    Ok(similar)
}

/// The targets of the names and labels; none if the filter says nothing of targets.
async fn targets(
    transaction: &mut Transaction,
    filter: &Filter,
    environment_id: Option<i64>,
) -> Result<Option<BTreeSet<i64>>, QuestionError> {
    let labels = filter.target_labels()?;
    let names = [
        ("workspace", "workspace", "w.name", &filter.workspace),
        ("application", "application", "a.name", &filter.application),
        ("workload", "workload", "l.name", &filter.workload),
        ("target", "deployment_target", "t.name", &filter.target),
    ];
    let (mut conditions, mut values) = (vec!["1 = 1".to_owned()], Vec::new());
    for (_, _, column, name) in names {
        if let Some(name) = name {
            values.push(Value::from(name.as_str()));
            conditions.push(format!("{column} = ${}", values.len()));
        }
    }
    if values.is_empty() && labels.requirements.is_empty() {
        return Ok(None);
    }
    for (what, table, _, name) in names {
        let Some(name) = name else { continue };
        let sql = format!("select 1 from {table} where name = $1 limit 1");
        if transaction.query(&sql, vec![name.as_str().into()]).await?.is_empty() {
            return Err(unknown(transaction, what, (table, "name"), name).await?);
        }
    }
    if let Some(id) = environment_id {
        values.push(id.into());
        conditions.push(format!("t.environment_id = ${}", values.len()));
    }
    let sql = format!(
        "select t.id, t.labels from deployment_target t join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id where {}",
        conditions.join(" and ")
    );
    let rows = transaction.query(&sql, values).await?;
    let matches = |row: &&crate::store::Row| labels.matches(&labels_of(row.optional_text(1)));
    Ok(Some(rows.iter().filter(matches).map(|row| row.int(0)).collect()))
}

/// Labels from the column that holds them.
fn labels_of(text: Option<&str>) -> Labels {
    let labels: BTreeMap<String, String> = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    labels.into_iter().collect()
}

/// The groups of places that the filter is about; none if it is about all.
async fn groups(
    transaction: &mut Transaction,
    filter: &Filter,
    (environment_id, targets): (Option<i64>, Option<&BTreeSet<i64>>),
) -> Result<Option<Vec<i64>>, QuestionError> {
    let dialect = transaction.dialect();
    let (mut conditions, mut values) = (vec!["1 = 1".to_owned()], Vec::new());
    if let Some(targets) = targets {
        values.push(Value::from(targets.iter().copied().collect::<Vec<_>>()));
        let of_targets = dialect.any_int("m.deployment_target_id", &format!("${}", values.len()));
        conditions.push(format!("g.id in (select m.place_group_id from place_group_target m where {of_targets})"));
    }
    if let Some(id) = environment_id {
        values.push(id.into());
        conditions.push(format!("g.environment_id = ${}", values.len()));
    }
    if let Some(name) = &filter.cluster_type {
        let sql = "select 1 from place_group where cluster_type = $1 limit 1";
        if transaction.query(sql, vec![name.as_str().into()]).await?.is_empty() {
            return Err(unknown(transaction, "cluster type", ("place_group", "cluster_type"), name).await?);
        }
        values.push(name.as_str().into());
        conditions.push(format!("g.cluster_type = ${}", values.len()));
    }
    if values.is_empty() {
        return Ok(None);
    }
    let sql = format!("select g.id from place_group g where {} order by g.id", conditions.join(" and "));
    Ok(Some(transaction.query(&sql, values).await?.iter().map(|row| row.int(0)).collect()))
}

/// The hosts with these labels, if a label with a value makes them few.
async fn few_hosts(transaction: &mut Transaction, labels: &LabelSelector) -> Result<Option<Vec<i64>>, QuestionError> {
    let is_equality = |operator: &Operator| matches!(operator, Operator::In(_));
    let Some(first) = labels.requirements.iter().find(|requirement| is_equality(&requirement.operator)) else {
        return Ok(None);
    };
    let Operator::In(chosen) = &first.operator else { return Ok(None) };
    let dialect = transaction.dialect();
    let chosen: Vec<String> = chosen.iter().map(ToString::to_string).collect();
    let mut values = vec![Value::from(&*first.key), chosen.into()];
    let of_value = dialect.any_text("value", "$2");
    let max = SELECTED_HOSTS_MAX as i64;
    let sql =
        format!("select count(*) from (select 1 from host_label where key = $1 and {of_value} limit {max} + 1) as b");
    if transaction.query(&sql, values.clone()).await?.first().is_none_or(|row| row.int(0) > max) {
        return Ok(None);
    }
    let others = host_condition(dialect, labels, "b.host_id", &mut values);
    let sql =
        format!("select b.host_id from host_label b where b.key = $1 and b.{of_value} and {others} order by b.host_id");
    Ok(Some(transaction.query(&sql, values).await?.iter().map(|row| row.int(0)).collect()))
}

/// The condition that a host has these labels; its parameters are added to the values.
pub(super) fn host_condition(
    dialect: Dialect,
    labels: &LabelSelector,
    host_id: &str,
    values: &mut Vec<Value>,
) -> String {
    let mut conditions = vec!["1 = 1".to_owned()];
    for requirement in &labels.requirements {
        values.push(Value::from(&*requirement.key));
        let key = format!("k.host_id = {host_id} and k.key = ${}", values.len());
        let (is_there, chosen) = match &requirement.operator {
            Operator::In(chosen) => (true, Some(chosen)),
            Operator::NotIn(chosen) => (false, Some(chosen)),
            Operator::Exists => (true, None),
            Operator::DoesNotExist => (false, None),
        };
        let of_value = chosen.map(|chosen| {
            values.push(chosen.iter().map(ToString::to_string).collect::<Vec<_>>().into());
            format!(" and {}", dialect.any_text("k.value", &format!("${}", values.len())))
        });
        let not = if is_there { "" } else { "not " };
        let of_value = of_value.unwrap_or_default();
        conditions.push(format!("{not}exists (select 1 from host_label k where {key}{of_value})"));
    }
    conditions.join(" and ")
}
