//! The destinations of output, from `GitOpsRepo` objects.

use std::collections::BTreeMap;

use model::count::thousands;
use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::name::EnvironmentName;
use model::object::environment::comparable_url;
use model::object::{GitOpsRepo, Object, gitops_repo};

use crate::layout::{Folder, Layout};
use crate::settings;

/// The maximum number of folders in one folder. Git writes the tree of a folder again after each change below it: with 10,000 entries, each
/// commit writes 400 kB for this tree alone. Git hosting services do not show, or refuse, folders with some thousands of entries.
pub const FOLDERS_MAX: usize = 10_000;

/// The layout of a `GitOpsRepo`: annotation `output.kalypso.io/fan-out`. The default if the annotation is not set or invalid.
pub fn layout(object: &Object<GitOpsRepo>) -> Layout {
    written_layout(object).unwrap_or_default()
}

/// The layout that the annotations of a `GitOpsRepo` name.
fn written_layout(object: &Object<GitOpsRepo>) -> Result<Layout, Diagnostic> {
    let is_spread = settings::fan_out(&object.key(), &object.annotations)?.unwrap_or(false);
    Ok(if is_spread { Layout::FanOut } else { Layout::Plain })
}

/// Diagnostics about the destinations of a fleet's output: layouts with too many folders, invalid annotations, and equal destinations.
pub fn destination_problems(fleet: &Fleet) -> Vec<Diagnostic> {
    let layouts = fleet.gitops_repos.values().filter_map(|object| layout_problem(fleet, object));
    layouts.chain(same_destination(fleet)).collect()
}

fn layout_problem(fleet: &Fleet, object: &Object<GitOpsRepo>) -> Option<Diagnostic> {
    let key = object.key();
    let layout = match written_layout(object) {
        Ok(layout) => layout,
        Err(diagnostic) => return Some(diagnostic),
    };
    // Each cluster type and each cluster has a folder.
    let count = fleet.cluster_types.len() + fleet.clusters.len();
    if layout == Layout::FanOut || count <= FOLDERS_MAX {
        return None;
    }
    let (count, max) = (thousands(count), thousands(FOLDERS_MAX));
    let message = format!("{count} folders would be in one folder of the GitOps branch; the maximum is {max}");
    let help = format!(
        "set the annotation `{}: \"true\"` on this GitOpsRepo, and let clusters pull from their new paths",
        gitops_repo::FAN_OUT
    );
    let origin = Origin::field(&key, FieldPath::from(["metadata", "name"]));
    Some(Diagnostic::error(Code::TooManyFolders, message).at(origin, "its output goes here").help(help).about(&key))
}

/// Reports `GitOpsRepo`s of a fleet with the same repository, branch and path.
fn same_destination(fleet: &Fleet) -> Vec<Diagnostic> {
    let mut seen: BTreeMap<_, &Object<GitOpsRepo>> = BTreeMap::new();
    let mut found = Vec::new();
    for object in fleet.gitops_repos.values() {
        let Some(first) = seen.insert(destination(object), object) else { continue };
        let name = FieldPath::from(["metadata", "name"]);
        let message = format!("`{}` and `{}` name the same repository, branch and path", first.name, object.name);
        let diagnostic = Diagnostic::error(Code::SameDestination, message)
            .at(Origin::field(&object.key(), name.clone()), "")
            .at(Origin::field(&first.key(), name), "")
            .help("give each its own branch or path");
        found.push(diagnostic.about(&object.key()));
    }
    found
}

/// Reports environments that write to the same repository, branch and path. The diagnostics of an environment name its conflicts with earlier fleets.
pub fn shared_destinations<'a>(fleets: impl Iterator<Item = &'a Fleet>) -> BTreeMap<EnvironmentName, Vec<Diagnostic>> {
    let mut seen: BTreeMap<_, &EnvironmentName> = BTreeMap::new();
    let mut found: BTreeMap<EnvironmentName, Vec<Diagnostic>> = BTreeMap::new();
    for fleet in fleets {
        let environment = &fleet.environment;
        for object in fleet.gitops_repos.values() {
            let other = seen.insert(destination(object), environment).filter(|other| *other != environment);
            let Some(other) = other else { continue };
            let message =
                format!("environments {other} and {environment} write to the same repository, branch and path");
            let origin = Origin::field(&object.key(), FieldPath::from(["spec"]));
            let diagnostic = Diagnostic::error(Code::SameDestination, message).at(origin, format!("of {environment}"));
            found.entry(environment.clone()).or_default().push(diagnostic.help("give each its own branch or path"));
        }
    }
    found
}

/// A destination in a normal form: the URL without `/` and `.git` at its end, the branch, and the parsed path.
fn destination(object: &Object<GitOpsRepo>) -> (&str, &str, Option<Folder>) {
    let place = &object.spec.place;
    (comparable_url(&place.repo), &place.branch, Folder::parse(&place.path))
}
