//! The columns and fields of each kind of object.

mod places;
mod platform;
mod promotions;
mod repositories;
mod rules;
mod workloads;

use model::locate::Locator;
use model::object::AnyObject;
pub(crate) use repositories::undeclared;
use serde_json::{Value as Json, json};

use super::kind::ListedKind;
use super::object::Listed;
use super::view::{View, labels_json};

/// A row of a list.
#[derive(Clone, Debug, Default)]
pub(crate) struct Row {
    /// The text of each column of the kind.
    pub(crate) cells: Vec<String>,
    /// The fields for programs.
    pub(crate) json: Json,
}

/// The columns of a table. Those after `always` are shown only in wide tables.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Columns {
    pub(crate) always: &'static [&'static str],
    pub(crate) wide: &'static [&'static str],
}

const fn columns(always: &'static [&'static str], wide: &'static [&'static str]) -> Columns {
    Columns { always, wide }
}

/// The columns of a kind of objects.
pub(crate) fn columns_of(kind: ListedKind) -> Columns {
    match kind {
        ListedKind::Environment => repositories::ENVIRONMENT,
        ListedKind::Promotion => promotions::PROMOTION,
        ListedKind::ClusterType => places::CLUSTER_TYPE,
        ListedKind::Cluster => places::CLUSTER,
        ListedKind::Workload => workloads::WORKLOAD,
        ListedKind::Target => workloads::TARGET,
        ListedKind::Policy => rules::POLICY,
        ListedKind::Pin => rules::PIN,
        ListedKind::Mapping => rules::MAPPING,
        ListedKind::Config => platform::CONFIG,
        ListedKind::Schema => platform::SCHEMA,
        ListedKind::Template => platform::TEMPLATE,
        ListedKind::Registration => workloads::REGISTRATION,
        ListedKind::BaseRepo => repositories::BASE_REPO,
        ListedKind::GitOpsRepo => repositories::GITOPS_REPO,
        ListedKind::Assignment | ListedKind::Value => columns(&[], &[]),
    }
}

/// A locator keeps the files that it has read, and a list visits each file once. So it is replaced from time to time.
const OPENED_FILES_MAX: usize = 200;

/// The row of an object. The last column is its file and line.
pub(crate) fn row(listed: &Listed, view: &mut View<'_>) -> Row {
    let Row { mut cells, mut json } = fields(listed, view);
    let origin = listed.origin();
    if view.locator.reads() >= OPENED_FILES_MAX {
        view.locator = Locator::new(view.fleet());
    }
    cells.insert(0, listed.name().to_string());
    cells.push(view.source(&origin));
    json["environment"] = view.environment().into();
    json["name"] = (&**listed.name()).into();
    json["place"] = crate::places::json(&origin, &mut view.locator);
    json["labels"] = labels_json(&listed.labels(view.fleet()));
    Row { cells, json }
}

/// The cells and fields that only this kind has.
fn fields(listed: &Listed, view: &mut View<'_>) -> Row {
    match listed {
        Listed::Target(target) => workloads::target(target, view),
        Listed::Object(object, key) => match object {
            AnyObject::Environment(object) => repositories::environment(object, view),
            AnyObject::Promotion(object) => promotions::promotion(object),
            AnyObject::ClusterType(object) => places::cluster_type(object, view),
            AnyObject::Cluster(object) => places::cluster(object, view),
            AnyObject::Workload(object) => workloads::workload(object, view),
            AnyObject::SchedulingPolicy(object) => rules::policy(object, view),
            AnyObject::ReleasePin(object) => rules::pin(object, view),
            AnyObject::LabelMapping(object) => rules::mapping(object, view),
            AnyObject::ConfigMap(object) => platform::config(object, view),
            AnyObject::ConfigSchema(_) => platform::schema(key, view),
            AnyObject::Template(object) => platform::template(object, view),
            AnyObject::WorkloadRegistration(object) => workloads::registration(object, view),
            AnyObject::BaseRepo(object) => repositories::base_repo(object),
            AnyObject::GitOpsRepo(object) => repositories::gitops_repo(object),
            AnyObject::DeploymentTarget(_)
            | AnyObject::DeploymentDescriptor(_)
            | AnyObject::FluxGitRepository(_)
            | AnyObject::FluxKustomization(_) => Row { cells: Vec::new(), json: json!({}) },
        },
    }
}
