//! The `BaseRepo`s of an environment that name the control plane's main branch.

use std::sync::Arc;

use git::repository_key;
use model::git_id::GitId;
use model::object::{BaseRepo, Object};

use crate::access::RepositoryAccess;
use crate::loaded::Loaded;

/// A reference to the main branch.
pub(super) struct MainReference {
    pub(super) object: Arc<Object<BaseRepo>>,
    /// The commit. None: the head of the branch.
    pub(super) commit: Option<GitId>,
}

/// The references to the main branch of the control plane, by name. A commit that is no id is an error of reading.
pub(super) fn of(loaded: &Loaded, access: &RepositoryAccess) -> Vec<MainReference> {
    let settings = &access.settings;
    let key = |url: &str| repository_key(&settings.git.rewrite, url);
    let main = key(settings.repo.as_str());
    let is_main = |object: &&Arc<Object<BaseRepo>>| {
        *object.spec.place.branch == settings.branch && key(&object.spec.place.repo) == main
    };
    let reference = |object: &Arc<Object<BaseRepo>>| {
        let commit = match &object.spec.commit {
            Some(text) => Some(GitId::from_hex(text)?),
            None => None,
        };
        Some(MainReference { object: Arc::clone(object), commit })
    };
    loaded.fleet.base_repos.values().filter(is_main).filter_map(reference).collect()
}
