//! Tests of where new objects belong.

use std::collections::BTreeMap;

use model::source::Source;

use super::*;

fn cluster_type(name: &str, labels: &[(&str, &str)]) -> NewObject {
    let labels = labels.iter().map(|(key, value)| (Arc::from(*key), Arc::from(*value)));
    NewObject::new(Kind::ClusterType, name, NewValue::mapping([("reconciler", NewValue::text("flux"))]))
        .labelled(labels)
}

fn policy(name: &str, workspace: &str) -> NewObject {
    let targets = NewValue::mapping([("workspace", NewValue::text(workspace))]);
    NewObject::new(Kind::SchedulingPolicy, name, NewValue::mapping([("deploymentTargetSelector", targets)]))
}

/// Checks the path of a new object in a branch with these objects.
fn check(existing: &[(&str, &[NewObject])], object: &NewObject, expected: &str) {
    let text = |objects: &[NewObject]| crate::new_object::write_all(objects, &crate::style::Style::default(), None);
    let contents: BTreeMap<Arc<str>, Arc<[u8]>> =
        existing.iter().map(|(path, objects)| ((*path).into(), text(objects).into_bytes().into())).collect();
    let files = BranchFiles::new(Source::directory(), &contents, "");
    assert_eq!(&*Conventions::new(&files, object.kind).place(object).path, expected);
}

#[test]
fn an_empty_branch_gets_the_folders_of_the_examples() {
    check(&[], &cluster_type("large", &[]), "cluster-types/large.yaml");
    check(&[], &policy("checkout", "store"), "scheduling/checkout.yaml");
}

#[test]
fn the_folder_is_that_of_objects_with_the_same_deciding_label() {
    let [seattle, tacoma] =
        ["seattle", "tacoma"].map(|name| cluster_type(name, &[("region", "west-us"), ("tier", name)]));
    let chicago = cluster_type("chicago", &[("region", "central-us"), ("tier", "seattle")]);
    let existing: &[(&str, &[NewObject])] = &[
        ("types/west/seattle.yml", &[seattle]),
        ("types/west/tacoma.yml", &[tacoma]),
        ("types/central/chicago.yml", &[chicago]),
    ];
    check(existing, &cluster_type("portland", &[("region", "west-us")]), "types/west/portland.yml");
    check(existing, &cluster_type("dallas", &[("tier", "x"), ("region", "central-us")]), "types/central/dallas.yml");
    check(existing, &cluster_type("hamburg", &[("region", "europe")]), "types/hamburg.yml");
}

#[test]
fn folders_named_after_a_label_get_a_new_sibling() {
    let types = ["west", "east"].map(|region| cluster_type(&format!("{region}-1"), &[("region", region)]));
    let [west, east] = types.map(|object| [object]);
    let existing: &[(&str, &[NewObject])] = &[("types/west/west-1.yaml", &west), ("types/east/east-1.yaml", &east)];
    check(existing, &cluster_type("south-1", &[("region", "south")]), "types/south/south-1.yaml");
}

#[test]
fn the_name_of_the_file_follows_the_pattern_of_others() {
    let one = |name: &str| [policy(name, "store")];
    check(
        &[("scheduling/checkout/api.yaml", &one("checkout-api"))],
        &policy("checkout-eu", "store"),
        "scheduling/checkout/eu.yaml",
    );
    check(
        &[("scheduling/checkout/api.yaml", &one("checkout-api"))],
        &policy("other", "store"),
        "scheduling/checkout/other.yaml",
    );
    check(&[("p/policy-a.yaml", &one("a"))], &policy("b", "store"), "p/policy-b.yaml");
    check(&[("p/a.yaml", &one("a-policy"))], &policy("b-policy", "store"), "p/b.yaml");
    check(&[("p/a/policy.yaml", &one("a")), ("p/c/policy.yaml", &one("c"))], &policy("b", "store"), "p/b/policy.yaml");
}

#[test]
fn objects_collected_in_files_stay_collected() {
    let of = |region: &str, count: usize| -> Vec<_> {
        (0..count).map(|number| cluster_type(&format!("{region}-{number}"), &[("region", region)])).collect()
    };
    let (west, east) = (of("west", 3), of("east", 2));
    let existing: &[(&str, &[NewObject])] = &[("types/west.yaml", &west), ("types/east.yaml", &east)];
    check(existing, &cluster_type("new", &[("region", "east")]), "types/east.yaml");
    check(existing, &cluster_type("new", &[("region", "south")]), "types/south.yaml");
    check(existing, &cluster_type("new", &[]), "types/new.yaml");
    check(&[("all.yaml", &west)], &cluster_type("new", &[("region", "south")]), "all.yaml");
    check(&[("types/west.yaml", &west)], &cluster_type("new-1", &[]), "types/new-1.yaml");
    check(&[("types/west.yaml", &west)], &cluster_type("west-9", &[]), "types/west.yaml");
}

#[test]
fn a_file_that_is_named_after_its_object_gets_the_new_name() {
    let check = |path: &str, old: &str, expected: Option<&str>| {
        assert_eq!(renamed_path(path, old, "new").as_deref(), expected, "{path}");
    };
    check("types/small.yaml", "small", Some("types/new.yaml"));
    check("small.yml", "small", Some("new.yml"));
    check("types/cluster-type-small.yaml", "small", Some("types/cluster-type-new.yaml"));
    check("small/cluster.yaml", "small", Some("new/cluster.yaml"));
    check("types/smaller.yaml", "small", None);
    check("data.yaml", "a", None);
    check("types/all.yaml", "small", None);
}
