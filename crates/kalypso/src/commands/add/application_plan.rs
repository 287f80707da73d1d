//! The change that edits in the repository of an application are for an environment, before they are committed.

use std::path::Path;
use std::sync::Arc;

use authoring::file_edits::FileEdits;
use delivery::loaded::Loaded;
use git::load::{ReadRole, Snapshot};
use git::{Commit, Edits, Revision};

use crate::change::EnvironmentChange;
use crate::edited_repositories::{EditedRepositories, Next};
use crate::progress::Watch;
use crate::{configuration, loading};

/// Reads an environment before and after edits on top of the branch that is registered for a workload. None if there is no configuration file here, or if the
/// workload is not registered.
pub(super) fn change(
    (environment, workload): (&str, &str),
    files: &FileEdits,
    (config, watch): (Option<&Path>, &Watch),
) -> anyhow::Result<Option<EnvironmentChange>> {
    if config.is_none() && configuration::read(None).is_err() {
        return Ok(None);
    }
    let access = loading::access(config, watch.progress())?;
    let name = loading::environment_name(environment)?;
    let read = Snapshot::new(&*access.repositories, access.control_plane()).load(&name);
    let old = Arc::new(Loaded::new(read, None, Some(&access)));
    let Some(before) = commit_of(&old, workload) else { return Ok(None) };
    let edits: Edits = files.iter().map(|(path, edit)| (Arc::clone(path), edit.content().cloned())).collect();
    let branch = before.revision.name().to_string();
    let settings = Arc::new(access.settings.git.clone());
    let next = Next::of_branch(before, edits.clone(), &settings);
    let edited = EditedRepositories::new(&*access.repositories, vec![next]);
    let read = Snapshot::new(&edited, access.control_plane()).load(&name);
    let new = Arc::new(Loaded::new(read, None, Some(&access)));
    Ok(Some(EnvironmentChange::of_edits((old, new), (&branch, environment.to_owned()), &edits)))
}

/// The commit from which a workload was read. None if it is not from the repository of an application, or if a fixed commit is registered.
fn commit_of(loaded: &Loaded, workload: &str) -> Option<Commit> {
    let registration = loaded.fleet.workloads.get(workload)?.registration.clone()?;
    let is_its = |role: &ReadRole| matches!(role, ReadRole::Application(name) if *name == registration);
    let read = loaded.reads.iter().find(|read| is_its(&read.role) && !read.is_pinned)?;
    Some(Commit { url: read.url.clone(), revision: Revision::branch(&read.revision), id: read.commit })
}
