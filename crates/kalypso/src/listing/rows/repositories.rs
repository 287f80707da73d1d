//! The columns of environments and of repositories.

use git::load::ReadRole;
use model::credential::without;
use model::object::environment::RepositoryPlace;
use model::object::{BaseRepo, Environment, GitOpsRepo, Object};
use serde_json::{Value as Json, json};

use super::super::view::{View, or_dash};
use super::{Columns, Row, columns};
use crate::terminal::thousands;

pub(super) const ENVIRONMENT: Columns = columns(
    &["NAME", "BRANCH", "COMMIT", "MAIN", "CLUSTER-TYPES", "CLUSTERS", "WORKLOADS", "ASSIGNMENTS"],
    &["GITOPS", "SOURCE"],
);
pub(super) const BASE_REPO: Columns = columns(&["NAME", "REPOSITORY", "BRANCH", "PATH", "COMMIT"], &["SOURCE"]);
pub(super) const GITOPS_REPO: Columns = columns(&["NAME", "REPOSITORY", "BRANCH", "PATH"], &["AUTO-MERGE", "SOURCE"]);

pub(super) fn environment(object: &Object<Environment>, view: &View<'_>) -> Row {
    let place = &object.spec.control_plane;
    let Row { cells, mut json } = environment_counts(view);
    json["repository"] = (&*without(&place.repo)).into();
    json["branch"] = (&*place.branch).into();
    json["path"] = (&*place.path).into();
    Row { cells: [vec![or_dash(&place.branch)], cells].concat(), json }
}

/// The cells and fields of an environment without its object: those of a plain directory that declares none.
fn environment_counts(view: &View<'_>) -> Row {
    let (loaded, fleet, inventory) = (view.loaded, view.fleet(), &view.inventory);
    let read = |role: &dyn Fn(&ReadRole) -> bool| loaded.reads.iter().find(|read| role(&read.role));
    let own = read(&|role| *role == ReadRole::Environment).map(|read| read.commit);
    let main = read(&|role| matches!(role, ReadRole::Base(name) if name.as_str() == "main")).map(|read| read.commit);
    let is_pinned = fleet.promoted_commit().is_some();
    let short = |commit: Option<model::git_id::GitId>| commit.map_or_else(|| "-".to_owned(), |id| id.short());
    let gitops: Vec<_> = fleet.gitops_repos.values().map(|object| place_text(&object.spec.place)).collect();
    let assignments = inventory.len(&inventory.all());
    Row {
        cells: vec![
            short(own),
            if main.is_some() && !is_pinned { format!("{} (head)", short(main)) } else { short(main) },
            thousands(fleet.cluster_types.len()),
            thousands(fleet.clusters.len()),
            thousands(fleet.workloads.len()),
            thousands(assignments),
            or_dash(&gitops.join(", ")),
        ],
        json: json!({
            "commit": own.map(|id| id.to_string()),
            "main": main.map(|id| id.to_string()),
            "mainIsPinned": is_pinned,
            "gitopsRepos": gitops,
            "clusterTypes": fleet.cluster_types.len(),
            "clusters": fleet.clusters.len(),
            "workloads": fleet.workloads.len(),
            "targets": inventory.prepared().targets().len(),
            "policies": fleet.policies.len(),
            "configs": fleet.config_maps.len(),
            "assignments": assignments,
        }),
    }
}

/// The row of an environment that no object declares: a plain directory.
pub(crate) fn undeclared(view: &View<'_>) -> Row {
    let Row { cells, mut json } = environment_counts(view);
    for key in ["repository", "branch", "path", "place"] {
        json[key] = Json::Null;
    }
    json["environment"] = view.environment().into();
    json["name"] = view.environment().into();
    json["labels"] = json!({});
    let first = [view.environment(), "-"].map(str::to_owned).to_vec();
    Row { cells: [first, cells, vec!["-".to_owned()]].concat(), json }
}

/// A repository with its branch: `https://git.example/acme/gitops@dev`.
fn place_text(place: &RepositoryPlace) -> String {
    let path = if matches!(&*place.path, "" | "." | "./") { String::new() } else { format!(":{}", place.path) };
    format!("{}@{}{path}", without(&place.repo), place.branch)
}

pub(super) fn base_repo(object: &Object<BaseRepo>) -> Row {
    let BaseRepo { place, commit, .. } = &object.spec;
    let shown = commit.as_deref().map_or("(head)", |commit| commit.get(..7).unwrap_or(commit));
    let mut row = repository(place);
    row.cells.push(shown.to_owned());
    row.json["commit"] = commit.as_deref().into();
    row
}

pub(super) fn gitops_repo(object: &Object<GitOpsRepo>) -> Row {
    let GitOpsRepo { place, auto_merge } = &object.spec;
    let mut row = repository(place);
    row.cells.push(if *auto_merge { "yes" } else { "no" }.to_owned());
    row.json["autoMerge"] = (*auto_merge).into();
    row
}

fn repository(place: &RepositoryPlace) -> Row {
    let repository = without(&place.repo);
    Row {
        cells: vec![or_dash(&repository), or_dash(&place.branch), or_dash(&place.path)],
        json: json!({"repository": &*repository, "branch": &*place.branch, "path": &*place.path}),
    }
}
