//! Resolves the name of a rollout: a workload, a version of one, a version, or a commit.

use std::collections::BTreeSet;

use hub_api::revision;
use hub_api::rollouts::RolloutOf;
use hub_api::timestamp::Timestamp;
use model::object::release;

use super::manifests::is_desired;
use super::released::{Content, Released};
use super::similar_names::similar;
use super::subject::Subject;
use super::{Question, QuestionError, conditions};
use crate::store::{
    ColumnError, Columns, CommitId, DatabaseError, Dialect, FromRow, Parameters, Transaction, WorkloadId,
    WorkloadVersionId,
};

/// The object that the name of a rollout identifies.
#[derive(Clone, Debug)]
pub(super) struct ResolvedRollout {
    pub(super) of: RolloutOf,
    pub(super) subject: Subject,
    /// The workload and which content of it, if it is the rollout of a workload or a version. The subject has its manifests, and [`Released`] its platform folders.
    pub(super) workload: Option<(WorkloadId, Content)>,
}

impl ResolvedRollout {
    /// The version, if it is the rollout of one.
    pub(super) fn version(&self) -> Option<&str> {
        match &self.of {
            RolloutOf::Version { version, .. } => Some(version),
            _ => None,
        }
    }

    /// Its platform folders. None: it has none, or its manifests count instead.
    pub(super) async fn released(&self, transaction: &mut Transaction) -> Result<Option<Released>, DatabaseError> {
        match self.workload {
            Some(content) => Released::of_workload(transaction, content).await,
            None => Ok(None),
        }
    }

    /// Resolves a text to one of the rollouts that the filter selects: of a workload, of what is desired of it now or at a timestamp.
    ///
    /// # Errors
    /// The text names no rollout, or several; the database can't answer.
    pub(super) async fn resolve(
        transaction: &mut Transaction,
        (of, at): (&str, Option<Timestamp>),
        question: Question<'_>,
    ) -> Result<Self, QuestionError> {
        let dialect = transaction.dialect();
        let readings = readings(of);
        let workloads = workloads(transaction, &readings, question).await?;
        let mut candidates = commits(transaction, revision::commit(of)).await?;
        candidates.extend(workloads.iter().filter(|one| one.is(of)).map(|one| one.desired(dialect, at)));
        for (workload, version) in with_versions(&workloads, &readings) {
            candidates.extend(versions(transaction, (version, Some(workload.id)), question).await?);
        }
        candidates.extend(versions(transaction, (of, None), question).await?);
        if candidates.is_empty() {
            candidates = abbreviated(transaction, revision::commit(of)).await?;
        }
        if candidates.len() > 1 {
            leave_out_former(transaction, &mut candidates).await?;
        }
        match candidates.len() {
            0 => Err(question.discreet(unknown(transaction, of, &with_versions(&workloads, &readings)).await?)),
            1 => Ok(candidates.remove(0)),
            _ => Err(QuestionError::Ambiguous { name: of.to_owned(), ways: ways(&candidates) }),
        }
    }
}

/// Leaves out workloads of which no content is desired any more, if content of a workload with the same name is desired: its application has changed.
async fn leave_out_former(
    transaction: &mut Transaction,
    candidates: &mut Vec<ResolvedRollout>,
) -> Result<(), DatabaseError> {
    let ids: BTreeSet<WorkloadId> = candidates.iter().filter_map(|one| Some(one.workload?.0)).collect();
    let of_workloads = transaction.dialect().any_int("t.workload_id", "$1");
    let sql =
        format!("select distinct t.workload_id from deployment_target t where {of_workloads} and {}", is_desired(None));
    let desired: BTreeSet<WorkloadId> = transaction.query(&sql, vec![ids.into()]).await?.into_iter().collect();
    let is_desired = |one: &ResolvedRollout| one.workload.is_some_and(|(id, _)| desired.contains(&id));
    let names: BTreeSet<String> = candidates.iter().filter(|one| is_desired(one)).filter_map(workload_name).collect();
    candidates.retain(|one| is_desired(one) || workload_name(one).is_none_or(|name| !names.contains(&name)));
    Ok(())
}

/// The name of the workload of a rollout. None: it is the rollout of a commit.
fn workload_name(resolved: &ResolvedRollout) -> Option<String> {
    match &resolved.of {
        RolloutOf::Workload { workload, .. } | RolloutOf::Version { workload, .. } => Some(workload.clone()),
        RolloutOf::Commit { .. } => None,
    }
}

/// A workload that the hub knows.
#[derive(Clone, Debug)]
struct Workload {
    id: WorkloadId,
    workspace: String,
    application: String,
    name: String,
}

impl FromRow for Workload {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let (id, workspace, application, name) = columns.take()?;
        Ok(Self { id, workspace, application, name })
    }
}

impl Workload {
    /// Whether a text is the name of the workload, with or without its application and workspace.
    fn is(&self, text: &str) -> bool {
        let of_application = format!("{}/{}", self.application, self.name);
        text == self.name || text == of_application || text == format!("{}/{of_application}", self.workspace)
    }

    /// The rollout of the content that is desired, now or at a timestamp.
    fn desired(&self, dialect: Dialect, at: Option<Timestamp>) -> ResolvedRollout {
        let Self { workspace, application, name: workload, .. } = self.clone();
        let of = RolloutOf::Workload { workspace, application, workload };
        let subject = Subject::of_workload(dialect, self.id, at);
        ResolvedRollout { of, subject, workload: Some((self.id, Content::Desired)) }
    }

    /// The rollout of a version of the workload.
    fn at(self, id: WorkloadVersionId, version: String) -> ResolvedRollout {
        let Self { workspace, application, name: workload, .. } = self;
        let of = RolloutOf::Version { workspace, application, workload, version };
        ResolvedRollout { of, subject: Subject::of_version(id), workload: Some((self.id, Content::Release(id))) }
    }
}

/// Maximum number of characters `@` and `/` that are examined as separators. Names can contain them, too.
const SIGNS_MAX: usize = 8;

/// The possible readings of a text: as a workload alone, or as a workload and, behind an `@`, a version.
pub(super) fn readings(of: &str) -> Vec<(&str, Option<&str>)> {
    let with_version = of.match_indices('@').take(SIGNS_MAX);
    let with_version = with_version.filter_map(|(at, _)| Some((of.get(..at)?, of.get(at + 1..))));
    std::iter::once((of, None)).chain(with_version).collect()
}

/// The workloads that the readings name, each with the version of the reading.
fn with_versions<'a>(workloads: &'a [Workload], readings: &[(&str, Option<&'a str>)]) -> Vec<(&'a Workload, &'a str)> {
    let of = |workload: &'a Workload| {
        let named = readings.iter().filter(|(name, _)| workload.is(name));
        named.filter_map(move |(_, version)| Some((workload, (*version)?))).collect::<Vec<_>>()
    };
    workloads.iter().flat_map(of).collect()
}

const WORKLOADS: &str =
    "workload l join application a on a.id = l.application_id join workspace w on w.id = a.workspace_id";

/// The workloads whose name is one of the readings' workloads.
async fn workloads(
    transaction: &mut Transaction,
    readings: &[(&str, Option<&str>)],
    question: Question<'_>,
) -> Result<Vec<Workload>, DatabaseError> {
    let names = readings.iter().flat_map(|(name, _)| {
        let behind = name.match_indices('/').take(SIGNS_MAX).filter_map(|(at, _)| name.get(at + 1..));
        std::iter::once(*name).chain(behind).map(str::to_owned)
    });
    let mut parameters = Parameters::new(transaction.dialect());
    let of_name = parameters.any_text("l.name", names.collect());
    let of_filter = conditions::and(conditions::of_workloads(question, &mut parameters));
    let sql = format!(
        "select l.id, w.name, a.name, l.name from {WORKLOADS} where {of_name}{of_filter} order by w.name, a.name, l.name"
    );
    let mut workloads = transaction.query::<Workload>(&sql, parameters.into_values()).await?;
    workloads.retain(|workload| readings.iter().any(|(name, _)| workload.is(name)));
    Ok(workloads)
}

/// The versions with that name, of all workloads that the filter selects, or of one workload: then also the releases that people may mean by it.
async fn versions(
    transaction: &mut Transaction,
    (version, workload): (&str, Option<WorkloadId>),
    question: Question<'_>,
) -> Result<Vec<ResolvedRollout>, DatabaseError> {
    let mut parameters = Parameters::with(transaction.dialect(), vec![version.into()]);
    let mut conditions = conditions::of_workloads(question, &mut parameters);
    let mut named = "v.version = $1".to_owned();
    if let Some(id) = workload {
        conditions.push(parameters.equals("l.id", id));
        named = format!("({named} or v.version like {})", parameters.add(format!("%{version}%")));
    }
    let conditions = conditions::and(conditions);
    let sql = format!(
        "select v.id, v.version, l.id, w.name, a.name, l.name from {WORKLOADS} join workload_version v on v.workload_id = l.id \
         where {named}{conditions} order by w.name, a.name, l.name, v.id"
    );
    let mut found = transaction.query::<(_, String, Workload)>(&sql, parameters.into_values()).await?;
    let is_exact = found.iter().any(|(_, name, _)| name == version);
    found.retain(|(_, name, _)| if is_exact { name == version } else { release::is_meant(name, version) });
    Ok(found.into_iter().map(|(id, name, workload)| workload.at(id, name)).collect())
}

const COMMITS: &str =
    "select c.id, c.commit_id, b.repository, b.branch from gitops_commit c join gitops_branch b on b.id = c.branch_id";

/// The commit with that id. A commit that is in several branches is one result.
async fn commits(transaction: &mut Transaction, commit: &str) -> Result<Vec<ResolvedRollout>, DatabaseError> {
    let sql = format!("{COMMITS} where c.commit_id = $1 order by c.id");
    let found = transaction.query(&sql, vec![commit.into()]).await?;
    Ok(by_commit(transaction, &found))
}

/// Minimum number of digits of an abbreviated commit id.
const ABBREVIATED_MIN: usize = 7;

/// Maximum number of objects that an error about an ambiguous name lists.
const WAYS_MAX: usize = 5;

/// The first commits whose ids begin with these digits: one more than an error lists.
async fn abbreviated(transaction: &mut Transaction, digits: &str) -> Result<Vec<ResolvedRollout>, DatabaseError> {
    if digits.len() < ABBREVIATED_MIN || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return Ok(Vec::new());
    }
    let digits = digits.to_ascii_lowercase();
    let sql = format!(
        "{COMMITS} where c.commit_id in (select distinct commit_id from gitops_commit \
         where commit_id >= $1 and commit_id < $2 order by commit_id limit {WAYS_MAX} + 1) order by c.commit_id, c.id"
    );
    let found = transaction.query(&sql, vec![digits.as_str().into(), format!("{digits}g").into()]).await?;
    Ok(by_commit(transaction, &found))
}

/// A row of [`COMMITS`]: the id, the commit, the repository, the branch.
type CommitRow = (CommitId, String, String, String);

fn by_commit(transaction: &Transaction, found: &[CommitRow]) -> Vec<ResolvedRollout> {
    let same = found.chunk_by(|(_, one, ..), (_, other, ..)| one == other);
    let resolved = same.filter_map(|rows| {
        let (_, commit, repository, branch) = rows.first()?.clone();
        let of = RolloutOf::Commit { commit, repository, branch };
        let subject = Subject::of_commit(transaction, rows.iter().map(|(id, ..)| *id).collect());
        Some(ResolvedRollout { of, subject, workload: None })
    });
    resolved.collect()
}

/// For each of several candidates, a name that identifies only this candidate.
fn ways(candidates: &[ResolvedRollout]) -> Vec<String> {
    let names = |resolved: &ResolvedRollout| match &resolved.of {
        RolloutOf::Version { workload, .. } => workload.clone(),
        _ => String::new(),
    };
    let way = |one: &ResolvedRollout| match &one.of {
        RolloutOf::Commit { commit, .. } => commit.clone(),
        RolloutOf::Workload { workspace, application, workload } => format!("{workspace}/{application}/{workload}"),
        RolloutOf::Version { workspace, application, workload, version } => {
            let is_alone = candidates.iter().filter(|other| names(other) == *workload).count() == 1;
            let of = if is_alone { workload.clone() } else { format!("{workspace}/{application}/{workload}") };
            format!("{of}@{version}")
        }
    };
    candidates.iter().map(way).collect()
}

/// Number of versions that an error lists if a workload does not have the version of the request.
const VERSIONS_SHOWN: i64 = 3;

/// The error for an unknown name, with similar names.
async fn unknown(
    transaction: &mut Transaction,
    of: &str,
    workloads: &[(&Workload, &str)],
) -> Result<QuestionError, DatabaseError> {
    let name = of.to_owned();
    let Some((workload, _)) = workloads.first() else {
        let similar = similar(transaction, ("workload", "name"), of).await?;
        return Ok(QuestionError::Unknown { what: "workload, version or commit", name, similar });
    };
    let sql = "select version from workload_version where workload_id = $1 order by id desc limit $2";
    let versions: Vec<String> = transaction.query(sql, vec![workload.id.into(), VERSIONS_SHOWN.into()]).await?;
    let similar = versions.iter().map(|version| format!("{}@{version}", workload.name)).collect();
    Ok(QuestionError::Unknown { what: "workload, version or commit", name, similar })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_readings_of_a_text_are_found() {
        assert_eq!(readings("cart"), [("cart", None)]);
        assert_eq!(readings("a@b@1"), [("a@b@1", None), ("a", Some("b@1")), ("a@b", Some("1"))]);
    }

    #[test]
    fn workload_matches_with_or_without_its_qualifiers() {
        let (id, workspace, application) = (WorkloadId::new(1), "acme".into(), "shop".into());
        let workload = Workload { id, workspace, application, name: "a/cart".into() };
        assert!(["a/cart", "shop/a/cart", "acme/shop/a/cart"].into_iter().all(|text| workload.is(text)));
        assert!(!["cart", "acme/a/cart", "op/a/cart", ""].into_iter().any(|text| workload.is(text)));
    }
}
