//! The objects of an environment that name the control plane's main branch, however they spell it.

use std::sync::Arc;

use git::load::{Read, ReadRole};
use git::{Revision, repository_key};
use model::git_id::GitId;
use model::kind::Kind;
use model::object::{BaseRepo, Object};
use model::object_key::ObjectKey;
use model::source::Address;

use super::ancestry::contains;
use crate::access::RepositoryAccess;
use crate::sources::loaded::Loaded;

/// The beginning of the whole name of a branch.
const HEADS: &str = "refs/heads/";

/// A reference to the main branch.
pub(super) struct MainReference {
    pub(super) key: ObjectKey,
    /// The object. None: a Flux object, which is known by its key only.
    pub(super) address: Option<Address>,
    /// The commit. None: the head of the branch.
    pub(super) commit: Option<GitId>,
}

/// The references to the main branch of the control plane, by name: to the branch, and to any commit that is reachable from it, by a tag, by another branch or by its
/// id. A commit that is no id is an error of reading.
pub(super) fn main_references(loaded: &Loaded, access: &RepositoryAccess) -> Vec<MainReference> {
    let found = Search { loaded, access, head: head(access) };
    let objects = loaded.fleet.base_repos.values().filter_map(|object| found.base_repo(object));
    let flux = loaded.reads.iter().filter_map(|read| found.flux(read));
    objects.chain(flux).collect()
}

struct Search<'a> {
    loaded: &'a Loaded,
    access: &'a RepositoryAccess,
    /// The head of the main branch. None: it can't be read, so only its name is recognized.
    head: Option<GitId>,
}

fn head(access: &RepositoryAccess) -> Option<GitId> {
    let settings = &access.settings;
    let head = access.repositories.resolve(&settings.repo, &Revision::branch(&settings.branch));
    head.ok().map(|head| head.id)
}

impl Search<'_> {
    fn is_control_plane(&self, url: &str) -> bool {
        let settings = &self.access.settings;
        let key = |url: &str| repository_key(&settings.git.rewrite, url);
        key(url) == key(settings.repo.as_str())
    }

    fn is_main_branch(&self, branch: &str) -> bool {
        *branch.strip_prefix(HEADS).unwrap_or(branch) == *self.access.settings.branch
    }

    fn is_reachable(&self, commit: GitId) -> bool {
        self.head.is_some_and(|head| contains(self.access, head, commit).unwrap_or(false))
    }

    fn base_repo(&self, object: &Arc<Object<BaseRepo>>) -> Option<MainReference> {
        if !self.is_control_plane(&object.spec.place.repo) {
            return None;
        }
        let named = match &object.spec.commit {
            Some(text) => Some(GitId::from_hex(text)?),
            None => None,
        };
        let role = ReadRole::Base(object.name.clone());
        let read = || self.loaded.reads.iter().find(|read| read.role == role).map(|read| read.commit);
        let commit = if self.is_main_branch(&object.spec.place.branch) {
            named
        } else {
            Some(named.or_else(read).filter(|commit| self.is_reachable(*commit))?)
        };
        Some(MainReference { key: object.key(), address: Some(object.address), commit })
    }

    fn flux(&self, read: &Read) -> Option<MainReference> {
        let ReadRole::Flux(name) = &read.role else { return None };
        if !self.is_control_plane(read.url.as_str()) {
            return None;
        }
        let is_head = self.is_main_branch(&read.revision) && !read.is_pinned;
        let commit = if is_head { None } else { Some(read.commit).filter(|commit| self.is_reachable(*commit)) };
        let key = ObjectKey { kind: Kind::FluxKustomization, name: Arc::clone(name), of: None };
        (is_head || commit.is_some()).then_some(MainReference { key, address: None, commit })
    }
}
