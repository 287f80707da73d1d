//! The sources of an environment beside the main branch: values, and applications.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use git::load::{Read, ReadRole};
use git::publications::SourceBranch;
use git::{Commit, Repositories, RepositoryError, RepositoryUrl, Revision};
use model::git_id::GitId;
use model::object::promotion::ChangeOrigin;

use crate::access::RepositoryAccess;

/// The name of the environment's own values.
pub const VALUES: &str = "values";
/// The beginning of the names of applications.
pub const APPLICATION: &str = "application";

/// A source of an environment that is no commit of the main branch, as a publication read it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundSource {
    /// The name for people: `values`, `values/NAME` or `values/flux/NAME` for another repository of the platform, or `application/NAME` for a
    /// registration.
    pub name: Arc<str>,
    /// What its changes are.
    pub origin: ChangeOrigin,
    /// The repository.
    pub url: RepositoryUrl,
    /// The branch or tag.
    pub revision: Arc<str>,
    /// The commit that was read.
    pub commit: GitId,
    /// The paths whose files were read.
    pub paths: BTreeSet<Arc<str>>,
}

impl FoundSource {
    /// The name in publications.
    pub fn source_name(&self) -> SourceBranch {
        (self.url.as_str().to_owned(), self.revision.to_string())
    }

    /// The newest commit.
    pub(crate) fn head(&self, repositories: &dyn Repositories) -> Result<Commit, RepositoryError> {
        match repositories.resolve(&self.url, &Revision::branch(&self.revision)) {
            Err(RepositoryError::NoRevision { .. }) => {
                repositories.resolve(&self.url, &Revision::Tag(Arc::clone(&self.revision)))
            }
            found => found,
        }
    }

    /// An earlier commit.
    pub(crate) fn at(&self, id: GitId) -> Commit {
        let revision = Revision::Commit { id, branch: Some(Arc::clone(&self.revision)) };
        Commit { url: self.url.clone(), revision, id }
    }
}

/// The sources among what was read. Several objects may name the same branch: its commits are admitted together, under the first name. What an object names by its
/// commit moves with that object, and the main branch with its promotions.
pub fn of_reads(access: &RepositoryAccess, reads: &[Read]) -> Vec<FoundSource> {
    let is_main = |read: &Read| access.is_main_branch((read.url.as_str(), &read.revision));
    let mut reads: Vec<_> = reads.iter().filter(|read| !read.is_pinned && !is_main(read)).collect();
    reads.sort_by(|one, other| one.role.cmp(&other.role));
    let mut found: BTreeMap<SourceBranch, FoundSource> = BTreeMap::new();
    for read in reads {
        let Some((name, origin)) = named(&read.role) else { continue };
        let source = found.entry(read.source_name()).or_insert_with(|| FoundSource {
            name,
            origin,
            url: read.url.clone(),
            revision: Arc::clone(&read.revision),
            commit: read.commit,
            paths: BTreeSet::new(),
        });
        source.paths.insert(Arc::clone(&read.path));
    }
    found.into_values().collect()
}

fn named(role: &ReadRole) -> Option<(Arc<str>, ChangeOrigin)> {
    Some(match role {
        // The commits of manifests are releases.
        ReadRole::Main | ReadRole::Manifests(_) => return None,
        ReadRole::Environment => (VALUES.into(), ChangeOrigin::Values),
        ReadRole::Base(name) => (format!("{VALUES}/{name}").into(), ChangeOrigin::Values),
        ReadRole::Flux(name) => (format!("{VALUES}/flux/{name}").into(), ChangeOrigin::Values),
        ReadRole::Application(name) => (format!("{APPLICATION}/{name}").into(), ChangeOrigin::Application),
    })
}
