//! `kalypso bootstrap`: what a cluster or host needs, once, to pull its folder.

mod argocd;
mod flux;
mod script;

use delivery::reading::ReadAt;
use delivery::sources::loaded::Loaded;
use engine::compile::Prepared;
use engine::layout::Folder;
use engine::output::layout;
use engine::schedule::place::Place;
use model::object::{GitOpsRepo, Object};
use model::similar;

use crate::arguments::{Bootstrap, Reconciler};
use crate::exit::{Exit, Failure};
use crate::loading;
use crate::progress::Watch;
use crate::terminal;

/// The texts in a reconciler template that show what applies it.
const MARKS: [(&str, Reconciler); 3] = [
    ("argoproj.io/", Reconciler::Argocd),
    ("toolkit.fluxcd.io/", Reconciler::Flux),
    ("ansible.builtin.", Reconciler::Ansible),
];

/// The folder that a cluster or host pulls.
struct PulledFolder<'a> {
    environment: &'a str,
    /// The name of the cluster or cluster type.
    place: &'a str,
    /// The GitOps repository's URL.
    repository: &'a str,
    branch: &'a str,
    /// The path in the branch.
    path: String,
}

pub(super) fn run(options: &Bootstrap) -> anyhow::Result<Exit> {
    let mut watch = Watch::start();
    let loaded = loading::environment(&options.source, &options.environment, ReadAt::Admitted, &watch)?;
    watch.end();
    let place = place(&loaded, &options.place)?;
    let destination = destination(&loaded, options)?;
    let RepositoryFolder { repository, branch, path } = folder_of(destination, &options.place)?;
    let pulled = PulledFolder { environment: &options.environment, place: &options.place, repository, branch, path };
    let reconciler = options.reconciler.map_or_else(|| inferred(&loaded, &place), Ok)?;
    let text = match reconciler {
        Reconciler::Flux => flux::objects(&pulled, options),
        Reconciler::Argocd => argocd::application(&pulled, options)?,
        Reconciler::Ansible => script::text(&pulled, options, script::PLAYBOOKS)?,
        Reconciler::Script => script::text(&pulled, options, options.apply.as_deref().unwrap_or_default())?,
    };
    terminal::answer(&text)?;
    Ok(Exit::Good)
}

fn place(loaded: &Loaded, name: &str) -> Result<Place, Failure> {
    let fleet = &loaded.fleet;
    Place::find(fleet, name).ok_or_else(|| {
        let known = fleet.cluster_types.keys().map(AsRef::as_ref).chain(fleet.clusters.keys().map(AsRef::as_ref));
        let nearest = similar::nearest(name, known.map(|name: &std::sync::Arc<str>| &**name));
        let help = match (nearest, Prepared::new(fleet).meaning(name)) {
            (_, Some(meaning)) => format!("`{name}` is {meaning}"),
            (Some(nearest), None) => format!("did you mean `{nearest}`?"),
            (None, None) => format!("kalypso get cluster-types -e {} lists them", fleet.environment),
        };
        Failure::refused(format!("{} has no cluster and no cluster type `{name}`", fleet.environment)).help(help)
    })
}

/// The `GitOpsRepo` that the cluster pulls from.
fn destination<'l>(loaded: &'l Loaded, options: &Bootstrap) -> Result<&'l Object<GitOpsRepo>, Failure> {
    let (repos, environment) = (&loaded.fleet.gitops_repos, &loaded.fleet.environment);
    let names = || repos.keys().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ");
    if let Some(name) = &options.gitops_repo {
        return repos.get(name.as_str()).map(|object| &**object).ok_or_else(|| {
            Failure::refused(format!("{environment} has no GitOpsRepo `{name}`")).help(format!("it has {}", names()))
        });
    }
    let mut all = repos.values();
    match (all.next(), all.next()) {
        (Some(only), None) => Ok(only),
        (None, _) => Err(Failure::refused(format!("{environment} has no GitOpsRepo, so there is nothing to pull"))
            .help("add a GitOpsRepo to the environment's branch")),
        _ => Err(Failure::usage(format!("{environment} has several GitOpsRepos"))
            .help(format!("name one with --gitops-repo: {}", names()))),
    }
}

struct RepositoryFolder<'a> {
    repository: &'a str,
    branch: &'a str,
    path: String,
}

fn folder_of<'a>(destination: &'a Object<GitOpsRepo>, place: &str) -> Result<RepositoryFolder<'a>, Failure> {
    let repository = &destination.spec.place;
    let folder = Folder::parse(&repository.path).ok_or_else(|| {
        Failure::refused(format!("the path `{}` of GitOpsRepo `{}` is not a folder", repository.path, destination.name))
    })?;
    let path = folder.join(&layout(destination).path(place));
    Ok(RepositoryFolder { repository: &repository.repo, branch: &repository.branch, path })
}

/// What applies the reconciler template of the place.
fn inferred(loaded: &Loaded, place: &Place) -> Result<Reconciler, Failure> {
    let name = &place.cluster_type.spec.reconciler;
    let manifests = loaded.fleet.templates.get(&**name).map(|template| &template.spec.manifests);
    let text = manifests.into_iter().flatten().map(|manifest| &**manifest).collect::<Vec<_>>().join("\n");
    MARKS.iter().find(|(mark, _)| text.contains(mark)).map(|(_, reconciler)| *reconciler).ok_or_else(|| {
        Failure::usage(format!("the reconciler template `{name}` is neither for Flux nor for Argo CD"))
            .help("name what pulls with --reconciler")
    })
}

/// A text as a YAML scalar in double quotes.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}
