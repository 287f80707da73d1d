//! Records at which commits an environment is settled: its output is published, and no move through its rings is open.
//!
//! Only the program that publishes an environment knows this. The environments after it read the record, also in other processes.

use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{Commit, NewCommit, Person, Push, Pushed, Repositories, RepositoryError, Revision, opener, trailer};
use jiff::Timestamp;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::tree::{Child, Entry, Sealed, Tree, closed};
use model::yaml::{self, Options};

use crate::access::RepositoryAccess;
use crate::rollout_store::{StoreError, branch_name};
use crate::write_lease::WriteLease;

/// The file on the branch with the states of the environment.
const FILE: &str = "settled.yaml";
/// The maximum size of the file, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 10;

/// The commits at which an environment is settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Settled {
    /// The commit of the main branch. None: the environment does not build on the main branch.
    pub commit: Option<GitId>,
    /// The head of the environment's branch.
    pub head: GitId,
    /// Since when.
    pub since: Timestamp,
}

impl Settled {
    /// Whether it is about the same commits.
    pub fn is_at(&self, commit: Option<GitId>, head: GitId) -> bool {
        self.commit == commit && self.head == head
    }

    fn text(&self, environment: &EnvironmentName) -> String {
        let commit = self.commit.map_or_else(String::new, |commit| format!("commit: \"{commit}\"\n"));
        let (head, since) = (self.head, self.since);
        format!(
            "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Settled\nenvironment: {environment}\n{commit}head: \"{head}\"\nsince: \"{since}\"\n"
        )
    }

    /// None if the text has another form: then the environment does not count as settled.
    fn parse(text: &[u8]) -> Option<Self> {
        let reading = yaml::read_bytes(text, &Options::OBJECTS);
        let root = &reading.documents.first().filter(|_| reading.problems.is_empty())?.root;
        let text = |key| root.get(key)?.as_scalar().map(|scalar| &*scalar.text);
        let commit = match text("commit") {
            Some(commit) => Some(GitId::from_hex(commit)?),
            None => None,
        };
        Some(Self { commit, head: GitId::from_hex(text("head")?)?, since: text("since")?.parse().ok()? })
    }
}

/// Reads the record of an environment. None: it is not settled, as far as is known.
///
/// # Errors
/// If the branch can't be read.
pub fn read(access: &RepositoryAccess, environment: &EnvironmentName) -> Result<Option<Settled>, RepositoryError> {
    let repositories = &*access.repositories;
    let head = match repositories.resolve(&access.settings.repo, &Revision::branch(&branch_name(environment))) {
        Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => return Ok(None),
        head => head?,
    };
    read_at(repositories, &head)
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
    let commit = NewCommit { parents: &parents, tree: &tree, open: &open, message: &message, author, seconds };
    let branch = branch_name(environment);
    let progress = &Progress::default();
    let push = Push { branch: &branch, expected: before.map(|head| head.id), commit: Some(commit), progress };
    lease.map_or(Ok(()), WriteLease::check)?;
    Ok(matches!(repositories.push(&access.settings.repo, &push)?, Pushed::Moved(_)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let (commit, head) = (Some(GitId::of_blob(b"1")), GitId::of_blob(b"2"));
        let name = EnvironmentName::new("dev").unwrap();
        for commit in [commit, None] {
            let settled = Settled { commit, head, since: Timestamp::UNIX_EPOCH };
            assert_eq!(Settled::parse(settled.text(&name).as_bytes()), Some(settled));
        }
        assert_eq!(Settled::parse(b"head: \"12\"\n"), None);
        assert_eq!(Settled::parse(b"a: ["), None);
    }
}
