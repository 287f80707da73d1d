//! The names of all kinds but hosts: statements that select them within the reach of a token.

use hub_api::search::{SearchHit, SearchKind};

use super::super::conditions;
use super::super::scope::Scope;
use super::words::Words;
use crate::limits::{SEARCH_EXAMINED_MAX, SEARCH_VERSIONS_MAX};
use crate::store::{ColumnError, Columns, DatabaseError, FromRow, Parameters, Transaction};

/// The columns of names that belong to nothing.
const ALONE: &str =
    "cast(null as text) as workspace, cast(null as text) as application, cast(null as text) as workload";
/// The tables of workloads, of which `l` is one.
const OF_WORKLOAD: &str = "join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id";
/// The fewest digits of the id of a commit. Git abbreviates ids to no fewer.
const COMMIT_DIGITS_MIN: usize = 4;

/// The objects of a kind that may match the words; at most as many as are examined.
pub(super) async fn of_kind(
    transaction: &mut Transaction,
    (scope, kind): (&Scope, SearchKind),
    words: &Words,
) -> Result<Vec<SearchHit>, DatabaseError> {
    let dialect = transaction.dialect();
    let mut parameters = Parameters::new(dialect);
    let names = match kind {
        SearchKind::Environment => environments(scope, &mut parameters),
        SearchKind::Workspace => workspaces(scope, &mut parameters),
        SearchKind::Workload => workloads(scope, &mut parameters),
        SearchKind::Target => targets(scope, &mut parameters),
        SearchKind::ClusterType => cluster_types(scope, &mut parameters),
        SearchKind::Version => versions(scope, &mut parameters),
        SearchKind::Host => return Ok(Vec::new()),
        SearchKind::Commit => return commits(transaction, scope, words).await,
    };
    let of = |column: &str| format!("coalesce(x.{column}, '')");
    let all = ["name", "workspace", "application", "workload"].map(of).join(" || ' ' || ");
    let all = dialect.search_text(&format!("({all})"));
    let contains =
        words.all().iter().map(|word| format!("{} > 0", dialect.position(&all, &parameters.add(word.as_str()))));
    let contains = conditions::all(contains.collect::<Vec<_>>());
    let first = dialect.position(&dialect.search_text("x.name"), &parameters.add(words.longest()));
    let sql = format!(
        "select x.name, x.workspace, x.application, x.workload, cast(null as text), cast(null as text), cast(null as bigint) from ({names}) as x \
         where {contains} order by case when {first} = 1 then 0 else 1 end, 1, 2, 3, 4 limit {SEARCH_EXAMINED_MAX}"
    );
    transaction.query(&sql, parameters.into_values()).await
}

impl FromRow for SearchHit {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (name, workspace, application, workload) = columns.take()?;
        let (repository, branch, committed_on) = columns.take()?;
        Ok(Self { name, workspace, application, workload, repository, branch, committed_on })
    }
}

/// The conditions that a target `t` is within the reach; none if all are.
fn within(scope: &Scope, parameters: &mut Parameters) -> Vec<String> {
    let of_targets = scope.of_targets("t.id", parameters);
    of_targets.into_iter().chain(scope.of_environments("t.environment_id", parameters)).collect()
}

/// The condition that something has a target within the reach. `tables`: the target `t`, and what leads to it.
fn has_target(scope: &Scope, (tables, condition): (&str, &str), parameters: &mut Parameters) -> String {
    match within(scope, parameters) {
        within if within.is_empty() => conditions::all(None),
        within => format!("exists (select 1 from {tables} where {condition}{})", conditions::and(within)),
    }
}

fn environments(scope: &Scope, parameters: &mut Parameters) -> String {
    let has_target = has_target(scope, ("deployment_target t", "t.environment_id = e.id"), parameters);
    format!("select e.name as name, {ALONE} from environment e where {has_target}")
}

fn workspaces(scope: &Scope, parameters: &mut Parameters) -> String {
    let tables =
        "application a join workload l on l.application_id = a.id join deployment_target t on t.workload_id = l.id";
    let has_target = has_target(scope, (tables, "a.workspace_id = w.id"), parameters);
    format!("select w.name as name, {ALONE} from workspace w where {has_target}")
}

fn workloads(scope: &Scope, parameters: &mut Parameters) -> String {
    let has_target = has_target(scope, ("deployment_target t", "t.workload_id = l.id"), parameters);
    format!(
        "select l.name as name, w.name as workspace, a.name as application, cast(null as text) as workload from workload l {OF_WORKLOAD} \
         where {has_target}"
    )
}

fn targets(scope: &Scope, parameters: &mut Parameters) -> String {
    let within = conditions::all(within(scope, parameters));
    format!(
        "select distinct t.name as name, w.name as workspace, a.name as application, l.name as workload from deployment_target t \
         join workload l on l.id = t.workload_id {OF_WORKLOAD} where {within}"
    )
}

fn cluster_types(scope: &Scope, parameters: &mut Parameters) -> String {
    let of_groups = conditions::and(scope.of_groups("g.id", parameters));
    format!(
        "select distinct g.cluster_type as name, {ALONE} from place_group g where g.cluster_type is not null{of_groups}"
    )
}

/// The versions that are or were desired of a target within the reach.
fn versions(scope: &Scope, parameters: &mut Parameters) -> String {
    let is_assigned = "t.workload_id = v.workload_id and (exists (select 1 from deployment_assignment d \
          where d.deployment_target_id = t.id and d.workload_version_id = v.id) \
        or exists (select 1 from place_group_target m join place p on p.place_group_id = m.place_group_id \
          join place_revision r on r.place_id = p.id where m.deployment_target_id = t.id and r.workload_version_id = v.id))";
    let has_target = has_target(scope, ("deployment_target t", is_assigned), parameters);
    format!(
        "select v.version as name, w.name as workspace, a.name as application, l.name as workload \
         from (select * from workload_version order by id desc limit {SEARCH_VERSIONS_MAX}) as v \
         join workload l on l.id = v.workload_id {OF_WORKLOAD} where {has_target}"
    )
}

/// The commits whose ids begin with all words.
async fn commits(transaction: &mut Transaction, scope: &Scope, words: &Words) -> Result<Vec<SearchHit>, DatabaseError> {
    let is_id = |word: &String| word.bytes().all(|byte| byte.is_ascii_hexdigit());
    if !words.all().iter().all(is_id) || words.longest().len() < COMMIT_DIGITS_MIN {
        return Ok(Vec::new());
    }
    let dialect = transaction.dialect();
    // `g` follows the last digit.
    let (first, behind) = (words.longest().to_owned(), format!("{}g", words.longest()));
    let mut parameters = Parameters::with(dialect, vec![first.into(), behind.into()]);
    let changes = |of_groups: String| {
        format!(
            " and exists (select 1 from place_revision v join place p on p.id = v.place_id where v.gitops_commit_id = c.id and {of_groups})"
        )
    };
    let within = scope.of_groups("p.place_group_id", &mut parameters).map(changes).unwrap_or_default();
    let sql = format!(
        "select c.commit_id, cast(null as text), cast(null as text), cast(null as text), b.repository, b.branch, {} from gitops_commit c \
         join gitops_branch b on b.id = c.branch_id where c.commit_id >= $1 and c.commit_id < $2{within} \
         group by c.commit_id, b.repository, b.branch order by 1, 5, 6 limit {SEARCH_EXAMINED_MAX}",
        dialect.millis("max(c.committed_on)")
    );
    transaction.query(&sql, parameters.into_values()).await
}
