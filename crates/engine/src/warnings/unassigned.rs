//! Notes about deployment targets that no policy assigns.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::diagnostic::{Code, Diagnostic, Origin};
use model::field_path::FieldPath;
use model::fleet::Fleet;
use model::kind::Kind;
use roaring::RoaringBitmap;

use crate::prepare::Prepared;
use crate::schedule::target::Target;
use crate::warnings::unused::may_hold;

/// The maximum number of targets of one workload that a note names and points at.
const NAMED_MAX: usize = 5;

impl Prepared {
    /// Notes about deployment targets of the environment that no policy assigns to a place: one for each workload. Empty if policies, places or targets
    /// are missing from the fleet, because then a policy may assign the target.
    pub fn unassigned_notes(&self) -> Vec<Diagnostic> {
        if !is_certain(&self.fleet) {
            return Vec::new();
        }
        let assigned = self.schedule.assigned();
        let mut by_workload: BTreeMap<&str, TargetsOfWorkload<'_>> = BTreeMap::new();
        for target in self.targets() {
            let of_workload = by_workload.entry(target.workload()).or_default();
            of_workload.count += 1;
            let is_assigned = self.target_id(target.name.as_str()).is_some_and(|id| assigned.contains(id));
            if !is_assigned {
                of_workload.unassigned.push(target);
            }
        }
        let with_unassigned = by_workload.into_iter().filter(|(_, targets)| !targets.unassigned.is_empty());
        with_unassigned.map(|(workload, targets)| note(&self.fleet, workload, &targets)).collect()
    }

    /// The targets that policies assign to at least one place.
    pub(crate) fn assigned_targets(&self) -> RoaringBitmap {
        self.schedule.assigned()
    }
}

/// The targets of one workload.
#[derive(Default)]
struct TargetsOfWorkload<'p> {
    count: usize,
    unassigned: Vec<&'p Arc<Target>>,
}

/// Whether everything is known that decides about assignments. A fleet without policies or places is the checkout of one branch.
fn is_certain(fleet: &Fleet) -> bool {
    const DECIDING: [Kind; 6] = [
        Kind::SchedulingPolicy,
        Kind::ClusterType,
        Kind::Cluster,
        Kind::LabelMapping,
        Kind::WorkloadRegistration,
        Kind::Environment,
    ];
    let has_places = !fleet.cluster_types.is_empty() || !fleet.clusters.is_empty();
    has_places
        && !fleet.policies.is_empty()
        && fleet.unavailable.is_empty()
        && !fleet.unread.iter().any(|unread| may_hold(unread, &DECIDING))
}

fn note(fleet: &Fleet, workload: &str, targets: &TargetsOfWorkload<'_>) -> Diagnostic {
    let TargetsOfWorkload { count, unassigned } = targets;
    let mut names: Vec<_> = unassigned.iter().take(NAMED_MAX).map(|target| format!("`{}`", target.name)).collect();
    if let Some(more) = unassigned.len().checked_sub(NAMED_MAX).filter(|more| *more > 0) {
        names.push(format!("{more} more"));
    }
    let names = match names.split_last() {
        Some((last, first)) if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        _ => names.concat(),
    };
    let environment = &fleet.environment;
    let of_workload = match (workload, unassigned.len()) {
        ("", _) => String::new(),
        (_, 1) if *count == 1 => format!(", the only deployment target of workload `{workload}`"),
        (_, unassigned) if unassigned == *count => format!(", all deployment targets of workload `{workload}`"),
        (_, unassigned) => format!(": {unassigned} of {count} deployment targets of workload `{workload}`"),
    };
    let message = format!("no policy of {environment} assigns {names}{of_workload}");
    let mut diagnostic = Diagnostic::hint(Code::UnassignedTarget, message).because("no policy");
    for target in unassigned.iter().take(NAMED_MAX) {
        diagnostic = diagnostic.at(origin(target), "");
    }
    let diagnostic = diagnostic.help("to run it, the platform team adds a SchedulingPolicy that selects it");
    match unassigned.first() {
        Some(first) => diagnostic.about(&first.origin.0),
        None => diagnostic,
    }
}

/// The name of a target, in its workload or as an object of its own.
fn origin(target: &Target) -> Origin {
    let (object, path) = &target.origin;
    let name = if object.kind == Kind::Workload { path.key("name") } else { FieldPath::from(["metadata", "name"]) };
    Origin::field(object, name)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: &str = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata: {name: edge}\n\
        spec: {reconciler: r, namespaceService: r, configType: c}\n";
    const POLICY: &str = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata: {name: all}\n\
        spec: {deploymentTargetSelector: {labelSelector: {matchLabels: {on: edge}}}, clusterTypeSelector: {labelSelector: {}}}\n";

    fn workload(name: &str, targets: &[(&str, &str)]) -> String {
        let targets = targets.iter().map(|(target, on)| {
            format!("  - {{name: {target}, environment: prod, labels: {{on: {on}}}, manifests: {{repo: r}}}}\n")
        });
        format!(
            "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata: {{name: {name}}}\nspec:\n  deploymentTargets:\n{}",
            targets.collect::<String>()
        )
    }

    /// Compares the messages of the notes.
    fn check(files: &[&str], expected: &[&str]) {
        let files = files.iter().enumerate().map(|(index, text)| (format!("{index}.yaml"), text.as_bytes().to_vec()));
        let (fleet, found) = testkit::directory::fleet_of(files.collect(), "prod").unwrap();
        let expected: Vec<_> = expected.iter().map(|text| (*text).to_owned()).collect();
        let notes = Prepared::new(&Arc::new(fleet)).unassigned_notes();
        assert!(notes.iter().all(Diagnostic::is_note));
        assert_eq!(notes.into_iter().map(|note| note.message).collect::<Vec<_>>(), expected, "{found:?}");
    }

    #[test]
    fn a_note_counts_the_targets_of_a_workload() {
        let some = workload("shop", &[("eu", "edge"), ("us", "moon"), ("asia", "moon")]);
        let none = workload("till", &[("eu", "moon")]);
        check(
            &[PLACE, POLICY, &some, &none],
            &[
                "no policy of prod assigns `shop-asia` and `shop-us`: 2 of 3 deployment targets of workload `shop`",
                "no policy of prod assigns `till-eu`, the only deployment target of workload `till`",
            ],
        );
        check(&[PLACE, POLICY, &workload("shop", &[("eu", "edge")])], &[]);
    }

    #[test]
    fn many_targets_are_counted() {
        let names: Vec<_> = (0..9).map(|index| format!("t{index}")).collect();
        let targets: Vec<_> = names.iter().map(|name| (name.as_str(), "moon")).collect();
        check(
            &[PLACE, POLICY, &workload("shop", &targets)],
            &[
                "no policy of prod assigns `shop-t0`, `shop-t1`, `shop-t2`, `shop-t3`, `shop-t4` and 4 more, all deployment targets of workload `shop`",
            ],
        );
    }

    #[test]
    fn no_note_is_given_if_a_policy_may_be_missing() {
        let workload = workload("shop", &[("eu", "moon")]);
        check(&[PLACE, &workload], &[]);
        check(&[POLICY, &workload], &[]);
        check(&[PLACE, POLICY, &workload, "a: b: c"], &[]);
    }
}
