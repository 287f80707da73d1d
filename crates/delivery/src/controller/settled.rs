//! Records at which commits an environment is settled: its output is published, and no move through its rings is open.
//!
//! Only the program that publishes an environment knows this. The environments after it read the record, also in other processes.

use std::collections::BTreeMap;
use std::sync::Arc;

use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{Commit, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, opener, trailer};
use jiff::Timestamp;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;
use model::progress::Progress;
use model::tree::{Child, Entry, Sealed, Tree, closed};

use super::published_folders::GitOpsCommit;
use crate::access::RepositoryAccess;
use crate::rollout_store::fields::{Item, StateFile};
use crate::rollout_store::text::Value;
use crate::rollout_store::{StateFileError, StoreError};
use crate::state_branch;
use crate::untrusted_states::branch_name;
use crate::write_lease::WriteLease;

/// The file on the branch with the states of the environment.
const FILE: &str = "settled.yaml";
/// The version of the format.
const API_VERSION: &str = "fleet.kalypso.io/v1alpha1";
/// The kind of the file. It is not a kind of objects of a fleet.
const KIND: &str = "Settled";
/// The maximum size of the file, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The commits at which an environment is settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The commit of the main branch. None: the environment does not build on the main branch.
    pub commit: Option<GitId>,
    /// The head of the environment's branch.
    pub head: GitId,
    /// Since when.
    pub since: Timestamp,
    /// The releases of workloads that it has, by the name of the workload.
    pub releases: BTreeMap<Arc<str>, Arc<str>>,
    /// The commits of the GitOps branches with its output, sorted.
    pub gitops: Vec<GitOpsCommit>,
}

impl Settled {
    /// Whether it is about the same commits.
    pub fn is_at(&self, commit: Option<GitId>, head: GitId) -> bool {
        self.commit == commit && self.head == head
    }

    fn text(&self, environment: &EnvironmentName) -> String {
        let releases = self.releases.iter().map(|(name, release)| (Arc::clone(name), Value::Text(Arc::clone(release))));
        let gitops = |GitOpsCommit { place, commit }: &GitOpsCommit| {
            Value::fields([
                ("repo", Some(Value::text(Arc::clone(&place.repo)))),
                ("branch", Some(Value::text(Arc::clone(&place.branch)))),
                ("path", Some(Value::text(Arc::clone(&place.path)))),
                ("commit", Some(Value::text(commit.to_string()))),
            ])
        };
        let file = Value::fields([
            ("apiVersion", Some(Value::text(API_VERSION))),
            ("kind", Some(Value::text(KIND))),
            ("environment", Some(Value::text(environment.as_str()))),
            ("commit", self.commit.map(|commit| Value::text(commit.to_string()))),
            ("head", Some(Value::text(self.head.to_string()))),
            ("since", Some(Value::text(self.since.to_string()))),
            ("releases", (!self.releases.is_empty()).then(|| Value::Fields(releases.collect()))),
            ("gitops", Value::list(&self.gitops, gitops)),
        ]);
        file.written()
    }

    /// None if the text has another form: then the environment does not count as settled.
    fn parse(text: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(text).ok()?;
        let file = StateFile { path: FILE, text };
        let root = file.root().ok()?;
        let item = Item { file: &file, node: &root };
        let known = ["apiVersion", "kind", "environment", "commit", "head", "since", "releases", "gitops"];
        let fields = item.fields(&known).ok()?;
        let id = |item: Item<'_>| GitId::from_hex(&item.text().ok()?);
        let commit = match fields.optional("commit") {
            Some(commit) => Some(id(commit)?),
            None => None,
        };
        let mut releases = BTreeMap::new();
        for (name, release) in fields.optional("releases").map_or(Some(Vec::new()), |item| item.entries().ok())? {
            releases.insert(name, release.text().ok()?);
        }
        let since = fields.optional("since")?.text().ok()?.parse().ok()?;
        // Earlier versions did not record the commits.
        let gitops = fields.list("gitops", |item| gitops_commit(item)).ok()?;
        Some(Self { commit, head: id(fields.optional("head")?)?, since, releases, gitops })
    }
}

fn gitops_commit(item: Item<'_>) -> Result<GitOpsCommit, StateFileError> {
    let fields = item.fields(&["repo", "branch", "path", "commit"])?;
    let text = |key| fields.required(key)?.text();
    let commit = fields.required("commit")?;
    let id = GitId::from_hex(&commit.text()?).ok_or_else(|| commit.error("the id of a commit is expected"))?;
    let place = RepositoryPlace { repo: text("repo")?, branch: text("branch")?, path: text("path")? };
    Ok(GitOpsCommit { place, commit: id })
}

/// Reads the record of an environment. None: it is not settled, as far as is known.
///
/// # Errors
/// If the branch can't be read, or lacks a commit that counted before.
pub fn read(access: &RepositoryAccess, environment: &EnvironmentName) -> Result<Option<Settled>, StoreError> {
    match state_branch::head(access, environment)? {
        None => Ok(None),
        Some(head) => Ok(read_at(&*access.repositories, &head)?),
    }
}

/// Reads the record at a commit of the branch.
///
/// # Errors
/// If the commit can't be read.
pub fn read_at(repositories: &dyn Repositories, head: &Commit) -> Result<Option<Settled>, RepositoryError> {
    let root = repositories.folder(head, "")?.unwrap_or_default();
    let Some(entry) = root.iter().find(|entry| entry.name == FILE) else { return Ok(None) };
    match repositories.content(head, entry.id, FILE_BYTES_MAX)? {
        git::Content::Bytes(bytes) => Ok(Settled::parse(&bytes)),
        git::Content::TooLarge(_) => Ok(None),
    }
}

/// Writes the record as one commit after the head that was read. Returns false if another program moved the branch.
///
/// # Errors
/// If the repository can't be reached, or refuses the push. If the lease has ended.
pub fn write(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    (before, settled): (Option<&Commit>, &Settled),
    lease: Option<&WriteLease>,
) -> Result<bool, StoreError> {
    let repositories = &*access.repositories;
    let open = |sealed: &Sealed| match before {
        Some(head) => opener(repositories, head)(sealed),
        None => closed(sealed),
    };
    let mut tree = before.map_or_else(|| Ok(Tree::default()), |head| repositories.tree(head))?;
    tree.put(FILE, Child::File(Entry::file(settled.text(environment).into_bytes())), &open)?;
    let parents: Vec<_> = before.iter().map(|head| head.id).collect();
    let at = settled.commit.map_or_else(String::new, |commit| format!(" with {} of main", commit.short()));
    let message = format!("{environment} is settled{at}");
    let message = trailer::with_trailers(&message, &[(trailer::ENVIRONMENT, environment.as_str())]);
    let author = &Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() };
    let seconds = settled.since.as_second();
    let commit =
        NewCommit { parents: &parents, tree: &tree, open: &open, message: &message, author, seconds, signer: None };
    let branch = branch_name(environment);
    let progress = &Progress::default();
    let push = Push { branch: &branch, expected: before.map(|head| head.id), commit: Some(commit), progress };
    lease.map_or(Ok(()), WriteLease::check)?;
    let Pushed::Moved(id) = repositories.push(&access.settings.repo, &push)? else { return Ok(false) };
    access.state_anchors.advance(environment, push.expected, id);
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let (commit, head) = (Some(GitId::of_blob(b"1")), GitId::of_blob(b"2"));
        let name = EnvironmentName::new("dev").unwrap();
        for commit in [commit, None] {
            let releases = BTreeMap::from([("checkout".into(), "1.0: \"x\"".into())]);
            let place =
                RepositoryPlace { repo: "https://git.example/a".into(), branch: "dev".into(), path: ".".into() };
            let gitops = vec![GitOpsCommit { place, commit: head }];
            let settled = Settled { commit, head, since: Timestamp::UNIX_EPOCH, releases, gitops };
            assert_eq!(Settled::parse(settled.text(&name).as_bytes()), Some(settled));
        }
        assert_eq!(Settled::parse(b"head: \"12\"\n"), None);
        assert_eq!(Settled::parse(b"a: ["), None);
    }
}
