//! Tests of `check --strict`: diagnostics that are shown, not shown, or acknowledged.

use std::fmt::Write as _;

use testkit::objects;

use crate::company::{Company, HOST, dev};

/// A policy that matches no target, with these annotations.
fn sale(annotations: &str) -> String {
    let policy = objects::policy("sale", "sale");
    let annotations = format!("  name: sale\n  annotations: {{{annotations}}}\n");
    policy.replacen("  name: sale\n", &annotations, 1)
}

fn with_sale(annotations: &str) -> Company {
    let company = Company::new();
    company.change("control-plane@dev", "policies/sale.yaml", &sale(annotations));
    company
}

fn acknowledge(company: &Company, entry: &str) {
    let more = format!("\n[[acknowledge]]\nreason = \"it is soon\"\n{entry}\n");
    company.configure(&format!("{}/", company.path("served").display()), &more);
}

#[test]
fn an_annotation_acknowledges_a_warning_about_its_object() {
    with_sale("").kalypso("check --strict").ends(1).says(&["K0202", "1 warning in"]);
    let company = with_sale("kalypso.io/acknowledge.K0202: \"until 2999-01-01: it is soon\"");
    company.kalypso("check --strict").ends(0).says(&["nothing wrong in", "; 1 warning is acknowledged"]);
    company.kalypso("plan -e dev --strict").ends(2);
    let json = company.kalypso("check --strict -o json").ends(0).json();
    assert_eq!((&json["summary"]["warnings"], &json["summary"]["acknowledged"]), (&0.into(), &1.into()));
    let known = &json["acknowledged"][0];
    assert_eq!((&known["code"], &known["reason"]), (&"K0202".into(), &"it is soon".into()));
    let sarif = company.kalypso("check --strict -o sarif").ends(0).json();
    let suppression = &sarif["runs"][0]["results"][0]["suppressions"][0];
    assert_eq!(suppression["kind"], "inSource");
    assert_eq!(suppression["justification"], "it is soon (until 2999-01-01)");
    let other = with_sale("kalypso.io/acknowledge.K0201: it is soon");
    other.kalypso("check --strict").ends(1).says(&["K0202", "K0137", "SchedulingPolicy `sale` acknowledges K0201"]);
}

#[test]
fn an_acknowledgement_ends_on_its_day() {
    let company = with_sale("kalypso.io/acknowledge.K0202: \"until 2024-01-01: it is soon\"");
    company.kalypso("check --strict").ends(1).says(&["its acknowledgement ended on 2024-01-01: it is soon"]);
}

#[test]
fn an_entry_of_the_configuration_acknowledges_by_object_or_path() {
    for entry in ["object = 'SchedulingPolicy/sale'", "path = 'policies/sale.yaml'", "path = 'policies/'"] {
        let company = with_sale("");
        acknowledge(&company, &format!("code = 'K0202'\n{entry}"));
        company.kalypso("check --strict").ends(0).says(&["1 warning is acknowledged"]);
    }
    let company = with_sale("");
    acknowledge(&company, "code = 'K0202'\nobject = 'SchedulingPolicy/shop'");
    company.kalypso("check --strict").ends(1).says(&["K0202", "K0137", "line 8 of kalypso.toml acknowledges K0202"]);
    // Only one environment is read: the acknowledgement may match a warning of another one.
    let one = company.kalypso("check --strict -e dev").ends(1);
    assert!(!one.out.contains("K0137"), "{}", one.out);
}

#[test]
fn a_plain_folder_has_acknowledgements_of_its_own() {
    let company = Company::new();
    let folder = company.write_plain("plain");
    std::fs::write(folder.join("policies/sale.yaml"), sale("")).unwrap();
    company.kalypso("check --from plain -e dev --strict").ends(1).says(&["K0202"]);
    let entry = "[[acknowledge]]\ncode = 'K0202'\npath = 'policies/'\nreason = 'it is soon'\n";
    std::fs::write(folder.join("kalypso.toml"), entry).unwrap();
    company.kalypso("check --from plain --strict").ends(0).says(&["1 warning is acknowledged"]);
}

#[test]
fn errors_are_not_acknowledged() {
    let company = Company::new();
    let west = objects::cluster_type("west", "west-us").replace("reconciler: flux", "reconciler: fluxx");
    let annotated =
        west.replacen("  name: west\n", "  name: west\n  annotations: {kalypso.io/acknowledge.K0405: soon}\n", 1);
    company.change("control-plane@dev", "cluster-types/west.yaml", &annotated);
    company.kalypso("check").ends(1).says(&["error[K0405]"]);
}

#[test]
fn application_acknowledges_only_its_own_warnings() {
    let company = Company::new();
    let schema = |annotations: &str, workload: &str| {
        let schema = objects::schema("of-shop", &format!("{{workload: {workload}}}"), "{}");
        schema.replacen("  name: of-shop\n", &format!("  name: of-shop\n{annotations}"), 1)
    };
    let annotations = "  annotations: {kalypso.io/acknowledge.K0303: mine, kalypso.io/acknowledge.K0136: mine}\n";
    company.change("control-plane@dev", "schema.yaml", &schema("", "shopp"));
    company.change("shop@main", "schema.yaml", &schema(annotations, "shop"));
    company.kalypso("check --strict").ends(1).says(&["warning[K0303]", "did you mean `workload: shop`?"]);
    company.change("control-plane@dev", "schema.yaml", &schema("", "shop"));
    company.change("shop@main", "schema.yaml", &schema("", "shop"));
    let target = "\n    - {name: more, environment: dve, manifests: {repo: r, branch: b, path: p}}\n";
    let workload = objects::workload("shop") + target.trim_start_matches('\n');
    company.change("shop@main", "shop.yaml", &workload);
    company.kalypso("check --strict").ends(1).says(&["K0136", "did you mean `dev`?"]);
    let annotated = "  name: shop\n  annotations: {kalypso.io/acknowledge.K0136: mine}\n";
    company.change("shop@main", "shop.yaml", &workload.replacen("  name: shop\n", annotated, 1));
    company.kalypso("check --strict").ends(0).says(&["1 warning is acknowledged"]);
}

#[test]
fn shared_objects_may_be_used_by_any_environment() {
    let company = Company::new();
    company.change("control-plane@main", ".environments/prod.yaml", &objects::environment("prod"));
    let prod: Vec<_> =
        dev().into_iter().map(|(path, text)| (path, text.replace("branch: dev", "branch: prod"))).collect();
    company.commit("control-plane", "prod", &prod);
    let labelled = objects::cluster_type("edge", "north").replace("{region: north}", "{edge: \"true\", region: north}");
    company.change("control-plane@prod", "cluster-types/edge.yaml", &labelled);
    let target =
        "    - {name: prod, labels: {purpose: shop}, environment: prod, manifests: {repo: r, branch: b, path: p}}\n";
    company.change("shop@main", "shop.yaml", &(objects::workload("shop") + target));
    company.change("control-plane@main", "edge.yaml", &objects::config("edge", "edge: \"true\"", "A: b"));
    company.kalypso("check --strict").ends(0);
    company.kalypso("check --strict -e dev").ends(0);
    company.change("control-plane@main", "nowhere.yaml", &objects::config("nowhere", "edge: \"no\"", "A: b"));
    company.kalypso("check --strict").ends(1).says(&["K0303", "ConfigMap `nowhere`"]);
}

#[test]
fn a_folder_of_manifests_belongs_to_one_environment() {
    let company = Company::new();
    company.change("control-plane@main", ".environments/prod.yaml", &objects::environment("prod"));
    let prod: Vec<_> =
        dev().into_iter().map(|(path, text)| (path, text.replace("branch: dev", "branch: prod"))).collect();
    company.commit("control-plane", "prod", &prod);
    let with = |manifests: &str| {
        let manifests = format!("{{repo: {HOST}shop-deploy.git, {manifests}}}");
        let target =
            format!("    - {{name: live, labels: {{purpose: shop}}, environment: prod, manifests: {manifests}}}\n");
        company.change("shop@main", "shop.yaml", &(objects::workload("shop") + &target));
    };
    for distinct in ["branch: prod, path: .", "branch: dev, path: ./live", "branch: dev, path: ., tag: v1", "chart: a"]
    {
        with(distinct);
        company.kalypso("check --strict").ends(0);
    }
    with("branch: dev, path: ./");
    company.kalypso("check --strict").ends(1).says(&[
        "warning[K0163]",
        "targets `shop-live` of prod and `shop-test` of dev have the same manifests: `./` on branch `dev`",
        "shop@main:shop.yaml:11:",
        "give the target of prod a branch or a path of its own: `branch: prod`",
        "1 warning, ",
    ]);
    company.kalypso("check --strict -e prod").ends(0);
    acknowledge(&company, "code = 'K0163'\nobject = 'Workload/shop'");
    company.kalypso("check --strict").ends(0).says(&["1 warning is acknowledged"]);
}

#[test]
fn consequences_of_unreadable_repositories_are_not_reported() {
    let company = with_sale("");
    company.change("control-plane@main", "workloads/away.yaml", &objects::registration("away", &format!("{HOST}away")));
    let checked = company.kalypso("check");
    assert!(checked.out.contains("K060") && !checked.out.contains("K0202"), "{}", checked.out);
}

#[test]
fn diagnostics_of_one_cause_are_grouped() {
    let company = Company::new();
    let policies = (0..300).map(|number| objects::policy(&format!("sale-{number:03}"), "sale"));
    company.change("control-plane@dev", "policies/sale.yaml", &policies.collect::<Vec<_>>().join("---\n"));
    company.kalypso("check --strict").ends(1).says(&["and 299 more for the same reason", "1 warning in"]);
    // A broken file and its earlier version that is used instead count as one diagnostic.
    company.change("control-plane@dev", "policies/sale.yaml", "a: [\n");
    company.kalypso("check").ends(1).says(&["error[K0101]", "K0117: ", "1 error in"]);
}

#[test]
fn diagnostics_at_a_pinned_commit_name_the_commit() {
    let company = Company::new();
    let mut broken = objects::template("flux", "reconciler", "a: {{ .Nothing | nothing }}");
    let _ = writeln!(broken, "  # broken");
    let commit = company.change("control-plane@main", "templates/flux.yaml", &broken);
    let base = objects::pinned_base(&commit);
    company.change("control-plane@dev", "base.yaml", &base);
    company.change("control-plane@main", "templates/flux.yaml", "# fixed\n");
    let place = format!("control-plane@{}:templates/flux.yaml", &commit[..7]);
    company.kalypso("check").ends(1).says(&[&place]);
}

#[test]
fn only_published_assignments_keep_their_last_good_output() {
    let company = Company::new();
    let schema = objects::schema("asks", "{}", r#"{"required": ["MISSING"]}"#);
    let good = company.head("control-plane", "dev").unwrap();
    company.change("control-plane@dev", "schema.yaml", &schema);
    company.kalypso("check").ends(1).says(&["these keep what was published of them, if anything was"]);
    company.kalypso("plan -e dev").ends(1).says(&["these were never published, and are left out"]);
    company.remove("control-plane", "dev", "schema.yaml");
    company.kalypso("publish -e dev --direct").ends(0);
    company.change("control-plane@dev", "schema.yaml", &schema);
    company.change("control-plane@dev", "cluster-types/north.yaml", &objects::cluster_type("north", "north"));
    let said = "2 of these keep their last good output (commit ";
    company.kalypso("plan -e dev").ends(1).says(&[said, "the other one was never published, and left out"]);
    assert!(company.head("control-plane", "dev").is_some_and(|head| head != good));
}
