//! How far a rollout is: of a commit, or of a version of a workload.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use super::cursor::Cursor;
use super::deployments::{self, Deployment, Deployments};
use super::scope::Scope;
use super::standing::{self, Counts};
use super::walk::{Selected, Walk, selected_columns};
use super::{Filter, Page, QuestionError, Standing, TargetNames, facts};
use crate::moment::Moment;
use crate::revision;
use crate::store::{Database, DatabaseError, Row, Transaction, Value};

/// How far a rollout is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollout {
    /// The commit or version that was asked for.
    pub of: String,
    /// How many stand where, in all environments together.
    pub counts: Counts,
    /// Of those that are expected: their place is to hold something else by now.
    pub superseded: i64,
    /// Whether all that are expected have it, and said that all is well.
    pub done: bool,
    /// The same by environment, in the order of their names.
    pub environments: Vec<EnvironmentRollout>,
}

/// How far a rollout is in an environment.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EnvironmentRollout {
    /// The environment; empty for places that belong to none.
    pub environment: String,
    /// How many stand where.
    pub counts: Counts,
    /// Of those that are expected: their place is to hold something else by now.
    pub superseded: i64,
    /// Since when it is wanted there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wanted_since: Option<Moment>,
    /// Those who need attention: the first of those that failed or went silent.
    pub attention: Vec<Deployment>,
}

/// A page of rollouts, the newest first.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Rollouts {
    /// The rollouts.
    pub items: Vec<ListedRollout>,
    /// The cursor of the next page; none if this is the last one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A commit that changed what places should hold.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ListedRollout {
    /// The commit.
    pub commit: String,
    /// The repository.
    pub repository: String,
    /// The branch.
    pub branch: String,
    /// When the commit was made.
    pub committed_on: Moment,
    /// How many places are to hold something else since.
    pub places: i64,
    /// The versions that became wanted with it.
    pub versions: Vec<RolloutVersion>,
    /// How many stand where.
    pub counts: Counts,
}

/// A version that became wanted at a target.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct RolloutVersion {
    /// The target.
    #[serde(flatten)]
    pub target: TargetNames,
    /// The target's environment.
    pub environment: String,
    /// The version.
    pub version: String,
}

/// Those who need attention, of one environment.
const ATTENTION: usize = 20;

/// Which content at which places is rolled out.
///
/// The table `subject` of its statements has the groups of places, and the commits at which that content became wanted there.
#[derive(Clone, Debug)]
struct Subject {
    table: String,
    values: Vec<Value>,
}

impl Subject {
    /// What a commit changed.
    fn of_commits(transaction: &Transaction, commits: Vec<i64>) -> Self {
        let of_commits = transaction.dialect().any_int("v.gitops_commit_id", "$1");
        let table = format!(
            "select distinct p.place_group_id, v.gitops_commit_id as commit_id from place_revision v \
             join place p on p.id = v.place_id where {of_commits} and v.tree is not null"
        );
        Self { table, values: vec![commits.into()] }
    }

    /// Targets with a version.
    fn of_versions(transaction: &Transaction, versions: Vec<i64>) -> Self {
        let of_versions = transaction.dialect().any_int("n.id", "$1");
        let table = format!(
            "select distinct g.id as place_group_id, c.id as commit_id from workload_version n \
             join deployment_target t on t.workload_id = n.workload_id \
             join deployment_assignment a on a.deployment_target_id = t.id and a.workload_version_id = n.id \
             join place_group_target m on m.deployment_target_id = t.id \
             join place_group g on g.id = m.place_group_id and g.role = 'application' \
             join gitops_commit c on c.commit_id = a.gitops_commit_id \
             where {of_versions} and exists (select 1 from place p where p.place_group_id = g.id and p.branch_id = c.branch_id)"
        );
        Self { table, values: vec![versions.into()] }
    }

    /// A statement over the tallies `t` of the subject, of which `standing` says where their reconcilers stand.
    ///
    /// Expected are the reconcilers of places at which it is or was wanted; of places that are counted with others, those that are to hold it, or do.
    fn statement(&self, select: &str, behind: &str) -> String {
        let standing = standing::expression("t.holds = 1");
        format!(
            "with subject as ({}), \
             concerned as (select s.place_group_id, \
               case when (select count(*) from place p where p.place_group_id = s.place_group_id) = 1 then 1 else 0 end as is_alone \
               from (select distinct place_group_id from subject) as s), \
             counted as (select t.id, t.place_group_id, t.held_commit_id, t.status, t.is_silent, t.reconcilers, c.is_alone, \
               case when w.commit_id is null then 0 else 1 end as wants, \
               case when h.commit_id is not null or t.is_current = 1 and w.commit_id is not null then 1 else 0 end as holds \
               from concerned c join tally t on t.place_group_id = c.place_group_id \
               left join subject w on w.place_group_id = t.place_group_id and w.commit_id = t.wanted_commit_id \
               left join subject h on h.place_group_id = t.place_group_id and h.commit_id = t.held_commit_id \
               where t.reconcilers > 0 and t.wanted_commit_id <> 0) \
             {} from counted t join place_group g on g.id = t.place_group_id \
             where (t.is_alone = 1 or t.wants = 1 or t.holds = 1){behind}",
            self.table,
            select.replace("{standing}", &standing),
        )
    }

    /// How many stand where, by environment: none is 0. And how many of them are to hold something else by now.
    async fn counts(
        &self,
        transaction: &mut Transaction,
        scope: &Scope,
    ) -> Result<BTreeMap<i64, (Counts, i64)>, DatabaseError> {
        let sum = transaction.dialect().int("sum(t.reconcilers)");
        let superseded = transaction.dialect().int("sum(case when t.wants = 1 then 0 else t.reconcilers end)");
        let select =
            format!("select coalesce(g.environment_id, 0), {{standing}} as standing, t.is_silent, {sum}, {superseded}");
        let mut values = self.values.clone();
        let groups = groups_condition(transaction, scope, &mut values);
        let sql = self.statement(&select, &format!("{groups} group by 1, 2, 3"));
        let mut counts: BTreeMap<i64, (Counts, i64)> = BTreeMap::new();
        for row in transaction.query(&sql, values).await? {
            let (counts, superseded) = counts.entry(row.int(0)).or_default();
            super::wants::add(counts, &row, 1);
            *superseded += row.int(4);
        }
        Ok(counts)
    }

    /// The tallies of those that stand there.
    async fn selected(
        &self,
        transaction: &mut Transaction,
        scope: &Scope,
        standings: &[Standing],
    ) -> Result<Vec<Selected>, DatabaseError> {
        let mut values = self.values.clone();
        let groups = groups_condition(transaction, scope, &mut values);
        let select = format!("select {}", selected_columns("{standing}"));
        let sql = self.statement(&select, &format!("{groups} order by t.id"));
        let rows = transaction.query(&sql, values).await?;
        let selected = rows.iter().filter_map(Selected::of);
        Ok(selected.filter(|selected| standings.contains(&selected.standing)).collect())
    }
}

fn groups_condition(transaction: &Transaction, scope: &Scope, values: &mut Vec<Value>) -> String {
    let Some(groups) = &scope.groups else { return String::new() };
    values.push(groups.clone().into());
    format!(" and {}", transaction.dialect().any_int("g.id", &format!("${}", values.len())))
}

/// How far the rollout of a commit (in any form that reconcilers write) or of a version is.
///
/// # Errors
/// Neither a commit nor a version is called so; the filter can't be meant; the database can't answer.
pub async fn rollout(database: &Database, of: &str, filter: &Filter) -> Result<Rollout, QuestionError> {
    filter.refuse_hosts()?;
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::of(&mut transaction, filter).await?;
    let subject = subject(&mut transaction, of, filter).await?;
    let counts = subject.counts(&mut transaction, &scope).await?;
    let names = environment_names(&mut transaction).await?;
    let since = since(&mut transaction, &subject).await?;
    let mut rollout = Rollout { of: of.to_owned(), ..Rollout::default() };
    for (environment, (counts, superseded)) in counts {
        rollout.counts.merge(&counts);
        rollout.superseded += superseded;
        let attention = match counts.failed + counts.silent {
            0 => Vec::new(),
            _ => attention(&mut transaction, &subject, (&scope, environment)).await?,
        };
        let name = names.get(&environment).cloned().unwrap_or_default();
        let wanted_since = since.get(&environment).copied();
        rollout.environments.push(EnvironmentRollout {
            environment: name,
            counts,
            superseded,
            wanted_since,
            attention,
        });
    }
    rollout.environments.sort_by(|one, other| one.environment.cmp(&other.environment));
    rollout.done = rollout.counts.succeeded == rollout.counts.expected;
    Ok(rollout)
}

/// Those who stand somewhere with a rollout; all of them if the filter has no `status`.
///
/// # Errors
/// As [`rollout`]; and the page can't be meant.
pub async fn rollout_hosts(
    database: &Database,
    of: &str,
    filter: &Filter,
    page: &Page,
) -> Result<Deployments, QuestionError> {
    let after = page.cursor.as_deref().map(|cursor| Cursor::read(cursor, LIST)).transpose()?;
    let limit = page.limit()?;
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::of(&mut transaction, filter).await?;
    let subject = subject(&mut transaction, of, filter).await?;
    let standings = scope.standings.clone().unwrap_or_else(|| Standing::ALL.to_vec());
    let selected = subject.selected(&mut transaction, &scope, &standings).await?;
    let targets = scope.targets.clone();
    let standing: BTreeMap<_, _> = selected.iter().map(|selected| (selected.id, selected.standing)).collect();
    let walk = Walk::of_tallies(scope, selected);
    let found = walk.page(&mut transaction, after, limit).await?;
    let mut items = deployments::rows(&mut transaction, &found.reconcilers, (targets.as_ref(), None)).await?;
    stand(&mut transaction, &found.reconcilers, (&standing, &mut items)).await?;
    Ok(Deployments { items, next: found.next.map(|next| next.write(LIST)) })
}

/// The word for cursors of this list.
const LIST: &str = "rollout";

/// Where rows stand with the rollout, which may not be what is wanted now.
async fn stand(
    transaction: &mut Transaction,
    reconcilers: &[i64],
    (standing, items): (&BTreeMap<i64, Standing>, &mut [Deployment]),
) -> Result<(), DatabaseError> {
    let sql = format!(
        "select h.name, r.name, s.tally_id from reconciler r join host h on h.id = r.host_id \
         join reconciler_state s on s.reconciler_id = r.id where {}",
        transaction.dialect().any_int("r.id", "$1")
    );
    let rows = transaction.query(&sql, vec![reconcilers.to_vec().into()]).await?;
    let tallies: BTreeMap<_, _> = rows.iter().map(|row| ((row.text(0), row.text(1)), row.int(2))).collect();
    for item in items {
        let tally = tallies.get(&(item.host.clone(), item.reconciler.clone()));
        item.standing = tally.and_then(|tally| standing.get(tally)).copied();
    }
    Ok(())
}

/// The commits and versions of that name.
async fn subject(transaction: &mut Transaction, of: &str, filter: &Filter) -> Result<Subject, QuestionError> {
    let commit = revision::commit(of);
    let sql = "select id from gitops_commit where commit_id = $1";
    let commits: Vec<i64> = ids(transaction, sql, vec![commit.into()]).await?;
    if !commits.is_empty() {
        return Ok(Subject::of_commits(transaction, commits));
    }
    let mut values = vec![Value::from(of)];
    let of_workload = filter.workload.as_ref().map(|workload| {
        values.push(workload.as_str().into());
        " and l.name = $2"
    });
    let sql = format!(
        "select v.id from workload l join workload_version v on v.workload_id = l.id where v.version = $1{}",
        of_workload.unwrap_or_default()
    );
    let versions = ids(transaction, &sql, values).await?;
    if !versions.is_empty() {
        return Ok(Subject::of_versions(transaction, versions));
    }
    let similar = abbreviated(transaction, commit).await?;
    if let [(id, _)] = similar.as_slice() {
        return Ok(Subject::of_commits(transaction, vec![*id]));
    }
    let similar = similar.into_iter().map(|(_, commit)| commit).collect();
    Err(QuestionError::Unknown { what: "commit or version", name: of.to_owned(), similar })
}

/// Digits of a commit that are enough for it to be meant.
const ABBREVIATED_MIN: usize = 7;

/// The commits that begin with these digits; three at most.
async fn abbreviated(transaction: &mut Transaction, digits: &str) -> Result<Vec<(i64, String)>, DatabaseError> {
    if digits.len() < ABBREVIATED_MIN || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Vec::new());
    }
    let digits = digits.to_ascii_lowercase();
    let sql = "select min(id), commit_id from gitops_commit where commit_id >= $1 and commit_id < $2 \
        group by commit_id order by commit_id limit 3";
    let rows = transaction.query(sql, vec![digits.as_str().into(), format!("{digits}g").into()]).await?;
    Ok(rows.iter().map(|row| (row.int(0), row.text(1))).collect())
}

async fn ids(transaction: &mut Transaction, sql: &str, values: Vec<Value>) -> Result<Vec<i64>, DatabaseError> {
    Ok(transaction.query(sql, values).await?.iter().map(|row| row.int(0)).collect())
}

async fn environment_names(transaction: &mut Transaction) -> Result<BTreeMap<i64, String>, DatabaseError> {
    let rows = transaction.query("select id, name from environment", Vec::new()).await?;
    Ok(rows.iter().map(|row| (row.int(0), row.text(1))).collect())
}

/// Since when it is wanted, by environment.
async fn since(transaction: &mut Transaction, subject: &Subject) -> Result<BTreeMap<i64, Moment>, DatabaseError> {
    let sql = format!(
        "with subject as ({}) select coalesce(g.environment_id, 0), {} from subject s \
         join place_group g on g.id = s.place_group_id join gitops_commit c on c.id = s.commit_id group by 1",
        subject.table,
        transaction.dialect().millis("max(c.committed_on)")
    );
    let rows = transaction.query(&sql, subject.values.clone()).await?;
    Ok(rows.iter().filter_map(|row| Some((row.int(0), row.moment(1)?))).collect())
}

/// The first of those in an environment that failed or went silent.
async fn attention(
    transaction: &mut Transaction,
    subject: &Subject,
    (scope, environment): (&Scope, i64),
) -> Result<Vec<Deployment>, QuestionError> {
    let selected = subject.selected(transaction, scope, &[Standing::Failed, Standing::Silent]).await?;
    let groups: Vec<i64> = selected.iter().map(|selected| selected.group_id).collect();
    let sql = format!(
        "select id from place_group where coalesce(environment_id, 0) = $2 and {}",
        transaction.dialect().any_int("id", "$1")
    );
    let here: BTreeSet<i64> =
        ids(transaction, &sql, vec![groups.into(), environment.into()]).await?.into_iter().collect();
    let selected: Vec<_> = selected.into_iter().filter(|selected| here.contains(&selected.group_id)).collect();
    let standing = selected.iter().map(|selected| (selected.id, selected.standing)).collect();
    let found = Walk::of_tallies(scope.clone(), selected).page(transaction, None, ATTENTION).await?;
    let mut items = deployments::rows(transaction, &found.reconcilers, (scope.targets.as_ref(), None)).await?;
    stand(transaction, &found.reconcilers, (&standing, &mut items)).await?;
    items.truncate(ATTENTION);
    Ok(items)
}

/// The commits that changed what places should hold, the newest first, each with how far it is.
///
/// # Errors
/// The filter or the page can't be meant; the database can't answer.
pub async fn rollouts(database: &Database, filter: &Filter, page: &Page) -> Result<Rollouts, QuestionError> {
    filter.refuse_hosts()?;
    let after = page.cursor.as_deref().map(|cursor| Cursor::<2>::read(cursor, ROLLOUTS)).transpose()?;
    let limit = page.limit.map_or(Ok(ROLLOUTS_DEFAULT), |_| page.limit())?;
    let mut transaction = database.begin_reading().await?;
    let scope = Scope::of(&mut transaction, filter).await?;
    let mut listed = listed(&mut transaction, &scope, (after.unwrap_or(Cursor([i64::MAX, 0])), limit + 1)).await?;
    let next = (listed.len() > limit).then(|| listed.truncate(limit)).and_then(|()| listed.last());
    let next = next.map(|(id, rollout)| Cursor([rollout.committed_on.millis(), *id]).write(ROLLOUTS));
    let mut items = Vec::new();
    for (id, mut rollout) in listed {
        let subject = Subject::of_commits(&transaction, vec![id]);
        for (counts, _) in subject.counts(&mut transaction, &scope).await?.values() {
            rollout.counts.merge(counts);
        }
        rollout.versions = versions(&mut transaction, &rollout.commit).await?;
        items.push(rollout);
    }
    Ok(Rollouts { items, next })
}

/// The word for cursors of this list.
const ROLLOUTS: &str = "rollouts";
/// Rollouts on a page, if it is not said: each takes a statement of its own.
const ROLLOUTS_DEFAULT: usize = 20;

pub(super) async fn listed(
    transaction: &mut Transaction,
    scope: &Scope,
    (Cursor([before, id]), limit): (Cursor<2>, usize),
) -> Result<Vec<(i64, ListedRollout)>, DatabaseError> {
    let dialect = transaction.dialect();
    let before = Moment::from_millis(before);
    let mut values = vec![Value::from(before), id.into(), (limit as i64).into()];
    let of_groups = scope.groups.clone().map(|groups| {
        values.push(groups.into());
        format!(" and {}", dialect.any_int("p.place_group_id", "$4"))
    });
    let of_groups = of_groups.unwrap_or_default();
    let places = format!(
        "from place_revision v join place p on p.id = v.place_id where v.gitops_commit_id = c.id and v.tree is not null{of_groups}"
    );
    let instant = dialect.instant("$1");
    let sql = format!(
        "select c.id, c.commit_id, b.repository, b.branch, {}, (select count(*) {places}) from gitops_commit c \
         join gitops_branch b on b.id = c.branch_id \
         where (c.committed_on < {instant} or c.committed_on = {instant} and c.id < $2) and exists (select 1 {places}) \
         order by c.committed_on desc, c.id desc limit $3",
        dialect.millis("c.committed_on"),
    );
    let rollout = |row: &Row| ListedRollout {
        commit: row.text(1),
        repository: row.text(2),
        branch: row.text(3),
        committed_on: row.moment(4).unwrap_or_default(),
        places: row.int(5),
        ..ListedRollout::default()
    };
    Ok(transaction.query(&sql, values).await?.iter().map(|row| (row.int(0), rollout(row))).collect())
}

/// The versions that became wanted with a commit.
pub(super) async fn versions(
    transaction: &mut Transaction,
    commit: &str,
) -> Result<Vec<RolloutVersion>, DatabaseError> {
    let sql = "select distinct w.name, a.name, l.name, t.name, e.name, v.version from deployment_assignment d \
        join workload_version v on v.id = d.workload_version_id join deployment_target t on t.id = d.deployment_target_id \
        join environment e on e.id = t.environment_id join workload l on l.id = t.workload_id \
        join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id \
        where d.gitops_commit_id = $1 order by 1, 2, 3, 5, 4, 6";
    let rows = transaction.query(sql, vec![commit.into()]).await?;
    let version =
        |row: &Row| RolloutVersion { target: facts::names(row, 0), environment: row.text(4), version: row.text(5) };
    Ok(rows.iter().map(version).collect())
}
