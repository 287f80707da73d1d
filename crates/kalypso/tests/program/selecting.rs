//! Tests of parts of a plan: the selected changes, and the limits of lists.

use testkit::objects::{cluster_type, config, registration, workload};

use crate::company::Company;

/// A company with two workloads on two cluster types each. All of them change.
fn company() -> Company {
    let company = Company::new();
    company.commit(
        "bank",
        "main",
        &[("bank.yaml", workload("bank").replace("{purpose: bank}", "{purpose: shop, tier: gold}"))],
    );
    company.change("control-plane@main", "workloads/bank.yaml", &registration("bank", "https://git.example/acme/bank"));
    let company = company.published();
    company.change("control-plane@dev", "configs/new.yaml", &config("new", "", "NEW: value"));
    company
}

/// Compares the assignments in the list.
fn check(company: &Company, options: &str, expected: &[&str]) {
    let json = company.kalypso(&format!("plan -e dev -o json {options}")).ends(2).json();
    let changes = json["plans"][0]["changes"].as_array().unwrap();
    let names: Vec<_> = changes.iter().map(|change| change["assignment"].as_str().unwrap()).collect();
    assert_eq!(names, expected, "{options}");
    assert_eq!(json["plans"][0]["counts"]["changed"], 4);
}

#[test]
fn changes_are_selected_by_name_and_label() {
    let company = company();
    check(&company, "--workload bank", &["east/bank-test", "west/bank-test"]);
    check(&company, "--cluster-type west", &["west/bank-test", "west/shop-test"]);
    check(&company, "--selector=tier=gold,region=east-us", &["east/bank-test"]);
    check(&company, "-l !tier,region!=west-us", &["east/shop-test"]);
    check(&company, "-l region,purpose=shop --workload shop", &["east/shop-test", "west/shop-test"]);
    company.kalypso("plan -e dev -l a>1").ends(64).says(&["--selector can't be read", "`a>1`", "help"]);
    let text = company.kalypso("plan -e dev --workload bank").ends(2);
    text.says(&["4 assignments change", "2 of 4 changes selected by --workload bank"]);
}

#[test]
fn removed_assignments_are_selected_by_their_earlier_labels() {
    let company = company();
    company.remove("control-plane", "dev", "cluster-types/west.yaml");
    let json = company.kalypso("plan -e dev -l region=west-us -o json").ends(2).json();
    assert_eq!(json["plans"][0]["counts"]["selected"], 2);
    assert_eq!(json["plans"][0]["changes"][0]["kind"], "removed");
}

#[test]
fn unlisted_changes_are_counted() {
    let company = company();
    let json = company.kalypso("plan -e dev --limit 1 -o json").ends(2).json();
    let plan = &json["plans"][0];
    assert_eq!(plan["changes"].as_array().unwrap().len(), 1);
    assert_eq!((&plan["truncated"]["changes"], &plan["truncated"]["groups"]), (&3.into(), &0.into()));
    let all = company.kalypso("plan -e dev -o json").ends(2).json();
    assert!(all["plans"][0]["truncated"].is_null());
    company.change("control-plane@dev", "configs/bank.yaml", &config("bank", "workload: bank", "OWN: value"));
    company.kalypso("plan -e dev --limit 1").ends(2).says(&["and 1 more group: --limit 2 shows all"]);
    let json = company.kalypso("plan -e dev --limit 1 -o json").ends(2).json();
    assert_eq!(json["plans"][0]["truncated"]["groups"], 1);
    company.kalypso("plan -e dev --limit 1 --diff").ends(2).says(&["and 3 more differences"]);
}

#[test]
fn equal_changes_of_many_workloads_are_one_line() {
    let company = Company::new();
    let names = ["a", "b", "c", "d", "e", "f"];
    let workloads = names.map(|name| workload(name).replace(&format!("purpose: {name}"), "purpose: shop"));
    company.change("shop@main", "shop.yaml", &workloads.join("---\n"));
    let company = company.published();
    company.change("control-plane@dev", "configs/new.yaml", &config("new", "", "NEW: value"));
    company.change("control-plane@dev", "configs/f.yaml", &config("f", "workload: f", "OWN: value"));
    let plan = company.kalypso("plan -e dev").ends(2);
    let groups: Vec<_> = plan.out.lines().filter(|line| line.contains("because")).map(str::trim_end).collect();
    assert_eq!(
        groups,
        [
            "  6 workloads  ~ 12  NEW  (new) \"value\"   because configs/new.yaml:7",
            "  f            ~  2  OWN  (new) \"value\"   because configs/f.yaml:7   on east/f-test, west/f-test",
        ]
    );
    plan.says(&["  of a ~ 2 · b ~ 2 · c ~ 2 · d ~ 2 · e ~ 2 · 1 more\n  on east ~ 6 · west ~ 6\n"]);
    let one = company.kalypso("plan -e dev --workload a").ends(2);
    one.says(&["  a  ~ 2  NEW  (new) \"value\""]);
}

#[test]
fn groups_are_equal_in_text_and_structured_output() {
    let company = company();
    company.change("control-plane@dev", "configs/bank.yaml", &config("bank", "workload: bank", "OWN: value"));
    let json = company.kalypso("plan -e dev -o json").ends(2).json();
    let group = |workloads: &[&str], (key, file): (&str, &str), assignments: usize| {
        serde_json::json!({
            "kind": "changed", "workloads": workloads, "moreWorkloads": 0, "key": key,
            "change": format!("{key}  (new) \"value\""), "because": format!("control-plane@dev:configs/{file}.yaml:7"), "label": null,
            "assignments": assignments, "places": 2,
        })
    };
    let expected = [group(&["bank", "shop"], ("NEW", "new"), 4), group(&["bank"], ("OWN", "bank"), 2)];
    assert_eq!(json["plans"][0]["groups"], serde_json::json!(expected));
    company.change("control-plane@dev", "cluster-types/west.yaml", &cluster_type("west", "east-us"));
    let json = company.kalypso("plan -e dev -o json").ends(2).json();
    let groups = json["plans"][0]["groups"].as_array().unwrap();
    let group = groups.iter().find(|group| group["key"] == "DATABASE").unwrap();
    assert_eq!((&group["label"], &group["assignments"], &group["places"]), (&"region".into(), &2.into(), &1.into()));
    assert!(group["because"].as_str().unwrap().starts_with("control-plane@dev:cluster-types/west.yaml:"), "{group}");
}

#[test]
fn two_long_values_show_where_they_differ() {
    let company = Company::new();
    let value = |port: &str| format!("URL: mysql://shop-of-the-west@west.database.example.com:{port}/shop-of-the-west");
    company.change("control-plane@dev", "configs/url.yaml", &config("url", "", &value("3306")));
    let company = company.published();
    company.change("control-plane@dev", "configs/url.yaml", &config("url", "", &value("3307")));
    company
        .kalypso("plan -e dev")
        .ends(2)
        .says(&["…base.example.com:3306/shop-of-the-west\" → …base.example.com:3307/shop-of-the-west\""]);
}

#[test]
fn the_work_of_each_stage_is_counted() {
    let company = company();
    let plan = company.kalypso("plan -e dev --stats").ends(2);
    plan.says(&["compositions  2", "renderings    4"]);
}
