//! Places, what they should hold, and what of it a report says that they hold.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use hub_api::revision::is_hash;

use crate::store::{
    BranchId, ColumnError, Columns, CommitId, DatabaseError, FromRow, Kind, PlaceGroupId, PlaceId, RevisionId, Rows,
    Transaction, Value,
};

/// A place as far as counting goes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountedPlace {
    pub(crate) id: PlaceId,
    pub(crate) group_id: PlaceGroupId,
    pub(crate) branch_id: Option<BranchId>,
    /// What it should hold; none if nothing.
    pub(crate) desired: Option<Revision>,
}

/// What a place was to hold since some commit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Revision {
    pub(crate) id: RevisionId,
    pub(crate) commit_id: CommitId,
    /// The commit itself.
    pub(crate) commit: String,
    pub(crate) tree: String,
}

/// What the columns [`REVISION`] hold.
struct RevisionRow(Option<Revision>);

impl FromRow for RevisionRow {
    fn from_row(columns: &mut Columns) -> Result<Self, ColumnError> {
        let Some(id) = columns.take()? else { return columns.skip(3).map(|()| Self(None)) };
        let (commit_id, commit, tree) = columns.take::<(CommitId, String, Option<String>)>()?;
        Ok(Self(tree.map(|tree| Revision { id, commit_id, commit, tree })))
    }
}

/// The columns of a revision `w`, made at a commit `c`. There is none where nothing is desired.
const REVISION: &str = "w.id, w.gitops_commit_id, c.commit_id, w.tree";

impl CountedPlace {
    /// The content of it that a report means.
    pub(crate) fn content(&self, meaning: Meaning) -> Content {
        Content { place_id: self.id, branch_id: self.branch_id, meaning }
    }

    /// Whether what is held has the content that it should hold.
    pub(crate) fn is_current(&self, held: Option<&Revision>) -> bool {
        self.desired.as_ref().zip(held).is_some_and(|(desired, held)| desired.tree == held.tree)
    }
}

/// The places of these ids. What they should hold does not change until the transaction ends: it has its [turn](crate::store::Turn).
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

/// The places of these endpoints at which content is or was desired.
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

/// The content of a place that a report refers to.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) struct Content {
    place_id: PlaceId,
    branch_id: Option<BranchId>,
    meaning: Meaning,
}

/// By what a report says what is held: by the strongest that it has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Meaning {
    Tree(String),
    Commit(String),
    Version(String),
}

impl Meaning {
    /// What a report means. A version counts where what stands for the commit is none.
    pub(crate) fn of(commit: &str, tree: Option<&str>, version: Option<&str>) -> Self {
        match (tree, version) {
            (Some(tree), _) => Self::Tree(tree.to_owned()),
            (None, Some(version)) if !is_hash(commit) => Self::Version(version.to_owned()),
            (None, _) => Self::Commit(commit.to_owned()),
        }
    }
}

/// What is known of contents. It stays true until there is another revision: large publications tell of one commit in several parts, in between which the
/// commit means the revision before it.
#[derive(Debug, Default)]
pub(crate) struct Contents {
    known: HashMap<Content, Revision>,
    /// The last revision that there was; none if there was none.
    last: Option<RevisionId>,
}

/// Contents that are remembered; beyond it everything is looked up anew.
const CONTENTS_MAX: usize = 100_000;

impl Contents {
    /// The revision of a content that was looked up.
    pub(crate) fn get(&self, content: &Content) -> Option<&Revision> {
        self.known.get(content)
    }

    /// Forgets everything if there is another revision, which may be of another replica.
    pub(crate) async fn renew(&mut self, transaction: &mut Transaction) -> Result<(), DatabaseError> {
        let last = transaction.first("select max(id) from place_revision", Vec::new()).await?.flatten();
        if std::mem::replace(&mut self.last, last) != last {
            self.known.clear();
        }
        Ok(())
    }

    /// Looks up the revisions of those that are not known yet.
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
            ("number", Kind::Int),
            ("place_id", Kind::Int),
            ("branch_id", Kind::Int),
            ("meaning", Kind::Text),
        ]);
        for (number, content) in contents.iter().enumerate() {
            let (Meaning::Tree(meaning) | Meaning::Commit(meaning) | Meaning::Version(meaning)) = &content.meaning;
            rows.push(vec![
                Value::from(number as i64),
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

/// The latest revision of the place at that commit of its branch, or before.
const BY_COMMIT: &str = "select s.number, w.id, w.gitops_commit_id, c.commit_id, w.tree from source s \
    join gitops_commit reported on reported.branch_id = s.branch_id and reported.sequence = (select max(sequence) \
        from gitops_commit where branch_id = s.branch_id and commit_id = s.meaning) \
    join place_revision w on w.id = (select e.id from place_revision e join gitops_commit o on o.id = e.gitops_commit_id \
        where e.place_id = s.place_id and o.sequence <= reported.sequence order by o.sequence desc, e.id desc limit 1) \
    join gitops_commit c on c.id = w.gitops_commit_id where w.tree is not null";

/// The latest revision of a place with a workload's manifests that has that version of one of the targets which they are for.
const BY_VERSION: &str = "select s.number, w.id, w.gitops_commit_id, c.commit_id, w.tree from source s \
    join place_revision w on w.id = (select e.id from place p join place_group g on g.id = p.place_group_id \
        join place_group_target m on m.place_group_id = g.id join deployment_target t on t.id = m.deployment_target_id \
        join workload_version v on v.workload_id = t.workload_id and v.version = s.meaning \
        join deployment_assignment a on a.deployment_target_id = t.id and a.workload_version_id = v.id \
        join gitops_commit o on o.branch_id = s.branch_id and o.commit_id = a.gitops_commit_id \
        join place_revision e on e.place_id = p.id and e.gitops_commit_id = o.id \
        where p.id = s.place_id and g.role = 'application' and e.tree is not null order by o.sequence desc, e.id desc limit 1) \
    join gitops_commit c on c.id = w.gitops_commit_id";

/// The revisions of these ids.
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
