//! Branches of GitOps repositories: their commits in order, and the commit up to which each was read.

use hub_api::limits::FUTURE_MAX;
use hub_api::publication::{BranchContent, BranchRead, PublicationQuery, ReadProgress, Role};
use hub_api::sink::{BranchName, PathPage};
use hub_api::timestamp::Timestamp;

use super::CompletedOutput;
use crate::store::{BranchId, CommitId, Database, DatabaseError, SqlValue, Transaction};

/// A stored branch.
pub(super) struct Branch {
    pub(super) id: BranchId,
    head: Option<String>,
}

/// A stored commit.
#[derive(Clone, Copy)]
pub(super) struct LatestCommit {
    pub(super) id: CommitId,
    /// Whether this commit was added by the current publication.
    pub(super) is_new: bool,
    /// The time since when it is the last commit of the branch: its own date, or the time when a reset of the branch to it was observed.
    pub(super) since: Timestamp,
}

impl Branch {
    /// Finds the branch, or adds it. Other publications to the branch wait until the transaction ends.
    pub(super) async fn find(
        transaction: &mut Transaction,
        repository: &str,
        branch: &str,
    ) -> Result<Self, DatabaseError> {
        let names: Vec<SqlValue> = vec![hub_api::endpoint::repository(repository).into(), branch.trim().into()];
        let sql = "insert into gitops_branch (repository, branch) values ($1, $2) \
            on conflict (repository, branch) do update set branch = excluded.branch returning id, head";
        let (id, head) = transaction.one(sql, names).await?;
        Ok(Self { id, head })
    }

    /// Whether another reader has read further since then.
    pub(super) fn is_beyond(&self, seen: &ReadProgress) -> bool {
        self.head != seen.before
    }

    /// Returns the commit of a publication, as the last commit of the branch. Returns none if the branch has a newer commit by the dates of commits.
    /// With `is_seen`, the branch itself was read, and dates do not decide.
    pub(super) async fn commit(
        &self,
        transaction: &mut Transaction,
        publication: &BranchContent,
        is_seen: bool,
    ) -> Result<Option<LatestCommit>, DatabaseError> {
        let dialect = transaction.dialect();
        let sql = format!(
            "select id, commit_id, sequence, {} from gitops_commit where branch_id = $1 order by sequence desc limit 1",
            dialect.millis("committed_on")
        );
        let last: Option<(CommitId, String, i64, Timestamp)> = transaction.first(&sql, vec![self.id.into()]).await?;
        let now = Timestamp::now();
        // A commit with a date too far in the future must not cause later commits to be ignored.
        let last_on = last.as_ref().map(|(.., on)| *on).filter(|last_on| *last_on <= now.after(FUTURE_MAX));
        if let Some((id, ..)) = last.as_ref().filter(|(_, commit, ..)| *commit == publication.commit) {
            let since = last_on.unwrap_or(publication.committed_on);
            return Ok(Some(LatestCommit { id: *id, is_new: false, since }));
        }
        if !is_seen && last_on.is_some_and(|last_on| last_on > publication.committed_on) {
            return Ok(None);
        }
        let is_known = self.knows(transaction, &publication.commit).await?;
        // The commit is as old as the last one, to the second, and was stored before it.
        if !is_seen && last_on == Some(publication.committed_on) && is_known {
            return Ok(None);
        }
        let since = match last_on {
            // The branch was reset. The earlier history of the branch remains as it was. Dates of git have whole seconds.
            Some(last_on) if is_seen && is_known => last_on.max(now.whole_seconds()),
            _ if publication.committed_on > now.after(FUTURE_MAX) => now.whole_seconds(),
            // The author's clock determines the date of a commit. So the date is raised to the one of the previous commit of the branch, if it is
            // earlier.
            _ => last_on.map_or(publication.committed_on, |last_on| last_on.max(publication.committed_on)),
        };
        let sequence = last.map_or(0, |(_, _, sequence, _)| sequence) + 1;
        let sql = format!(
            "insert into gitops_commit (branch_id, commit_id, sequence, committed_on) values ($1, $2, $3, {}) \
             returning id",
            dialect.instant("$4")
        );
        let values = vec![self.id.into(), publication.commit.as_str().into(), sequence.into(), since.into()];
        Ok(Some(LatestCommit { id: transaction.one(&sql, values).await?, is_new: true, since }))
    }

    async fn knows(&self, transaction: &mut Transaction, commit: &str) -> Result<bool, DatabaseError> {
        let sql = "select 1 from gitops_commit where branch_id = $1 and commit_id = $2";
        transaction.exists(sql, vec![self.id.into(), commit.into()]).await
    }

    /// Whether all other commits of the branch are older than that of a publication. Dates of git have whole seconds: the order of two commits in the
    /// same second is not known.
    pub(super) async fn is_latest(
        &self,
        transaction: &mut Transaction,
        publication: &BranchContent,
    ) -> Result<bool, DatabaseError> {
        let sql = format!(
            "select 1 from gitops_commit where branch_id = $1 and commit_id <> $2 and committed_on >= {} and committed_on <= {} limit 1",
            transaction.dialect().instant("$3"),
            transaction.dialect().instant("$4"),
        );
        let latest = Timestamp::now().after(FUTURE_MAX);
        let values =
            vec![self.id.into(), publication.commit.as_str().into(), publication.committed_on.into(), latest.into()];
        Ok(!transaction.exists(&sql, values).await?)
    }

    /// Stores the commit of which all places of an output were published. Does nothing if it is not the last commit of the branch: of an earlier commit, only the
    /// plans were stored.
    pub(super) async fn set_published(
        &self,
        transaction: &mut Transaction,
        CompletedOutput { commit, output, .. }: &CompletedOutput,
    ) -> Result<(), DatabaseError> {
        let sql = "insert into published_output (branch_id, environment, folder, commit_id) \
            select c.branch_id, $3, $4, c.commit_id from gitops_commit c where c.branch_id = $1 and c.commit_id = $2 \
            and c.sequence = (select max(l.sequence) from gitops_commit l where l.branch_id = $1) \
            on conflict (branch_id, environment, folder) do update set commit_id = excluded.commit_id";
        let values = vec![
            self.id.into(),
            commit.as_str().into(),
            output.environment.as_str().into(),
            output.folder.as_str().into(),
        ];
        transaction.execute(sql, values).await
    }

    /// Stores the commit up to which the branch was read, and the folder of the output.
    pub(super) async fn set_read(
        &self,
        transaction: &mut Transaction,
        (commit, folder): (&str, &str),
    ) -> Result<(), DatabaseError> {
        let now = transaction.dialect().instant("$4");
        let sql = format!("update gitops_branch set head = $1, folder = $2, read_on = {now} where id = $3");
        let values = vec![commit.into(), folder.into(), self.id.into(), Timestamp::now().into()];
        transaction.execute(&sql, values).await
    }
}

/// The last commit of a branch of which all places of an output were published; none if there is none.
///
/// # Errors
/// The database cannot be reached.
pub async fn published_up_to(database: &Database, query: &PublicationQuery) -> Result<Option<String>, DatabaseError> {
    let sql = "select o.commit_id from gitops_branch b join published_output o on o.branch_id = b.id \
        where b.repository = $1 and b.branch = $2 and o.environment = $3 and o.folder = $4";
    let PublicationQuery { repository, branch, environment, folder } = query;
    let values: Vec<SqlValue> = vec![
        hub_api::endpoint::repository(repository).into(),
        branch.trim().into(),
        environment.as_str().into(),
        folder.as_str().into(),
    ];
    database.first(sql, values).await
}

/// How far a branch was read; none if it was never read.
///
/// # Errors
/// The database cannot be reached.
pub async fn read_up_to(
    database: &Database,
    repository: &str,
    branch: &str,
) -> Result<Option<BranchRead>, DatabaseError> {
    let sql = "select head, folder from gitops_branch where repository = $1 and branch = $2 and head is not null";
    let names = vec![hub_api::endpoint::repository(repository).into(), branch.trim().into()];
    let read: Option<(String, Option<String>)> = database.first(sql, names).await?;
    Ok(read.map(|(commit, folder)| BranchRead { commit, folder }))
}

/// A page of the sorted paths of a branch at which content of a role is desired.
///
/// # Errors
/// The database cannot be reached.
pub async fn desired_paths(
    database: &Database,
    BranchName { repository, branch }: BranchName<'_>,
    role: Role,
    PathPage { after, count }: PathPage<'_>,
) -> Result<Vec<String>, DatabaseError> {
    let sql = "select p.path from gitops_branch b join place p on p.branch_id = b.id \
        join place_group g on g.id = p.place_group_id join place_revision w on w.id = p.desired_revision_id \
        where b.repository = $1 and b.branch = $2 and g.role = $3 and w.tree is not null \
        and ($4 = 0 or p.path > $5) order by p.path limit $6";
    let repository = hub_api::endpoint::repository(repository);
    let values: Vec<SqlValue> = vec![
        repository.into(),
        branch.trim().into(),
        role.as_str().into(),
        i64::from(after.is_some()).into(),
        after.unwrap_or_default().into(),
        i64::try_from(count).unwrap_or(i64::MAX).into(),
    ];
    database.query(sql, values).await
}
