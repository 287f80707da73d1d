//! Tests of the rules for rendered manifests.

use model::yaml::outline;
use proptest::prelude::*;

use super::{Finding, review};

/// Checks the findings about a file: the code, the part of the file, and a piece of the message of each.
fn check(text: &str, expected: &[(&str, &str, &str)]) {
    let found = review(text, &[]);
    let shown: Vec<_> =
        found.iter().map(|finding| (finding.code.to_string(), &text[finding.at.clone()], &*finding.message)).collect();
    assert_eq!(shown.len(), expected.len(), "{text}: {shown:?}");
    for ((code, part, message), (expected_code, expected_part, piece)) in shown.iter().zip(expected) {
        assert!(code == expected_code && part == expected_part && message.contains(piece), "{text}: {shown:?}");
    }
}

fn long(length: usize) -> String {
    "x".repeat(length)
}

#[test]
fn names_follow_the_rules_of_their_kinds() {
    let named = |version: &str, kind: &str, name: &str| {
        format!("apiVersion: {version}\nkind: {kind}\nmetadata:\n  name: \"{name}\"\n")
    };
    let good = |version, kind, name: &str| check(&named(version, kind, name), &[]);
    let bad = |version, kind, name: &str, piece| {
        let part = format!("\"{name}\"");
        check(&named(version, kind, name), &[("K0410", part.as_str(), piece)]);
    };
    good("v1", "Namespace", "dev-shop");
    bad("v1", "Namespace", "dev-k3s-1.28", "the namespace");
    bad("v1", "Namespace", &long(64), "the namespace");
    good("v1", "ConfigMap", "a.b-c");
    bad("v1", "ConfigMap", "A", "the name of a ConfigMap");
    bad("v1", "ConfigMap", "zürich", "the name of a ConfigMap");
    good("v1", "ConfigMap", &long(253));
    bad("v1", "ConfigMap", &long(254), "the name of a ConfigMap");
    bad("v1", "Service", "7-eleven", "a letter first");
    good("rbac.authorization.k8s.io/v1", "ClusterRole", "system:Reader");
    bad("rbac.authorization.k8s.io/v1", "Role", "a/b", "`/` and `%` are not allowed");
    good("kustomize.toolkit.fluxcd.io/v1", "Kustomization", "a.b");
    bad("kustomize.toolkit.fluxcd.io/v1", "Kustomization", &long(64), "Flux can't use");
    bad("helm.toolkit.fluxcd.io/v2", "HelmRelease", &long(64), "Flux can't use");
    good("source.toolkit.fluxcd.io/v1", "GitRepository", &long(64));
    bad("argoproj.io/v1alpha1", "Application", &long(64), "Argo CD can't use");
}

#[test]
fn texts_in_maps_and_sources_of_reconcilers_are_texts() {
    let kustomization = "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec:\n  postBuild: {substitute: {PORT: 8080, ON: on, NAME: x, OFF: 'no', NONE: }}\n";
    let substitute = "`spec.postBuild.substitute.";
    check(
        kustomization,
        &[
            ("K0412", "8080", &format!("{substitute}PORT` of a Kustomization has to be a text, and is a number")),
            ("K0412", "on", &format!("{substitute}ON` of a Kustomization has to be a text, and is a boolean")),
        ],
    );
    let application = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec:\n  sources:\n    - {targetRevision: 1.10, helm: {values: {a: b}, parameters: [{name: a, value: 1}, {name: b, value: '1'}]}}\n";
    check(
        application,
        &[
            ("K0412", "1.10", "`spec.sources[].targetRevision`"),
            ("K0412", "{a: b}", "`spec.sources[].helm.values` of an Application has to be a text, and is a mapping"),
            ("K0412", "1", "`spec.sources[].helm.parameters[].value`"),
        ],
    );
}

#[test]
fn booleans_and_numbers_are_no_texts() {
    let flux =
        |fields: &str| format!("apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {{{fields}}}\n");
    check(&flux("prune: true, wait: false, suspend: yes, force: "), &[]);
    let message = "`spec.prune` of a Kustomization has to be a boolean, and is a text";
    check(&flux("prune: 'true'"), &[("K0412", "'true'", message)]);
    check(&flux("prune: 1"), &[("K0412", "1", "has to be a boolean, and is a number")]);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: \"3\"}\n";
    check(deployment, &[("K0412", "\"3\"", "has to be a number, and is a text")]);
    check(&deployment.replace("\"3\"", "3"), &[]);
    check("apiVersion: acme.example/v1\nkind: Kustomization\nspec: {prune: 'true'}\n", &[]);
}

#[test]
fn namespaces_are_dns_labels_wherever_they_are_named() {
    check(
        "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: a.b}\n",
        &[("K0410", "a.b", "metadata.namespace")],
    );
    check(
        "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {destination: {namespace: a_b}}\n",
        &[("K0410", "a_b", "spec.destination.namespace")],
    );
    check(
        "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nspec: {targetNamespace: A}\n",
        &[("K0410", "A", "spec.targetNamespace")],
    );
}

#[test]
fn labels_have_values_that_kubernetes_takes() {
    let labels = |labels: &str| format!("apiVersion: v1\nkind: Pod\nmetadata:\n  labels: {{{labels}}}\n");
    check(&labels("a: b, c.d/e: 'F_g.h', empty: ''"), &[]);
    check(&labels("a: 'x y'"), &[("K0410", "'x y'", "the label `a`")]);
    check(&labels("'a b': c"), &[("K0410", "'a b'", "the key `a b`")]);
    check(&labels("a: [b]"), &[("K0410", "[b]", "not a text")]);
    check(&labels("a: '<no value>'"), &[]);
    check(&labels("a: 1"), &[("K0412", "1", "`metadata.labels.a`")]);
    check(&labels("a: true"), &[("K0412", "true", "is a boolean")]);
    check(
        "apiVersion: v1\nkind: Pod\nmetadata:\n  annotations: {a: any text at all, b: 2}\n",
        &[("K0412", "2", "`metadata.annotations.b`")],
    );
}

#[test]
fn data_are_texts_with_keys_that_are_names_of_files() {
    let map = |data: &str| format!("apiVersion: v1\nkind: ConfigMap\ndata:\n{data}");
    check(&map("  a.b_c-d: x\n  e: \"1\"\n  f: |\n    g: 1\n"), &[]);
    check(
        &map("  a: 1\n  b: on\n  c: {d: 1}\n"),
        &[("K0413", "1", "`data.a`"), ("K0413", "on", "is a boolean"), ("K0413", "{d: 1}", "is a mapping")],
    );
    check(&map("  a b: c\n"), &[("K0413", "a b", "the key `a b`")]);
    check(&map(&format!("  {}: c\n", long(254))), &[("K0413", long(254).as_str(), "the key")]);
    check("apiVersion: v1\nkind: Secret\nstringData: {a: 1}\n", &[("K0413", "1", "`stringData.a`")]);
    let large = map(&format!("  a: {}\n  b: {}\n", long(1 << 19), long(1 << 19)));
    assert!(review(&large, &[]).iter().any(|finding| finding.message.contains("at most 1048576 are allowed")));
}

#[test]
fn fields_of_reconcilers_and_containers_are_texts() {
    let flux = "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec: {ref: {branch: 83e2, tag: v1}}\n";
    check(flux, &[("K0412", "83e2", "`spec.ref.branch` of a GitRepository")]);
    let argo = "apiVersion: argoproj.io/v1alpha1\nkind: Application\nspec: {source: {targetRevision: 1.10}}\n";
    check(argo, &[("K0412", "1.10", "`spec.source.targetRevision`")]);
    let deployment = "apiVersion: apps/v1\nkind: Deployment\nspec: {replicas: 3, template: {spec: {containers: [{env: [{name: A, value: 1}], args: [2]}]}}}\n";
    check(deployment, &[("K0412", "2", "`args`"), ("K0412", "1", "`env[].value`")]);
}

#[test]
fn fields_of_other_kinds_are_not_judged_by_their_names() {
    let set = "apiVersion: argoproj.io/v1alpha1\nkind: ApplicationSet\nspec: {template: {metadata: {labels: {a: '{{ b }}'}}}}\n";
    check(set, &[]);
    check("apiVersion: acme.example/v1\nkind: Route\nspec: {targetNamespace: '*', defaultNamespace: A}\n", &[]);
}

#[test]
fn lists_and_several_documents_are_reviewed() {
    let list = "apiVersion: v1\nkind: List\nitems:\n- {apiVersion: v1, kind: Namespace, metadata: {name: a.b}}\n";
    check(list, &[("K0410", "a.b", "the namespace")]);
    check("a: 1\n---\napiVersion: v1\nkind: Namespace\nmetadata: {name: a.b}\n", &[("K0410", "a.b", "the namespace")]);
    check("metadata: {name: A B}\n", &[]);
}

#[test]
fn texts_of_applications_that_change_their_type_are_found() {
    let found = |value: &str| {
        let text = format!("any: {value}\n");
        let texts = 5..5 + value.len();
        review(&text, &[texts]).into_iter().map(|Finding { message, .. }| message).collect::<Vec<_>>()
    };
    for value in ["1.10", "on", "0755", "83e2", "null", "~", "0x10", "1_000"] {
        assert!(found(value).iter().any(|message| message.contains("a text of the application")), "{value}");
    }
    for value in ["text", "1.1", "3", "true", "\"1.10\"", "'on'", "v1.10"] {
        assert_eq!(found(value), Vec::<String>::new(), "{value}");
    }
    assert_eq!(review("any: 1.10\n", &[]), []);
}

/// Files with one value, in every role that a rule looks at.
const FILES: &[&str] = &[
    "apiVersion: v1\nkind: Namespace\nmetadata:\n  name: @\n",
    "apiVersion: v1\nkind: Service\nmetadata:\n  name: @\n  namespace: @\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: @\ndata:\n  k: @\n",
    "apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a\n  labels:\n    b: @\n  annotations:\n    c: @\n",
    "apiVersion: rbac.authorization.k8s.io/v1\nkind: Role\nmetadata:\n  name: @\n",
    "apiVersion: kustomize.toolkit.fluxcd.io/v1\nkind: Kustomization\nmetadata:\n  name: @\nspec:\n  targetNamespace: @\n  path: @\n",
    "apiVersion: source.toolkit.fluxcd.io/v1\nkind: GitRepository\nspec:\n  ref:\n    branch: @\n",
    "apiVersion: apps/v1\nkind: Deployment\nspec:\n  template:\n    spec:\n      containers:\n      - name: @\n        env:\n        - name: A\n          value: @\n",
    "any: @\n- @\n",
];

#[test]
fn files_of_one_outline_have_the_same_findings_in_every_role() {
    let long = [long(63), long(64), long(253), long(254)];
    let more = [
        "a/b",
        "system:x",
        "%",
        "_",
        "-a",
        "a.",
        "<no value>",
        "0755",
        "1_0",
        "yes",
        "~",
        "'A'",
        "\"a.b\"",
        "'1'",
        "|\n    x",
    ];
    let values: Vec<&str> = VALUES.iter().copied().chain(more).chain(long.iter().map(String::as_str)).collect();
    let findings = |text: &str, parts: &[std::ops::Range<usize>]| {
        let found = review(text, parts).into_iter();
        found.map(|found| (found.message, found.is_of_application)).collect::<Vec<_>>()
    };
    for file in FILES {
        let mut known = std::collections::BTreeMap::new();
        for value in &values {
            let text = file.replace('@', value);
            for parts in [Vec::new(), text.match_indices(value).map(|(at, part)| at..at + part.len()).collect()] {
                let Some(outline) = outline(&text, &parts) else { continue };
                let found = findings(&text, &parts);
                let (before, first) = known.entry(format!("{outline:?}")).or_insert((text.clone(), found.clone()));
                assert_eq!(&found, first, "{text:?} {before:?}");
            }
        }
    }
}

const LINES: &[&str] = &[
    "apiVersion: v1\n",
    "apiVersion: source.toolkit.fluxcd.io/v1\n",
    "kind: ConfigMap\n",
    "kind: Namespace\n",
    "kind: GitRepository\n",
    "metadata:\n",
    "  name: @\n",
    "  namespace: '@'\n",
    "  labels:\n",
    "    a: @\n",
    "    b: \"@\"\n",
    "data:\n",
    "  k: @\n",
    "  l: |\n    @\n",
    "spec:\n",
    "  ref:\n",
    "    branch: @\n",
    "---\n",
    "- @\n",
];
const VALUES: &[&str] = &[
    "x", "a.b", "A", "1", "1.10", "on", "true", "null", "", "x y", "a_b", "[1]", "{a: b}", "x\n  y", "-", "7x", "\\n",
    "''",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3_000))]

    #[test]
    fn files_of_one_outline_have_the_same_findings(
        lines in proptest::collection::vec((0..LINES.len(), 0..VALUES.len(), 0..VALUES.len()), 0..12)
    ) {
        let text = |value: fn(&(usize, usize, usize)) -> usize| {
            lines.iter().map(|line| LINES[line.0].replace('@', VALUES[value(line)])).collect::<String>()
        };
        let (one, other) = (text(|line| line.1), text(|line| line.2));
        let (first, second) = (outline(&one, &[]), outline(&other, &[]));
        if first.is_some() && first == second {
            let messages = |text: &str| review(text, &[]).into_iter().map(|finding| finding.message).collect::<Vec<_>>();
            prop_assert_eq!(messages(&one), messages(&other), "{:?} {:?}", one, other);
        }
    }
}
