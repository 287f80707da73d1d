//! Finds `GitOpsRepo`s whose output would go to a branch that is also a source.

use std::collections::BTreeMap;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::name::EnvironmentName;
use model::object::AnyObject;

use super::reference::FLUX_BRANCH;
use crate::settings::{Rewrite, repository_key};
use crate::url::RepositoryUrl;

/// The host and path of a repository, and a branch.
type BranchKey = (String, String);

/// The sources of the objects.
#[derive(Clone, Copy)]
pub(super) struct Sources<'a> {
    /// The repository of the control plane, and its main branch; none for a plain directory.
    pub(super) main: Option<(&'a RepositoryUrl, &'a str)>,
    /// The rewrite rules of the configuration.
    pub(super) rewrite: &'a [Rewrite],
}

/// Diagnostics for the `GitOpsRepo`s among the objects of the platform.
pub(super) fn diagnostics<'a>(
    objects: impl Iterator<Item = &'a AnyObject> + Clone,
    control_plane: &Sources<'_>,
    environment: &EnvironmentName,
) -> Vec<Diagnostic> {
    let sources = sources(objects.clone(), control_plane);
    let ours = format!("kalypso/{environment}");
    let is_ours =
        |branch: &str| branch.strip_prefix(&ours).is_some_and(|rest| rest.is_empty() || rest.starts_with("--"));
    let mut found = Vec::new();
    for object in objects {
        let AnyObject::GitOpsRepo(object) = object else { continue };
        let (key, place) = (object.key(), &object.spec.place);
        let (repository, branch) = (repository_key(control_plane.rewrite, &place.repo), &place.branch);
        let is_pushed = |source: &str| source == &**branch || is_ours(source);
        let origin = || Origin::At(object.address, FieldPath::from(["spec", "branch"]));
        if is_ours(branch) {
            let message = format!(
                "the output of {key} would go to branch `{branch}`, which is the proposing branch for its changes"
            );
            let diagnostic = Diagnostic::error(Code::ProposalIsDestination, message)
                .at(origin(), "its output goes here")
                .note("Kalypso deletes the proposing branch when there is nothing to propose, and clusters would pull changes that are not merged")
                .help("name another branch for clusters to pull, for example the name of the environment");
            found.push(diagnostic.about(&key));
            continue;
        }
        let source = sources.iter().find(|((of, source), _)| *of == repository && is_pushed(source));
        let Some(((_, source), reader)) = source else { continue };
        let message =
            format!("the output of {key} would go to branch `{}`, which {reader} is read from", source.escape_debug());
        let diagnostic = Diagnostic::error(Code::SourceIsDestination, message)
            .at(origin(), "its output goes here")
            .note("Kalypso would read its output as input, and delete folders of the sources that are not part of its output")
            .help("use a separate branch for output, preferably in a separate repository");
        found.push(diagnostic.about(&key));
    }
    found
}

/// All branches that are read, each with the name of the object that refers to it.
fn sources<'a>(
    objects: impl Iterator<Item = &'a AnyObject>,
    control_plane: &Sources<'_>,
) -> BTreeMap<BranchKey, String> {
    let key = |repo: &str, branch: &str| (repository_key(control_plane.rewrite, repo), branch.to_owned());
    let the_control_plane = || "the control plane".to_owned();
    let main = control_plane.main.map(|(url, main)| (key(url.as_str(), main), the_control_plane()));
    let mut sources: BTreeMap<_, _> = main.into_iter().collect();
    for object in objects {
        let name = || object.key().to_string();
        let mut add = |repo: &str, branch: &str, name: String| {
            sources.entry(key(repo, branch)).or_insert(name);
        };
        match object {
            AnyObject::Environment(environment) => {
                let place = &environment.spec.control_plane;
                add(&place.repo, &place.branch, name());
                // The environment may write the URL of the control plane in another way.
                if let Some((_, main)) = control_plane.main {
                    add(&place.repo, main, the_control_plane());
                }
            }
            AnyObject::BaseRepo(base) => add(&base.spec.place.repo, &base.spec.place.branch, name()),
            AnyObject::WorkloadRegistration(registration) => {
                let place = &registration.spec.workload;
                add(&place.repo, &place.branch, name());
            }
            AnyObject::FluxGitRepository(flux) if flux.spec.branch.is_empty() => {
                add(&flux.spec.url, FLUX_BRANCH, name());
            }
            AnyObject::FluxGitRepository(flux) => add(&flux.spec.url, &flux.spec.branch, name()),
            _ => {}
        }
    }
    sources
}
