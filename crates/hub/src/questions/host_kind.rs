//! Conditions on hosts: their labels and their cluster types.

use model::selector::{LabelSelector, Operator, Requirement};

use super::conditions;
use crate::store::{DatabaseError, Dialect, EnvironmentId, HostId, Parameters, Transaction};

/// Conditions on hosts.
#[derive(Clone, Debug, Default)]
pub(crate) struct HostKind {
    pub(crate) labels: LabelSelector,
    /// The cluster types, of which a host has one; empty if there is no condition.
    pub(crate) cluster_types: Vec<String>,
    pub(crate) environment_id: Option<EnvironmentId>,
}

/// A statement that finds hosts by one condition, and the conditions that are left to check.
struct Candidates {
    sql: String,
    parameters: Parameters,
    rest: HostKind,
}

impl HostKind {
    /// Whether there is no condition.
    pub(super) fn is_any(&self) -> bool {
        self.labels.requirements.is_empty() && self.cluster_types.is_empty()
    }

    /// The conditions in SQL on a host; none without conditions.
    pub(crate) fn condition(&self, host_id: &str, parameters: &mut Parameters) -> Option<String> {
        let mut conditions = label_conditions(&self.labels, host_id, parameters);
        if !self.cluster_types.is_empty() {
            let mut of_type = vec![conditions::of_names("kg.cluster_type", &self.cluster_types, parameters)];
            of_type.extend(self.environment_id.map(|id| parameters.equals("kg.environment_id", id)));
            let of_type = conditions::all(of_type);
            conditions.push(format!(
                "exists (select 1 from reconciler kr join place kp on kp.id = kr.place_id join place_group kg on kg.id = kp.place_group_id \
                 where kr.host_id = {host_id} and kr.retired_on is null and {of_type})"
            ));
        }
        (!conditions.is_empty()).then(|| conditions::all(conditions))
    }

    /// A statement for the ids of all hosts that meet the conditions, each at least once; with its parameters.
    pub(super) fn all(&self, dialect: Dialect) -> (String, Parameters) {
        let all = || {
            let sql = "select id as host_id from host".to_owned();
            Candidates { sql, parameters: Parameters::new(dialect), rest: self.clone() }
        };
        let candidates = self.of_label(dialect).or_else(|| self.of_cluster_type(dialect));
        let Candidates { sql, mut parameters, rest } = candidates.unwrap_or_else(all);
        match rest.condition("b.host_id", &mut parameters) {
            Some(condition) => (format!("select b.host_id from ({sql}) as b where {condition}"), parameters),
            None => (sql, parameters),
        }
    }

    /// The hosts among these that meet the conditions, in the order of their ids.
    pub(super) async fn among(
        &self,
        transaction: &mut Transaction,
        hosts: Vec<HostId>,
    ) -> Result<Vec<HostId>, DatabaseError> {
        let mut parameters = Parameters::new(transaction.dialect());
        let of_hosts = parameters.any_int("b.id", hosts.clone());
        let Some(condition) = self.condition("b.id", &mut parameters) else { return Ok(hosts) };
        let sql = format!("select b.id from host b where {of_hosts} and {condition} order by b.id");
        transaction.query(&sql, parameters.into_values()).await
    }

    /// All hosts that meet the conditions, in the order of their ids; none if a label or the cluster type does not make them few enough.
    pub(super) async fn few(
        &self,
        transaction: &mut Transaction,
        max: usize,
    ) -> Result<Option<Vec<HostId>>, DatabaseError> {
        let dialect = transaction.dialect();
        for candidates in [self.of_label(dialect), self.of_cluster_type(dialect)] {
            let Some(Candidates { sql, parameters, .. }) = candidates else { continue };
            let sql = format!("select distinct b.host_id from ({sql}) as b limit {max} + 1");
            let hosts = transaction.query(&sql, parameters.into_values()).await?;
            if hosts.len() <= max {
                return self.among(transaction, hosts).await.map(Some);
            }
        }
        Ok(None)
    }

    /// The hosts that have one of the labels. A label with values is preferred.
    fn of_label(&self, dialect: Dialect) -> Option<Candidates> {
        let requirements = || self.labels.requirements.iter().enumerate();
        let of_value = requirements().find(|(_, requirement)| matches!(requirement.operator, Operator::In(_)));
        let is_there = || requirements().find(|(_, requirement)| matches!(requirement.operator, Operator::Exists));
        let (index, requirement) = of_value.or_else(is_there)?;
        let mut parameters = Parameters::new(dialect);
        let mut conditions = vec![parameters.equals("key", &*requirement.key)];
        if let Operator::In(chosen) = &requirement.operator {
            conditions.push(parameters.any_text("value", chosen.iter().map(ToString::to_string).collect()));
        }
        let sql = format!("select host_id from host_label where {}", conditions::all(conditions));
        let mut rest = self.clone();
        rest.labels.requirements.remove(index);
        Some(Candidates { sql, parameters, rest })
    }

    /// The hosts of the cluster types: their reconcilers apply the platform folders of the types. A host with two such reconcilers occurs twice.
    fn of_cluster_type(&self, dialect: Dialect) -> Option<Candidates> {
        if self.cluster_types.is_empty() {
            return None;
        }
        let mut parameters = Parameters::with(dialect, vec![EnvironmentId::or_zero(self.environment_id).into()]);
        let of_types = conditions::of_names("g.cluster_type", &self.cluster_types, &mut parameters);
        // Cross joins prevent SQLite from beginning with all reconcilers.
        let sql = format!(
            "select r.host_id from place_group g cross join place p cross join reconciler r \
             where {of_types} and ($1 = 0 or g.environment_id = $1) and p.place_group_id = g.id \
             and r.place_id = p.id and r.retired_on is null"
        );
        Some(Candidates { sql, parameters, rest: Self { cluster_types: Vec::new(), ..self.clone() } })
    }
}

/// The conditions that a host has labels.
fn label_conditions(labels: &LabelSelector, host_id: &str, parameters: &mut Parameters) -> Vec<String> {
    let condition = |requirement: &Requirement| {
        let key = format!("k.host_id = {host_id} and {}", parameters.equals("k.key", &*requirement.key));
        let (is_there, chosen) = match &requirement.operator {
            Operator::In(chosen) => (true, Some(chosen)),
            Operator::NotIn(chosen) => (false, Some(chosen)),
            Operator::Exists => (true, None),
            Operator::DoesNotExist => (false, None),
        };
        let of_value =
            chosen.map(|chosen| parameters.any_text("k.value", chosen.iter().map(ToString::to_string).collect()));
        let not = if is_there { "" } else { "not " };
        let of_value = conditions::and(of_value);
        format!("{not}exists (select 1 from host_label k where {key}{of_value})")
    };
    labels.requirements.iter().map(condition).collect()
}
