//! Tests of `set`: changes of objects in working trees of the control plane, and in checkouts of applications.

use std::fs;

use crate::adding::Edited;
use crate::company::git;
use crate::objects::workload;

#[test]
fn labels_are_set_and_removed_and_the_plan_is_shown() {
    let edited = Edited::new();
    let before = edited.text("dev/cluster-types/west.yaml");
    let ran = edited.run("set cluster-type west -e dev -l region=east-us,size=large").ends(0);
    ran.says(&["Changed ClusterType west in dev/cluster-types/west.yaml", "region=east-us", "assignment changes"]);
    let after = before.replace("{region: west-us}", "{region: east-us, size: large}");
    assert_eq!(edited.text("dev/cluster-types/west.yaml"), after);
    edited.run("set cluster-type west -e dev -l region=west-us,size-").ends(0).says(&["size removed"]);
    assert_eq!(edited.text("dev/cluster-types/west.yaml"), before);
    edited.run("set cluster-type west -e dev -l wave=1 --commit").ends(0).says(&["Committed to dev as "]);
    assert_eq!(git(&edited.path("dev"), &["log", "-1", "--format=%s"]), "Change ClusterType west");
    edited.run("set cluster-type west -e dev -l region=west-us").ends(0).says(&["Nothing to change"]);
    edited.run("add cluster 'store-[1-3]' -e dev --cluster-type west").ends(0);
    edited.run("set cluster 'store-[2-3]' -e dev -l wave=2").ends(0).says(&["2 Clusters: store-2, store-3"]);
    let text = edited.text("dev/clusters/store.yaml");
    assert_eq!(text.matches("wave: \"2\"").count(), 2, "{text}");
}

#[test]
fn what_does_not_exist_or_would_be_an_error_is_refused() {
    let edited = Edited::new();
    edited.run("set cluster-type wets -e dev -l a=b").ends(1).says(&["K0143", "did you mean `west`?"]);
    let ran = edited.run("set cluster-type west -e dev -l regoin-").ends(1);
    ran.says(&["has no `regoin` to remove", "did you mean `region`?", "nothing is written"]);
    edited.run("set cluster-type west -e dev -l region-,region=x").ends(64).says(&["is set and removed"]);
    edited.run("set cluster-type west -e dev --reconciler flx").ends(1).says(&["K0405", "nothing is written"]);
    edited.run("set cluster-type west -e dev").ends(64).says(&["nothing to change"]);
    edited.run("set policy shop -e dev --on 'region in (a'").ends(64).says(&["--on can't be read"]);
    assert_eq!(edited.status("dev"), "");
}

#[test]
fn a_policy_selects_something_else_and_a_dry_run_writes_nothing() {
    let edited = Edited::new();
    let ran = edited.run("set policy shop -e dev --on region=west-us --dry-run").ends(0);
    ran.says(&["Would change SchedulingPolicy shop", "on region=west-us", "Nothing is written"]);
    assert_eq!(edited.status("dev"), "");
    edited.run("set policy shop -e dev --on region=west-us --workspace ''").ends(0);
    assert!(
        edited.text("dev/policies/shop.yaml").contains("region: west-us"),
        "{}",
        edited.text("dev/policies/shop.yaml")
    );
    let answer = edited.run("set policy shop -e dev --on region=east-us -o json").ends(0).json();
    assert_eq!((&answer["action"], &answer["isWritten"]), (&"change".into(), &true.into()));
}

#[test]
fn a_release_of_a_target_is_set_in_a_checkout() {
    let edited = Edited::new();
    fs::create_dir(edited.path("app")).unwrap();
    let text = workload("shop");
    fs::write(edited.path("app/shop.yaml"), &text).unwrap();
    let ran = edited.run("set target shop test -e dev -m tag=2.4.0 -m branch- --checkout app").ends(0);
    ran.says(&["Changed target test of shop for dev in app/shop.yaml"]);
    let expected = text.replace("branch: dev, path: .}", "path: ., tag: 2.4.0}");
    assert_eq!(edited.text("app/shop.yaml"), expected);
    edited.run("set target shop test -e dev -m tag=2.4.0 --checkout app").ends(0).says(&["Nothing to change"]);
    edited.run("set target shop tset -e dev -m tag=2 --checkout app").ends(1).says(&["did you mean `test`?"]);
}
