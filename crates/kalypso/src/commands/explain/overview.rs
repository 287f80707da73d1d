//! Overviews of a place, a deployment target or a workload, as text.

use engine::answers::overview::{Assignments, Meanings, PlaceOverview, TargetOverview, WorkloadOverview};
use engine::answers::why_not::SourcedLabel;
use engine::compile::Prepared;
use model::count;
use model::diagnostic::Origin;
use model::field_path::FieldPath;
use model::locate::Locator;
use model::name::{ClusterName, ClusterTypeName, WorkloadName};
use workbench::answers::explain::{NameOverviews, Overviews};
use workbench::listing::filter::advice;

use crate::arguments::{Explain, Format};
use crate::exit::Failure;
use crate::{places, terminal};

/// The maximum number of assignments, `ConfigMap`s or policies that are named.
const NAMED_MAX: usize = 10;
/// The maximum number of differing values that are named.
const VALUES_MAX: usize = 8;
/// The maximum number of problems that are shown.
const PROBLEMS_MAX: usize = 5;

/// The meaning that a kind before the name of an object selects. None if the word is not such a kind.
pub(super) fn meaning_of_kind(kind: &str) -> Option<Meanings> {
    let none = Meanings::default();
    match kind.to_ascii_lowercase().replace('-', "").trim_end_matches('s') {
        "clustertype" | "cluster" | "place" => Some(Meanings { is_place: true, ..none }),
        "deploymenttarget" | "target" => Some(Meanings { is_target: true, ..none }),
        "workload" => Some(Meanings { is_workload: true, ..none }),
        _ => None,
    }
}

/// The meanings that are in both.
pub(super) fn restricted(all: Meanings, only: Meanings) -> Meanings {
    Meanings {
        is_place: all.is_place && only.is_place,
        is_target: all.is_target && only.is_target,
        is_workload: all.is_workload && only.is_workload,
    }
}

/// The error for a name without a meaning.
pub(super) fn unknown(prepared: &Prepared, text: &str, name: &str) -> Failure {
    let fleet = prepared.fleet();
    let places = fleet.cluster_types.keys().map(ClusterTypeName::to_string);
    let places = places.chain(fleet.clusters.keys().map(ClusterName::to_string));
    let workloads = fleet.workloads.keys().map(WorkloadName::to_string);
    let targets = prepared.targets().iter().map(|target| target.name.to_string());
    let known = places.chain(workloads).chain(targets).collect();
    let help = advice(name, &known, std::iter::once(prepared))
        .unwrap_or_else(|| "write CLUSTER_TYPE/TARGET for an assignment, as in chicago-edge/checkout-us".to_owned());
    let message = format!("{} has no cluster type, cluster, deployment target or workload `{text}`", fleet.environment);
    Failure::refused(message).help(help)
}

/// The overviews of everything that a name means.
pub(super) fn answer((prepared, name, meanings): (&Prepared, &str, Meanings), options: &Explain) -> String {
    let overviews = Overviews::new(prepared, name, meanings);
    let mut locator = Locator::new(prepared.fleet());
    let environment = options.environment.as_str();
    if options.output != Format::Human {
        let answer = NameOverviews::new((environment, name), &overviews, &mut locator);
        return terminal::structured(&answer, options.output);
    }
    let Overviews { place, target, workload } = overviews;
    let texts = [
        place.map(|place| place_text(environment, &place, &mut locator)),
        target.map(|target| target_text(environment, &target, &mut locator)),
        workload.map(|workload| workload_text(environment, &workload, &mut locator)),
    ];
    texts.into_iter().flatten().collect::<Vec<_>>().join("\n")
}

fn place_text(environment: &str, overview: &PlaceOverview, locator: &mut Locator<'_>) -> String {
    let PlaceOverview { place, labels, clusters, targets, assignments } = overview;
    let name = place.name_text();
    let title = match &place.cluster {
        Some(_) => format!("cluster {name} of cluster type {}", place.cluster_type.name),
        None => format!("cluster type {name}"),
    };
    let count = terminal::count(targets.len(), "assignment");
    let mut lines = vec![format!("{title} in {environment}: {count}"), String::new()];
    lines.push(row("defined at", &places::shown(&Origin::field(&place.key(), FieldPath::default()), locator)));
    let templates = &place.cluster_type.spec;
    lines.push(row(
        "templates",
        &format!("{}, {}, {}", templates.reconciler, templates.namespace_service, templates.config_type),
    ));
    if *clusters > 0 {
        lines.push(row("clusters", &terminal::count(*clusters as usize, "cluster")));
    }
    lines.extend(label_rows(labels, locator));
    let names: Vec<_> = targets.iter().map(ToString::to_string).collect();
    lines.push(row("runs", &listed(&names)));
    lines.extend(assignment_rows(assignments, locator));
    lines.push(String::new());
    lines.push(match targets.first() {
        Some(target) => format!("  kalypso explain -e {environment} {name}/{target} shows more about one assignment"),
        None => format!("  kalypso why-not -e {environment} {name} shows which policies almost match"),
    });
    lines.join("\n") + "\n"
}

fn target_text(environment: &str, overview: &TargetOverview, locator: &mut Locator<'_>) -> String {
    let TargetOverview { target, labels, counts: [types, clusters], places: names, assignments } = overview;
    let on = count::places(*types as usize, *clusters as usize);
    let on = if types + clusters == 0 { "assigned to no place".to_owned() } else { format!("assigned to {on}") };
    let mut lines = vec![format!("deployment target {} in {environment}: {on}", target.name), String::new()];
    let (object, path) = &target.origin;
    lines.push(row("defined at", &places::shown(&Origin::field(object, path.clone()), locator)));
    let team = if target.workspace().is_empty() { String::new() } else { format!(" of {}", target.workspace()) };
    lines.push(row("workload", &format!("{}{team}", target.workload())));
    if let Some(registration) = &target.registration {
        lines.push(row("registered by", registration.as_str()));
    }
    lines.extend(label_rows(labels, locator));
    let names_text: Vec<_> = names.iter().map(ToString::to_string).collect();
    let more = (types + clusters).saturating_sub(names.len() as u64) as usize;
    lines.push(row("runs on", &listed_of(&names_text, more)));
    lines.extend(assignment_rows(assignments, locator));
    lines.push(String::new());
    lines.push(match names.first() {
        Some(place) => {
            format!("  kalypso explain -e {environment} {place}/{} shows more about one assignment", target.name)
        }
        None => format!("  kalypso why-not -e {environment} {} shows which policies almost match", target.name),
    });
    lines.join("\n") + "\n"
}

fn workload_text(environment: &str, overview: &WorkloadOverview, locator: &mut Locator<'_>) -> String {
    let WorkloadOverview { name, origin, registration, workspace, targets, elsewhere, problem } = overview;
    let assignments: u64 = targets.iter().map(|(_, places)| places).sum();
    let mut lines = vec![
        format!(
            "workload {name} in {environment}: {}, {}",
            terminal::count(targets.len(), "deployment target"),
            terminal::count(assignments as usize, "assignment")
        ),
        String::new(),
    ];
    lines.extend(origin.as_ref().map(|origin| row("defined at", &places::shown(origin, locator))));
    if !workspace.is_empty() {
        lines.push(row("workspace", workspace));
    }
    lines.extend(registration.as_ref().map(|registration| row("registered by", registration.as_str())));
    for (target, places) in targets.iter().take(NAMED_MAX) {
        lines.push(row("target", &format!("{target}   on {}", terminal::count(*places as usize, "place"))));
    }
    if targets.len() > NAMED_MAX {
        lines.push(row("", &format!("… and {} more", terminal::thousands(targets.len() - NAMED_MAX))));
    }
    let others: Vec<_> = elsewhere.iter().map(|(environment, count)| format!("{environment} {count}")).collect();
    if !others.is_empty() {
        lines.push(row("elsewhere", &format!("deployment targets for {}", others.join(" · "))));
    }
    if let Some(problem) = problem {
        lines.push(row("problem", &format!("{}[{}]: {}", problem.severity, problem.code, problem.message)));
    }
    if let Some((target, _)) = targets.first() {
        lines.push(String::new());
        lines.push(format!("  kalypso explain -e {environment} {target} shows more about one target"));
    }
    lines.join("\n") + "\n"
}

fn row(name: &str, text: &str) -> String {
    format!("  {name:<14}  {text}").trim_end().to_owned()
}

fn label_rows(labels: &[SourcedLabel], locator: &mut Locator<'_>) -> Vec<String> {
    let shown = |(number, label): (usize, &SourcedLabel)| {
        let name = if number == 0 { "labels" } else { "" };
        let place = places::shown(&label.origin(), locator);
        row(name, &format!("{}={}   {place}", label.key, label.value))
    };
    labels.iter().enumerate().map(shown).collect()
}

/// The first names of a list, and the number of the others.
fn listed(names: &[String]) -> String {
    listed_of(names, 0)
}

fn listed_of(names: &[String], unnamed: usize) -> String {
    if names.is_empty() {
        return "nothing".to_owned();
    }
    let shown = names.get(..NAMED_MAX).unwrap_or(names).join(", ");
    match names.len().saturating_sub(NAMED_MAX) + unnamed {
        0 => shown,
        more => format!("{shown}, … and {} more", terminal::thousands(more)),
    }
}

fn assignment_rows(assignments: &Assignments, locator: &mut Locator<'_>) -> Vec<String> {
    let Assignments { policies, config_maps, schemas, differing, problems, checked } = assignments;
    let mut lines = Vec::new();
    for (number, share) in policies.iter().take(NAMED_MAX).enumerate() {
        let name = if number == 0 { "by policy" } else { "" };
        let place = places::shown(&share.origin, locator);
        let count = terminal::thousands(share.assignments as usize);
        lines.push(row(name, &format!("{}   {count}   {place}", share.policy)));
    }
    if policies.len() > NAMED_MAX {
        lines.push(row("", &format!("… and {} more", terminal::thousands(policies.len() - NAMED_MAX))));
    }
    let names: Vec<_> = config_maps.iter().map(ToString::to_string).collect();
    if !names.is_empty() {
        lines.push(row("ConfigMaps", &format!("{}: {}", names.len(), listed(&names))));
    }
    let names: Vec<_> = schemas.iter().map(|object| format!("{} {}", object.kind, object.name)).collect();
    if !names.is_empty() {
        lines.push(row("schemas", &format!("{}: {}", names.len(), listed(&names))));
    }
    if !differing.is_empty() {
        let shown = differing.iter().take(VALUES_MAX).map(|(path, count)| format!("{path} ({count} values)"));
        let more = differing.len().saturating_sub(VALUES_MAX);
        let more = if more == 0 { String::new() } else { format!(", … and {} more", terminal::thousands(more)) };
        lines.push(row("differ", &format!("{}{more}", shown.collect::<Vec<_>>().join(", "))));
    }
    for (number, problem) in problems.iter().take(PROBLEMS_MAX).enumerate() {
        let name = if number == 0 { "problems" } else { "" };
        let stopped = terminal::count(problem.assignments.len(), "assignment");
        let text =
            format!("{}[{}]: {}   stops {stopped} of {checked}", problem.severity, problem.code, problem.message);
        lines.push(row(name, &text));
    }
    lines
}
