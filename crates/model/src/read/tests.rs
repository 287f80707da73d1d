//! Reads files with one error each.

use super::*;
use crate::digest::Digest;
use crate::limits::{OBJECT_PROBLEMS_MAX, PLAIN_TEXTS_BYTES_MAX};
use crate::source::{File, Files, Source};

/// Reads `text`, and compares the diagnostics, written as `CODE line: message`.
fn check(text: &str, kinds: &[&str], expected: &[&str]) {
    let mut files = Files::default();
    let (source, path) = (Source::directory().into(), "a.yaml".into());
    let id = crate::git_id::GitId::of_blob(text.as_bytes());
    let file = files.add(File { source, path, id, content: text.as_bytes().into() });
    let result = read_file(file, "a.yaml", text.as_bytes());
    let line = |diagnostic: &Diagnostic| match diagnostic.labels.first().map(|label| &label.origin) {
        Some(Origin::Span(_, span)) => {
            crate::source::Positions::new(text.as_bytes()).position(span.start as usize).line
        }
        _ => 0,
    };
    let said: Vec<_> = result.diagnostics.iter().map(|d| format!("{} {}: {}", d.code, line(d), d.message)).collect();
    assert_eq!(said, expected);
    let found: Vec<_> = result.objects.iter().map(|object| object.key().to_string()).collect();
    assert_eq!(found, kinds);
}

const CONFIG: &str = "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n";

#[test]
fn the_example_of_every_kind_is_good() {
    for kind in Kind::ALL {
        let result = read_file(any_file(), "a.yaml", kind.example().as_bytes());
        assert_eq!(result.diagnostics, [], "{kind}");
        assert_eq!(result.objects.first().map(AnyObject::kind), Some(*kind));
    }
}

fn any_file() -> crate::source::FileId {
    let source = Source::directory().into();
    Files::default().add(File { source, path: "".into(), id: crate::git_id::GitId::of_blob(b""), content: [].into() })
}

#[test]
fn number_instead_of_a_text_is_reported() {
    let text = format!("{CONFIG}data:\n  PORT: 8080\n");
    check(&text, &[], &["K0107 6: `PORT` must be a text, here it is a number"]);
}

#[test]
fn unknown_fields_and_kinds_are_reported_and_nothing_more() {
    let text = format!("{CONFIG}dta: {{}}\n---\napiVersion: v1\nkind: Secret\nmetadata: {{name: b}}\n");
    check(
        &text,
        &["ConfigMap `a`"],
        &[
            "K0105 5: there is no field `dta` here: it is ignored",
            "K0104 8: `v1` `Secret` is not a kind of Kalypso: the object is ignored",
        ],
    );
}

#[test]
fn misspelled_kinds_are_errors_unlike_foreign_kinds() {
    let check = |api_version: &str, kind: &str, is_error: bool| {
        let text = format!("apiVersion: {api_version}\nkind: {kind}\nmetadata: {{name: a}}\n");
        let result = read_file(any_file(), "a.yaml", text.as_bytes());
        let said: Vec<_> = result.diagnostics.iter().map(|found| (found.code, found.is_error())).collect();
        assert_eq!(said, [(Code::UnknownKind, is_error)], "{text}");
        assert!(result.objects.is_empty());
    };
    for (api_version, kind) in [
        ("scheduler.kalypso.io/v1alpha1", "SchedulingPolicyy"),
        ("scheduler.kalypso.io/v1alpha1", "Nonsense"),
        ("scheduler.kalypso.io/v1alpha2", "SchedulingPolicy"),
        ("scheduler.kalypso.io", "SchedulingPolicy"),
        ("fleet.kalypso.io/v1", "Cluster"),
        ("scheduler.kalypso.oi/v1alpha1", "SchedulingPolicy"),
        ("sheduler.kalypso.io/v1alpha1", "ClusterType"),
        ("deploy.kalypso.io/v1alpha1", "ClusterType"),
        ("v1alpha1", "SchedulingPolicy"),
        ("\"\"", "Workload"),
        ("v1", "ConfigMpa"),
        ("v1", "configmap"),
        ("v1", "ConfigMapList"),
        ("kustomize.toolkit.fluxcd.io/v1", "Kustomisation"),
    ] {
        check(api_version, kind, true);
    }
    for (api_version, kind) in [
        ("v1", "Secret"),
        ("v1", "Service"),
        ("apps/v1", "Deployment"),
        ("cluster.x-k8s.io/v1beta1", "Cluster"),
        ("kueue.x-k8s.io/v1beta1", "Workload"),
        ("source.toolkit.fluxcd.io/v1", "HelmRepository"),
        ("source.toolkit.fluxcd.io/v1beta2", "OCIRepository"),
        ("kustomize.config.k8s.io/v1beta1", "Kustomization"),
        ("example.com/v1", "Environment"),
    ] {
        check(api_version, kind, false);
    }
}

#[test]
fn a_list_without_its_items_is_not_an_empty_one() {
    let list = |items: &str| format!("apiVersion: v1\nkind: List\n{items}\n");
    check(&list("itmes: []"), &[], &["K0106 1: a `List` has its objects in `items`, which is a list"]);
    check(&list("items: {}"), &[], &["K0107 3: a `List` has its objects in `items`, which is a list"]);
    check(&list("items: []"), &[], &[]);
}

#[test]
fn all_errors_are_reported_at_once() {
    let text = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ClusterType\nmetadata:\n  name: A/b\nspec:\n  reconciler: [x]\n";
    check(
        text,
        &[],
        &[
            "K0108 4: \"A/b\" is not a name: 'A' can't be in a name: only a-z, 0-9, `-` and `.` can",
            "K0106 6: `namespaceService` is missing",
            "K0106 6: `configType` is missing",
            "K0107 6: `reconciler` must be a text, here it is a list",
        ],
    );
}

#[test]
fn a_selector_with_an_unknown_operator_is_refused() {
    let text = crate::kind::Kind::SchedulingPolicy.example().replace("operator: In", "operator: Contains");
    check(&text, &[], &["K0109 15: \"Contains\" is not an operator of selectors"]);
}

#[test]
fn a_selector_with_a_label_that_can_not_exist_is_refused() {
    let policy = crate::kind::Kind::SchedulingPolicy.example();
    let rule = "only letters, digits, `-`, `_` and `.` can be in it, with letters or digits at both ends";
    let value = |line: u32, shown: &str| format!("K0109 {line}: no label can have the value {shown}: {rule}");
    check(&policy.replace("[large, huge]", "[large, \"lab \"]"), &[], &[&value(16, "\"lab \"")]);
    check(&policy.replace("purpose: functional-test", "purpose: -x"), &[], &[&value(10, "\"-x\"")]);
    check(
        &policy.replace("purpose: functional-test", "purpose: \"\""),
        &["SchedulingPolicy `functional-tests-on-large`"],
        &[],
    );
    let key = format!("K0109 14: no label can have the key \"danger zone\": {rule}");
    check(&policy.replace("key: size", "key: danger zone"), &[], &[&key]);
    check(
        &policy.replace("purpose:", "A/purpose:"),
        &[],
        &["K0109 10: no label can have the key \"A/purpose\": before `/` is a DNS name"],
    );
    let long = "x".repeat(64);
    let said = format!("K0109 10: no label can have the key \"{}\"…: it has more than 63 characters", "x".repeat(60));
    check(&policy.replace("purpose:", &format!("{long}:")), &[], &[&said]);
    let pin = crate::kind::Kind::ReleasePin.example();
    let pinned = pin.replace("site: chicago", "site: New York");
    let codes = read_file(any_file(), "a.yaml", pinned.as_bytes()).diagnostics;
    assert_eq!(codes.iter().map(|diagnostic| diagnostic.code).collect::<Vec<_>>(), [Code::InvalidSelector]);
}

#[test]
fn labels_that_kubernetes_refuses_are_warned_of_where_they_are() {
    let rule = "only letters, digits, `-`, `_` and `.` can be in it, with letters or digits at both ends";
    let cluster_type =
        crate::kind::Kind::ClusterType.example().replace("  labels:\n", "  labels:\n    zone: \"West US\"\n");
    let value =
        |line: u32, shown: &str| format!("K0138 {line}: Kubernetes refuses {shown} as the value of a label: {rule}");
    let found = read_file(any_file(), "a.yaml", cluster_type.as_bytes());
    assert_eq!((found.objects.len(), found.diagnostics.len()), (1, 1), "{:?}", found.diagnostics);
    assert_eq!(found.diagnostics[0].help, ["did you mean \"West-US\"?"]);
    let mapping = crate::kind::Kind::LabelMapping.example();
    check(
        &mapping.replace("tier: storefront", "tier: store front"),
        &["LabelMapping `storefront`"],
        &[&value(7, "\"store front\"")],
    );
    check(&mapping.replace("size: large", "size: large!"), &["LabelMapping `storefront`"], &[&value(10, "\"large!\"")]);
}

#[test]
fn the_end_of_a_pin_is_a_date_or_a_timestamp() {
    let expiring = |text: &str| crate::kind::Kind::ReleasePin.example().replace("2027-01-31", text);
    let pin: &[&str] = &["ReleasePin `hold-hello-world-in-chicago`"];
    check(&expiring("2027-01-31T12:00:00+01:00"), pin, &[]);
    check(&expiring("\"2027-01-31\""), pin, &[]);
    check(&expiring(""), pin, &[]);
    check(&expiring("in June"), &[], &["K0107 17: `expires` must be a date or a timestamp, here it is \"in June\""]);
    check(&expiring("[2027]"), &[], &["K0107 17: `expires` must be a date or a timestamp, here it is a list"]);
}

#[test]
fn line_breaks_in_labels_are_refused() {
    let text = format!("{CONFIG}  labels:\n    region: \"a\\nb\"\n");
    check(&text, &[], &["K0112 6: '\\n' can't be in this text, which becomes part of manifests"]);
}

#[test]
fn one_broken_document_does_not_hide_the_others() {
    let text = format!("{CONFIG}---\na: [\n---\n{}", CONFIG.replace("name: a", "name: b"));
    let result = read_file(any_file(), "a.yaml", text.as_bytes());
    assert_eq!(result.objects.len(), 2);
    assert!(!result.is_good());
}

#[test]
fn items_of_a_list_are_objects() {
    let text = "apiVersion: v1\nkind: List\nitems:\n  - {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n";
    check(text, &["ConfigMap `a`"], &[]);
}

#[test]
fn a_kustomization_is_refused() {
    let result = read_file(any_file(), "configs/kustomization.yaml", b"resources: [a.yaml]\n");
    assert_eq!(result.diagnostics.first().map(|diagnostic| diagnostic.code), Some(Code::UnsupportedKustomization));
}

#[test]
fn unsupported_references_of_flux_sources_are_refused() {
    let text = crate::kind::Kind::FluxGitRepository.example().replace("branch: main", "semver: '1.x'");
    check(&text, &[], &["K0116 8: `spec.ref.semver` is not followed"]);
}

fn digest_of(text: &str) -> Digest {
    read_file(any_file(), "a.yaml", text.as_bytes()).objects[0].digest()
}

#[test]
fn the_digest_of_an_object_is_that_of_its_meaning() {
    let text = format!("{CONFIG}  labels: {{a: b, c: d}}\ndata:\n  x: one\n  z: two\n");
    let reordered = "# new\nkind: ConfigMap\ndata: {z: 'two', x: one} # here\nmetadata:\n  labels: {c: \"d\", a: b}\n  name: a\napiVersion: v1\n";
    assert_eq!(digest_of(&text), digest_of(reordered));
    for (from, to) in
        [("one", "1st"), ("a: b", "a: c"), ("labels", "annotations"), ("name: a", "name: b"), ("x: one", "y: one")]
    {
        assert_ne!(digest_of(&text), digest_of(&text.replace(from, to)), "{from} -> {to}");
    }
}

#[test]
fn only_objects_of_the_requested_kind_are_read() {
    let right = Kind::DeploymentDescriptor.example();
    let check = |text: &str, found: usize, expected: &[&str]| {
        let result = read_kind(any_file(), text.as_bytes(), Kind::DeploymentDescriptor);
        let said: Vec<_> = result.diagnostics.iter().map(|diagnostic| diagnostic.message.clone()).collect();
        assert_eq!((result.objects.len(), said), (found, expected.iter().map(ToString::to_string).collect()), "{text}");
    };
    check(&format!("kind: Deployment\nspec: {{}}\n---\n[]\n---\n{right}"), 1, &[]);
    check(&right.replace("  name: hello-world-functional-test\n", ""), 0, &["the object has no `metadata`"]);
    check(&right.replace("    commit: 9f2c4e1d5b6a7f8091a2b3c4d5e6f708192a3b4c\n", ""), 0, &["`commit` is missing"]);
    let long = right.replace("1.0.3", &"9.".repeat(127));
    check(&long, 0, &["`version` has 254 characters, at most 253 are allowed"]);
}

/// A workload with these entries in its metadata and its `spec`.
fn workload_with(metadata: &str, spec: &str) -> FileObjects {
    let text = format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Workload\nmetadata:\n  name: a\n{metadata}spec:\n  deploymentTargets: []\n{spec}"
    );
    read_file(any_file(), "a.yaml", text.as_bytes())
}

#[test]
fn texts_that_become_part_of_manifests_are_bounded() {
    let labels = |bytes: usize| workload_with(&format!("  labels:\n    a: \"{}\"\n", "x".repeat(bytes - 1)), "");
    let codes = |found: FileObjects| {
        let errors = found.diagnostics.iter().filter(|diagnostic| diagnostic.is_error());
        errors.map(|diagnostic| diagnostic.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(labels(PLAIN_TEXTS_BYTES_MAX)), []);
    assert_eq!(codes(labels(PLAIN_TEXTS_BYTES_MAX + 1)), [Code::TextsTooLarge]);
}

#[test]
fn long_field_names_are_shortened_in_messages() {
    let found = workload_with("", &format!("  ? {}\n  : a\n", "x".repeat(1_000_000)));
    let [diagnostic] = &*found.diagnostics else { panic!("{:?}", found.diagnostics) };
    assert_eq!(diagnostic.code, Code::UnknownField);
    assert!(diagnostic.message.len() < 200, "{}", diagnostic.message);
}

#[test]
fn invalid_objects_beyond_the_problem_limit_are_refused() {
    let wrong = CONFIG.replace("name: a", "name: A") + "---\n";
    let found = read_file(any_file(), "a.yaml", (wrong.repeat(3 * FILE_PROBLEMS_MAX) + CONFIG).as_bytes());
    assert_eq!(found.objects.len(), 1);
}

#[test]
fn problems_are_bounded_and_warnings_hide_no_error() {
    let unknown: String = (0..1_000).map(|number| format!("  x{number}: a\n")).collect();
    let found = workload_with(&unknown, "");
    assert!(found.is_good() && found.diagnostics.len() == OBJECT_PROBLEMS_MAX, "{}", found.diagnostics.len());
    let found = workload_with(&unknown, "  configSchemas: wrong\n");
    assert!(!found.is_good() && found.diagnostics.len() == OBJECT_PROBLEMS_MAX + 1, "{}", found.diagnostics.len());
    let documents = "kind: 1\n---\n".repeat(5_000);
    let found = read_file(any_file(), "a.yaml", documents.as_bytes());
    assert!(found.diagnostics.len() <= 2 * FILE_PROBLEMS_MAX, "{}", found.diagnostics.len());
    assert_eq!(found.diagnostics.last().map(|last| last.notes.len()), Some(1));
}

/// A policy with this content of its selector of cluster types.
fn policy(selector: &str) -> String {
    format!(
        "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: SchedulingPolicy\nmetadata:\n  name: a\nspec:\n  deploymentTargetSelector:\n    labelSelector: {{}}\n  clusterTypeSelector:\n    labelSelector:{selector}\n"
    )
}

#[test]
fn misspelled_selector_fields_never_widen_the_selection() {
    let good: &[&str] = &["SchedulingPolicy `a`"];
    check(&policy("\n      matchLabel: {size: large}"), &[], &["K0105 10: there is no field `matchLabel` here"]);
    check(&policy("\n      matchLabels:\n      size: large"), &[], &["K0105 11: there is no field `size` here"]);
    let nothing =
        |line: u32, field: &str| format!("K0109 {line}: `{field}` is empty, so this selector would select everything");
    check(&policy("\n      matchLabels:"), &[], &[&nothing(10, "matchLabels")]);
    check(&policy("\n      matchLabels: {}\n      matchExpressions: ~"), &[], &[&nothing(11, "matchExpressions")]);
    for selector in [" {}", "\n      matchLabels: {}", "\n      matchExpressions: []"] {
        check(&policy(selector), good, &[]);
    }
    check(&policy("\n      matchLabels:\n      matchExpressions: [{key: size, operator: Exists}]"), good, &[]);
    let workspace =
        policy(" {}").replace("    labelSelector: {}\n  cluster", "    workspace:\n    labelSelector: {}\n  cluster");
    check(&workspace, good, &["K0109 7: `workspace` has no value, so any value matches"]);
}

#[test]
fn fields_of_kubernetes_and_of_the_hub_are_no_errors() {
    let text = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: ConfigSchema\nmetadata:\n  name: a\n  namespace: dev\n  creationTimestamp: null\n  managedFields: []\nspec:\n  schema: '{}'\nstatus: {}\n";
    check(text, &["ConfigSchema `a`"], &[]);
    let descriptor = Kind::DeploymentDescriptor.example().replace("spec:\n", "spec:\n  note: a\n");
    let found = read_kind(any_file(), descriptor.as_bytes(), Kind::DeploymentDescriptor);
    assert!(found.is_good() && found.diagnostics.len() == 1, "{:?}", found.diagnostics);
}

#[test]
fn unknown_words_in_metadata_are_named() {
    let map = |metadata: &str, expected: &[&str]| check(&format!("{CONFIG}{metadata}"), &["ConfigMap `a`"], expected);
    map("  lables: {a: b}\n", &["K0105 5: metadata has no field `lables`: it is ignored"]);
    map("  platform-config: \"true\"\n", &["K0105 5: metadata has no field `platform-config`: it is ignored"]);
    map(
        "  annotations:\n    config.kalypso.io/priorty: \"1\"\n    config.kalypso.io/merge: deep\n    example.com/merge: a\n    hub.kalypso.io/x: a\n    template.kalypso.io/literal: \"true\"\n",
        &[
            "K0132 6: there is no annotation `config.kalypso.io/priorty`: it is ignored",
            "K0132 10: the annotation `template.kalypso.io/literal` has no effect on a `ConfigMap`",
        ],
    );
    map(
        "  labels:\n    platform_config: \"true\"\n    cluster-typ: a\n    region: b\n    workload: c\n    workloads: d\n",
        &[
            "K0133 6: the label `platform_config` has no effect; its name is similar to `platform-config`",
            "K0133 7: the label `cluster-typ` has no effect; its name is similar to `cluster-type`",
        ],
    );
    map(
        "  labels: {platform-config: \"True\"}\n",
        &["K0133 5: `platform-config: \"True\"` does not make the map take part"],
    );
    map("  labels: {platform-config: \"false\"}\n", &[]);
}

#[test]
fn files_of_other_tools_are_not_broken_objects() {
    for text in [
        "apiVersion: v2\nname: chart\nversion: 1.0.0\nappVersion: \"2\"\n",
        "replicas: 3\nimage: {tag: a}\nmetadata: {}\n",
        "- hosts: all\n  tasks: []\n",
        "services: {web: {image: a}}\n",
        "just text\n",
    ] {
        check(text, &[], &[]);
    }
    for text in [
        "apiVersion: v1\nmetadata: {name: a}\ndata: {}\n",
        "apiVersion: scheduler.kalypso.io/v1alpha1\nspec: {}\n",
        "apiVersion: scheduler.kalypso.io/v1alpha1\n",
        "Kind: ClusterType\nname: a\n",
        "apiVersion: v1\nkin: ConfigMap\nmetadata: {name: a}\n",
        "metdata: {name: a}\nspec: {}\n",
    ] {
        check(text, &[], &["K0106 1: the object has no `kind`"]);
    }
    check(
        "- apiVersion: v1\n  kind: ConfigMap\n  metadata: {name: a}\n",
        &[],
        &["K0107 1: an object is a mapping with `apiVersion`, `kind` and `metadata`"],
    );
}

#[test]
fn lfs_pointers_and_web_pages_are_errors() {
    let pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 12\n";
    check(pointer, &[], &["K0101 1: this is a pointer of Git LFS. The file itself is not in the repository"]);
    for page in ["<!DOCTYPE html>\n<html></html>\n", "\u{feff}\n<HTML lang=\"en\">\n", "<?xml version=\"1.0\"?>\n"] {
        let line = if page.starts_with('<') { 1 } else { 2 };
        check(page, &[], &[&format!("K0101 {line}: this is a web page or XML, and not YAML")]);
    }
}

#[test]
fn files_that_may_replace_objects_are_recognized() {
    let check = |text: &str, expected: bool| {
        let found = read_file(any_file(), "a.yaml", text.as_bytes());
        assert_eq!(found.may_replace_objects, expected, "{text}");
    };
    for text in [
        "",
        " \n",
        "404: Not Found\n",
        "{\"message\": \"Not Found\", \"status\": \"404\"}",
        "fatal: no access\n",
        "Sorry!\n",
    ] {
        check(text, true);
    }
    let object = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {}\n";
    for text in [
        object,
        "# Nothing\n",
        "# Nothing\n---\n# more\n",
        "replicas: 3\n",
        "- hosts: all\n",
        "apiVersion: apps/v1\nkind: Deployment\n",
    ] {
        check(text, false);
        check(&format!("error: no\n---\n{object}"), false);
    }
}

#[test]
fn assignments_generated_by_the_original_are_ignored() {
    let text = "apiVersion: scheduler.kalypso.io/v1alpha1\nkind: Assignment\nmetadata: {name: a}\n";
    let found = read_file(any_file(), "a.yaml", text.as_bytes());
    assert!(found.is_good() && found.diagnostics.len() == 1, "{:?}", found.diagnostics);
}

#[test]
fn a_merge_that_was_not_finished_is_named() {
    let said = "a merge was not finished in this file: this line is a conflict marker of git";
    let ours = format!("{CONFIG}data:\n<<<<<<< HEAD\n  A: b\n=======\n  A: c\n>>>>>>> other branch\n");
    check(&ours, &[], &[&format!("K0135 6: {said}")]);
    check(&format!("{CONFIG}---\n{ours}"), &[], &[&format!("K0135 11: {said}")]);
    check(&format!("{CONFIG}>>>>>>> other\r\n"), &[], &[&format!("K0135 5: {said}")]);
    check(&format!("{CONFIG}data:\n  A: |\n    <<<<<<< HEAD\n"), &["ConfigMap `a`"], &[]);
    check(&format!("# =======\n{CONFIG}"), &["ConfigMap `a`"], &[]);
}
