//! Finds the branch of another repository that an environment reads.

use std::sync::Arc;

use delivery::access::{RepositoryAccess, destination_url};
use git::load::Snapshot;
use model::fleet::Fleet;
use model::name::EnvironmentName;
use model::object::{BaseRepo, Object};

use super::plain_folder;
use crate::working_trees::RemoteBranch;
use crate::{Error, Failure};

/// The branch and the folder that a `BaseRepo` of an environment names. `text` is its name, or the URL of its repository.
///
/// # Errors
/// If there is no such `BaseRepo`, if there are several for the URL, or if its URL is not allowed.
pub(super) fn place(
    access: &Arc<RepositoryAccess>,
    environment: &EnvironmentName,
    text: &str,
) -> Result<(RemoteBranch, String), Error> {
    let read = Snapshot::new(&*access.repositories, access.control_plane()).load(environment);
    let (fleet, _) = Fleet::build(read.input);
    let url = |object: &Object<BaseRepo>| destination_url(Some(access), &object.spec.place.repo);
    let is_at = |object: &Object<BaseRepo>| {
        let is_same = |url: &git::RepositoryUrl| {
            git::RepositoryUrl::from_configuration(text)
                .is_ok_and(|other| access.settings.git.is_same_repository(url, &other))
        };
        url(object).is_ok_and(|url| is_same(&url))
    };
    let all = || fleet.base_repos.values();
    let found: Vec<_> = match all().find(|object| *object.name.as_str() == *text) {
        Some(object) => vec![object],
        None => all().filter(|object| is_at(object)).collect(),
    };
    let names = |objects: &mut dyn Iterator<Item = &Arc<Object<BaseRepo>>>| {
        objects.map(|object| format!("`{}`", object.name)).collect::<Vec<_>>().join(", ")
    };
    match found.as_slice() {
        [object] => {
            let branch = (url(object)?, object.spec.place.branch.to_string());
            Ok((branch, plain_folder(&object.spec.place.path)))
        }
        [] => {
            let failure = Failure::refused(format!("{environment} reads no BaseRepo `{text}`"));
            let known = fleet.base_repos.values().map(|object| object.name.as_str());
            Err(failure.did_you_mean(text, known, format!("it reads {}", names(&mut all()))).into())
        }
        several => {
            let message = format!("{} BaseRepos of {environment} read `{text}`", several.len());
            let names = names(&mut several.iter().copied());
            Err(Failure::usage(message).help(format!("name one of them: {names}")).into())
        }
    }
}
