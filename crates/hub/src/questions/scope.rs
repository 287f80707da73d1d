//! What a filter means in the store: which groups of places, which targets, which hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use model::label::Labels;
use model::selector::{LabelSelector, Operator, Requirement};

use super::standing::Standing;
use super::{Filter, QuestionError};
use crate::limits::{COUNTED_HOSTS_MAX, SELECTED_HOSTS_MAX};
use crate::store::{DatabaseError, Dialect, Transaction, Value};

/// What is asked about.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The groups of places; none if it is all of them.
    pub(super) groups: Option<Vec<i64>>,
    /// Of these, the groups at which something is wanted of the hosts, if only some hosts are asked about; else the same.
    pub(super) told: Option<Vec<i64>>,
    /// The targets; none if it is all of them.
    pub(super) targets: Option<BTreeSet<i64>>,
    /// The environment.
    pub(super) environment_id: Option<i64>,
    /// The hosts, if they are few; in the order of their ids.
    pub(super) hosts: Option<Vec<i64>>,
    /// What hosts must be otherwise.
    pub(super) kind: HostKind,
    /// The standings; none if it is all of them.
    pub(super) standings: Option<Vec<Standing>>,
}

/// What hosts must be.
#[derive(Clone, Debug, Default)]
pub(super) struct HostKind {
    labels: LabelSelector,
    cluster_type: Option<String>,
    environment_id: Option<i64>,
}

impl Scope {
    /// What the filter of a list means now: hosts are told one by one only if they are few.
    pub(super) async fn of(transaction: &mut Transaction, filter: &Filter) -> Result<Self, QuestionError> {
        Self::with_hosts(transaction, filter, SELECTED_HOSTS_MAX).await
    }

    /// What the filter of totals means now. Totals are kept by place; those of some hosts are counted, if they are not too many.
    pub(super) async fn of_totals(transaction: &mut Transaction, filter: &Filter) -> Result<Self, QuestionError> {
        if filter.status.is_some() {
            let message = "totals are by status already; ask for `deployments`, which can be selected by it".to_owned();
            return Err(QuestionError::Wrong { parameter: "status", message });
        }
        let scope = Self::with_hosts(transaction, filter, COUNTED_HOSTS_MAX).await?;
        if scope.hosts.is_none() && !scope.kind.is_any() {
            let parameter = if filter.cluster_type.is_some() { "clusterType" } else { "selector" };
            let message = format!(
                "totals are counted for at most {COUNTED_HOSTS_MAX} hosts, and these are more, or nothing says which they are but labels \
                 that they do not have; ask for `deployments`, which lists any number"
            );
            return Err(QuestionError::Wrong { parameter, message });
        }
        Ok(scope)
    }

    async fn with_hosts(transaction: &mut Transaction, filter: &Filter, max: usize) -> Result<Self, QuestionError> {
        let environment_id = named(transaction, "environment", "environment", filter.environment.as_deref()).await?;
        let targets = targets(transaction, filter, environment_id).await?;
        let groups = groups(transaction, (environment_id, targets.as_ref())).await?;
        let host = named(transaction, "host", "host", filter.host.as_deref()).await?;
        let cluster_type = cluster_type(transaction, filter).await?;
        let kind = HostKind { labels: filter.host_labels()?, cluster_type, environment_id };
        let hosts = match host {
            Some(host) => kind.among(transaction, vec![host]).await.map(Some)?,
            None => kind.few(transaction, max).await?,
        };
        let told = told(transaction, (&kind, hosts.as_ref()), groups.as_ref()).await?;
        let standings = Standing::parse_list(filter.status.as_deref())?;
        Ok(Self { groups, told, targets, environment_id, hosts, kind, standings })
    }

    /// Whether a condition of the filter is about places.
    pub(super) fn is_of_places(&self) -> bool {
        self.groups.is_some()
    }

    /// The table of tallies, of which those of some hosts are counted; its parameter is added to the values.
    pub(super) fn tallies(&self, dialect: Dialect, values: &mut Vec<Value>) -> String {
        let Some(hosts) = &self.hosts else { return "tally".to_owned() };
        values.push(hosts.clone().into());
        let of_hosts = dialect.any_int("yr.host_id", &format!("${}", values.len()));
        let columns =
            "y.id, y.place_group_id, y.wanted_commit_id, y.held_commit_id, y.is_current, y.status, y.is_silent";
        format!(
            // Cross joins keep SQLite from beginning with all states.
            "(select {columns}, count(*) as reconcilers from reconciler yr cross join reconciler_state ys cross join tally y \
              where {of_hosts} and yr.retired_on is null and ys.reconciler_id = yr.id and y.id = ys.tally_id group by {columns})"
        )
    }
}

impl HostKind {
    /// Whether any host will do.
    fn is_any(&self) -> bool {
        self.labels.requirements.is_empty() && self.cluster_type.is_none()
    }

    /// The condition that a host is so; none if any will do. Its parameters are added to the values.
    pub(super) fn condition(&self, dialect: Dialect, host_id: &str, values: &mut Vec<Value>) -> Option<String> {
        let mut conditions = label_conditions(dialect, &self.labels, host_id, values);
        if let Some(name) = &self.cluster_type {
            values.push(name.as_str().into());
            let mut of_type = format!("kg.cluster_type = ${}", values.len());
            if let Some(environment) = self.environment_id {
                values.push(environment.into());
                let _ = write!(of_type, " and kg.environment_id = ${}", values.len());
            }
            conditions.push(format!(
                "exists (select 1 from reconciler kr join place kp on kp.id = kr.place_id join place_group kg on kg.id = kp.place_group_id \
                 where kr.host_id = {host_id} and kr.retired_on is null and {of_type})"
            ));
        }
        (!conditions.is_empty()).then(|| conditions.join(" and "))
    }

    /// Those of some hosts that are so, in the order of their ids.
    async fn among(&self, transaction: &mut Transaction, hosts: Vec<i64>) -> Result<Vec<i64>, DatabaseError> {
        let dialect = transaction.dialect();
        let mut values = vec![hosts.clone().into()];
        let Some(condition) = self.condition(dialect, "b.id", &mut values) else { return Ok(hosts) };
        let of_hosts = dialect.any_int("b.id", "$1");
        let sql = format!("select b.id from host b where {of_hosts} and {condition} order by b.id");
        Ok(transaction.query(&sql, values).await?.iter().map(|row| row.int(0)).collect())
    }

    /// All hosts that are so, if a label with a value or the cluster type makes them few.
    async fn few(&self, transaction: &mut Transaction, max: usize) -> Result<Option<Vec<i64>>, DatabaseError> {
        for candidates in [self.of_label(transaction.dialect()), self.of_cluster_type()] {
            let Some((sql, values)) = candidates else { continue };
            let sql = format!("{sql} limit {max} + 1");
            let rows = transaction.query(&sql, values).await?;
            if rows.len() <= max {
                return self.among(transaction, rows.iter().map(|row| row.int(0)).collect()).await.map(Some);
            }
        }
        Ok(None)
    }

    /// A statement for the hosts that have a label, with one of some values if possible.
    fn of_label(&self, dialect: Dialect) -> Option<(String, Vec<Value>)> {
        let sql = "select host_id from host_label where key = $1";
        let of_value = self.labels.requirements.iter().find_map(|requirement| {
            let Operator::In(chosen) = &requirement.operator else { return None };
            let chosen: Vec<String> = chosen.iter().map(ToString::to_string).collect();
            let sql = format!("{sql} and {}", dialect.any_text("value", "$2"));
            Some((sql, vec![Value::from(&*requirement.key), chosen.into()]))
        });
        let mut requirements = self.labels.requirements.iter();
        let is_there = requirements.find(|requirement| matches!(requirement.operator, Operator::Exists));
        of_value.or_else(|| Some((sql.to_owned(), vec![Value::from(&*is_there?.key)])))
    }

    /// A statement for the hosts of the cluster type: those that apply what the platform made for it.
    fn of_cluster_type(&self) -> Option<(String, Vec<Value>)> {
        let sql = "select distinct r.host_id from place_group g join place p on p.place_group_id = g.id \
            join reconciler r on r.place_id = p.id where g.cluster_type = $1 and r.retired_on is null \
            and ($2 = 0 or g.environment_id = $2)";
        let name = self.cluster_type.as_deref()?;
        Some((sql.to_owned(), vec![name.into(), self.environment_id.unwrap_or_default().into()]))
    }
}

/// The cluster type of the filter, which has to be known.
async fn cluster_type(transaction: &mut Transaction, filter: &Filter) -> Result<Option<String>, QuestionError> {
    let Some(name) = &filter.cluster_type else { return Ok(None) };
    let sql = "select 1 from place_group where cluster_type = $1 limit 1";
    if transaction.query(sql, vec![name.as_str().into()]).await?.is_empty() {
        return Err(unknown(transaction, "cluster type", ("place_group", "cluster_type"), name).await?);
    }
    Ok(Some(name.clone()))
}

/// The groups at which something is wanted of hosts, among others: those of the cluster type, with the manifests of what is assigned to it; else those where
/// the hosts are.
async fn told(
    transaction: &mut Transaction,
    (kind, hosts): (&HostKind, Option<&Vec<i64>>),
    among: Option<&Vec<i64>>,
) -> Result<Option<Vec<i64>>, DatabaseError> {
    let (sql, values) = match (&kind.cluster_type, hosts) {
        (Some(name), _) => {
            let platform =
                "select g.id from place_group g where g.cluster_type = $1 and ($2 = 0 or g.environment_id = $2)";
            let sql = format!(
                "{platform} union select m.place_group_id from place_group_target o \
                 join place_group_target m on m.deployment_target_id = o.deployment_target_id \
                 join place_group a on a.id = m.place_group_id and a.role = 'application' where o.place_group_id in ({platform}) order by 1"
            );
            (sql, vec![name.as_str().into(), kind.environment_id.unwrap_or_default().into()])
        }
        (None, Some(hosts)) => {
            let of_hosts = transaction.dialect().any_int("r.host_id", "$1");
            let sql = format!(
                "select distinct p.place_group_id from reconciler r join place p on p.id = r.place_id where {of_hosts} order by 1"
            );
            (sql, vec![hosts.clone().into()])
        }
        (None, None) => return Ok(among.cloned()),
    };
    let rows = transaction.query(&sql, values).await?;
    let groups = rows.iter().map(|row| row.int(0));
    Ok(Some(groups.filter(|group| among.is_none_or(|among| among.contains(group))).collect()))
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

/// The groups of places of an environment and of targets; none if it is about all.
async fn groups(
    transaction: &mut Transaction,
    (environment_id, targets): (Option<i64>, Option<&BTreeSet<i64>>),
) -> Result<Option<Vec<i64>>, QuestionError> {
    let dialect = transaction.dialect();
    let (mut conditions, mut values) = (Vec::new(), Vec::new());
    if let Some(targets) = targets {
        values.push(Value::from(targets.iter().copied().collect::<Vec<_>>()));
        let of_targets = dialect.any_int("m.deployment_target_id", &format!("${}", values.len()));
        conditions.push(format!("g.id in (select m.place_group_id from place_group_target m where {of_targets})"));
    }
    if let Some(id) = environment_id {
        values.push(id.into());
        conditions.push(format!("g.environment_id = ${}", values.len()));
    }
    if conditions.is_empty() {
        return Ok(None);
    }
    let sql = format!("select g.id from place_group g where {} order by g.id", conditions.join(" and "));
    Ok(Some(transaction.query(&sql, values).await?.iter().map(|row| row.int(0)).collect()))
}

/// The conditions that a host has labels; their parameters are added to the values.
fn label_conditions(dialect: Dialect, labels: &LabelSelector, host_id: &str, values: &mut Vec<Value>) -> Vec<String> {
    let condition = |requirement: &Requirement| {
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
        format!("{not}exists (select 1 from host_label k where {key}{of_value})")
    };
    labels.requirements.iter().map(condition).collect()
}
