//! Reports folders of the GitOps branch without Kalypso's marker, where places need theirs.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use model::count::{count, named};
use model::diagnostic::{Code, Diagnostic, Label, Origin};
use model::field_path::FieldPath;
use model::name::{ClusterName, ClusterTypeName};
use model::similar;

use super::Adoption;
use crate::compile::Compiled;
use crate::schedule::place::Place;

/// The maximum number of folders that are reported one by one.
const ONE_BY_ONE_MAX: usize = 3;

/// The diagnostics for places whose folders are foreign, with the paths that are in the way. Many places are one diagnostic.
pub(super) fn problems(compiled: &Compiled, foreign: &BTreeMap<Arc<str>, String>) -> Vec<Diagnostic> {
    let found = foreign.iter().filter_map(|(name, path)| Some((Place::find(compiled.fleet(), name)?, path.as_str())));
    let found: Vec<_> = found.collect();
    if found.len() <= ONE_BY_ONE_MAX {
        return found.iter().map(|(place, path)| problem(compiled, place, path)).collect();
    }
    vec![problem_of_many(compiled, &found)]
}

/// The diagnostics for names of `--adopt` that are no places.
pub(super) fn unknown_names(compiled: &Compiled, adopt: &Adoption) -> Vec<Diagnostic> {
    let Adoption::Named(names) = adopt else { return Vec::new() };
    let fleet = compiled.fleet();
    let unknown = names.iter().filter(|name| Place::find(fleet, name).is_none());
    let known = || {
        let cluster_types = fleet.cluster_types.keys().map(ClusterTypeName::as_str);
        cluster_types.chain(fleet.clusters.keys().map(ClusterName::as_str))
    };
    let problem = |name: &Arc<str>| {
        let message = format!("`--adopt {name}` names no cluster type or cluster of {}", fleet.environment);
        let diagnostic = Diagnostic::error(Code::ForeignFolder, message).note("no folder of this name is taken over");
        match similar::nearest(name, known()) {
            Some(near) => diagnostic.help(format!("did you mean `{near}`?")),
            None => diagnostic,
        }
    };
    unknown.map(problem).collect()
}

fn problem(compiled: &Compiled, place: &Place, path: &str) -> Diagnostic {
    let what = place.kind();
    let message = format!("the GitOps branch has a folder `{path}` that is not Kalypso's");
    let mut diagnostic = Diagnostic::error(Code::ForeignFolder, message)
        .at(origin(place), format!("this {what} needs the folder"))
        .note(format!("the folder stays as it is; the {what}'s assignments are not written"))
        .help(format!(
            "rename the {what}, move the folder, or replace its content with `--adopt {}`",
            place.name_text()
        ));
    diagnostic.assignments =
        compiled.assignments_on(place.name_text()).filter_map(|assignment| assignment.id()).collect();
    diagnostic.about(&place.key())
}

fn problem_of_many(compiled: &Compiled, found: &[(Place, &str)]) -> Diagnostic {
    let paths: BTreeSet<_> = found.iter().map(|(_, path)| format!("`{path}`")).collect();
    let paths: Vec<_> = paths.into_iter().collect();
    let message = match &paths[..] {
        [one] => format!("the GitOps branch has {one}, which is not Kalypso's"),
        _ => {
            format!("the GitOps branch has {} that are not Kalypso's: {}", count(paths.len(), "folder"), named(&paths))
        }
    };
    let places = found.iter().take(ONE_BY_ONE_MAX).map(|(place, _)| place);
    let labels =
        places.map(|place| Label { origin: origin(place), text: format!("this {} needs its folder", place.kind()) });
    let first = found.first().map(|(place, _)| place.name_text().to_string()).unwrap_or_default();
    let assignments = found.iter().flat_map(|(place, _)| compiled.assignments_on(place.name_text()));
    let mut diagnostic = Diagnostic::error(Code::ForeignFolder, message)
        .note("they stay as they are; the assignments of their cluster types and clusters are not written")
        .help("to run beside them, set `path` of the `GitOpsRepo` to a folder of its own")
        .help(format!(
            "to take one over, see what it would lose with `kalypso plan -e {} --adopt {first}`; `--adopt` without a name takes over all",
            compiled.fleet().environment
        ));
    diagnostic.labels = labels.collect();
    diagnostic.assignments = assignments.filter_map(|assignment| assignment.id()).collect();
    diagnostic
}

fn origin(place: &Place) -> Origin {
    Origin::field(&place.key(), FieldPath::from(["metadata", "name"]))
}
