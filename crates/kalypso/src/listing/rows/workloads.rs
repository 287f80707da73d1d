//! The columns of workloads, their deployment targets and their registrations.

use engine::target::Target;
use model::credential::without;
use model::object::{Object, Workload, WorkloadRegistration};
use serde_json::json;

use super::super::object::registered;
use super::super::view::{View, labels_text, or_dash, pairs_json, pairs_text};
use super::{Columns, Row, columns};
use crate::terminal::thousands;

pub(super) const WORKLOAD: Columns =
    columns(&["NAME", "WORKSPACE", "REGISTRATION", "TARGETS", "ASSIGNMENTS"], &["REPOSITORY", "LABELS", "SOURCE"]);
pub(super) const TARGET: Columns =
    columns(&["NAME", "WORKLOAD", "ASSIGNMENTS", "LABELS"], &["WORKSPACE", "MANIFESTS", "SOURCE"]);
pub(super) const REGISTRATION: Columns =
    columns(&["NAME", "WORKSPACE", "REPOSITORY", "BRANCH", "PATH", "WORKLOADS"], &["SOURCE"]);

pub(super) fn workload(object: &Object<Workload>, view: &View<'_>) -> Row {
    let fleet = view.fleet();
    let (registration, workspace) = registered(fleet, &object.name);
    let repository = registration.and_then(|name| fleet.registrations.get(name));
    let repository = repository.map(|object| without(&object.spec.workload.repo).into_owned());
    let targets = view.inventory.targets_of(object.name.as_str());
    let assignments = view.inventory.len(&view.inventory.of_workload(object.name.as_str()));
    Row {
        cells: vec![
            or_dash(workspace),
            or_dash(registration.unwrap_or_default()),
            thousands(targets),
            thousands(assignments),
            or_dash(repository.as_deref().unwrap_or_default()),
            labels_text(&object.labels),
        ],
        json: json!({
            "workspace": workspace,
            "registration": registration,
            "repository": repository,
            "targets": targets,
            "assignments": assignments,
        }),
    }
}

pub(super) fn target(target: &Target, view: &View<'_>) -> Row {
    let counts = view.inventory.counts(&view.inventory.of_target(target.name.as_str()));
    let manifests = || target.manifests.iter().map(|(key, value)| (&**key, &**value));
    Row {
        cells: vec![
            or_dash(target.workload()),
            thousands(counts.assignments),
            labels_text(&target.labels),
            or_dash(target.workspace()),
            pairs_text(manifests()),
        ],
        json: json!({
            "workload": target.workload(),
            "workspace": target.workspace(),
            "registration": target.registration.as_ref().map(model::name::RegistrationName::as_str),
            "manifests": pairs_json(manifests()),
            "assignments": counts.assignments,
            "clusterTypes": counts.cluster_types,
            "clusters": counts.clusters,
        }),
    }
}

pub(super) fn registration(object: &Object<WorkloadRegistration>, view: &View<'_>) -> Row {
    let (fleet, place) = (view.fleet(), &object.spec.workload);
    let is_readable = !fleet.unavailable.contains(&object.name);
    let all = fleet.workloads.values().chain(fleet.conflicting_claims.values().flatten());
    let workloads: Vec<&str> = all
        .filter(|workload| workload.registration.as_ref() == Some(&object.name))
        .map(|workload| workload.object.name.as_str())
        .collect();
    let shown = if is_readable { or_dash(&workloads.join(",")) } else { "(can't be read)".to_owned() };
    Row {
        cells: vec![
            or_dash(&object.spec.workspace),
            or_dash(&without(&place.repo)),
            or_dash(&place.branch),
            or_dash(&place.path),
            shown,
        ],
        json: json!({
            "workspace": &*object.spec.workspace,
            "repository": &*without(&place.repo),
            "branch": &*place.branch,
            "path": &*place.path,
            "workloads": workloads,
            "readable": is_readable,
        }),
    }
}
