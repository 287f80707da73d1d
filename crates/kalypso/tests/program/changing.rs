//! Tests of `set`: changes of objects in working trees of the control plane, and in checkouts of applications.

use std::fs;

use testkit::objects::workload;

use crate::adding::{Edited, identify};
use crate::company::git;

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
fn missing_objects_and_invalid_changes_are_refused() {
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
    let unknown =
        edited.run("add target shop next -e dve -m repo=https://git.example/acme/next --checkout app").ends(1);
    unknown.says(&["there is no environment `dve`", "did you mean `dev`?"]);
    let refused = edited.run("set target shop test -e dev -m tag=2 --checkout app --commit").ends(1);
    refused.says(&["`app` can't be committed", "--checkout DIR"]);
    assert_eq!(edited.text("app/shop.yaml"), expected);
}

#[test]
fn a_commit_on_another_branch_is_named() {
    let edited = Edited::new();
    git(&edited.path("dev"), &["switch", "--quiet", "--create", "topic"]);
    let ran = edited.run("set cluster-type west -e dev -l wave=1 --commit").ends(0);
    ran.says(&[
        "note: branch `topic` in dev stands for `dev`",
        "Committed to topic, which must be merged into dev, as ",
    ]);
}

#[test]
fn a_release_of_a_target_is_committed_in_a_clone() {
    let edited = Edited::new();
    git(&edited.path("."), &["clone", "--quiet", edited.company.repository("shop").to_str().unwrap(), "app"]);
    let app = edited.path("app");
    identify(&app);
    fs::write(edited.path("app/notes.md"), "Not of this change").unwrap();
    git(&app, &["add", "notes.md"]);
    let set = |rest: &str| edited.run(&format!("set target shop test -e dev --checkout app --commit {rest}"));
    set("-m repo=https://git.example/acme/next -m branch-").ends(0).says(&[
        "Changed target test of shop for dev in app/shop.yaml",
        "~ 2 assignments change",
        "Committed to main as ",
        "it takes effect when it is pushed",
    ]);
    let title = "Change target test of shop for dev: repo=https://git.example/acme/next, branch removed";
    assert_eq!(git(&app, &["log", "-1", "--format=%s"]), title);
    assert_eq!(git(&app, &["status", "--porcelain"]), "A  notes.md");
    git(&app, &["switch", "--quiet", "-c", "topic"]);
    let answer = set("-m tag=2.5.0 --message Faster -o json").ends(0).json();
    assert_eq!(answer["commit"], git(&app, &["rev-parse", "HEAD"]));
    assert_eq!((&answer["isWritten"], &answer["proposal"]), (&true.into(), &serde_json::Value::Null));
    assert_eq!(git(&app, &["log", "-1", "--format=%s"]), "Faster");
    set("-m tag=2.6.0")
        .ends(0)
        .says(&["Committed to topic as ", "when it is merged into main, the branch that is registered"]);
}

#[test]
fn a_release_of_a_target_is_proposed_where_the_workload_is_registered() {
    let edited = Edited::new();
    let before = edited.company.file("shop", "main", "shop.yaml");
    let set = |rest: &str| edited.run(&format!("set target {rest} --propose"));
    let next = "shop test -e dev -m repo=https://git.example/acme/next";
    set(next).ends(0).says(&[
        "Changed target test of shop for dev in shop@main:shop.yaml",
        "~ 2 assignments change",
        "Proposed for main on branch change/dev-target-shop-test",
        "Merge change/dev-target-shop-test into main to apply it",
    ]);
    let proposed = edited.company.file("shop", "change/dev-target-shop-test", "shop.yaml");
    assert_eq!(proposed.replace("acme/next", "acme/shop-deploy"), before);
    assert_eq!(edited.company.file("shop", "main", "shop.yaml"), before);
    // The same again is known.
    let answer = set(&format!("{next} -o json")).ends(0).json();
    assert_eq!((&answer["isWritten"], &answer["proposal"]["base"]), (&false.into(), &"main".into()));
    assert_eq!(answer["plan"]["counts"]["changed"], 2);
    set("shop tset -e dev -m tag=2").ends(1).says(&["did you mean `test`?"]);
    set("shpo test -e dev -m tag=2").ends(1).says(&["dev reads no workload `shpo`", "did you mean `shop`?"]);
    set("shop test -e dve -m tag=2").ends(1).says(&["there is no environment `dve`", "did you mean `dev`?"]);
    set("shop test -e dev -m tag=2 --commit").ends(64).says(&["--propose"]);
    set("shop test -e dev -m tag=2 --checkout app").ends(64).says(&["--propose"]);
}
