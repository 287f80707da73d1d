//! Reads environments in the state of the control plane that the command line selects: the current one, a commit, a patch, or the working trees.

use std::path::Path;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::loaded::Loaded;
use delivery::reading::{self, ReadAt};

use crate::arguments::{SourceOptions, StateOptions};
use crate::change::{self, Side};
use crate::diagnostics::Checkout;
use crate::exit::Failure;
use crate::loading;
use crate::progress::Watch;
use crate::terminal;
use crate::working_trees::{WorkingBranch, WorkingTrees, from_here};

/// Environments that were read. They may be incomplete.
pub(crate) struct ReadStates {
    pub(crate) environments: Vec<Arc<Loaded>>,
    /// The working trees that were read.
    pub(crate) checkouts: Vec<Checkout>,
}

/// Reads one environment, or all environments. `at` is for the current state. A change of it is laid over the heads.
///
/// # Errors
/// If the state can't be read: a commit does not exist, a patch does not apply, or no working tree is found.
pub(crate) fn read(
    source: &SourceOptions,
    (state, at): (&StateOptions, ReadAt),
    environment: Option<&str>,
    watch: &mut Watch,
) -> anyhow::Result<ReadStates> {
    if let Some(folder) = &state.working_tree {
        let access = loading::access(source.config.as_deref(), watch.progress())?;
        let trees = working_trees(&access, folder.as_deref())?;
        let name = environment.map(loading::environment_name).transpose()?;
        let read = reading::from_git(&trees.access(&access), name.as_ref(), ReadAt::Heads)?;
        return Ok(ReadStates { environments: read.into_iter().map(Arc::new).collect(), checkouts: trees.checkouts() });
    }
    let side = if environment.is_some() { Side::Any } else { Side::Main };
    let change = |name: &str, watch: &mut Watch| match (&state.commit, &state.patch) {
        (Some(text), _) => change::of_commits(source, (name, side), text, watch).map(Some),
        (None, Some(file)) => change::of_patch(source, (name, side), file, watch).map(Some),
        (None, None) => Ok(None),
    };
    if state.commit.is_none() && state.patch.is_none() {
        let read = loading::environments(source, environment, at, watch.progress())?;
        return Ok(ReadStates { environments: read.into_iter().map(Arc::new).collect(), checkouts: Vec::new() });
    }
    let mut environments = Vec::new();
    for name in names(source, environment, watch)? {
        environments.extend(change(&name, watch)?.map(|change| change.new));
    }
    Ok(ReadStates { environments, checkouts: Vec::new() })
}

/// The named environment, or the names of all environments.
pub(crate) fn names(source: &SourceOptions, environment: Option<&str>, watch: &Watch) -> anyhow::Result<Vec<String>> {
    if let Some(name) = environment {
        return Ok(vec![name.to_owned()]);
    }
    if source.from.is_some() {
        let read = loading::environments(source, None, ReadAt::Heads, watch.progress())?;
        return Ok(read.iter().map(|loaded| loaded.fleet.environment.to_string()).collect());
    }
    let access = loading::access(source.config.as_deref(), watch.progress())?;
    Ok(reading::environment_names(&access)?.iter().map(ToString::to_string).collect())
}

/// Opens the working trees for `--working-tree`, and says what of them is not as it seems.
///
/// # Errors
/// If no branch of the control plane is checked out.
pub(crate) fn working_trees(access: &RepositoryAccess, folder: Option<&Path>) -> anyhow::Result<WorkingTrees> {
    let trees = WorkingTrees::open(access, folder)?;
    if trees.branches().is_empty() {
        let message = format!("no branch of the control plane `{}` is checked out here", access.settings.repo);
        return Err(Failure::usage(message).help("name a folder with a clone of it: --working-tree DIR").into());
    }
    for failure in trees.branches().iter().filter_map(crate::control_plane_branch::unfinished) {
        terminal::warn(&failure.message);
    }
    trees.branches().iter().filter_map(WorkingBranch::topic_note).for_each(|note| terminal::note(&note));
    let own = trees.branches().iter().filter(|branch| branch.topic.is_none());
    for branch in own.filter(|branch| branch.is_behind(&*access.repositories)) {
        let (name, root) = (branch.head.revision.name(), from_here(branch.checkout.root()));
        let root = root.display();
        terminal::warn(&format!("`{root}` does not have the newest commits of `{name}`: `git -C {root} pull`"));
    }
    if !trees.elsewhere().is_empty() {
        let branches: Vec<_> = trees.elsewhere().iter().map(|branch| format!("`{branch}`")).collect();
        let are = if branches.len() == 1 { "is" } else { "are" };
        let branches = model::count::named(&branches);
        terminal::note(&format!("note: {branches} {are} checked out nowhere, and read from git"));
    }
    Ok(trees)
}
