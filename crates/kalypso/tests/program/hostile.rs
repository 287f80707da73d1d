//! Hostile or extreme input: it is rejected with its position, and does not affect other objects.

use std::fs;

use testkit::company::CommittedFile;
use testkit::objects::{cluster_type, config, labelled, object, policy, registration, schema, template, workload};

use crate::company::{Company, HOST, Ran, folder_text, kalypso};

/// Adds a file to branch `dev`, and checks that the output has this text and both assignments still exist.
fn check(path: &str, bytes: &[u8], status: i32, words: &[&str]) {
    let company = Company::new();
    company.change_file("control-plane@dev", CommittedFile::regular(path, bytes));
    company.kalypso("render -e dev --out out").ends(status).says(words);
    unharmed(&company);
}

fn unharmed(company: &Company) {
    let out = folder_text(&company.path("out"));
    assert!(out.contains("mysql://west/a") && out.contains("mysql://main/a"), "{out}");
}

#[test]
fn invalid_yaml_files_are_refused() {
    check("binary.yaml", b"\x7fELF\x00\xff\xfe", 1, &["K0103", "binary.yaml"]);
    check("huge.yaml", &vec![b'a'; 50 << 20], 1, &["K0102", "huge.yaml"]);
    let billion: String =
        (1..=9).map(|at| format!("a{at}: &a{at} [{}]\n", vec![format!("*a{}", at - 1); 10].join(","))).collect();
    check("laughs.yaml", format!("a0: &a0 lol\n{billion}").as_bytes(), 1, &["aliases", "laughs.yaml"]);
    check("deep.yaml", "[".repeat(100_000).as_bytes(), 1, &["deep.yaml"]);
}

#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    let company = Company::new();
    company.change_file("control-plane@dev", CommittedFile::link("link.yaml", "/etc/passwd"));
    company.kalypso("render -e dev --out out").ends(0).says(&["K0118", "link.yaml"]);
    unharmed(&company);
    let plain = tempfile::tempdir().unwrap();
    std::os::unix::fs::symlink("/etc/passwd", plain.path().join("link.yaml")).unwrap();
    let ran = Ran::new(kalypso(plain.path()).args(["check", "--from", ".", "-e", "dev"]));
    assert!(!ran.ends(1).says(&["K0118"]).out.contains("root:"));
}

#[test]
fn unsafe_names_are_refused() {
    for name in ["../x", "a/b", "a b", "..", &"x".repeat(300), "a\\nb", "A"] {
        let text = cluster_type(&format!("\"{name}\""), "west-us");
        check("cluster-types/bad.yaml", text.as_bytes(), 1, &["K0108", "cluster-types/bad.yaml:4"]);
    }
}

#[test]
fn a_label_with_a_line_break_smuggles_nothing() {
    let company = Company::new();
    let text = workload("shop").replace("purpose: shop", "purpose: shop, note: \"a\\nkind: Secret\"");
    company.change("shop@main", "shop.yaml", &text);
    company.kalypso("render -e dev --out out").ends(1).says(&["K0112", "shop.yaml"]);
    assert!(!folder_text(&company.path("out")).contains("kind: Secret"));
}

#[test]
fn endless_templates_fail_only_their_assignment() {
    for manifest in [
        "a: {{ range $i := until 100000000 }}{{ range $j := until 100000000 }}x{{ end }}{{ end }}",
        "a: {{ repeat 1000000000 \"x\" }}",
        "{{ define \"a\" }}{{ template \"a\" . }}{{ end }}{{ template \"a\" . }}",
    ] {
        let company = Company::new();
        let text = template("loop", "config", manifest);
        company.change("control-plane@main", "templates/loop.yaml", &text);
        let north = cluster_type("north", "north-us").replace("configType: configmap", "configType: loop");
        company.change("control-plane@dev", "cluster-types/north.yaml", &north);
        company.kalypso("render -e dev --out out").ends(1).says(&["[K040", "north/shop-test", "1 assignment failed"]);
        unharmed(&company);
    }
}

#[test]
fn policies_with_an_unknown_operator_are_refused() {
    check("policies/again.yaml", policy("again", "shop").as_bytes(), 0, &["2 assignments"]);
    let selector = object(
        "SchedulingPolicy",
        "bad",
        "deploymentTargetSelector: {labelSelector: {matchExpressions: [{key: a, operator: Maybe}]}}\nclusterTypeSelector: {labelSelector: {}}",
    );
    check("policies/bad.yaml", selector.as_bytes(), 1, &["K0109", "policies/bad.yaml"]);
}

#[test]
fn invalid_schema_stops_only_its_assignments() {
    let company = Company::new();
    company.change("control-plane@dev", "schema.yaml", &schema("bad", "{region: west-us}", "{not json"));
    company.kalypso("render -e dev --out out").ends(1).says(&[
        "K0310",
        "schema.yaml",
        "1 assignment failed: west/shop-test",
    ]);
    assert!(folder_text(&company.path("out")).contains("mysql://main/a"));
}

#[test]
fn applications_cannot_bring_platform_objects() {
    let company = Company::new();
    company.change("shop@main", "policy.yaml", &policy("everywhere", "shop"));
    company.change("shop@main", "template.yaml", &template("configmap", "config", "stolen: true"));
    company.change("shop@main", "values.yaml", &config("common", "", "DATABASE: stolen"));
    let ran = company.kalypso("render -e dev --out out").ends(1);
    ran.says(&["K0114", "shop@main:policy.yaml", "shop@main:template.yaml", "shop@main:values.yaml"]);
    unharmed(&company);
    assert!(!folder_text(&company.path("out")).contains("stolen"));
}

#[test]
fn urls_with_commands_or_paths_are_refused() {
    for url in
        ["ext::sh -c 'touch owned'", "file:///etc", "--upload-pack=touch owned", "/etc", "../x", "http://git.example/x"]
    {
        let text = registration("evil", &format!("\"{url}\""));
        let company = Company::new();
        company.change("control-plane@main", "workloads/evil.yaml", &text);
        company.kalypso("render -e dev --out out").ends(1).says(&["K0603", "workloads/evil.yaml"]);
        unharmed(&company);
        assert!(!company.path("owned").exists() && !company.path("served/owned").exists());
    }
}

#[test]
fn destinations_outside_the_repository_are_refused() {
    let company = Company::new();
    let text = object("GitOpsRepo", "dev", &format!("repo: {HOST}gitops\nbranch: dev\npath: ../../etc"));
    company.change("control-plane@dev", "gitops.yaml", &text);
    company.kalypso("publish -e dev --direct").ends(1).says(&["path"]);
    assert_eq!(company.files("gitops", "dev"), "README.md");
}

#[test]
fn thousand_labels_are_accepted() {
    let labels: Vec<_> = (0..1_000).map(|index| format!("l{index}: \"{index}\"")).collect();
    let text = labelled(
        "ClusterType",
        "many",
        &format!("{{{}}}", labels.join(", ")),
        "reconciler: flux\nnamespaceService: default\nconfigType: configmap",
    );
    check("cluster-types/many.yaml", text.as_bytes(), 0, &[]);
}

#[test]
fn invalid_arguments_are_refused() {
    let company = Company::new();
    fs::write(company.path("file"), "text").unwrap();
    for (arguments, status) in [
        ("render -e dev", 64),
        ("render -e dev --out out --digest", 64),
        ("plan", 64),
        ("explain -e dev west KEY", 64),
        ("explain -e dev nothing", 1),
        ("explain -e dev west/../x", 64),
        ("why-not -e dev", 64),
        ("why-not -e dev west/../x", 64),
        ("why-not -e dev a b c", 64),
        ("schema Nothing", 64),
        ("completions tcsh", 64),
        ("check -o xml", 64),
        ("render -e dev --from file --digest", 64),
        ("plan -e dev --against nowhere", 64),
    ] {
        company.kalypso(arguments).ends(status).says(&["error"]);
    }
}
