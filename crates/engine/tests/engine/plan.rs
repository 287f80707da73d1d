//! Plans contain the reasons why assignments change.

use std::collections::BTreeSet;
use std::io::{self, Result};

use engine::compile::{CompileOptions, Compiled};
use engine::output::{Destination, assemble};
use engine::plan::{
    AssignmentChange, Cause, ChangeKind, ChangeReason, LabelOf, Plan, PlanDestination, PlanInput, PlannedId, plan,
};
use model::tree::{OpenError, Sealed, Tree};
use testkit::generator::ENVIRONMENT;

/// A target that is assigned to all places.
const FLEET: &str = "
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: flux}
spec: {type: reconciler, manifests: ['name: {{ .DeploymentTargetName }}']}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: shop-live}
spec: {environment: prod, manifests: {repo: https://git.example/shop, branch: prod}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: SchedulingPolicy
metadata: {name: all}
spec: {deploymentTargetSelector: {labelSelector: {}}, clusterTypeSelector: {labelSelector: {}}}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: edge}
spec: {reconciler: flux, namespaceService: flux, configType: flux}
";

const CLUSTER: &str = "
---
apiVersion: fleet.kalypso.io/v1alpha1
kind: Cluster
metadata: {name: line-7}
spec: {clusterType: edge}
";

const OTHER_TYPE: &str = "
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: large}
spec: {reconciler: flux, namespaceService: flux, configType: flux}
";

fn compiled(texts: &[&str], is_earlier: bool) -> Result<Compiled> {
    let files = vec![("all.yaml".to_owned(), texts.concat().into_bytes())];
    let (fleet, found) = testkit::directory::fleet_of(files, ENVIRONMENT)?;
    assert_eq!(found, []);
    Ok(Compiled::with(&fleet.into(), CompileOptions { is_earlier, ..CompileOptions::default() }))
}

fn planned(old: &Compiled, new: &Compiled) -> std::result::Result<Plan, OpenError> {
    let open = |sealed: &Sealed| old.open(sealed).or_else(|_| new.open(sealed));
    let (destination, content) = (Destination::default(), &|_| None);
    let previous = assemble(old, &Tree::default(), &destination, &open)?.tree;
    let output = assemble(new, &previous, &destination, &open)?;
    let (previous, output, folder, old) = (&previous, &output, &destination.folder, Some(old));
    plan(&PlanInput { previous, is_published: true, output, folder, new, old, open: &open, content })
}

/// Compares the reason of an assignment's removal when the objects `removed` are removed.
fn check(removed: &str, id: &str, expected: ChangeReason) -> Result<()> {
    let (old, new) = (compiled(&[FLEET, removed], true)?, compiled(&[FLEET], false)?);
    let plan = planned(&old, &new).map_err(io::Error::other)?;
    let reasons = plan
        .changes
        .iter()
        .map(|(id, change)| (id.to_string(), change.reasons.as_ref().map(|reasons| &reasons.others[..])));
    let found: Vec<_> = reasons.collect();
    assert_eq!(found, [(id.to_owned(), Some(&[expected][..]))]);
    Ok(())
}

#[test]
fn the_reason_names_the_kind_of_a_removed_place() -> Result<()> {
    check(CLUSTER, "line-7/shop-live", ChangeReason::ClusterRemoved)?;
    check(OTHER_TYPE, "large/shop-live", ChangeReason::ClusterTypeRemoved)
}

/// Compares whether a workload or target loses all assignments, whether everything is removed, and whether a confirmation is needed.
fn check_removals(old: &[&str], new: &[&str], expected: [bool; 3]) -> Result<()> {
    let (old, new) = (compiled(old, true)?, compiled(new, false)?);
    let plan = planned(&old, &new).map_err(io::Error::other)?;
    let workloads = &plan.removed_workloads;
    assert_eq!(
        [!workloads.is_empty(), plan.removes_everything(), plan.needs_confirmation()],
        expected,
        "{workloads:?}"
    );
    Ok(())
}

/// A second target, without a workload.
const OTHER_TARGET: &str = "
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: DeploymentTarget
metadata: {name: till-live}
spec: {environment: prod, manifests: {repo: https://git.example/till, branch: prod}}
";

#[test]
fn removal_of_a_whole_workload_needs_a_confirmation() -> Result<()> {
    check_removals(&[FLEET, OTHER_TARGET], &[FLEET], [true, false, true])?;
    check_removals(&[FLEET], &[FLEET, OTHER_TARGET], [false, false, false])?;
    // The target of a removed cluster still runs at another place, but the removed place needs a confirmation.
    check_removals(&[FLEET, CLUSTER], &[FLEET], [false, false, true])?;
    let nothing = FLEET.replace(
        "labelSelector: {}}, clusterTypeSelector",
        "labelSelector: {matchLabels: {a: b}}}, clusterTypeSelector",
    );
    check_removals(&[FLEET], &[&nothing], [true, true, true])
}

#[test]
fn confirmation_word_depends_on_removals_and_destination() -> Result<()> {
    let word = |gone: &[&str], repository: &str, branch: &str, environment: &str| -> Result<String> {
        let old = compiled(&[&[FLEET], gone].concat(), true)?;
        let plan = planned(&old, &compiled(&[FLEET], false)?).map_err(io::Error::other)?;
        Ok(plan.confirmation_word(PlanDestination { repository, branch, environment }))
    };
    let first = word(&[CLUSTER], "r", "b", "e")?;
    assert!(first.len() == 8 && first.chars().all(|c| c.is_ascii_hexdigit()), "{first}");
    assert_eq!(word(&[CLUSTER], "r", "b", "e")?, first);
    for other in [
        word(&[OTHER_TYPE], "r", "b", "e")?,
        word(&[CLUSTER, OTHER_TYPE], "r", "b", "e")?,
        word(&[CLUSTER], "r2", "b", "e")?,
        word(&[CLUSTER], "r", "b2", "e")?,
        word(&[CLUSTER], "r", "b", "e2")?,
    ] {
        assert_ne!(other, first);
    }
    Ok(())
}

/// A place with a label, and values with this label as their condition.
const LABELLED: &str = "
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Template
metadata: {name: values}
spec:
  type: config
  manifests:
    - |
      data:
        VALUE: {{ .ConfigData.VALUE }}
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: ClusterType
metadata: {name: shop, labels: {region: west}}
spec: {reconciler: flux, namespaceService: flux, configType: values}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: all, labels: {platform-config: 'true'}}
data: {VALUE: everywhere}
---
apiVersion: v1
kind: ConfigMap
metadata: {name: west, labels: {platform-config: 'true', region: west}}
data: {VALUE: in the west}
";

/// The reasons why the assignment on `shop` changes: the reasons of its values, and the other reasons.
fn reasons_of(edit: impl Fn(&str) -> String) -> Result<(Vec<Option<Cause>>, Vec<ChangeReason>)> {
    let (old, new) = (compiled(&[FLEET, LABELLED], true)?, compiled(&[FLEET, &edit(LABELLED)], false)?);
    let plan = planned(&old, &new).map_err(io::Error::other)?;
    let change = plan.changes.iter().find(|(id, _)| &*id.place == "shop").map(|(_, change)| change);
    let reasons = change.and_then(|change| change.reasons.clone()).unwrap_or_default();
    Ok((reasons.values.iter().map(|value| value.cause.clone()).collect(), reasons.others.clone()))
}

fn shown(cause: Option<&Cause>) -> String {
    let origin = |origin: &model::diagnostic::Origin| match origin {
        model::diagnostic::Origin::Field(field) => format!("{} {} {:?}", field.object, field.path, field.part),
        other => format!("{other:?}"),
    };
    match cause {
        Some(Cause::New(new)) => origin(new),
        Some(Cause::Old(old)) => format!("was {}", origin(old)),
        Some(Cause::Label(of, key)) => format!("{of:?} {key}"),
        None => String::new(),
    }
}

#[test]
fn value_changes_by_labels_name_the_label() -> Result<()> {
    let (values, reasons) = reasons_of(|fleet| fleet.replace("{region: west}}\nspec", "{region: east}}\nspec"))?;
    assert_eq!((values, reasons), (vec![Some(Cause::Label(LabelOf::Place, "region".into()))], Vec::new()));
    // A changed label of the container itself is reported at the container.
    let (values, _) = reasons_of(|fleet| fleet.replace("'true', region: west", "'true', region: moon"))?;
    let causes: Vec<_> = values.iter().map(|value| shown(value.as_ref())).collect();
    assert_eq!(causes, ["ConfigMap `west` metadata.labels Value"]);
    // A changed value is reported at its new place, and a removed value at its previous place.
    let (values, _) = reasons_of(|fleet| fleet.replace("in the west", "in the far west"))?;
    let causes: Vec<_> = values.iter().map(|value| shown(value.as_ref())).collect();
    assert_eq!(causes, ["ConfigMap `west` data.VALUE Value"]);
    let (values, _) = reasons_of(|fleet| fleet.replace("{VALUE: in the west}", "{OTHER: in the west}"))?;
    let causes: BTreeSet<_> = values.iter().map(|value| shown(value.as_ref())).collect();
    assert!(causes.contains("was ConfigMap `west` data.VALUE Value"), "{causes:?}");
    Ok(())
}

#[test]
fn a_template_that_changes_is_named_with_its_line() -> Result<()> {
    let (values, reasons) = reasons_of(|fleet| fleet.replace("  VALUE: {{", "  NAME: {{"))?;
    let [ChangeReason::Template(name, cause)] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!((&**name, values), ("values", Vec::new()));
    assert_eq!(shown(Some(cause)), "Template `values` spec.manifests[0] Text { line: 2, column: 1 }");
    Ok(())
}

#[test]
fn removed_empty_cluster_type_needs_no_confirmation() -> Result<()> {
    let policy = "clusterTypeSelector: {labelSelector: {}}";
    let nowhere = FLEET.replace(policy, "clusterTypeSelector: {labelSelector: {matchLabels: {a: b}}}");
    let (old, new) = (compiled(&[&nowhere, OTHER_TYPE], true)?, compiled(&[&nowhere], false)?);
    let plan = planned(&old, &new).map_err(io::Error::other)?;
    assert_eq!((plan.needs_confirmation(), plan.removed_places.len(), plan.is_empty()), (false, 0, false));
    Ok(())
}

#[test]
fn a_new_target_that_nothing_assigns_is_named() -> Result<()> {
    let policy = "deploymentTargetSelector: {labelSelector: {}}";
    let shop = FLEET.replace(policy, "deploymentTargetSelector: {labelSelector: {matchLabels: {a: b}}}");
    let (old, new) = (compiled(&[&shop], true)?, compiled(&[&shop, OTHER_TARGET], false)?);
    let plan = planned(&old, &new).map_err(io::Error::other)?;
    let names: Vec<_> = plan.unassigned.iter().map(model::name::DeploymentTargetName::as_str).collect();
    assert_eq!((names, plan.is_empty()), (vec!["till-live"], true));
    Ok(())
}

/// The fleet with its cluster type under the name `large`, and with this annotation. `reconciler` is the name of its template.
fn renamed(annotation: &str, reconciler: &str) -> String {
    let large = OTHER_TYPE.replace("{name: large}", &format!("{{name: large, annotations: {{{annotation}}}}}"));
    let large = large.replace("reconciler: flux", &format!("reconciler: {reconciler}"));
    let rest = FLEET.rsplit_once("---").map_or(FLEET, |(rest, _)| rest);
    format!("{rest}{large}")
}

/// The changes of a plan: their signs, and their names before and after.
fn changes(plan: &Plan) -> Vec<String> {
    let line = |(id, change): (&PlannedId, &AssignmentChange)| match &change.renamed_from {
        Some(earlier) => format!("{:?} {earlier} → {id}", change.kind),
        None => format!("{:?} {id}", change.kind),
    };
    plan.changes.iter().map(line).collect()
}

fn check_renamed((old, new): (&str, &str), expected: &[&str], needs_confirmation: bool) -> Result<Plan> {
    let (old, new) = (compiled(&[old], true)?, compiled(&[new], false)?);
    let plan = planned(&old, &new).map_err(io::Error::other)?;
    assert_eq!(
        (changes(&plan), plan.needs_confirmation()),
        (expected.iter().map(ToString::to_string).collect(), needs_confirmation)
    );
    Ok(plan)
}

#[test]
fn a_renamed_place_is_one_change_that_needs_a_confirmation() -> Result<()> {
    let new = renamed("names.kalypso.io/renamed-from: 'edge'", "flux");
    let plan = check_renamed((FLEET, &new), &["Renamed edge/shop-live → large/shop-live"], true)?;
    assert_eq!(plan.renamed_places.iter().map(|(old, new)| format!("{old} {new}")).collect::<Vec<_>>(), ["edge large"]);
    assert_eq!(plan.removals(), ["edge", "edge/shop-live"].map(str::to_owned).into());
    assert_eq!((plan.count(ChangeKind::Removed), plan.before(), plan.unchanged), (0, 1, 0));
    let change = plan.changes.values().next().unwrap();
    let reasons = &change.reasons.as_ref().unwrap().others;
    let [ChangeReason::Renamed(names, cause)] = &reasons[..] else { panic!("{reasons:?}") };
    assert_eq!(names, &["edge".into()]);
    assert_eq!(shown(Some(cause)), "ClusterType `large` metadata.annotations.names.kalypso.io/renamed-from Value");
    Ok(())
}

#[test]
fn a_renamed_place_without_assignments_is_no_removal() -> Result<()> {
    let nowhere = |fleet: &str| {
        fleet.replace(
            "clusterTypeSelector: {labelSelector: {}}",
            "clusterTypeSelector: {labelSelector: {matchLabels: {no: where}}}",
        )
    };
    let new = nowhere(&renamed("names.kalypso.io/renamed-from: edge", "flux"));
    let plan = check_renamed((&nowhere(FLEET), &new), &[], false)?;
    assert_eq!(plan.renamed_places, [("edge".into(), "large".into())].into());
    assert_eq!((plan.left_places.len(), plan.removals().len()), (0, 0));
    // Without the annotation, they are two places.
    let plan = check_renamed((&nowhere(FLEET), &nowhere(&renamed("a: b", "flux"))), &[], false)?;
    assert!(plan.renamed_places.is_empty());
    Ok(())
}

#[test]
fn without_the_earlier_name_a_place_is_removed_and_another_one_added() -> Result<()> {
    let expected = ["Removed edge/shop-live", "Added large/shop-live"];
    check_renamed((FLEET, &renamed("a: b", "flux")), &expected, true)?;
    check_renamed((FLEET, &renamed("names.kalypso.io/renamed-from: other", "flux")), &expected, true)?;
    Ok(())
}

#[test]
fn an_earlier_name_that_a_place_has_changes_nothing_of_it() -> Result<()> {
    let both =
        format!("{FLEET}---\n{}", renamed("names.kalypso.io/renamed-from: edge", "flux").rsplit("---").next().unwrap());
    check_renamed((FLEET, &both), &["Added large/shop-live"], false)?;
    let found = compiled(&[&both], false)?.diagnostics();
    let messages: Vec<_> = found.iter().map(|found| (found.code.id(), &*found.message)).collect();
    assert_eq!(messages, [("K0164", "ClusterType `large` can't have been `edge`: ClusterType `edge` has this name")]);
    Ok(())
}

#[test]
fn folder_under_the_earlier_name_stays_while_the_new_one_fails() -> Result<()> {
    let new = renamed("names.kalypso.io/renamed-from: edge", "missing");
    let plan = check_renamed((FLEET, &new), &[], false)?;
    assert_eq!(plan.removals(), BTreeSet::new());
    assert_eq!(plan.missing.iter().map(ToString::to_string).collect::<Vec<_>>(), ["large/shop-live"]);
    Ok(())
}

/// A workload with two targets.
const WORKLOAD: &str = "
---
apiVersion: scheduler.kalypso.io/v1alpha1
kind: Workload
metadata: {name: till, annotations: {a: b}}
spec:
  deploymentTargets:
    - {name: eu, environment: prod, manifests: {repo: https://git.example/till, branch: prod}}
    - {name: us, environment: prod, manifests: {repo: https://git.example/till, branch: prod}}
";

#[test]
fn renamed_workloads_and_targets_are_paired() -> Result<()> {
    let old = format!("{FLEET}{WORKLOAD}");
    let new = old.replace(
        "{name: till, annotations: {a: b}}",
        "{name: pos, annotations: {names.kalypso.io/renamed-from: till}}",
    );
    let expected = ["Renamed edge/till-eu → edge/pos-eu", "Renamed edge/till-us → edge/pos-us"];
    check_renamed((&old, &new), &expected, false)?;
    let of_target = |name: &str| {
        name.replace("a: b", "names.kalypso.io/renamed-targets: europe=eu").replace("{name: eu", "{name: europe")
    };
    check_renamed((&old, &of_target(&old)), &["Renamed edge/till-eu → edge/till-europe"], false)?;
    // Both in one step.
    let both = of_target(&old)
        .replace("{name: till, annotations: {", "{name: pos, annotations: {names.kalypso.io/renamed-from: till, ");
    check_renamed(
        (&old, &both),
        &["Renamed edge/till-eu → edge/pos-europe", "Renamed edge/till-us → edge/pos-us"],
        false,
    )?;
    Ok(())
}
