//! Tests of `contract`: what workloads ask for, and what they get.

use testkit::objects;

use crate::company::Company;

/// A company whose workload asks for `LEVEL` and `PORT`. Cluster type `west` gets both, `east` only `PORT`.
fn company() -> Company {
    let company = Company::new();
    let json = r#"{"required": ["LEVEL", "PORT"], "properties": {"LEVEL": {"enum": ["info", "debug"]}, "PORT": {"type": "integer"}, "KEY": {"writeOnly": true}}}"#;
    company.change("shop@main", "schema.yaml", &objects::schema("asked", "{workload: shop}", json));
    company.change("control-plane@dev", "configs/all.yaml", &objects::config("all", "", "PORT: \"80\"\nKEY: pa55word"));
    company.change(
        "control-plane@dev",
        "configs/west.yaml",
        &objects::config("west-only", "region: west-us", "LEVEL: info"),
    );
    company
}

#[test]
fn application_contract_shows_missing_values_with_reasons() {
    let ran = company().kalypso("contract shop").ends(1);
    let ran = ran.says(&[
        "shop in dev: asks for 3 values: 2 given everywhere, 1 missing",
        "`LEVEL` is missing on 1 cluster type",
    ]);
    let ran = ran.says(&[
        "asked for by  shop@main:schema.yaml:",
        "ConfigMap `west-only` has it  control-plane@dev:configs/west.yaml:",
    ]);
    assert!(!ran.out.contains("pa55word"), "{}", ran.out);
}

#[test]
fn cluster_type_contract_shows_missing_values() {
    let company = company();
    let east = company.kalypso("contract -e dev --cluster-type east").ends(1);
    east.says(&[
        "east in dev: 3 values asked for by 1 workload on it: 2 given to all that ask, 1 missing, 0 wrong",
        "shop (required)",
    ]);
    company.kalypso("contract -e dev --cluster-type west").ends(0).says(&["0 missing, 0 wrong"]);
    company.kalypso("contract --cluster-type wset").ends(1).says(&["the nearest name is `west`"]);
    company.kalypso("contract shpo").ends(1).says(&["the nearest name is `shop`"]);
}

#[test]
fn a_summary_counts() {
    let company = company();
    company
        .kalypso("contract")
        .ends(1)
        .says(&["3 values of workloads in 1 environment: 2 given everywhere, 1 missing, 0 wrong"]);
    company.change(
        "control-plane@dev",
        "configs/east.yaml",
        &objects::config("east-only", "region: east-us", "LEVEL: loud"),
    );
    company.kalypso("contract").ends(1).says(&["3 given everywhere, 0 missing, 1 wrong"]);
    company
        .kalypso("contract shop")
        .ends(1)
        .says(&["`LEVEL` must be one of \"info\", \"debug\", here it is \"loud\"", "configs/east.yaml:"]);
    company.change(
        "control-plane@dev",
        "configs/east.yaml",
        &objects::config("east-only", "region: east-us", "LEVEL: debug"),
    );
    company.kalypso("contract").ends(0).says(&["0 missing, 0 wrong"]);
}

#[test]
fn a_pull_request_gets_markdown_and_a_program_gets_json() {
    let company = company();
    company
        .kalypso("contract shop -o markdown")
        .ends(1)
        .says(&["### Values of `shop` in `dev`", "| `LEVEL` | required |"]);
    let json = company.kalypso("contract shop -o json").ends(1).json();
    let shop = &json["environments"][0]["workloads"][0];
    assert_eq!((&shop["workload"], &shop["counts"]["missing"]), (&"shop".into(), &1.into()));
    let level = shop["values"].as_array().unwrap().iter().find(|value| value["key"] == "LEVEL").unwrap();
    assert_eq!(
        (&level["missing"]["assignments"], &level["asks"][0]["place"]["path"]),
        (&1.into(), &"schema.yaml".into())
    );
}

#[test]
fn a_target_that_no_policy_assigns_is_a_note_of_check() {
    let company = Company::new();
    let target = objects::workload("shop").replace("purpose: shop", "purpose: other");
    company.change("shop@main", "shop.yaml", &target);
    let ran = company.kalypso("check").ends(0);
    ran.says(&[
        "note[K0207]: no policy of dev assigns `shop-test`, the only deployment target of workload `shop`",
        "1 note in",
    ]);
    company.kalypso("check -o github").ends(0).says(&["::notice "]);
    let plan = company.kalypso("plan -e dev");
    assert!(!plan.out.contains("K0207") && !plan.err.contains("K0207"), "{}{}", plan.out, plan.err);
}
