//! The states of a control plane in which environments are read: the current one, a commit, a patch, or the working trees.

use std::path::Path;
use std::sync::Arc;

use delivery::access::RepositoryAccess;
use delivery::reading::{self, ReadAt};
use delivery::sources::loaded::Loaded;
use model::name::EnvironmentName;

use crate::change::{self, PatchText, Side};
use crate::checkout_paths::CheckoutPaths;
use crate::working_trees::WorkingTrees;
use crate::{EnvironmentSource, Error, Failure, branch};

/// A state of the control plane.
#[derive(Clone, Copy, Debug)]
pub enum ControlPlaneState<'a> {
    /// The current one.
    Current(ReadAt),
    /// A commit of the environment's branch or, without one environment, of the main branch.
    Commit(&'a str),
    /// The heads with a patch.
    Patch(PatchText<'a>),
}

/// Reads one environment, or all environments. They may be incomplete. A change is laid over the heads.
///
/// # Errors
/// If the state can't be read: a commit does not exist, or a patch does not apply.
pub fn read(
    source: &EnvironmentSource,
    state: ControlPlaneState<'_>,
    environment: Option<&EnvironmentName>,
) -> Result<Vec<Arc<Loaded>>, Error> {
    if let ControlPlaneState::Current(at) = state {
        return Ok(source.environments(environment, at)?.into_iter().map(Arc::new).collect());
    }
    let side = if environment.is_some() { Side::Any } else { Side::Main };
    let names = environment.map_or_else(|| source.environment_names(), |name| Ok(vec![name.clone()]))?;
    let read = |name: &EnvironmentName| match state {
        ControlPlaneState::Commit(text) => Ok(change::of_commits(source, (name.as_str(), side), text)?.new),
        ControlPlaneState::Patch(patch) => Ok(change::of_patch(source, (name.as_str(), side), patch)?.new),
        ControlPlaneState::Current(at) => Ok(Arc::new(source.environment(name.as_str(), at)?)),
    };
    names.iter().map(read).collect()
}

/// Environments with the content of working trees.
pub struct WorkingStates {
    /// The environments. They may be incomplete.
    pub environments: Vec<Arc<Loaded>>,
    /// The working trees that were read.
    pub checkouts: Vec<CheckoutPaths>,
    /// What of the working trees is not as it seems.
    pub notes: Vec<Note>,
}

/// A message about something that works, but perhaps not as expected.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Note {
    /// Something that is probably a mistake.
    Warning(String),
    /// Something to know.
    Information(String),
}

/// Reads one environment, or all environments, with the content of the working trees. `folder` is a folder in one of them.
///
/// # Errors
/// If no branch of the control plane is checked out, or if an environment can't be read.
pub fn read_working_trees(
    access: &RepositoryAccess,
    folder: Option<&Path>,
    environment: Option<&EnvironmentName>,
) -> Result<WorkingStates, Error> {
    let (trees, notes) = working_trees(access, folder)?;
    let read = reading::from_git(&trees.access(access), environment, ReadAt::Heads)?;
    Ok(WorkingStates { environments: read.into_iter().map(Arc::new).collect(), checkouts: trees.checkouts(), notes })
}

/// Opens the working trees of a control plane. The notes say what of them is not as it seems.
///
/// # Errors
/// If no branch of the control plane is checked out.
pub fn working_trees(access: &RepositoryAccess, folder: Option<&Path>) -> Result<(WorkingTrees, Vec<Note>), Error> {
    let trees = WorkingTrees::open(access, folder)?;
    if trees.branches().is_empty() {
        let message = format!("no branch of the control plane `{}` is checked out here", access.settings.repo);
        return Err(Failure::usage(message).help("name a folder with a clone of it: --working-tree DIR").into());
    }
    let notes = notes(access, &trees);
    Ok((trees, notes))
}

fn notes(access: &RepositoryAccess, trees: &WorkingTrees) -> Vec<Note> {
    let settings = &access.settings.git;
    let unfinished = trees.branches().iter().filter_map(|branch| branch::unfinished(branch, settings));
    let mut notes: Vec<_> = unfinished.map(|failure| Note::Warning(failure.message)).collect();
    notes.extend(trees.branches().iter().filter_map(|branch| branch.topic_note(settings)).map(Note::Information));
    let own = trees.branches().iter().filter(|branch| branch.topic.is_none());
    for branch in own.filter(|branch| branch.is_behind(&*access.repositories)) {
        let (name, root) = (branch.head.revision.name(), settings.shown(branch.checkout.root()));
        let root = root.display();
        let text = format!("`{root}` does not have the newest commits of `{name}`: `git -C {root} pull`");
        notes.push(Note::Warning(text));
    }
    if !trees.elsewhere().is_empty() {
        let branches: Vec<_> = trees.elsewhere().iter().map(|branch| format!("`{branch}`")).collect();
        let are = if branches.len() == 1 { "is" } else { "are" };
        let branches = model::count::named(&branches);
        notes.push(Note::Information(format!("note: {branches} {are} checked out nowhere, and read from git")));
    }
    notes
}
