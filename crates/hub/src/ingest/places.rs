//! Places, their desired revisions, and the revision of a place that a report identifies.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hub_api::revision::is_hash;

use crate::store::{
    BranchId, ColumnError, ColumnType, Columns, CommitId, DatabaseError, FromRow, PlaceGroupId, PlaceId, RevisionId,
    Rows, SqlValue, Transaction,
};

/// A place with the data that the tallies need.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedPlace {
    pub(crate) id: PlaceId,
    pub(crate) group_id: PlaceGroupId,
    pub(crate) branch_id: Option<BranchId>,
    /// The desired revision; none if nothing is desired.
    pub(crate) desired: Option<Revision>,
}

/// The content that is desired at a place since some commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Revision {
    pub(crate) id: RevisionId,
    pub(crate) commit_id: CommitId,
    /// The hash of the commit.
    pub(crate) commit: String,
    pub(crate) tree: String,
}

/// A row with the columns of [`REVISION`].
struct RevisionRow(Option<Revision>);

impl FromRow for RevisionRow {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let Some(id) = columns.take()? else { return columns.skip(3).map(|()| Self(None)) };
        let (commit_id, commit, tree) = columns.take::<(CommitId, String, Option<String>)>()?;
        Ok(Self(tree.map(|tree| Revision { id, commit_id, commit, tree })))
    }
}

/// The columns of a revision `w` that was made at a commit `c`. The result is none if the revision desires nothing.
const REVISION: &str = "w.id, w.gitops_commit_id, c.commit_id, w.tree";

impl CountedPlace {
    /// The content of this place that a report identifies.
    pub(crate) fn content(&self, meaning: Meaning) -> Content {
        Content { place_id: self.id, branch_id: self.branch_id, meaning }
    }

    /// Whether the held revision has the desired content.
    pub(crate) fn is_current(&self, held: Option<&Revision>) -> bool {
        self.desired.as_ref().zip(held).is_some_and(|(desired, held)| desired.tree == held.tree)
    }
}

/// The places with these ids. Their desired revisions do not change until the transaction ends, because it has its [turn](crate::store::Turn).
pub(crate) async fn places(
    transaction: &mut Transaction,
    ids: BTreeSet<PlaceId>,
) -> Result<BTreeMap<PlaceId, CountedPlace>, DatabaseError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let dialect = transaction.dialect();
    let of_ids = dialect.any_int("p.id", "$1");
    let sql = format!(
        "select p.id, p.place_group_id, p.branch_id, {REVISION} from place p \
         left join place_revision w on w.id = p.desired_revision_id left join gitops_commit c on c.id = w.gitops_commit_id \
         where {of_ids}"
    );
    let rows = transaction.query(&sql, vec![ids.into()]).await?;
    let place =
        |(id, group_id, branch_id, RevisionRow(desired))| (id, CountedPlace { id, group_id, branch_id, desired });
    Ok(rows.into_iter().map(place).collect())
}

/// The places with these endpoints at which content is or was desired.
pub(crate) async fn by_endpoint(
    transaction: &mut Transaction,
    endpoints: BTreeSet<String>,
) -> Result<HashMap<String, PlaceId>, DatabaseError> {
    if endpoints.is_empty() {
        return Ok(HashMap::new());
    }
    let sql = format!("select endpoint, id from place where {}", transaction.dialect().any_text("endpoint", "$1"));
    let rows = transaction.query(&sql, vec![endpoints.into_iter().collect::<Vec<_>>().into()]).await?;
    Ok(rows.into_iter().collect())
}

/// The content of a place that a report identifies.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Content {
    place_id: PlaceId,
    branch_id: Option<BranchId>,
    meaning: Meaning,
}

/// How a report identifies the content that is held. The strongest of the reported values is used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Meaning {
    Tree(String),
    Commit(String),
    Version(String),
}

impl Meaning {
    /// Selects the value that identifies the content. The version is used only if the reported commit is not a commit hash.
    pub(crate) fn new(commit: &str, tree: Option<&str>, version: Option<&str>) -> Self {
        match (tree, version) {
            (Some(tree), _) => Self::Tree(tree.to_owned()),
            (None, Some(version)) if !is_hash(commit) => Self::Version(version.to_owned()),
            (None, _) => Self::Commit(commit.to_owned()),
        }
    }
}

/// A cache of the revisions that contents resolve to. Its entries are valid until a revision is added: a large publication arrives in several parts
/// with the same commit, and between two parts the commit still resolves to the previous revision.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    known: HashMap<Content, Revision>,
    /// The id of the newest revision when the entries were read; none if there was no revision.
    last: Option<RevisionId>,
}

/// The most entries of the cache. When it has more, it is emptied.
const CONTENTS_MAX: usize = 100_000;

impl Contents {
    /// The revision of a content that was looked up.
    pub(crate) fn get(&self, content: &Content) -> Option<&Revision> {
        self.known.get(content)
    }

    /// Empties the cache if a revision was added, possibly by another replica.
    pub(crate) async fn renew(&mut self, transaction: &mut Transaction) -> Result<(), DatabaseError> {
        let last = transaction.first("select max(id) from place_revision", Vec::new()).await?.flatten();
        if std::mem::replace(&mut self.last, last) != last {
            self.known.clear();
        }
        Ok(())
    }

    /// Looks up the revisions of contents that are not in the cache.
    pub(crate) async fn look_up(
        &mut self,
        transaction: &mut Transaction,
        contents: BTreeSet<Content>,
    ) -> Result<(), DatabaseError> {
        if self.known.len() > CONTENTS_MAX {
            self.known.clear();
        }
        let (mut by_tree, mut by_commit, mut by_version) = (Vec::new(), Vec::new(), Vec::new());
        for content in contents.into_iter().filter(|content| !self.known.contains_key(content)) {
            let of_its_kind = match content.meaning {
                Meaning::Tree(_) => &mut by_tree,
                Meaning::Commit(_) => &mut by_commit,
                Meaning::Version(_) => &mut by_version,
            };
            of_its_kind.push(content);
        }
        self.find(transaction, by_tree, BY_TREE).await?;
        self.find(transaction, by_commit, BY_COMMIT).await?;
        self.find(transaction, by_version, BY_VERSION).await
    }

    async fn find(
        &mut self,
        transaction: &mut Transaction,
        contents: Vec<Content>,
        statement: &str,
    ) -> Result<(), DatabaseError> {
        let mut rows = Rows::new(&[
            ("number", ColumnType::Int),
            ("place_id", ColumnType::Int),
            ("branch_id", ColumnType::Int),
            ("meaning", ColumnType::Text),
        ]);
        for (number, content) in contents.iter().enumerate() {
            let (Meaning::Tree(meaning) | Meaning::Commit(meaning) | Meaning::Version(meaning)) = &content.meaning;
            rows.push(vec![
                SqlValue::from(number as i64),
                content.place_id.into(),
                content.branch_id.into(),
                meaning.as_str().into(),
            ]);
        }
        for (number, RevisionRow(revision)) in transaction.with::<(usize, _)>(rows, statement).await? {
            if let (Some(content), Some(revision)) = (contents.get(number), revision) {
                self.known.insert(content.clone(), revision);
            }
        }
        Ok(())
    }
}

/// The latest revision of the place with that tree.
const BY_TREE: &str = "select s.number, w.id, w.gitops_commit_id, c.commit_id, w.tree from source s \
    join place_revision w on w.id = (select max(id) from place_revision where place_id = s.place_id and tree = s.meaning) \
    join gitops_commit c on c.id = w.gitops_commit_id";

/// The latest revision of the place at or before that commit of its branch.
const BY_COMMIT: &str = "select s.number, w.id, w.gitops_commit_id, c.commit_id, w.tree from source s \
    join gitops_commit reported on reported.branch_id = s.branch_id and reported.sequence = (select max(sequence) \
        from gitops_commit where branch_id = s.branch_id and commit_id = s.meaning) \
    join place_revision w on w.id = (select e.id from place_revision e join gitops_commit o on o.id = e.gitops_commit_id \
        where e.place_id = s.place_id and o.sequence <= reported.sequence order by o.sequence desc, e.id desc limit 1) \
    join gitops_commit c on c.id = w.gitops_commit_id where w.tree is not null";

/// The latest revision of a place that holds a workload's manifests for a target with that version.
const BY_VERSION: &str = "select s.number, w.id, w.gitops_commit_id, c.commit_id, w.tree from source s \
    join place_revision w on w.id = (select e.id from place p join place_group g on g.id = p.place_group_id \
        join place_group_target m on m.place_group_id = g.id join deployment_target t on t.id = m.deployment_target_id \
        join workload_version v on v.workload_id = t.workload_id and v.version = s.meaning \
        join deployment_assignment a on a.deployment_target_id = t.id and a.workload_version_id = v.id \
        join gitops_commit o on o.branch_id = s.branch_id and o.commit_id = a.gitops_commit_id \
        join place_revision e on e.place_id = p.id and e.gitops_commit_id = o.id \
        where p.id = s.place_id and g.role = 'application' and e.tree is not null order by o.sequence desc, e.id desc limit 1) \
    join gitops_commit c on c.id = w.gitops_commit_id";

/// The revisions with these ids.
pub(crate) async fn revisions(
    transaction: &mut Transaction,
    ids: BTreeSet<RevisionId>,
) -> Result<BTreeMap<RevisionId, Revision>, DatabaseError> {
    if ids.is_empty() {
        return Ok(BTreeMap::new());
    }
    let of_ids = transaction.dialect().any_int("w.id", "$1");
    let sql = format!(
        "select {REVISION} from place_revision w join gitops_commit c on c.id = w.gitops_commit_id where {of_ids}"
    );
    let rows = transaction.query(&sql, vec![ids.into()]).await?;
    Ok(rows.into_iter().filter_map(|RevisionRow(revision)| revision.map(|revision| (revision.id, revision))).collect())
}
