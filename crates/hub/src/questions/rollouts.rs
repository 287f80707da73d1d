//! Past and current rollouts: commits that changed the desired content of places.

use std::collections::{BTreeMap, BTreeSet};

use hub_api::page::Page;
use hub_api::rollouts::{ListedRollout, RolloutVersion, Rollouts};
use hub_api::timestamp::Timestamp;
use model::rollout::Counts;

use super::cursor::{Cursor, ListPart};
use super::earlier::Totals;
use super::manifests::HAS_MANIFESTS;
use super::scope::Scope;
use super::subject::Subject;
use super::{Question, QuestionError, conditions, question};
use crate::store::{
    ColumnError, Columns, CommitId, Database, DatabaseError, FromRow, HostId, Parameters, SqlValue, Transaction,
};

/// The commits that changed the desired content of places, the newest first, each with its progress: now, or at a timestamp.
///
/// # Errors
/// The filter or the page is invalid; the counts at the timestamp are not known; the database can't answer.
pub async fn rollouts(
    database: &Database,
    question: impl Into<Question<'_>>,
    page: &Page,
    at: Option<Timestamp>,
) -> Result<Rollouts, QuestionError> {
    let question = question.into();
    let after = page.cursor.as_deref().map(|cursor| Cursor::<2>::read(cursor, ROLLOUTS)).transpose()?;
    let limit = page.limit.map_or(Ok(ROLLOUTS_DEFAULT), |_| question::limit(page))?;
    let Totals { mut transaction, scope, recorded_on, .. } = Totals::read(database, question, at).await?;
    let latest = at.map_or(i64::MAX, |at| at.millis().saturating_add(1));
    let part = ListPart { after: after.unwrap_or(Cursor([latest, 0])), limit: limit + 1 };
    let mut listed = listed(&mut transaction, &scope, part).await?;
    let next = (listed.len() > limit).then(|| listed.truncate(limit)).and_then(|()| listed.last());
    let next = next.map(|(id, rollout)| Cursor([rollout.committed_on.millis(), id.number()]).write(ROLLOUTS));
    let subject = Subject::of_commits(&transaction, listed.iter().map(|(id, _)| *id).collect());
    let mut counts: BTreeMap<CommitId, Counts> = BTreeMap::new();
    for ((id, _), stand) in subject.stands(&mut transaction, &scope).await? {
        counts.entry(CommitId::new(id)).or_default().merge(&stand.counts);
    }
    let commits = listed.iter().map(|(_, rollout)| rollout.commit.clone()).collect();
    let versions = versions(&mut transaction, commits, scope.desired_hosts.as_deref()).await?;
    let mut whole = |(id, rollout): (CommitId, ListedRollout)| ListedRollout {
        counts: counts.remove(&id).unwrap_or_default(),
        versions: versions.get(&rollout.commit).cloned().unwrap_or_default(),
        ..rollout
    };
    Ok(Rollouts { items: listed.into_iter().map(&mut whole).collect(), next, recorded_on })
}

/// The name of this list in cursors.
const ROLLOUTS: &str = "rollouts";
/// Rollouts on a page if the request has no `limit`. It is small because a rollout can have many places.
const ROLLOUTS_DEFAULT: usize = 20;

pub(super) async fn listed(
    transaction: &mut Transaction,
    scope: &Scope,
    ListPart { after: Cursor([before, id]), limit }: ListPart,
) -> Result<Vec<(CommitId, ListedRollout)>, DatabaseError> {
    let dialect = transaction.dialect();
    let before = Timestamp::from_millis(before);
    let mut parameters = Parameters::with(dialect, vec![before.into(), id.into(), (limit as i64).into()]);
    let of_groups = conditions::and(scope.of_desired("p.place_group_id", &mut parameters));
    // A host has few places, so their commits are found before the commits are examined.
    let (mut of_hosts, mut of_commits) = (String::new(), String::new());
    if let Some(hosts) = &scope.desired_hosts {
        let hosts = parameters.any_int("r.host_id", hosts.clone());
        of_hosts = format!(" and v.place_id in (select r.place_id from reconciler r where {hosts})");
        of_commits = format!(" and c.id in (select v.gitops_commit_id from place_revision v where 1 = 1{of_hosts})");
    }
    let places = format!(
        "from place_revision v join place p on p.id = v.place_id where v.gitops_commit_id = c.id{of_groups}{of_hosts}"
    );
    let count = |what: &str| format!("(select count(distinct v.place_id) {places} and v.tree is {what})");
    let instant = dialect.instant("$1");
    let sql = format!(
        "select c.id, c.commit_id, b.repository, b.branch, {}, {}, {} from gitops_commit c \
         join gitops_branch b on b.id = c.branch_id \
         where (c.committed_on < {instant} or c.committed_on = {instant} and c.id < $2){of_commits} and exists (select 1 {places}) \
         order by c.committed_on desc, c.id desc limit $3",
        dialect.millis("c.committed_on"),
        count("not null"),
        count("null"),
    );
    transaction.query(&sql, parameters.into_values()).await
}

impl FromRow for ListedRollout {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (commit, repository, branch) = columns.take()?;
        let (committed_on, places, removed) = columns.take()?;
        Ok(Self { commit, repository, branch, committed_on, places, removed, ..Self::default() })
    }
}

/// The versions that became desired with commits, by commit: at all places, or at the places of hosts and in the folders below them.
pub(super) async fn versions(
    transaction: &mut Transaction,
    commits: BTreeSet<String>,
    hosts: Option<&[HostId]>,
) -> Result<BTreeMap<String, Vec<RolloutVersion>>, DatabaseError> {
    let dialect = transaction.dialect();
    let commits: SqlValue = commits.into_iter().collect::<Vec<_>>().into();
    let mut parameters = Parameters::with(dialect, vec![commits]);
    let (mut of_targets, mut of_places) = (String::new(), String::new());
    if let Some(hosts) = hosts {
        let places = places_of_hosts(hosts, &mut parameters);
        of_targets = format!(
            " and deployment_target_id in (select m.deployment_target_id from place q \
              join place_group_target m on m.place_group_id = q.place_group_id where q.id in ({places}))"
        );
        of_places = format!(" and r.place_id in ({places})");
    }
    // The application of a workload may have changed since then.
    let sql = format!(
        "select w.name, a.name, l.name, t.name, e.name, v.version, d.commit_id from \
           (select gitops_commit_id as commit_id, deployment_target_id as target_id, workload_version_id as version_id, 1 as is_of_manifests \
            from deployment_assignment \
            where {}{of_targets} union select c.commit_id, m.deployment_target_id, r.workload_version_id, 0 from gitops_commit c \
            join place_revision r on r.gitops_commit_id = c.id join place p on p.id = r.place_id \
            join place_group_target m on m.place_group_id = p.place_group_id \
            where {} and r.workload_version_id is not null{of_places}) d \
         join workload_version v on v.id = d.version_id join workload o on o.id = v.workload_id \
         join deployment_target t on t.id = d.target_id \
         join environment e on e.id = t.environment_id join workload l on l.id = t.workload_id \
         join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id \
         where (o.id = l.id or d.is_of_manifests = 0 and o.name = l.name) \
         and (d.is_of_manifests = 1 or not {HAS_MANIFESTS}) order by 1, 2, 3, 5, 4, 6, 7",
        dialect.any_text("gitops_commit_id", "$1"),
        dialect.any_text("c.commit_id", "$1")
    );
    let mut versions: BTreeMap<String, Vec<RolloutVersion>> = BTreeMap::new();
    for (target, environment, version, commit) in transaction.query(&sql, parameters.into_values()).await? {
        versions.entry(commit).or_default().push(RolloutVersion { target, environment, version });
    }
    Ok(versions)
}

/// A statement for the places of hosts, and those in the folders below them.
fn places_of_hosts(hosts: &[HostId], parameters: &mut Parameters) -> String {
    let of_hosts = parameters.any_int("hr.host_id", hosts.to_vec());
    let endpoint = parameters.dialect().in_bytes("b.endpoint");
    // In ASCII, `0` follows `/`: this range has all endpoints in the folder. Cross joins prevent SQLite from beginning with all places.
    format!(
        "select hr.place_id from reconciler hr where {of_hosts} and hr.place_id is not null \
         union select b.id from reconciler hr cross join place hp cross join place b \
         where {of_hosts} and hp.id = hr.place_id and {endpoint} > hp.endpoint || '/' and {endpoint} < hp.endpoint || '0'"
    )
}
