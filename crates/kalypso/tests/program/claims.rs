//! Tests that an application's repository can't change the output of another team.

use testkit::objects::{config, registration, schema, workload};

use crate::company::{Company, HOST, git};

/// The published company with a second team. It is registered as `team`, and its repository has this name.
fn company(team: &str, files: &[(&str, String)]) -> Company {
    let company = Company::new().published();
    join(&company, team, files);
    company
}

fn join(company: &Company, team: &str, files: &[(&str, String)]) {
    company.commit(team, "main", files);
    let path = format!("workloads/{team}.yaml");
    company.change("control-plane@main", &path, &registration(team, &format!("{HOST}{team}")));
}

/// A workload with a target that the company's policy assigns to all cluster types. Its manifests contain its author.
fn claimed(name: &str, by: &str) -> String {
    workload(name).replace(&format!("purpose: {name}"), "purpose: shop").replace(&format!("{name}-deploy"), by)
}

/// The git id of a folder on the branch. Equal ids mean equal bytes.
fn folder(company: &Company, path: &str) -> String {
    git(&company.repository("gitops"), &["rev-parse", &format!("dev:{path}")])
}

#[test]
fn team_registered_under_its_workload_name_keeps_the_workload() {
    let theirs = schema("stop", "{workload: shop}", "{\"required\": [\"NOBODY\"], \"x-sensitive\": true}");
    let files = [("a.yaml", claimed("shop", "stolen")), ("b.yaml", claimed("shop", "stolen")), ("c.yaml", theirs)];
    let company = company("another", &files);
    let before = folder(&company, "west/shop-test");
    let plan = company.kalypso("plan -e dev --diff").ends(1);
    let plan = plan.says(&["K0115", "of registration `another` belongs to registration `shop`", "a.yaml:4"]);
    assert!(plan.out.contains("nothing changes"), "{}", plan.out);
    company.change("shop@main", "shop.yaml", &workload("shop").replace("shop-deploy", "shop-next"));
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0115", "K0114"]);
    assert_ne!(folder(&company, "west/shop-test"), before);
    let reconciler = company.file("gitops", "dev", "west/shop-test/reconciler.yaml");
    assert!(reconciler.contains("shop-next"), "{reconciler}");
}

#[test]
fn removed_workload_is_not_taken_over_by_another_team() {
    let company = company("another", &[("a.yaml", claimed("shop", "stolen"))]);
    let before = folder(&company, "west/shop-test");
    company.commit("shop", "main", &[("notes.md", "There was a workload here.\n".to_owned())]);
    company.kalypso("publish -e dev --direct").ends(1).says(&["K0125", "which does not bring it"]);
    assert_eq!(folder(&company, "west/shop-test"), before);
}

#[test]
fn contested_unregistered_workload_keeps_its_output() {
    let company = company("one", &[("page.yaml", claimed("page", "first"))]).published();
    let before = folder(&company, "west/page-test");
    // This name sorts before `one`, so the order of names would prefer it.
    join(&company, "all", &[("page.yaml", claimed("page", "second"))]);
    company.change("one@main", "page.yaml", &claimed("page", "next"));
    company.change("shop@main", "shop.yaml", &workload("shop").replace("shop-deploy", "shop-next"));
    let published = company.kalypso("publish -e dev --direct").ends(1);
    published.says(&[
        "K0125",
        "registrations `all` and `one` bring Workload `page`",
        "these keep their last good output",
    ]);
    assert_eq!(folder(&company, "west/page-test"), before, "byte for byte");
    let others = company.file("gitops", "dev", "west/shop-test/reconciler.yaml");
    assert!(others.contains("shop-next"), "other assignments are published: {others}");
    // No confirmation is required, because the kept files are not removed.
    assert!(!company.kalypso("plan -e dev").ends(1).out.contains("--confirm"));
    company.remove("all", "main", "page.yaml");
    company.kalypso("publish -e dev --direct").ends(0);
    assert!(company.file("gitops", "dev", "west/page-test/reconciler.yaml").contains("next"));
}

#[test]
fn a_target_of_the_same_whole_name_changes_nothing_for_its_owner() {
    let stolen = claimed("shop-web", "stolen");
    let company = company("another", &[("a.yaml", stolen)]);
    company.change("shop@main", "shop.yaml", &workload("shop").replace("name: test", "name: web-test"));
    // All files under the old name are removed.
    let publish = format!("publish -e dev --direct --confirm {}", company.word());
    company.kalypso(&publish).ends(1).says(&["K0126", "`shop-web-test` belongs to"]);
    let reconciler = company.file("gitops", "dev", "west/shop-web-test/reconciler.yaml");
    assert!(reconciler.contains("shop-deploy"), "{reconciler}");
}

#[test]
fn sensitive_marks_apply_only_to_their_team() {
    let hiding = format!("{}  configSchemas: ['{{\"x-sensitive\": true}}']\n", claimed("hiding", "hiding"));
    let company = company("hiding", &[("a.yaml", hiding)]).published();
    let values = config("common", "", "DATABASE: mysql://main/b\nLOG_LEVEL: info");
    company.change("control-plane@dev", "configs/common.yaml", &values);
    let plan = company.kalypso("plan -e dev --diff -o json").ends(2).json();
    let values_of = |target: &str| {
        let changes = plan["plans"][0]["changes"].as_array().unwrap().iter();
        let of_target = changes.filter(|change| change["assignment"].as_str().unwrap().ends_with(target));
        of_target.map(|change| format!("{} {}", change["values"], change["files"])).collect::<Vec<_>>().join("\n")
    };
    let (hidden, shown) = (values_of("hiding-test"), values_of("shop-test"));
    assert!(hidden.contains("(sensitive, sha256 ") && !hidden.contains("mysql://main"), "{hidden}");
    assert!(shown.contains("mysql://main/b") && !shown.contains("(sensitive"), "{shown}");
}

#[test]
fn schemas_of_one_name_in_two_repositories_are_distinct() {
    let own = schema("values", "{workload: another}", "{\"required\": [\"NOBODY\"]}");
    let company = company("another", &[("a.yaml", claimed("another", "another")), ("values.yaml", own)]);
    company.change("shop@main", "values.yaml", &schema("values", "{workload: shop}", "{}"));
    company.change("control-plane@dev", "values.yaml", &schema("values", "", "{\"required\": [\"DATABASE\"]}"));
    let check = company.kalypso("check -e dev").ends(1);
    let said = format!("{}{}", check.out, check.err);
    assert!(said.contains("K0311") && !said.contains("K0111") && !said.contains("shop-test"), "{said}");
}
