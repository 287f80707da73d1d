//! What hosts must be: which labels they have, which cluster type they are of.

use std::fmt::Write as _;

use model::selector::{LabelSelector, Operator, Requirement};

use crate::store::{DatabaseError, Dialect, EnvironmentId, HostId, Transaction, Value};

/// What hosts must be.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostKind {
    pub(crate) labels: LabelSelector,
    pub(crate) cluster_type: Option<String>,
    pub(crate) environment_id: Option<EnvironmentId>,
}

/// A statement for hosts that have a part of what they must have, and what else they must have.
struct Candidates {
    sql: String,
    values: Vec<Value>,
    rest: HostKind,
}

impl HostKind {
    /// Whether any host will do.
    pub(super) fn is_any(&self) -> bool {
        self.labels.requirements.is_empty() && self.cluster_type.is_none()
    }

    /// The condition that a host is so; none if any will do. Its parameters are added to the values.
    pub(crate) fn condition(&self, dialect: Dialect, host_id: &str, values: &mut Vec<Value>) -> Option<String> {
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

    /// A statement for the ids of all hosts that are so, each at least once; with its parameters, which begin with `$1`.
    pub(super) fn all(&self, dialect: Dialect) -> (String, Vec<Value>) {
        let all =
            || Candidates { sql: "select id as host_id from host".into(), values: Vec::new(), rest: self.clone() };
        let candidates = self.of_label(dialect).or_else(|| self.of_cluster_type());
        let Candidates { sql, mut values, rest } = candidates.unwrap_or_else(all);
        match rest.condition(dialect, "b.host_id", &mut values) {
            Some(condition) => (format!("select b.host_id from ({sql}) as b where {condition}"), values),
            None => (sql, values),
        }
    }

    /// Those of some hosts that are so, in the order of their ids.
    pub(super) async fn among(
        &self,
        transaction: &mut Transaction,
        hosts: Vec<HostId>,
    ) -> Result<Vec<HostId>, DatabaseError> {
        let dialect = transaction.dialect();
        let mut values = vec![hosts.clone().into()];
        let Some(condition) = self.condition(dialect, "b.id", &mut values) else { return Ok(hosts) };
        let of_hosts = dialect.any_int("b.id", "$1");
        let sql = format!("select b.id from host b where {of_hosts} and {condition} order by b.id");
        transaction.query(&sql, values).await
    }

    /// All hosts that are so, in the order of their ids, if a label or the cluster type makes them that few.
    pub(super) async fn few(
        &self,
        transaction: &mut Transaction,
        max: usize,
    ) -> Result<Option<Vec<HostId>>, DatabaseError> {
        for candidates in [self.of_label(transaction.dialect()), self.of_cluster_type()] {
            let Some(Candidates { sql, values, .. }) = candidates else { continue };
            let sql = format!("select distinct b.host_id from ({sql}) as b limit {max} + 1");
            let hosts = transaction.query(&sql, values).await?;
            if hosts.len() <= max {
                return self.among(transaction, hosts).await.map(Some);
            }
        }
        Ok(None)
    }

    /// The hosts that have a label, with one of some values if possible.
    fn of_label(&self, dialect: Dialect) -> Option<Candidates> {
        let requirements = || self.labels.requirements.iter().enumerate();
        let of_value = requirements().find(|(_, requirement)| matches!(requirement.operator, Operator::In(_)));
        let is_there = || requirements().find(|(_, requirement)| matches!(requirement.operator, Operator::Exists));
        let (index, requirement) = of_value.or_else(is_there)?;
        let mut sql = "select host_id from host_label where key = $1".to_owned();
        let mut values = vec![Value::from(&*requirement.key)];
        if let Operator::In(chosen) = &requirement.operator {
            values.push(chosen.iter().map(ToString::to_string).collect::<Vec<_>>().into());
            let _ = write!(sql, " and {}", dialect.any_text("value", "$2"));
        }
        let mut rest = self.clone();
        rest.labels.requirements.remove(index);
        Some(Candidates { sql, values, rest })
    }

    /// The hosts of the cluster type: those that apply what the platform made for it. One that does so twice is there twice.
    fn of_cluster_type(&self) -> Option<Candidates> {
        // Cross joins keep SQLite from beginning with all reconcilers.
        let sql = "select r.host_id from place_group g cross join place p cross join reconciler r \
            where g.cluster_type = $1 and ($2 = 0 or g.environment_id = $2) and p.place_group_id = g.id \
            and r.place_id = p.id and r.retired_on is null";
        let name = self.cluster_type.as_deref()?;
        let values = vec![name.into(), EnvironmentId::or_zero(self.environment_id).into()];
        Some(Candidates { sql: sql.to_owned(), values, rest: Self { cluster_type: None, ..self.clone() } })
    }
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
