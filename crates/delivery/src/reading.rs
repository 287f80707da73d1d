//! Reads environments from a plain directory, or from git repositories.

use std::collections::BTreeSet;
use std::sync::Arc;

use git::load::{Directory, Snapshot};
use git::publish::PublishError;
use git::published::Published;
use git::{RepositoryError, Revision};
use model::diagnostic::{Code, Diagnostic};
use model::name::EnvironmentName;
use model::object::AnyObject;
use model::object::environment::RepositoryPlace;

use crate::access::{RepositoryAccess, destination_url};
use crate::error::ReadError;
use crate::heads;
use crate::loaded::Loaded;

/// How often work starts over because branches move meanwhile.
pub const RACES_MAX: usize = 5;

/// Stands for all environments of a directory while their names are not known.
const ALL: &str = "all";

/// Reads one environment of a directory, or all.
///
/// # Errors
/// If the directory can't be read, or has files without any object.
pub fn from_directory(directory: Directory<'_>, name: Option<&EnvironmentName>) -> Result<Vec<Loaded>, ReadError> {
    let reads = match name {
        Some(name) => vec![read_directory(directory, name)?],
        None => environments_in(directory)?,
    };
    let shown = directory.path.display().to_string();
    let load = |read| {
        let mut loaded = Loaded::new(read, Some(shown.clone()), None);
        // Files that are all broken leave an environment without objects. The errors in them say enough.
        let is_empty = |diagnostic: &Diagnostic| diagnostic.code == Code::EmptyEnvironment;
        if loaded.diagnostics.iter().any(|diagnostic| diagnostic.is_error() && !is_empty(diagnostic)) {
            loaded.diagnostics.retain(|diagnostic| !is_empty(diagnostic));
        }
        loaded
    };
    Ok(reads.into_iter().map(load).collect())
}

fn read_directory(directory: Directory<'_>, name: &EnvironmentName) -> Result<git::load::Loaded, ReadError> {
    git::load::read_directory(directory, name).map_err(ReadError::Directory)
}

/// The environments of a plain directory. Its files are read once for all of them.
fn environments_in(directory: Directory<'_>) -> Result<Vec<git::load::Loaded>, ReadError> {
    let Ok(any) = EnvironmentName::new(ALL) else { return Ok(Vec::new()) };
    let read = read_directory(directory, &any)?;
    let names = names_in(directory, &read)?;
    if !read.is_whole {
        // Diagnostics of an environment without objects name it.
        return names.iter().map(|name| read_directory(directory, name)).collect();
    }
    let of = |environment| {
        let mut read = read.clone();
        read.input.environment = environment;
        read
    };
    Ok(names.into_iter().map(of).collect())
}

/// The environments of a plain directory: those it declares, else those that its targets are for.
fn names_in(directory: Directory<'_>, read: &git::load::Loaded) -> Result<BTreeSet<EnvironmentName>, ReadError> {
    let objects = || read.input.contents.iter().flat_map(|file| &file.objects.objects);
    let declared: BTreeSet<_> = objects()
        .filter_map(|object| match object {
            AnyObject::Environment(environment) => Some(environment.name.clone()),
            _ => None,
        })
        .collect();
    let named = objects().flat_map(|object| match object {
        AnyObject::DeploymentTarget(target) => vec![Arc::clone(&target.spec.environment)],
        AnyObject::Workload(workload) => {
            workload.spec.deployment_targets.iter().map(|target| Arc::clone(&target.spec.environment)).collect()
        }
        _ => Vec::new(),
    });
    let named = || named.filter_map(|name| EnvironmentName::new(name).ok()).collect::<BTreeSet<_>>();
    let names = if declared.is_empty() { named() } else { declared };
    if names.is_empty() && objects().next().is_none() && read.input.contents.iter().all(|file| file.objects.is_good()) {
        return Err(ReadError::NoObjects { path: directory.path.to_owned() });
    }
    // Without any name, the diagnostics of the files still count.
    Ok(if names.is_empty() { BTreeSet::from([read.input.environment.clone()]) } else { names })
}

/// Reads one environment of a control plane, or all. If a source can't be understood, what was published says what was there before.
///
/// # Errors
/// If all are to be read, and the control plane declares none or can't be read.
pub fn from_git(access: &Arc<RepositoryAccess>, name: Option<&EnvironmentName>) -> Result<Vec<Loaded>, ReadError> {
    let moment = Snapshot::new(&*access.repositories, access.control_plane());
    let names = if let Some(name) = name {
        vec![name.clone()]
    } else {
        let environments = moment.environments();
        if environments.names.is_empty() {
            return Err(no_environments(environments, access));
        }
        environments.names
    };
    let loaded = names.iter().map(|name| now_and_before(&moment, name, access)).collect();
    access.save_broken_files();
    Ok(loaded)
}

fn no_environments(environments: git::load::Environments, access: &RepositoryAccess) -> ReadError {
    match environments.diagnostics.into_iter().find(Diagnostic::is_error) {
        Some(first) => ReadError::Declarations(Box::new(first)),
        None => ReadError::NoEnvironments { url: access.settings.repo.clone(), branch: access.settings.branch.clone() },
    }
}

/// An environment with what was published of it before, if a source can't be understood.
fn now_and_before(moment: &Snapshot<'_>, name: &EnvironmentName, access: &Arc<RepositoryAccess>) -> Loaded {
    let part = moment.platform(name);
    let destinations: Vec<_> = part.gitops_repos().map(|object| object.spec.place.clone()).collect();
    let read = moment.complete(part, &|| Ok(Vec::new()));
    let (read, unread) = with_past((moment, name), read, || published((access, name), &destinations));
    Loaded { unread, ..Loaded::new(read, None, Some(access)) }
}

/// Reads an environment that is to be published: the heads of the GitOps branches before any source. A push that expects these heads replaces nothing that
/// was made of newer sources. `only` names the one `GitOpsRepo` that matters.
///
/// The platform's objects say where these branches are. So its branches are read first, and asked again after the heads: if one has moved, reading starts over.
///
/// # Errors
/// If the platform's branches move during each of [`RACES_MAX`] attempts.
pub fn for_publication(
    access: &Arc<RepositoryAccess>,
    environment: &EnvironmentName,
    only: Option<&str>,
) -> Result<Loaded, ReadError> {
    for _ in 0..RACES_MAX {
        if let Some(loaded) = at_one_moment(access, environment, only) {
            access.save_broken_files();
            return Ok(loaded);
        }
    }
    Err(ReadError::Moving { environment: environment.clone() })
}

/// None if a branch of the platform's moved meanwhile.
fn at_one_moment(access: &Arc<RepositoryAccess>, environment: &EnvironmentName, only: Option<&str>) -> Option<Loaded> {
    let moment = Snapshot::new(&*access.repositories, access.control_plane());
    let platform = moment.platform(environment);
    let found = heads::read(access, &platform, (environment, only));
    if !found.is_empty() && !moment.is_still_true() {
        return None;
    }
    let published = || heads::published(access, environment, &found);
    let read = moment.complete(platform, &published);
    let (read, unread) = with_past((&moment, environment), read, published);
    Some(Loaded { destinations: found, unread, ..Loaded::new(read, None, Some(access)) })
}

/// What was read. If a source can't be understood, what was published says what was there before; the error says why that is not known.
pub(crate) fn with_past(
    (moment, name): (&Snapshot<'_>, &EnvironmentName),
    read: git::load::Loaded,
    published: impl FnOnce() -> Result<Vec<Published>, RepositoryError>,
) -> (git::load::Loaded, Option<PublishError>) {
    if read.is_understood || !read.is_whole {
        return (read, None);
    }
    match published() {
        Ok(published) if published.iter().all(|published| published.publications.is_empty()) => (read, None),
        Ok(published) => (moment.load_after(name, &published), None),
        Err(error) => (read, Some(error.into())),
    }
}

/// What was published on the branches of these places. A branch that does not exist has nothing. A URL that is not allowed becomes a diagnostic where it is used.
fn published(
    (access, environment): (&RepositoryAccess, &EnvironmentName),
    destinations: &[RepositoryPlace],
) -> Result<Vec<Published>, RepositoryError> {
    let repositories = &*access.repositories;
    let mut found = Vec::new();
    for destination in destinations {
        let Ok(url) = destination_url(Some(access), &destination.repo) else { continue };
        match repositories.resolve(&url, &Revision::branch(&destination.branch)) {
            Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => {}
            head => found.push(Published::read(repositories, &head?, environment)?),
        }
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use git::Edits;
    use model::progress::Progress;

    use super::*;

    #[test]
    fn the_files_of_a_directory_are_read_once_for_all_environments() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["dev", "prod"] {
            let text = format!(
                "{{apiVersion: scheduler.kalypso.io/v1alpha1, kind: Environment, metadata: {{name: {name}}}, \
                 spec: {{controlPlane: {{repo: r, branch: {name}, path: .}}}}}}\n"
            );
            std::fs::write(folder.path().join(format!("{name}.yaml")), text).unwrap();
        }
        let progress = Progress::watched();
        let directory = Directory { path: folder.path(), edits: &Edits::default(), progress: &progress };
        let loaded = from_directory(directory, None).unwrap();
        assert_eq!(loaded.iter().map(|loaded| loaded.fleet.environment.as_str()).collect::<Vec<_>>(), ["dev", "prod"]);
        assert_eq!(progress.seen().map(|seen| (seen.done, seen.total)), Some((2, 2)));
    }
}
