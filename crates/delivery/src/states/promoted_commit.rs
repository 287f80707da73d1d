//! What promotions wrote into the branch of an environment: the commit of the main branch, in the `BaseRepo` named `main`, and releases, in pins.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use authoring::branch_files::BranchFiles;
use authoring::edit::{Change, EditError, ObjectPosition, edit};
use authoring::value::NewValue;
use git::{Commit, Edits, RepositoryError, RepositoryUrl, Revision, UrlError};
use model::field_path::FieldPath;
use model::git_id::GitId;
use model::kind::Kind;
use model::name::EnvironmentName;
use model::object::AnyObject;
use model::object::base_repo::MAIN;
use model::object::environment::RepositoryPlace;
use model::object::release::Release;
use model::object::release_pin::PROMOTED_PREFIX;
use model::read::read_kind;
use model::source::{FileId, Source};

use crate::access::RepositoryAccess;
use crate::states::rollout_store::StoreError;

/// The commit of the main branch that an environment has, with the place where it is written.
#[derive(Clone, Debug)]
pub struct PromotedCommit {
    /// The head of the environment's branch.
    pub head: Commit,
    /// The commit. None if the environment follows the head of the main branch.
    pub commit: Option<GitId>,
    /// The releases that promotions wrote into the branch, by workload.
    releases: BTreeMap<Arc<str>, BTreeSet<Arc<str>>>,
    /// The file with the object, and its content. None if the environment has no such object.
    file: Option<(Arc<str>, ObjectPosition, Arc<[u8]>)>,
    environment: EnvironmentName,
}

/// The reason why the commit can't be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum PromotedCommitError {
    /// The URL of the environment's repository is not allowed.
    #[error("the repository of {environment} can't be used: {error}")]
    Url {
        /// The environment.
        environment: EnvironmentName,
        /// The reason.
        error: UrlError,
    },
    /// The environment's branch can't be read.
    #[error(transparent)]
    Repository(#[from] RepositoryError),
    /// The files of the environment's branch can't be read.
    #[error("the branch of {environment} can't be read: {reason}")]
    Unreadable {
        /// The environment.
        environment: EnvironmentName,
        /// The reason.
        reason: String,
    },
    /// The branch with the states of the environment can't be read, or does not count.
    #[error(transparent)]
    States(#[from] StoreError),
    /// The field is no commit.
    #[error("`spec.commit` of BaseRepo `main` in {environment}, `{text}`, is no full commit id")]
    NoCommit {
        /// The environment.
        environment: EnvironmentName,
        /// The text.
        text: Arc<str>,
    },
    /// The environment has no `BaseRepo` named `main`.
    #[error("{0} has no BaseRepo `main`, so no commit of the main branch can be promoted to it")]
    Missing(EnvironmentName),
    /// The file can't be edited safely.
    #[error("`{path}` of {environment} can't be edited: {error}")]
    NotEditable {
        /// The environment.
        environment: EnvironmentName,
        /// The file.
        path: Arc<str>,
        /// The reason.
        error: EditError,
    },
}

impl PromotedCommit {
    /// Reads the commit at the head of the environment's branch.
    ///
    /// # Errors
    /// If the branch can't be read, or if the field is no commit.
    pub fn read(
        access: &RepositoryAccess,
        environment: &EnvironmentName,
        place: &RepositoryPlace,
    ) -> Result<Self, PromotedCommitError> {
        let head = head(access, environment, place)?;
        let files = git::load::files(&*access.repositories, &head, &place.path);
        let environment = environment.clone();
        let contents = match files {
            Ok(files) => files,
            Err(reason) => return Err(PromotedCommitError::Unreadable { environment, reason }),
        };
        Self::of_files(head, environment, contents)
    }

    fn of_files(
        head: Commit,
        environment: EnvironmentName,
        mut contents: BTreeMap<Arc<str>, Arc<[u8]>>,
    ) -> Result<Self, PromotedCommitError> {
        // Parsing all files of a large environment would take long, and only few count.
        let releases = releases(&contents);
        contents.retain(|_, content| contains(content, Kind::BaseRepo.name().as_bytes()));
        let files = BranchFiles::new(Source::directory(), &contents, "");
        let Some(found) = files.find(Kind::BaseRepo, MAIN) else {
            return Ok(Self { head, commit: None, releases, file: None, environment });
        };
        let commit = match found.text(&["spec", "commit"]) {
            Some(text) if !text.is_empty() => {
                let no_commit =
                    || PromotedCommitError::NoCommit { environment: environment.clone(), text: Arc::clone(text) };
                Some(GitId::from_hex(text).ok_or_else(no_commit)?)
            }
            _ => None,
        };
        let file = files.content(&found.path).map(|content| (Arc::clone(&found.path), found.at, Arc::clone(content)));
        Ok(Self { head, commit, releases, file, environment })
    }

    /// Whether the environment has a `BaseRepo` named `main`.
    pub fn is_declared(&self) -> bool {
        self.file.is_some()
    }

    /// The path of the file with the `BaseRepo` named `main`. None: there is no such object.
    pub fn path(&self) -> Option<&str> {
        self.file.as_ref().map(|(path, ..)| &**path)
    }

    /// The release of a workload that a promotion wrote into the branch. None: none, or not only one.
    pub fn release(&self, workload: &str) -> Option<&Arc<str>> {
        let versions = self.releases.get(workload).filter(|versions| versions.len() == 1)?;
        versions.first()
    }

    /// The edit that writes another commit. Every other byte of the file stays.
    ///
    /// # Errors
    /// If there is no `BaseRepo` named `main`, or if its file can't be edited safely.
    pub fn edits(&self, commit: GitId) -> Result<Edits, PromotedCommitError> {
        let Some((path, at, content)) = &self.file else {
            return Err(PromotedCommitError::Missing(self.environment.clone()));
        };
        let change = Change::Set(FieldPath::from(["spec", "commit"]), NewValue::text(commit.to_string()));
        match edit(content, *at, &change) {
            Ok(edited) => Ok([(Arc::clone(path), Some(Arc::from(edited)))].into_iter().collect()),
            Err(error) => {
                let (environment, path) = (self.environment.clone(), Arc::clone(path));
                Err(PromotedCommitError::NotEditable { environment, path, error })
            }
        }
    }
}

/// The releases in the pins that promotions wrote.
fn releases(contents: &BTreeMap<Arc<str>, Arc<[u8]>>) -> BTreeMap<Arc<str>, BTreeSet<Arc<str>>> {
    let mut found: BTreeMap<Arc<str>, BTreeSet<Arc<str>>> = BTreeMap::new();
    for content in contents.values().filter(|content| contains(content, PROMOTED_PREFIX.as_bytes())) {
        for object in read_kind(FileId::default(), content, Kind::ReleasePin).objects {
            let AnyObject::ReleasePin(pin) = &object else { continue };
            if let Some(workload) = pin.promoted_workload() {
                found
                    .entry(workload.into())
                    .or_default()
                    .extend(Release::of_pin(&pin.spec.manifests).map(|release| release.text()));
            }
        }
    }
    found
}

/// The head of an environment's branch.
///
/// # Errors
/// If the URL is not allowed, or if the branch can't be read.
pub fn head(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    place: &RepositoryPlace,
) -> Result<Commit, PromotedCommitError> {
    let url = branch_url(access, place)
        .map_err(|error| PromotedCommitError::Url { environment: environment.clone(), error })?;
    Ok(access.repositories.resolve(&url, &Revision::branch(&place.branch))?)
}

/// The URL of an environment's repository. `http` is allowed only if a rewrite rule applies to it.
fn branch_url(access: &RepositoryAccess, place: &RepositoryPlace) -> Result<RepositoryUrl, UrlError> {
    let mut rules = access.settings.git.rewrite.iter();
    let is_rewritten = rules.any(|rule| !rule.from.is_empty() && place.repo.starts_with(&rule.from));
    let parse = if is_rewritten { RepositoryUrl::from_configuration } else { RepositoryUrl::from_object };
    parse(&place.repo)
}

/// Whether a file has a word.
pub(crate) fn contains(content: &[u8], word: &[u8]) -> bool {
    content.windows(word.len()).any(|part| part == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BASE: &str = "\
# The platform.
apiVersion: scheduler.kalypso.io/v1alpha1
kind: BaseRepo
metadata: {name: main}
spec:
  repo: https://git.example/acme/control-plane   # ours
  branch: main
  path: .
";

    fn read(text: &str) -> Result<PromotedCommit, PromotedCommitError> {
        let url = RepositoryUrl::from_object("https://git.example/acme/control-plane").unwrap();
        let head = Commit { url, revision: Revision::branch("prod"), id: GitId::of_blob(b"") };
        let other = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: BaseRepo\nmetadata: {name: other}\n";
        let files = [("base/main.yaml", text), ("base/other.yaml", other), ("readme.yaml", "BaseRepo")];
        let files = files.map(|(path, text)| (Arc::from(path), Arc::from(text.as_bytes())));
        PromotedCommit::of_files(head, EnvironmentName::new("prod").unwrap(), files.into())
    }

    fn promoted(text: &str, commit: GitId) -> String {
        let edits = read(text).unwrap().edits(commit).unwrap();
        let bytes = edits.get("base/main.yaml").flatten().unwrap();
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    #[test]
    fn a_promotion_changes_only_the_commit() {
        let (first, second) = (GitId::of_blob(b"1"), GitId::of_blob(b"2"));
        assert_eq!(read(BASE).unwrap().commit, None);
        let once = promoted(BASE, first);
        assert_eq!(once, format!("{BASE}  commit: {first}\n"));
        assert_eq!(read(&once).unwrap().commit, Some(first));
        assert_eq!(promoted(&once, second), once.replace(&first.to_string(), &second.to_string()));
    }

    #[test]
    fn invalid_promoted_commits_are_errors() {
        let error = read(&format!("{BASE}  commit: main\n")).unwrap_err();
        assert!(matches!(&error, PromotedCommitError::NoCommit { text, .. } if &**text == "main"), "{error}");
        let none = read("kind: ConfigMap\n").unwrap();
        assert!(!none.is_declared());
        assert!(matches!(none.edits(GitId::of_blob(b"1")), Err(PromotedCommitError::Missing(_))));
    }
}
