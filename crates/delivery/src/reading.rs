//! Reads environments from a plain directory, or from git repositories.

pub mod admission;

use std::collections::BTreeSet;
use std::sync::Arc;

use engine::promotion::graph::{self, Graph};
use git::load::{Declarations, Directory, Snapshot, unknown_environment};
use git::publications::Publications;
use git::{Commit, Repositories, RepositoryError, Revision};
use model::diagnostic::{Code, Diagnostic};
use model::git_id::GitId;
use model::name::EnvironmentName;
use model::object::AnyObject;
use model::object::environment::RepositoryPlace;
use model::source::Files;

use crate::access::{RepositoryAccess, destination_url};
use crate::error::{AdmissionError, ReadError};
use crate::sources::earlier_files::with_publications;
use crate::sources::heads::{self, DestinationHeads};
use crate::sources::loaded::{Admission, Loaded};
use crate::sources::pinned_repositories::PinnedRepositories;
use crate::states::rollout_store::{StoredStates, read_promotions_at};
use crate::states::state_branch::{self, StateBranchError};

/// The maximum number of attempts if branches move during an attempt.
pub const RACES_MAX: usize = 5;

/// A temporary name for the environment of a directory, until the names of its environments are known.
const ALL: &str = "all";

/// The commits at which the sources of an environment are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum ReadAt {
    /// The admitted commits, from which its output is rendered. A source without a recorded commit is read at its head.
    #[default]
    Admitted,
    /// The heads of all branches. The commit of the main branch and the releases are those that the environment's branch names.
    Heads,
    /// The heads of all branches with the newest candidates of the main branch and of releases, as if everything were admitted that waits.
    Candidates,
}

/// The graph of a control plane's environments.
#[derive(Clone, Debug)]
pub struct PromotionGraph {
    /// The graph.
    pub graph: Graph,
    /// The objects of which it is made. If [`Declarations::are_known`] is false, gates may be missing.
    pub declarations: Declarations,
    /// The files that diagnostics refer to.
    pub files: Arc<Files>,
    /// The problems in these files, and of the graph.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads one environment of a directory, or all environments.
///
/// # Errors
/// If the directory can't be read, or if its files contain no object.
pub fn from_directory(directory: Directory<'_>, name: Option<&EnvironmentName>) -> Result<Vec<Loaded>, ReadError> {
    let reads = match name {
        Some(name) => vec![declared_in(read_directory(directory, name)?, name)],
        None => environments_in(directory)?,
    };
    let shown = directory.path.display().to_string();
    let load = |read| {
        let mut loaded = Loaded::new(read, Some(shown.clone()), None);
        // If all files are broken, the environment has no objects. The errors of the files are sufficient.
        let is_empty = |diagnostic: &Diagnostic| diagnostic.code == Code::EmptyEnvironment;
        if loaded.diagnostics.iter().any(|diagnostic| diagnostic.is_error() && !is_empty(diagnostic)) {
            loaded.diagnostics.retain(|diagnostic| !is_empty(diagnostic));
        }
        loaded
    };
    Ok(reads.into_iter().map(load).collect())
}

/// Adds an error if a directory declares environments, and not this one: its output would be empty. Without any declaration, the name is that of the directory.
fn declared_in(mut read: git::load::LoadedFiles, name: &EnvironmentName) -> git::load::LoadedFiles {
    let declared = &read.declarations.environments;
    if !declared.is_empty() && declared.iter().all(|object| object.name != *name) {
        read.diagnostics.push(unknown_environment(name, declared.iter().map(|object| &object.name)));
        read.is_complete = false;
    }
    read
}

fn read_directory(directory: Directory<'_>, name: &EnvironmentName) -> Result<git::load::LoadedFiles, ReadError> {
    git::load::read_directory(directory, name).map_err(ReadError::Directory)
}

/// Loads all environments of a plain directory. Its files are read only once.
fn environments_in(directory: Directory<'_>) -> Result<Vec<git::load::LoadedFiles>, ReadError> {
    let Ok(any) = EnvironmentName::new(ALL) else { return Ok(Vec::new()) };
    let read = read_directory(directory, &any)?;
    let mut names: Vec<_> = names_in(directory, &read)?.into_iter().collect();
    graph_of(&read.declarations, None).0.sort(&mut names);
    if !read.is_complete {
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

/// The environments of a plain directory: the declared ones, or if there are none, the environments of its targets.
fn names_in(directory: Directory<'_>, read: &git::load::LoadedFiles) -> Result<BTreeSet<EnvironmentName>, ReadError> {
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

/// Reads one environment of a control plane, or all environments. If a file can't be read, the publications prove which objects existed before.
///
/// # Errors
/// If all environments are requested, and the control plane declares none or can't be read; or if it is not known what was admitted into an environment.
pub fn from_git(
    access: &Arc<RepositoryAccess>,
    name: Option<&EnvironmentName>,
    at: ReadAt,
) -> Result<Vec<Loaded>, ReadError> {
    let heads = Snapshot::new(&*access.repositories, access.control_plane());
    let names = match name {
        Some(name) => vec![name.clone()],
        None => names_at(&heads, access)?,
    };
    let load = |name| match at {
        ReadAt::Admitted => load_admitted(&heads, name, access),
        ReadAt::Heads => Ok(load_with_publications(&heads, name, access)),
        ReadAt::Candidates => load_candidates(&heads, name, access),
    };
    let loaded = names.iter().map(load).collect();
    access.save_broken_files();
    loaded
}

/// Reads an environment at what was admitted, beside its heads. None: its output has the heads.
///
/// # Errors
/// If it is not known what was admitted.
pub fn admitted(access: &Arc<RepositoryAccess>, heads: &Loaded) -> Result<Option<Loaded>, ReadError> {
    let name = &heads.fleet.environment;
    let Some(admission) = recorded(access, name, admission::of_states)? else { return Ok(None) };
    let loaded = at_admitted(access, Some(&admission), |snapshot| load_with_publications(snapshot, name, access));
    let is_different = loaded.reads != heads.reads || !admission.releases.is_empty();
    Ok(is_different.then(|| Loaded { admission: Some(admission), ..loaded }))
}

/// Loads an environment at what was admitted.
fn load_admitted(
    heads: &Snapshot<'_>,
    name: &EnvironmentName,
    access: &Arc<RepositoryAccess>,
) -> Result<Loaded, ReadError> {
    match recorded(access, name, admission::of_states) {
        Ok(admission) => {
            let load = |snapshot: &Snapshot<'_>| load_with_publications(snapshot, name, access);
            let loaded = match &admission {
                Some(admission) => at_admitted(access, Some(admission), load),
                None => load(heads),
            };
            check_states(&loaded)?;
            Ok(Loaded { admission, ..loaded })
        }
        // If the repository can't be read at all, the diagnostics of the environment say why.
        Err(error) => Some(load_with_publications(heads, name, access))
            .filter(|loaded| !loaded.is_complete)
            .ok_or_else(|| error.into()),
    }
}

/// Loads an environment as if everything were admitted that waits.
fn load_candidates(
    heads: &Snapshot<'_>,
    name: &EnvironmentName,
    access: &Arc<RepositoryAccess>,
) -> Result<Loaded, ReadError> {
    Ok(match recorded(access, name, admission::candidates_of)? {
        Some(candidates) => {
            at_admitted(access, Some(&candidates), |snapshot| load_with_publications(snapshot, name, access))
        }
        None => load_with_publications(heads, name, access),
    })
}

/// Calls `read` with a snapshot of the sources at what was admitted. Without an admission, it has the heads.
fn at_admitted<R>(
    access: &RepositoryAccess,
    admission: Option<&Admission>,
    read: impl FnOnce(&Snapshot<'_>) -> R,
) -> R {
    let Some(admission) = admission else { return read(&Snapshot::new(&*access.repositories, access.control_plane())) };
    let control_plane =
        git::load::ControlPlane { promoted: admission.main, releases: &admission.releases, ..access.control_plane() };
    let pinned = PinnedRepositories::new(&*access.repositories, admission.sources.clone());
    read(&Snapshot::new(&pinned, control_plane))
}

/// What was recorded in the states of an environment, before it is known whether they count.
fn recorded(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    of: impl FnOnce(&StoredStates) -> Result<Option<Admission>, String>,
) -> Result<Option<Admission>, AdmissionError> {
    let unreadable = |reason: String| AdmissionError::Unreadable { environment: environment.clone(), reason };
    let head = state_branch::unchecked_head(access, environment).map_err(|error| unreadable(error.to_string()))?;
    recorded_at(access, environment, head.as_ref(), of).map_err(unreadable)
}

/// Checks that the states of an environment behind a promotion count.
fn check_states(loaded: &Loaded) -> Result<(), AdmissionError> {
    let environment = &loaded.fleet.environment;
    if !loaded.graph.is_in_promotion(environment.as_str()) {
        return Ok(());
    }
    match state_branch::check(loaded) {
        Err(StateBranchError::Untrusted(untrusted)) => Err(untrusted.into()),
        // What can't be read is reported where the states are needed.
        _ => Ok(()),
    }
}

/// The names of the environments that the control plane declares at the head of its main branch, in the order of promotion.
///
/// # Errors
/// If the control plane declares none or can't be read.
pub fn environment_names(access: &RepositoryAccess) -> Result<Vec<EnvironmentName>, ReadError> {
    names_at(&Snapshot::new(&*access.repositories, access.control_plane()), access)
}

fn names_at(snapshot: &Snapshot<'_>, access: &RepositoryAccess) -> Result<Vec<EnvironmentName>, ReadError> {
    let environments = snapshot.environments();
    if environments.names.is_empty() {
        return Err(no_environments(environments, access));
    }
    Ok(in_promotion_order(&environments, access))
}

/// The names of environments in the order of promotion.
pub fn in_promotion_order(
    environments: &git::load::DeclaredEnvironments,
    access: &RepositoryAccess,
) -> Vec<EnvironmentName> {
    let (graph, _) = graph_of(&environments.declarations, Some(access));
    let mut names = environments.names.clone();
    names.sort_by(|one, other| access.compare(&graph, (one, other)));
    names
}

fn graph_of(declarations: &Declarations, access: Option<&RepositoryAccess>) -> (Graph, Vec<Diagnostic>) {
    let is_main =
        |place: &RepositoryPlace| access.is_some_and(|access| access.is_main_branch((&place.repo, &place.branch)));
    graph::build(&declarations.environments, &declarations.promotions, &is_main)
}

/// The graph of a control plane's environments at the head of its main branch, with all problems of the files that describe it.
pub fn promotion_graph(access: &RepositoryAccess) -> PromotionGraph {
    let found = promotion_graph_in(access, &*access.repositories);
    access.save_broken_files();
    found
}

/// The graph of a control plane's environments at an earlier commit of its main branch.
pub fn promotion_graph_at(access: &RepositoryAccess, commit: GitId) -> PromotionGraph {
    let settings = &access.settings;
    let main = (settings.repo.as_str().to_owned(), settings.branch.clone());
    promotion_graph_in(access, &PinnedRepositories::new(&*access.repositories, [(main, commit)].into()))
}

fn promotion_graph_in(access: &RepositoryAccess, repositories: &dyn Repositories) -> PromotionGraph {
    let environments = Snapshot::new(repositories, access.control_plane()).environments();
    let (graph, found) = graph_of(&environments.declarations, Some(access));
    let mut diagnostics = environments.diagnostics;
    diagnostics.extend(found);
    let git::load::DeclaredEnvironments { declarations, files, .. } = environments;
    PromotionGraph { graph, declarations, files, diagnostics: model::diagnostic::merged(diagnostics) }
}

fn no_environments(environments: git::load::DeclaredEnvironments, access: &RepositoryAccess) -> ReadError {
    match environments.diagnostics.into_iter().find(Diagnostic::is_error) {
        Some(first) => ReadError::Declarations(Box::new(first)),
        None => ReadError::NoEnvironments { url: access.settings.repo.clone(), branch: access.settings.branch.clone() },
    }
}

/// Loads an environment. If a file can't be read, its publications are read, too.
fn load_with_publications(snapshot: &Snapshot<'_>, name: &EnvironmentName, access: &Arc<RepositoryAccess>) -> Loaded {
    let part = snapshot.platform(name);
    let destinations: Vec<_> = part.gitops_repos().map(|object| object.spec.place.clone()).collect();
    let read = snapshot.complete(part, &|| Ok(Vec::new()));
    let (read, publications_error) =
        with_publications((snapshot, name), read, || publications((access, name), &destinations));
    Loaded { publications_error, ..Loaded::new(read, None, Some(access)) }
}

/// Reads an environment to publish it. The heads of the GitOps branches are read before the sources. A push that expects these heads never replaces output of
/// newer sources. `only` names the one `GitOpsRepo` to publish to.
///
/// The platform's objects name the GitOps branches. So the platform's branches are read first, and their heads are requested again after the heads of the
/// GitOps branches. If a branch of the platform has moved, reading starts again.
///
/// # Errors
/// If branches of the platform move during each of [`RACES_MAX`] attempts, or if it is not known what was admitted into the environment.
#[tracing::instrument(name = "read", skip_all, fields(%environment))]
pub fn for_publication(
    access: &Arc<RepositoryAccess>,
    environment: &EnvironmentName,
    only: Option<&str>,
) -> Result<Loaded, ReadError> {
    for _ in 0..RACES_MAX {
        if let Some(loaded) = read_consistently(access, environment, only)? {
            access.save_broken_files();
            return Ok(loaded);
        }
    }
    Err(ReadError::Moving { environment: environment.clone() })
}

/// Reads all sources of an environment at one snapshot, at the commits that were admitted. None if a branch of the platform moved during the read.
fn read_consistently(
    access: &Arc<RepositoryAccess>,
    environment: &EnvironmentName,
    only: Option<&str>,
) -> Result<Option<Loaded>, ReadError> {
    let (head, admission) = match state_branch::unchecked_head(access, environment) {
        Ok(head) => (Ok(head.clone()), recorded_at(access, environment, head.as_ref(), admission::of_states)),
        Err(error) => (Err(error.to_string()), Ok(None)),
    };
    // If the repository can't be read at all, the reads below say why, and nothing is published.
    let unreadable = head.as_ref().err().or(admission.as_ref().err()).cloned();
    let admission = admission.ok().flatten();
    let read = |snapshot: &Snapshot<'_>| -> Result<Option<Loaded>, ReadError> {
        let platform = snapshot.platform(environment);
        let found = heads::read(access, &platform, (environment, only));
        if !found.is_empty() && !snapshot.is_current() {
            return Ok(None);
        }
        if let Ok(head) = &head
            && !counts(access, environment, (head.as_ref(), &found))?
        {
            return Ok(None);
        }
        let publications = || heads::publications(access, environment, &found);
        let read = snapshot.complete(platform, &publications);
        let (read, publications_error) = with_publications((snapshot, environment), read, publications);
        Ok(Some(Loaded { destinations: found, publications_error, ..Loaded::new(read, None, Some(access)) }))
    };
    let Some(loaded) = at_admitted(access, admission.as_ref(), read)? else { return Ok(None) };
    match unreadable.filter(|_| loaded.is_complete) {
        Some(reason) => Err(AdmissionError::Unreadable { environment: environment.clone(), reason }.into()),
        None => Ok(Some(Loaded { admission, ..loaded })),
    }
}

/// What was recorded in the states of an environment at a commit, or why that is not known.
fn recorded_at(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    head: Option<&Commit>,
    of: impl FnOnce(&StoredStates) -> Result<Option<Admission>, String>,
) -> Result<Option<Admission>, String> {
    let Some(head) = head else { return Ok(None) };
    let stored = read_promotions_at(&*access.repositories, head, environment).map_err(|error| error.to_string())?;
    of(&stored)
}

/// Whether the head of the branch with the states counts. False: the branch moved while the environment was read.
fn counts(
    access: &RepositoryAccess,
    environment: &EnvironmentName,
    (head, destinations): (Option<&Commit>, &[DestinationHeads]),
) -> Result<bool, AdmissionError> {
    state_branch::counts(access, environment, (head, destinations)).map_err(|error| match error {
        StateBranchError::Untrusted(untrusted) => untrusted.into(),
        StateBranchError::Repository(error) => {
            AdmissionError::Unreadable { environment: environment.clone(), reason: error.to_string() }
        }
    })
}

/// Reads the publications on these branches. A branch that does not exist has no publications. A URL that is not allowed is skipped here, and reported where
/// it is used.
pub(crate) fn publications(
    (access, environment): (&RepositoryAccess, &EnvironmentName),
    destinations: &[RepositoryPlace],
) -> Result<Vec<Publications>, RepositoryError> {
    let repositories = &*access.repositories;
    let mut found = Vec::new();
    for destination in destinations {
        let Ok(url) = destination_url(Some(access), &destination.repo) else { continue };
        match repositories.resolve(&url, &Revision::branch(&destination.branch)) {
            Err(RepositoryError::NoRevision { .. } | RepositoryError::Empty { .. }) => {}
            head => found.push(Publications::read(repositories, &head?, environment)?),
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
