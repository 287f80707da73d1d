//! Tests of `why-not`, of `explain` for what does not exist, and of overviews.

use testkit::objects::{config, environment, labelled, registration, schema, workload};

use crate::company::Company;

/// A company with the target `bank-test`, which no policy selects.
fn company() -> Company {
    let company = Company::new();
    company.commit("bank", "main", &[("bank.yaml", workload("bank"))]);
    let registration = registration("bank", "https://git.example/acme/bank");
    company.change("control-plane@main", "workloads/bank.yaml", &registration);
    company
}

/// Runs `why-not` in `dev`, and compares the exit status and parts of the text.
#[track_caller]
fn check(company: &Company, words: &str, status: i32, texts: &[&str]) {
    company.kalypso(&format!("why-not -e dev {words}")).ends(status).says(texts);
}

#[test]
fn nearest_policy_is_named_with_failed_requirements_and_fixes() {
    let company = company();
    let texts = [
        "bank-test is not on west in dev: 1 policy almost matches: 1 condition is not met",
        "no policy selects bank-test; 1 policy selects west",
        "✗ purpose=shop   control-plane@dev:policies/shop.yaml:9",
        "bank-test has purpose=bank, from Workload `bank`   bank@main:bank.yaml:8",
        "✓ region Exists",
        "in the policy, write purpose In (shop, bank) instead of purpose=shop   control-plane@dev:policies/shop.yaml:9",
        "this is in the repository of registration bank: ask its team",
    ];
    check(&company, "west/bank-test", 1, &texts);
    check(&company, "bank-test west", 1, &texts);
    check(&company, "west bank-test", 1, &texts);
    company.kalypso("explain -e dev west/bank-test").ends(1).says(&texts);
    check(&company, "bank-test", 1, &["bank-test is on no place of dev", "✓ selects 2 places"]);
    check(&company, "bank", 1, &["bank-test is on no place of dev"]);
}

#[test]
fn changes_count_the_affected_assignments() {
    let json = company().kalypso("why-not -e dev west/bank-test -o json").ends(1).json();
    let changes = json["answers"][0]["nearPolicies"][0]["changes"].as_array().unwrap();
    let shown: Vec<_> = changes
        .iter()
        .map(|change| format!("{} adds {}", change["edits"][0]["action"].as_str().unwrap(), change["adds"]))
        .collect();
    assert_eq!(shown, ["setRequirement adds 1", "setLabel adds 1"]);
    assert_eq!(changes[0]["edits"][0]["after"], "purpose In (shop, bank)");
    assert_eq!(changes[1]["edits"][0]["registration"], "bank");
}

#[test]
fn an_assignment_that_exists_is_good_unless_it_fails() {
    let company = company();
    check(&company, "west/shop-test", 0, &["shop-test is on west in dev: policy shop assigns it"]);
    let broken = schema("limits", "{workload: shop}", "{\"required\": [\"NOTHING\"]}");
    company.change("control-plane@dev", "schemas/limits.yaml", &broken);
    check(&company, "west/shop-test", 1, &["but it can't be rendered", "K0311"]);
}

#[test]
fn unknown_names_are_explained() {
    let company = company();
    company.change("control-plane@main", ".environments/stage.yaml", &environment("stage"));
    let of_stage = crate::company::dev().into_iter().filter(|(path, _)| !path.contains("gitops"));
    let of_stage: Vec<_> = of_stage.map(|(path, text)| (path, text.replace("east", "north"))).collect();
    company.commit("control-plane", "stage", &of_stage);
    check(&company, "wset/shop-test", 1, &["dev has no cluster type or cluster `wset`", "did you mean `west`?"]);
    check(&company, "west/shop-tset", 1, &["dev has no deployment target `shop-tset`", "did you mean `shop-test`?"]);
    check(&company, "north/shop-test", 1, &["north exists in stage: kalypso explain -e stage north"]);
    let of_stage = workload("bank").replace("environment: dev", "environment: stage");
    company.change("bank@main", "bank.yaml", &of_stage);
    let texts = ["`bank-test` is for stage, not for dev   bank@main:bank.yaml:9", "ask its team for a target in dev"];
    check(&company, "west/bank-test", 1, &texts);
    company.kalypso("why-not west/bank-test").ends(1).says(&["bank-test is not on west in stage"]);
    let lost =
        "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {name: store}\nspec: {clusterType: wst}\n";
    company.change("control-plane@dev", "clusters/store.yaml", lost);
    check(&company, "store/shop-test", 1, &["its cluster type `wst` does not exist in dev", "did you mean `west`?"]);
}

#[test]
fn a_repository_that_cannot_be_read_may_have_the_target() {
    let company = company();
    let gone = registration("moon", "https://git.example/acme/moon");
    company.change("control-plane@main", "workloads/moon.yaml", &gone);
    let texts = ["the repository of registration moon can't be read", "control-plane@main:workloads/moon.yaml"];
    check(&company, "west/moon-test", 1, &texts);
}

#[test]
fn a_config_map_that_does_not_apply_is_explained() {
    let company = company();
    let texts = [
        "ConfigMap `west` does not apply to east/shop-test: 1 condition is not met",
        "✗ region=west-us   control-plane@dev:configs/west.yaml:5",
        "east has region=east-us, from ClusterType `east`   control-plane@dev:cluster-types/east.yaml:5",
        "label ConfigMap `west` region=east-us instead of region=west-us",
        "changes the ConfigMaps or schemas of 1 other assignment",
    ];
    check(&company, "east/shop-test configmap/west", 1, &texts);
    check(&company, "west/shop-test cm/west", 0, &["ConfigMap `west` applies to west/shop-test"]);
    check(&company, "west/shop-test cm/wset", 1, &["dev has no ConfigMap `wset`: did you mean `west`?"]);
    let plain = config("plain", "", "A: b").replace("\"true\"", "\"yes\"");
    company.change("control-plane@dev", "configs/plain.yaml", &plain);
    check(&company, "west/shop-test cm/plain", 1, &["platform-config=yes: only a ConfigMap with"]);
    let of_bank = schema("limits", "{workload: bnk}", "{}");
    company.change("control-plane@dev", "schemas/limits.yaml", &of_bank);
    check(
        &company,
        "west/shop-test schema/limits",
        1,
        &["✗ workload=bnk", "here it is workload=shop", "`workload: bank`"],
    );
}

#[test]
fn an_overridden_value_names_the_winner_and_the_reason() {
    let company = company();
    let by_name = "both have priority 0, and west comes after common by name";
    check(&company, "west/shop-test cm/common DATABASE", 1, &["west overrides it", by_name, "priority: \"1\""]);
    check(&company, "west/shop-test cm/west DATABASE", 0, &["west sets DATABASE"]);
    check(&company, "east/shop-test cm/common DATABASE", 0, &["common sets DATABASE"]);
    check(&company, "west/shop-test cm/common DATABSE", 1, &["common has no key DATABSE", "did you mean `DATABASE`?"]);
}

#[test]
fn overviews_show_places_targets_and_workloads() {
    let company = company();
    let explain = |name: &str| company.kalypso(&format!("explain -e dev {name}")).ends(0);
    explain("west").says(&["cluster type west in dev: 1 assignment", "region=west-us", "shop-test", "2: common, west"]);
    explain("shop-test").says(&["assigned to 2 cluster types", "east, west", "DATABASE (2 values)"]);
    explain("shop").says(&["workload shop in dev: 1 deployment target, 2 assignments", "shop-test   on 2 places"]);
    explain("bank-test").says(&["assigned to no place", "kalypso why-not -e dev bank-test"]);
    let west = labelled(
        "ClusterType",
        "shop",
        "{region: x}",
        "reconciler: flux\nnamespaceService: default\nconfigType: configmap",
    );
    company.change("control-plane@dev", "cluster-types/shop.yaml", &west);
    explain("shop").says(&["cluster type shop in dev", "workload shop in dev"]);
    assert!(!explain("workload/shop").out.contains("cluster type shop"));
    company.kalypso("explain -e dev wets").ends(1).says(&["did you mean `west`?"]);
}
