//! Tests of lists and descriptions: `kalypso get` and `kalypso describe`.

use std::fs;

use serde_json::Value as Json;
use testkit::objects;

use crate::company::{Company, HOST, dev, git};

const CLUSTER: &str = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: Cluster\nmetadata: {name: store-042, labels: {site: berlin}}\nspec: {clusterType: west}\n";
const PIN: &str = "apiVersion: fleet.kalypso.io/v1alpha1\nkind: ReleasePin\nmetadata: {name: hold}\nspec:\n  deploymentTargetSelector: {labelSelector: {matchLabels: {workload: shop}}}\n  clusterTypeSelector: {labelSelector: {matchLabels: {region: east-us}}}\n  manifests: {branch: release-1}\n  reason: Not yet.\n  expires: 2030-01-31\n";

/// The company with environments `dev` and `prod`: a cluster, a pin and a second workload, `bank`.
fn company() -> Company {
    let company = Company::new();
    company.change("control-plane@main", ".environments/prod.yaml", &objects::environment("prod"));
    company.change("control-plane@main", "workloads/bank.yaml", &objects::registration("bank", &format!("{HOST}bank")));
    company.commit("bank", "main", &[("bank.yaml", objects::workload("bank"))]);
    company.change("control-plane@dev", "policies/bank.yaml", &objects::policy("tellers", "bank"));
    company.change("control-plane@dev", "clusters/store.yaml", CLUSTER);
    company.change("control-plane@dev", "pins/hold.yaml", PIN);
    company.commit(
        "control-plane",
        "prod",
        &[
            ("base.yaml", objects::base()),
            ("gitops.yaml", objects::gitops("prod", "prod", ".")),
            ("cluster-types/north.yaml", objects::cluster_type("north", "north-eu")),
        ],
    );
    company
}

/// The names that a command prints with `-o name`.
fn names(company: &Company, arguments: &str) -> Vec<String> {
    let ran = company.kalypso(&format!("get {arguments} -o name")).ends(0);
    ran.out.lines().map(str::to_owned).collect()
}

/// The first words of each row of a table.
fn first_columns(text: &str) -> Vec<Vec<&str>> {
    text.lines().map(|line| line.split_whitespace().take(2).collect()).collect()
}

#[test]
fn kinds_are_listed_for_all_environments_or_one() {
    let company = company();
    let all = company.kalypso("get cluster-types").ends(0);
    assert_eq!(first_columns(&all.out), [["ENV", "NAME"], ["dev", "east"], ["dev", "west"], ["prod", "north"]]);
    let one = company.kalypso("get ClusterTypes -e dev").ends(0);
    one.says(&["NAME  RECONCILER  CONFIG     CLUSTERS  ASSIGNMENTS\n", "west  flux        configmap  1         4\n"]);
    let wide = company.kalypso("get configs -e dev -o wide").ends(0);
    wide.says(&["west    region=west-us  0         1     4            control-plane@dev:configs/west.yaml:4\n"]);
    company.kalypso("get policies -e dev").ends(0).says(&["purpose=bank  region Exists  1 x 3    3"]);
    company.kalypso("get pins -e dev").ends(0).says(&["hold  branch=release-1  1            2030-01-31  Not yet."]);
    company.kalypso("get registrations -e dev").ends(0).says(&["shop  shop-team"]);
    company.kalypso("get environments").ends(0).says(&["dev   dev", "prod  prod"]);
    company.kalypso("get pods").ends(64).says(&["there is no kind `pods`", "cluster-types"]);
}

#[test]
fn every_kind_has_a_table_and_fields_for_programs() {
    let company = company();
    let kinds = "environments cluster-types clusters workloads targets policies configs schemas templates assignments pins \
                 mappings registrations base-repos gitops-repos values";
    for kind in kinds.split_whitespace() {
        company.kalypso(&format!("get {kind}")).ends(0);
        let json = company.kalypso(&format!("get {kind} -o json")).ends(0).json();
        let yaml = company.kalypso(&format!("get {kind} -o yaml")).ends(0);
        assert!(yaml.out.starts_with("items:") && yaml.out.contains("\nmore: false\n"), "{}", yaml.out);
        let items = json["items"].as_array().unwrap().len();
        assert_eq!(json["total"], items, "{kind}");
        assert_eq!(yaml.out.matches("\n- ").count(), items, "{kind}");
    }
}

#[test]
fn names_and_labels_select_and_an_unknown_name_has_a_nearest() {
    let company = company();
    assert_eq!(names(&company, "clusters -e dev -l region=west-us,site"), ["cluster/store-042"]);
    assert_eq!(names(&company, "cluster-type/west -e dev"), ["cluster-type/west"]);
    assert_eq!(names(&company, "targets -l purpose=bank"), ["target/bank-test"]);
    assert_eq!(names(&company, "clusters -l site=paris"), [""; 0]);
    let unknown = company.kalypso("get cluster-types -e dev west eest").ends(1);
    unknown.says(&["west  flux", "error: there is no cluster type `eest` in dev", "did you mean `east`?"]);
    company.kalypso("get schemas -e dev").ends(0).says(&["there are no schemas in dev"]);
    company.kalypso("get clusters -l a>1").ends(64).says(&["--selector can't be read"]);
    company.kalypso("get configs --on west").ends(64).says(&["`--on` does not apply to configs"]);
}

#[test]
fn assignments_are_selected_by_place_workload_policy_and_labels() {
    let company = company();
    let all = [
        "east/bank-test",
        "east/shop-test",
        "store-042/bank-test",
        "store-042/shop-test",
        "west/bank-test",
        "west/shop-test",
    ];
    assert_eq!(names(&company, "assignments"), all);
    assert_eq!(names(&company, "assignments --on west"), all[2..]);
    assert_eq!(names(&company, "assignments --on store-042 --of shop"), all[3..4]);
    assert_eq!(names(&company, "assignments --of bank-test --policy tellers -l region!=west-us"), all[..1]);
    assert_eq!(names(&company, "assignments -l site=berlin,purpose=bank"), all[2..3]);
    assert_eq!(names(&company, "clusters --of bank"), ["cluster/store-042"]);
    assert_eq!(names(&company, "workloads -e dev --on east"), ["workload/bank", "workload/shop"]);
    assert_eq!(names(&company, "store-042/shop-test -e dev"), all[3..4]);
    let text = company.kalypso("get assignments -e dev").ends(0);
    text.says(&[
        "6 assignments on 2 cluster types and 1 cluster: 2 targets of 2 workloads\n\n",
        "store-042/bank-test  bank",
    ]);
    company
        .kalypso("get assignments --on stor-042")
        .ends(1)
        .says(&["no cluster type or cluster `stor-042`", "`store-042`?"]);
    company.kalypso("get assignments -e prod --on store-042").ends(1).says(&["prod has no cluster type"]);
    company.kalypso("get assignments -e dev east/nothing").ends(1).says(&["kalypso why-not -e dev east/nothing"]);
}

#[test]
fn a_long_list_has_pages() {
    let company = company();
    let first = company.kalypso("get assignments -e dev --limit 4").ends(0);
    first.says(&["… and 2 more, 6 in all: -e dev --after store-042/shop-test shows the next"]);
    assert_eq!(names(&company, "assignments -e dev --after store-042/shop-test"), ["west/bank-test", "west/shop-test"]);
    assert_eq!(names(&company, "cluster-types --limit 1"), ["cluster-type/east", "cluster-type/north"]);
    let named = company.kalypso("get west/shop-test east/shop-test -e dev --limit 1").ends(0);
    named.says(&["… and 1 more, 2 in all: -e dev --after east/shop-test shows the next"]);
    company.kalypso("get west/shop-test east/shop-test -e dev --after east/shop-test").ends(0);
    let json = company.kalypso("get cluster-types -e dev --limit 1 -o json").ends(0).json();
    assert_eq!((&json["more"], &json["total"]), (&Json::Bool(true), &Json::from(2)));
    let last = company.kalypso("get cluster-types -e dev --limit 1 --after east -o json").ends(0).json();
    assert_eq!((&last["items"][0]["name"], &last["more"]), (&Json::from("west"), &Json::Bool(false)));
}

#[test]
fn assignments_are_grouped_by_value() {
    let company = company();
    let text = company.kalypso("get values -e dev --key DATABASE").ends(0);
    text.says(&[
        "6 assignments on 2 cluster types and 1 cluster: 2 targets of 2 workloads; 2 values\n\n",
        "VALUE             ASSIGNMENTS  PLACES  WORKLOADS  SET-BY",
        "\"mysql://west/a\"  4            2       2          west control-plane@dev:configs/west.yaml:7",
        "\"mysql://main/a\"  2            1       2          common control-plane@dev:configs/common.yaml:7",
        "east/bank-test, east/shop-test",
    ]);
    assert_eq!(names(&company, "values --key DATABASE --value mysql://main/a"), ["east/bank-test", "east/shop-test"]);
    let json = company.kalypso("get values --key DATABASE --on store-042 -o json").ends(0).json();
    assert_eq!(json["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&json["items"][0]["value"], &json["items"][0]["clusters"]),
        (&Json::from("\"mysql://west/a\""), &Json::from(1))
    );
    company.kalypso("get values -e dev").ends(0).says(&["DATABASE   2", "LOG_LEVEL  1"]);
    company.kalypso("get values -e dev --on east").ends(0).says(&["DATABASE   1", "LOG_LEVEL  1"]);
    company.kalypso("get values --key log_level").ends(1).says(&["did you mean `LOG_LEVEL`?"]);
    let none = company.kalypso("get values -e dev --key LOG_LEVEL --value inof").ends(0);
    none.says(&["no such assignment has `LOG_LEVEL` = `inof`; did you mean `info`?"]);
}

#[test]
fn sensitive_values_are_digests() {
    let company = company();
    let schema = objects::schema("secrets", "", "{\"properties\": {\"DATABASE\": {\"writeOnly\": true}}}");
    company.change("control-plane@dev", "schemas/secrets.yaml", &schema);
    for command in
        ["get values -e dev --key DATABASE", "get values -e dev --key DATABASE -o json", "describe config/west"]
    {
        let ran = company.kalypso(command).ends(0).says(&["(sensitive, sha256 "]);
        assert!(!ran.out.contains("mysql"), "{}", ran.out);
    }
    let guess = company.kalypso("get values -e dev --key DATABASE --value mysql://west/a").ends(0);
    assert!(guess.out.is_empty() && !guess.err.contains("did you mean"), "{}{}", guess.out, guess.err);
}

#[test]
fn descriptions_show_reached_assignments_and_applied_objects() {
    let company = company();
    let text = company.kalypso("describe cluster-type/west").ends(0);
    text.says(&[
        "Source:         control-plane@dev:cluster-types/west.yaml:4\n",
        "Reaches:        4 assignments on 1 cluster type and 1 cluster: 2 targets of 2 workloads\n",
        "  by workload       bank 2, shop 2\n",
        "Policies:       2\n",
        "  common  4 assignments  control-plane@dev:configs/common.yaml:4\n",
        "Problems:       none\n",
    ]);
    company.kalypso("describe workload shop -e dev").ends(0).says(&["Pins:           1\n  hold  1 assignment"]);
    company
        .kalypso("describe config/west")
        .ends(0)
        .says(&["  DATABASE  \"mysql://west/a\"  control-plane@dev:configs/west.yaml:7\n"]);
    company.kalypso("describe store-042").ends(0).says(&["Kind:           Cluster\n", "Type:           west\n"]);
    let json = company.kalypso("describe policy/tellers -o json").ends(0).json();
    assert_eq!(
        (&json["items"][0]["reaches"]["assignments"], &json["items"][0]["kind"]),
        (&3.into(), &"SchedulingPolicy".into())
    );
    company.kalypso("describe bank -e dev").ends(0).says(&["Kind:           Workload\n", "Registration:   bank\n"]);
    company.kalypso("describe west").ends(1).says(&["cluster-type/west, config/west"]);
    company.kalypso("describe clster-type/west").ends(64);
    company.kalypso("describe config/wst").ends(1).says(&["no config `wst`", "did you mean `config/west`?"]);
    company.kalypso("describe assignment/east/shop-test").ends(64).says(&["kalypso explain -e ENV east/shop-test"]);
}

#[test]
fn a_description_has_the_problems_of_the_object() {
    let company = company();
    company.change("control-plane@dev", "policies/none.yaml", &objects::policy("none", "nothing"));
    company
        .kalypso("describe policy/none -e dev")
        .ends(0)
        .says(&["warning[K0202]", "policy `none` selects no deployment target"]);
    company.kalypso("describe policy/shop -e dev").ends(0).says(&["Problems:       none"]);
}

#[test]
fn an_environment_with_errors_does_not_hide_the_others() {
    let company = company();
    company.change("control-plane@prod", "cluster-types/north.yaml", "kind: [");
    let broken = company.kalypso("get cluster-types").ends(1);
    assert!(
        broken.out.contains("dev   east") && broken.err.contains("prod has 2 errors: objects may be"),
        "{}",
        broken.err
    );
    git(&company.repository("control-plane"), &["update-ref", "-d", "refs/heads/prod"]);
    let unread = company.kalypso("get cluster-types").says(&["has no branch `prod`"]);
    assert!(unread.status != 0 && unread.out.contains("dev  east"), "{}{}", unread.out, unread.err);
    company.kalypso("get environments").says(&["prod  (can't be read)", "dev   dev"]);
    fs::remove_dir_all(company.repository("control-plane")).unwrap();
    company.kalypso("get cluster-types").ends(69);
}

#[test]
fn environments_are_listed_in_the_configured_order() {
    let company = Company::new();
    company.change("control-plane@main", ".environments/alpha.yaml", &objects::environment("alpha"));
    company.commit("control-plane", "alpha", &dev());
    let environments = |arguments: &str| names(&company, &format!("environments {arguments}"));
    assert_eq!(environments(""), ["environment/alpha", "environment/dev"]);
    let order = "\n[hub]\nenvironments = [\"dev\", \"alpha\"]\n";
    company.configure(&format!("{}/", company.path("served").display()), order);
    assert_eq!(environments(""), ["environment/dev", "environment/alpha"]);
    assert_eq!(environments("--after dev"), ["environment/alpha"]);
}
