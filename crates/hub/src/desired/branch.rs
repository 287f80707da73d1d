//! Branches of GitOps repositories: their commits in order, and how far they were read.

use hub_api::limits::FUTURE_MAX;
use hub_api::publication::{BranchContent, ReadProgress, Role};
use hub_api::timestamp::Timestamp;

use crate::store::{BranchId, CommitId, Database, DatabaseError, Transaction, Value};

/// A branch in the store.
pub(super) struct Branch {
    pub(super) id: BranchId,
    head: Option<String>,
}

/// A commit in the store.
#[derive(Clone, Copy)]
pub(super) struct LatestCommit {
    pub(super) id: CommitId,
    /// Whether nobody told of it before.
    pub(super) is_new: bool,
    /// Since when it is the branch's last one: when it was made, or when the branch was seen to be reset to it.
    pub(super) since: Timestamp,
}

impl Branch {
    /// The branch; added if it is new. Nobody else publishes to it until the transaction ends.
    pub(super) async fn find(
        transaction: &mut Transaction,
        repository: &str,
        branch: &str,
    ) -> Result<Self, DatabaseError> {
        let names: Vec<Value> = vec![hub_api::endpoint::repository(repository).into(), branch.trim().into()];
        let sql = "insert into gitops_branch (repository, branch) values ($1, $2) \
            on conflict (repository, branch) do update set branch = excluded.branch returning id, head";
        let (id, head) = transaction.one(sql, names).await?;
        Ok(Self { id, head })
    }

    /// Whether somebody else has read on since then.
    pub(super) fn is_beyond(&self, seen: &ReadProgress) -> bool {
        self.head != seen.before
    }

    /// The commit of a publication, which is the branch's last one now. None if the branch has gone on, by the dates of commits, unless somebody saw that it is the last one.
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
        // A commit with a date that can't be right yet must not keep those after it from counting.
        let last_on = last.as_ref().map(|(.., on)| *on).filter(|last_on| *last_on <= now.after(FUTURE_MAX));
        if let Some((id, ..)) = last.as_ref().filter(|(_, commit, ..)| *commit == publication.commit) {
            let since = last_on.unwrap_or(publication.committed_on);
            return Ok(Some(LatestCommit { id: *id, is_new: false, since }));
        }
        if !is_seen && last_on.is_some_and(|last_on| last_on > publication.committed_on) {
            return Ok(None);
        }
        let is_known = self.knows(transaction, &publication.commit).await?;
        // In the same second as the last one, and known before it.
        if !is_seen && last_on == Some(publication.committed_on) && is_known {
            return Ok(None);
        }
        let since = match last_on {
            // The branch was reset: what it held until now stays what it held. Git counts seconds.
            Some(last_on) if is_seen && is_known => last_on.max(now.whole_seconds()),
            _ if publication.committed_on > now.after(FUTURE_MAX) => now.whole_seconds(),
            // Dates of commits are their makers': a branch holds nothing before what it went through earlier.
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

    /// Whether all other commits of the branch are older than that of a publication. Git counts seconds: of two in one second nobody can say.
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

    /// Notes that the branch was read up to a commit.
    pub(super) async fn set_read(&self, transaction: &mut Transaction, commit: &str) -> Result<(), DatabaseError> {
        let dialect = transaction.dialect();
        let sql = format!("update gitops_branch set head = $1, read_on = {} where id = $2", dialect.instant("$3"));
        let values = vec![commit.into(), self.id.into(), Timestamp::now().into()];
        transaction.execute(&sql, values).await
    }
}

/// The commit up to which a branch was read; none if it never was.
///
/// # Errors
/// The database can't be reached.
pub async fn read_up_to(database: &Database, repository: &str, branch: &str) -> Result<Option<String>, DatabaseError> {
    let sql = "select head from gitops_branch where repository = $1 and branch = $2";
    let names = vec![hub_api::endpoint::repository(repository).into(), branch.trim().into()];
    Ok(database.first(sql, names).await?.flatten())
}

/// Paths of a branch's places at which something of that role is desired, in their order, after a path: at most so many.
///
/// # Errors
/// The database can't be reached.
pub async fn desired_paths(
    database: &Database,
    (repository, branch, role): (&str, &str, Role),
    after: Option<&str>,
    count: usize,
) -> Result<Vec<String>, DatabaseError> {
    let sql = "select p.path from gitops_branch b join place p on p.branch_id = b.id \
        join place_group g on g.id = p.place_group_id join place_revision w on w.id = p.desired_revision_id \
        where b.repository = $1 and b.branch = $2 and g.role = $3 and w.tree is not null \
        and ($4 = 0 or p.path > $5) order by p.path limit $6";
    let repository = hub_api::endpoint::repository(repository);
    let values: Vec<Value> = vec![
        repository.into(),
        branch.trim().into(),
        role.as_str().into(),
        i64::from(after.is_some()).into(),
        after.unwrap_or_default().into(),
        i64::try_from(count).unwrap_or(i64::MAX).into(),
    ];
    database.query(sql, values).await
}
