//! The present states of reconcilers, from the tallies. The database counts one by one what no tally tells apart: the hosts, and the content of the folders of
//! several clusters that are counted together.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::counts::CountDimension;
use tokio::sync::SemaphorePermit;

use super::super::counted::{CountedReconcilers, at_groups, counted_alone};
use super::super::earlier::CountRecord;
use super::super::reconciler_state::{self, LIVENESS, LivenessNumber, StateNumber};
use super::super::scope::Scope;
use super::super::tallies::Tallies;
use super::super::{Question, QuestionError, conditions};
use super::dimensions::Dimensions;
use super::unit::{Content, Found, Unit, Value};
use crate::limits::COUNTED_BY_PLACE_MAX;
use crate::store::{
    ColumnError, ColumnType, Columns, CommitId, Database, DatabaseError, FromRow, Parameters, PlaceGroupId, Rows,
    TallyId, Transaction,
};

/// The selected reconcilers.
pub(super) async fn units(
    database: &Database,
    (question, dimensions): (Question<'_>, Dimensions<'_>),
) -> Result<Found, QuestionError> {
    if dimensions.are_of_hosts() {
        of_hosts(database, (question, dimensions)).await
    } else {
        of_tallies(database, (question, dimensions)).await
    }
}

/// The reconcilers of tallies that are the same in all dimensions.
async fn of_tallies(
    database: &Database,
    (question, dimensions): (Question<'_>, Dimensions<'_>),
) -> Result<Found, QuestionError> {
    let (mut transaction, scope) = Scope::of_counts(database, question).await?;
    let mut tallies = tallies(&mut transaction, (&scope, dimensions)).await?;
    if !dimensions.are_of_content() {
        return Ok(Found { transaction, scope, units: tallies.into_values().collect(), recorded_on: None });
    }
    let several = read_contents(&mut transaction, &mut tallies).await?;
    if several.is_empty() {
        return Ok(Found { transaction, scope, units: tallies.into_values().collect(), recorded_on: None });
    }
    let of_several = |unit: &Unit| several.contains(&unit.group_id);
    let reconcilers = at_groups(&mut transaction, Some(&several)).await?;
    let (mut transaction, turn) = alone_if_many(database, (transaction, &scope), Some(reconcilers)).await?;
    if turn.is_some() {
        tallies.retain(|_, unit| !of_several(unit));
        let now = self::tallies(&mut transaction, (&scope, dimensions)).await?;
        tallies.extend(now.into_iter().filter(|(_, unit)| of_several(unit)));
    }
    let counted = one_by_one(&mut transaction, (&scope, dimensions), Some(&several)).await?;
    drop(turn);
    let (split, whole): (BTreeMap<_, _>, BTreeMap<_, _>) = tallies.into_iter().partition(|(_, unit)| of_several(unit));
    let units = whole.into_values().chain(of_counted(counted, &split)).collect();
    Ok(Found { transaction, scope, units, recorded_on: None })
}

/// The reconcilers as the hub recorded them.
pub(super) async fn recorded(
    mut transaction: Transaction,
    (mut scope, dimensions): (Scope, Dimensions<'_>),
    record: CountRecord,
) -> Result<Found, QuestionError> {
    scope.tallies = Tallies::Recorded(record.id);
    let mut tallies = tallies(&mut transaction, (&scope, dimensions)).await?;
    if dimensions.are_of_content() && !read_contents(&mut transaction, &mut tallies).await?.is_empty() {
        let message = "for an earlier time, so many reconcilers of folders of clusters are not counted by versions; select fewer, for example by `workload`";
        return Err(QuestionError::Wrong { parameter: "at", message: message.to_owned() });
    }
    let units = tallies.into_values().collect();
    Ok(Found { transaction, scope, units, recorded_on: Some(record.recorded_on) })
}

/// Reads the content that the reconcilers of tallies have at groups with one folder. Returns the groups with several.
async fn read_contents(
    transaction: &mut Transaction,
    tallies: &mut BTreeMap<TallyId, Unit>,
) -> Result<Vec<PlaceGroupId>, DatabaseError> {
    let (alone, several) = folders(transaction, tallies).await?;
    let held = tallies.values().filter_map(|unit| Some((unit.group_id, unit.held?)));
    let held = held.filter(|(group, _)| alone.contains(group)).collect();
    let contents = contents(transaction, held).await?;
    for unit in tallies.values_mut() {
        let content = unit.held.and_then(|held| contents.get(&(unit.group_id, held)));
        unit.content = content.cloned().unwrap_or_default();
    }
    Ok(several)
}

/// The reconcilers of tallies by their hosts.
async fn of_hosts(
    database: &Database,
    (question, dimensions): (Question<'_>, Dimensions<'_>),
) -> Result<Found, QuestionError> {
    let mut transaction = database.begin_reading().await?;
    let mut scope = Scope::read(&mut transaction, question).await?;
    dimensions.check_hosts(&mut transaction, question).await?;
    let reconcilers = at_groups(&mut transaction, scope.groups.as_deref()).await?;
    let is_any_host = scope.hosts.is_none() && reconcilers > COUNTED_BY_PLACE_MAX;
    if dimensions.has(&CountDimension::Host) && is_any_host {
        let message = "the filter selects too many hosts to count by `host`; select fewer, for example by `selector`";
        return Err(QuestionError::Wrong { parameter: "rows", message: message.to_owned() });
    }
    // Without a condition on places, all hosts are examined to find those of a kind.
    let examined = (scope.groups.is_some() || scope.kind.is_any()).then_some(reconcilers);
    let (mut transaction, turn) = alone_if_many(database, (transaction, &scope), examined).await?;
    if turn.is_some() {
        scope = Scope::read(&mut transaction, question).await?;
    }
    let tallies = tallies(&mut transaction, (&scope, dimensions)).await?;
    let counted = one_by_one(&mut transaction, (&scope, dimensions), scope.groups.as_deref()).await?;
    drop(turn);
    let units = of_counted(counted, &tallies).collect();
    Ok(Found { transaction, scope, units, recorded_on: None })
}

/// A transaction in which so many reconcilers of a scope may be counted. None: all of them.
async fn alone_if_many(
    database: &Database,
    (transaction, scope): (Transaction, &Scope),
    reconcilers: Option<i64>,
) -> Result<(Transaction, Option<SemaphorePermit<'static>>), QuestionError> {
    let reconcilers = if scope.hosts.is_some() { 0 } else { reconcilers.unwrap_or(i64::MAX) };
    counted_alone(database, transaction, reconcilers).await
}

/// The reconcilers of each tally.
async fn tallies(
    transaction: &mut Transaction,
    (scope, dimensions): (&Scope, Dimensions<'_>),
) -> Result<BTreeMap<TallyId, Unit>, DatabaseError> {
    let mut parameters = Parameters::new(transaction.dialect());
    let tallies = scope.tallies(&mut parameters);
    let of_groups = conditions::and(scope.of_groups("t.place_group_id", &mut parameters));
    let if_needed = |is_needed: bool, column: &'static str| if is_needed { column } else { "cast(null as text)" };
    let join_of_commit =
        if dimensions.has_version() { " left join gitops_commit c on c.id = t.held_commit_id" } else { "" };
    let sql = format!(
        "select t.id, t.place_group_id, {}, {}, {} as state, {LIVENESS}, t.held_commit_id, {}, t.reconcilers from {tallies} t \
         join place_group g on g.id = t.place_group_id left join environment e on e.id = g.environment_id{join_of_commit} \
         where t.desired_commit_id <> 0 and t.reconcilers > 0{of_groups}",
        if_needed(dimensions.has(&CountDimension::Environment), "e.name"),
        if_needed(dimensions.has(&CountDimension::ClusterType), "g.cluster_type"),
        reconciler_state::expression(reconciler_state::HOLDS_DESIRED),
        if_needed(dimensions.has_version(), "c.commit_id"),
    );
    Ok(transaction.query(&sql, parameters.into_values()).await?.into_iter().collect())
}

impl FromRow for Unit {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (group_id, environment, cluster_type) = columns.take::<(_, Option<String>, Option<String>)>()?;
        let (StateNumber(state), LivenessNumber(liveness)): (StateNumber, LivenessNumber) = columns.take()?;
        let (held, commit, reconcilers) = columns.take::<(i64, _, _)>()?;
        Ok(Self {
            group_id,
            environment: environment.map(Into::into),
            cluster_type: cluster_type.map(Into::into),
            state,
            liveness,
            held: CommitId::unless_zero(held),
            commit,
            content: Content::default(),
            hosts: [None, None],
            reconcilers,
        })
    }
}

/// The groups of platform folders: those with one folder, and those of the folders of several clusters.
async fn folders(
    transaction: &mut Transaction,
    tallies: &BTreeMap<TallyId, Unit>,
) -> Result<(Vec<PlaceGroupId>, Vec<PlaceGroupId>), DatabaseError> {
    let groups: BTreeSet<_> = tallies.values().map(|unit| unit.group_id).collect();
    let sql = format!(
        "select g.id, (select count(*) from (select 1 from place q where q.place_group_id = g.id limit 2) as x) from place_group g \
         where {} and g.role = 'platform' order by g.id",
        transaction.dialect().any_int("g.id", "$1")
    );
    let found: Vec<(PlaceGroupId, i64)> = transaction.query(&sql, vec![groups.into()]).await?;
    let (several, alone): (Vec<_>, Vec<_>) = found.into_iter().partition(|(_, folders)| *folders > 1);
    let ids = |groups: Vec<(PlaceGroupId, i64)>| groups.into_iter().map(|(id, _)| id).collect();
    Ok((ids(alone), ids(several)))
}

/// The versions in the content of groups with one folder, by group and by the commit since which it is desired.
async fn contents(
    transaction: &mut Transaction,
    held: BTreeSet<(PlaceGroupId, CommitId)>,
) -> Result<BTreeMap<(PlaceGroupId, CommitId), Content>, DatabaseError> {
    let mut rows = Rows::new(&[("place_group_id", ColumnType::Int), ("commit_id", ColumnType::Int)]);
    held.into_iter().for_each(|(group, commit)| rows.push(vec![group.into(), commit.into()]));
    let statement = "select s.place_group_id, s.commit_id, v.config_version, n.version from source s \
         join place p on p.place_group_id = s.place_group_id \
         join place_revision v on v.id = (select max(o.id) from place_revision o where o.place_id = p.id and o.gitops_commit_id = s.commit_id) \
         left join workload_version n on n.id = v.workload_version_id";
    let found = transaction.with::<(PlaceGroupId, CommitId, Content)>(rows, statement).await?;
    Ok(found.into_iter().map(|(group, commit, content)| ((group, commit), content)).collect())
}

impl FromRow for Content {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (config_version, release) = columns.take::<(Option<String>, Option<String>)>()?;
        Ok(Self { config_version: config_version.map(Into::into), release: release.map(Into::into) })
    }
}

/// The reconcilers of a tally with the same values of hosts and the same versions in their content.
struct Part {
    tally: TallyId,
    hosts: [Value; 2],
    content: Content,
    reconcilers: i64,
}

impl FromRow for Part {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (tally, rows, columns_of_hosts) = columns.take::<(_, Option<String>, Option<String>)>()?;
        let (content, reconcilers) = columns.take()?;
        Ok(Self { tally, hosts: [rows, columns_of_hosts].map(|value| value.map(Into::into)), content, reconcilers })
    }
}

/// Counts the reconcilers of a scope at these groups of places. There may also be those of other groups.
async fn one_by_one(
    transaction: &mut Transaction,
    (scope, dimensions): (&Scope, Dimensions<'_>),
    groups: Option<&[PlaceGroupId]>,
) -> Result<Vec<Part>, QuestionError> {
    let hosts = (&scope.kind, scope.hosts.as_deref());
    let CountedReconcilers { from, condition, mut parameters } =
        CountedReconcilers::new(transaction, hosts, groups).await?;
    let mut joins = String::new();
    let mut of_host = |number: usize| {
        let (join, column) = match dimensions.both().get(number).copied().flatten() {
            Some(CountDimension::Host) => {
                (format!(" join host h{number} on h{number}.id = yr.host_id"), format!("h{number}.name"))
            }
            Some(CountDimension::HostLabel(key)) => {
                let key = parameters.equals(&format!("k{number}.key"), key.as_str());
                let join = format!(" left join host_label k{number} on k{number}.host_id = yr.host_id and {key}");
                (join, format!("k{number}.value"))
            }
            _ => (String::new(), "cast(null as text)".to_owned()),
        };
        joins += &join;
        column
    };
    let (rows, columns) = (of_host(0), of_host(1));
    let content = if dimensions.are_of_content() {
        joins += " left join place_revision v on v.id = ys.held_revision_id left join workload_version n on n.id = v.workload_version_id";
        "v.config_version, n.version"
    } else {
        "cast(null as text), cast(null as text)"
    };
    let sql = format!(
        "select ys.tally_id, {rows}, {columns}, {content}, count(*) as reconcilers from {from}{joins} \
         where {condition} group by 1, 2, 3, 4, 5"
    );
    Ok(transaction.query(&sql, parameters.into_values()).await?)
}

/// The counted reconcilers of these tallies.
fn of_counted(counted: Vec<Part>, tallies: &BTreeMap<TallyId, Unit>) -> impl Iterator<Item = Unit> {
    counted.into_iter().filter_map(|Part { tally, hosts, content, reconcilers }| {
        let unit = tallies.get(&tally)?.clone();
        Some(Unit { content, hosts, reconcilers, ..unit })
    })
}
