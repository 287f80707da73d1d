//! An attempt to publish: first where the GitOps branches are, then what the sources say.

use std::collections::BTreeSet;
use std::sync::Arc;

use git::RepositoryError;
use git::load::{Moment, PlatformPart};
use git::publish::{Destination, Heads, PublishError};
use git::published::Published;
use model::name::EnvironmentName;
use model::object::environment::RepositoryPlace;

use crate::arguments::SourceOptions;
use crate::configuration;
use crate::exit::Failure;
use crate::loading::{self, Loaded, Place};
use crate::progress::Watch;

/// How often an attempt starts over because branches move while they are read.
pub(crate) const RACES_MAX: usize = 5;

/// A place that output goes to.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The `GitOpsRepo`.
    pub(crate) name: String,
    /// The repository and the branch that clusters pull.
    pub(crate) place: RepositoryPlace,
    /// The branch that changes are proposed on.
    pub(crate) our_branch: String,
    /// Where both branches were before the sources were read.
    pub(crate) heads: Result<Heads, PublishError>,
}

/// Reads an environment that is to be published: the heads of the GitOps branches before any source, so that who pushes with them as the lease replaces nothing that
/// was made of newer sources. `only` names the one `GitOpsRepo` that matters.
///
/// The platform's objects say where these branches are. So its branches are read first, and asked again after the heads: if one has moved, everything starts over.
pub(crate) fn begin(
    source: &SourceOptions,
    environment: &str,
    only: Option<&str>,
    watch: &mut Watch,
) -> anyhow::Result<Loaded> {
    let environment = loading::environment_name(environment)?;
    let configuration = configuration::read(source.config.as_deref())?;
    let place = Arc::new(Place::new(configuration, watch.progress().clone()));
    for _ in 0..RACES_MAX {
        if let Some(loaded) = at_one_moment(&place, &environment, only) {
            place.keep_broken();
            return loading::whole(loaded, watch);
        }
    }
    watch.end();
    let message = format!("the branches of environment `{environment}` moved again and again while they were read");
    Err(Failure::outside(message).help("try again").into())
}

/// None if a branch of the platform's moved meanwhile.
fn at_one_moment(place: &Arc<Place>, environment: &EnvironmentName, only: Option<&str>) -> Option<Loaded> {
    let moment = Moment::new(&place.repositories, place.control_plane());
    let platform = moment.platform(environment);
    let found = destinations(place, &platform, (environment, only));
    if !found.is_empty() && !moment.is_still_true() {
        return None;
    }
    let read = moment.complete(platform, &|| published(place, environment, &found));
    let (read, unread) = loading::with_past((&moment, environment), read, || published(place, environment, &found));
    Some(Loaded { destinations: found, unread, ..loading::built(read, None, Some(place)) })
}

/// Where the branches of all places that matter are now.
fn destinations(
    place: &Place,
    platform: &PlatformPart,
    (environment, only): (&EnvironmentName, Option<&str>),
) -> Vec<Found> {
    let names: BTreeSet<_> = platform.gitops_repos().map(|object| object.name.as_str()).collect();
    let is_only_one = names.len() == 1;
    let wanted = platform.gitops_repos().filter(|object| only.is_none_or(|only| only == object.name.as_str()));
    let mut found = Vec::new();
    for object in wanted {
        // A URL that is not allowed is reported by who uses it.
        let Ok(url) = loading::destination_url(Some(place), &object.spec.place.repo) else { continue };
        let (name, to) = (object.name.to_string(), object.spec.place.clone());
        let our_branch = our_branch(environment, (!is_only_one).then_some(name.as_str()));
        let destination = Destination { url: &url, base: &to.branch, branch: Some(&our_branch), environment };
        let heads = git::publish::heads(&place.repositories, &destination);
        found.push(Found { name, place: to, our_branch, heads });
    }
    found
}

/// The branch that changes are proposed on; where there are several places, each has its own.
fn our_branch(environment: &EnvironmentName, gitops_repo: Option<&str>) -> String {
    match gitops_repo {
        None => format!("kalypso/{environment}"),
        Some(name) => format!("kalypso/{environment}--{name}"),
    }
}

/// What was published, and what is proposed, on the branches of all places.
fn published(place: &Place, environment: &EnvironmentName, found: &[Found]) -> Result<Vec<Published>, RepositoryError> {
    let heads = found.iter().filter_map(|found| found.heads.as_ref().ok());
    let heads = heads.flat_map(|heads| [Some(&heads.base), heads.branch.as_ref()]).flatten();
    heads.map(|head| Published::read(&place.repositories, head, environment)).collect()
}
