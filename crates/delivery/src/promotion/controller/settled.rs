//! Records at which commits an environment is settled: its output is published, and no move through its rings is open. Workloads of which this is not true are named.
//!
//! Only the program that publishes an environment knows this. The environments after it read the record, also in other processes.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use engine::promotion::step::{Settled, Subject};
use git::publish::{AUTHOR_EMAIL, AUTHOR_NAME};
use git::{Commit, NewCommit, Person, Push, Pushed, RepositoryError, opener, trailer};
use jiff::Timestamp;
use model::count::named;
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::progress::Progress;
use model::tree::{Child, Entry, Sealed, Tree, closed};
use serde::{Deserialize, Serialize};

use super::published_folders::GitOpsCommit;
use crate::access::RepositoryAccess;
use crate::states::rollout_store::StoreError;
use crate::states::state_branch;
use crate::states::state_file;
use crate::untrusted_states::branch_name;
use crate::write_lease::WriteLease;

/// The file on the branch with the states of the environment.
const FILE: &str = "settled.yaml";
/// The kind of the file. It is not a kind of objects of a fleet.
const KIND: &str = "Settled";
/// The maximum size of the file, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 20;

/// The commits at which an environment is settled.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SettledRecord {
    /// The commit of the main branch. None: the environment does not build on the main branch.
    pub commit: Option<GitId>,
    /// The head of the environment's branch.
    pub head: GitId,
    /// Since when.
    pub since: Timestamp,
    /// The workloads that are not settled. Earlier versions can't read a record with this, or with removals, so the environment does not count as settled for them.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub open: BTreeSet<Arc<str>>,
    /// The releases of workloads that it has, by the name of the workload. Of a workload that is not settled, the release with which it was settled last.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub releases: BTreeMap<Arc<str>, Arc<str>>,
    /// The commits of the GitOps branches with its output, sorted. Earlier versions did not record them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gitops: Vec<GitOpsCommit>,
}

impl SettledRecord {
    /// Whether removals wait for a confirmation: only the releases are settled.
    pub fn has_removals(&self) -> bool {
        self.gitops.iter().any(|commit| !commit.removals.is_empty())
    }

    /// Whether it is about the same commits.
    pub fn is_at(&self, commit: Option<GitId>, head: GitId) -> bool {
        self.commit == commit && self.head == head
    }

    /// The message of the commit with it.
    fn message(&self, environment: &EnvironmentName) -> String {
        let at = self.commit.map_or_else(String::new, |commit| format!(" with {} of main", commit.short()));
        let removals = self.has_removals().then(|| "its removals".to_owned());
        let without: Vec<_> = self.open.iter().map(ToString::to_string).chain(removals).collect();
        let without = if without.is_empty() { String::new() } else { format!(", without {}", named(&without)) };
        let message = format!("{environment} is settled{at}{without}");
        trailer::with_trailers(&message, &[(trailer::ENVIRONMENT, environment.as_str())])
    }

    fn text(&self, environment: &EnvironmentName) -> String {
        state_file::write(&header(environment), self)
    }

    /// None if the text has another form: then the environment does not count as settled.
    fn parse(text: &[u8], environment: &EnvironmentName) -> Option<Self> {
        state_file::read((FILE, std::str::from_utf8(text).ok()?), &header(environment)).ok()
    }
}

/// What an environment shows to others: whether it is settled, and where its output is.
#[derive(Clone, Debug)]
pub(super) struct ShownOutput {
    /// Whether it is settled.
    pub(super) settled: Settled,
    /// The commits of its GitOps branches.
    gitops: Vec<GitOpsCommit>,
}

impl ShownOutput {
    /// What a publication left.
    pub(super) fn new(settled: Settled, gitops: Vec<GitOpsCommit>) -> Self {
        Self { settled, gitops }
    }

    /// What a record says, or why there is none.
    pub(super) fn recorded(record: Result<SettledRecord, Arc<str>>) -> Self {
        let record = match record {
            Ok(record) => record,
            Err(why) => return Self::new(Settled::nothing(why), Vec::new()),
        };
        let removals = record.has_removals().then(|| "its removals wait for a confirmation, or for a merge".into());
        let why = |workload: &Arc<str>| {
            format!("the output of {workload} is not published yet, or its rollout is open").into()
        };
        let open = record.open.into_iter().map(|workload| (Arc::clone(&workload), why(&workload)));
        Self::new(Settled { open: open.collect(), removals, ..Settled::default() }, record.gitops)
    }

    /// The commits of the GitOps branches, if a subject is settled there.
    ///
    /// # Errors
    /// Why it is not.
    pub(super) fn gitops(&self, subject: &Subject) -> Result<&[GitOpsCommit], Arc<str>> {
        self.settled.check(subject).map(|()| &*self.gitops)
    }

    /// The commits of the GitOps branches, if at most single workloads are not settled.
    pub(super) fn published(&self) -> Option<&[GitOpsCommit]> {
        self.settled.problem.is_none().then_some(&*self.gitops)
    }
}

fn header(environment: &EnvironmentName) -> [(&'static str, &str); 2] {
    [("kind", KIND), ("environment", environment.as_str())]
}

/// Reads the record of an environment. None: it is not settled, as far as is known.
///
/// # Errors
/// If the branch can't be read, or lacks a commit that counted before.
pub fn read(access: &RepositoryAccess, environment: &EnvironmentName) -> Result<Option<SettledRecord>, StoreError> {
    let head = state_branch::head(access, environment)?;
    Ok(SettledBranch { access, environment, head: head.as_ref() }.read()?)
}

/// The branch with the record of an environment, at the head that was read.
#[derive(Clone, Copy)]
pub struct SettledBranch<'a> {
    /// The control plane.
    pub access: &'a RepositoryAccess,
    /// The environment.
    pub environment: &'a EnvironmentName,
    /// The head. None: there is no branch yet.
    pub head: Option<&'a Commit>,
}

impl SettledBranch<'_> {
    /// Reads the record. None: the environment is not settled, as far as is known.
    ///
    /// # Errors
    /// If the commit can't be read.
    pub fn read(&self) -> Result<Option<SettledRecord>, RepositoryError> {
        let Some(head) = self.head else { return Ok(None) };
        let repositories = &*self.access.repositories;
        let root = repositories.folder(head, "")?.unwrap_or_default();
        let Some(entry) = root.iter().find(|entry| entry.name == FILE) else { return Ok(None) };
        match repositories.content(head, entry.id, FILE_BYTES_MAX)? {
            git::FileContent::Bytes(bytes) => Ok(SettledRecord::parse(&bytes, self.environment)),
            git::FileContent::TooLarge(_) => Ok(None),
        }
    }

    /// Writes the record as one commit after the head. Returns false if another program moved the branch. A record that is too large to be read, of very many removals,
    /// is not written: the environment does not count as settled.
    ///
    /// # Errors
    /// If the repository can't be reached, or refuses the push. If the lease has ended.
    pub fn write(&self, settled: &SettledRecord, lease: Option<&WriteLease>) -> Result<bool, StoreError> {
        let Self { access, environment, head } = *self;
        let text = settled.text(environment);
        if text.len() as u64 > FILE_BYTES_MAX {
            return Ok(true);
        }
        let repositories = &*access.repositories;
        let open = |sealed: &Sealed| match head {
            Some(head) => opener(repositories, head)(sealed),
            None => closed(sealed),
        };
        let mut tree = head.map_or_else(|| Ok(Tree::default()), |head| repositories.tree(head))?;
        tree.put(FILE, Child::File(Entry::file(text.into_bytes())), &open)?;
        let parents: Vec<_> = head.iter().map(|head| head.id).collect();
        let message = settled.message(environment);
        let author = &Person { name: AUTHOR_NAME.to_owned(), email: AUTHOR_EMAIL.to_owned() };
        let seconds = settled.since.as_second();
        let commit =
            NewCommit { parents: &parents, tree: &tree, open: &open, message: &message, author, seconds, signer: None };
        let branch = branch_name(environment);
        let progress = &Progress::default();
        let push = Push { branch: &branch, expected: head.map(|head| head.id), commit: Some(commit), progress };
        lease.map_or(Ok(()), WriteLease::check)?;
        let Pushed::Moved(id) = repositories.push(&access.settings.repo, &push)? else { return Ok(false) };
        access.state_anchors.advance(environment, push.expected, id);
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
apiVersion: fleet.kalypso.io/v1alpha1
kind: Settled
environment: dev
commit: \"4fb8c440e19eca604bbdc14dbba63e5fb98b2c52\"
head: d670460b4b4aece5915caf5c68d12f560a9fe3e4
since: \"2026-11-24T09:00:00Z\"
releases:
  checkout: \"1.0: \\\"x\\\"\"
gitops:
  - repo: \"https://git.example/a\"
    branch: dev
    path: \".\"
    commit: d670460b4b4aece5915caf5c68d12f560a9fe3e4
";

    #[test]
    fn settled_records_round_trip() {
        let name = EnvironmentName::new("dev").unwrap();
        let parsed = |text: &str| SettledRecord::parse(text.as_bytes(), &name);
        let without_commit = TEXT.replacen("commit: \"4fb8c440e19eca604bbdc14dbba63e5fb98b2c52\"\n", "", 1);
        for text in [TEXT, &without_commit] {
            assert_eq!(parsed(text).map(|settled| settled.text(&name)).as_deref(), Some(text));
        }
        assert_eq!(parsed(TEXT).unwrap().gitops[0].place.path.as_ref(), ".");
        let partly =
            TEXT.replacen("releases:\n", "open: [till]\nreleases:\n", 1) + "    removals: [\"east/till-eu\"]\n";
        let record = parsed(&partly).unwrap();
        assert_eq!((record.has_removals(), &record.open), (true, &BTreeSet::from(["till".into()])));
        assert_eq!(parsed(&record.text(&name)), Some(record));
        assert_eq!(parsed(&TEXT.replace("environment: dev", "environment: prod")), None);
        assert_eq!(parsed("head: \"12\"\n"), None);
        assert_eq!(parsed("a: ["), None);
    }

    #[test]
    fn a_workload_that_is_not_settled_shows_nothing_of_its_release() {
        let name = EnvironmentName::new("dev").unwrap();
        let record = SettledRecord::parse(TEXT.as_bytes(), &name).unwrap();
        let shown = ShownOutput::recorded(Ok(SettledRecord { open: ["till".into()].into(), ..record }));
        let release = |workload: &str| Subject::Release(workload.into());
        assert_eq!(shown.gitops(&release("checkout")).map(<[_]>::len), Ok(1));
        for subject in [release("till"), Subject::Main, Subject::Renderer] {
            assert!(shown.gitops(&subject).is_err_and(|why| why.contains("the output of till is not")), "{subject:?}");
        }
        assert!(shown.published().is_some());
        let record = SettledRecord::parse(TEXT.as_bytes(), &name).unwrap();
        let leaving = |commit: GitOpsCommit| GitOpsCommit { removals: ["east".to_owned()].into(), ..commit };
        let gitops = record.gitops.iter().cloned().map(leaving).collect();
        let shown = ShownOutput::recorded(Ok(SettledRecord { gitops, ..record }));
        assert!(shown.gitops(&release("till")).is_ok() && shown.gitops(&Subject::Main).is_err());
        let nothing = ShownOutput::recorded(Err("unknown".into()));
        assert_eq!(nothing.gitops(&release("checkout")), Err("unknown".into()));
        assert_eq!(nothing.published(), None);
    }
}
