//! The scope of a question: the groups of places, targets and hosts in the store that a filter selects.

use std::collections::{BTreeMap, BTreeSet};

use model::label::Labels;
use model::rollout::ReconcilerState;

use super::conditions;
use super::counted::{self, Counted};
use super::host_kind::HostKind;
use super::similar_names::similar;
use super::tallies::Tallies;
use super::{Question, QuestionError, labels, reconciler_state, within_reach};
use crate::limits::SELECTED_HOSTS_MAX;
use crate::store::{
    Database, DatabaseError, EnvironmentId, FromColumn, HostId, Parameters, PlaceGroupId, TargetId, Transaction,
};

/// The rows of the store that a filter selects.
#[derive(Clone, Debug, Default)]
pub(super) struct Scope {
    /// The groups of places; none if all are selected.
    pub(super) groups: Option<Vec<PlaceGroupId>>,
    /// If only some hosts are selected: those of `groups` at which content is desired of these hosts. Otherwise the same as `groups`.
    pub(super) desired_groups: Option<Vec<PlaceGroupId>>,
    /// The hosts of places with desired content; none if the filter selects places otherwise.
    pub(super) desired_hosts: Option<Vec<HostId>>,
    /// The targets; none if all are selected.
    pub(super) targets: Option<BTreeSet<TargetId>>,
    /// The environment of the filter.
    pub(super) environment_id: Option<EnvironmentId>,
    /// The environments within the reach of the token; none if all are.
    pub(super) environments: Option<Vec<EnvironmentId>>,
    /// Whether the reach of the token is limited.
    pub(super) is_limited: bool,
    /// Whether messages about the folder of a whole cluster are hidden, because they can be about workloads of other workspaces.
    pub(super) hides_messages: bool,
    /// The hosts, if there are few; in the order of their ids.
    pub(super) hosts: Option<Vec<HostId>>,
    /// The conditions on hosts that `hosts` does not cover.
    pub(super) kind: HostKind,
    /// The tallies, for a question about totals.
    pub(super) tallies: Tallies,
    /// The rollout states; none if all are selected.
    pub(super) states: Option<Vec<ReconcilerState>>,
}

impl Scope {
    /// The scope of a question about totals, with the transaction in which it was read. Totals of all hosts are stored. Reconcilers of a
    /// selection of hosts are counted, which takes long if the hosts are many.
    pub(super) async fn of_totals(
        database: &Database,
        question: Question<'_>,
    ) -> Result<(Transaction, Self), QuestionError> {
        Self::refuse_states(question)?;
        Self::of_counts(database, question).await
    }

    /// Refuses the states of a filter, for a question about totals.
    pub(super) fn refuse_states(question: Question<'_>) -> Result<(), QuestionError> {
        if question.filter.status.is_none() {
            return Ok(());
        }
        let message = "totals are by status already; ask for `deployments`, which can be selected by it".to_owned();
        Err(QuestionError::Wrong { parameter: "status", message })
    }

    /// The same for a question that selects the rollout states of its filter itself.
    pub(super) async fn of_counts(
        database: &Database,
        question: Question<'_>,
    ) -> Result<(Transaction, Self), QuestionError> {
        let mut transaction = database.begin_reading().await?;
        let mut scope = Self::read(&mut transaction, question).await?;
        if scope.kind.is_any() && scope.hosts.is_none() {
            return Ok((transaction, scope));
        }
        let mut turn = None;
        if scope.hosts.is_none() {
            // A question that waits for its permit must not hold a connection.
            drop(transaction);
            turn = Some(counted::turn().await?);
            transaction = database.begin_reading().await?;
            scope = Self::read(&mut transaction, question).await?;
        }
        let counted =
            Counted::read(&mut transaction, (&scope.kind, scope.hosts.as_deref()), scope.groups.as_deref()).await?;
        drop(turn);
        if scope.hosts.is_none() && question.filter.cluster_type.is_none() {
            let is_selected = |group: &PlaceGroupId| scope.groups.as_ref().is_none_or(|groups| groups.contains(group));
            scope.desired_groups = Some(counted.groups.iter().copied().filter(is_selected).collect());
        }
        scope.tallies = Tallies::Counted(counted);
        Ok((transaction, scope))
    }

    /// The scope of a question about a list. The scope lists the hosts only if they are few.
    pub(super) async fn read(transaction: &mut Transaction, question: Question<'_>) -> Result<Self, QuestionError> {
        question.check_reach()?;
        Self::selected(transaction, question).await.map_err(|error| question.discreet(error))
    }

    async fn selected(transaction: &mut Transaction, question: Question<'_>) -> Result<Self, QuestionError> {
        let environment_id =
            named::<EnvironmentId>(transaction, "environment", "environment", question.filter.environment.as_deref())
                .await?;
        let environments = within(transaction, &question.reach.environments).await?;
        let of_environments = environment_id.map(|id| vec![id]).or_else(|| environments.clone());
        let targets = targets(transaction, question, of_environments.as_ref()).await?;
        let groups = groups(transaction, (of_environments, targets.as_ref())).await?;
        let host = host(transaction, question).await?;
        let cluster_types = cluster_types(transaction, question).await?;
        let kind = HostKind { labels: question.host_labels()?, cluster_types, environment_id };
        labels::check_hosts(transaction, &kind.labels).await?;
        let hosts = match host {
            Some(host) => {
                let hosts = with_earlier(transaction, host, &question.earlier.hosts).await?;
                kind.among(transaction, hosts).await.map(Some)?
            }
            None => kind.few(transaction, SELECTED_HOSTS_MAX).await?,
        };
        if host.is_none() && kind.cluster_types.is_empty() {
            labels::check_selected(&kind.labels, hosts.as_ref())?;
        }
        let desired_groups = desired_groups(transaction, (&kind, hosts.as_ref()), groups.as_ref()).await?;
        let desired_hosts = hosts.clone().filter(|_| host.is_some() || kind.cluster_types.is_empty());
        let states = reconciler_state::parse_list(question.filter.status.as_deref())?;
        let is_limited = !question.reach.is_all();
        let hides_messages = !question.reach.workspaces.is_empty();
        Ok(Self {
            groups,
            desired_groups,
            desired_hosts,
            targets,
            environment_id,
            environments,
            is_limited,
            hides_messages,
            hosts,
            kind,
            tallies: Tallies::Stored,
            states,
        })
    }

    /// Whether the filter has a condition on places.
    pub(super) fn is_of_places(&self) -> bool {
        self.groups.is_some()
    }

    /// The tallies as a table for SQL.
    pub(super) fn tallies(&self, parameters: &mut Parameters) -> String {
        self.tallies.table(parameters)
    }

    /// The condition that a group of places is selected; none if all are.
    pub(super) fn of_groups(&self, group_id: &str, parameters: &mut Parameters) -> Option<String> {
        self.groups.clone().map(|groups| parameters.any_int(group_id, groups))
    }

    /// The condition that content is desired of the selected hosts at a group of places; none if all groups are selected.
    pub(super) fn of_desired(&self, group_id: &str, parameters: &mut Parameters) -> Option<String> {
        self.desired_groups.clone().map(|groups| parameters.any_int(group_id, groups))
    }

    /// The condition that a target is selected; none if all are.
    pub(super) fn of_targets(&self, target_id: &str, parameters: &mut Parameters) -> Option<String> {
        self.targets.clone().map(|targets| parameters.any_int(target_id, targets))
    }

    /// The condition that an environment is within the reach; none if all are.
    pub(super) fn of_environments(&self, environment_id: &str, parameters: &mut Parameters) -> Option<String> {
        self.environments.clone().map(|environments| parameters.any_int(environment_id, environments))
    }

    /// The condition that a host is selected; none if all are.
    pub(super) fn of_hosts(&self, host_id: &str, parameters: &mut Parameters) -> Option<String> {
        match &self.hosts {
            Some(hosts) => Some(parameters.any_int(host_id, hosts.clone())),
            None => self.kind.condition(host_id, parameters),
        }
    }
}

/// The environments within the reach of the token; none if all are.
async fn within(transaction: &mut Transaction, names: &[String]) -> Result<Option<Vec<EnvironmentId>>, DatabaseError> {
    if names.is_empty() {
        return Ok(None);
    }
    let sql = format!("select id from environment where {} order by id", transaction.dialect().any_text("name", "$1"));
    transaction.query(&sql, vec![names.to_vec().into()]).await.map(Some)
}

/// The host of the filter; none if it names no host. A host of which nothing is within the reach is unknown.
async fn host(transaction: &mut Transaction, question: Question<'_>) -> Result<Option<HostId>, QuestionError> {
    let Some(name) = &question.filter.host else { return Ok(None) };
    let host = named(transaction, "host", "host", Some(name)).await?;
    match host {
        Some(id) if !within_reach::has_host(transaction, question.reach, id).await? => {
            Err(unknown("host", name, Vec::new()))
        }
        host => Ok(host),
    }
}

/// The host of the filter, and the hosts with its earlier names.
async fn with_earlier(
    transaction: &mut Transaction,
    host: HostId,
    earlier: &[String],
) -> Result<Vec<HostId>, DatabaseError> {
    if earlier.is_empty() {
        return Ok(vec![host]);
    }
    let mut parameters = Parameters::new(transaction.dialect());
    let of_names = conditions::of_names("name", earlier, &mut parameters);
    let sql = format!("select id from host where {of_names}");
    let mut hosts: Vec<HostId> = transaction.query(&sql, parameters.into_values()).await?;
    hosts.push(host);
    hosts.sort_unstable();
    Ok(hosts)
}

/// The cluster type of the filter, and its earlier names; none if the filter has no cluster type. An unknown cluster type is an error.
async fn cluster_types(transaction: &mut Transaction, question: Question<'_>) -> Result<Vec<String>, QuestionError> {
    let Some(name) = &question.filter.cluster_type else { return Ok(Vec::new()) };
    if !within_reach::has_cluster_type(transaction, question.reach, name).await? {
        let similar = similar(transaction, ("place_group", "cluster_type"), name).await?;
        return Err(unknown("cluster type", name, similar));
    }
    Ok([name].into_iter().chain(&question.earlier.cluster_types).cloned().collect())
}

/// The groups, among these, at which content is desired of the selected hosts. With cluster types, these are their groups and the groups with the manifests
/// that are assigned to them. Otherwise they are the groups of the hosts' places.
async fn desired_groups(
    transaction: &mut Transaction,
    (kind, hosts): (&HostKind, Option<&Vec<HostId>>),
    among: Option<&Vec<PlaceGroupId>>,
) -> Result<Option<Vec<PlaceGroupId>>, DatabaseError> {
    let (sql, values) = match (kind.cluster_types.as_slice(), hosts) {
        ([], Some(hosts)) => {
            let of_hosts = transaction.dialect().any_int("r.host_id", "$1");
            let sql = format!(
                "select distinct p.place_group_id from reconciler r join place p on p.id = r.place_id where {of_hosts} order by 1"
            );
            (sql, vec![hosts.clone().into()])
        }
        ([], None) => return Ok(among.cloned()),
        (cluster_types, _) => {
            let environment = EnvironmentId::or_zero(kind.environment_id).into();
            let mut parameters = Parameters::with(transaction.dialect(), vec![environment]);
            let of_types = conditions::of_names("g.cluster_type", cluster_types, &mut parameters);
            let platform =
                format!("select g.id from place_group g where {of_types} and ($1 = 0 or g.environment_id = $1)");
            let sql = format!(
                "{platform} union select m.place_group_id from place_group_target o \
                 join place_group_target m on m.deployment_target_id = o.deployment_target_id \
                 join place_group a on a.id = m.place_group_id and a.role = 'application' where o.place_group_id in ({platform}) order by 1"
            );
            (sql, parameters.into_values())
        }
    };
    let mut groups = transaction.query(&sql, values).await?;
    groups.retain(|group| among.is_none_or(|among| among.contains(group)));
    Ok(Some(groups))
}

/// The id of a name in a table with unique names; none if no name is given. An unknown name is an error.
pub(super) async fn named<T: FromColumn>(
    transaction: &mut Transaction,
    what: &'static str,
    table: &'static str,
    name: Option<&str>,
) -> Result<Option<T>, QuestionError> {
    let Some(name) = name else { return Ok(None) };
    match transaction.first(&format!("select id from {table} where name = $1"), vec![name.into()]).await? {
        Some(id) => Ok(Some(id)),
        None => Err(unknown(what, name, similar(transaction, (table, "name"), name).await?)),
    }
}

/// The error for an unknown name, with similar names.
fn unknown(what: &'static str, name: &str, similar: Vec<String>) -> QuestionError {
    QuestionError::Unknown { what, name: name.to_owned(), similar }
}

/// The targets with the names and labels of the filter; none if the filter has no condition on targets.
async fn targets(
    transaction: &mut Transaction,
    question: Question<'_>,
    environments: Option<&Vec<EnvironmentId>>,
) -> Result<Option<BTreeSet<TargetId>>, QuestionError> {
    let labels = question.target_labels()?;
    let names = [
        ("workspace", "workspace", &question.filter.workspace),
        ("application", "application", &question.filter.application),
        ("workload", "workload", &question.filter.workload),
        ("target", "deployment_target", &question.filter.target),
    ];
    let mut parameters = Parameters::new(transaction.dialect());
    let mut conditions = conditions::of_workloads(question, &mut parameters);
    let target = ("t.name", question.filter.target.as_deref());
    conditions.extend(conditions::of_name(target, &question.earlier.targets, &mut parameters));
    if conditions.is_empty() && labels.requirements.is_empty() {
        return Ok(None);
    }
    for (what, table, name) in names {
        let Some(name) = name else { continue };
        if !within_reach::has(transaction, question.reach, (table, name)).await? {
            return Err(unknown(what, name, similar(transaction, (table, "name"), name).await?));
        }
    }
    conditions.extend(environments.map(|ids| parameters.any_int("t.environment_id", ids.clone())));
    let sql = format!(
        "select t.id, t.labels from deployment_target t join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id where {}",
        conditions::all(conditions)
    );
    let targets = transaction.query::<(TargetId, Option<String>)>(&sql, parameters.into_values()).await?;
    let targets: Vec<_> = targets.into_iter().map(|(id, text)| (id, labels_of(text.as_deref()))).collect();
    let selected: BTreeSet<_> = targets.iter().filter(|(_, own)| labels.matches(own)).map(|(id, _)| *id).collect();
    if selected.is_empty() {
        let all: Vec<_> = targets.into_iter().map(|(_, own)| own).collect();
        labels::of_targets(&labels, &all).map_or(Ok(()), Err)?;
    }
    Ok(Some(selected))
}

/// Parses the labels in a column.
pub(super) fn labels_of(text: Option<&str>) -> Labels {
    let labels: BTreeMap<String, String> = text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    labels.into_iter().collect()
}

/// The groups of places of environments and targets; none if all are selected.
async fn groups(
    transaction: &mut Transaction,
    (environments, targets): (Option<Vec<EnvironmentId>>, Option<&BTreeSet<TargetId>>),
) -> Result<Option<Vec<PlaceGroupId>>, QuestionError> {
    let (mut parameters, mut conditions) = (Parameters::new(transaction.dialect()), Vec::new());
    if let Some(targets) = targets {
        let of_targets = parameters.any_int("m.deployment_target_id", targets.clone());
        conditions.push(format!("g.id in (select m.place_group_id from place_group_target m where {of_targets})"));
    }
    conditions.extend(environments.map(|ids| parameters.any_int("g.environment_id", ids)));
    if conditions.is_empty() {
        return Ok(None);
    }
    let sql = format!("select g.id from place_group g where {} order by g.id", conditions::all(conditions));
    transaction.query(&sql, parameters.into_values()).await.map(Some).map_err(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::store::{Dialect, SqlValue};

    #[test]
    fn conditions_number_their_parameters() {
        let mut parameters = Parameters::with(Dialect::Postgres, vec![7.into()]);
        let (groups, hosts) = (Some(vec![PlaceGroupId::new(1)]), Some(vec![HostId::new(2)]));
        let scope = Scope { groups, hosts, ..Scope::default() };
        let of_groups = scope.of_groups("g.id", &mut parameters);
        let of_hosts = scope.of_hosts("h.id", &mut parameters);
        let of_targets = scope.of_targets("t.id", &mut parameters);
        assert_eq!(
            conditions::and(of_groups.into_iter().chain(of_hosts).chain(of_targets)),
            " and g.id = any($2) and h.id = any($3)"
        );
        assert_eq!(parameters.into_values(), [7.into(), vec![1].into(), SqlValue::Ints(vec![2])]);
    }
}
