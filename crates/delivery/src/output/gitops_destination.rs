//! The GitOps branches that an environment's output goes to.

use std::collections::BTreeSet;

use engine::compile::Compiled;
use engine::layout::own_files::OWNER_FILE;
use engine::layout::{Folder, Layout, is_text};
use engine::output::{Relocation, layout, relocated};
use git::publish::PublishError;
use model::fleet::Fleet;
use model::object::environment::RepositoryPlace;
use model::object::{GitOpsRepo, Object};
use model::tree::{OpenError, Sealed, Tree};

use crate::access::SharedRepositories;
use crate::branches::branch::{Branch, folder_of};
use crate::error::DestinationError;
use crate::sources::loaded::Loaded;

/// A destination of the environment's output.
pub struct GitOpsDestination {
    /// The name of its `GitOpsRepo`.
    pub name: String,
    /// The repository, branch and path.
    pub place: RepositoryPlace,
    /// The folder of the output.
    pub folder: Folder,
    /// The layout of the folders of cluster types in it.
    pub layout: Layout,
    /// The current content.
    pub branch: Branch,
}

/// A destination, with the environment that is published to it.
#[derive(Clone, Copy)]
pub struct BranchSide<'a> {
    /// The environment as it is compiled now.
    pub compiled: &'a Compiled,
    /// The destination.
    pub target: &'a GitOpsDestination,
}

/// The destinations of the environment's output. `only` names one of them. `repositories` reads the branches for an environment of a plain directory.
///
/// # Errors
/// If there is no destination, or if a branch can't be read.
pub fn targets(
    loaded: &Loaded,
    only: Option<&str>,
    repositories: Option<&SharedRepositories>,
) -> Result<Vec<GitOpsDestination>, DestinationError> {
    each_target(loaded, only, repositories)?.into_iter().map(|(_, target)| target).collect()
}

/// The destinations of the environment's output for a plan. A branch that `publish` would create is empty.
///
/// # Errors
/// As in [`targets`].
pub fn planned_targets(
    loaded: &Loaded,
    only: Option<&str>,
    repositories: Option<&SharedRepositories>,
) -> Result<Vec<GitOpsDestination>, DestinationError> {
    let each = each_target(loaded, only, repositories)?.into_iter();
    each.map(|(name, target)| target.or_else(|error| new_target(loaded, &name, error))).collect()
}

fn new_target(loaded: &Loaded, name: &str, error: DestinationError) -> Result<GitOpsDestination, DestinationError> {
    let found = loaded.fleet.gitops_repos.values().find(|object| object.name.as_str() == name);
    let (Some(object), Some(access), DestinationError::Publish(PublishError::NoBase { .. })) =
        (found, &loaded.access, &error)
    else {
        return Err(error);
    };
    let (place, url) = (object.spec.place.clone(), loaded.url(&object.spec.place.repo)?);
    if !access.was_never_seen(&url, &place.branch) {
        return Err(error);
    }
    let branch = Branch::of_tree(format!("{}@{}, a new branch", url.label(), place.branch), Tree::default());
    let (folder, layout) = (folder_of(object)?, layout(object));
    Ok(GitOpsDestination { name: name.to_owned(), place, folder, layout, branch })
}

/// The name of a `GitOpsRepo`, and its destination.
pub(crate) type EachTarget = (String, Result<GitOpsDestination, DestinationError>);

/// The destinations of the environment's output as in [`targets`], with the names of their `GitOpsRepo` objects. One that can't be read does not affect the others.
///
/// # Errors
/// If there is no destination.
pub(crate) fn each_target(
    loaded: &Loaded,
    only: Option<&str>,
    repositories: Option<&SharedRepositories>,
) -> Result<Vec<EachTarget>, DestinationError> {
    let repos =
        loaded.fleet.gitops_repos.values().filter(|object| only.is_none_or(|name| object.name.as_str() == name));
    let found: Vec<_> = repos.map(|object| (object.name.to_string(), target(loaded, object, repositories))).collect();
    if found.is_empty() {
        let environment = loaded.fleet.environment.clone();
        let known = loaded.fleet.gitops_repos.keys().map(|name| format!("`{name}`")).collect();
        return Err(DestinationError::NoGitOpsRepo { environment, name: only.map(str::to_owned), known });
    }
    Ok(found)
}

fn target(
    loaded: &Loaded,
    object: &Object<GitOpsRepo>,
    repositories: Option<&SharedRepositories>,
) -> Result<GitOpsDestination, DestinationError> {
    let folder = folder_of(object)?;
    let branch = Branch::read(loaded, (object.name.as_str(), &object.spec.place), repositories)?;
    let place = object.spec.place.clone();
    Ok(GitOpsDestination { name: object.name.to_string(), place, folder, layout: layout(object), branch })
}

/// The folders of the branch of a place that `GitOpsRepo`s of the environment name.
pub(crate) fn folders_of_branch(fleet: &Fleet, place: &RepositoryPlace) -> BTreeSet<Folder> {
    let places = fleet.gitops_repos.values().map(|object| &object.spec.place);
    let of_branch = places.filter(|other| other.repo == place.repo && other.branch == place.branch);
    of_branch.filter_map(|place| Folder::parse(&place.path)).collect()
}

impl GitOpsDestination {
    /// Moves the folders of the branch to the path of the destination, if the newest publication wrote them to another one: the path of its `GitOpsRepo` changed.
    /// `before` is the environment of this publication. None: the path did not change, or the old path is not this environment's any more.
    ///
    /// # Errors
    /// If a folder can't be opened.
    pub(crate) fn relocate(&mut self, (before, now): (&Loaded, &Loaded)) -> Result<Option<Relocation>, OpenError> {
        let folders = |loaded: &Loaded| -> BTreeSet<Folder> {
            let places = loaded.fleet.gitops_repos.values().map(|object| &object.spec.place);
            let of_branch = places.filter(|place| place.repo == self.place.repo && place.branch == self.place.branch);
            of_branch.filter_map(|place| Folder::parse(&place.path)).collect()
        };
        let (before, current) = (folders(before), folders(now));
        let mut left = before.difference(&current);
        let (Some(from), None, false) = (left.next(), left.next(), before.contains(&self.folder)) else {
            return Ok(None);
        };
        let open = |sealed: &Sealed| self.branch.open(sealed);
        let owner = self.branch.tree.file(&from.join(OWNER_FILE), &open)?;
        if !owner.is_some_and(|owner| is_text(&owner.blob, &now.owner_text())) {
            return Ok(None);
        }
        let Some((tree, relocation)) = relocated(&self.branch.tree, (from, &self.folder), &open)? else {
            return Ok(None);
        };
        self.branch.tree = tree;
        Ok(Some(relocation))
    }

    /// A tree without a repository, as a destination.
    pub fn of_tree(name: &str, tree: Tree, (folder, layout): (Folder, Layout)) -> Self {
        let place = RepositoryPlace { repo: "".into(), branch: "".into(), path: "".into() };
        Self { name: name.to_owned(), place, folder, layout, branch: Branch::of_tree(name.to_owned(), tree) }
    }
}

/// The folder and layout of the environment's first `GitOpsRepo`, or the defaults if it has none.
///
/// # Errors
/// If the path of the object leads out of its repository.
pub fn first_layout(loaded: &Loaded) -> Result<(Folder, Layout), DestinationError> {
    let Some(object) = loaded.fleet.gitops_repos.values().next() else { return Ok(Default::default()) };
    Ok((folder_of(object)?, layout(object)))
}
